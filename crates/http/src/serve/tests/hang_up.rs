//! Clients that close their side while their request is being worked on.

use super::*;

const WAIT: &str = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n";
const WORK: &str = "POST /work HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
const HELLO: &str = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test]
async fn a_read_ends_when_its_client_hangs_up() {
    let server = Running::start(Limits {
        hang_up_time: SOON,
        ..patient()
    })
    .await;
    let mut client = server.client().await;
    client.send(WAIT).await;
    within(server.app.0.waiting.notified()).await;
    drop(client);
    within(server.app.0.dropped.notified()).await;
}

#[tokio::test]
async fn a_read_ends_when_its_client_hangs_up_behind_what_it_sent_ahead() {
    let server = Running::start(Limits {
        hang_up_time: SOON,
        ..patient()
    })
    .await;
    let mut client = server.client().await;
    client.send(WAIT).await;
    within(server.app.0.waiting.notified()).await;
    client.send(HELLO).await;
    drop(client);
    within(server.app.0.dropped.notified()).await;
}

#[tokio::test]
async fn a_change_is_finished_also_when_its_client_hangs_up() {
    let server = Running::start(Limits {
        hang_up_time: Duration::ZERO,
        ..patient()
    })
    .await;
    let mut client = server.client().await;
    client.send(WORK).await;
    within(server.app.0.waiting.notified()).await;
    drop(client);
    // Another request after it, so that the server has had its chance to notice.
    let mut other = server.client().await;
    other.send(HELLO).await;
    other.answer().await;
    server.app.0.go_on.notify_one();
    within(server.app.0.dropped.notified()).await;
    assert_eq!(
        server.app.0.count.load(Ordering::SeqCst),
        1,
        "it was done to its end"
    );
}

#[tokio::test]
async fn a_change_that_asked_for_it_ends_when_its_client_hangs_up() {
    let server = Running::start(Limits {
        hang_up_time: SOON,
        ..patient()
    })
    .await;
    let mut client = server.client().await;
    client.send(&WORK.replace("work", "watched")).await;
    within(server.app.0.waiting.notified()).await;
    drop(client);
    within(server.app.0.dropped.notified()).await;
}

#[tokio::test]
async fn what_a_client_sends_ahead_while_it_is_watched_is_answered_in_order() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client.send(WAIT).await;
    within(server.app.0.waiting.notified()).await;
    // More than is kept of it.
    client.send(&HELLO.repeat(1000)).await;
    server.app.0.go_on.notify_one();
    assert_eq!(client.answer().await.1, "done");
    for _ in 0..1000 {
        assert_eq!(client.answer().await.1, "hello");
    }
}
