//! Lists around a time and over several rooms, where messages are not numbered in the order of
//! their times.

use std::sync::Arc;

use eddyline_model::messages::{Around, Draft, MessageCursor, MessageQuery};
use eddyline_model::{RoomId, Timestamp, UserId};
use eddyline_storage::{RoomQuery, RoomsPart};

use crate::home::{Home, on_every_database};
use crate::world::{World, chat, new_flow, words};

on_every_database!(
    a_time_is_found_among_messages_that_are_nearly_in_order,
    a_list_over_rooms_meets_each_message_once_and_in_the_order_of_time,
    a_list_over_rooms_ends_at_its_bytes,
    rooms_are_listed_by_their_last_messages,
);

/// Posts messages sent at these times, in this order.
async fn post_at(world: &World, room: RoomId, times: impl Iterator<Item = i64>) {
    let drafts: Vec<Draft> = times
        .map(|at| Draft {
            sent: Timestamp(at),
            ..chat(room, world.ann, &format!("tea {at}"))
        })
        .collect();
    world
        .store
        .write(move |tx| tx.messages().append(&drafts).map(drop))
        .await
        .expect("posted");
}

/// Times that grow by 10, but that each eight of them stand the other way round.
fn nearly_in_order(count: i64) -> impl Iterator<Item = i64> {
    (0..count).map(|number| 10 * (number / 8 * 8 + 7 - number % 8))
}

async fn a_time_is_found_among_messages_that_are_nearly_in_order(home: Arc<Home>) {
    let world = World::new(&home).await;
    let around = async |at: i64, limit: i64| {
        let query = MessageQuery {
            around: Some(Around::Time(Timestamp(at))),
            limit,
            ..MessageQuery::default()
        };
        world.find(query).await
    };
    assert_eq!(around(5, 3).await, [0; 0]);
    post_at(&world, world.main, nearly_in_order(400)).await;
    let times: Vec<i64> = nearly_in_order(400).collect();
    for at in [-1, 0, 1, 70, 75, 1_234, 2_000, 3_985, 3_990] {
        let first = times.iter().position(|time| *time >= at).expect("one");
        assert_eq!(around(at, 1).await, [first as i64 + 1], "{at}");
    }
    assert_eq!(around(3_991, 2).await, [399, 400]);
    assert_eq!(around(i64::MAX, 2).await, [399, 400]);
}

fn asked(rooms: &[RoomId]) -> Vec<RoomQuery> {
    let query = MessageQuery {
        search: Some(words("tea")),
        ..MessageQuery::default()
    };
    rooms
        .iter()
        .map(|room| RoomQuery {
            room: *room,
            last_message_at: Timestamp(100_000),
            query: query.clone(),
        })
        .collect()
}

async fn a_list_over_rooms_meets_each_message_once_and_in_the_order_of_time(home: Arc<Home>) {
    let world = World::new(&home).await;
    let rooms = [world.main, world.side];
    post_at(&world, world.main, nearly_in_order(160)).await;
    // The same times once more, and many messages of one moment.
    post_at(&world, world.side, nearly_in_order(80)).await;
    post_at(&world, world.side, std::iter::repeat_n(900, 150)).await;
    for limit in [1, 7, 100] {
        let mut met: Vec<MessageCursor> = Vec::new();
        let mut before = None;
        loop {
            let part = RoomsPart {
                before,
                limit,
                bytes: usize::MAX,
            };
            let page = world.store.list_of_rooms(asked(&rooms), part, |page| page);
            let page = page.await.expect("the list is answered");
            met.extend(
                page.messages
                    .iter()
                    .map(|view| MessageCursor::of(&view.message)),
            );
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(met.len(), 390, "{limit}");
        assert!(
            met.windows(2).all(|pair| pair[0] > pair[1]),
            "{limit}: the newest first, and each once"
        );
    }
}

async fn a_list_over_rooms_ends_at_its_bytes(home: Arc<Home>) {
    let world = World::new(&home).await;
    post_at(&world, world.main, 1..=3).await;
    // Each text has 5 bytes.
    for (bytes, count) in [(0, 1), (9, 1), (10, 2), (14, 2), (15, 3)] {
        let part = RoomsPart {
            before: None,
            limit: 10,
            bytes,
        };
        let page = world
            .store
            .list_of_rooms(asked(&[world.main]), part, |page| page);
        let page = page.await.expect("the list is answered");
        assert_eq!(page.messages.len(), count, "{bytes}");
        let last = page
            .messages
            .last()
            .map(|view| MessageCursor::of(&view.message));
        assert_eq!(page.next, last.filter(|_| count < 3), "{bytes}");
    }
}

/// The rooms of a user, in the form in which a list over all rooms asks for them.
async fn rooms(world: &World, user: UserId, limit: i64) -> Vec<(RoomId, Option<UserId>)> {
    let found = world
        .read(move |reader| reader.rooms().list_with_news(user, limit))
        .await;
    found.into_iter().map(|room| (room.id, room.with)).collect()
}

async fn rooms_are_listed_by_their_last_messages(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, organization) = (world.ann, world.bob, world.organization);
    let ((private, third), _) = world
        .store
        .write(move |tx| {
            let third = tx.flows().insert(&new_flow(organization, "third"))?;
            tx.members().insert(third, ann, Timestamp(3))?;
            Ok((tx.rooms().insert_private(ann, bob)?, third))
        })
        .await
        .expect("rooms");
    assert_eq!(rooms(&world, ann, 10).await, [], "no room has messages");
    for (room, at) in [
        (world.main, 10),
        (world.side, 30),
        (private, 20),
        (third, 40),
    ] {
        post_at(&world, room, std::iter::once(at)).await;
    }
    let all = [
        (third, None),
        (world.side, None),
        (private, Some(bob)),
        (world.main, None),
    ];
    assert_eq!(rooms(&world, ann, 10).await, all);
    assert_eq!(rooms(&world, ann, 2).await, all[..2]);
    assert_eq!(
        rooms(&world, bob, 10).await,
        [(world.side, None), (private, Some(ann)), (world.main, None)]
    );
}
