//! Reactions to messages.

use std::sync::Arc;

use eddyline_model::log::LogBody;
use eddyline_model::messages::{Draft, Message, Notice, Placement};
use eddyline_model::reactions::Emoji;
use eddyline_model::{Seq, UserId};

use crate::changes::{change, delete};
use crate::home::{Home, on_every_database};
use crate::world::{World, chat};

on_every_database!(
    messages_show_who_reacted_in_the_order_in_which_they_did,
    a_reaction_that_is_taken_back_comes_last_when_it_comes_again,
    reactions_go_with_their_message,
    a_reaction_is_read_from_the_log_while_its_message_is_there,
);

fn emoji(text: &str) -> Emoji {
    text.parse().expect("an emoji")
}

async fn react(world: &World, to: &Message, text: &str, user: UserId) {
    let (room, id, emoji) = (to.room, to.id, emoji(text));
    let reacted = world
        .store
        .write(move |tx| tx.reactions().insert(room, id, emoji, user));
    reacted.await.expect("the user reacts");
}

async fn take_back(world: &World, to: &Message, text: &str, user: UserId) -> bool {
    let (room, id, emoji) = (to.room, to.id, emoji(text));
    let taken = world
        .store
        .write(move |tx| tx.reactions().delete(room, id, emoji, user));
    taken.await.expect("the reaction is taken back").0
}

async fn say(world: &World, text: &str) -> Message {
    let said = world.say(chat(world.main, world.ann, text)).await;
    assert!(said.reactions.is_empty(), "a new message has none");
    said.message.clone()
}

/// What a message shows: each emoji with its users.
async fn shown(world: &World, message: &Message) -> Vec<(String, Vec<UserId>)> {
    let view = world.view(message.id).await;
    let each = view.reactions.iter();
    each.map(|known| (known.emoji.clone(), known.users.clone()))
        .collect()
}

async fn messages_show_who_reacted_in_the_order_in_which_they_did(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, cid) = (world.ann, world.bob, world.cid);
    let (tea, cake) = (say(&world, "tea?").await, say(&world, "cake?").await);
    for (emoji, user) in [("👍", cid), ("🎉", ann), ("👍", ann), ("👍", bob)] {
        react(&world, &tea, emoji, user).await;
    }
    react(&world, &cake, "🎉", bob).await;
    assert_eq!(
        shown(&world, &tea).await,
        [
            ("👍".to_owned(), vec![cid, ann, bob]),
            ("🎉".to_owned(), vec![ann])
        ]
    );
    assert_eq!(
        shown(&world, &cake).await,
        [("🎉".to_owned(), vec![bob])],
        "each message has its own"
    );
}

async fn a_reaction_that_is_taken_back_comes_last_when_it_comes_again(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob) = (world.ann, world.bob);
    let tea = say(&world, "tea?").await;
    react(&world, &tea, "👍", ann).await;
    react(&world, &tea, "👍", bob).await;
    assert!(take_back(&world, &tea, "👍", ann).await);
    assert!(
        !take_back(&world, &tea, "👍", ann).await,
        "it is not there any more"
    );
    assert!(!take_back(&world, &tea, "🎉", bob).await);
    react(&world, &tea, "👍", ann).await;
    assert_eq!(
        shown(&world, &tea).await,
        [("👍".to_owned(), vec![bob, ann])]
    );
}

async fn reactions_go_with_their_message(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (emptied, removed) = (say(&world, "tea?").await, say(&world, "cake?").await);
    for message in [&emptied, &removed] {
        react(&world, message, "👍", world.bob).await;
    }
    let empty = Message {
        content: String::new(),
        ..emptied.clone()
    };
    change(&world, &emptied, &empty).await;
    assert_eq!(shown(&world, &emptied).await, []);
    delete(&world, &removed).await;
    let (room, ids) = (world.main, [emptied.id.0, removed.id.0]);
    let left = world.read(move |reader| reader.reactions().list(room, &ids));
    assert!(left.await.is_empty());
}

async fn a_reaction_is_read_from_the_log_while_its_message_is_there(home: Arc<Home>) {
    let world = World::new(&home).await;
    let tea = say(&world, "tea?").await;
    react(&world, &tea, "👍", world.bob).await;
    let notice = Notice::reaction(&tea, emoji("👍"), true);
    let draft = Draft {
        event: notice.event,
        placement: Placement::Unthreaded,
        live: Some(Box::new(notice.live.clone())),
        ..chat(world.main, world.bob, &notice.kept)
    };
    world.say(draft).await;
    let last = async || {
        let mut log = world
            .read(|reader| reader.log().list_after(Seq(0), 10))
            .await;
        match log.pop().expect("an entry").body {
            LogBody::Message(Some(view)) => view,
            other => panic!("no message but {other:?}"),
        }
    };
    let told = last().await;
    assert_eq!(told.message.content, notice.live.content);
    assert!(told.is_deliverable());
    delete(&world, &tea).await;
    assert!(!last().await.is_deliverable());
}
