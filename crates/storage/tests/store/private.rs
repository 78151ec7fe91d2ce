//! Private conversations: how they begin, what is unread in them, and who may still write.

use std::sync::Arc;

use eddyline_model::messages::{Draft, MessageQuery, Placement};
use eddyline_model::search::SearchTokens;
use eddyline_model::{MessageId, RoomId, UserId};
use eddyline_storage::AppendOutcome;

use crate::home::{Home, on_every_database};
use crate::world::{World, chat, texts, words};

on_every_database!(
    two_people_have_one_conversation_whoever_begins_it,
    a_conversation_with_oneself_has_one_participant,
    a_conversation_begins_closed_and_opens_for_who_is_written_to,
    unread_are_the_messages_of_the_other_after_the_marker,
    a_message_dealt_with_by_itself_is_not_unread,
    conversations_with_people_of_no_common_organization_are_left_out,
    what_was_checked_before_somebody_left_is_stale,
    tags_can_add_to_a_search,
);

async fn begin(world: &World, one: UserId, other: UserId) -> RoomId {
    let (room, _) = world
        .store
        .write(move |tx| tx.rooms().insert_private(one, other))
        .await
        .expect("a room");
    room
}

fn private(room: RoomId, from: UserId, to: UserId, text: &str) -> Draft {
    Draft {
        to: Some(to),
        placement: Placement::Unthreaded,
        ..chat(room, from, text)
    }
}

/// What a user sees: with whom, whether open, how many unread.
async fn seen(world: &World, user: UserId) -> Vec<(UserId, bool, i64)> {
    let found = world
        .read(move |reader| reader.rooms().list_conversations(user, None))
        .await;
    for one in &found {
        let with = one.other.id;
        let alone = world
            .read(move |reader| reader.rooms().list_conversations(user, Some(with)))
            .await;
        assert_eq!(alone, std::slice::from_ref(one));
    }
    found
        .into_iter()
        .map(|one| (one.other.id, one.open, one.unread))
        .collect()
}

async fn two_people_have_one_conversation_whoever_begins_it(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob) = (world.ann, world.bob);
    assert_eq!(
        world
            .read(move |reader| reader.rooms().find_private(ann, bob))
            .await,
        None
    );
    let room = begin(&world, bob, ann).await;
    assert_eq!(
        begin(&world, ann, bob).await,
        room,
        "another one who begins it finds it"
    );
    for (one, other) in [(ann, bob), (bob, ann)] {
        let found = world
            .read(move |reader| reader.rooms().find_private(one, other))
            .await;
        assert_eq!(found.map(|room| room.id), Some(room));
    }
    assert_eq!(
        world
            .read(move |reader| reader.rooms().find_private_users(room))
            .await,
        Some((ann, bob))
    );
    let main = world.main;
    assert_eq!(
        world
            .read(move |reader| reader.rooms().find_private_users(main))
            .await,
        None
    );
    assert_eq!(
        world.read(move |reader| reader.flows().find(room)).await,
        None
    );
}

async fn a_conversation_with_oneself_has_one_participant(home: Arc<Home>) {
    let world = World::new(&home).await;
    let ann = world.ann;
    let room = begin(&world, ann, ann).await;
    world.say(private(room, ann, ann, "note to self")).await;
    assert_eq!(
        seen(&world, ann).await,
        [(ann, false, 0)],
        "one has read what one wrote"
    );
    assert_eq!(
        world
            .read(move |reader| reader.rooms().find_private_users(room))
            .await,
        Some((ann, ann))
    );
}

/// Shows: 3.6
async fn a_conversation_begins_closed_and_opens_for_who_is_written_to(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, cid) = (world.ann, world.bob, world.cid);
    let room = begin(&world, ann, bob).await;
    assert_eq!(seen(&world, ann).await, [(bob, false, 0)]);
    world.say(private(room, ann, bob, "hello")).await;
    assert_eq!(
        seen(&world, ann).await,
        [(bob, false, 0)],
        "who writes decides that by themselves"
    );
    assert_eq!(seen(&world, bob).await, [(ann, true, 1)]);
    assert_eq!(seen(&world, cid).await, []);
}

