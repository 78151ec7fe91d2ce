//! Editing and deleting messages, mentions, and writes that fail.

use std::sync::Arc;

use eddyline_model::log::{Control, LogBody};
use eddyline_model::messages::{Draft, Message, MessageQuery, Notice, Placement};
use eddyline_model::reading::ReadMarker;
use eddyline_model::tags::{TagChanges, Tags};
use eddyline_model::{CredentialId, GrantId, MessageId, Seq, Timestamp, UserId, search};
use eddyline_storage::{Abort, Error};

use crate::home::{Home, on_every_database};
use crate::world::{World, chat, comment, hash_tags, mentioning, texts, words};

on_every_database!(
    an_edit_changes_what_a_message_says_and_is_found_by,
    an_edit_of_tags_leaves_the_words,
    an_edit_changes_who_is_mentioned,
    a_user_whom_an_edit_mentions_in_place_of_everyone_has_it_unread,
    an_edit_shows_in_comments_and_threads,
    a_deleted_message_is_gone_but_its_place_in_the_log_stays,
    the_comments_of_a_deleted_message_stay,
    a_notice_has_the_text_of_its_message_as_it_is_when_it_is_read,
    a_change_of_tags_that_is_read_from_the_log_at_once_names_what_it_removed,
    mentions_are_counted_after_the_read_marker,
    a_mention_dealt_with_is_read,
    a_failed_write_leaves_nothing,
    a_change_decided_against_leaves_nothing_and_gives_the_reason,
    a_change_decided_against_keeps_what_it_wrote_if_it_says_so,
    a_write_tells_the_log_in_order,
);

/// The message with another text, and everything that follows from the text.
pub(crate) fn reworded(before: &Message, text: &str) -> Message {
    Message {
        content: text.into(),
        tags: hash_tags(text).into(),
        edited: Some(Timestamp(9_000)),
        ..before.clone()
    }
}

pub(crate) async fn change(world: &World, before: &Message, after: &Message) {
    let (before, after, words) = (
        before.clone(),
        after.clone(),
        search::tokens(&after.content),
    );
    world
        .store
        .write(move |tx| tx.messages().update(&before, &after, &words))
        .await
        .expect("the message is changed");
}

pub(crate) async fn delete(world: &World, gone: &Message) {
    let gone = gone.clone();
    world
        .store
        .write(move |tx| tx.messages().delete(&gone))
        .await
        .expect("the message is deleted");
}

fn tagged(tag: &str) -> MessageQuery {
    MessageQuery {
        tags: texts(&[tag]),
        ..Default::default()
    }
}

fn search(text: &str) -> MessageQuery {
    MessageQuery {
        search: Some(words(text)),
        ..Default::default()
    }
}

fn unread(user: UserId) -> MessageQuery {
    tagged(&format!(":unread:{user}"))
}

async fn an_edit_changes_what_a_message_says_and_is_found_by(home: Arc<Home>) {
    let world = World::new(&home).await;
    let before = world
        .say(chat(world.main, world.ann, "good morning #sun #tea"))
        .await
        .message
        .clone();
    let after = reworded(&before, "good night #moon #tea");
    change(&world, &before, &after).await;
    assert_eq!(world.view(before.id).await.message, after);
    for (query, found) in [
        (tagged("sun"), vec![]),
        (tagged("moon"), vec![1]),
        (tagged("tea"), vec![1]),
        (search("morning"), vec![]),
        (search("night"), vec![1]),
        (search("good moon"), vec![1]),
    ] {
        assert_eq!(world.find(query.clone()).await, found, "{query:?}");
    }
    let silent = Message {
        content: String::new(),
        tags: Tags::default(),
        ..after.clone()
    };
    change(&world, &after, &silent).await;
    assert_eq!(world.find(search("good")).await, [0; 0]);
    assert_eq!(world.find(tagged("tea")).await, [0; 0]);
    assert_eq!(world.view(before.id).await.message, silent);
}

async fn an_edit_of_tags_leaves_the_words(home: Arc<Home>) {
    let world = World::new(&home).await;
    let before = world
        .say(chat(world.main, world.ann, "hello #a"))
        .await
        .message
        .clone();
    let after = Message {
        tags: texts(&["b", "c"]).into(),
        explicit_tags: texts(&["b"]),
        ..before.clone()
    };
    change(&world, &before, &after).await;
    assert_eq!(world.find(search("hello")).await, [1]);
    assert_eq!(world.find(tagged("a")).await, [0; 0]);
    assert_eq!(world.find(tagged("b")).await, [1]);
    assert_eq!(world.view(before.id).await.message, after);
}

