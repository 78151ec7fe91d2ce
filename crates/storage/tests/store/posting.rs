//! Posting: numbers, repeats, comments and threads.

use std::sync::Arc;

use eddyline_model::messages::{Author, Draft, MessageKind, Placement, ThreadCounts};
use eddyline_model::{MessageId, RoomId, Seq, Timestamp};
use eddyline_storage::AppendOutcome;

use crate::home::{Home, on_every_database};
use crate::world::{World, added, chat, comment, texts};

on_every_database!(
    a_message_is_kept_as_it_was_posted,
    each_room_counts_its_messages_from_one,
    many_at_once_get_numbers_without_gaps,
    batches_of_any_length_are_kept_as_they_were_posted,
    a_repeat_with_the_same_uuid_gives_the_first_message,
    repeats_at_the_same_moment_give_one_message,
    a_draft_checked_before_access_changed_is_stale,
    there_is_no_posting_into_a_room_that_is_not_there,
    a_comment_joins_the_thread_of_what_it_answers,
    a_comment_needs_something_to_answer,
    a_comment_can_be_answered_only_by_its_parent,
    a_thread_counts_what_it_holds,
    a_message_goes_into_a_thread_by_its_beginning,
    the_first_answers_of_one_batch_are_all_counted,
);

async fn a_message_is_kept_as_it_was_posted(home: Arc<Home>) {
    let world = World::new(&home).await;
    let draft = Draft {
        author: Author::anonymous(Some("Zoë 🚀".into())),
        tags: texts(&["a", "b", ":url", "ü"]).into(),
        explicit_tags: texts(&["b"]),
        uuid: Some("id-1".into()),
        sent: Timestamp(1_234_567),
        ..chat(
            world.main,
            world.ann,
            "tabs\tand\nlines, 日本語 and 'quotes\" \\",
        )
    };
    let said = world.say(draft.clone()).await;
    let message = &said.message;
    assert_eq!(
        (message.room, message.id, message.event),
        (draft.room, MessageId(1), MessageKind::Message)
    );
    assert_eq!(
        (&message.content, &message.tags),
        (&draft.content, &draft.tags)
    );
    assert_eq!(
        (&message.author, &message.explicit_tags),
        (&draft.author, &draft.explicit_tags)
    );
    assert_eq!(
        (&message.uuid, message.sent, message.edited),
        (&draft.uuid, draft.sent, None)
    );
    assert_eq!(
        (message.thread_root, message.parent),
        (Some(MessageId(1)), None)
    );
    assert_eq!(world.view(MessageId(1)).await, *said);
}

async fn each_room_counts_its_messages_from_one(home: Arc<Home>) {
    let world = World::new(&home).await;
    for id in 1..=3 {
        for room in [world.main, world.side] {
            let said = world.say(chat(room, world.ann, "hello")).await;
            assert_eq!(said.message.id, MessageId(id));
        }
    }
    let later = Draft {
        sent: Timestamp(500),
        ..chat(world.main, world.ann, "older than the others")
    };
    world.say(later).await;
    let room = world.main;
    let flow = world
        .read(move |reader| reader.flows().find(room))
        .await
        .expect("the flow");
    assert_eq!(
        (flow.last_message_id, flow.last_message_at),
        (4, Some(Timestamp(1_000)))
    );
}

/// Shows: 2.19
async fn many_at_once_get_numbers_without_gaps(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mut posts = tokio::task::JoinSet::new();
    for n in 0..300 {
        let world = world.clone();
        let room = if n % 3 == 0 { world.side } else { world.main };
        posts.spawn(async move {
            let posted = world
                .post(chat(room, world.ann, &format!("message {n}")))
                .await;
            let event = posted.event.expect("a new message has a place in the log");
            (room, added(posted).message.id.0, event)
        });
    }
    let mut all = posts.join_all().await;
    all.sort_by_key(|(_, _, event)| event.seq);
    let seqs: Vec<i64> = all.iter().map(|(_, _, event)| event.seq.0).collect();
    assert_eq!(seqs, (1..=300).collect::<Vec<_>>());
    for (room, count) in [(world.main, 200), (world.side, 100)] {
        let ids: Vec<i64> = all
            .iter()
            .filter(|(r, _, _)| *r == room)
            .map(|(_, id, _)| *id)
            .collect();
        assert_eq!(
            ids,
            (1..=count).collect::<Vec<_>>(),
            "numbers and the log have one order"
        );
    }
}

