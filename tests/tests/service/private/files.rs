//! Files in private conversations: the classic profile takes them, the other does not.

use eddyline_client::{Client, Json, Method};
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::json;

use super::{listed, messages, own_stream, status};
use crate::files::{Form, PIXEL, fetch, in_json};

on_both_databases![&["--profile", "classic"];
    an_old_client_sends_a_private_file_in_either_way,
    an_old_client_writes_in_a_form_with_parts,
    only_the_two_read_a_private_file,
    a_private_file_goes_with_its_message,
    what_is_wrong_with_a_private_file_is_named,
];
on_both_databases![otherwise_private_messages_are_no_files];

fn path_of(message: &Json) -> String {
    message["content"]["path"]
        .as_str()
        .unwrap_or_else(|| panic!("{message}"))
        .to_owned()
}

async fn asked(client: &Client, path: &str) -> u16 {
    client
        .request(Method::GET, path)
        .send()
        .await
        .unwrap()
        .status
        .as_u16()
}

async fn an_old_client_sends_a_private_file_in_either_way(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut stream = own_stream(&ben).await;
    let first = ada
        .send(
            Method::POST,
            &messages(&ben),
            &in_json("dot.png", "", PIXEL),
        )
        .await;
    let form = Form::of("file")
        .file("content", "dot.png", "image/png", PIXEL)
        .text("tags", "tea");
    let second = form.send(&ada.client, &messages(&ben)).await;
    let unread = format!(":unread:{}", ben.id);
    for (number, answer, tags) in [
        (1, first, json!([unread, ":file"])),
        (2, second, json!([unread, "tea", ":file"])),
    ] {
        assert_eq!(answer.status, 201, "{}", answer.text());
        let message = answer.json();
        assert_eq!(
            (&message["id"], &message["event"]),
            (&json!(number), &json!("file"))
        );
        assert_eq!(
            (&message["to"], &message["tags"]),
            (&json!(ben.id.to_string()), &tags)
        );
        assert_eq!(message["content"]["file_name"], "dot.png");
        assert_eq!(
            message["content"]["image"],
            json!({"width": 1, "height": 1})
        );
        assert_eq!(message["attachments"], json!([message["content"]]));
        assert_eq!(stream.event("file").await["content"], message["content"]);
        assert_eq!(
            ben.get(&format!("{}/{number}", messages(&ada))).await,
            message
        );
        let fetched = fetch(&server, &ben.client, &path_of(&message)).await;
        assert_eq!(&fetched.body[..], PIXEL);
    }
    assert_eq!(listed(&ben, &ada, "?event=file").await, [1, 2]);
    assert_eq!(listed(&ben, &ada, "?search=dot.png").await, [1, 2]);
    assert_eq!(super::unread(&ben, &ada).await, 2);

    let sent = async |name: &str| {
        let mut body = in_json(name, "", PIXEL);
        body["uuid"] = "2f1c".into();
        ada.send(Method::POST, &messages(&ben), &body).await
    };
    for _ in 0..2 {
        let answer = sent("once.png").await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["id"]),
            (201, &json!(3))
        );
    }
    assert_eq!(sent("other.png").await.status, 409);
}

async fn an_old_client_writes_in_a_form_with_parts(server: Server) {
    let Acme { ada, ben } = server.acme();
    let answer = Form::of("message")
        .text("content", "hello")
        .send(&ada.client, &messages(&ben))
        .await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["content"]),
        (201, &json!("hello"))
    );
}

async fn only_the_two_read_a_private_file(server: Server) {
    let Acme { ada, ben } = server.acme();
    let cleo = server.user("acme", "cleo");
    let message = ada
        .send(
            Method::POST,
            &messages(&ben),
            &in_json("dot.png", "", PIXEL),
        )
        .await
        .json();
    let path = path_of(&message);
    for (who, expected) in [(&ada, 302), (&ben, 302), (&cleo, 404)] {
        assert_eq!(asked(&who.client, &path).await, expected, "{}", who.email);
    }
    let robot = server.robot("acme", &[]);
    for (scopes, expected) in [("flow", 403), ("flow private", 302)] {
        let tokens = robot.by_password(&ben, scopes).await;
        assert_eq!(
            asked(&robot.with(&tokens["access_token"]), &path).await,
            expected,
            "{scopes}"
        );
    }
    ada.does(
        Method::DELETE,
        &format!("/organizations/acme/users/{}", ben.id),
        &Json::Null,
    )
    .await;
    assert_eq!(asked(&ben.client, &path).await, 403);
}

