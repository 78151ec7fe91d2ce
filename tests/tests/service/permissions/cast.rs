//! The callers of the table, and what each of them finds when they come.

use std::sync::atomic::{AtomicU32, Ordering};

use eddyline_client::{Client, Credentials, Json, Method, RawResponse, StreamRequest};
use eddyline_tests::{Caller, Robot, Tenant};
use serde_json::json;

use super::table::{Body, Row, unused_name};
use crate::files::filled_path;

/// The kinds of callers, in the order of the table's columns.
pub(crate) const CALLERS: [&str; 10] = [
    // Member of the flow; the one whose message, account and conversation it is.
    "owner",
    // Another member of the flow.
    "member",
    // Of the organization, not in the flow.
    "outsider",
    // Blocked from the flow.
    "blocked",
    // Administrator of the organization, in the flow.
    "administrator",
    // Administrator of the organization, not in the flow.
    "outside administrator",
    // Of another organization, whose address has an invitation to the flow.
    "guest",
    // Administrator of another organization.
    "stranger",
    // Holds a token of the flow.
    "flow token",
    // Without credentials.
    "nobody",
];

/// The organization with its flow, the callers, and what requests are about.
pub(crate) struct Stage<'t> {
    tenant: &'t Tenant,
    clients: Vec<Client>,
    /// The one whom requests name.
    pub(crate) owner: &'t Caller,
    pub(crate) guest: Caller,
    /// The application that sources are of.
    pub(crate) robot: Robot,
    /// A token of the flow, to stand in paths.
    token: String,
    /// The organization's identity provider, as paths name it.
    uid: String,
    /// The flow's id.
    pub(crate) flow_id: String,
    /// The organization's number.
    pub(crate) organization_id: i64,
}

/// What a caller was answered.
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// The header `WWW-Authenticate`.
    pub(crate) challenge: Option<String>,
    /// Nothing for a stream that was opened.
    pub(crate) body: Json,
}

impl From<RawResponse> for Answered {
    fn from(answer: RawResponse) -> Self {
        Self {
            status: answer.status.as_u16(),
            challenge: answer.header("www-authenticate").map(str::to_owned),
            body: answer.json(),
        }
    }
}

impl<'t> Stage<'t> {
    pub(crate) async fn set(tenant: &'t Tenant) -> Self {
        let blocked = tenant.member("bert");
        let block = tenant.path(&format!("/users/{}", blocked.id));
        tenant
            .ada
            .does(Method::PUT, &block, &json!({"disabled": true}))
            .await;
        let neighbour = tenant.neighbour();
        let guest = neighbour.user("gus");
        let flow = tenant.ben.get(&tenant.path("")).await;
        let clients = vec![
            tenant.ben.client.clone(),
            tenant.member("mia").client,
            tenant.user("olga").client,
            blocked.client,
            tenant.ada.client.clone(),
            tenant.administrator("otto").client,
            guest.client.clone(),
            neighbour.ada.client.clone(),
            tenant.client(Credentials::FlowToken(tenant.flow_token())),
            tenant.client(Credentials::None),
        ];
        Self {
            tenant,
            clients,
            owner: &tenant.ben,
            robot: tenant.server().robot(&tenant.name, &[]),
            token: tenant.flow_token(),
            uid: tenant.server().provider(&tenant.name).uid,
            guest,
            flow_id: flow["id"].as_str().unwrap().to_owned(),
            organization_id: flow["organization"]["id"].as_i64().unwrap(),
        }
    }

    /// The flow, as `organization/flow`.
    pub(crate) fn flow(&self) -> &str {
        &self.tenant.main
    }

    /// Lets a caller try what the row says, on a stage where all is as it should be.
    pub(crate) async fn try_it(&self, row: &Row, caller: &str) -> Answered {
        self.try_with(row, caller, self.client(caller)).await
    }

    /// The same with other credentials of the caller.
    pub(crate) async fn try_with(&self, row: &Row, caller: &str, client: &Client) -> Answered {
        let (method, template) = row.endpoint.split_once(' ').unwrap();
        let path = self.path(template, row.expendable, caller).await;
        let request = client.request(method.parse().unwrap(), &path);
        let request = match (row.body)(self) {
            Body::None => request,
            Body::Json(body) => request.json(&body),
            Body::Raw(kind, bytes) => request.raw(kind, bytes),
            Body::Stream => return self.listen(client, template).await,
        };
        request.send().await.unwrap().into()
    }

    /// The path of a row for a caller; what it names is made.
    pub(crate) async fn path_of(&self, row: &Row, caller: &str) -> String {
        let (_, template) = row.endpoint.split_once(' ').unwrap();
        self.path(template, row.expendable, caller).await
    }

    /// What a row sends, and of which type; an empty object where it sends nothing.
    pub(crate) fn body_of(&self, row: &Row) -> (&'static str, Vec<u8>) {
        match (row.body)(self) {
            Body::Json(body) => ("application/json", body.to_string().into_bytes()),
            Body::Raw(kind, bytes) => (kind, bytes),
            Body::None | Body::Stream => ("application/json", b"{}".to_vec()),
        }
    }

