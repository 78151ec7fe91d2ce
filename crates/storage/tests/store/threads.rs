//! Threads that mirror outside items: found by the ids their sources gave them, kept in the state
//! that the last message brought, listed by their last change.

use std::sync::Arc;

use eddyline_model::items::{Color, Item, Status};
use eddyline_model::messages::{Author, Draft, MessageKind, MessageView, Placement, ThreadPost};
use eddyline_model::search;
use eddyline_model::sources::ThreadOwner;
use eddyline_model::threads::{ThreadQuery, ThreadSelection};
use eddyline_model::{ApplicationId, MessageId, SourceId, Timestamp};
use eddyline_storage::AppendOutcome;

use crate::home::{Home, on_every_database};
use crate::world::{World, added, chat, comment};

on_every_database!(
    a_mirror_begins_once_and_goes_on,
    each_keeper_has_ids_of_its_own,
    mirrors_of_one_batch_see_one_another,
    a_message_without_an_item_leaves_it,
    only_its_keeper_changes_an_item,
    chat_finds_mirrors_and_begins_none,
    threads_are_listed_by_their_last_change,
    the_last_message_of_each_thread_is_found,
    pages_go_on_within_one_moment,
    titles_are_found_by_the_beginnings_of_words,
    a_query_by_words_reads_so_many_threads_and_says_where_it_goes_on,
    a_removed_message_is_counted_no_more,
);

pub(crate) fn thread_owner(source: i64, application: i64) -> ThreadOwner {
    ThreadOwner {
        source: Some(SourceId(source)),
        application: Some(ApplicationId(application)),
    }
}

fn item(title: &str) -> Arc<Item> {
    let status = Some(Status {
        value: title.to_owned(),
        color: Some(Color::Lime),
    });
    Arc::new(Item {
        title: title.to_owned(),
        status,
        ..Item::default()
    })
}

/// An activity in the thread that the thread owner knows by this id.
pub(crate) fn activity(
    world: &World,
    thread_owner: ThreadOwner,
    external_id: &str,
    item: Option<Arc<Item>>,
) -> Draft {
    let content = r#"{"author":null,"title":"changed","body":"","attachments":[]}"#;
    Draft {
        event: MessageKind::Activity,
        author: Author::anonymous(None),
        placement: Placement::InMirror,
        thread: Some(Box::new(ThreadPost {
            thread_owner,
            source: None,
            external_id: Some(external_id.to_owned()),
            begins: true,
            item,
            title: "made".to_owned(),
        })),
        ..chat(world.main, world.ann, content)
    }
}

fn at(sent: i64, draft: Draft) -> Draft {
    Draft {
        sent: Timestamp(sent),
        ..draft
    }
}

/// The first message of a message's thread, its title, and how many activities it counts.
fn shown(view: &MessageView) -> (i64, String, i64) {
    let state = view.thread.as_ref().expect("a thread");
    let title = state
        .item
        .as_ref()
        .map_or(String::new(), |item| item.title.clone());
    (state.root.0, title, state.counts.activities)
}

/// Shows: 4.24
async fn a_mirror_begins_once_and_goes_on(home: Arc<Home>) {
    let world = World::new(&home).await;
    let first = world
        .say(activity(&world, ThreadOwner::FLOW, "7", None))
        .await;
    assert_eq!(shown(&first), (1, "made".to_owned(), 1));
    let second = world
        .say(activity(&world, ThreadOwner::FLOW, "7", Some(item("open"))))
        .await;
    assert_eq!(shown(&second), (1, "open".to_owned(), 2));
    let other = world
        .say(activity(&world, ThreadOwner::FLOW, "8", None))
        .await;
    assert_eq!(shown(&other), (3, "made".to_owned(), 1));
    assert_eq!(world.view(MessageId(2)).await, *second);
    assert_eq!(
        shown(&world.view(MessageId(1)).await),
        (1, "open".to_owned(), 2),
        "as it is now"
    );
}

async fn each_keeper_has_ids_of_its_own(home: Arc<Home>) {
    let world = World::new(&home).await;
    for (root, thread_owner) in [
        (1, ThreadOwner::FLOW),
        (2, thread_owner(1, 1)),
        (3, thread_owner(2, 1)),
    ] {
        let said = world.say(activity(&world, thread_owner, "7", None)).await;
        assert_eq!(shown(&said).0, root, "{thread_owner:?}");
    }
    let elsewhere = Draft {
        room: world.side,
        ..activity(&world, ThreadOwner::FLOW, "7", None)
    };
    let said = world.say(elsewhere).await;
    assert_eq!(shown(&said), (1, "made".to_owned(), 1));
}

