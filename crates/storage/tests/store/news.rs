//! Whether the log has entries of a room after a position: questions at the same time share a read.

use std::sync::Arc;

use eddyline_model::{RoomId, Seq};
use futures_util::future::join_all;

use crate::home::{Home, on_every_database};
use crate::world::{World, chat, new_flow};

on_every_database!(
    each_question_gets_the_answer_for_its_room_and_position,
    what_was_answered_before_a_question_is_news,
    questions_that_nobody_waits_for_hold_up_no_others,
);

async fn each_question_gets_the_answer_for_its_room_and_position(home: Arc<Home>) {
    let world = World::new(&home).await;
    let organization = world.organization;
    let quiet = world
        .store
        .write(move |tx| tx.flows().insert(&new_flow(organization, "quiet")))
        .await;
    let quiet = quiet.expect("a room").0;
    let mut last = Seq(0);
    for text in ["one", "two", "three"] {
        last = world
            .post(chat(world.main, world.ann, text))
            .await
            .event
            .expect("a place")
            .seq;
    }
    let asked = [
        (world.main, Seq(0), true),
        (world.main, Seq(last.0 - 1), true),
        (world.main, last, false),
        (world.main, Seq(last.0 + 1), false),
        (quiet, Seq(0), false),
        (quiet, last, false),
        (RoomId(999_999), Seq(0), false),
    ];
    let (world, every) = (&world, asked.iter().cycle().take(10 * asked.len()));
    let answers = every.map(|&(room, after, expected)| async move {
        let has_news = world
            .store
            .log_has_news(room, after)
            .await
            .expect("an answer");
        assert_eq!(has_news, expected, "{room:?} after {after:?}");
    });
    join_all(answers).await;
}

async fn what_was_answered_before_a_question_is_news(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (store, room, ann) = (&world.store, world.main, world.ann);
    let poster = async |number: usize| {
        for round in 0..50 {
            let text = format!("{number} {round}");
            let seq = world
                .post(chat(room, ann, &text))
                .await
                .event
                .expect("a place")
                .seq;
            // The question may share a read with those of the others, but not one that began
            // before.
            assert!(
                store
                    .log_has_news(room, Seq(seq.0 - 1))
                    .await
                    .expect("an answer"),
                "{text}"
            );
        }
    };
    join_all((0..8).map(poster)).await;
}

async fn questions_that_nobody_waits_for_hold_up_no_others(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (store, room) = (&world.store, world.main);
    let last = world
        .post(chat(room, world.ann, "hello"))
        .await
        .event
        .expect("a place")
        .seq;
    for _ in 0..100 {
        let dropped = tokio::spawn({
            let store = store.clone();
            async move { store.log_has_news(room, Seq(0)).await }
        });
        tokio::task::yield_now().await;
        dropped.abort();
        assert!(!store.log_has_news(room, last).await.expect("an answer"));
    }
}
