//! What a push must have, and how each mistake is told.

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use crate::integrations::{Source, activity, try_push};

on_shared_servers![
    each_mistake_is_named_by_its_field,
    mistakes_are_told_all_at_once,
    limits_hold_at_their_edge,
    an_unknown_token_is_refused,
    people_without_an_application_post_no_activities,
    a_token_posts_to_its_own_flow_only,
    a_thread_of_another_flow_is_not_reached,
];

/// An activity with this thread.
fn with_thread(thread: &Json) -> Json {
    json!({"event": "activity", "title": "x", "external_thread_id": "7", "thread": thread})
}

/// Shows: 2.30, 4.17
async fn each_mistake_is_named_by_its_field(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let with = |name: &str, value: Json| {
        let mut message = activity("7", "x");
        message[name] = value;
        message
    };
    for (message, field) in [
        (json!({"title": "x", "external_thread_id": "7"}), "event"),
        (with("event", json!("action")), "event"),
        (with("event", json!("mail")), "event"),
        (
            json!({"event": "activity", "title": "x"}),
            "external_thread_id",
        ),
        (activity("", "x"), "external_thread_id"),
        (activity(&"x".repeat(501), "x"), "external_thread_id"),
        (with("thread_id", json!("no-such-thread")), "thread_id"),
        (
            json!({"event": "activity", "external_thread_id": "7"}),
            "title",
        ),
        (activity("7", " "), "title"),
        (activity("7", "<script>x</script>"), "title"),
        (with("title", json!({"text": "x"})), "title"),
        (
            json!({"event": "discussion", "external_thread_id": "7", "body": "<script>x</script>"}),
            "title",
        ),
        (activity("7", &"ä".repeat(1001)), "title"),
        (with("body", json!("x".repeat(64 * 1024 + 1))), "body"),
        (with("body", json!("ä".repeat(33 * 1024))), "body"),
        (with("author", json!("Zoë")), "author"),
        (
            with("author", json!({"avatar": "https://x.example/"})),
            "author[name]",
        ),
        (
            with("author", json!({"name": "Zoë", "avatar": "zoe.png"})),
            "author[avatar]",
        ),
        (
            with("author", json!({"name": "x".repeat(201)})),
            "author[name]",
        ),
        (with("thread", json!("Crash")), "thread"),
        (with_thread(&json!({})), "thread[title]"),
        (with_thread(&json!({"title": "<b></b>"})), "thread[title]"),
        (
            with_thread(&json!({"title": "x".repeat(1001)})),
            "thread[title]",
        ),
        (
            with_thread(&json!({"title": "x", "status": {"value": "x", "color": "pink"}})),
            "thread[status][color]",
        ),
        (
            with_thread(&json!({"title": "x", "fields": [{"value": "x"}]})),
            "thread[fields][0][label]",
        ),
        (
            with_thread(&json!({"title": "x", "actions": [{"name": "x"}]})),
            "thread[actions][0][@type]",
        ),
        (with("tags", json!(vec!["a".repeat(101)])), "tags"),
        (
            with(
                "tags",
                json!((0..51).map(|n| n.to_string()).collect::<Vec<_>>()),
            ),
            "tags",
        ),
        (with("uuid", json!("x".repeat(101))), "uuid"),
        (
            json!({"event": "message", "content": "x", "thread": {"title": "x"}}),
            "thread",
        ),
        (
            json!({"event": "message", "content": "x", "attachments": []}),
            "attachments",
        ),
        (
            json!({"event": "message", "external_thread_id": "7"}),
            "content",
        ),
    ] {
        let refused = try_push(&source.client, &message).await;
        assert_eq!(refused.status, 400, "{message}");
        let answer = refused.json();
        assert_eq!(answer["message"], "Validation error", "{message}");
        assert!(
            answer["errors"][field][0].is_string(),
            "{message}: {answer}"
        );
    }
    assert_eq!(
        tenant
            .ben
            .get(&tenant.path("/threads?empty=1&application=inbox"))
            .await,
        json!([])
    );
}

async fn mistakes_are_told_all_at_once(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let message = json!({
        "event": "activity", "title": "x".repeat(1001), "author": {}, "thread": {"status": {"color": "pink"}},
    });
    let errors = try_push(&source.client, &message).await.json()["errors"].clone();
    let fields: Vec<_> = errors.as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        [
            "author[name]",
            "external_thread_id",
            "thread[status][color]",
            "thread[title]",
            "title"
        ],
        "{errors}"
    );
}

