//! How a server ends.

use super::*;

#[tokio::test]
async fn connections_at_rest_are_closed_and_no_more_are_accepted() {
    let server = Running::start(patient()).await;
    let mut unused = server.client().await;
    let mut used = server.client().await;
    used.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(used.answer().await.1, "hello");
    server.stop.send(()).unwrap();
    assert_eq!(unused.rest().await, "");
    assert_eq!(used.rest().await, "");
    within(server.ended).await.unwrap();
    TcpStream::connect(server.addr).await.unwrap_err();
}

#[tokio::test]
async fn a_request_on_its_way_over_a_kept_connection_is_the_last_one_answered() {
    let server = Running::start(Limits {
        drain_idle: NEVER,
        ..patient()
    })
    .await;
    let unused = server.client().await;
    let mut used = server.client().await;
    used.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
    used.answer().await;
    server.stop.send(()).unwrap();
    while TcpStream::connect(server.addr).await.is_ok() {}
    for mut client in [unused, used] {
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
        let (head, body) = client.answer().await;
        assert!(head.contains("connection: close"), "{head}");
        assert_eq!(body, "hello");
        assert_eq!(client.rest().await, "");
    }
    within(server.ended).await.unwrap();
}

#[tokio::test]
async fn a_request_that_is_being_answered_gets_its_answer() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n").await;
    within(server.app.0.waiting.notified()).await;
    let mut idle = server.client().await;
    idle.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
    idle.answer().await;
    server.stop.send(()).unwrap();
    assert_eq!(idle.rest().await, "", "the server is stopping");
    server.app.0.go_on.notify_one();
    let (head, body) = client.answer().await;
    assert!(head.contains("connection: close"), "{head}");
    assert_eq!(body, "done");
    drop(client);
    within(server.ended).await.unwrap();
}

#[tokio::test]
async fn streams_go_on_until_their_sources_end() {
    let server = Running::start(patient()).await;
    let mut remote = server.app.source();
    let mut client = server.client().await;
    client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await;
    client.until("\r\n\r\n").await;
    server.stop.send(()).unwrap();
    remote.say("last\r\n");
    remote.end();
    assert_eq!(client.chunk().await, "last\r\n");
    assert_eq!(client.rest().await, "0\r\n\r\n");
    within(server.ended).await.unwrap();
}

#[tokio::test]
async fn what_does_not_end_in_time_is_cut_off() {
    let server = Running::start(Limits {
        drain: SOON,
        ..patient()
    })
    .await;
    let remote = server.app.source();
    let mut streaming = server.client().await;
    streaming
        .send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        .await;
    streaming.until("\r\n\r\n").await;
    let mut stuck = server.client().await;
    stuck.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n").await;
    within(server.app.0.waiting.notified()).await;
    server.stop.send(()).unwrap();
    within(server.ended).await.unwrap();
    remote.gone().await;
    assert_eq!(
        (streaming.rest().await, stuck.rest().await),
        (String::new(), String::new())
    );
}

#[tokio::test]
async fn dropping_a_server_cuts_everything_off() {
    let server = Running::start(patient()).await;
    let remote = server.app.source();
    let mut client = server.client().await;
    client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await;
    client.until("\r\n\r\n").await;
    server.ended.abort();
    remote.gone().await;
    assert_eq!(client.rest().await, "");
}
