//! Sending files.

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Listener, Server, Tenant, on_both_databases, on_shared_servers};
use serde_json::json;

use super::{Form, PIXEL, fetch, in_json, text, until_kept, upload};

on_shared_servers![
    a_file_is_a_message_in_both_ways,
    everybody_who_posts_sends_files,
    a_file_goes_into_a_thread,
    files_are_found_and_told,
    a_picture_has_a_size_and_a_small_picture,
    what_only_claims_to_be_a_picture_is_not,
    names_and_types_are_kept,
    base64_is_read_in_every_form,
    a_repeated_upload_is_the_first_message,
    other_tags_leave_it_a_file,
];
on_both_databases![equal_bytes_are_kept_once_and_as_long_as_somebody_has_them];

/// Shows: 1.3, 2.25, 4.1, 4.30, 6.1, 7.5
async fn a_file_is_a_message_in_both_ways(tenant: Tenant) {
    let path = tenant.path("/messages");
    let by_form = upload(&tenant, "notes.txt", "text/plain", b"hello").await;
    let by_json = tenant
        .ben
        .post(&tenant.main, &in_json("notes.txt", "text/plain", b"hello"))
        .await;
    for message in [&by_form, &by_json] {
        assert_eq!(
            (text(&message["event"]), text(&message["app"])),
            ("file", "chat")
        );
        let content = &message["content"];
        assert_eq!(content["file_name"], "notes.txt");
        assert_eq!(
            (&content["content_type"], &content["file_size"]),
            (&json!("text/plain"), &json!(5))
        );
        assert_eq!(message["attachments"].as_array().unwrap().len(), 1);
        assert_eq!(&message["attachments"][0], content);
        assert_eq!(message["tags"], json!([":file"]));
        let read = tenant.ada.get(&tenant.message_path(message)).await;
        assert_eq!(&read["content"], content);
        let file = fetch(tenant.server(), &tenant.ada.client, text(&content["path"])).await;
        assert_eq!((file.status.as_u16(), &file.body[..]), (200, &b"hello"[..]));
    }
    let request = tenant
        .ben
        .client
        .request(Method::POST, &path)
        .json(&in_json("a", "", b""));
    let answer = request.send().await.unwrap();
    assert_eq!(
        (answer.status.as_u16(), answer.json()),
        (202, json!({})),
        "an empty file is a file"
    );
}

/// Shows: 4.1, 4.30
async fn everybody_who_posts_sends_files(tenant: Tenant) {
    let flow_token = tenant.flow_token();
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "flow").await;
    let clients = [
        tenant.ben.client.clone(),
        tenant.ben.by_password(),
        robot.with(&tokens["access_token"]),
        tenant.client(Credentials::FlowToken(flow_token.clone())),
    ];
    for client in &clients {
        let file = Form::of("file").file("content", "a.txt", "text/plain", b"a");
        let message = file
            .text("flow", &tenant.main)
            .posted(client, "/messages")
            .await;
        assert_eq!(message["content"]["file_name"], "a.txt");
        let request = client
            .request(Method::POST, &tenant.path("/messages"))
            .json(&in_json("b", "", b"b"));
        assert_eq!(request.send().await.unwrap().status, 202);
    }
    let nobody = tenant.client(Credentials::None);
    let early = Form::default()
        .text("flow_token", &flow_token)
        .text("event", "file");
    let early = early
        .file("content", "a.txt", "text/plain", b"a")
        .text("tags[]", "late");
    let message = early.posted(&nobody, "/messages").await;
    assert_eq!(message["tags"], json!(["late", ":file"]));
    assert_eq!(message["user"], "0");
    let deleted = tenant
        .ada
        .send(Method::DELETE, &tenant.message_path(&message), &Json::Null)
        .await;
    assert_eq!(deleted.status, 403, "nobody's file is for nobody to delete");
    // Where the event is known to be a file, the part need not say that it is one.
    let path = tenant.path("/messages?event=file");
    let bare = Form::default()
        .text("content", "hello")
        .posted(&tenant.ben.client, &path)
        .await;
    assert_eq!(bare["content"]["file_size"], 5);
    let late = Form::of("file")
        .file("content", "a.txt", "text/plain", b"a")
        .text("flow_token", &flow_token);
    late.refused(&nobody, "/messages", 401).await;
}

