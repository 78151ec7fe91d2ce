//! Mentions of groups and of everyone: one row each, whatever the number of users they address.

use std::sync::Arc;

use eddyline_model::messages::{Draft, Message, MessageQuery};
use eddyline_model::tags::{Cohort, CohortMarks, Tags, unread_tag};
use eddyline_model::{MessageId, UserId};

use crate::changes::{change, delete};
use crate::home::{Home, on_shared_databases};
use crate::schema::{execute, number};
use crate::world::{World, chat, mentioning};

on_shared_databases!(
    a_mention_is_one_row_whomever_it_addresses,
    groups_and_everyone_are_told_apart,
    a_cohort_goes_with_the_last_message_that_addresses_it,
    a_mark_that_was_taken_off_is_not_found,
    marks_that_were_spelled_out_are_shown_and_found_as_before,
    a_mark_of_no_user_finds_nothing,
    any_number_of_cohorts_is_mentioned_behind_a_marker,
    mentions_of_others_hide_none_and_a_bounded_number_is_counted,
    an_edit_makes_no_new_cohort_where_there_are_many,
);

/// Users with the numbers from `first` on, most of whom do not exist here.
fn users(first: i64, count: i64) -> Vec<UserId> {
    (first..first + count).map(UserId).collect()
}

async fn find_unread(world: &World, user: i64) -> Vec<i64> {
    let query = MessageQuery {
        tags: vec![format!(":unread:{user}")],
        ..MessageQuery::default()
    };
    world.find(query).await
}

async fn count(world: &World, user: UserId) -> i64 {
    let (room, start) = (world.main, MessageId(0));
    let count = world.read(move |reader| {
        reader
            .members()
            .count_unread_mentions(room, user, (start, start), 100)
    });
    count.await
}

async fn mentioned(world: &World, id: i64, user: UserId) -> bool {
    let room = world.main;
    let found = world.read(move |reader| {
        reader
            .notifications()
            .list_mentioned(room, &[MessageId(id)], &[user])
    });
    found.await.contains(&(MessageId(id), user))
}

/// A message to these cohorts, which its author is left out of.
fn to(world: &World, cohorts: &[&[UserId]]) -> Draft {
    let cohorts = cohorts
        .iter()
        .map(|users| Arc::new(Cohort::of(users.to_vec())));
    let marks = CohortMarks {
        place: 1,
        cohorts: cohorts.collect(),
        without: vec![world.ann],
    };
    Draft {
        tags: Tags::new(
            vec![":user:crew".to_owned(), "late".to_owned()],
            Some(marks),
        ),
        ..chat(world.main, world.ann, "hey")
    }
}

async fn a_mention_is_one_row_whomever_it_addresses(home: Arc<Home>) {
    let world = World::new(&home).await;
    let everyone = users(1, 3_000);
    let drafts: Vec<Draft> = (0..50)
        .map(|_| mentioning(&[], &everyone, chat(world.main, world.ann, "hey")))
        .collect();
    let shown = drafts[0].tags.to_vec();
    assert_eq!(
        shown.len(),
        3_000,
        "everyone but the author, and the mention"
    );
    assert_eq!(drafts[0].rows(), 6);
    for part in drafts.chunks(10) {
        let part = part.to_vec();
        let append = world.store.write(move |tx| tx.messages().append(&part));
        append.await.expect("posted");
    }
    assert_eq!(
        number(&home.url, "select count(*) as value from mentions"),
        50
    );
    assert_eq!(
        number(&home.url, "select count(*) as value from cohorts"),
        1
    );
    let longest = number(&home.url, "select max(length(tags)) as value from messages");
    assert!(longest < 60, "{longest} characters of tags");
    assert_eq!(world.view(MessageId(50)).await.message.tags.to_vec(), shown);
    assert_eq!(count(&world, world.bob).await, 50);
    assert_eq!(count(&world, world.ann).await, 0, "the author");
}

