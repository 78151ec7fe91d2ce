//! A database is moved into another one while it is written to.

use std::collections::BTreeMap;
use std::sync::Arc;

use eddyline_model::RoomId;
use eddyline_model::messages::{Message, MessageQuery};
use eddyline_storage::copy::{
    CutOver, DatabaseMove, Dump, check_moved_references, give_up_move, moved_database,
};
use eddyline_storage::{Error, Store};
use serde_json::Value;

use crate::changes::{change, delete, reworded};
use crate::home::{Home, postgres, run, sqlite_file};
use crate::world::{World, chat, new_user, words};

macro_rules! from_each_to_each {
    ($($test:ident),+ $(,)?) => {
        $(mod $test {
            use super::*;

            #[test]
            fn sqlite_to_postgres() {
                run(sqlite_file(), |home| super::$test(home, postgres));
            }

            #[test]
            fn postgres_to_sqlite() {
                run(postgres(), |home| super::$test(home, sqlite_file));
            }

            #[test]
            fn sqlite_to_sqlite() {
                run(sqlite_file(), |home| super::$test(home, sqlite_file));
            }

            #[test]
            fn postgres_to_postgres() {
                run(postgres(), |home| super::$test(home, postgres));
            }
        })+
    };
}

from_each_to_each!(
    everything_arrives_that_is_written_meanwhile,
    a_move_goes_on_after_an_interruption,
    a_move_that_is_given_up_leaves_no_trace,
    nothing_else_uses_the_place_of_a_move,
);

const KEY: &[u8] = b"0123456789abcdef0123456789abcdef";

fn begin(from: &str, to: &str) -> Result<DatabaseMove, Error> {
    DatabaseMove::begin(from, to, Some(KEY), |_| {})
}

/// Runs blocking work beside the runtime.
async fn blocking<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    tokio::task::spawn_blocking(work).await.expect("a thread")
}

async fn say(world: &World, room: RoomId, text: &str) -> Message {
    let view = world.say(chat(room, world.ann, text)).await;
    view.message.clone()
}

async fn edit(world: &World, before: &Message, text: &str) {
    let after = reworded(before, text);
    change(world, before, &after).await;
}

/// The rows of each table of a store as values, since the databases write them differently.
fn rows(store: &Store) -> BTreeMap<String, Vec<String>> {
    let read = store.dump(|dump| {
        let mut all = BTreeMap::new();
        for table in dump.tables() {
            let mut rows = Vec::new();
            dump.rows(&table.name, |row| {
                let row: Vec<Value> = serde_json::from_str(&row).expect("JSON");
                let named = table.columns.iter().cloned().zip(row);
                rows.push(Value::Object(named.collect()).to_string());
                Ok::<_, Error>(())
            })?;
            rows.sort();
            all.insert(table.name, rows);
        }
        Ok::<_, Error>(all)
    });
    read.expect("a dump")
}

/// The messages of a room that have a word.
async fn found(store: &Store, room: RoomId, word: &str) -> Vec<i64> {
    let query = MessageQuery {
        search: Some(words(word)),
        ..MessageQuery::default()
    };
    let page = store.list(room, query, usize::MAX, |page| page.messages);
    let found = page.await.expect("a list");
    found.iter().map(|view| view.message.id.0).collect()
}