async fn unread_are_the_messages_of_the_other_after_the_marker(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, cid) = (world.ann, world.bob, world.cid);
    let room = begin(&world, ann, bob).await;
    let second = begin(&world, cid, ann).await;
    for text in ["one", "two", "three"] {
        world.say(private(room, bob, ann, text)).await;
    }
    world.say(private(room, ann, bob, "four")).await;
    world.say(private(second, cid, ann, "hello")).await;
    assert_eq!(seen(&world, ann).await, [(bob, true, 3), (cid, true, 1)]);
    assert_eq!(seen(&world, bob).await, [(ann, true, 1)]);

    let moved = world
        .store
        .write(move |tx| tx.members().set_read(room, ann, None, MessageId(1)))
        .await
        .expect("a mark")
        .0;
    assert!(moved);
    assert_eq!(seen(&world, ann).await, [(bob, true, 2), (cid, true, 1)]);
    // What was emptied has nothing to be read.
    let before = world
        .read(move |reader| reader.messages().find(room, MessageId(2)))
        .await
        .expect("a message");
    let mut after = before.clone();
    after.content.clear();
    let emptied = world
        .store
        .write(move |tx| {
            tx.messages()
                .update(&before, &after, &SearchTokens::default())
        })
        .await;
    emptied.expect("it is emptied");
    assert_eq!(seen(&world, ann).await, [(bob, true, 1), (cid, true, 1)]);
    assert_eq!(
        world
            .read(move |reader| reader.rooms().find_last_message_id(room))
            .await,
        Some(MessageId(4))
    );
}

async fn a_message_dealt_with_by_itself_is_not_unread(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob) = (world.ann, world.bob);
    let room = begin(&world, ann, bob).await;
    for text in ["one", "two"] {
        world.say(private(room, bob, ann, text)).await;
    }
    world
        .store
        .write(move |tx| tx.messages().set_mention_seen(room, ann, MessageId(2)))
        .await
        .expect("it is seen");
    assert_eq!(seen(&world, ann).await, [(bob, true, 1)]);
}

async fn conversations_with_people_of_no_common_organization_are_left_out(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, organization) = (world.ann, world.bob, world.organization);
    begin(&world, ann, bob).await;
    begin(&world, bob, bob).await;
    let common = world
        .read(move |reader| reader.organization_members().list_common(ann, bob))
        .await;
    assert_eq!(common, [(organization, true)]);
    world
        .store
        .write(move |tx| tx.organization_members().delete(organization, bob))
        .await
        .expect("bob is out of the organization");
    assert_eq!(
        world
            .read(move |reader| reader.organization_members().list_common(ann, bob))
            .await,
        []
    );
    assert_eq!(seen(&world, ann).await, []);
    assert_eq!(seen(&world, bob).await, [(bob, false, 0)]);
}

async fn what_was_checked_before_somebody_left_is_stale(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, cid) = (world.ann, world.bob, world.cid);
    let room = begin(&world, ann, bob).await;
    let other = begin(&world, ann, cid).await;
    let version = |room| Draft {
        access_version: Some(0),
        ..private(room, ann, bob, "hello")
    };
    world.say(version(room)).await;
    world
        .store
        .write(move |tx| tx.rooms().advance_private_access_of_user(bob))
        .await
        .expect("bob's rooms are counted on");
    assert_eq!(
        world.post(version(room)).await.outcome,
        AppendOutcome::Stale
    );
    let again = Draft {
        access_version: Some(1),
        ..private(room, ann, bob, "hello")
    };
    assert!(matches!(
        world.post(again).await.outcome,
        AppendOutcome::Added(_)
    ));
    world
        .say(Draft {
            access_version: Some(0),
            ..private(other, ann, cid, "hello")
        })
        .await;
}

async fn tags_can_add_to_a_search(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob) = (world.ann, world.bob);
    let room = begin(&world, ann, bob).await;
    for text in [
        "tea please",
        "#tea",
        "#tea #milk",
        "milk",
        "tea #milk",
        "nothing",
    ] {
        world.say(private(room, ann, bob, text)).await;
    }
    let query = |tags: &[&str], word: &str| MessageQuery {
        tags: texts(tags),
        search: Some(words(word)),
        tags_widen: true,
        ..MessageQuery::default()
    };
    assert_eq!(
        world.find_in(room, query(&["tea"], "please")).await,
        [1, 2, 3]
    );
    assert_eq!(
        world.find_in(room, query(&["tea", "milk"], "please")).await,
        [1, 3]
    );
    let any = MessageQuery {
        any_tag: true,
        ..query(&["tea", "milk"], "please")
    };
    assert_eq!(world.find_in(room, any).await, [1, 2, 3, 5]);
    assert_eq!(
        world
            .find_in(
                room,
                MessageQuery {
                    limit: 2,
                    ..query(&["tea"], "please")
                }
            )
            .await,
        [2, 3]
    );
    let narrow = MessageQuery {
        tags_widen: false,
        ..query(&["milk"], "tea")
    };
    assert_eq!(world.find_in(room, narrow).await, [3, 5]);
}
