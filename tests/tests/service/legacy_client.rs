//! A client as they were written for the original service: HTTP by hand over a socket, a Basic
//! token, and a stream that is split at carriage returns. It uses nothing of this project.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use eddyline_tests::{Acme, Server, basic, on_both_databases};
use serde_json::{Value, json};

on_both_databases![an_old_client_does_its_work];
on_both_databases![&["--profile", "classic"]; an_old_client_does_its_work_in_the_classic_profile];

/// What the profiles call things.
struct Names {
    user: &'static str,
    wait: &'static str,
    comment_tag: &'static str,
    created: u16,
}

/// Shows: 1.9, 9.1
async fn an_old_client_does_its_work(server: Server) {
    let names = Names {
        user: "service-user",
        wait: "X-Service-Wait-For-Message",
        comment_tag: ":influx:1",
        created: 200,
    };
    do_its_work(&server, &names);
}

async fn an_old_client_does_its_work_in_the_classic_profile(server: Server) {
    let names = Names {
        user: "flowdock-user",
        wait: "X-flowdock-wait-for-message",
        comment_tag: "influx:1",
        created: 201,
    };
    do_its_work(&server, &names);
}

fn do_its_work(server: &Server, names: &Names) {
    let Acme { ada, ben } = server.acme();
    let client = OldClient {
        server,
        credentials: basic(&ada.token, "DUMMY"),
    };

    // Who am I, and where?
    let flows = client.call("GET", "/flows?users=1", "", "");
    assert_eq!(
        (flows.status, flows.headers[names.user].as_str()),
        (200, ada.id.to_string().as_str())
    );
    assert_eq!(
        flows.headers["content-type"],
        "application/json; charset=utf-8"
    );
    let flow = &flows.body[0];
    let nicks: Vec<_> = flow["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| &user["nick"])
        .collect();
    assert_eq!(nicks, ["ada", "ben"]);
    assert_eq!(
        client
            .call(
                "GET",
                &format!("/flows/find?id={}", text(&flow["id"])),
                "",
                ""
            )
            .body["id"],
        flow["id"]
    );

    let path = format!(
        "/flows/{}/{}",
        text(&flow["organization"]["parameterized_name"]),
        text(&flow["parameterized_name"])
    );
    let mut stream = client.listen(&format!("/flows?filter={}&active=true&user=1", &path[7..]));

    // Post, as a form; comment, as JSON.
    let form = "event=message&content=Hello+%40ben+%23first&tags=one,two";
    let posted = client.call(
        "POST",
        &format!("{path}/messages"),
        &format!("{}: true", names.wait),
        form,
    );
    assert_eq!(
        (posted.status, &posted.body["id"]),
        (names.created, &json!(1))
    );
    assert!(
        posted.headers["link"].ends_with("/messages/1/comments>; rel=\"comments\""),
        "{:?}",
        posted.headers
    );
    let ben_tag = format!(":user:{}", ben.id);
    for tag in ["one", "two", "first", &ben_tag] {
        assert!(
            posted.body["tags"]
                .as_array()
                .unwrap()
                .contains(&json!(tag)),
            "{tag}: {}",
            posted.body
        );
    }
    let comment =
        json!({"event": "comment", "content": "Indeed", "message": 1, "flow": flow["id"]})
            .to_string();
    assert!(matches!(
        client.call("POST", "/comments", "", &comment).status,
        201 | 202
    ));
    // They come on the stream in order. A comment has the text of its message as it is when the
    // stream tells it.
    assert_eq!(stream.next(), posted.body);
    let comment = stream.next();
    assert_eq!(comment["event"], "comment");
    assert_eq!(
        comment["content"],
        json!({"title": "Hello @ben #first", "text": "Indeed"})
    );
    assert_eq!(comment["tags"][0], names.comment_tag);

    // Edit; tag.
    assert_eq!(
        client
            .call(
                "PUT",
                &format!("{path}/messages/1"),
                "",
                r#"{"content":"Hello @ben"}"#
            )
            .status,
        200
    );
    assert_eq!(
        client
            .call("PUT", &format!("{path}/messages/2"), "", "tags=done")
            .body,
        json!({})
    );

    let edit = stream.next();
    assert_eq!(
        (&edit["event"], &edit["content"]["updated_content"]),
        (&json!("message-edit"), &json!("Hello @ben"))
    );
    let tagged = stream.next();
    assert_eq!(
        (&tagged["event"], &tagged["content"]["add"]),
        (&json!("tag-change"), &json!(["done"]))
    );

    // And is listed.
    let listed = client
        .call(
            "GET",
            &format!("{path}/messages?event=message,comment&limit=10"),
            "",
            "",
        )
        .body;
    let contents: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["content"])
        .collect();
    assert_eq!(
        contents,
        [
            &json!("Hello @ben"),
            &json!({"title": "Hello @ben", "text": "Indeed"})
        ]
    );

    // Scripts push under their old addresses, and builds into the inbox.
    let token = server.admin(&["flow", "token", "--flow", "acme/main"])["flow_token"].clone();
    let token = text(&token);
    let chat = client.call(
        "POST",
        &format!("/v1/messages/chat/{token}"),
        "",
        "content=done&external_user_name=bot",
    );
    assert_eq!((chat.status, chat.body), (200, json!({})));
    let mail = "source=ci&from_address=ci%40acme.example&subject=Build+7&content=fine&tags=build";
    let mail = client.call(
        "POST",
        &format!("/v1/messages/team_inbox/{token}"),
        "",
        mail,
    );
    assert_eq!((mail.status, mail.body), (200, json!({})));
    let build = "event=activity&author[name]=ci&title=built&external_thread_id=7&thread[title]=Build+7\
        &thread[status][value]=ok&thread[status][color]=green&thread[fields][][label]=Took\
        &thread[fields][][value]=7s&thread[fields][][label]=By&thread[fields][][value]=ada";
    let pushed = client.call("POST", &format!("/messages?flow_token={token}"), "", build);
    assert_eq!((pushed.status, pushed.body), (202, json!({})));
    assert_eq!(stream.next()["content"], "done");
    let mail = stream.next();
    assert_eq!(
        (&mail["event"], &mail["content"]["subject"]),
        (&json!("mail"), &json!("Build 7"))
    );
    let built = stream.next();
    assert_eq!(
        (&built["event"], &built["author"]["name"]),
        (&json!("activity"), &json!("ci"))
    );
    assert_eq!(
        built["thread"]["status"],
        json!({"value": "ok", "color": "green"})
    );
    assert_eq!(
        built["thread"]["fields"][1],
        json!({"label": "By", "value": "ada"})
    );
    let threads = client
        .call("GET", &format!("{path}/threads?application=inbox"), "", "")
        .body;
    assert_eq!(threads[0], built["thread"]);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

struct OldClient<'a> {
    server: &'a Server,
    credentials: String,
}