/// Shows: 4.42
async fn a_file_goes_into_a_thread(tenant: Tenant) {
    let first = tenant.ada.say(&tenant.main, "look").await;
    let thread = text(&first["thread_id"]);
    let path = tenant.path(&format!("/threads/{thread}/messages"));
    let file = Form::of("file").file("content", "a.txt", "text/plain", b"a");
    assert_eq!(
        file.clone().posted(&tenant.ben.client, &path).await["thread_id"],
        thread
    );
    let named = file
        .text("thread_id", thread)
        .posted(&tenant.ben.client, &tenant.path("/messages"))
        .await;
    assert_eq!(named["thread_id"], thread);
    let answer = tenant
        .ben
        .send(Method::POST, &path, &in_json("a", "", b"a"))
        .await;
    assert_eq!(answer.status, 202);
    let state = tenant.ada.get(&tenant.message_path(&named)).await;
    assert_eq!(state["thread"]["internal_comments"], 4);
}

/// Shows: 2.21, 4.42
async fn files_are_found_and_told(tenant: Tenant) {
    let mut stream = Listener::to(&tenant.ada.client, &[&tenant.main]).await;
    tenant.ben.say(&tenant.main, "no file").await;
    let sent = upload(&tenant, "a.png", "image/png", PIXEL).await;
    assert_eq!(stream.event("file").await["content"], sent["content"]);
    for query in ["event=file", "tags=:file"] {
        let found = tenant
            .ada
            .get(&tenant.path(&format!("/messages?{query}")))
            .await;
        let ids: Vec<&Json> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|message| &message["id"])
            .collect();
        assert_eq!(ids, [&sent["id"]], "{query}");
        assert_eq!(found[0]["attachments"], sent["attachments"]);
    }
}

/// Shows: 2.25
async fn a_picture_has_a_size_and_a_small_picture(tenant: Tenant) {
    let message = upload(&tenant, "dot.png", "application/octet-stream", PIXEL).await;
    let content = &message["content"];
    assert_eq!(content["content_type"], "image/png");
    assert_eq!(content["image"], json!({"width": 1, "height": 1}));
    let thumbnail = &content["thumbnail"];
    assert_eq!(
        (&thumbnail["width"], &thumbnail["height"]),
        (&json!(1), &json!(1))
    );
    let small = fetch(
        tenant.server(),
        &tenant.ada.client,
        text(&thumbnail["path"]),
    )
    .await;
    assert_eq!(
        (small.status.as_u16(), small.header("content-type")),
        (200, Some("image/png"))
    );
    let whole = fetch(tenant.server(), &tenant.ada.client, text(&content["path"])).await;
    assert_eq!(
        (&whole.body[..], whole.header("content-type")),
        (PIXEL, Some("image/png"))
    );
}

async fn what_only_claims_to_be_a_picture_is_not(tenant: Tenant) {
    let message = upload(&tenant, "a.png", "image/png", b"<script>alert(1)</script>").await;
    assert_eq!(
        message["content"]["content_type"],
        "application/octet-stream"
    );
    assert!(message["content"]["image"].is_null() && message["content"]["thumbnail"].is_null());
    // One that would be larger than a house has no thumbnail, and nobody tries.
    let mut bomb = PIXEL.to_vec();
    bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let message = upload(&tenant, "bomb.png", "image/png", &bomb).await;
    assert_eq!(
        message["content"]["image"],
        json!({"width": 65535, "height": 65535})
    );
    assert!(message["content"]["thumbnail"].is_null(), "{message}");
    let path = text(&message["content"]["path"]).replacen("/bomb", "/thumbnail/bomb", 1);
    assert_eq!(
        tenant
            .ben
            .send(Method::GET, &path, &Json::Null)
            .await
            .status,
        404
    );
}

async fn names_and_types_are_kept(tenant: Tenant) {
    let many = "ü".repeat(255);
    for (given, kept) in [
        ("grüße 你好.txt", "grüße 你好.txt"),
        ("C:\\\\work\\\\plan.pdf", "plan.pdf"),
        ("../../etc/passwd", "passwd"),
        ("data.json", "data.json"),
        ("100%.txt", "100%.txt"),
        ("", "file"),
        (&many, &many),
    ] {
        let message = upload(&tenant, given, "application/x-thing", b"x").await;
        assert_eq!(message["content"]["file_name"], kept);
        assert_eq!(message["content"]["content_type"], "application/x-thing");
        let file = fetch(
            tenant.server(),
            &tenant.ada.client,
            text(&message["content"]["path"]),
        )
        .await;
        assert_eq!(&file.body[..], b"x", "{given}");
    }
    let told = Form::of("file").part(
        "name=\"content\"; filename*=UTF-8''gr%C3%BC%C3%9Fe.txt",
        "",
        b"x",
    );
    let content = &told
        .posted(&tenant.ben.client, &tenant.path("/messages"))
        .await["content"];
    assert_eq!(content["file_name"], "grüße.txt");
    let file = Form::of("file").file("content", "a", "text/plain", b"x");
    let file = file
        .text("file_name", "b.csv")
        .text("content_type", "text/csv; charset=utf-8");
    let content = &file
        .posted(&tenant.ben.client, &tenant.path("/messages"))
        .await["content"];
    assert_eq!(content["file_name"], "b.csv");
    assert_eq!(content["content_type"], "text/csv; charset=utf-8");
    let nothing = tenant
        .ben
        .post(
            &tenant.main,
            &json!({"event": "file", "content": {"data": "eA=="}}),
        )
        .await;
    assert_eq!(nothing["content"]["file_name"], "file");
    assert_eq!(
        nothing["content"]["content_type"],
        "application/octet-stream"
    );
}

