//! Lists and searches, by example. Random ones stand in `random`.

use std::sync::Arc;

use eddyline_model::messages::{Draft, MessageKind, MessageQuery, Placement, Sort};
use eddyline_model::search::{self, SearchTokens};
use eddyline_model::{MessageId, RoomId};

use crate::home::{Home, on_every_database};
use crate::world::{World, chat, comment, texts, words};

on_every_database!(
    a_list_has_the_latest_in_their_order,
    skip_counts_from_the_end_that_sort_chooses,
    a_list_is_narrowed_by_numbers,
    a_list_is_narrowed_by_kind,
    what_lives_on_the_stream_only_is_not_listed,
    a_list_is_narrowed_by_tags,
    a_search_needs_every_word,
    words_with_many_longer_ones_are_found_like_others,
    a_phrase_is_looked_for_in_so_many_messages_and_then_behind_them,
    a_search_stays_in_its_room,
    a_search_is_narrowed_by_tags_and_kind,
    a_thread_and_comments_are_listed,
    numbers_of_no_message_are_passed_over,
    a_narrowed_search_looks_at_so_many_messages_and_goes_on_behind_them,
    a_list_of_a_user_looks_at_so_many_messages_and_goes_on_behind_them,
    a_search_that_tags_widen_goes_on_behind_what_it_looked_at,
);

async fn ten_messages(home: &Home) -> World {
    let world = World::new(home).await;
    for n in 1..=10 {
        let parity = if n % 2 == 0 { "#even" } else { "#odd" };
        let third = if n % 3 == 0 { "#three three" } else { "other" };
        world
            .say(chat(
                world.main,
                world.ann,
                &format!("number n{n} {parity} {third}"),
            ))
            .await;
    }
    world
}

async fn a_narrowed_search_looks_at_so_many_messages_and_goes_on_behind_them(home: Arc<Home>) {
    const LOOKED_AT: usize = 10_000;
    let world = World::new(&home).await;
    let mut drafts = vec![chat(world.main, world.ann, "needle"); LOOKED_AT + 1];
    drafts[0] = chat(world.main, world.ann, "needle #rare");
    world
        .store
        .write(move |tx| tx.messages().append(&drafts).map(drop))
        .await
        .expect("posted");
    let rare = MessageQuery {
        search: Some(words("needle")),
        tags: texts(&["rare"]),
        ..Default::default()
    };
    let list = async |query: MessageQuery| {
        let page = world
            .store
            .list(world.main, query, usize::MAX, |page| page)
            .await
            .expect("a list");
        (
            page.messages
                .iter()
                .map(|view| view.message.id.0)
                .collect::<Vec<_>>(),
            page.next,
        )
    };
    assert_eq!(list(rare.clone()).await, (vec![], Some(MessageId(2))));
    assert_eq!(
        list(MessageQuery {
            beyond: Some(MessageId(2)),
            ..rare.clone()
        })
        .await,
        (vec![1], None)
    );
    // At the edge nothing tells yet that nothing more follows.
    let beyond = |id| MessageQuery {
        beyond: Some(MessageId(id)),
        ..rare.clone()
    };
    assert_eq!(list(beyond(10_001)).await, (vec![1], Some(MessageId(1))));
    assert_eq!(list(beyond(10_000)).await, (vec![1], None));
    let oldest = MessageQuery {
        sort: Sort::Ascending,
        ..rare
    };
    assert_eq!(list(oldest).await, (vec![1], Some(MessageId(10_000))));
}

async fn a_list_of_a_user_looks_at_so_many_messages_and_goes_on_behind_them(home: Arc<Home>) {
    const LOOKED_AT: usize = 10_000;
    let world = World::new(&home).await;
    let mut drafts = vec![chat(world.main, world.ann, "other"); LOOKED_AT + 1];
    drafts[0] = chat(world.main, world.bob, "wanted");
    world
        .store
        .write(move |tx| tx.messages().append(&drafts).map(drop))
        .await
        .expect("posted");
    let list = async |beyond: Option<i64>| {
        let query = MessageQuery {
            by: Some(world.bob),
            beyond: beyond.map(MessageId),
            ..Default::default()
        };
        let page = world
            .store
            .list(world.main, query, usize::MAX, |page| page)
            .await
            .expect("a list");
        (page.messages.len(), page.next)
    };
    assert_eq!(list(None).await, (0, Some(MessageId(2))));
    assert_eq!(list(Some(2)).await, (1, None));
}

