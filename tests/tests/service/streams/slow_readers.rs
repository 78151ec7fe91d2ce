//! A listener that does not read slows nobody, and misses nothing.

use eddyline_client::StreamRequest;
use eddyline_tests::{Acme, Listener, Server, on_both_databases};

on_both_databases![a_slow_reader_slows_nobody_and_catches_up_with_everything];

const MESSAGES: usize = 1200;

async fn a_slow_reader_slows_nobody_and_catches_up_with_everything(server: Server) {
    let Acme { ada, ben } = server.acme();
    let events = StreamRequest::new().flow("acme/main");
    let slow = [
        Listener::open(&ben.client, &events).await,
        Listener::open(&ben.client, &events.clone().json()).await,
    ];
    let mut quick = Listener::open(&ada.client, &events).await;
    // Together more than sockets hold.
    let long = "x".repeat(8000);
    ben.flood("acme/main", MESSAGES, |number| format!("{number} {long}"))
        .await;
    let mut told = Vec::new();
    while told.len() < MESSAGES {
        told.push(quick.json().await);
    }
    for mut listener in slow {
        for message in &told {
            assert_eq!(listener.json().await["id"], message["id"]);
        }
        let live = ada.say("acme/main", "live").await;
        assert_eq!(listener.event("message").await["content"], live["content"]);
        told.push(live);
    }
}