async fn a_private_file_goes_with_its_message(server: Server) {
    let Acme { ada, ben } = server.acme();
    let message = ada
        .send(
            Method::POST,
            &messages(&ben),
            &in_json("dot.png", "", PIXEL),
        )
        .await
        .json();
    let mut stream = own_stream(&ben).await;
    assert_eq!(
        status(
            &ben,
            Method::DELETE,
            &format!("{}/1", messages(&ada)),
            Json::Null
        )
        .await,
        403
    );
    assert_eq!(
        status(
            &ada,
            Method::DELETE,
            &format!("{}/1", messages(&ben)),
            Json::Null
        )
        .await,
        204
    );
    assert_eq!(
        stream.event("message-delete").await["content"],
        json!({"message": 1})
    );
    assert_eq!(asked(&ben.client, &path_of(&message)).await, 404);
    assert_eq!(listed(&ben, &ada, "").await, Vec::<i64>::new());
}

async fn what_is_wrong_with_a_private_file_is_named(server: Server) {
    let Acme { ada, ben } = server.acme();
    let file = |form: Form, name: &str| form.file(name, "a.txt", "text/plain", b"hello");
    for (form, field) in [
        (Form::of("file"), "content"),
        (Form::of("activity").text("content", "x"), "event"),
        (file(Form::of("message"), "content"), "content"),
        (
            file(file(Form::of("file"), "content"), "content"),
            "content",
        ),
        (
            file(file(Form::of("file"), "content"), "attachments[a]"),
            "attachments",
        ),
    ] {
        let answer = form.send(&ada.client, &messages(&ben)).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(
            answer.json()["errors"][field].is_array(),
            "{field}: {}",
            answer.text()
        );
    }
    for (content, field) in [
        (json!("text"), "content"),
        (json!({"file_name": "x"}), "content[data]"),
    ] {
        let body = json!({"event": "file", "content": content});
        let answer = ada.send(Method::POST, &messages(&ben), &body).await;
        assert!(
            answer.json()["errors"][field].is_array(),
            "{field}: {}",
            answer.text()
        );
    }
    server.organization("other");
    let sven = server.user("other", "sven");
    let strange = file(Form::of("file"), "content")
        .send(&sven.client, &messages(&ben))
        .await;
    assert_eq!(strange.status, 404, "{}", strange.text());
    let in_json = sven
        .send(
            Method::POST,
            &messages(&ben),
            &in_json("a.txt", "", b"hello"),
        )
        .await;
    assert_eq!(in_json.status, 404);
    assert_eq!(listed(&ben, &ada, "").await, Vec::<i64>::new());
}

async fn otherwise_private_messages_are_no_files(server: Server) {
    let Acme { ada, ben } = server.acme();
    let file = Form::of("file").file("content", "a.txt", "text/plain", b"hello");
    let answer = file.send(&ada.client, &messages(&ben)).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert!(
        answer.json()["errors"]["content"].is_array(),
        "{}",
        answer.text()
    );
    let answer = ada
        .send(
            Method::POST,
            &messages(&ben),
            &in_json("a.txt", "", b"hello"),
        )
        .await;
    assert_eq!(
        (
            answer.status.as_u16(),
            answer.json()["errors"]["event"].is_array()
        ),
        (400, true)
    );
    assert!(server.kept_files().is_empty());

    let form = Form::of("message")
        .text("content", "hello")
        .send(&ada.client, &messages(&ben))
        .await;
    assert_eq!((form.status.as_u16(), form.json()), (200, json!({})));
    assert_eq!(listed(&ben, &ada, "").await, [1]);
}