async fn groups_and_everyone_are_told_apart(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, cid) = (world.ann, world.bob, world.cid);
    let (crew, others) = ([ann, bob, UserId(77)], [cid, UserId(177), UserId(78)]);
    world.say(to(&world, &[&crew])).await;
    world.say(to(&world, &[&others])).await;
    let both = world
        .say(to(&world, &[&others, &[bob, cid, UserId(79)]]))
        .await;
    let shown = [
        ":user:crew",
        ":unread:3",
        ":unread:177",
        ":unread:78",
        ":unread:2",
        ":unread:79",
        "late",
    ];
    assert_eq!(both.message.tags, shown);
    assert_eq!(world.view(both.message.id).await.message.tags, shown);
    for (user, found) in [
        (ann.0, vec![]),
        (bob.0, vec![1, 3]),
        (cid.0, vec![2, 3]),
        (77, vec![1]),
        (177, vec![2, 3]),
        (7, vec![]),
    ] {
        assert_eq!(find_unread(&world, user).await, found, "{user}");
        assert_eq!(
            count(&world, UserId(user)).await,
            found.len() as i64,
            "{user}"
        );
        for id in 1..=3 {
            let is_mentioned = mentioned(&world, id, UserId(user)).await;
            assert_eq!(is_mentioned, found.contains(&id), "{user} in {id}");
        }
    }
}

async fn a_cohort_goes_with_the_last_message_that_addresses_it(home: Arc<Home>) {
    let world = World::new(&home).await;
    let crew = users(1, 100);
    let first = world.say(to(&world, &[&crew])).await.message.clone();
    let second = world.say(to(&world, &[&crew])).await.message.clone();
    let cohorts = || number(&home.url, "select count(*) as value from cohorts");
    assert_eq!(cohorts(), 1);
    delete(&world, &first).await;
    assert_eq!(cohorts(), 1);
    let silent = Message {
        tags: Tags::default(),
        ..second.clone()
    };
    change(&world, &second, &silent).await;
    assert_eq!(cohorts(), 0);
    assert_eq!(
        number(&home.url, "select count(*) as value from mentions"),
        0
    );
    assert_eq!(
        world.say(to(&world, &[&crew])).await.message.tags,
        second.tags
    );
    assert_eq!(find_unread(&world, 2).await, [3]);
}

async fn a_mark_that_was_taken_off_is_not_found(home: Arc<Home>) {
    let world = World::new(&home).await;
    let everyone = users(1, 300);
    let draft = mentioning(&[], &everyone, chat(world.main, world.ann, "all"));
    let before = world.say(draft).await.message.clone();
    let mut shown = before.tags.to_vec();
    shown.retain(|tag| *tag != unread_tag(world.bob));
    let after = Message {
        tags: Tags::compact(shown.clone(), before.tags.cohorts()),
        ..before.clone()
    };
    change(&world, &before, &after).await;
    assert_eq!(world.view(before.id).await.message.tags.to_vec(), shown);
    assert_eq!(
        (
            count(&world, world.bob).await,
            count(&world, world.cid).await
        ),
        (0, 1)
    );
    assert_eq!(find_unread(&world, world.bob.0).await, [0; 0]);
    assert_eq!(
        number(&home.url, "select count(*) as value from mentions"),
        1
    );
    assert_eq!(
        number(&home.url, "select count(*) as value from cohorts"),
        1
    );
    // A new mention is unread for all.
    let again = Message {
        tags: Tags::default(),
        ..after.clone()
    };
    change(&world, &after, &again).await;
    change(&world, &again, &before).await;
    assert_eq!(count(&world, world.bob).await, 1);
}