async fn a_search_that_tags_widen_goes_on_behind_what_it_looked_at(home: Arc<Home>) {
    const LOOKED_AT: usize = 10_000;
    let world = World::new(&home).await;
    let mut drafts = vec![chat(world.main, world.ann, "needle"); LOOKED_AT + 3];
    drafts[0] = Draft {
        event: MessageKind::Status,
        ..chat(world.main, world.ann, "needle")
    };
    drafts[1] = Draft {
        event: MessageKind::Status,
        ..chat(world.main, world.ann, "#rare")
    };
    drafts[2] = Draft {
        event: MessageKind::Status,
        ..chat(world.main, world.ann, "#rare needle")
    };
    drafts[LOOKED_AT + 2] = Draft {
        event: MessageKind::Status,
        ..chat(world.main, world.ann, "#rare")
    };
    world
        .store
        .write(move |tx| tx.messages().append(&drafts).map(drop))
        .await
        .expect("posted");
    let list = async |query: MessageQuery| {
        let page = world
            .store
            .list(world.main, query, usize::MAX, |page| page)
            .await
            .expect("a list");
        (
            page.messages
                .iter()
                .map(|view| view.message.id.0)
                .collect::<Vec<_>>(),
            page.next,
        )
    };
    let either = MessageQuery {
        search: Some(words("needle")),
        tags: texts(&["rare"]),
        tags_widen: true,
        limit: 2,
        ..Default::default()
    };
    assert_eq!(
        list(either.clone()).await,
        (vec![10_002, 10_003], Some(MessageId(10_002)))
    );
    let oldest = MessageQuery {
        sort: Sort::Ascending,
        skip: 1,
        ..either.clone()
    };
    assert_eq!(list(oldest).await, (vec![2, 3], Some(MessageId(3))));

    // Those with the words are looked at down to number 3, and those with the tags no further.
    let statuses = MessageQuery {
        events: vec![MessageKind::Status],
        limit: 30,
        ..either
    };
    assert_eq!(
        list(statuses.clone()).await,
        (vec![3, 10_003], Some(MessageId(3)))
    );
    assert_eq!(
        list(MessageQuery {
            beyond: Some(MessageId(3)),
            ..statuses.clone()
        })
        .await,
        (vec![1, 2], None)
    );
    let oldest = MessageQuery {
        sort: Sort::Ascending,
        ..statuses
    };
    assert_eq!(
        list(oldest.clone()).await,
        (vec![1, 2, 3], Some(MessageId(10_001)))
    );
    assert_eq!(
        list(MessageQuery {
            beyond: Some(MessageId(10_001)),
            ..oldest
        })
        .await,
        (vec![10_003], None)
    );
}

fn limited(limit: i64, skip: i64, sort: Sort) -> MessageQuery {
    MessageQuery {
        limit,
        skip,
        sort,
        ..Default::default()
    }
}

async fn a_list_has_the_latest_in_their_order(home: Arc<Home>) {
    let world = ten_messages(&home).await;
    assert_eq!(
        world.find(limited(3, 0, Sort::Descending)).await,
        [8, 9, 10]
    );
    assert_eq!(world.find(limited(3, 0, Sort::Ascending)).await, [1, 2, 3]);
    assert_eq!(
        world.find(limited(100, 0, Sort::Descending)).await,
        (1..=10).collect::<Vec<_>>()
    );
    assert_eq!(
        world.find_in(world.side, MessageQuery::default()).await,
        [0; 0]
    );
    assert_eq!(
        world.find_in(RoomId(999), MessageQuery::default()).await,
        [0; 0]
    );
}

