//! Opening databases: new ones, known ones, by several at once.

use std::sync::Arc;

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use eddyline_model::messages::MessageQuery;
use eddyline_model::{Timestamp, UserId};
use eddyline_storage::{Error, Store, Tx};

use crate::home::{Home, on_shared_databases};
use crate::schema::execute;
use crate::world::{World, chat, words};

on_shared_databases!(
    several_processes_may_open_a_new_database_at_once,
    what_was_written_is_there_after_reopening,
    people_who_were_there_before_they_were_counted_are_counted,
    keys_of_nicks_lose_what_is_not_seen,
    words_that_a_killed_process_did_not_index_are_found,
);

async fn words_that_a_killed_process_did_not_index_are_found(home: Arc<Home>) {
    let world = World::new(&home).await;
    for n in 1..=1200 {
        world.say(chat(world.main, world.ann, &format!("number {n}"))).await;
    }
    world.store.close().await;
    if home.url.starts_with("sqlite") {
        // As it is when the process ends before its index has caught up.
        execute(
            &home.url,
            "update search_progress set message_id = 7; delete from message_search where (rowid & 4294967295) > 7",
        );
    }
    let world = World { store: home.open(), ..world };
    for n in [1, 7, 8, 1007, 1008, 1200] {
        let query = MessageQuery { search: Some(words(&format!("number {n}"))), ..Default::default() };
        assert_eq!(world.find(query).await, [n]);
    }
}

const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Undoes migrations up to and including the one of this name.
fn undo<D: Backend>(
    c: &mut impl MigrationHarness<D>,
    migrations: impl Fn() -> EmbeddedMigrations,
    last: &str,
) {
    loop {
        let undone = c.revert_last_migration(migrations()).expect("a migration is undone");
        if undone.to_string() == last {
            return;
        }
    }
}

async fn people_who_were_there_before_they_were_counted_are_counted(home: Arc<Home>) {
    let world = World::new(&home).await;
    let make = |tx: &mut Tx<'_, '_>| tx.insert_organization("Empty", "empty", 10, Timestamp(1));
    let (empty, _) = world.store.write(make).await.expect("an organization");
    world.store.close().await;
    let counting = "20261121000006";
    match home.url.strip_prefix("sqlite:") {
        Some(path) => undo(&mut SqliteConnection::establish(path).expect("it opens"), || SQLITE, counting),
        None => undo(&mut PgConnection::establish(&home.url).expect("it opens"), || POSTGRES, counting),
    }
    let (world, acme, ann) = (World { store: home.open(), ..world.clone() }, world.organization, world.ann);
    let count =
        async |id| world.read(move |session| session.organization(id)).await.expect("there").user_count;
    assert_eq!((count(acme).await, count(empty).await), (3, 0));
    assert!(world.read(move |session| session.user(ann)).await.expect("ann is there").active);
}

async fn keys_of_nicks_lose_what_is_not_seen(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.store.close().await;
    let set_key = |user: UserId, key: &str| {
        // Both databases make a character of its number.
        let function = if home.url.starts_with("sqlite") { "char" } else { "chr" };
        let key: Vec<_> = key.chars().map(|c| format!("{function}({})", u32::from(c))).collect();
        let (key, user) = (key.join(" || "), user.0);
        execute(
            &home.url,
            &format!("update organization_members set nick_key = {key} where user_id = {user}"),
        );
    };
    set_key(world.ann, "a\u{200d}nn\u{3164}\u{e0100}é");
    set_key(world.bob, "bo\u{200c}b");
    set_key(world.cid, "bob");
    let again = "20261122000004";
    match home.url.strip_prefix("sqlite:") {
        Some(path) => undo(&mut SqliteConnection::establish(path).expect("it opens"), || SQLITE, again),
        None => undo(&mut PgConnection::establish(&home.url).expect("it opens"), || POSTGRES, again),
    }
    let world = World { store: home.open(), ..world };
    let organization = world.organization;
    for (key, is_taken) in [("annné", false), ("anné", true), ("bob", true), ("bo\u{200c}b", true)] {
        let found = world.read(move |session| session.nick_is_taken(organization, key, UserId(0))).await;
        assert_eq!(found, is_taken, "{key:?}");
    }
}

async fn several_processes_may_open_a_new_database_at_once(home: Arc<Home>) {
    let openings: Vec<_> = (0..4)
        .map(|_| {
            let home = home.clone();
            tokio::task::spawn_blocking(move || home.open())
        })
        .collect();
    let mut stores = Vec::new();
    for opening in openings {
        stores.push(opening.await.expect("nobody panics"));
    }
    let world = World::in_store(stores.remove(0)).await;
    let room = world.main;
    for store in stores {
        let posted = store.post(chat(room, world.ann, "hello")).await.expect("everybody can write");
        crate::world::added(posted);
    }
    assert_eq!(world.find(MessageQuery::default()).await, [1, 2, 3]);
}

async fn what_was_written_is_there_after_reopening(home: Arc<Home>) {
    let world = World::new(&home).await;
    let said = world.say(chat(world.main, world.ann, "hello")).await;
    let head = world.read(|session| session.log_head()).await;
    world.store.close().await;

    let again = World { store: home.open(), ..world };
    assert_eq!(again.view(said.message.id).await, *said);
    assert!(again.read(move |session| session.log_holds(head)).await);
    let next = again.say(chat(again.main, again.ann, "again")).await;
    assert_eq!(next.message.id.0, 2);
    assert_eq!(again.read(|session| session.log_head()).await.seq.0, 2);
}

#[test]
fn an_address_that_cannot_be_used_is_refused() {
    for bad in ["", "mysql://localhost/x", "sqlite:", "postgres:x"] {
        let refused = matches!(Store::open(bad), Err(Error::Url(_)));
        assert!(refused, "{bad:?}");
    }
    let nowhere = Store::open("postgres://nobody@127.0.0.1:1/nothing");
    assert!(matches!(nowhere, Err(Error::Unavailable(_))), "{nowhere:?}");
}