async fn everything_arrives_that_is_written_meanwhile(
    home: Arc<Home>,
    fresh: fn() -> Option<Home>,
) {
    let world = World::new(&home).await;
    let Some(target) = fresh() else { return };
    let first = say(&world, world.main, "first before").await;
    let gone = say(&world, world.main, "gone before").await;
    let (from, to) = (home.url.clone(), target.url.clone());
    let mut moving = blocking(move || begin(&from, &to))
        .await
        .expect("it begins");

    // New rows, changed rows that were copied already, and removed rows.
    let second = say(&world, world.main, "second meanwhile").await;
    edit(&world, &first, "first edited").await;
    delete(&world, &gone).await;
    let (side, cid) = (world.side, world.cid);
    let removed = world.store.write(move |tx| tx.members().delete(side, cid));
    removed.await.expect("a member leaves");
    let mut moving = blocking(move || {
        assert!(moving.catch_up()? > 0);
        assert_eq!(moving.catch_up()?, 0, "nothing is copied twice");
        Ok::<_, Error>(moving)
    })
    .await
    .expect("it catches up");
    say(&world, world.side, "at the end").await;
    edit(&world, &second, "second changed").await;
    let to = target.url.clone();
    blocking(move || {
        let tables = moving.compare()?;
        let messages = tables.iter().find(|found| found.table == "messages");
        assert_eq!(messages.map(|found| found.rows), Some(3));
        let done = moving.cut_over()?;
        assert!(matches!(done, CutOver::Done { .. }), "{done:?}");
        check_moved_references(&to)
    })
    .await
    .expect("it is moved");

    let refused = world.store.post(chat(world.main, world.ann, "late")).await;
    assert!(matches!(refused, Err(Error::Moved)), "{refused:?}");
    world.store.moved().await;
    let place = moved_database(&home.url).expect("an answer");
    assert_eq!(place.expect("a place").url, target.url);
    let moved = target.open();
    let (before, after) = (rows(&world.store), rows(&moved));
    for (table, rows) in &before {
        assert_eq!(rows, &after[table], "{table}");
    }
    for (word, ids) in [
        ("before", vec![]),
        ("meanwhile", vec![]),
        ("edited", vec![first.id.0]),
        ("changed", vec![second.id.0]),
    ] {
        assert_eq!(found(&moved, world.main, word).await, ids, "{word}");
    }
    assert_eq!(found(&moved, world.side, "end").await.len(), 1);

    // Numbers go on where they were.
    let moved = World {
        store: moved,
        ..world
    };
    say(&moved, moved.main, "in the new place").await;
    let user = moved.store.write(|tx| tx.users().insert(&new_user("dan")));
    assert!(user.await.expect("a new user").0.0 > moved.cid.0);
    let report = moved.store.dump(|dump: &mut Dump<'_>| dump.check());
    assert_eq!(report.expect("it is checked").defects, []);
}

async fn a_move_goes_on_after_an_interruption(home: Arc<Home>, fresh: fn() -> Option<Home>) {
    let world = World::new(&home).await;
    let Some(target) = fresh() else { return };
    for catches_up in [false, true] {
        let (from, to) = (home.url.clone(), target.url.clone());
        let moving = blocking(move || begin(&from, &to)).await;
        let mut moving = moving.expect("it begins or goes on");
        say(&world, world.main, "meanwhile").await;
        let stopped = blocking(move || match catches_up {
            true => moving.catch_up(),
            false => Ok(0),
        });
        stopped.await.expect("a step");
    }
    let other = fresh().expect("a second place");
    let from = home.url.clone();
    let refused = blocking(move || begin(&from, &other.url).map(drop)).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");

    let (from, to) = (home.url.clone(), target.url.clone());
    let done = blocking(move || {
        let mut moving = begin(&from, &to)?;
        moving.compare()?;
        moving.cut_over()
    });
    let done = done.await.expect("it is moved");
    assert!(matches!(done, CutOver::Done { .. }), "{done:?}");
    assert_eq!(rows(&world.store), rows(&target.open()));
    let (from, to) = (home.url.clone(), target.url.clone());
    let again = blocking(move || begin(&from, &to).map(drop)).await;
    assert!(matches!(again, Err(Error::Moved)), "{again:?}");
}

async fn a_move_that_is_given_up_leaves_no_trace(home: Arc<Home>, fresh: fn() -> Option<Home>) {
    let world = World::new(&home).await;
    let Some(target) = fresh() else { return };
    let before = rows(&world.store);
    let (from, to) = (home.url.clone(), target.url.clone());
    let ended = blocking(move || {
        begin(&from, &to)?;
        give_up_move(&from, &to)?;
        let again = give_up_move(&from, &to);
        assert!(matches!(again, Err(Error::Refused(_))), "{again:?}");
        // The place is as empty as it was.
        begin(&from, &to)?;
        give_up_move(&from, &to)
    });
    assert!(ended.await.expect("it is given up"), "the place is reached");
    assert_eq!(rows(&world.store), before);
    say(&world, world.main, "as before").await;
    assert!(!Store::exists(&target.url).expect("an answer"));
    assert_eq!(moved_database(&home.url).expect("an answer"), None);
}

async fn nothing_else_uses_the_place_of_a_move(home: Arc<Home>, fresh: fn() -> Option<Home>) {
    World::new(&home).await;
    let Some(target) = fresh() else { return };
    let (from, to) = (home.url.clone(), target.url.clone());
    blocking(move || begin(&from, &to).map(drop))
        .await
        .expect("it begins");
    let refused = Store::open(&target.url).map(drop);
    assert!(matches!(refused, Err(Error::IncompleteMove)), "{refused:?}");
    let (from, to) = (home.url.clone(), target.url.clone());
    blocking(move || {
        let first = begin(&from, &to)?;
        for second in [
            begin(&from, &to).map(drop),
            give_up_move(&from, &to).map(drop),
        ] {
            assert!(matches!(second, Err(Error::Refused(_))), "{second:?}");
        }
        drop(first);
        begin(&from, &to).map(drop)
    })
    .await
    .expect("a move at a time");
    let other = fresh().expect("a second place");
    World::new(&other).await;
    let refused = blocking(move || begin(&other.url, &target.url).map(drop)).await;
    assert!(matches!(refused, Err(Error::NotEmpty)), "{refused:?}");
}
