//! Actions of threads: an integration offers them, a user triggers one, and the server asks the
//! integration with a signed request (specification, sections 2, 5 and 6).

use eddyline_client::{Client, Credentials, Json, Method, RawResponse};
use eddyline_tests::{Acme, Caller, Robot, Server, on_both_databases};
use serde_json::json;

use crate::receiver::Receiver;

mod answers;
mod page;
mod refusals;
mod targets;
mod trust;
mod turns;

/// Options of a server that asks integrations on this machine, and does not wait long for them.
const OPTIONS: &[&str] = &["--allow-private-targets", "--action-timeout-seconds", "3"];

on_both_databases![crate::actions::OPTIONS;
    an_integration_is_asked_with_the_action_and_who_triggered_it,
    every_method_is_sent_with_a_body_that_is_signed,
    the_action_that_is_triggered_is_that_of_the_last_state,
];
on_both_databases![&["--allow-private-targets", "--profile", "classic"];
    an_old_integration_finds_the_token_in_the_old_header,
];

/// A flow with a source in it, of an application whose integration runs on this machine.
struct Stage {
    server: Server,
    acme: Acme,
    robot: Robot,
    /// A client with the source's token.
    source: Client,
    source_id: i64,
    receiver: Receiver,
}

impl Stage {
    async fn set(server: Server) -> Self {
        let acme = server.acme();
        let robot = server.robot("acme", &[]);
        let (source, source_id) = source(&server, &robot);
        Self {
            receiver: Receiver::start().await,
            server,
            acme,
            robot,
            source,
            source_id,
        }
    }

    /// A thread that offers to close its ticket at the receiver's path `/close`; gives its id.
    async fn thread(&self) -> String {
        push(&self.source, "1", &[close(&self.receiver.url("/close"))]).await
    }

    /// Triggers an action, whatever comes of it.
    async fn trigger(&self, caller: &Caller, thread: &str, position: &str) -> RawResponse {
        trigger(&caller.client, thread, position, &Json::Null).await
    }
}

/// Makes a source of an application in the flow, and a client with its token.
fn source(server: &Server, robot: &Robot) -> (Client, i64) {
    let arguments = [
        "source",
        "create",
        "--flow",
        "acme/main",
        "--app",
        &robot.id,
        "--name",
        "Tickets",
    ];
    let made = server.admin(&arguments);
    (with_flow_token(server, &made), made["id"].as_i64().unwrap())
}

/// A client with the flow token of an answer.
fn with_flow_token(server: &Server, made: &Json) -> Client {
    let token = made["flow_token"]
        .as_str()
        .expect("it has a token")
        .to_owned();
    server
        .client()
        .build()
        .unwrap()
        .with_credentials(Credentials::FlowToken(token))
}

/// Brings the thread with this id of the source into a state with these actions; gives its id.
async fn push(source: &Client, external_id: &str, actions: &[Json]) -> String {
    let thread = json!({"title": "A ticket", "actions": actions});
    let message = json!({
        "event": "activity", "title": "changed it", "external_thread_id": external_id, "thread": thread,
    });
    let request = source.request(Method::POST, "/messages").json(&message);
    let answer = request
        .header("x-service-wait-for-message", "1")
        .send()
        .await
        .unwrap();
    assert!(answer.status.is_success(), "{}", answer.text());
    answer.json()["thread_id"]
        .as_str()
        .expect("it is in a thread")
        .to_owned()
}

/// An action that sends a request to an address.
fn update(name: &str, method: &str, url: &str) -> Json {
    let target = json!({"@type": "EntryPoint", "urlTemplate": url, "httpMethod": method});
    json!({"@type": "UpdateAction", "name": name, "target": target})
}

fn close(url: &str) -> Json {
    update("Close", "POST", url)
}

fn path(thread: &str, position: &str) -> String {
    format!("/flows/acme/main/threads/{thread}/actions/{position}")
}