    fn client(&self, caller: &str) -> &Client {
        &self.clients[CALLERS.iter().position(|known| *known == caller).unwrap()]
    }

    /// A stream does not end, so only its beginning is waited for.
    async fn listen(&self, client: &Client, template: &str) -> Answered {
        let (stream, path) = match template.ends_with("{flow}") {
            true => (
                StreamRequest::new().path(self.flow()),
                format!("/stream/flows/{}", self.flow()),
            ),
            false => (
                StreamRequest::new().flow(self.flow()),
                format!("/stream/flows?filter={}", self.flow()),
            ),
        };
        if client.stream(&stream).await.is_ok() {
            return Answered {
                status: 200,
                challenge: None,
                body: Json::Null,
            };
        }
        client
            .request(Method::GET, &path)
            .send()
            .await
            .unwrap()
            .into()
    }

    /// Fills a path in, making what it names.
    async fn path(&self, template: &str, expendable: bool, caller: &str) -> String {
        let mut path = template
            .replace("{organization}", &self.tenant.name)
            .replace("{flow}", "main");
        self.bring_owner_back().await;
        if path.contains("{message}") || path.contains("{thread}") {
            let message = match path.starts_with("/private") {
                true => self.private_message(caller).await,
                false => self.owner.say(self.flow(), "hello").await,
            };
            path = path.replace("{message}", &message["id"].to_string());
            path = path.replace(
                "{thread}",
                message["thread_id"].as_str().unwrap_or_default(),
            );
        }
        if path.contains("{invitation}") {
            path = path.replace("{invitation}", &self.invitation().await.to_string());
        }
        if path.contains("{source}") {
            path = path.replace("{source}", &self.source().to_string());
        }
        if path.contains("{group}") {
            path = path.replace("{group}", &self.group().to_string());
        }
        path = path
            .replace("{token}", &self.token)
            .replace("{uid}", &self.uid)
            .replace("{id}", "User")
            .replace("{emoji}", "thumbsup");
        if path.contains("{avatar}") {
            let avatar = self.owner.get("/user").await["avatar"]
                .as_str()
                .unwrap()
                .to_owned();
            path = path.replace(
                "{avatar}",
                avatar.trim_end_matches('/').rsplit('/').next().unwrap(),
            );
        }
        if path.contains("{name}") {
            path = filled_path(self.owner, self.flow(), &path).await;
        }
        let user = match expendable {
            true => self.newcomer().id,
            false => self.owner.id,
        };
        path.replace("{user}", &user.to_string())
            .replace("{size}", "64")
            .replace("{position}", "0")
            .replace("{stream}", "0123456789abcdef")
    }

    /// Somebody whom nobody will miss.
    fn newcomer(&self) -> Caller {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        self.tenant
            .user(&format!("temp{}", COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// A source of the flow.
    fn source(&self) -> Json {
        let line = [
            "source",
            "create",
            "--flow",
            self.flow(),
            "--app",
            &self.robot.id,
            "--name",
            "Same",
        ];
        self.tenant.server().admin(&line)["id"].clone()
    }

    /// A group of the organization.
    fn group(&self) -> Json {
        let line = [
            "group",
            "create",
            "--org",
            &self.tenant.name,
            "--name",
            &unused_name(),
        ];
        self.tenant.server().admin(&line)["id"].clone()
    }

    async fn bring_owner_back(&self) {
        let users = self.tenant.path("/users");
        self.tenant
            .ada
            .does(Method::POST, &users, &json!({"id": self.owner.id}))
            .await;
    }

    /// A pending invitation of the guest, who is no member of the organization.
    async fn invitation(&self) -> i64 {
        let membership = format!(
            "/organizations/{}/users/{}",
            self.tenant.name, self.guest.id
        );
        self.tenant
            .ada
            .send(Method::DELETE, &membership, &Json::Null)
            .await;
        let invitations = self.tenant.path("/invitations");
        let invitation = json!({"email": self.guest.email});
        let made = self
            .tenant
            .ada
            .send(Method::POST, &invitations, &invitation)
            .await
            .success()
            .unwrap();
        made.json()["id"].as_i64().unwrap()
    }

    /// A message in the caller's conversation with the owner, written by the caller; where the
    /// caller can have none, any number.
    async fn private_message(&self, caller: &str) -> Json {
        let client = self.client(caller);
        let path = format!("/private/{}/messages", self.owner.id);
        let message = json!({"event": "message", "content": "hello"});
        if !client
            .request(Method::POST, &path)
            .json(&message)
            .send()
            .await
            .unwrap()
            .status
            .is_success()
        {
            return json!({"id": 1});
        }
        let messages: Json = client.request(Method::GET, &path).call().await.unwrap();
        messages.as_array().unwrap().last().unwrap().clone()
    }
}