async fn skip_counts_from_the_end_that_sort_chooses(home: Arc<Home>) {
    let world = ten_messages(&home).await;
    assert_eq!(world.find(limited(3, 2, Sort::Descending)).await, [6, 7, 8]);
    assert_eq!(world.find(limited(3, 2, Sort::Ascending)).await, [3, 4, 5]);
    assert_eq!(world.find(limited(3, 9, Sort::Descending)).await, [1]);
    assert_eq!(world.find(limited(3, 10, Sort::Ascending)).await, [0; 0]);
    for (search, tags) in [
        (Some(words("number")), vec![]),
        (None, texts(&["even"])),
        (Some(words("number")), texts(&["even"])),
    ] {
        let evens = !tags.is_empty();
        let query = |sort| MessageQuery {
            search: search.clone(),
            tags: tags.clone(),
            ..limited(2, 1, sort)
        };
        let (last, first) = if evens {
            ([6, 8], [4, 6])
        } else {
            ([8, 9], [2, 3])
        };
        assert_eq!(
            world.find(query(Sort::Descending)).await,
            last,
            "{search:?} {tags:?}"
        );
        assert_eq!(
            world.find(query(Sort::Ascending)).await,
            first,
            "{search:?} {tags:?}"
        );
    }
}

async fn a_list_is_narrowed_by_numbers(home: Arc<Home>) {
    let world = ten_messages(&home).await;
    let between = |since, until, limit, sort| MessageQuery {
        since: Some(MessageId(since)),
        until: Some(MessageId(until)),
        ..limited(limit, 0, sort)
    };
    assert_eq!(
        world.find(between(3, 8, 30, Sort::Descending)).await,
        [4, 5, 6, 7]
    );
    assert_eq!(world.find(between(3, 8, 2, Sort::Descending)).await, [6, 7]);
    assert_eq!(world.find(between(3, 8, 2, Sort::Ascending)).await, [4, 5]);
    assert_eq!(world.find(between(8, 3, 30, Sort::Ascending)).await, [0; 0]);
    let even = MessageQuery {
        tags: texts(&["even"]),
        ..between(3, 8, 30, Sort::Ascending)
    };
    assert_eq!(world.find(even).await, [4, 6]);
    let ignored = MessageQuery {
        search: Some(words("three")),
        ..between(3, 8, 30, Sort::Ascending)
    };
    assert_eq!(
        world.find(ignored).await,
        [3, 6, 9],
        "a search looks at all"
    );
}

async fn every_kind(home: &Home) -> World {
    let world = World::new(home).await;
    for event in MessageKind::ALL {
        let placement = if event.starts_thread() {
            Placement::StartsThread
        } else {
            Placement::Unthreaded
        };
        let search_tokens = if event.has_text() {
            search::tokens("word")
        } else {
            SearchTokens::default()
        };
        let draft = chat(world.main, world.ann, "word #tag");
        world
            .say(Draft {
                event,
                placement,
                search_tokens,
                ..draft
            })
            .await;
    }
    world
}

async fn a_list_is_narrowed_by_kind(home: Arc<Home>) {
    let world = every_kind(&home).await;
    for tags in [vec![], texts(&["tag"])] {
        for (events, found) in [
            (vec![MessageKind::Message], vec![1]),
            (vec![MessageKind::Message, MessageKind::File], vec![1, 4]),
            (vec![MessageKind::File, MessageKind::Mail], vec![4, 8]),
            (vec![MessageKind::Action], vec![7]),
            (vec![MessageKind::TagChange], vec![10]),
        ] {
            let query = MessageQuery {
                events,
                tags: tags.clone(),
                ..Default::default()
            };
            assert_eq!(world.find(query.clone()).await, found, "{query:?}");
        }
    }
}

async fn what_lives_on_the_stream_only_is_not_listed(home: Arc<Home>) {
    let world = every_kind(&home).await;
    // Only text has words.
    for (tags, search, last) in [
        (vec![], None, 8),
        (texts(&["tag"]), None, 8),
        (vec![], Some(words("word")), 3),
    ] {
        let query = MessageQuery {
            tags,
            search,
            ..Default::default()
        };
        assert_eq!(
            world.find(query.clone()).await,
            (1..=last).collect::<Vec<_>>(),
            "{query:?}"
        );
    }
}

