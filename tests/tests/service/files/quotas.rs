//! How many files one member and one organization send at the same time, and how many bytes of them
//! are kept.

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Caller, Robot, Server, basic, on_both_databases};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Form, PIXEL, until_kept};

on_both_databases![
    forms_of_all_sources_are_charged_to_whoever_made_them,
    forms_of_an_organization_leave_room_for_others,
    a_form_that_stops_coming_is_ended,
    files_in_memory_are_bounded_for_a_caller,
    files_in_memory_are_bounded_for_an_organization_and_for_all,
    files_in_memory_are_bounded_for_all_who_belong_to_no_organization,
];

on_both_databases![
    &["--max-file-bytes-per-organization", "20000"];
    an_organization_keeps_no_more_bytes_of_files_than_its_quota,
];

on_both_databases![
    &["--profile", "classic", "--max-private-file-bytes-per-user", "10000"];
    a_user_sends_no_more_bytes_of_files_privately_than_the_quota,
];

const MIB: usize = 1024 * 1024;

/// The number of forms that a lone caller has, and a lone organization: of 512, a half is the cap of
/// an organization, of which a caller leaves a quarter to others.
const FORMS_OF_CALLER: usize = 192;
const FORMS_OF_ORGANIZATION: usize = 256;
/// The number of forms that are the share of a caller.
const SHARE_OF_CALLER: usize = 16;

fn host(server: &Server) -> &str {
    server.base_url().split('/').nth(2).unwrap()
}

/// Begins to send a form with a file and does not end.
async fn begin_form(server: &Server, path: &str, authorization: &str) -> TcpStream {
    let mut socket = TcpStream::connect(host(server)).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\n{authorization}\
         Content-Type: multipart/form-data; boundary=edge\r\nContent-Length: 50000000\r\n\r\n",
        host(server)
    );
    let body = Form::of("file")
        .file("content", "a.bin", "", &vec![7; 20_000])
        .end();
    socket
        .write_all(&[head.as_bytes(), &body[..15_000]].concat())
        .await
        .unwrap();
    socket
}

fn authorization(caller: &Caller) -> String {
    format!("Authorization: Basic {}\r\n", basic(&caller.token, ""))
}

/// A flow that somebody made, and the token of a source in it.
async fn source_of(server: &Server, maker: &Caller, robot: &Robot, name: &str) -> String {
    let flow = maker
        .send(Method::POST, "/flows/acme", &json!({"name": name}))
        .await
        .json();
    let url = flow["url"]
        .as_str()
        .unwrap()
        .strip_prefix(server.base_url())
        .unwrap();
    let token = robot.by_password(maker, "flow integration").await;
    let request = robot
        .with(&token["access_token"])
        .request(Method::POST, &format!("{url}/sources"));
    let source: Json = request.json(&json!({"name": name})).call().await.unwrap();
    source["flow_token"].as_str().unwrap().to_owned()
}

async fn forms_of_all_sources_are_charged_to_whoever_made_them(server: Server) {
    let (acme, robot) = (server.acme(), server.robot("acme", &[]));
    let (one, other) = (
        source_of(&server, &acme.ben, &robot, "one").await,
        source_of(&server, &acme.ben, &robot, "other").await,
    );
    let of_operator = server.admin(&["flow", "token", "--flow", "acme/main"]);
    let mut sockets = Vec::new();
    for token in [&one, &other] {
        for _ in 0..FORMS_OF_CALLER / 2 {
            sockets.push(begin_form(&server, &format!("/messages?flow_token={token}"), "").await);
        }
    }
    until_kept(&server, FORMS_OF_CALLER).await;
    let file = || Form::of("file").file("content", "a", "", b"a");
    let with = |token: &str| {
        server
            .client()
            .build()
            .unwrap()
            .with_credentials(Credentials::FlowToken(token.to_owned()))
    };
    for (client, path) in [
        (with(&one), "/messages"),
        (acme.ben.client.clone(), "/flows/acme/main/messages"),
    ] {
        let answer = file().send(&client, path).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("retry-after")),
            (429, Some("2"))
        );
    }
    file()
        .posted(
            &with(of_operator["flow_token"].as_str().unwrap()),
            "/messages",
        )
        .await;
    file()
        .posted(&acme.ada.client, "/flows/acme/main/messages")
        .await;
    drop(sockets.pop());
    // All others, and the one file of equal bytes that was sent.
    until_kept(&server, FORMS_OF_CALLER).await;
    file().posted(&with(&one), "/messages").await;
}

