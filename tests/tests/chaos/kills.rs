//! A server that ends in the midst of its work, by force or by request.

use std::time::Duration;

use eddyline_tests::Server;
use eddyline_tests::chaos::{Cast, Run, plan};
use tokio::task::block_in_place;

use crate::on_both_databases;

on_both_databases![
    nothing_answered_is_lost_by_kill_9_at_random_moments: "kill -9",
    nothing_answered_is_lost_by_sigterm_at_random_moments: "SIGTERM",
];

async fn nothing_answered_is_lost_by_kill_9_at_random_moments(mut server: Server, name: String) {
    let mut run = Run::begin(
        &name,
        &[&server],
        Cast {
            servers_die: true,
            ..Cast::default()
        },
    )
    .await;
    let mut rounds = plan().rounds(20, 0.2);
    while rounds.another() {
        run.a_while(40).await;
        server.kill9();
        // Long enough for some to find nobody there.
        tokio::time::sleep(run.random.time_below(Duration::from_millis(100))).await;
        block_in_place(|| server.restart());
    }
    run.a_while(20).await;
    run.end(rounds.done(), String::new()).await;
}

async fn nothing_answered_is_lost_by_sigterm_at_random_moments(mut server: Server, name: String) {
    let mut run = Run::begin(
        &name,
        &[&server],
        Cast {
            servers_die: true,
            ..Cast::default()
        },
    )
    .await;
    let mut rounds = plan().rounds(4, 0.05);
    while rounds.another() {
        run.a_while(20).await;
        let status = block_in_place(|| server.terminate());
        assert!(status.success(), "the server ended with {status}");
        block_in_place(|| server.restart());
    }
    run.a_while(20).await;
    run.end(rounds.done(), String::new()).await;
}
