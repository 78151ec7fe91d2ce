//! Files that come with activity and discussion.

use eddyline_client::{Client, Credentials, Json};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::{Form, PIXEL, fetch, text};

on_shared_servers![
    a_body_refers_to_its_attachments,
    attachments_without_ids_come_along,
    an_activity_has_attachments_and_a_thread,
    attachments_that_make_no_sense_are_refused,
    chat_has_no_attachments,
];

fn pusher(tenant: &Tenant) -> Client {
    tenant.client(Credentials::FlowToken(tenant.flow_token()))
}

fn inbox(event: &str) -> Form {
    Form::of(event)
        .text("title", "Ticket 7")
        .text("external_thread_id", "7")
        .text("author[name]", "Tracker")
}

/// Shows: 2.25, 4.21
async fn a_body_refers_to_its_attachments(tenant: Tenant) {
    let body = "<p>See <img src=\"cid:shot\"> and <a href=\"cid:log\">the log</a>, not <img src=\"cid:none\"></p>";
    let form = inbox("discussion").text("body", body);
    let form = form.file("attachments[shot]", "shot.png", "image/png", PIXEL);
    let form = form.file(
        "attachments[log]",
        "build log.txt",
        "text/plain",
        b"it works",
    );
    let message = form.posted(&pusher(&tenant), "/messages").await;
    let attachments = message["attachments"].as_array().unwrap();
    let ids: Vec<&Json> = attachments.iter().map(|file| &file["content_id"]).collect();
    assert_eq!(ids, [&json!("shot"), &json!("log")]);
    let body = text(&message["body"]);
    for file in attachments {
        assert!(body.contains(text(&file["path"])), "{file} in {body}");
    }
    assert!(!body.contains("cid:"), "{body}");
    assert!(attachments[0]["image"].is_object() && attachments[1]["image"].is_null());
    assert_eq!(message["tags"], json!([":file"]));
    let file = fetch(
        tenant.server(),
        &tenant.ben.client,
        text(&attachments[1]["path"]),
    )
    .await;
    assert_eq!(&file.body[..], b"it works");
}

/// Shows: 4.22
async fn attachments_without_ids_come_along(tenant: Tenant) {
    let form = inbox("activity");
    let form = form
        .file("attachments[]", "a.txt", "text/plain", b"a")
        .file("attachments", "b.txt", "", b"b");
    let form = form.file("attachments[]", "", "application/octet-stream", b"");
    let message = form.posted(&pusher(&tenant), "/messages").await;
    let names: Vec<&Json> = message["attachments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| &file["file_name"])
        .collect();
    assert_eq!(
        names,
        [&json!("a.txt"), &json!("b.txt")],
        "a field that nobody filled in is none"
    );
    assert!(message["attachments"][0]["content_id"].is_null());
}

/// Shows: 4.17
async fn an_activity_has_attachments_and_a_thread(tenant: Tenant) {
    let form = inbox("activity")
        .text("thread[title]", "Ticket")
        .text("thread[status][value]", "open");
    let form = form
        .text("thread[status][color]", "green")
        .text("thread[fields][][label]", "By");
    let form = form.text("thread[fields][][value]", "Ada").file(
        "attachments[1]",
        "a.txt",
        "text/plain",
        b"a",
    );
    let message = form.posted(&pusher(&tenant), "/messages").await;
    assert_eq!(
        message["thread"]["status"],
        json!({"value": "open", "color": "green"})
    );
    assert_eq!(
        message["thread"]["fields"],
        json!([{"label": "By", "value": "Ada"}])
    );
    assert_eq!(message["attachments"].as_array().unwrap().len(), 1);
    let listed = tenant.ben.get(&tenant.path("/messages?tags=:file")).await;
    assert_eq!(listed[0]["id"], message["id"]);
}

/// Shows: 4.22
async fn attachments_that_make_no_sense_are_refused(tenant: Tenant) {
    let client = pusher(&tenant);
    let one = |form: Form, name: &str| form.file(name, "a.txt", "text/plain", b"a");
    for names in [
        &["attachments[a]", "attachments[]"][..],
        &["attachments", "attachments[a]"],
        &["attachments[a]", "attachments[a]"],
        &["attachments[a"],
        &["attachments[a][b]"],
        &["attachments[a\u{202e}b]"],
    ] {
        let form = names
            .iter()
            .fold(inbox("activity"), |form, name| one(form, name));
        let answer = form.refused(&client, "/messages", 400).await;
        assert!(
            answer["errors"]["attachments"].is_array(),
            "{names:?}: {answer}"
        );
    }
    let twenty = (0..20).fold(inbox("activity"), |form, number| {
        one(form, &format!("attachments[{number}]"))
    });
    one(twenty.clone(), "attachments[20]")
        .refused(&client, "/messages", 400)
        .await;
    assert_eq!(
        twenty.posted(&client, "/messages").await["attachments"]
            .as_array()
            .unwrap()
            .len(),
        20
    );
    let answer = one(inbox("activity"), "content")
        .refused(&client, "/messages", 400)
        .await;
    assert!(answer["errors"]["content"].is_array(), "{answer}");
}

/// Shows: 4.17
async fn chat_has_no_attachments(tenant: Tenant) {
    for event in ["message", "file", "status"] {
        let form = Form::of(event).file("attachments[a]", "a.txt", "text/plain", b"a");
        let form = match event {
            "file" => form.file("content", "a", "", b"a"),
            _ => form.text("content", "hello"),
        };
        let answer = form
            .refused(&tenant.ben.client, &tenant.path("/messages"), 400)
            .await;
        assert!(
            answer["errors"]["attachments"].is_array(),
            "{event}: {answer}"
        );
    }
    let form = Form::of("message").file("content", "a.txt", "text/plain", b"hello");
    let answer = form
        .refused(&tenant.ben.client, &tenant.path("/messages"), 400)
        .await;
    assert_eq!(
        answer["errors"],
        json!({"content": ["must be a text, not a file"]})
    );
    let plain = Form::of("message")
        .text("content", "hello #form")
        .text("tags[]", "one");
    let message = plain
        .posted(&tenant.ben.client, &tenant.path("/messages"))
        .await;
    assert_eq!(
        (text(&message["content"]), &message["tags"]),
        ("hello #form", &json!(["one", "form"]))
    );
}