async fn a_list_is_narrowed_by_tags(home: Arc<Home>) {
    let world = ten_messages(&home).await;
    world
        .say(chat(world.side, world.ann, "#even #three in another room"))
        .await;
    let query = |tags: &[&str], any_tag| MessageQuery {
        tags: texts(tags),
        any_tag,
        ..Default::default()
    };
    assert_eq!(world.find(query(&["even"], false)).await, [2, 4, 6, 8, 10]);
    assert_eq!(world.find(query(&["even", "three"], false)).await, [6]);
    assert_eq!(world.find(query(&["odd", "three"], false)).await, [3, 9]);
    assert_eq!(
        world.find(query(&["even", "three"], true)).await,
        [2, 3, 4, 6, 8, 9, 10]
    );
    assert_eq!(world.find(query(&["even", "odd"], false)).await, [0; 0]);
    assert_eq!(world.find(query(&["unknown"], false)).await, [0; 0]);
    assert_eq!(
        world.find(query(&["unknown", "three"], true)).await,
        [3, 6, 9]
    );
    assert_eq!(
        world.find(query(&["three", "three"], false)).await,
        [3, 6, 9]
    );
    assert_eq!(world.find(query(&["it's ? $1 \" %"], false)).await, [0; 0]);
}

async fn a_search_needs_every_word(home: Arc<Home>) {
    let world = World::new(&home).await;
    for text in [
        "alpha beta",
        "beta gamma",
        "alp ha",
        "alphabet",
        "日本 語",
        "snake_case a1",
        "gamma alpha beta",
    ] {
        world.say(chat(world.main, world.ann, text)).await;
    }
    for (text, found) in [
        ("\"alpha\"", vec![1, 7]),
        ("alpha", vec![1, 4, 7]),
        ("beta", vec![1, 2, 7]),
        ("alpha beta", vec![1, 7]),
        ("gamma alpha", vec![7]),
        ("alph", vec![1, 4, 7]),
        ("al", vec![]),
        ("\"alp ha\"", vec![3]),
        ("\"beta alpha\"", vec![]),
        ("alpha-beta", vec![1, 7]),
        ("alpha.beta", vec![]),
        ("日本", vec![5]),
        ("snake_case", vec![6]),
        ("snake", vec![6]),
        ("a1", vec![6]),
        ("alpha unknown", vec![]),
        ("and", vec![]),
        ("", vec![]),
    ] {
        let query = MessageQuery {
            search: Some(words(text)),
            ..Default::default()
        };
        assert_eq!(world.find(query).await, found, "{text:?}");
    }
}

async fn words_with_many_longer_ones_are_found_like_others(home: Arc<Home>) {
    let world = World::new(&home).await;
    let texts = (1..=600).map(|n| format!("build{n}x of room{}", n % 7));
    let drafts: Vec<Draft> = texts
        .map(|text| chat(world.main, world.ann, &text))
        .collect();
    world
        .store
        .write(move |tx| tx.messages().append(&drafts).map(drop))
        .await
        .expect("posted");
    for (text, found) in [
        ("build599", vec![599]),
        (
            "build59",
            vec![59, 590, 591, 592, 593, 594, 595, 596, 597, 598, 599],
        ),
        ("build room3", vec![577, 584, 591, 598]),
    ] {
        let query = MessageQuery {
            search: Some(words(text)),
            first: Some(MessageId(if text == "build room3" { 571 } else { 1 })),
            ..Default::default()
        };
        assert_eq!(world.find(query).await, found, "{text:?}");
    }
}

async fn a_phrase_is_looked_for_in_so_many_messages_and_then_behind_them(home: Arc<Home>) {
    const LOOKED_AT: usize = 10_000;
    let world = World::new(&home).await;
    let mut drafts = vec![chat(world.main, world.ann, "whale blue"); LOOKED_AT + 1];
    drafts[0] = chat(world.main, world.ann, "a blue whale");
    drafts[LOOKED_AT - 50] = chat(world.main, world.ann, "Blue whale!");
    world
        .store
        .write(move |tx| tx.messages().append(&drafts).map(drop))
        .await
        .expect("posted");
    let list = async |beyond| {
        let query = MessageQuery {
            search: Some(words("\"blue whale\"")),
            beyond,
            ..Default::default()
        };
        let list = world.store.list(world.main, query, usize::MAX, |page| page);
        let page = list.await.expect("a list");
        let messages = page.messages.iter();
        let ids: Vec<i64> = messages.map(|view| view.message.id.0).collect();
        (ids, page.next)
    };
    let (ids, next) = list(None).await;
    assert_eq!((ids, next), (vec![9_951], Some(MessageId(2))));
    assert_eq!(list(next).await, (vec![1], None));
}

