//! Responses that go on.

use super::*;

/// What ends a response in chunks.
const LAST_CHUNK: &str = "0\r\n\r\n";
const STREAM: &str = "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test]
async fn a_stream_has_the_connection_to_itself() {
    let server = Running::start(patient()).await;
    let mut remote = server.app.source();
    let mut client = server.client().await;
    client.send(STREAM).await;
    let head = client.until("\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    for header in [
        "\r\nx-kind: live\r\n",
        "\r\ntransfer-encoding: chunked\r\n",
        "\r\nconnection: close\r\n",
        "\r\ndate: ",
    ] {
        assert!(head.contains(header), "{head}");
    }
    assert!(!head.contains("content-length"), "{head}");
    remote.say("one\r\n");
    assert_eq!(client.chunk().await, "one\r\n");
    remote.say("two\r\n");
    remote.say("three\r\n");
    remote.end();
    assert_eq!(
        (client.chunk().await, client.chunk().await),
        ("two\r\n".into(), "three\r\n".into())
    );
    assert_eq!(client.rest().await, LAST_CHUNK);
    remote.gone().await;
}

#[tokio::test]
async fn old_clients_and_clients_that_ask_again_get_streams_too() {
    let server = Running::start(patient()).await;
    let remote = server.app.source();
    let mut client = server.client().await;
    client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(client.answer().await.1, "hello");
    client.send("GET /stream HTTP/1.0\r\n\r\n").await;
    assert!(
        !client.until("\r\n\r\n").await.contains("transfer-encoding"),
        "HTTP/1.0 has no chunks"
    );
    remote.say("one\r\n");
    assert_eq!(client.until("\r\n").await, "one\r\n");
}

#[tokio::test]
async fn the_answer_before_a_stream_is_written_to_its_end() {
    let server = Running::start(patient()).await;
    let remote = server.app.source();
    let mut client = server.client().await;
    client
        .send(&format!("GET /large HTTP/1.1\r\nHost: a\r\n\r\n{STREAM}"))
        .await;
    remote.say("one\r\n");
    assert_eq!(client.answer().await.1.len(), 32 << 20);
    client.until("\r\n\r\n").await;
    assert_eq!(client.chunk().await, "one\r\n");
}

#[tokio::test]
async fn requests_after_a_stream_are_passed_over() {
    let server = Running::start(patient()).await;
    let mut remote = server.app.source();
    let mut client = server.client().await;
    client.send(&STREAM.repeat(2)).await;
    client.until("\r\n\r\n").await;
    client.send(&STREAM.repeat(100)).await;
    remote.say("one\r\n");
    assert_eq!(client.chunk().await, "one\r\n");
    remote.end();
    assert_eq!(client.rest().await, LAST_CHUNK);
}

#[tokio::test]
async fn a_client_that_says_too_much_to_a_stream_loses_it() {
    let server = Running::start(patient()).await;
    let remote = server.app.source();
    let mut client = server.client().await;
    client.send(STREAM).await;
    client.until("\r\n\r\n").await;
    client.send(&"x".repeat(16 * 1024)).await;
    remote.say("one\r\n");
    assert_eq!(client.chunk().await, "one\r\n");
    client.send("x").await;
    remote.gone().await;
}

#[tokio::test]
async fn a_source_is_let_go_when_its_client_is_gone() {
    let server = Running::start(patient()).await;
    let remote = server.app.source();
    let mut client = server.client().await;
    client.send(STREAM).await;
    client.until("\r\n\r\n").await;
    drop(client);
    remote.gone().await;
}

#[tokio::test]
async fn a_client_that_goes_in_the_midst_of_a_write_is_noticed() {
    let server = Running::start(patient()).await;
    let remote = server.app.source();
    let mut client = server.client().await;
    client.send(STREAM).await;
    remote.say(vec![b'x'; 64 << 20]);
    client.until("\r\n4000000\r\nx").await;
    drop(client);
    remote.gone().await;
}