struct Answer {
    status: u16,
    headers: HashMap<String, String>,
    body: Value,
}

impl OldClient<'_> {
    fn call(&self, method: &str, path: &str, header: &str, body: &str) -> Answer {
        let kind = if body.starts_with('{') {
            "application/json"
        } else {
            "application/x-www-form-urlencoded"
        };
        let mut headers = format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        if !header.is_empty() {
            headers += &format!("{header}\r\n");
        }
        let mut socket = self.send(
            self.server.base_url(),
            &format!("{method} {path}"),
            &headers,
            body,
        );
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let mut lines = head.split("\r\n");
        let status = lines
            .next()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let headers = lines.map(|line| line.split_once(": ").unwrap());
        let headers = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Answer {
            status,
            headers,
            body: serde_json::from_str(body).unwrap(),
        }
    }

    fn listen(&self, path: &str) -> OldStream {
        let socket = self.send(self.server.stream_url(), &format!("GET {path}"), "", "");
        let mut stream = OldStream {
            socket,
            received: Vec::new(),
            decoded: String::new(),
        };
        let head = stream.through(b"\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        stream
    }

    fn send(&self, url: &str, request: &str, headers: &str, body: &str) -> TcpStream {
        let host = url.trim_start_matches("http://");
        let mut socket = TcpStream::connect(host).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let credentials = &self.credentials;
        let head = format!(
            "Host: {host}\r\nAuthorization: Basic {credentials}\r\nConnection: close\r\n{headers}"
        );
        socket
            .write_all(format!("{request} HTTP/1.1\r\n{head}\r\n{body}").as_bytes())
            .unwrap();
        socket
    }
}

struct OldStream {
    socket: TcpStream,
    received: Vec<u8>,
    decoded: String,
}

impl OldStream {
    /// The next object that is not a sign of activity.
    fn next(&mut self) -> Value {
        loop {
            let object: Value = serde_json::from_str(self.line().trim()).unwrap();
            if object["event"] != "activity.user" {
                return object;
            }
        }
    }

    /// What the library below made of the chunks, up to a carriage return.
    fn line(&mut self) -> String {
        loop {
            if let Some(at) = self.decoded.find('\r') {
                let rest = self.decoded.split_off(at + 1);
                return std::mem::replace(&mut self.decoded, rest);
            }
            let length = self.through(b"\r\n");
            let length = usize::from_str_radix(length.trim_end(), 16).unwrap();
            while self.received.len() < length + 2 {
                self.read();
            }
            let rest = self.received.split_off(length + 2);
            let chunk = std::mem::replace(&mut self.received, rest);
            self.decoded += std::str::from_utf8(&chunk[..length]).unwrap();
        }
    }

    fn through(&mut self, end: &[u8]) -> String {
        loop {
            if let Some(at) = self
                .received
                .windows(end.len())
                .position(|window| window == end)
            {
                let rest = self.received.split_off(at + end.len());
                return String::from_utf8(std::mem::replace(&mut self.received, rest)).unwrap();
            }
            self.read();
        }
    }

    fn read(&mut self) {
        let mut buffer = [0; 4096];
        let count = self.socket.read(&mut buffer).unwrap();
        assert!(count > 0, "the stream ended");
        self.received.extend_from_slice(&buffer[..count]);
    }
}
