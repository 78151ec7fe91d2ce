//! What a push is answered, and repeating one.

use eddyline_client::{Credentials, Json, Method, RawResponse, StatusCode};
use eddyline_tests::{Server, Tenant, on_both_databases, on_shared_servers};
use serde_json::json;

use crate::integrations::{Source, activity, push, try_push};

on_shared_servers![
    a_push_is_answered_as_its_wait_header_asks,
    a_repeat_gives_the_first_message,
    a_sender_has_a_name_if_it_gives_one,
];

on_both_databases![&["--profile", "classic"]; an_old_tool_gets_the_message_when_it_waits];

async fn send(client: &eddyline_client::Client, message: &Json, header: &str) -> RawResponse {
    let request = client.request(Method::POST, "/messages").json(message);
    request.header(header, "1").send().await.unwrap()
}

/// Shows: 4.18
async fn a_push_is_answered_as_its_wait_header_asks(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let without = send(&source.client, &activity("7", "opened"), "x-none").await;
    assert_eq!(
        (without.status.as_u16(), without.text().as_str()),
        (202, "{}")
    );
    assert_eq!(
        (without.header("link"), without.header("service-user")),
        (None, None)
    );
    // It is there all the same, at once.
    let listed = tenant
        .ben
        .get(&tenant.path("/messages?event=activity"))
        .await;
    assert_eq!(listed[0]["title"], "opened");
    let waited = send(
        &source.client,
        &activity("7", "closed"),
        "x-service-wait-for-message",
    )
    .await;
    assert_eq!(waited.status, 200);
    let posted = waited.json();
    let comments = format!(
        "{}{}/comments",
        tenant.server().base_url(),
        tenant.message_path(&posted)
    );
    assert_eq!(
        waited.header("link"),
        Some(format!("<{comments}>; rel=\"comments\"").as_str())
    );
    assert_eq!(posted["thread"]["activities"], 2);
}

async fn a_repeat_gives_the_first_message(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let message = json!({
        "event": "activity", "title": "opened", "external_thread_id": "7", "uuid": "2f1c",
        "thread": {"title": "Crash", "status": {"value": "open"}},
    });
    let first = source.push(&message).await;
    source
        .push(&json!({
            "event": "activity", "title": "closed", "external_thread_id": "7",
            "thread": {"title": "Crash", "status": {"value": "closed"}},
        }))
        .await;
    let again = source.push(&message).await;
    assert_eq!(
        (&again["id"], &again["sent"]),
        (&first["id"], &first["sent"])
    );
    assert_eq!(
        again["thread"]["status"]["value"], "closed",
        "a repeat changes nothing"
    );
    assert_eq!(again["thread"]["activities"], 2, "nor is it counted");
    // Whatever is said otherwise makes it another message.
    let changes = [
        ("event", json!("discussion")),
        ("title", json!("re-opened")),
        ("body", json!("x")),
        ("external_thread_id", json!("8")),
        ("author", json!({"name": "Zoë"})),
        (
            "thread",
            json!({"title": "Crash", "status": {"value": "shut"}}),
        ),
    ];
    for (name, value) in changes {
        let mut other = message.clone();
        other[name] = value;
        assert_eq!(try_push(&source.client, &other).await.status, 409, "{name}");
    }
    let own = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    assert_eq!(try_push(&own, &message).await.status, 409, "another caller");
    let posts = (0..20).map(|_| {
        let mut message = message.clone();
        message["uuid"] = json!("another");
        tokio::spawn(push(&source.client, &message))
    });
    let mut ids = Vec::new();
    for post in posts.collect::<Vec<_>>() {
        ids.push(post.await.unwrap()["id"].clone());
    }
    ids.dedup();
    assert_eq!(
        ids.len(),
        1,
        "repeats made at the same time give one message"
    );
}

async fn a_sender_has_a_name_if_it_gives_one(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let mut message = activity("7", "opened");
    message["external_user_name"] = json!("Jenkins");
    let posted = source.push(&message).await;
    assert_eq!(
        (&posted["user"], &posted["external_user_name"]),
        (&json!("0"), &json!("Jenkins"))
    );
    message["external_user_name"] = json!("x".repeat(101));
    assert_eq!(try_push(&source.client, &message).await.status, 400);
    // It makes what a user's application posts anonymous as well.
    let robot = tenant.server().robot(&tenant.name, &[]);
    Source::of(&robot, &tenant.ben, &tenant.main, "Tickets").await;
    let tokens = robot.by_password(&tenant.ben, "flow").await;
    let request = robot
        .with(&tokens["access_token"])
        .request(Method::POST, &tenant.path("/messages"));
    message["external_user_name"] = json!("Jenkins");
    let request = request
        .header("x-service-wait-for-message", "1")
        .json(&message);
    let posted: Json = request.call().await.unwrap();
    assert_eq!(
        (&posted["user"], &posted["external_user_name"]),
        (&json!("0"), &json!("Jenkins"))
    );
    assert_eq!(posted["author"], Json::Null);
}

/// Shows: 4.18
async fn an_old_tool_gets_the_message_when_it_waits(server: Server) {
    let acme = server.acme();
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &acme.ben, "acme/main", "Tickets").await;
    let accepted = send(&source.client, &activity("7", "opened"), "x-none").await;
    assert_eq!(
        (accepted.status, accepted.text().as_str()),
        (StatusCode::ACCEPTED, "{}")
    );
    for header in ["x-flowdock-wait-for-message", "x-service-wait-for-message"] {
        let created = send(&source.client, &activity("7", header), header).await;
        assert_eq!(
            (created.status, &created.json()["title"]),
            (StatusCode::CREATED, &json!(header))
        );
    }
    // Who posts as a user gets it in any case.
    let tokens = robot.by_password(&acme.ben, "flow").await;
    let request = robot
        .with(&tokens["access_token"])
        .request(Method::POST, "/flows/acme/main/messages");
    let created = request.json(&activity("7", "by Ben")).send().await.unwrap();
    assert_eq!(
        (created.status, &created.json()["title"]),
        (StatusCode::CREATED, &json!("by Ben"))
    );
}
