//! The log, whole and under filters.

use std::sync::Arc;

use eddyline_model::log::{Control, EventId, LogBody, LogItem};
use eddyline_model::{CredentialId, GrantId, MessageId, RoomId, Seq, Timestamp, UserId};
use eddyline_storage::LogFilter;

use crate::home::{Home, on_every_database};
use crate::world::{World, chat, new_flow};

on_every_database!(
    a_new_database_has_an_empty_log,
    a_log_knows_its_own_positions,
    the_log_is_read_in_pages,
    a_filtered_log_is_the_same_in_pages,
    a_filter_of_many_rooms_looks_far_ahead,
    the_last_end_is_found_behind_what_was_said_since,
    the_log_is_read_when_every_living_node_has_read_it,
);

async fn a_new_database_has_an_empty_log(home: Arc<Home>) {
    let store = home.open();
    let read = store.read(|reader| {
        Ok((
            reader.log().find_head()?,
            reader.log().list_after(Seq(0), 10)?,
        ))
    });
    let (head, log) = read.await.expect("a read");
    assert_eq!((head, log.len()), (EventId::default(), 0));
}

async fn a_log_knows_its_own_positions(home: Arc<Home>) {
    let world = World::new(&home).await;
    let first = world
        .post(chat(world.main, world.ann, "one"))
        .await
        .event
        .expect("a place");
    let second = world
        .post(chat(world.main, world.ann, "two"))
        .await
        .event
        .expect("a place");
    assert_eq!(world.read(|reader| reader.log().find_head()).await, second);
    let wrong = EventId {
        check: first.check ^ 1,
        ..first
    };
    let beyond = EventId {
        seq: Seq(3),
        check: 0,
    };
    let made_up = EventId {
        seq: Seq(0),
        check: 5,
    };
    for (id, held) in [
        (first, true),
        (second, true),
        (EventId::default(), true),
        (wrong, false),
        (beyond, false),
        (made_up, false),
    ] {
        assert_eq!(
            world.read(move |reader| reader.log().contains(id)).await,
            held,
            "{id}"
        );
    }
}

/// A world of twenty rooms and a log of a few hundred entries of every kind, some deleted.
async fn busy(home: &Home) -> (World, Vec<RoomId>, Vec<LogItem>) {
    let world = World::new(home).await;
    let (organization, ann, bob, cid) = (world.organization, world.ann, world.bob, world.cid);
    let (rooms, _) = world
        .store
        .write(move |tx| {
            (0..20)
                .map(|n| {
                    tx.flows()
                        .insert(&new_flow(organization, &format!("room{n}")))
                })
                .collect()
        })
        .await
        .expect("rooms");
    let rooms: Vec<RoomId> = rooms;
    for round in 0..6 {
        let rooms = rooms.clone();
        world
            .store
            .write(move |tx| {
                for (n, &room) in rooms.iter().enumerate() {
                    let user = [ann, bob, cid][(n + round) % 3];
                    tx.record_event(match (n + round) % 9 {
                        0 => Control::FlowAdd { room, user },
                        1 => Control::FlowRemove { room, user },
                        2 => Control::UserEdit { user },
                        3 => Control::Revoked { user },
                        4 => Control::FlowChange { room },
                        5 => Control::Read {
                            room,
                            user,
                            marker: None,
                            message: MessageId(1),
                        },
                        6 => Control::UserJoin { room, user },
                        7 => Control::UserBlock { room, user },
                        _ => Control::FlowTokens { room },
                    });
                    tx.messages()
                        .append(&[chat(room, user, "one"), chat(room, user, "two")])?;
                }
                let gone = tx.messages().find(rooms[round], MessageId(1))?;
                gone.map_or(Ok(()), |gone| tx.messages().delete(&gone))
            })
            .await
            .expect("a round");
    }
    let log = world
        .read(|reader| reader.log().list_after(Seq(0), 10_000))
        .await;
    assert_eq!(log.len(), 6 * 20 * 3);
    assert_eq!(
        log.iter()
            .filter(|item| item.body == LogBody::Message(None))
            .count(),
        6
    );
    (world, rooms, log)
}

async fn the_log_is_read_in_pages(home: Arc<Home>) {
    let (world, _, log) = busy(&home).await;
    let mut pages = Vec::new();
    let mut after = Seq(0);
    loop {
        let page = world
            .read(move |reader| reader.log().list_after(after, 37))
            .await;
        let Some(last) = page.last() else { break };
        after = last.id.seq;
        pages.extend(page);
    }
    assert_eq!(pages, log);
}

async fn a_filtered_log_is_the_same_in_pages(home: Arc<Home>) {
    let (world, rooms, log) = busy(&home).await;
    let mut twice = rooms[..4].to_vec();
    twice.extend(&rooms[2..5]);
    for (of, user) in [
        (vec![], None),
        (vec![], Some(world.ann)),
        (rooms[..1].to_vec(), None),
        (rooms[..1].to_vec(), Some(world.bob)),
        (twice, Some(world.ann)),
        (rooms[..16].to_vec(), Some(world.cid)),
        (rooms[..17].to_vec(), Some(world.cid)),
        (rooms.clone(), None),
    ] {
        let filter = LogFilter { rooms: of, user };
        let (from, to) = (Seq(20), Seq(310));
        let between = log
            .iter()
            .filter(|item| item.id.seq > from && item.id.seq <= to);
        let wanted: Vec<_> = between
            .filter(|item| wants(&filter, &rooms, item))
            .cloned()
            .collect();
        for limit in [1, 2, 7, 1_000] {
            assert_eq!(
                pages(&world, &filter, from, to, limit).await,
                wanted,
                "{filter:?} {limit}"
            );
        }
    }
}