/// Shows: 2.31
async fn mirrors_of_one_batch_see_one_another(home: Arc<Home>) {
    let world = World::new(&home).await;
    let drafts = vec![
        activity(&world, ThreadOwner::FLOW, "7", Some(item("a"))),
        activity(&world, ThreadOwner::FLOW, "8", None),
        activity(&world, ThreadOwner::FLOW, "7", Some(item("b"))),
        activity(&world, ThreadOwner::FLOW, "7", None),
        activity(&world, thread_owner(1, 1), "7", Some(item("c"))),
        activity(&world, ThreadOwner::FLOW, "8", Some(item("d"))),
    ];
    let (outcomes, _) = world
        .store
        .write(move |tx| tx.messages().append(&drafts))
        .await
        .expect("a batch");
    let views = outcomes.into_iter().map(|outcome| match outcome {
        AppendOutcome::Added(view) => shown(&view),
        other => panic!("not a new message but {other:?}"),
    });
    // Each shows its thread as it left it, whatever came later.
    let expected = [
        (1, "a", 1),
        (2, "made", 1),
        (1, "b", 2),
        (1, "b", 3),
        (5, "c", 1),
        (2, "d", 2),
    ];
    let expected = expected.map(|(root, title, count)| (root, title.to_owned(), count));
    assert_eq!(views.collect::<Vec<_>>(), expected);
    assert_eq!(
        shown(&world.view(MessageId(1)).await),
        (1, "b".to_owned(), 3)
    );
    assert_eq!(
        shown(&world.view(MessageId(2)).await),
        (2, "d".to_owned(), 2)
    );
}

async fn a_message_without_an_item_leaves_it(home: Arc<Home>) {
    let world = World::new(&home).await;
    world
        .say(activity(&world, ThreadOwner::FLOW, "7", Some(item("open"))))
        .await;
    let id = MessageId(1);
    for draft in [
        activity(&world, ThreadOwner::FLOW, "7", None),
        comment(id, chat(world.main, world.bob, "hm")),
        Draft {
            placement: Placement::InThread(id),
            ..chat(world.main, world.bob, "so")
        },
    ] {
        let said = world.say(draft).await;
        assert_eq!(shown(&said).1, "open");
        assert_eq!(world.view(said.message.id).await, *said);
    }
    let counts = world.view(id).await.thread.expect("a thread").counts;
    assert_eq!(
        (
            counts.activities,
            counts.internal_comments,
            counts.external_comments
        ),
        (2, 2, 0)
    );
}

/// Shows: 3.18
async fn only_its_keeper_changes_an_item(home: Arc<Home>) {
    let world = World::new(&home).await;
    world
        .say(activity(
            &world,
            thread_owner(1, 1),
            "7",
            Some(item("open")),
        ))
        .await;
    world.say(chat(world.main, world.ann, "hello")).await;
    let into = |root: i64, thread_owner: ThreadOwner, item: Option<Arc<Item>>| Draft {
        placement: Placement::InThread(MessageId(root)),
        ..activity(&world, thread_owner, "7", item)
    };
    for foreign in [thread_owner(2, 2), ThreadOwner::FLOW] {
        let refused = world.post(into(1, foreign, Some(item("mine")))).await;
        assert_eq!(
            (refused.outcome, refused.event),
            (AppendOutcome::ForeignThread, None),
            "{foreign:?}"
        );
        let said = world.say(into(1, foreign, None)).await;
        assert_eq!(shown(&said).1, "open", "{foreign:?}");
    }
    assert_eq!(
        world
            .post(into(2, thread_owner(1, 1), Some(item("x"))))
            .await
            .outcome,
        AppendOutcome::ForeignThread
    );
    let sibling = world
        .say(into(1, thread_owner(2, 1), Some(item("ours"))))
        .await;
    assert_eq!(shown(&sibling), (1, "ours".to_owned(), 4));
}

async fn chat_finds_mirrors_and_begins_none(home: Arc<Home>) {
    let world = World::new(&home).await;
    let said = |external_id: &str| {
        let mirror = activity(&world, ThreadOwner::FLOW, external_id, None);
        let thread = mirror.thread.map(|post| {
            Box::new(ThreadPost {
                begins: false,
                ..*post
            })
        });
        Draft {
            thread,
            placement: Placement::InMirror,
            ..chat(world.main, world.ann, "on it")
        }
    };
    assert_eq!(world.post(said("7")).await.outcome, AppendOutcome::NoParent);
    world
        .say(activity(&world, ThreadOwner::FLOW, "7", None))
        .await;
    let answer = world.say(said("7")).await;
    assert_eq!(answer.message.thread_root, Some(MessageId(1)));
    assert_eq!(world.post(said("8")).await.outcome, AppendOutcome::NoParent);
}