async fn forms_of_an_organization_leave_room_for_others(server: Server) {
    let acme = server.acme();
    let names: Vec<String> = (0..FORMS_OF_ORGANIZATION / SHARE_OF_CALLER)
        .map(|n| format!("u{n}"))
        .collect();
    let members: Vec<Caller> = names.iter().map(|name| server.user("acme", name)).collect();
    server.flow("acme", "side", &members.iter().collect::<Vec<_>>());
    server.organization("beta");
    let vic = server.user("beta", "vic");
    server.flow("beta", "room", &[&vic]);
    let mut sockets = Vec::new();
    for member in &members {
        for _ in 0..SHARE_OF_CALLER {
            sockets.push(
                begin_form(&server, "/flows/acme/side/messages", &authorization(member)).await,
            );
        }
    }
    until_kept(&server, FORMS_OF_ORGANIZATION).await;
    let file = || Form::of("file").file("content", "a", "", b"a");
    let answer = file()
        .send(&acme.ada.client, "/flows/acme/main/messages")
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("retry-after")),
        (429, Some("2"))
    );
    file()
        .posted(&vic.client, "/flows/beta/room/messages")
        .await;
    drop(sockets.pop());
    // All others, and the file that was sent.
    until_kept(&server, FORMS_OF_ORGANIZATION).await;
    file()
        .posted(&acme.ada.client, "/flows/acme/main/messages")
        .await;
}

async fn a_form_that_stops_coming_is_ended(server: Server) {
    let acme = server.acme();
    let mut socket = begin_form(
        &server,
        "/flows/acme/main/messages",
        &authorization(&acme.ben),
    )
    .await;
    until_kept(&server, 1).await;
    let mut status = [0; 12];
    socket.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 408");
    until_kept(&server, 0).await;
}

