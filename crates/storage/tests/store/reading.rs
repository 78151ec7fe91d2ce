//! Up to where members have read the chat, the inbox and its threads.

use std::sync::Arc;

use eddyline_model::MessageId;
use eddyline_model::messages::{Author, Draft};
use eddyline_model::reading::ReadMarker;
use eddyline_model::threads::ThreadQuery;

use crate::home::{Home, on_every_database};
use crate::threads::{ALL, activity, thread_owner};
use crate::world::{World, chat, comment, mentioning};

on_every_database!(
    chat_and_inbox_have_markers_of_their_own,
    a_thread_is_read_on_its_own,
    the_inbox_is_read_where_its_threads_are,
    the_marker_of_the_inbox_keeps_up_with_the_chat,
    what_was_read_of_threads_is_forgotten_when_the_markers_pass_it,
    a_thread_with_something_unread_before_its_end_is_unread,
    who_leaves_forgets_what_they_read,
    so_many_messages_behind_a_marker_are_looked_at,
    chat_is_found_behind_many_messages_of_the_inbox,
    an_inbox_of_ones_own_messages_hides_nothing,
    a_mention_in_the_inbox_is_read_with_the_inbox_or_its_thread,
);

/// What the inbox of a test gets: an activity in the thread that is called `ticket` outside.
fn ticket(world: &World, ticket: &str) -> Draft {
    activity(world, thread_owner(1, 5), ticket, None)
}

/// What bob has not read of the chat, and of the inbox.
async fn unread(world: &World) -> (Vec<i64>, Vec<i64>) {
    let (room, bob) = (world.main, world.bob);
    let ids = |found: Vec<MessageId>| found.into_iter().map(|id| id.0).collect();
    let found = world.read(move |reader| {
        let place = reader.members().find(room, bob)?.expect("bob is in");
        let last = reader.rooms().find_last_message_id(room)?.expect("a room");
        let chat = reader
            .members()
            .list_unread_chat(room, bob, (place.read_up_to, last), 100)?;
        let inbox = reader
            .members()
            .list_unread_inbox(room, bob, place.inbox_read_up_to, 100)?;
        Ok((chat, inbox))
    });
    let (chat, inbox) = found.await;
    (ids(chat), ids(inbox))
}

/// The threads that are unread to bob, by what began them.
async fn unread_threads(world: &World) -> Vec<i64> {
    let (room, bob) = (world.main, world.bob);
    let query = ThreadQuery {
        empty: true,
        last_message: true,
        reader: Some(bob),
        ..ALL
    };
    let page = world.read(move |reader| reader.threads().list(room, &query, usize::MAX));
    page.await.unread.into_iter().map(|root| root.0).collect()
}

async fn read(world: &World, marker: Option<ReadMarker>, message: i64) -> bool {
    let (room, bob) = (world.main, world.bob);
    let moved = world
        .store
        .write(move |tx| tx.members().set_read(room, bob, marker, MessageId(message)));
    moved.await.expect("the marker").0
}

async fn read_thread(world: &World, root: i64, message: i64) -> bool {
    let (room, bob) = (world.main, world.bob);
    let moved = world.store.write(move |tx| {
        tx.members()
            .set_thread_read(room, bob, MessageId(root), MessageId(message))
    });
    moved.await.expect("the marker").0
}

async fn chat_and_inbox_have_markers_of_their_own(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.say(chat(world.main, world.ann, "one")).await;
    world.say(ticket(&world, "7")).await;
    world.say(chat(world.main, world.ann, "three")).await;
    world.say(ticket(&world, "8")).await;
    world.say(chat(world.main, world.bob, "my own")).await;
    assert_eq!(unread(&world).await, (vec![1, 3], vec![2, 4]));
    assert!(read(&world, Some(ReadMarker::Chat), 5).await);
    assert_eq!(unread(&world).await, (vec![], vec![2, 4]));
    assert!(read(&world, Some(ReadMarker::Inbox), 3).await);
    assert!(!read(&world, Some(ReadMarker::Inbox), 3).await);
    assert_eq!(unread(&world).await, (vec![], vec![4]));
    assert!(read(&world, None, 4).await, "the inbox moves");
    assert_eq!(unread(&world).await, (vec![], vec![]));
}