async fn an_edit_changes_who_is_mentioned(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, cid) = (world.ann, world.bob, world.cid);
    let draft = |users: &[UserId], everyone: &[UserId], text| {
        mentioning(users, everyone, chat(world.main, ann, text))
    };
    let before = world
        .say(draft(&[bob], &[], "for bob"))
        .await
        .message
        .clone();
    assert_eq!(
        (world.find(unread(bob)).await, world.find(unread(cid)).await),
        (vec![1], vec![])
    );

    let next = draft(&[cid], &[], "for cid");
    let second = Message {
        content: next.content,
        tags: next.tags,
        ..before.clone()
    };
    change(&world, &before, &second).await;
    assert_eq!(
        (world.find(unread(bob)).await, world.find(unread(cid)).await),
        (vec![], vec![1])
    );

    let next = draft(&[cid], &[ann, bob, cid], "for all, and cid");
    let third = Message {
        content: next.content,
        tags: next.tags,
        ..before.clone()
    };
    change(&world, &second, &third).await;
    assert_eq!(
        (world.find(unread(bob)).await, world.find(unread(cid)).await),
        (vec![1], vec![1])
    );
    assert_eq!(
        world.find(unread(ann)).await,
        [0; 0],
        "nobody is told of what they say themselves"
    );

    let fourth = reworded(&third, "for nobody");
    change(&world, &third, &fourth).await;
    assert_eq!(
        (world.find(unread(bob)).await, world.find(unread(cid)).await),
        (vec![], vec![])
    );
}

async fn a_user_whom_an_edit_mentions_in_place_of_everyone_has_it_unread(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (room, ann, bob, cid) = (world.main, world.ann, world.bob, world.cid);
    let draft = mentioning(&[], &[ann, bob, cid], chat(room, ann, "all"));
    let before = world.say(draft).await.message.clone();
    let after = Message {
        tags: vec![format!(":user:{bob}"), format!(":unread:{bob}")].into(),
        ..before.clone()
    };
    change(&world, &before, &after).await;
    assert_eq!(
        (world.find(unread(bob)).await, world.find(unread(cid)).await),
        (vec![1], vec![])
    );
}

async fn an_edit_shows_in_comments_and_threads(home: Arc<Home>) {
    let world = World::new(&home).await;
    let question = world
        .say(chat(world.main, world.ann, "what?"))
        .await
        .message
        .clone();
    let answer = world
        .say(comment(question.id, chat(world.main, world.bob, "that")))
        .await
        .message
        .id;
    change(&world, &question, &reworded(&question, "what then?")).await;
    let shown = world.view(answer).await;
    assert_eq!(shown.parent_text.as_deref(), Some("what then?"));
    assert_eq!(
        shown.thread.map(|thread| thread.root_text).as_deref(),
        Some("what then?")
    );
}

/// Shows: 3.13
async fn a_deleted_message_is_gone_but_its_place_in_the_log_stays(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (room, bob) = (world.main, world.bob);
    let draft = mentioning(
        &[bob],
        &[bob, world.cid],
        chat(room, world.ann, "hello #tag"),
    );
    let said = world
        .say(eddyline_model::messages::Draft {
            uuid: Some("u".into()),
            ..draft
        })
        .await;
    world.say(chat(room, world.ann, "second")).await;
    delete(&world, &said.message).await;

    assert_eq!(
        world
            .read(move |reader| reader.messages().find(room, MessageId(1)))
            .await,
        None
    );
    for query in [
        MessageQuery::default(),
        search("hello"),
        tagged("tag"),
        unread(bob),
        unread(world.cid),
    ] {
        let expected: &[i64] = if query == MessageQuery::default() {
            &[2]
        } else {
            &[]
        };
        assert_eq!(world.find(query.clone()).await, expected, "{query:?}");
    }
    assert_eq!(
        world
            .read(move |reader| reader.members().count_unread_mentions(
                room,
                bob,
                (MessageId(0), MessageId(0)),
                100
            ))
            .await,
        0
    );
    let log = world
        .read(|reader| reader.log().list_after(Seq(0), 10))
        .await;
    assert_eq!(log.len(), 2);
    assert_eq!(log[0].body, LogBody::Message(None));
    assert!(
        matches!(&log[1].body, LogBody::Message(Some(view)) if view.message.id == MessageId(2))
    );
    assert_eq!(
        world.say(chat(room, world.ann, "third")).await.message.id,
        MessageId(3),
        "numbers are not used again"
    );
}

