//! Files: sending them in both ways, finding and downloading them, and what is left of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_client::{Client, Json, Method, RawResponse};
use eddyline_tests::{Caller, Patience, Server, Tenant};
use serde_json::json;

mod aborted;
mod attachments;
mod big;
mod download;
mod quotas;
mod refusals;
mod s3;
mod unwritable;
mod upload;

/// A PNG picture of one point.
pub(crate) const PIXEL: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, b'I', b'D', b'A', b'T',
    0x78, 0xda, 0x63, 0x64, 0xf8, 0xcf, 0x50, 0x0f, 0, 0x03, 0x86, 0x01, 0x80, 0x5a, 0x34, 0x7d,
    0x6b, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

/// A form with parts.
#[derive(Clone, Default)]
pub(crate) struct Form(Vec<u8>);

impl Form {
    pub(crate) fn of(event: &str) -> Self {
        Self::default().text("event", event)
    }

    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.part(&format!("name=\"{name}\""), "", value.as_bytes())
    }

    pub(crate) fn file(
        self,
        name: &str,
        file_name: &str,
        content_type: &str,
        bytes: &[u8],
    ) -> Self {
        self.part(
            &format!("name=\"{name}\"; filename=\"{file_name}\""),
            content_type,
            bytes,
        )
    }

    fn part(mut self, head: &str, content_type: &str, bytes: &[u8]) -> Self {
        let kind = if content_type.is_empty() {
            String::new()
        } else {
            format!("Content-Type: {content_type}\r\n")
        };
        self.0.extend(
            format!("--edge\r\nContent-Disposition: form-data; {head}\r\n{kind}\r\n").bytes(),
        );
        self.0.extend(bytes);
        self.0.extend(b"\r\n");
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.0.extend(b"--edge--\r\n");
        self.0
    }

    pub(crate) async fn send(self, client: &Client, path: &str) -> RawResponse {
        let request = client
            .request(Method::POST, path)
            .raw("multipart/form-data; boundary=edge", self.end());
        request
            .header("x-service-wait-for-message", "1")
            .send()
            .await
            .unwrap()
    }

    /// Sends it and gives the message, which must be taken.
    #[track_caller]
    pub(crate) fn posted(self, client: &Client, path: &str) -> impl Future<Output = Json> {
        let (caller, client, path) = (
            std::panic::Location::caller(),
            client.clone(),
            path.to_owned(),
        );
        async move {
            let answer = self.send(&client, &path).await;
            assert_eq!(answer.status, 200, "{} at {caller}", answer.text());
            answer.json()
        }
    }

    /// Sends it and is refused with this status; gives the answer.
    #[track_caller]
    fn refused(self, client: &Client, path: &str, status: u16) -> impl Future<Output = Json> {
        let (caller, client, path) = (
            std::panic::Location::caller(),
            client.clone(),
            path.to_owned(),
        );
        async move {
            let answer = self.send(&client, &path).await;
            assert_eq!(
                answer.status.as_u16(),
                status,
                "{} at {caller}",
                answer.text()
            );
            answer.json()
        }
    }
}

pub(crate) fn in_json(name: &str, content_type: &str, bytes: &[u8]) -> Json {
    let content =
        json!({"data": STANDARD.encode(bytes), "content_type": content_type, "file_name": name});
    json!({"event": "file", "content": content})
}

/// Sends a file in a form to the flow `main` and gives the message.
async fn upload(tenant: &Tenant, name: &str, content_type: &str, bytes: &[u8]) -> Json {
    Form::of("file")
        .file("content", name, content_type, bytes)
        .posted(&tenant.ben.client, &tenant.path("/messages"))
        .await
}

/// The path of a file that somebody has sent to a flow, or of a link to it, after a template.
pub(crate) async fn filled_path(sender: &Caller, flow: &str, template: &str) -> String {
    let message = sender.post(flow, &in_json("dot.png", "", PIXEL)).await;
    let path = text(&message["content"]["path"]);
    if template.contains("{link}") {
        let link = link(&sender.client, path).await;
        return format!("/{}", link.splitn(4, '/').nth(3).unwrap());
    }
    template
        .replace("{file}", path.split('/').nth(2).unwrap())
        .replace("{name}", "dot.png")
}

/// The link to which the path of a file leads.
async fn link(client: &Client, path: &str) -> String {
    let answer = client.request(Method::GET, path).send().await.unwrap();
    assert_eq!(
        (answer.status.as_u16(), answer.body.len()),
        (302, 0),
        "{}",
        answer.text()
    );
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    answer.header("location").unwrap().to_owned()
}

/// Follows a link of the server, without credentials.
async fn follow(server: &Server, link: &str) -> RawResponse {
    follow_with(server, link, &[]).await
}

async fn follow_with(server: &Server, link: &str, headers: &[(&str, &str)]) -> RawResponse {
    let path = link
        .strip_prefix(server.base_url())
        .expect("a link begins with the base URL");
    let client = server.client().build().unwrap();
    let request = client.request(Method::GET, path);
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(name, value)
    });
    request.send().await.unwrap()
}

/// Downloads what is at the path of a file.
pub(crate) async fn fetch(server: &Server, client: &Client, path: &str) -> RawResponse {
    follow(server, &link(client, path).await).await
}

/// Waits until the server has no more than these many files.
async fn until_kept(server: &Server, count: usize) {
    let patience = Patience::until("there are as many files");
    while server.kept_files().len() != count {
        patience.goes_on().await;
    }
}

fn text(value: &Json) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}