#[tokio::test]
async fn a_slow_reader_is_waited_for_and_gets_everything() {
    let hurried = Limits {
        write_rate: MinimumRate {
            grace: SOON,
            ..MinimumRate::default()
        },
        keep_alive: SOON,
        connections: 2,
        ..patient()
    };
    let server = Running::start(hurried).await;
    let mut remote = server.app.source();
    let mut slow = server.client().await;
    slow.send(STREAM).await;
    remote.say(vec![b'x'; 64 << 20]);
    remote.end();
    slow.until("\r\n4000000\r\nx").await;
    // Who reads an ordinary answer as slowly is let go, and only then is there room for another.
    let mut stuck = server.client().await;
    stuck.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut next = server.client().await;
    next.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(next.answer().await.1, "hello");
    assert_eq!(
        slow.rest().await.len(),
        (64 << 20) - 1 + "\r\n".len() + LAST_CHUNK.len()
    );
    remote.gone().await;
}

#[tokio::test]
async fn lost_rights_end_a_stream_that_waits_and_one_whose_client_does_not_read() {
    let server = Running::start(patient()).await;
    let mut waiting = server.app.source();
    let mut client = server.client().await;
    client.send(STREAM).await;
    client.until("\r\n\r\n").await;
    waiting.revoke();
    assert_eq!(client.rest().await, LAST_CHUNK);
    waiting.gone().await;

    let mut writing = server.app.source();
    let mut client = server.client().await;
    client.send(STREAM).await;
    writing.say(vec![b'x'; 64 << 20]);
    client.until("\r\n4000000\r\nx").await;
    writing.revoke();
    writing.gone().await;
    let rest = client.rest().await;
    assert!(
        rest.len() < 64 << 20 && !rest.ends_with(LAST_CHUNK),
        "a client sees that it broke off"
    );
}

/// Shows: 5.10
#[tokio::test]
async fn a_stream_ends_when_its_time_is_over_also_when_its_client_does_not_read() {
    let server = Running::start(patient()).await;
    let waiting = server.app.source_with(Some(SOON));
    let mut client = server.client().await;
    client.send(STREAM).await;
    client.until("\r\n\r\n").await;
    assert_eq!(client.rest().await, LAST_CHUNK);
    waiting.gone().await;

    let writing = server.app.source_with(Some(SOON));
    let mut client = server.client().await;
    client.send(STREAM).await;
    writing.say(vec![b'x'; 64 << 20]);
    writing.gone().await;
    let rest = client.rest().await;
    assert!(
        rest.len() < 64 << 20 && !rest.ends_with(LAST_CHUNK),
        "a client sees that it broke off"
    );
}

#[tokio::test]
async fn a_stream_that_ends_before_its_first_frame_is_answered_all_the_same() {
    let server = Running::start(patient()).await;
    let over = server.app.source_with(Some(Duration::ZERO));
    let mut client = server.client().await;
    client.send(STREAM).await;
    assert!(
        client
            .until("\r\n\r\n")
            .await
            .starts_with("HTTP/1.1 200 OK\r\n")
    );
    assert_eq!(client.rest().await, LAST_CHUNK);
    over.gone().await;
}

#[tokio::test]
async fn asking_for_the_head_of_a_stream_opens_none() {
    let server = Running::start(patient()).await;
    let remote = server.app.source();
    let mut client = server.client().await;
    client
        .send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        .await;
    assert!(client.until("\r\n\r\n").await.contains("x-kind: live"));
    remote.gone().await;
    client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(client.answer().await.1, "hello");
}

#[tokio::test]
async fn a_stream_within_another_server_is_an_ordinary_body() {
    use http_body_util::BodyExt;

    let app = App::default();
    let mut remote = app.source();
    let request = Request::get("/api/stream").body(Body::empty()).unwrap();
    let nested = Router::new().nest("/api", app.router());
    let mut body = nested.oneshot(request).await.unwrap().into_body();
    remote.say("one\r\n");
    assert_eq!(
        body.frame().await.unwrap().unwrap().into_data().unwrap(),
        "one\r\n"
    );
    remote.end();
    assert!(body.frame().await.is_none());
    remote.gone().await;

    let remote = app.source_with(Some(SOON));
    let request = Request::get("/stream").body(Body::empty()).unwrap();
    let mut body = app.router().oneshot(request).await.unwrap().into_body();
    assert!(within(body.frame()).await.is_none(), "its time is over");
    remote.gone().await;
}