async fn a_notice_has_the_text_of_its_message_as_it_is_when_it_is_read(home: Arc<Home>) {
    let world = World::new(&home).await;
    let first = world
        .say(chat(world.main, world.ann, "first"))
        .await
        .message
        .clone();
    let second = reworded(&first, "second");
    change(&world, &first, &second).await;
    let notice = Notice::edit(&second);
    let draft = Draft {
        event: notice.event,
        placement: Placement::Unthreaded,
        live: Some(Box::new(notice.live.clone())),
        ..chat(world.main, world.ann, &notice.kept)
    };
    let told = world.say(draft).await;
    assert_eq!(
        (&told.message.content, &told.subject),
        (&notice.live.content, &notice.live.subject)
    );

    let third = reworded(&second, "third");
    change(&world, &second, &third).await;
    let read = async || {
        let log = world
            .read(|reader| reader.log().list_after(Seq(1), 1))
            .await;
        match &log[0].body {
            LogBody::Message(Some(view)) => view.clone(),
            other => panic!("{other:?}"),
        }
    };
    let now = read().await;
    assert_eq!(now.message.content, Notice::edit(&third).live.content);
    assert_eq!(now.subject.as_deref(), Some(&third));
    delete(&world, &third).await;
    let now = read().await;
    assert_eq!((&now.message.content, &now.subject), (&notice.kept, &None));
    assert!(!now.is_deliverable());
}

async fn a_change_of_tags_that_is_read_from_the_log_at_once_names_what_it_removed(home: Arc<Home>) {
    let world = World::new(&home).await;
    let message = world
        .say(chat(world.main, world.ann, "tea"))
        .await
        .message
        .clone();
    let changes = TagChanges {
        add: vec![],
        remove: texts(&["old"]),
    };
    let notice = Notice::tag_change(&message, &changes);
    let draft = Draft {
        event: notice.event,
        placement: Placement::Unthreaded,
        live: Some(Box::new(notice.live)),
        ..chat(world.main, world.ann, &notice.kept)
    };
    let told = world.say(draft).await;
    let read = async |after: i64| {
        let mut items = world
            .read(move |reader| reader.log().list_after(Seq(after), 2))
            .await;
        let kept = items.clone();
        world.store.restore_live_notices(Seq(after), &mut items);
        (
            kept.last().expect("an entry").body.clone(),
            items.last().expect("an entry").body.clone(),
        )
    };
    let (kept, live) = read(0).await;
    assert_ne!(kept, live, "the log keeps less");
    assert_eq!(live, LogBody::Message(Some(told)));
    world.store.restore_live_notices(Seq(2), &mut []);
    let (kept, live) = read(0).await;
    assert_eq!(
        kept, live,
        "a reader that has gone past it hears no more than the log has"
    );
}

async fn the_comments_of_a_deleted_message_stay(home: Arc<Home>) {
    let world = World::new(&home).await;
    let question = world.say(chat(world.main, world.ann, "what?")).await;
    let answer = world
        .say(comment(
            question.message.id,
            chat(world.main, world.bob, "that"),
        ))
        .await;
    delete(&world, &question.message).await;
    let shown = world.view(answer.message.id).await;
    assert_eq!(shown.parent_text.as_deref(), Some(""));
    let thread = shown.thread.expect("the thread stays");
    assert_eq!(
        (thread.root, thread.root_text.as_str()),
        (question.message.id, "")
    );
    let before = answer.thread.as_ref().expect("a thread").counts;
    assert_eq!(
        thread.counts.internal_comments,
        before.internal_comments - 1
    );

    let late = world
        .post(comment(
            question.message.id,
            chat(world.main, world.cid, "late"),
        ))
        .await;
    assert_eq!(late.outcome, eddyline_storage::AppendOutcome::NoParent);
    let more = chat(world.main, world.cid, "more");
    let placement = eddyline_model::messages::Placement::InThread(question.message.id);
    let more = world
        .say(eddyline_model::messages::Draft { placement, ..more })
        .await;
    assert_eq!(
        more.thread
            .as_ref()
            .map(|thread| thread.counts.internal_comments),
        Some(2)
    );
    assert_eq!(world.view(more.message.id).await, *more);
}