/// Shows: 4.30
async fn base64_is_read_in_every_form(tenant: Tenant) {
    for data in [
        "+/+/aGk=",
        "-_-_aGk",
        "+/+/\r\naGk=",
        "data:text/plain;base64,+/+/aGk=",
    ] {
        let message = json!({"event": "file", "content": {"data": data, "file_name": "a"}});
        let message = tenant.ben.post(&tenant.main, &message).await;
        let file = fetch(
            tenant.server(),
            &tenant.ben.client,
            text(&message["content"]["path"]),
        )
        .await;
        assert_eq!(&file.body[..], b"\xfb\xff\xbfhi", "{data}");
    }
    let form = [
        ("event", "file"),
        ("content[data]", "aGk="),
        ("content[file_name]", "hi.txt"),
    ];
    let request = tenant
        .ben
        .client
        .request(Method::POST, &tenant.path("/messages"))
        .form(&form);
    assert_eq!(request.send().await.unwrap().status, 202);
}

async fn a_repeated_upload_is_the_first_message(tenant: Tenant) {
    let path = tenant.path("/messages");
    let file = |bytes: &[u8]| {
        Form::of("file")
            .text("uuid", "u-1")
            .file("content", "a.txt", "text/plain", bytes)
    };
    let first = file(b"one").posted(&tenant.ben.client, &path).await;
    let again = file(b"one").posted(&tenant.ben.client, &path).await;
    assert_eq!(first, again);
    file(b"two").refused(&tenant.ben.client, &path, 409).await;
    tenant
        .ben
        .does(Method::DELETE, &tenant.message_path(&first), &json!({}))
        .await;
    let new = file(b"two").posted(&tenant.ben.client, &path).await;
    assert_ne!(new["id"], first["id"], "what is gone is not repeated");
}

async fn other_tags_leave_it_a_file(tenant: Tenant) {
    let message = upload(&tenant, "notes.txt", "text/plain", b"hello").await;
    for (tags, then) in [
        (json!(["tea"]), json!(["tea", ":file"])),
        (json!([]), json!([":file"])),
    ] {
        let path = tenant.message_path(&message);
        let answer = tenant
            .ben
            .send(Method::PUT, &path, &json!({"tags": tags}))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(tenant.ada.get(&path).await["tags"], then);
    }
}

/// Shows: 3.13
async fn equal_bytes_are_kept_once_and_as_long_as_somebody_has_them(server: Server) {
    let acme = server.acme();
    let path = "/flows/acme/main/messages";
    let mut messages = Vec::new();
    for name in ["a.png", "b.png", "c.png"] {
        let file = Form::of("file")
            .text("uuid", name)
            .file("content", name, "image/png", PIXEL);
        messages.push(file.clone().posted(&acme.ben.client, path).await);
        file.posted(&acme.ben.client, path).await;
    }
    // One is the picture, and one its thumbnail.
    until_kept(&server, 2).await;
    for (number, message) in messages.iter().enumerate() {
        let deleted = format!("{path}/{}", message["id"]);
        assert_eq!(
            acme.ada
                .send(Method::DELETE, &deleted, &Json::Null)
                .await
                .status,
            403
        );
        assert_eq!(
            acme.ben
                .send(Method::DELETE, &deleted, &Json::Null)
                .await
                .status,
            204
        );
        let gone = acme
            .ben
            .send(Method::GET, text(&message["content"]["path"]), &Json::Null)
            .await;
        assert_eq!(gone.status, 404);
        let Some(next) = messages.get(number + 1) else {
            continue;
        };
        let file = fetch(&server, &acme.ada.client, text(&next["content"]["path"])).await;
        assert_eq!(&file.body[..], PIXEL);
        let small = fetch(
            &server,
            &acme.ada.client,
            text(&next["content"]["thumbnail"]["path"]),
        )
        .await;
        assert_eq!(small.status, 200);
    }
    until_kept(&server, 0).await;
}