/// Announces a body of so many bytes that is a file, and gives the status of the answer: 100 when
/// the server waits for the body.
async fn announce(
    server: &Server,
    caller: &Caller,
    request: &str,
    length: usize,
) -> (u16, TcpStream) {
    let mut socket = TcpStream::connect(host(server)).await.unwrap();
    let head = format!(
        "{request} HTTP/1.1\r\nHost: {}\r\n{}Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n",
        host(server),
        authorization(caller)
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    socket.read_exact(&mut status).await.unwrap();
    (
        std::str::from_utf8(&status[9..]).unwrap().parse().unwrap(),
        socket,
    )
}

async fn announce_picture(server: &Server, caller: &Caller, length: usize) -> (u16, TcpStream) {
    announce(
        server,
        caller,
        &format!("PUT /users/{}/avatar", caller.id),
        length,
    )
    .await
}

/// Announces pictures of so many mebibytes together.
async fn use_up(server: &Server, caller: &Caller, mebibytes: usize) -> Vec<TcpStream> {
    let mut sockets = Vec::new();
    let mut left = mebibytes;
    while left > 0 {
        let (status, socket) = announce_picture(server, caller, left.min(5) * MIB).await;
        assert_eq!(status, 100);
        sockets.push(socket);
        left -= left.min(5);
    }
    sockets
}

/// Has members of an organization use up 280 MiB, each within a share of 32: of 320, all but half of
/// the reserve.
async fn use_up_together(server: &Server, members: &[Caller]) -> Vec<TcpStream> {
    let mut sockets = Vec::new();
    for member in &members[..8] {
        sockets.extend(use_up(server, member, 32).await);
    }
    sockets.extend(use_up(server, &members[8], 24).await);
    sockets
}

async fn upload_picture(caller: &Caller) -> u16 {
    let request = caller
        .client
        .request(Method::PUT, &format!("/users/{}/avatar", caller.id));
    request
        .raw("image/png", PIXEL.to_vec())
        .send()
        .await
        .unwrap()
        .status
        .as_u16()
}

async fn files_in_memory_are_bounded_for_a_caller(server: Server) {
    let acme = server.acme();
    let json = "POST /flows/acme/main/messages";
    let held = announce(&server, &acme.ben, json, 11 * MIB).await;
    assert_eq!(held.0, 100, "it is there three times");
    // Of 320 MiB, all but the reserve.
    let sockets = use_up(&server, &acme.ben, 240 - 33).await;
    assert_eq!(announce_picture(&server, &acme.ben, 1).await.0, 429);
    assert_eq!(
        announce(&server, &acme.ben, json, 2 * MIB).await.0,
        429,
        "JSON in which a file may be"
    );
    assert_eq!(
        announce(&server, &acme.ben, json, MIB).await.0,
        100,
        "no file is so small"
    );
    assert_eq!(upload_picture(&acme.ada).await, 200);
    // A client that hangs up releases what was announced.
    drop(sockets);
    while upload_picture(&acme.ben).await != 200 {}
}

async fn files_in_memory_are_bounded_for_an_organization_and_for_all(server: Server) {
    let people = |organization: &str| {
        server.organization(organization);
        (0..10)
            .map(|n| server.user(organization, &format!("{organization}{n}")))
            .collect::<Vec<_>>()
    };
    let (acme, beta, gamma) = (people("acme"), people("beta"), people("gamma"));
    let mut sockets = use_up_together(&server, &acme).await;
    assert_eq!(announce_picture(&server, &acme[9], 1).await.0, 429);
    assert_eq!(upload_picture(&gamma[0]).await, 200);
    for member in &beta[..2] {
        sockets.extend(use_up(&server, member, 20).await);
    }
    assert_eq!(announce_picture(&server, &gamma[0], 1).await.0, 503);
    drop(sockets);
    while upload_picture(&gamma[0]).await != 200 {}
}

async fn files_in_memory_are_bounded_for_all_who_belong_to_no_organization(server: Server) {
    let acme = server.acme();
    let admin = server.administrator("acme", "admin");
    let mut removed = Vec::new();
    for number in 0..10 {
        let user = server.user("acme", &format!("user{number}"));
        admin
            .does(
                Method::DELETE,
                &format!("/organizations/acme/users/{}", user.id),
                &json!({}),
            )
            .await;
        removed.push(user);
    }
    let _sockets = use_up_together(&server, &removed).await;
    assert_eq!(announce_picture(&server, &removed[9], 1).await.0, 429);
    assert_eq!(upload_picture(&acme.ben).await, 200);
}

/// A file of so many bytes that differs from others.
fn file(bytes: usize, filled: u8) -> Form {
    Form::of("file").file("content", "a.bin", "", &vec![filled; bytes])
}

async fn an_organization_keeps_no_more_bytes_of_files_than_its_quota(server: Server) {
    let acme = server.acme();
    server.organization("beta");
    let vic = server.user("beta", "vic");
    server.flow("beta", "room", &[&vic]);
    let path = "/flows/acme/main/messages";
    let first = file(15_000, 1).posted(&acme.ben.client, path).await;
    let beyond = file(5_001, 2).send(&acme.ada.client, path).await;
    assert_eq!(beyond.status, 507);
    let text = "The files of the organization take 15000 of at most 20000 bytes; remove some to send others";
    assert_eq!(beyond.json()["message"], text);
    let in_json =
        json!({"event": "file", "content": {"data": "A".repeat(6_800), "file_name": "a"}});
    assert_eq!(
        acme.ada.send(Method::POST, path, &in_json).await.status,
        507,
        "5,100 bytes in Base64"
    );
    file(5_000, 3).posted(&acme.ada.client, path).await;
    assert_eq!(file(1, 4).send(&acme.ben.client, path).await.status, 507);
    acme.ben.say("acme/main", "texts go on").await;
    file(20_000, 5)
        .posted(&vic.client, "/flows/beta/room/messages")
        .await;
    acme.ben
        .does(
            Method::DELETE,
            &format!("{path}/{}", first["id"]),
            &json!({}),
        )
        .await;
    file(15_000, 1).posted(&acme.ben.client, path).await;
}

async fn a_user_sends_no_more_bytes_of_files_privately_than_the_quota(server: Server) {
    let acme = server.acme();
    let to = |user: &Caller| format!("/private/{}/messages", user.id);
    let taken = async |filled: u8, from: &Caller, path: &str| {
        assert_eq!(
            file(10_000, filled).send(&from.client, path).await.status,
            201
        );
    };
    taken(1, &acme.ben, &to(&acme.ada)).await;
    let beyond = file(1, 2).send(&acme.ben.client, &to(&acme.ada)).await;
    assert_eq!(
        (
            beyond.status.as_u16(),
            beyond.json()["message"].as_str().map(|text| &text[..13])
        ),
        (507, Some("The files of "))
    );
    taken(3, &acme.ada, &to(&acme.ben)).await;
    taken(4, &acme.ben, "/flows/acme/main/messages").await;
}