async fn batches_of_any_length_are_kept_as_they_were_posted(home: Arc<Home>) {
    let world = World::new(&home).await;
    for length in [1, 3, 4, 5, 16, 17, 21, 37] {
        let drafts: Vec<Draft> = (0..length)
            .map(|n| Draft {
                uuid: (n % 2 == 0).then(|| format!("{length}-{n}")),
                author: if n % 3 == 0 {
                    Author::anonymous(Some(format!("Bot {n}")))
                } else {
                    Author::user(world.ann)
                },
                ..chat(world.main, world.ann, &format!("number {n} of {length}"))
            })
            .collect();
        let outcomes = world
            .store
            .write(move |tx| tx.messages().append(&drafts))
            .await
            .expect("they are posted")
            .0;
        assert_eq!(outcomes.len(), length);
        for outcome in outcomes {
            let AppendOutcome::Added(said) = outcome else {
                panic!("{outcome:?}")
            };
            assert_eq!(world.view(said.message.id).await, *said);
        }
    }
    let log = world
        .read(|reader| reader.log().list_after(Seq(0), 200))
        .await;
    let seqs: Vec<i64> = log.iter().map(|item| item.id.seq.0).collect();
    assert_eq!(seqs, (1..=104).collect::<Vec<_>>());
}

async fn a_repeat_with_the_same_uuid_gives_the_first_message(home: Arc<Home>) {
    let world = World::new(&home).await;
    let first = Draft {
        uuid: Some("one".into()),
        ..chat(world.main, world.ann, "hello")
    };
    world.say(first.clone()).await;
    let again = world.post(first.clone()).await;
    assert_eq!(
        (again.outcome, again.event),
        (AppendOutcome::Repeated(MessageId(1)), None)
    );

    let other_text = Draft {
        uuid: Some("one".into()),
        ..chat(world.main, world.ann, "bye")
    };
    let other_user = Draft {
        author: Author::user(world.bob),
        ..first.clone()
    };
    let nobody = Draft {
        author: Author::anonymous(None),
        ..first.clone()
    };
    for other in [other_text, other_user, nobody] {
        assert_eq!(world.post(other).await.outcome, AppendOutcome::UuidTaken);
    }
    let elsewhere = world
        .say(Draft {
            room: world.side,
            ..first
        })
        .await;
    assert_eq!(
        elsewhere.message.id,
        MessageId(1),
        "rooms have uuids of their own"
    );
    assert_eq!(world.read(|reader| reader.log().find_head()).await.seq.0, 2);
}

async fn repeats_at_the_same_moment_give_one_message(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mut posts = tokio::task::JoinSet::new();
    for n in 0..60 {
        let world = world.clone();
        let uuid = Some(format!("uuid {}", n % 6));
        let text = if n < 54 { "same" } else { "other" };
        posts.spawn(async move {
            world
                .post(Draft {
                    uuid,
                    ..chat(world.main, world.ann, text)
                })
                .await
                .outcome
        });
    }
    let outcomes = posts.join_all().await;
    let new = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, AppendOutcome::Added(_)))
        .count();
    assert_eq!(new, 6, "{outcomes:?}");

    let room = world.main;
    let twice = [0, 1].map(|_| Draft {
        uuid: Some("batch".into()),
        ..chat(room, world.ann, "one batch")
    });
    let taken = Draft {
        fingerprint: -1,
        ..twice[0].clone()
    };
    let (outcomes, _) = world
        .store
        .write(move |tx| {
            tx.messages()
                .append(&[twice[0].clone(), twice[1].clone(), taken.clone()])
        })
        .await
        .expect("a batch");
    assert!(matches!(&outcomes[0], AppendOutcome::Added(view) if view.message.id == MessageId(7)));
    assert_eq!(
        outcomes[1..],
        [
            AppendOutcome::Repeated(MessageId(7)),
            AppendOutcome::UuidTaken
        ]
    );
}