async fn a_thread_is_read_on_its_own(home: Arc<Home>) {
    let world = World::new(&home).await;
    for thread in ["7", "8", "7", "9"] {
        world.say(ticket(&world, thread)).await;
    }
    assert_eq!(unread_threads(&world).await, [1, 2, 4]);
    assert!(read_thread(&world, 2, 2).await);
    assert!(!read_thread(&world, 2, 2).await, "nothing is new");
    assert_eq!(unread(&world).await.1, [1, 3, 4]);
    assert_eq!(unread_threads(&world).await, [1, 4]);
    // What comes later in it is unread.
    world.say(ticket(&world, "8")).await;
    assert_eq!(unread(&world).await.1, [1, 3, 4, 5]);
    assert_eq!(unread_threads(&world).await, [1, 2, 4]);
}

/// Up to where bob has read the inbox.
async fn place(world: &World) -> i64 {
    let (room, bob) = (world.main, world.bob);
    let membership = world.read(move |reader| reader.members().find(room, bob));
    membership.await.expect("bob is in").inbox_read_up_to.0
}

/// How many of the threads that the first messages began bob is known to have read.
async fn markers(world: &World) -> usize {
    let (room, bob) = (world.main, world.bob);
    let roots: Vec<MessageId> = (1..=9).map(MessageId).collect();
    let found = world.read(move |reader| reader.members().list_thread_markers(room, bob, &roots));
    found.await.len()
}

async fn the_marker_of_the_inbox_keeps_up_with_the_chat(home: Arc<Home>) {
    let world = World::new(&home).await;
    let say = async || world.say(chat(world.main, world.ann, "hello")).await;
    let read_chat = async |message| read(&world, Some(ReadMarker::Chat), message).await;
    say().await;
    say().await;
    read_chat(1).await;
    assert_eq!(place(&world).await, 1, "the inbox has nothing");
    world.say(ticket(&world, "7")).await;
    say().await;
    read_chat(4).await;
    assert_eq!(place(&world).await, 2, "what comes next is unread");
    assert_eq!(unread(&world).await, (vec![], vec![3]));
    assert!(read(&world, Some(ReadMarker::Inbox), 3).await);
    let by_bob = Draft {
        author: Author::user(world.bob),
        ..ticket(&world, "8")
    };
    world.say(by_bob).await;
    say().await;
    read_chat(6).await;
    assert_eq!(place(&world).await, 6, "one's own is not unread");
}

async fn what_was_read_of_threads_is_forgotten_when_the_markers_pass_it(home: Arc<Home>) {
    let world = World::new(&home).await;
    let answer = |root| comment(MessageId(root), chat(world.main, world.ann, "an answer"));
    for _ in 0..2 {
        world.say(chat(world.main, world.ann, "a question")).await;
    }
    world.say(answer(1)).await;
    world.say(answer(2)).await;
    assert!(read_thread(&world, 1, 3).await);
    assert!(read_thread(&world, 2, 4).await);
    assert_eq!((place(&world).await, markers(&world).await), (4, 2));
    read(&world, Some(ReadMarker::Chat), 3).await;
    assert_eq!(markers(&world).await, 1);
    read(&world, Some(ReadMarker::Chat), 4).await;
    assert_eq!(markers(&world).await, 0);
    assert!(!read_thread(&world, 2, 4).await, "nothing is new");
}

async fn the_inbox_is_read_where_its_threads_are(home: Arc<Home>) {
    let world = World::new(&home).await;
    for thread in ["7", "8", "7", "9"] {
        world.say(ticket(&world, thread)).await;
    }
    let place = || place(&world);
    let markers = || markers(&world);
    read_thread(&world, 2, 2).await;
    assert_eq!((place().await, markers().await), (0, 1));
    read_thread(&world, 1, 3).await;
    assert_eq!(place().await, 3, "up to what is unread still");
    read_thread(&world, 4, 4).await;
    assert_eq!(place().await, 4);
    assert_eq!(unread_threads(&world).await, [0; 0]);
    read(&world, None, 4).await;
    world.say(ticket(&world, "9")).await;
    read_thread(&world, 4, 5).await;
    read(&world, Some(ReadMarker::Chat), 5).await;
    world.say(ticket(&world, "7")).await;
    read_thread(&world, 1, 6).await;
    assert_eq!(
        (place().await, markers().await),
        (6, 1),
        "the others say nothing any more"
    );
}

