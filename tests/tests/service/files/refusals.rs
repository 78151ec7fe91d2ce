//! Uploads that are not taken, and why.

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Server, Tenant, on_both_databases, on_shared_servers};
use serde_json::json;

use super::{Form, in_json, text, until_kept};

on_shared_servers![
    broken_forms_are_refused,
    a_file_in_json_is_checked_field_by_field,
    only_who_may_post_sends_files,
    only_a_file_may_be_long,
];
on_both_databases![
    &["--max-upload-bytes", "100000", "--max-json-upload-bytes", "2000000"];
    a_file_that_is_too_large_is_refused_and_leaves_nothing
];

/// Shows: 4.30
async fn broken_forms_are_refused(tenant: Tenant) {
    let (client, path) = (&tenant.ben.client, tenant.path("/messages"));
    let file = || Form::of("file").file("content", "a.txt", "text/plain", b"a");
    for (form, field) in [
        (Form::of("file"), "content"),
        (Form::of("file").text("content", "x"), ""),
        (
            file().file("content", "b.txt", "text/plain", b"b"),
            "content",
        ),
        (file().file("other", "b.txt", "text/plain", b"b"), "other"),
        (file().text("file_name", &"x".repeat(256)), "file_name"),
        (file().text("content_type", "text"), "content_type"),
        (file().text("tags", "a").text("tags[b]", "b"), "tags[b]"),
        (file().part("name=\"uuid\"", "", b"\xff"), "uuid"),
        (file().text("thread[title]", "x"), "thread"),
    ] {
        if field.is_empty() {
            // Known to be a file by its event.
            form.posted(client, &path).await;
            continue;
        }
        let answer = form.refused(client, &path, 400).await;
        assert!(answer["errors"][field].is_array(), "{field}: {answer}");
    }
    Form::default()
        .part("filename=\"a\"", "", b"a")
        .refused(client, &path, 400)
        .await;
    let parts = (0..1001).fold(Form::default(), |form, _| form.text("x", ""));
    parts.refused(client, &path, 413).await;
    Form::of("message")
        .text("content", &"x".repeat(1024 * 1024 + 1))
        .refused(client, &path, 413)
        .await;
    let long_head = Form::default().part(&format!("name=\"{}\"", "x".repeat(200_000)), "", b"");
    long_head.refused(client, &path, 400).await;
    let whole = file().end();
    for (kind, body) in [
        ("multipart/form-data", whole.clone()),
        ("multipart/form-data; boundary=other", whole.clone()),
        (
            "multipart/form-data; boundary=edge",
            whole[..whole.len() - 10].to_vec(),
        ),
        ("multipart/form-data; boundary=edge", Vec::new()),
    ] {
        let answer = client
            .request(Method::POST, &path)
            .raw(kind, body)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 400, "{kind}: {}", answer.text());
    }
    let other = client
        .request(Method::POST, &path)
        .raw("text/xml", b"<a/>".to_vec())
        .send()
        .await
        .unwrap();
    assert_eq!(other.status, 415);
    assert!(
        text(&other.json()["message"]).ends_with("x-www-form-urlencoded or multipart/form-data")
    );
    let elsewhere = client
        .request(Method::POST, "/comments")
        .raw("multipart/form-data; boundary=edge", whole);
    assert_eq!(elsewhere.send().await.unwrap().status, 415);
}