async fn a_draft_checked_before_access_changed_is_stale(home: Arc<Home>) {
    let world = World::new(&home).await;
    let room = world.main;
    let draft = Draft {
        access_version: Some(0),
        ..chat(room, world.ann, "hello")
    };
    world.say(draft.clone()).await;
    world
        .store
        .write(move |tx| tx.rooms().advance_access(room))
        .await
        .expect("access changes");
    assert_eq!(
        world.post(draft.clone()).await.outcome,
        AppendOutcome::Stale
    );
    let elsewhere = Draft {
        room: world.side,
        ..draft.clone()
    };
    world.say(elsewhere).await;
    let version = world
        .read(move |reader| reader.flows().find(room))
        .await
        .expect("the flow")
        .access_version;
    let said = world
        .say(Draft {
            access_version: Some(version),
            ..draft.clone()
        })
        .await;
    assert_eq!(said.message.id, MessageId(2));
    world
        .say(Draft {
            access_version: None,
            ..draft
        })
        .await;
}

async fn there_is_no_posting_into_a_room_that_is_not_there(home: Arc<Home>) {
    let world = World::new(&home).await;
    let posted = world.post(chat(RoomId(999), world.ann, "hello")).await;
    assert_eq!(
        (posted.outcome, posted.event),
        (AppendOutcome::NoRoom, None)
    );
}

async fn a_comment_joins_the_thread_of_what_it_answers(home: Arc<Home>) {
    let world = World::new(&home).await;
    let question = world
        .say(chat(world.main, world.ann, "what?\nsecond line"))
        .await;
    let id = question.message.id;
    let answer = world
        .say(comment(id, chat(world.main, world.bob, "that! #yes")))
        .await;
    assert_eq!(
        (answer.message.parent, answer.message.thread_root),
        (Some(id), Some(id))
    );
    assert_eq!(answer.message.tags, [":influx:1", "yes"]);
    assert_eq!(answer.parent_text.as_deref(), Some("what?\nsecond line"));
    let thread = answer.thread.as_ref().expect("a thread");
    assert_eq!(
        (thread.root, thread.root_text.as_str()),
        (id, "what?\nsecond line")
    );
    assert_eq!(thread.counts.internal_comments, 2);
    assert_eq!(world.view(answer.message.id).await, *answer);
}

async fn a_comment_needs_something_to_answer(home: Arc<Home>) {
    let world = World::new(&home).await;
    let elsewhere = world
        .say(chat(world.side, world.ann, "in another room"))
        .await
        .message
        .id;
    let orphan = world
        .post(comment(elsewhere, chat(world.main, world.bob, "answer")))
        .await;
    assert_eq!(
        (orphan.outcome, orphan.event),
        (AppendOutcome::NoParent, None)
    );

    let edit = Draft {
        event: MessageKind::MessageEdit,
        placement: Placement::Unthreaded,
        ..chat(world.main, world.ann, "{}")
    };
    let edit = world.say(edit).await.message.id;
    let answer = world
        .post(comment(edit, chat(world.main, world.bob, "answer")))
        .await;
    assert_eq!(
        answer.outcome,
        AppendOutcome::NoParent,
        "what lives on the stream only cannot be answered"
    );

    let (outcomes, _) = world
        .store
        .write({
            let (room, ann) = (world.main, world.ann);
            move |tx| {
                let into = Draft {
                    placement: Placement::InThread(MessageId(2)),
                    ..chat(room, ann, "into")
                };
                let answer = comment(MessageId(2), chat(room, ann, "answer"));
                tx.messages()
                    .append(&[chat(room, ann, "question"), answer, into])
            }
        })
        .await
        .expect("a batch");
    assert!(matches!(outcomes[0], AppendOutcome::Added(_)));
    assert_eq!(
        outcomes[1..],
        [AppendOutcome::NoParent, AppendOutcome::NoParent],
        "nobody can know a number in advance"
    );
}