/// Shows: 2.7
async fn mentions_are_counted_after_the_read_marker(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (room, ann, bob, cid) = (world.main, world.ann, world.bob, world.cid);
    for (author, users, everyone) in [
        (ann, vec![bob], false),
        (ann, vec![], true),
        (bob, vec![], true),
        (ann, vec![bob], true),
        (cid, vec![ann], false),
    ] {
        let everyone = if everyone {
            vec![ann, bob, cid]
        } else {
            vec![]
        };
        world
            .say(mentioning(&users, &everyone, chat(room, author, "hey")))
            .await;
    }
    world
        .say(mentioning(&[bob], &[], chat(world.side, ann, "elsewhere")))
        .await;
    let count = |user, after| {
        world.read(move |reader| {
            reader.members().count_unread_mentions(
                room,
                user,
                (MessageId(after), MessageId(after)),
                100,
            )
        })
    };
    assert_eq!(
        [
            count(ann, 0).await,
            count(bob, 0).await,
            count(cid, 0).await
        ],
        [2, 3, 3]
    );
    assert_eq!(
        [
            count(ann, 3).await,
            count(bob, 1).await,
            count(cid, 4).await
        ],
        [1, 2, 0]
    );
    assert_eq!(world.find(unread(bob)).await, [1, 2, 4]);
    assert_eq!(world.find(unread(ann)).await, [3, 5]);
}

async fn a_mention_dealt_with_is_read(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (room, bob, cid) = (world.main, world.bob, world.cid);
    world
        .say(mentioning(&[bob], &[], chat(room, world.ann, "bob")))
        .await;
    world
        .say(mentioning(&[], &[bob, cid], chat(room, world.ann, "all")))
        .await;
    world
        .say(mentioning(
            &[bob],
            &[bob, cid],
            chat(room, world.ann, "all and bob"),
        ))
        .await;
    for (id, left) in [(1, vec![2, 3]), (3, vec![2]), (2, vec![])] {
        world
            .store
            .write(move |tx| tx.messages().set_mention_seen(room, bob, MessageId(id)))
            .await
            .expect("seen");
        let count = world
            .read(move |reader| {
                reader
                    .members()
                    .count_unread_mentions(room, bob, (MessageId(0), MessageId(0)), 100)
            })
            .await;
        assert_eq!(count, left.len() as i64, "after {id}");
        assert_eq!(world.find(unread(bob)).await, left, "after {id}");
    }
    assert_eq!(
        world.find(unread(cid)).await,
        [2, 3],
        "others have their own marks"
    );
    assert_eq!(
        world.find(tagged(&format!(":user:{bob}"))).await,
        [1, 3],
        "the mention itself stays"
    );
}

async fn a_failed_write_leaves_nothing(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (room, ann) = (world.main, world.ann);
    world.say(chat(room, ann, "first")).await;
    let refused = world
        .store
        .write(move |tx| {
            tx.messages().append(&[chat(room, ann, "never #said")])?;
            tx.users().set_status(ann, Some("never"))?;
            tx.record_event(Control::UserEdit { user: ann });
            Err::<(), _>(Error::Refused("no"))
        })
        .await;
    assert!(matches!(refused, Err(Error::Refused("no"))));
    let twice = world
        .store
        .write(move |tx| tx.members().insert(room, ann, Timestamp(1)))
        .await;
    assert!(matches!(twice, Err(Error::Exists(_))), "{twice:?}");

    assert_eq!(
        world.read(|reader| reader.log().find_head()).await.seq,
        Seq(1)
    );
    assert_eq!(world.find(search("never")).await, [0; 0]);
    assert_eq!(
        world
            .read(move |reader| reader.users().find(ann))
            .await
            .and_then(|ann| ann.status),
        None
    );
    let next = world.post(chat(room, ann, "second")).await;
    assert_eq!(next.event.map(|event| event.seq), Some(Seq(2)));
    assert_eq!(crate::world::added(next).message.id, MessageId(2));
}

