//! How many actions are under way at once, and for whom.

use eddyline_client::{Error, Json, Method, RawResponse};
use eddyline_tests::{Caller, Server, on_both_databases};
use tokio::task::JoinSet;

use super::{Stage, close, is_done, path, push, source, trigger};
use crate::receiver::{Answer, Receiver};

on_both_databases![&["--allow-private-targets", "--action-timeout-seconds", "60"];
    a_slow_integration_holds_up_no_other,
    an_action_that_nobody_waits_for_keeps_its_turn_until_it_is_done,
];

/// The number of turns that one user has while no other user wants any: all but the reserve.
const ALONE: usize = 48;

/// Actions under way, whose answers are waited for.
type Waiting = JoinSet<Result<RawResponse, Error>>;

/// Triggers the first action of a thread so often, without waiting for what comes of it.
fn begin(waiting: &mut Waiting, caller: &Caller, thread: &str, times: usize) {
    for _ in 0..times {
        waiting.spawn(
            caller
                .client
                .request(Method::POST, &path(thread, "0"))
                .send(),
        );
    }
}

async fn a_slow_integration_holds_up_no_other(server: Server) {
    let stage = Stage::set(server).await;
    let (ada, ben) = (&stage.acme.ada, &stage.acme.ben);
    let cleo = stage.server.user("acme", "cleo");
    stage.server.admin(&[
        "flow",
        "add-user",
        "--flow",
        "acme/main",
        "--email",
        &cleo.email,
    ]);
    let slow = stage.thread().await;
    stage.receiver.answers(Answer::Silence);
    let (neighbour, _) = source(&stage.server, &stage.server.robot("acme", &[]));
    let quick = Receiver::start().await;
    let other = push(&neighbour, "1", &[close(&quick.url("/close"))]).await;

    let mut waiting = JoinSet::new();
    begin(&mut waiting, ben, &slow, ALONE);
    stage.receiver.is_asked(ALONE).await;
    for thread in [&slow, &other] {
        let answer = stage.trigger(ben, thread, "0").await;
        assert_eq!(answer.status, 429, "{}", answer.text());
        assert!(answer.header("retry-after").is_some());
    }
    assert_eq!(
        stage.trigger(ada, &slow, "0").await.status,
        429,
        "the application has no more turns"
    );
    is_done(&stage.trigger(&cleo, &other, "0").await);
    assert_eq!(quick.asked().len(), 1);

    assert_eq!(stage.receiver.asked().len(), ALONE);
    stage.receiver.let_go();
    for answer in waiting.join_all().await {
        is_done(&answer.unwrap());
    }
    for caller in [ben, &cleo] {
        is_done(&stage.trigger(caller, &slow, "0").await);
    }
}

async fn an_action_that_nobody_waits_for_keeps_its_turn_until_it_is_done(server: Server) {
    let stage = Stage::set(server).await;
    let ben = &stage.acme.ben;
    let thread = stage.thread().await;
    stage.receiver.answers(Answer::Silence);
    let mut waiting = JoinSet::new();
    begin(&mut waiting, ben, &thread, ALONE);
    stage.receiver.is_asked(ALONE).await;
    waiting.shutdown().await;
    assert_eq!(stage.trigger(ben, &thread, "0").await.status, 429);
    assert_eq!(
        stage.receiver.asked().len(),
        ALONE,
        "nobody was asked again"
    );
    stage.receiver.let_go();
    // The turns end when the integration's answers have come.
    loop {
        let answer = trigger(&ben.client, &thread, "0", &Json::Null).await;
        if answer.status != 429 {
            is_done(&answer);
            break;
        }
    }
    assert_eq!(stage.receiver.asked().len(), 1);
}