pub(crate) const ALL: ThreadQuery = ThreadQuery {
    threads: ThreadSelection::All,
    since: None,
    until: None,
    before: None,
    empty: false,
    search: None,
    status: None,
    limit: 100,
    last_message: false,
    reader: None,
};

async fn roots(world: &World, query: ThreadQuery) -> Vec<i64> {
    let room = world.main;
    let found = world
        .read(move |reader| reader.threads().list(room, &query, usize::MAX))
        .await
        .threads;
    found.iter().map(|thread| thread.root.0).collect()
}

async fn threads_are_listed_by_their_last_change(home: Arc<Home>) {
    let world = World::new(&home).await;
    world
        .say(at(10, chat(world.main, world.ann, "alone")))
        .await;
    world
        .say(at(20, chat(world.main, world.ann, "answered")))
        .await;
    world
        .say(at(30, activity(&world, thread_owner(1, 5), "7", None)))
        .await;
    world
        .say(at(40, activity(&world, ThreadOwner::FLOW, "7", None)))
        .await;
    world
        .say(at(
            50,
            comment(MessageId(2), chat(world.main, world.bob, "yes")),
        ))
        .await;
    world
        .say(at(60, activity(&world, thread_owner(1, 5), "7", None)))
        .await;
    let of = |threads| ThreadQuery { threads, ..ALL };
    for (query, expected) in [
        (ALL, &[3, 2, 4][..]),
        (ThreadQuery { empty: true, ..ALL }, &[3, 2, 4, 1]),
        (of(ThreadSelection::Chat), &[2]),
        (
            ThreadQuery {
                empty: true,
                ..of(ThreadSelection::Chat)
            },
            &[2, 1],
        ),
        (of(ThreadSelection::Inbox), &[3, 4]),
        (of(ThreadSelection::Of(ApplicationId(5))), &[3]),
        (of(ThreadSelection::Of(ApplicationId(6))), &[]),
        (
            ThreadQuery {
                since: Some(Timestamp(40)),
                ..ALL
            },
            &[3, 2],
        ),
        (
            ThreadQuery {
                until: Some(Timestamp(50)),
                empty: true,
                ..ALL
            },
            &[4, 1],
        ),
        (ThreadQuery { limit: 1, ..ALL }, &[3]),
    ] {
        assert_eq!(roots(&world, query.clone()).await, expected, "{query:?}");
    }
}

async fn titles_are_found_by_the_beginnings_of_words(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mirror = |id: &str, title: &str, status: Option<&str>| {
        let status = status.map(|value| Status {
            value: value.to_owned(),
            color: None,
        });
        let item = Item {
            title: title.to_owned(),
            status,
            ..Item::default()
        };
        activity(&world, ThreadOwner::FLOW, id, Some(Arc::new(item)))
    };
    let link = "<a href=\"https://x.example/hidden\">Retry</a> caf\u{e9} &amp; more";
    for draft in [
        chat(
            world.main,
            world.ann,
            "Deployment plans\nretry is in the second line",
        ),
        mirror("1", link, Some("Open")),
        mirror("2", "Retry later", None),
        mirror("3", "DEPLOYMENT-retry", Some("CLOSED")),
    ] {
        world.say(draft).await;
    }
    let by = |text: &str, status: Option<&str>| ThreadQuery {
        empty: true,
        search: (text != "*").then(|| search::query(text)),
        status: status.map(str::to_owned),
        ..ALL
    };
    for (query, expected) in [
        (by("deploy", None), &[4, 1][..]),
        (by("retry", None), &[4, 3, 2]),
        (by("RET dep", None), &[4]),
        // What stands in a tag or in the middle of a word is not found.
        (by("hidden", None), &[]),
        (by("cafe amp", None), &[]),
        (by("cafe", None), &[2]),
        (by("ploy", None), &[]),
        (by("more", None), &[2]),
        (by("*", Some("open")), &[2]),
        (by("retry", Some("closed")), &[4]),
        (by("later", Some("closed")), &[]),
        // No word to search for finds nothing.
        (by(",", None), &[]),
        (
            ThreadQuery {
                limit: 1,
                ..by("retry", None)
            },
            &[4],
        ),
        (
            ThreadQuery {
                threads: ThreadSelection::Chat,
                ..by("deploy", None)
            },
            &[1],
        ),
    ] {
        assert_eq!(roots(&world, query.clone()).await, expected, "{query:?}");
    }
}

