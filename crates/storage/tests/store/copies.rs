//! Dumps and loads of all tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use eddyline_storage::copy::{Load, Table};
use eddyline_storage::{Error, Store};

use crate::home::{Home, postgres, run, sqlite_file};
use crate::world::{World, chat};

/// The rows of each table of a store, by the table's name, and the schema.
fn dumped(store: &Store) -> (String, BTreeMap<String, (Table, Vec<String>)>) {
    store
        .dump(|dump| {
            let mut all = BTreeMap::new();
            for table in dump.tables() {
                let mut rows = Vec::new();
                dump.rows(&table.name, |row| {
                    rows.push(row);
                    Ok::<_, Error>(())
                })?;
                all.insert(table.name.clone(), (table, rows));
            }
            Ok::<_, Error>((dump.schema()?, all))
        })
        .expect("a dump")
}

fn load(
    home: &Home,
    schema: &str,
    fill: impl FnOnce(&mut Load<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    Store::load(&home.url, schema, &BTreeMap::new(), fill)
}

macro_rules! on_files_and_servers {
    ($($test:ident),+ $(,)?) => {
        $(mod $test {
            use super::*;

            #[test]
            fn sqlite() {
                run(sqlite_file(), |home| super::$test(home, sqlite_file));
            }

            #[test]
            fn on_postgres() {
                run(postgres(), |home| super::$test(home, postgres));
            }
        })+
    };
}

on_files_and_servers!(
    a_dump_does_not_see_what_is_written_meanwhile,
    a_load_that_fails_leaves_nothing,
    numbers_are_not_given_again,
    what_does_not_fit_is_refused,
);

async fn a_dump_does_not_see_what_is_written_meanwhile(home: Arc<Home>, _: fn() -> Option<Home>) {
    let world = World::new(&home).await;
    world
        .store
        .post(chat(world.main, world.ann, "before"))
        .await
        .expect("it is posted");
    let runtime = tokio::runtime::Handle::current();
    let store = world.store.clone();
    let (main, ann) = (world.main, world.ann);
    let texts = tokio::task::spawn_blocking(move || {
        store.dump(|dump| {
            let posted = runtime.block_on(store.post(chat(main, ann, "meanwhile")));
            posted.expect("it is posted");
            let mut rows = Vec::new();
            dump.rows("messages", |row| {
                rows.push(row);
                Ok::<_, Error>(())
            })?;
            Ok::<_, Error>((dump.log_position()?, rows))
        })
    });
    let (position, rows) = texts.await.expect("a thread").expect("a dump");
    assert_eq!(rows.len(), 1);
    assert!(rows[0].contains("before"), "{rows:?}");
    let (_, later) = dumped(&world.store);
    assert_eq!(later["messages"].1.len(), 2);
    let clock = &later["log_clock"].1[0];
    assert!(
        *clock == format!("[1,{}]", position + 1) || *clock == format!("[1, {}]", position + 1),
        "{clock}"
    );
}

async fn a_load_that_fails_leaves_nothing(home: Arc<Home>, fresh: fn() -> Option<Home>) {
    let world = World::new(&home).await;
    world
        .store
        .post(chat(world.main, world.ann, "hello"))
        .await
        .expect("it is posted");
    let (schema, tables) = dumped(&world.store);
    let target = fresh().expect("a second database");
    let fill = |load: &mut Load<'_>| -> Result<(), Error> {
        tables
            .values()
            .filter(|(_, rows)| !rows.is_empty())
            .try_for_each(|(table, rows)| load.insert(table, rows))
    };
    // What refers to a row that is missing.
    let failed = load(&target, &schema, |load| {
        let (table, rows) = &tables["flows"];
        load.insert(table, rows)
    });
    failed.expect_err("rooms are missing");
    load(&target, &schema, fill).expect("it is empty");
    let again = load(&target, &schema, fill);
    assert!(matches!(again, Err(Error::NotEmpty)), "{again:?}");
    let found = target.open();
    assert_eq!(dumped(&found).1["messages"].1.len(), 1);
}

async fn numbers_are_not_given_again(home: Arc<Home>, fresh: fn() -> Option<Home>) {
    let world = World::new(&home).await;
    let (schema, tables) = dumped(&world.store);
    let target = fresh().expect("a second database");
    let sequences = BTreeMap::from([("users".to_owned(), 900), ("sources".to_owned(), 0)]);
    Store::load(&target.url, &schema, &sequences, |load| {
        let filled = tables.values().filter(|(_, rows)| !rows.is_empty());
        filled
            .into_iter()
            .try_for_each(|(table, rows)| load.insert(table, rows))
    })
    .expect("it is empty");
    let found = target.open().dump(|dump| {
        let sequences = dump.sequences()?;
        Ok::<_, Error>(sequences)
    });
    let found = found.expect("a dump");
    assert_eq!(found["users"], 900);
    assert_eq!(found.get("sources").copied().unwrap_or_default(), 0);
}

async fn what_does_not_fit_is_refused(_: Arc<Home>, fresh: fn() -> Option<Home>) {
    let target = fresh().expect("a database");
    let newer = load(&target, "99990101000000", |_| Ok(()));
    assert!(
        matches!(&newer, Err(Error::NewerSchema { migration }) if migration == "99990101000000"),
        "{newer:?}"
    );
    let source = fresh().expect("a database");
    let (schema, _) = dumped(&source.open());
    let table = |name: &str, columns: &[&str]| Table {
        name: name.to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
    };
    for table in [
        table("nothing", &["id"]),
        table("users", &["id", "shoe_size"]),
        table("nodes", &["id", "heartbeat", "seq_read"]),
    ] {
        let refused = load(&target, &schema, |load| {
            load.insert(&table, &["[1]".to_owned()])
        });
        assert!(matches!(refused, Err(Error::Corrupt(_))), "{refused:?}");
    }
    let memory = Store::open("sqlite::memory:").expect("a store in memory");
    let dumped = memory.dump(|_| Ok::<_, Error>(()));
    assert!(matches!(dumped, Err(Error::Unavailable(_))), "{dumped:?}");
}
