//! The queue of push messages, and the browsers they are for.

use std::sync::Arc;

use eddyline_model::{MessageId, RoomId, Timestamp, UserId};
use eddyline_storage::{DuePush, NewPush, PushSubscription, QueuedPush};

use crate::home::{Home, on_every_database};
use crate::world::{World, member, new_user};

on_every_database!(
    a_message_that_waits_gives_way_to_a_later_one,
    a_browser_has_a_bounded_number_of_messages_that_wait,
    a_browser_and_what_waits_for_it_end_with_its_session,
    what_was_not_tried_yet_goes_before_what_failed,
    what_is_held_is_due_again_later,
    all_that_waits_for_a_browser_is_due_together,
    organizations_and_users_take_turns_whatever_waits_of_another,
);

const SESSION: &[u8] = b"session";
const NOW: Timestamp = Timestamp(1_000);
const LATER: Timestamp = Timestamp(2_000);

async fn subscribe(world: &World, user: UserId) {
    subscribe_browser(world, user, SESSION).await;
}

async fn subscribe_browser(world: &World, user: UserId, session: &'static [u8]) {
    let subscribed = world.store.write(move |tx| {
        tx.sessions().insert(session, user, NOW)?;
        let new = PushSubscription {
            session: session.to_vec(),
            user,
            endpoint: format!("https://push.example/{}", session.escape_ascii()),
            p256dh: vec![4; 65],
            auth: vec![1; 16],
        };
        tx.notifications().insert_subscription(&new, NOW)
    });
    subscribed.await.expect("the browser subscribes");
}

/// Puts messages into the queue, each by its room and number.
async fn enqueue(world: &World, messages: &[(RoomId, i64)]) {
    enqueue_at(world, SESSION, messages, NOW).await;
}

async fn enqueue_at(world: &World, session: &[u8], messages: &[(RoomId, i64)], now: Timestamp) {
    let new: Vec<NewPush> = messages
        .iter()
        .map(|(room, message)| NewPush {
            session: session.to_vec(),
            room: *room,
            message: MessageId(*message),
        })
        .collect();
    let queued = world
        .store
        .write(move |tx| tx.notifications().insert_pushes(&new, now));
    queued.await.expect("they are queued");
}

async fn due(world: &World, now: Timestamp, limit: i64) -> Vec<DuePush> {
    world
        .read(move |reader| reader.notifications().list_due_pushes(now, limit))
        .await
}

async fn claim(world: &World, now: Timestamp) -> Vec<QueuedPush> {
    claim_some(world, now, 10).await
}

/// Claims the first of each browser, in turn.
async fn claim_some(world: &World, now: Timestamp, limit: i64) -> Vec<QueuedPush> {
    let ids: Vec<i64> = due(world, now, limit)
        .await
        .iter()
        .map(|one| one.id)
        .collect();
    let claimed = world
        .store
        .write(move |tx| tx.notifications().claim_pushes(&ids, now, LATER));
    claimed.await.expect("they are claimed").0
}

async fn sent(world: &World, push: &QueuedPush, now: Timestamp) {
    let (id, session) = (push.id, push.push.session.clone());
    let noted = world.store.write(move |tx| {
        tx.notifications().delete_pushes(&[id])?;
        tx.notifications().release_pushes(&session, now)
    });
    noted.await.expect("it is noted");
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
    assert_eq!(all_of_browser(&world).await, [3, 7]);
}

/// The numbers of all messages that wait for the browser, which takes one after the other.
async fn all_of_browser(world: &World) -> Vec<i64> {
    let mut all = Vec::new();
    while let [one] = &claim(world, NOW).await[..] {
        all.push(one.push.message.0);
        sent(world, one, NOW).await;
    }
    all.sort_unstable();
    all
}

async fn a_browser_has_a_bounded_number_of_messages_that_wait(home: Arc<Home>) {
    let world = World::new(&home).await;
    subscribe(&world, world.ann).await;
    for number in 1..=21 {
        enqueue(&world, &[(RoomId(world.main.0 + number), number)]).await;
    }
    let newest: Vec<i64> = (2..=21).collect();
    assert_eq!(all_of_browser(&world).await, newest);
}

async fn all_that_waits_for_a_browser_is_due_together(home: Arc<Home>) {
    let world = World::new(&home).await;
    subscribe(&world, world.ann).await;
    let room = |number| RoomId(world.main.0 + number);
    enqueue(&world, &[(room(1), 1), (room(2), 2)]).await;
    let first = claim(&world, NOW).await;
    assert_eq!(first.len(), 1, "a browser takes one after the other");
    // A message that comes meanwhile waits as well: the push service may not answer.
    enqueue(&world, &[(room(3), 3)]).await;
    assert_eq!(claim(&world, NOW).await, []);
    let until = Timestamp(1_500);
    let postponed = world.store.write(|tx| {
        tx.notifications()
            .postpone_pushes(SESSION, Timestamp(1_500))
    });
    postponed.await.expect("it is put off");
    enqueue(&world, &[(room(4), 4)]).await;
    assert_eq!(claim(&world, Timestamp(until.0 - 1)).await, []);
    let again = claim(&world, until).await;
    assert_eq!((again.len(), again[0].attempts), (1, 2));
    sent(&world, &again[0], until).await;
    let next = claim(&world, until).await;
    assert_eq!(
        (next.len(), next[0].attempts),
        (1, 1),
        "it takes them again"
    );
}

async fn organizations_and_users_take_turns_whatever_waits_of_another(home: Arc<Home>) {
    let world = World::new(&home).await;
    let written = world.store.write(|tx| {
        let beta = tx.organizations().insert("Beta", "beta", 10, NOW)?;
        let dan = tx.users().insert(&new_user("dan"))?;
        tx.organization_members()
            .insert(member(beta, dan), "dan", NOW)?;
        let eve = tx.users().insert(&new_user("eve"))?;
        Ok((dan, eve))
    });
    let ((dan, eve), _) = written.await.expect("it is written");
    let browsers: [(UserId, &[u8]); 6] = [
        (world.ann, b"ann 1"),
        (world.ann, b"ann 2"),
        (world.ann, b"ann 3"),
        (world.bob, b"bob"),
        (dan, b"dan"),
        (eve, b"eve"),
    ];
    for (user, session) in browsers {
        subscribe_browser(&world, user, session).await;
        let rooms = (0..5).map(|number| (RoomId(world.main.0 + number), 1));
        let messages: Vec<_> = rooms.collect();
        enqueue_at(&world, session, &messages, NOW).await;
    }
    let order = |due: Vec<DuePush>| -> Vec<String> {
        let names = due
            .into_iter()
            .map(|one| one.session.escape_ascii().to_string());
        names.collect()
    };
    let all = order(due(&world, NOW, 10).await);
    assert_eq!(all, ["ann 1", "dan", "eve", "bob", "ann 2", "ann 3"]);
    assert_eq!(order(due(&world, NOW, 2).await), ["ann 1", "dan"]);
    let first = due(&world, NOW, 1).await;
    assert_eq!(first[0].organization, Some(world.organization));
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
    subscribe_browser(&world, world.ann, b"other").await;
    let after = Timestamp(LATER.0 + 1);
    enqueue_at(&world, b"other", &[(world.main, 2)], after).await;
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