async fn trigger(client: &Client, thread: &str, position: &str, body: &Json) -> RawResponse {
    let request = client.request(Method::POST, &path(thread, position));
    let request = if body.is_null() {
        request
    } else {
        request.json(body)
    };
    request.send().await.unwrap()
}

/// Checks that all went well.
#[track_caller]
fn is_done(answer: &RawResponse) {
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_ref()),
        (200, "{}")
    );
}

/// Shows: 2.32
async fn an_integration_is_asked_with_the_action_and_who_triggered_it(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    let ada = &stage.acme.ada;
    is_done(&stage.trigger(ada, &thread, "0").await);

    let request = stage.receiver.asked_once();
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/close")
    );
    assert_eq!(request.headers["content-type"], "application/json");
    assert!(
        request.headers["user-agent"].starts_with("Eddyline/"),
        "{request:?}"
    );
    // It sees of the user what everybody in the flow sees, and neither address nor credentials.
    let shown = ada.get(&format!("/flows/acme/main/threads/{thread}")).await["actions"][0].clone();
    let mut expected = shown.clone();
    expected["agent"] = json!({"@type": "Person", "id": ada.id, "name": "ada", "nick": "ada"});
    assert_eq!(request.json(), expected);
    assert_eq!(shown, close(&stage.receiver.url("/close")));
    for credentials in ["authorization", "cookie", "flowdock-token"] {
        assert_eq!(request.headers.get(credentials), None);
    }
    let claims = request.claims();
    assert_eq!(claims["sub"], ada.id.to_string());
    assert_eq!(claims["aud"], stage.robot.client_id);
    assert_eq!(claims["iss"], stage.server.base_url());
    assert_eq!(
        claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(),
        30
    );
}

/// Shows: 5.13, 6.6
async fn every_method_is_sent_with_a_body_that_is_signed(server: Server) {
    let stage = Stage::set(server).await;
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
        let url = stage.receiver.url("/ticket/7?a=b%20c,d&e=%C3%A9");
        let thread = push(&stage.source, method, &[update("Do", method, &url)]).await;
        is_done(&stage.trigger(&stage.acme.ben, &thread, "0").await);
        let request = stage.receiver.asked_once();
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            (method, "/ticket/7?a=b%20c,d&e=%C3%A9")
        );
        assert_eq!(request.json()["agent"]["id"], stage.acme.ben.id);
        assert_eq!(request.claims()["signature"].as_str().unwrap().len(), 64);
    }
}

async fn the_action_that_is_triggered_is_that_of_the_last_state(server: Server) {
    let stage = Stage::set(server).await;
    let (receiver, ben) = (&stage.receiver, &stage.acme.ben);
    let actions = [
        close(&receiver.url("/close")),
        update("Assign", "PUT", &receiver.url("/assign")),
    ];
    let thread = push(&stage.source, "1", &actions).await;
    is_done(&trigger(&ben.client, &thread, "1", &json!({"name": "Assign"})).await);
    assert_eq!(receiver.asked_once().path, "/assign");

    // The ticket was closed meanwhile, and can only be opened again.
    push(
        &stage.source,
        "1",
        &[update("Reopen", "POST", &receiver.url("/reopen"))],
    )
    .await;
    let late = trigger(&ben.client, &thread, "0", &json!({"name": "Close"})).await;
    assert_eq!(
        (late.status.as_u16(), late.json()),
        (409, json!({"message": "The thread has changed"}))
    );
    assert_eq!(stage.trigger(ben, &thread, "1").await.status, 404);
    assert!(receiver.asked().is_empty());
    let named = format!("{}?name=Reopen", path(&thread, "0"));
    is_done(&ben.send(Method::POST, &named, &Json::Null).await);
    assert_eq!(receiver.asked_once().path, "/reopen");
}

/// Shows: 5.13
async fn an_old_integration_finds_the_token_in_the_old_header(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    is_done(&stage.trigger(&stage.acme.ada, &thread, "0").await);
    let request = stage.receiver.asked_once();
    assert_eq!(request.headers["flowdock-token"].split('.').count(), 3);
    assert_eq!(request.headers.get("service-token"), None);
}