fn wants(filter: &LogFilter, rooms: &[RoomId], item: &LogItem) -> bool {
    let (room, user): (Option<RoomId>, Option<UserId>) = match &item.body {
        // A removed message does not tell its room any more, but each room had three entries in
        // each round.
        LogBody::Message(_) => (
            Some(rooms[(item.id.seq.0 as usize - 1) / 3 % rooms.len()]),
            None,
        ),
        LogBody::Control(control) => match *control {
            Control::UserEdit { .. } => return true,
            Control::OrganizationChange | Control::GroupChange { .. } => (None, None),
            Control::Revoked { user }
            | Control::CredentialEnd { user, .. }
            | Control::GrantEnd { user, .. }
            | Control::OrganizationRemove { user } => (None, Some(user)),
            Control::FlowChange { room }
            | Control::FlowArchive { room }
            | Control::FlowTokens { room } => (Some(room), None),
            Control::FlowAdd { room, user }
            | Control::FlowRemove { room, user }
            | Control::UserJoin { room, user }
            | Control::UserBlock { room, user }
            | Control::Read { room, user, .. }
            | Control::ThreadRead { room, user, .. } => (Some(room), Some(user)),
        },
    };
    room.is_some_and(|room| filter.rooms.contains(&room)) || (user.is_some() && user == filter.user)
}

async fn pages(world: &World, filter: &LogFilter, from: Seq, to: Seq, limit: i64) -> Vec<LogItem> {
    let mut items: Vec<LogItem> = Vec::new();
    let mut after = from;
    while after < to {
        let asked = filter.clone();
        let page = world
            .read(move |reader| reader.log().list_page(after, to, &asked, limit))
            .await;
        assert!(
            page.through > after && page.through <= to,
            "every page gets on: {page:?}"
        );
        let within = |item: &LogItem| item.id.seq > after && item.id.seq <= page.through;
        assert!(page.items.iter().all(within) && page.items.len() as i64 <= limit.max(1));
        after = page.through;
        items.extend(page.items);
    }
    items
}

async fn a_filter_of_many_rooms_looks_far_ahead(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (room, side, ann) = (world.main, world.side, world.ann);
    let (head, _) = world
        .store
        .write(move |tx| {
            tx.record_event(Control::FlowChange { room });
            for _ in 0..20_000 {
                tx.record_event(Control::FlowTokens { room: side });
            }
            tx.record_event(Control::FlowChange { room });
            Ok(Seq(20_002))
        })
        .await
        .expect("a long log");
    world.say(chat(room, ann, "after it")).await;
    let others = (100..120).map(RoomId);
    let many = LogFilter {
        rooms: others.chain([room]).collect(),
        user: Some(ann),
    };
    let few = LogFilter {
        rooms: vec![room],
        user: Some(ann),
    };
    for filter in [many, few] {
        let items = pages(&world, &filter, Seq(0), head, 100).await;
        assert_eq!(
            items.iter().map(|item| item.id.seq.0).collect::<Vec<_>>(),
            [1, 20_002]
        );
    }
}

async fn the_last_end_is_found_behind_what_was_said_since(home: Arc<Home>) {
    let store = home.open();
    let last_end = async || {
        store
            .read(|reader| reader.log().find_last_end())
            .await
            .expect("a read")
    };
    assert_eq!(last_end().await, None);
    let user = UserId(1);
    for end in [
        Control::CredentialEnd {
            user,
            credential: CredentialId(7),
        },
        Control::GrantEnd {
            user,
            grant: GrantId(7),
        },
    ] {
        let tell = |control: Control| {
            store.write(move |tx| {
                tx.record_event(control.clone());
                Ok(())
            })
        };
        let ((), told) = tell(end).await.expect("an end");
        tell(Control::UserEdit { user }).await.expect("a change");
        assert_eq!(last_end().await, told);
    }
}

async fn the_log_is_read_when_every_living_node_has_read_it(home: Arc<Home>) {
    let store = home.open();
    store
        .write(|tx| {
            tx.nodes()
                .upsert_heartbeat("one", Timestamp(1_000), Seq(5))?;
            tx.nodes()
                .upsert_heartbeat("two", Timestamp(2_000), Seq(7))?;
            tx.nodes().upsert_heartbeat("two", Timestamp(2_100), Seq(9))
        })
        .await
        .expect("signs of life");
    let read = |seq, since| {
        store.read(move |reader| reader.nodes().have_all_read(Seq(seq), Timestamp(since)))
    };
    assert!(read(5, 0).await.expect("a read"));
    assert!(!read(6, 0).await.expect("a read"), "node one is behind");
    assert!(read(9, 1_500).await.expect("a read"), "node one is silent");
    store
        .write(|tx| tx.nodes().delete("two", Timestamp(1_001)))
        .await
        .expect("nodes are forgotten");
    assert!(read(100, 0).await.expect("a read"), "nobody is left");
}
