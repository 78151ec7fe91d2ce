//! The queue of push messages, and the browsers they are for.

use std::sync::Arc;

use eddyline_model::{MessageId, RoomId, Timestamp, UserId};
use eddyline_storage::{NewPush, PushSubscription, QueuedPush};

use crate::home::{Home, on_every_database};
use crate::world::World;

on_every_database!(
    a_message_that_waits_gives_way_to_a_later_one,
    a_browser_and_what_waits_for_it_end_with_its_session,
    what_was_not_tried_yet_goes_before_what_failed,
    what_is_held_is_due_again_later,
);

const SESSION: &[u8] = b"session";
const NOW: Timestamp = Timestamp(1_000);
const LATER: Timestamp = Timestamp(2_000);

async fn subscribe(world: &World, user: UserId) {
    let subscribed = world.store.write(move |tx| {
        tx.sessions().insert(SESSION, user, NOW)?;
        let new = PushSubscription {
            session: SESSION.to_vec(),
            user,
            endpoint: "https://push.example/1".to_owned(),
            p256dh: vec![4; 65],
            auth: vec![1; 16],
        };
        tx.notifications().insert_subscription(&new, NOW)
    });
    subscribed.await.expect("the browser subscribes");
}

/// Puts messages into the queue, each by its room and number.
async fn enqueue(world: &World, messages: &[(RoomId, i64)]) {
    let new: Vec<NewPush> = messages
        .iter()
        .map(|(room, message)| NewPush {
            session: SESSION.to_vec(),
            room: *room,
            message: MessageId(*message),
        })
        .collect();
    let queued = world
        .store
        .write(move |tx| tx.notifications().insert_pushes(&new, NOW));
    queued.await.expect("they are queued");
}

async fn claim(world: &World, now: Timestamp) -> Vec<QueuedPush> {
    claim_some(world, now, 10).await
}

async fn claim_some(world: &World, now: Timestamp, limit: i64) -> Vec<QueuedPush> {
    let claimed = world
        .store
        .write(move |tx| tx.notifications().claim_due(now, LATER, limit));
    claimed.await.expect("they are claimed").0
}

fn numbers(pushes: &[QueuedPush]) -> Vec<i64> {
    let mut numbers: Vec<i64> = pushes.iter().map(|one| one.push.message.0).collect();
    numbers.sort_unstable();
    numbers
}

async fn a_message_that_waits_gives_way_to_a_later_one(home: Arc<Home>) {
    let world = World::new(&home).await;
    subscribe(&world, world.ann).await;
    let other = RoomId(world.main.0 + 1000);
    enqueue(&world, &[(world.main, 1), (world.main, 2), (other, 7)]).await;
    enqueue(&world, &[(world.main, 3)]).await;
    assert_eq!(numbers(&claim(&world, NOW).await), [3, 7]);
}

async fn a_browser_and_what_waits_for_it_end_with_its_session(home: Arc<Home>) {
    let world = World::new(&home).await;
    subscribe(&world, world.ann).await;
    enqueue(&world, &[(world.main, 1)]).await;
    let ended = world.store.write(|tx| tx.sessions().delete(SESSION));
    ended.await.expect("the session ends");
    assert_eq!(claim(&world, NOW).await, []);
    enqueue(&world, &[(world.main, 2)]).await;
    assert_eq!(claim(&world, NOW).await, [], "for no browser");
    let left = world
        .store
        .read(|reader| reader.notifications().has_subscriptions());
    assert!(!left.await.expect("it is read"));
}

async fn what_was_not_tried_yet_goes_before_what_failed(home: Arc<Home>) {
    let world = World::new(&home).await;
    subscribe(&world, world.ann).await;
    enqueue(&world, &[(world.main, 1)]).await;
    assert_eq!(numbers(&claim(&world, NOW).await), [1]);
    let new = [NewPush {
        session: SESSION.to_vec(),
        room: RoomId(world.main.0 + 1000),
        message: MessageId(2),
    }];
    let after = Timestamp(LATER.0 + 1);
    let queued = world
        .store
        .write(move |tx| tx.notifications().insert_pushes(&new, after));
    queued.await.expect("it is queued");
    assert_eq!(numbers(&claim_some(&world, after, 1).await), [2]);
}

async fn what_is_held_is_due_again_later(home: Arc<Home>) {
    let world = World::new(&home).await;
    subscribe(&world, world.ann).await;
    enqueue(&world, &[(world.main, 1)]).await;
    let first = claim(&world, NOW).await;
    assert_eq!((first.len(), first[0].attempts), (1, 1));
    assert_eq!(claim(&world, NOW).await, []);
    let again = claim(&world, LATER).await;
    assert_eq!((again.len(), again[0].attempts), (1, 2));
}
