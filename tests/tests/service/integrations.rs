//! What outside tools do with a flow: they tie themselves to it by sources, push into its inbox,
//! and keep threads there that mirror what they have (specification, sections 2 to 4 and 6).

use eddyline_client::{Client, Credentials, Json, Method, RawResponse};
use eddyline_tests::{Caller, Robot, Tenant, note_secret};
use serde_json::json;

mod older_push;
pub(crate) mod push;
mod sources;
pub(crate) mod threads;
mod tracker;

/// A source, with what only its maker was told.
pub(crate) struct Source {
    pub(crate) id: i64,
    pub(crate) token: String,
    /// A client that shows the token.
    pub(crate) client: Client,
    /// What its making was answered.
    pub(crate) shown: Json,
}

impl Source {
    /// Has an application make one in `organization/flow` for a user who let it.
    pub(crate) async fn of(robot: &Robot, user: &Caller, flow: &str, name: &str) -> Self {
        let tokens = robot.by_password(user, "integration").await;
        let client = robot.with(&tokens["access_token"]);
        let request = client.request(Method::POST, &format!("/flows/{flow}/sources"));
        let made = request.json(&json!({"name": name})).send().await.unwrap();
        assert_eq!(made.status, 201, "{}", made.text());
        let shown = made.json();
        let token = shown["flow_token"].as_str().unwrap().to_owned();
        note_secret(&token);
        let client = client.with_credentials(Credentials::FlowToken(token.clone()));
        Self {
            id: shown["id"].as_i64().unwrap(),
            token,
            client,
            shown,
        }
    }

    /// One of an application of its own in the flow `main`, made by Ben.
    pub(crate) async fn new(tenant: &Tenant) -> Self {
        let robot = tenant.server().robot(&tenant.name, &[]);
        Self::of(&robot, &tenant.ben, &tenant.main, "Tickets").await
    }

    /// Pushes, and gives the whole message.
    pub(crate) async fn push(&self, message: &Json) -> Json {
        push(&self.client, message).await
    }
}

/// Posts with a flow token, and gives the whole message.
#[track_caller]
pub(crate) fn push(client: &Client, message: &Json) -> impl Future<Output = Json> + use<> {
    let (caller, answer) = (std::panic::Location::caller(), try_push(client, message));
    async move {
        let answer = answer.await;
        assert_eq!(answer.status, 200, "{} at {caller}", answer.text());
        answer.json()
    }
}

/// Posts with a flow token, whatever comes of it.
pub(crate) fn try_push(
    client: &Client,
    message: &Json,
) -> impl Future<Output = RawResponse> + use<> {
    let request = client.request(Method::POST, "/messages").json(message);
    let request = request.header("x-service-wait-for-message", "1");
    async { request.send().await.unwrap() }
}

/// An activity in the thread that the poster knows by this id.
pub(crate) fn activity(external_id: &str, title: &str) -> Json {
    json!({"event": "activity", "title": title, "external_thread_id": external_id})
}

/// The same with a new state of the thread.
pub(crate) fn update(external_id: &str, title: &str, thread: &Json) -> Json {
    json!({"event": "activity", "title": title, "external_thread_id": external_id, "thread": thread})
}

/// The status of an answer.
pub(crate) async fn status(client: &Client, method: Method, path: &str, body: &Json) -> u16 {
    let request = client.request(method, path);
    let request = if body.is_null() {
        request
    } else {
        request.json(body)
    };
    request.send().await.unwrap().status.as_u16()
}