async fn a_query_by_words_reads_so_many_threads_and_says_where_it_goes_on(home: Arc<Home>) {
    const MOST: usize = 2_000;
    let world = World::new(&home).await;
    world.say(chat(world.main, world.ann, "Needle one")).await;
    world.say(chat(world.main, world.ann, "needles two")).await;
    for _ in 0..MOST {
        world.say(chat(world.main, world.ann, "hay")).await;
    }
    let mut query = ThreadQuery {
        empty: true,
        search: Some(search::query("needle")),
        limit: 2,
        ..ALL
    };
    let mut pages = Vec::new();
    loop {
        let (room, asked) = (world.main, query.clone());
        let page = world
            .read(move |reader| reader.threads().list(room, &asked, usize::MAX))
            .await;
        pages.push(page.threads.len());
        let Some(place) = page.next else { break };
        query.until = Some(place.updated_at);
        query.before = Some(place.root);
    }
    // The second page is full, so the list may go on.
    assert_eq!(pages, [0, 2, 0]);
}

async fn the_last_message_of_each_thread_is_found(home: Arc<Home>) {
    let world = World::new(&home).await;
    world
        .say(at(10, chat(world.main, world.ann, "alone")))
        .await;
    world
        .say(at(20, chat(world.main, world.ann, "answered")))
        .await;
    for text in ["yes", "no\nmatter"] {
        let answer = comment(MessageId(2), chat(world.main, world.bob, text));
        world.say(at(30, answer)).await;
    }
    let room = world.main;
    let query = ThreadQuery {
        empty: true,
        last_message: true,
        ..ALL
    };
    let last = async || {
        let query = query.clone();
        let page = world
            .read(move |reader| reader.threads().list(room, &query, usize::MAX))
            .await;
        let lines = page.last_messages.into_iter();
        let lines = lines.map(|(root, last)| (root.0, last.id.0, last.user, last.text));
        lines.collect::<Vec<_>>()
    };
    let alone = (1, 1, Some(world.ann), "alone".to_owned());
    let answered = |id, text: &str| (2, id, Some(world.bob), text.to_owned());
    assert_eq!(last().await, [alone.clone(), answered(4, "no")]);
    // Without its last message the one before is the last.
    let gone = world.view(MessageId(4)).await.message;
    world
        .store
        .write(move |tx| tx.messages().delete(&gone))
        .await
        .expect("it is removed");
    assert_eq!(last().await, [alone, answered(3, "yes")]);
}

/// Shows: 4.36
async fn pages_go_on_within_one_moment(home: Arc<Home>) {
    let world = World::new(&home).await;
    for number in 0..20 {
        let sent = 100 + number / 8;
        let draft = match number % 2 {
            0 => activity(&world, ThreadOwner::FLOW, &number.to_string(), None),
            _ => chat(world.main, world.ann, "hello"),
        };
        world.say(at(sent, draft)).await;
    }
    for limit in 1..=21 {
        let mut query = ThreadQuery {
            empty: true,
            limit,
            ..ALL
        };
        let mut all = Vec::new();
        loop {
            let (room, asked) = (world.main, query.clone());
            let page = world
                .read(move |reader| reader.threads().list(room, &asked, usize::MAX))
                .await
                .threads;
            all.extend(page.iter().map(|thread| thread.root.0));
            let Some(last) = page.last().filter(|_| page.len() as i64 == limit) else {
                break;
            };
            query.until = Some(last.counts.updated_at);
            query.before = Some(last.root);
        }
        assert_eq!(
            all,
            (1..=20).rev().collect::<Vec<_>>(),
            "in pages of {limit}"
        );
    }
}

async fn a_removed_message_is_counted_no_more(home: Arc<Home>) {
    let world = World::new(&home).await;
    world
        .say(activity(&world, ThreadOwner::FLOW, "7", Some(item("open"))))
        .await;
    world
        .say(activity(&world, ThreadOwner::FLOW, "7", None))
        .await;
    let third = world
        .say(activity(&world, ThreadOwner::FLOW, "7", Some(item("open"))))
        .await;
    let room = world.main;
    // The state goes with the message that brought it last.
    for (id, left, state) in [(1, 2, Some("open")), (2, 1, Some("open")), (3, 0, None)] {
        let gone = world.view(MessageId(id)).await.message;
        world
            .store
            .write(move |tx| tx.messages().delete(&gone))
            .await
            .expect("it is removed");
        let thread = world
            .read(move |reader| reader.threads().find(room, MessageId(1)))
            .await
            .expect("a thread");
        assert_eq!(thread.counts.activities, left);
        assert_eq!(thread.item.as_ref().map(|item| item.title.as_str()), state);
    }
    assert_eq!(roots(&world, ALL).await, [0; 0]);
    assert_eq!(roots(&world, ThreadQuery { empty: true, ..ALL }).await, [1]);
    let again = added(
        world
            .post(activity(&world, ThreadOwner::FLOW, "7", Some(item("shut"))))
            .await,
    );
    assert_eq!(
        (shown(&again), third.message.thread_root),
        ((1, "shut".to_owned(), 1), Some(MessageId(1)))
    );
}