/// Marks as earlier versions wrote them: a row for each member of a group, one for everyone.
async fn marks_that_were_spelled_out_are_shown_and_found_as_before(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (main, bob, cid) = (world.main, world.bob, world.cid);
    for text in ["everyone", "group", "by name"] {
        world.say(chat(main, world.ann, text)).await;
    }
    let marks = |users: &[i64]| {
        let marks = users.iter().map(|user| format!(":unread:{user}"));
        marks.collect::<Vec<_>>().join("\n")
    };
    let crowd: Vec<i64> = (3..400).collect();
    for (id, mention, unread) in [
        (1, ":user:everyone", &crowd),
        (2, ":user:crew", &vec![2, 3, 90]),
        (3, ":user:2", &vec![2]),
    ] {
        let tags = format!("tea\n{mention}\n{}", marks(unread));
        execute(
            &home.url,
            &format!(
                "update messages set tags = '{tags}' where room_id = {main} and id = {id}; \
                 insert into message_tags (room_id, tag, message_id) values ({main}, '{mention}', {id})"
            ),
        );
        let keys = if id == 1 { vec![0] } else { unread.clone() };
        for key in keys {
            execute(
                &home.url,
                &format!(
                    "insert into mentions (room_id, user_id, message_id, sender_id) values ({main}, {key}, {id}, 1)"
                ),
            );
        }
    }
    // Bob took his mark off the first.
    execute(
        &home.url,
        &format!(
            "insert into mentions_seen (room_id, user_id, message_id) values ({main}, {bob}, 1)"
        ),
    );
    let state = async || {
        let mut shown = Vec::new();
        for id in 1..=3 {
            shown.push(world.view(MessageId(id)).await.message.tags.to_vec());
        }
        let found = (
            find_unread(&world, bob.0).await,
            find_unread(&world, cid.0).await,
        );
        let counted = (count(&world, bob).await, count(&world, cid).await);
        (shown, found, counted)
    };
    let before = state().await;
    assert_eq!(before.1, (vec![2, 3], vec![1, 2]));
    assert_eq!(before.2, (2, 2));
    let found = world.read(move |reader| {
        reader
            .messages()
            .list_with_spelled_marks(main, MessageId(0), MessageId(9))
    });
    let found = found.await;
    assert_eq!(found, [MessageId(1), MessageId(2)]);
    let compact = world
        .store
        .write(move |tx| tx.messages().set_compact_marks(main, &found));
    compact.await.expect("rewritten");
    assert_eq!(state().await, before);
    let rest = world.read(move |reader| {
        reader
            .messages()
            .list_with_spelled_marks(main, MessageId(0), MessageId(9))
    });
    assert_eq!(rest.await, []);
    for (table, rows) in [("mentions", 3), ("mentions_seen", 0), ("cohorts", 2)] {
        let sql = format!("select count(*) as value from {table}");
        assert_eq!(number(&home.url, &sql), rows, "{table}");
    }
}

async fn a_mark_of_no_user_finds_nothing(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.say(to(&world, &[&users(1, 5)])).await;
    let key = number(&home.url, "select user_id as value from mentions");
    assert!(key < 0, "{key} is the key of a cohort");
    for user in [key, -key, 0, -1] {
        assert_eq!(find_unread(&world, user).await, [0; 0], "{user}");
    }
}

/// Cohorts of Bob alone, with the numbers from 1 on. There must be a cohort already.
fn insert_cohorts(world: &World, home: &Home, count: i64) {
    let (room, bob) = (world.main, world.bob);
    execute(
        &home.url,
        &format!(
            "insert into cohorts (room_id, id, digest, users) \
             with recursive t (n) as (select 1 union all select n + 1 from t where n < {count}) \
             select {room}, n, c.digest, ',{bob},' from t, (select digest from cohorts limit 1) c"
        ),
    );
}