async fn a_change_decided_against_leaves_nothing_and_gives_the_reason(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mut feed = world.store.committed().expect("the feed");
    let (room, ann) = (world.main, world.ann);
    let change = |decided: Option<&'static str>| {
        world.store.transaction(move |tx| {
            let posted = tx.messages().append(&[chat(room, ann, "hardly #said")])?;
            tx.users().set_status(ann, Some("hardly"))?;
            tx.record_event(Control::UserEdit { user: ann });
            match decided {
                Some(reason) => Err(Abort::Rejected(reason)),
                None => Ok(posted.len()),
            }
        })
    };
    let refused = change(Some("not today")).await;
    assert!(
        matches!(refused, Err(Abort::Rejected("not today"))),
        "{refused:?}"
    );
    assert_eq!(
        world.read(|reader| reader.log().find_head()).await.seq,
        Seq(0)
    );
    assert_eq!(world.find(search("hardly")).await, [0; 0]);
    assert_eq!(world.find(tagged("said")).await, [0; 0]);
    assert_eq!(
        world
            .read(move |reader| reader.users().find(ann))
            .await
            .and_then(|ann| ann.status),
        None
    );
    assert!(feed.try_recv().is_err(), "nobody hears of it");

    let (posted, event) = change(None)
        .await
        .expect("the same is done without a reason against it");
    assert_eq!((posted, event.map(|event| event.seq)), (1, Some(Seq(2))));
    assert_eq!(world.find(search("hardly")).await, [1]);
    let broken = world
        .store
        .transaction(move |tx| -> Result<(), Abort<&'static str>> {
            Ok(tx.members().insert(room, ann, Timestamp(1))?)
        })
        .await;
    assert!(
        matches!(broken, Err(Abort::Store(Error::Exists(_)))),
        "{broken:?}"
    );
}

async fn a_change_decided_against_keeps_what_it_wrote_if_it_says_so(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mut feed = world.store.committed().expect("the feed");
    let ann = world.ann;
    let refused = world.store.transaction(move |tx| {
        tx.users().set_status(ann, Some("suspicious"))?;
        tx.record_event(Control::UserEdit { user: ann });
        Err::<(), _>(Abort::commit("not today"))
    });
    let Err(Abort::Commit {
        reason: "not today",
        event: Some(event),
    }) = refused.await
    else {
        panic!("it is refused, and committed");
    };
    assert_eq!(event.seq, Seq(1));
    assert_eq!(
        world
            .read(move |reader| reader.users().find(ann))
            .await
            .and_then(|ann| ann.status)
            .as_deref(),
        Some("suspicious")
    );
    let told = feed.try_recv().expect("the feed hears of it");
    assert_eq!(told.last().map(|item| item.id), Some(event));
}

async fn a_write_tells_the_log_in_order(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mut feed = world.store.committed().expect("the feed");
    let (room, ann, bob) = (world.main, world.ann, world.bob);
    let told = [
        Control::FlowAdd { room, user: ann },
        Control::FlowRemove { room, user: ann },
        Control::UserJoin { room, user: bob },
        Control::UserBlock { room, user: bob },
        Control::FlowChange { room },
        Control::FlowArchive { room },
        Control::UserEdit { user: bob },
        Control::Revoked { user: ann },
        Control::CredentialEnd {
            user: ann,
            credential: CredentialId(i64::MAX),
        },
        Control::GrantEnd {
            user: bob,
            grant: GrantId(3),
        },
        Control::OrganizationRemove { user: ann },
        Control::OrganizationChange,
        Control::GroupChange {
            organization: world.organization,
        },
        Control::FlowTokens { room },
        Control::Read {
            room,
            user: bob,
            marker: None,
            message: MessageId(7),
        },
        Control::Read {
            room,
            user: bob,
            marker: Some(ReadMarker::Chat),
            message: MessageId(8),
        },
        Control::Read {
            room,
            user: bob,
            marker: Some(ReadMarker::Inbox),
            message: MessageId(9),
        },
        Control::ThreadRead {
            room,
            user: bob,
            root: MessageId(2),
        },
    ];
    let controls = told.clone();
    let (outcomes, last) = world
        .store
        .write(move |tx| {
            for control in &controls {
                tx.record_event(control.clone());
            }
            tx.messages().append(&[chat(room, ann, "and a message")])
        })
        .await
        .expect("a write");
    assert_eq!(outcomes.len(), 1);
    let log = world
        .read(|reader| reader.log().list_after(Seq(0), 100))
        .await;
    assert_eq!(log.last().map(|item| item.id), last);
    assert_eq!(
        log.iter().map(|item| item.id.seq.0).collect::<Vec<_>>(),
        (1..=19).collect::<Vec<_>>()
    );
    for (item, control) in log.iter().zip(told) {
        assert_eq!(item.body, LogBody::Control(control));
    }
    assert_eq!(feed.recv().await, Some(log), "the feed has the same");
    let ((), nothing) = world.store.write(|_| Ok(())).await.expect("an empty write");
    assert_eq!(nothing, None);
    assert!(feed.try_recv().is_err());
}