async fn a_comment_can_be_answered_only_by_its_parent(home: Arc<Home>) {
    let world = World::new(&home).await;
    let question = world
        .say(chat(world.main, world.ann, "what?"))
        .await
        .message
        .id;
    let answer = world
        .say(comment(question, chat(world.main, world.bob, "that!")))
        .await
        .message
        .id;
    let nested = world
        .post(comment(answer, chat(world.main, world.ann, "nested")))
        .await;
    assert_eq!(
        (nested.outcome, nested.event),
        (AppendOutcome::ParentIsComment, None)
    );
    assert_eq!(
        world
            .say(comment(question, chat(world.main, world.ann, "thanks")))
            .await
            .message
            .id,
        MessageId(3)
    );
}

/// Shows: 2.31
async fn a_thread_counts_what_it_holds(home: Arc<Home>) {
    let world = World::new(&home).await;
    let at = |event, placement, sent| Draft {
        event,
        placement,
        sent: Timestamp(sent),
        ..chat(world.main, world.ann, "text")
    };
    let first = world
        .say(at(MessageKind::Activity, Placement::StartsThread, 10))
        .await;
    assert_eq!(
        first.thread.as_ref().map(|thread| thread.counts.activities),
        Some(1)
    );
    let root = first.message.id;
    for (event, sent) in [
        (MessageKind::Activity, 40),
        (MessageKind::Discussion, 20),
        (MessageKind::Discussion, 21),
        (MessageKind::File, 30),
    ] {
        world.say(at(event, Placement::InThread(root), sent)).await;
    }
    let last = world
        .say(at(MessageKind::Comment, Placement::Answers(root), 35))
        .await;
    let counts = ThreadCounts {
        activities: 2,
        internal_comments: 2,
        external_comments: 2,
        created_at: Timestamp(10),
        updated_at: Timestamp(40),
    };
    assert_eq!(
        last.thread.as_ref().map(|thread| thread.counts),
        Some(counts)
    );
    let shown = world.view(root).await.thread.expect("a thread");
    assert_eq!(
        (shown.counts, shown.root_text.as_str()),
        (counts, ""),
        "an activity is no text"
    );
}

async fn a_message_goes_into_a_thread_by_its_beginning(home: Arc<Home>) {
    let world = World::new(&home).await;
    let root = world
        .say(chat(world.main, world.ann, "the beginning"))
        .await
        .message
        .id;
    let into = |thread| Draft {
        placement: Placement::InThread(thread),
        ..chat(world.main, world.bob, "more")
    };
    let more = world.say(into(root)).await;
    assert_eq!(
        (more.message.thread_root, more.message.parent),
        (Some(root), None)
    );
    assert_eq!(more.parent_text, None);
    assert_eq!(
        more.thread.as_ref().map(|thread| thread.root_text.as_str()),
        Some("the beginning")
    );
    assert_eq!(world.view(more.message.id).await, *more);

    assert_eq!(
        world.post(into(more.message.id)).await.outcome,
        AppendOutcome::NoParent,
        "it began no thread"
    );
    assert_eq!(
        world.post(into(MessageId(99))).await.outcome,
        AppendOutcome::NoParent
    );
    let loose = Draft {
        event: MessageKind::Action,
        placement: Placement::Unthreaded,
        ..chat(world.main, world.ann, "{}")
    };
    let loose = world.say(loose).await;
    assert_eq!((loose.message.thread_root, &loose.thread), (None, &None));
    assert_eq!(
        world.post(into(loose.message.id)).await.outcome,
        AppendOutcome::NoParent
    );
    let answer = world
        .say(comment(
            loose.message.id,
            chat(world.main, world.bob, "welcome"),
        ))
        .await;
    assert_eq!((answer.message.thread_root, &answer.thread), (None, &None));
}

async fn the_first_answers_of_one_batch_are_all_counted(home: Arc<Home>) {
    let world = World::new(&home).await;
    let root = world
        .say(chat(world.main, world.ann, "question"))
        .await
        .message
        .id;
    let room = world.main;
    let drafts: Vec<Draft> = (0..5)
        .map(|n| comment(root, chat(room, world.bob, &format!("answer {n}"))))
        .collect();
    world
        .store
        .write(move |tx| tx.messages().append(&drafts))
        .await
        .expect("a batch");
    assert_eq!(
        world
            .view(root)
            .await
            .thread
            .map(|thread| thread.counts.internal_comments),
        Some(6)
    );
}