async fn any_number_of_cohorts_is_mentioned_behind_a_marker(home: Arc<Home>) {
    let world = World::new(&home).await;
    let room = world.main;
    world.say(to(&world, &[&users(70, 9)])).await;
    // More than SQLite takes variables in a statement.
    insert_cohorts(&world, &home, 33_000);
    execute(
        &home.url,
        &format!(
            "insert into mentions (room_id, user_id, message_id, sender_id) \
             select {room}, -id, 1, 1 from cohorts where id <= 33000"
        ),
    );
    assert_eq!(count(&world, world.bob).await, 1);
    assert_eq!(count(&world, world.cid).await, 0);
    assert_eq!(find_unread(&world, world.bob.0).await, [1]);
    let ids: Vec<i64> = (1..=33_000).collect();
    let tags = (1..=33_000).map(|id| id.to_string()).collect::<Vec<_>>();
    execute(
        &home.url,
        &format!(
            "update messages set tags = ':user:crew\n\u{1}{}' where room_id = {room}",
            tags.join(",")
        ),
    );
    let view = world.view(MessageId(1)).await;
    assert_eq!(view.message.tags.cohorts().len(), ids.len());
}

async fn mentions_of_others_hide_none_and_a_bounded_number_is_counted(home: Arc<Home>) {
    let world = World::new(&home).await;
    let crew = [world.bob, UserId(77)];
    for _ in 0..3 {
        world.say(to(&world, &[&crew])).await;
    }
    let by_name = mentioning(&[world.bob], &[], chat(world.main, world.ann, "bob"));
    world.say(by_name).await;
    let others: Vec<Vec<UserId>> = (0..50).map(|group| users(100 + group, 3)).collect();
    let others: Vec<&[UserId]> = others.iter().map(Vec::as_slice).collect();
    let append = async |draft: Draft, count: usize| {
        let drafts = vec![draft; count];
        let append = world.store.write(move |tx| tx.messages().append(&drafts));
        append.await.expect("posted");
    };
    append(to(&world, &others), 120).await;
    assert_eq!(count(&world, world.bob).await, 4);
    assert_eq!(count(&world, world.cid).await, 0);
    append(to(&world, &[&crew]), 95).await;
    assert_eq!(count(&world, world.bob).await, 99);
    append(to(&world, &[&crew, &[world.bob]]), 400).await;
    assert_eq!(count(&world, world.bob).await, 100);
}

async fn an_edit_makes_no_new_cohort_where_there_are_many(home: Arc<Home>) {
    let world = World::new(&home).await;
    let everyone = users(1, 90);
    let draft = mentioning(&[], &everyone, chat(world.main, world.ann, "all"));
    let first = world.say(draft.clone()).await.message.clone();
    let second = world.say(draft).await.message.clone();
    let in_order_from = |message: &Message, mark: usize| {
        let mut shown = message.tags.to_vec();
        shown[1..].rotate_left(mark);
        Message {
            tags: Tags::compact(shown, message.tags.cohorts()),
            ..message.clone()
        }
    };
    let cohorts = || number(&home.url, "select count(*) as value from cohorts");
    let mentions = || number(&home.url, "select count(*) as value from mentions");
    insert_cohorts(&world, &home, 998);
    change(&world, &first, &in_order_from(&first, 3)).await;
    assert_eq!((cohorts(), mentions()), (1_000, 2));
    let after = in_order_from(&second, 7);
    change(&world, &second, &after).await;
    // The room loses that of both messages.
    assert_eq!((cohorts(), mentions()), (999, 90));
    let kept = world.view(second.id).await.message.clone();
    assert_eq!(kept.tags.to_vec(), after.tags.to_vec());
    assert_eq!(kept.tags.cohorts(), []);
    assert_eq!(count(&world, world.bob).await, 2);
    assert_eq!(count(&world, world.ann).await, 0, "the author");
    assert_eq!(find_unread(&world, world.bob.0).await, [1, 2]);
    assert!(mentioned(&world, 2, world.bob).await && !mentioned(&world, 2, world.ann).await);
    let silent = Message {
        tags: Tags::default(),
        ..kept.clone()
    };
    change(&world, &kept, &silent).await;
    assert_eq!((cohorts(), mentions()), (999, 1));
    world.say(to(&world, &[&users(40, 9)])).await;
    assert_eq!((cohorts(), mentions()), (1_000, 2), "a post makes one");
    world.say(to(&world, &[&users(50, 9)])).await;
    assert_eq!(cohorts(), 1_001, "a post makes one beyond the bound");
}