async fn a_search_stays_in_its_room(home: Arc<Home>) {
    let world = World::new(&home).await;
    for room in [world.main, world.side, world.main] {
        world.say(chat(room, world.ann, "needle")).await;
    }
    let query = MessageQuery {
        search: Some(words("needle")),
        ..Default::default()
    };
    assert_eq!(world.find_in(world.main, query.clone()).await, [1, 2]);
    assert_eq!(world.find_in(world.side, query.clone()).await, [1]);
    assert_eq!(world.find_in(RoomId(3), query).await, [0; 0]);
}

async fn a_search_is_narrowed_by_tags_and_kind(home: Arc<Home>) {
    let world = ten_messages(&home).await;
    world
        .say(comment(
            MessageId(1),
            chat(world.main, world.bob, "number eleven #odd"),
        ))
        .await;
    let number = |tags: &[&str], any_tag, events: &[MessageKind]| MessageQuery {
        search: Some(words("number")),
        tags: texts(tags),
        any_tag,
        events: events.to_vec(),
        ..Default::default()
    };
    assert_eq!(
        world.find(number(&["odd"], false, &[])).await,
        [1, 3, 5, 7, 9, 11]
    );
    assert_eq!(
        world
            .find(number(&["odd"], false, &[MessageKind::Comment]))
            .await,
        [11]
    );
    assert_eq!(
        world.find(number(&["odd", "three"], false, &[])).await,
        [3, 9]
    );
    assert_eq!(
        world.find(number(&["three", ":influx:1"], true, &[])).await,
        [3, 6, 9, 11]
    );
    assert_eq!(
        world
            .find(number(
                &["three", ":influx:1"],
                true,
                &[MessageKind::Message]
            ))
            .await,
        [3, 6, 9]
    );
    let ascending = MessageQuery {
        sort: Sort::Ascending,
        limit: 2,
        ..number(&[], false, &[])
    };
    assert_eq!(world.find(ascending).await, [1, 2]);
}

async fn a_thread_and_comments_are_listed(home: Arc<Home>) {
    let world = World::new(&home).await;
    let root = world
        .say(chat(world.main, world.ann, "question #tag"))
        .await
        .message
        .id;
    world.say(chat(world.main, world.ann, "another #tag")).await;
    world
        .say(comment(root, chat(world.main, world.bob, "answer")))
        .await;
    let into = Draft {
        placement: Placement::InThread(root),
        ..chat(world.main, world.cid, "into #tag")
    };
    let into = world.say(into).await.message.id;
    world
        .say(comment(
            into,
            chat(world.main, world.bob, "answer to that #tag"),
        ))
        .await;
    let in_thread = MessageQuery {
        thread_root: Some(root),
        ..Default::default()
    };
    assert_eq!(world.find(in_thread.clone()).await, [1, 3, 4, 5]);
    let latest = MessageQuery {
        limit: 2,
        skip: 1,
        ..in_thread.clone()
    };
    assert_eq!(world.find(latest).await, [3, 4]);
    let tagged = MessageQuery {
        tags: texts(&["tag"]),
        ..in_thread.clone()
    };
    assert_eq!(world.find(tagged).await, [1, 4, 5]);
    let found = MessageQuery {
        search: Some(words("answer")),
        ..in_thread.clone()
    };
    assert_eq!(world.find(found).await, [3, 5]);
    let comments = MessageQuery {
        thread_root: None,
        parent: Some(into),
        ..in_thread
    };
    assert_eq!(world.find(comments).await, [5]);
}

async fn numbers_of_no_message_are_passed_over(home: Arc<Home>) {
    let world = ten_messages(&home).await;
    let room = world.main;
    let found = world
        .read(move |reader| reader.messages().list_by_id(room, &[4, 99, 2, 4, -1, 0]))
        .await;
    assert_eq!(
        found.iter().map(|message| message.id.0).collect::<Vec<_>>(),
        [2, 4]
    );
    assert!(
        world
            .read(move |reader| reader.messages().list_by_id(room, &[]))
            .await
            .is_empty()
    );
    assert!(
        world
            .read(move |reader| reader.messages().list_views(room, vec![]))
            .await
            .is_empty()
    );
}