/// Shows: 2.30
async fn limits_hold_at_their_edge(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let fields = vec![json!({"label": "l".repeat(200), "value": "ä".repeat(1000)}); 50];
    let action = json!({"@type": "ViewAction", "url": "https://x.example/", "name": "n".repeat(200),
        "description": "d".repeat(1000)});
    let thread = json!({
        "title": "ä".repeat(1000), "body": "b".repeat(64 * 1024), "fields": fields, "actions": vec![action; 20],
        "status": {"value": "s".repeat(200), "color": "lime"},
    });
    let tags: Vec<String> = (0..50).map(|n| format!("{n:0>100}")).collect();
    let message = json!({
        "event": "activity", "title": "ä".repeat(1000), "body": "b".repeat(64 * 1024), "external_thread_id":
        "e".repeat(500), "thread": thread, "tags": tags, "uuid": "u".repeat(100),
        "author": {"name": "ä".repeat(200)},
    });
    let posted = source.push(&message).await;
    for name in ["title", "body", "fields", "actions", "status"] {
        assert_eq!(posted["thread"][name], thread[name], "{name}");
    }
    for name in ["title", "body", "tags", "uuid"] {
        assert_eq!(posted[name], message[name], "{name}");
    }
    // Each colour there is.
    for color in [
        "red", "green", "yellow", "cyan", "orange", "grey", "black", "lime", "purple", "blue",
    ] {
        let status = json!({"value": "x", "color": color});
        let posted = source
            .push(&with_thread(&json!({"title": "x", "status": status})))
            .await;
        assert_eq!(posted["thread"]["status"], status);
    }
    let without = source
        .push(&with_thread(
            &json!({"title": "x", "status": {"value": "x"}}),
        ))
        .await;
    assert_eq!(
        without["thread"]["status"],
        json!({"value": "x", "color": null})
    );
}

async fn an_unknown_token_is_refused(tenant: Tenant) {
    for token in [
        "",
        "0123456789abcdef0123456789abcdef",
        "ä",
        &tenant.ben.token,
    ] {
        let client = tenant.client(Credentials::FlowToken(token.to_owned()));
        let refused = try_push(&client, &activity("7", "x")).await;
        assert_eq!(refused.status, 401, "{token:?}: {}", refused.text());
        assert!(refused.header("www-authenticate").is_some());
    }
}

/// Shows: 4.19
async fn people_without_an_application_post_no_activities(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let thread = source.push(&activity("7", "opened")).await["thread_id"].clone();
    for client in [&tenant.ben.client, &tenant.ben.by_password()] {
        for event in ["activity", "discussion"] {
            for message in [
                json!({"event": event, "title": "x", "external_thread_id": "7"}),
                json!({"event": event, "title": "x", "thread_id": thread, "external_user_name": "Jenkins"}),
            ] {
                let request = client
                    .request(Method::POST, &tenant.path("/messages"))
                    .json(&message);
                let refused = request.send().await.unwrap();
                assert_eq!(refused.status, 403, "{message}");
                assert_eq!(refused.json(), json!({"message": "Access denied"}));
            }
        }
    }
}

/// Shows: 4.19
async fn a_token_posts_to_its_own_flow_only(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    tenant.flow("side", &[&tenant.ben]);
    let side = format!("/flows/{}/side/messages", tenant.name);
    let foreign = format!("/flows/{}/messages", tenant.neighbour().main);
    for path in [side, foreign] {
        let request = source
            .client
            .request(Method::POST, &path)
            .json(&activity("7", "x"));
        let refused = request.send().await.unwrap();
        assert_eq!(refused.status, 404, "{path}: {}", refused.text());
    }
}

async fn a_thread_of_another_flow_is_not_reached(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    tenant.flow("side", &[&tenant.ben]);
    let there = tenant
        .ben
        .say(&format!("{}/side", tenant.name), "elsewhere")
        .await["thread_id"]
        .clone();
    let mut made_up = there.as_str().unwrap().to_owned();
    made_up.replace_range(20..21, if &made_up[20..21] == "A" { "B" } else { "A" });
    for id in [there.as_str().unwrap(), &made_up, "x"] {
        let message = json!({"event": "activity", "title": "x", "thread_id": id});
        let refused = try_push(&source.client, &message).await;
        assert_eq!(refused.status, 400, "{id}");
        assert!(
            refused.json()["errors"]["thread_id"][0].is_string(),
            "{}",
            refused.text()
        );
        let path = tenant.path(&format!("/threads/{id}/messages"));
        let request = source
            .client
            .request(Method::POST, &path)
            .json(&activity("7", "x"));
        assert_eq!(request.send().await.unwrap().status, 404, "{path}");
    }
}