async fn a_thread_with_something_unread_before_its_end_is_unread(home: Arc<Home>) {
    let world = World::new(&home).await;
    let answer = |user| comment(MessageId(1), chat(world.main, user, "an answer"));
    world.say(ticket(&world, "7")).await;
    world.say(answer(world.ann)).await;
    read(&world, Some(ReadMarker::Chat), 2).await;
    assert_eq!(
        unread_threads(&world).await,
        [1],
        "what began it was not read"
    );
    world.say(ticket(&world, "7")).await;
    world.say(answer(world.bob)).await;
    assert_eq!(unread_threads(&world).await, [1]);
    read_thread(&world, 1, 4).await;
    assert_eq!(unread_threads(&world).await, [0; 0]);
    world.say(answer(world.ann)).await;
    assert_eq!(unread_threads(&world).await, [1], "an answer in the chat");
    read(&world, Some(ReadMarker::Chat), 5).await;
    assert_eq!(unread_threads(&world).await, [0; 0]);
}

async fn who_leaves_forgets_what_they_read(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.say(ticket(&world, "7")).await;
    world.say(ticket(&world, "8")).await;
    read_thread(&world, 2, 2).await;
    let (room, bob) = (world.main, world.bob);
    let left = world.store.write(move |tx| {
        tx.members().delete(room, bob)?;
        Ok(tx
            .members()
            .list_thread_markers(room, bob, &[MessageId(2)])?
            .len())
    });
    assert_eq!(left.await.expect("bob leaves").0, 0);
}

async fn so_many_messages_behind_a_marker_are_looked_at(home: Arc<Home>) {
    let world = World::new(&home).await;
    for _ in 0..300 {
        world.say(ticket(&world, "7")).await;
    }
    world.say(ticket(&world, "8")).await;
    let (room, bob) = (world.main, world.bob);
    for (from, looked_at) in [(0, 300), (1, 300), (2, 299)] {
        let found = world.read(move |reader| {
            reader
                .members()
                .list_unread_inbox(room, bob, MessageId(from), 400)
        });
        assert_eq!(found.await.len(), looked_at, "behind {from}");
    }
    assert!(read_thread(&world, 1, 300).await);
    assert_eq!(
        unread(&world).await.1,
        [301],
        "the marker has moved along, so that this one is looked at"
    );
}

async fn chat_is_found_behind_many_messages_of_the_inbox(home: Arc<Home>) {
    let world = World::new(&home).await;
    for _ in 0..2_100 {
        world.say(ticket(&world, "7")).await;
    }
    world
        .say(chat(world.main, world.ann, "are you there?"))
        .await;
    assert_eq!(unread(&world).await.0, [2_101]);
}

async fn an_inbox_of_ones_own_messages_hides_nothing(home: Arc<Home>) {
    let world = World::new(&home).await;
    let by_bob = |draft: Draft| Draft {
        author: Author::user(world.bob),
        ..draft
    };
    for _ in 0..310 {
        world.say(by_bob(ticket(&world, "7"))).await;
    }
    world.say(ticket(&world, "7")).await;
    assert_eq!(unread(&world).await.1, [311]);
}

async fn a_mention_in_the_inbox_is_read_with_the_inbox_or_its_thread(home: Arc<Home>) {
    let world = World::new(&home).await;
    let bob = world.bob;
    for number in ["7", "8", "9"] {
        world
            .say(mentioning(&[bob], &[], ticket(&world, number)))
            .await;
    }
    world
        .say(mentioning(&[bob], &[], chat(world.main, world.ann, "bob")))
        .await;
    let mentions = async || {
        let room = world.main;
        let found = world.read(move |reader| {
            let place = reader.members().find(room, bob)?.expect("bob is in");
            reader.members().count_unread_mentions(
                room,
                bob,
                (place.read_up_to, place.inbox_read_up_to),
                100,
            )
        });
        found.await
    };
    assert_eq!(mentions().await, 4);
    read(&world, Some(ReadMarker::Chat), 4).await;
    assert_eq!(mentions().await, 3, "those of the inbox");
    read_thread(&world, 2, 2).await;
    assert_eq!(mentions().await, 2);
    read(&world, Some(ReadMarker::Inbox), 1).await;
    assert_eq!(mentions().await, 1);
    read(&world, None, 4).await;
    assert_eq!(mentions().await, 0);
}
