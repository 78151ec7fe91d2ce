//! How a server ends that is asked to.

use std::time::{Duration, Instant};

use eddyline_client::StreamRequest;
use eddyline_tests::{Acme, Listener, Raw, Server, on_both_databases};

on_both_databases![
    streams_end_at_once_and_the_process_soon,
    a_listener_that_does_not_read_does_not_hold_the_end_up,
];

/// What is promised to operators who stop the server.
const BOUND: Duration = Duration::from_secs(10);

async fn streams_end_at_once_and_the_process_soon(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let request = StreamRequest::new().flow("acme/main").active("true");
    let mut streams = vec![
        Listener::open(&ada.client, &request).await,
        Listener::open(&ben.client, &request.clone().json()).await,
    ];
    let one_port = server
        .client()
        .stream_url(format!("{}/stream", server.base_url()));
    let one_port = one_port.api_token(&ada.token).build().unwrap();
    streams.push(Listener::open(&one_port, &request).await);
    // A request that never ends, and a connection without one.
    let unfinished = ["Content-Length: 100", "Content-Type: application/json"];
    let _slow = Raw::send(
        server.base_url(),
        "POST",
        "/flows/acme/main/messages",
        &ada.token,
        &unfinished,
        "",
    )
    .await;

    let begin = Instant::now();
    let status = tokio::task::block_in_place(|| server.terminate());
    assert!(
        begin.elapsed() < BOUND,
        "the server took {:?} to end",
        begin.elapsed()
    );
    assert!(status.success(), "{status}");
    for stream in streams {
        stream.rest().await;
    }
}

async fn a_listener_that_does_not_read_does_not_hold_the_end_up(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let _deaf = Listener::to(&ben.client, &["acme/main"]).await;
    let long = "x".repeat(8000);
    ada.flood("acme/main", 600, |number| format!("{number} {long}"))
        .await;
    let begin = Instant::now();
    let status = tokio::task::block_in_place(|| server.terminate());
    assert!(
        begin.elapsed() < BOUND,
        "the server took {:?} to end",
        begin.elapsed()
    );
    assert!(status.success(), "{status}");
}
