//! What requests about accounts wait for, and what they do not.

use std::cell::Cell;
use std::time::Duration;

use eddyline_model::Seq;
use futures_util::FutureExt as _;

use super::*;

/// Far longer than anything takes that does not wait.
const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn noting_the_use_of_a_session_does_not_wait_for_other_writes() {
    let world = World::new().await;
    let session = sign_in(&world, GOOD).await.unwrap();
    let seen = async || {
        let looking = as_client(HERE, world.app.accounts().by_session(&session));
        let actor = tokio::time::timeout(LONG, looking)
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        world.app.accounts().sessions(&actor).await.unwrap()[0].seen_at
    };
    world.pass(60 * MINUTE);
    let keys = world.ada.quota_keys();
    let transaction = async || {
        world
            .app
            .core()
            .store()
            .transaction_permit(keys)
            .await
            .unwrap()
    };
    let held = [transaction().await, transaction().await];
    assert_eq!(seen().await, Timestamp(START));
    drop(held);
    assert_eq!(seen().await, world.app.now());
}

#[tokio::test]
async fn signing_in_by_a_link_waits_until_all_processes_know_of_the_session_that_it_ends() {
    let world = World::new().await;
    for _ in 0..MAX_SESSIONS {
        sign_in(&world, GOOD).await.unwrap();
    }
    let link = world.link(Purpose::SignIn(world.ada_id()), None, DAY).await;
    let other_has_read = async |read: Seq| {
        let heartbeat = world
            .app
            .core()
            .store()
            .write(NoCaller::Process, move |tx| {
                let now = tx.now();
                tx.nodes().upsert_heartbeat("other", now, read)
            });
        heartbeat.await.unwrap();
    };
    other_has_read(Seq(0)).await;
    let is_told = Cell::new(false);
    let telling = async {
        let end = loop {
            if let Some(end) = world
                .app
                .core()
                .store()
                .read(|reader| reader.log().find_last_end())
                .await
                .unwrap()
            {
                break end;
            }
        };
        // This is written after the session has ended, so the answer to that is here too.
        other_has_read(Seq(0)).await;
        is_told.set(true);
        other_has_read(end.seq).await;
    };
    let signing = async {
        world.app.accounts().sign_in_by_link(&link).await.unwrap();
        assert!(is_told.get(), "another process believes in the session");
    };
    tokio::join!(biased; signing, telling);
}

#[tokio::test]
async fn work_on_a_new_password_counts_to_its_end_when_its_request_is_dropped() {
    let world = World::new().await;
    let link = world
        .link(Purpose::PasswordReset(world.ada_id()), None, DAY)
        .await;
    let mut hashing = Vec::new();
    while let Some(turn) = world.app.authentication().hasher.acquire().now_or_never() {
        hashing.push(turn);
    }
    let is_idle = || {
        world
            .app
            .accounts()
            .new_passwords
            .acquire(QuotaKey::network(HERE).into(), 2)
            .is_ok()
    };
    let (app, new) = (
        world.app.clone(),
        Password::new("violet umbrella on the tram"),
    );
    let resetting = tokio::spawn(as_client(HERE, async move {
        app.accounts().reset_password(&link, &new).await.map(drop)
    }));
    while is_idle() {
        tokio::task::yield_now().await;
    }
    resetting.abort();
    assert!(resetting.await.unwrap_err().is_cancelled());
    assert!(!is_idle(), "the work waits for its turn");
    drop(hashing);
    while !is_idle() {
        tokio::task::yield_now().await;
    }
}