/// Shows: 4.30
async fn a_file_in_json_is_checked_field_by_field(tenant: Tenant) {
    let path = tenant.path("/messages");
    for (content, field) in [
        (json!("text"), "content"),
        (json!(["x"]), "content"),
        (Json::Null, "content"),
        (json!({"file_name": "a"}), "content[data]"),
        (json!({"data": 1}), "content[data]"),
        (json!({"data": "a*b"}), "content[data]"),
        (json!({"data": "", "file_name": {}}), "content[file_name]"),
        (
            json!({"data": "", "file_name": "x".repeat(256)}),
            "file_name",
        ),
        (
            json!({"data": "", "content_type": "a\r\nb: c"}),
            "content_type",
        ),
    ] {
        let answer = tenant
            .ben
            .send(
                Method::POST,
                &path,
                &json!({"event": "file", "content": content}),
            )
            .await;
        assert_eq!(answer.status, 400, "{content}: {}", answer.text());
        assert!(
            answer.json()["errors"][field].is_array(),
            "{field}: {}",
            answer.text()
        );
    }
    for (content, field, wrong) in [
        (json!({"data": 1}), "content[data]", "must be a text"),
        (
            json!({"data": "", "file_name": 1}),
            "content[file_name]",
            "must be a text",
        ),
        (
            json!({"data": "YQ\0=="}),
            "content[data]",
            "must not contain NUL characters",
        ),
        (
            json!({"data": "", "file_name": "a\0"}),
            "content[file_name]",
            "must not contain NUL characters",
        ),
        (json!({}), "content[data]", "is required"),
        (Json::Null, "content", "is required"),
    ] {
        let answer = tenant
            .ben
            .send(
                Method::POST,
                &path,
                &json!({"event": "file", "content": content}),
            )
            .await;
        assert_eq!(
            answer.json()["errors"],
            json!({field: [wrong]}),
            "{content}"
        );
    }
    let comment = tenant.path("/messages/1/comments");
    let answer = tenant
        .ben
        .send(Method::POST, &comment, &in_json("a", "", b"a"))
        .await;
    assert_eq!(answer.status, 400);
}

async fn only_who_may_post_sends_files(tenant: Tenant) {
    let path = tenant.path("/messages");
    let stranger = tenant.neighbour();
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "private").await;
    for (client, status) in [
        (tenant.client(Credentials::None), 401),
        (tenant.client(Credentials::ApiToken("wrong".into())), 401),
        (tenant.user("olga").client, 403),
        (stranger.ada.client.clone(), 404),
        (robot.with(&tokens["access_token"]), 403),
    ] {
        let form = Form::of("file").file("content", "a.txt", "text/plain", b"a");
        form.refused(&client, &path, status).await;
        let request = client
            .request(Method::POST, &path)
            .json(&in_json("a", "", b"a"));
        assert_eq!(request.send().await.unwrap().status.as_u16(), status);
    }
}

async fn only_a_file_may_be_long(tenant: Tenant) {
    let path = tenant.path("/messages");
    let long = "x".repeat(1024 * 1024);
    let answer = tenant
        .ben
        .send(
            Method::POST,
            &path,
            &json!({"event": "message", "content": long}),
        )
        .await;
    assert_eq!(answer.status, 413);
    let bytes = vec![7; 3 * 1024 * 1024];
    let answer = tenant
        .ben
        .send(Method::POST, &path, &in_json("a", "", &bytes))
        .await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let elsewhere = tenant.path("/messages/1/comments");
    assert_eq!(
        tenant
            .ben
            .send(Method::POST, &elsewhere, &in_json("a", "", &bytes))
            .await
            .status,
        413
    );
}

async fn a_file_that_is_too_large_is_refused_and_leaves_nothing(server: Server) {
    let acme = server.acme();
    let path = "/flows/acme/main/messages";
    let file = |size: usize| Form::of("file").file("content", "a", "", &vec![7; size]);
    let answer = file(100_001).refused(&acme.ben.client, path, 413).await;
    assert_eq!(text(&answer["message"]), "the file is too large");
    until_kept(&server, 0).await;
    file(100_000).posted(&acme.ben.client, path).await;
    for (size, status) in [(100_000, 202), (100_001, 413), (2_000_001, 413)] {
        let answer = acme
            .ben
            .send(Method::POST, path, &in_json("b", "", &vec![7; size]))
            .await;
        assert_eq!(answer.status.as_u16(), status, "{size}: {}", answer.text());
    }
    until_kept(&server, 1).await;
}
