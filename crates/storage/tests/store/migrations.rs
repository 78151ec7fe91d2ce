//! Opening databases: new ones, known ones, by several at once.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use diesel::backend::Backend;
use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use eddyline_model::messages::{Draft, MessageKind, MessageQuery, Placement};
use eddyline_model::{Timestamp, UserId};
use eddyline_storage::{Error, Options, Store, Tx};
use serde_json::{Value as Json, json};

use crate::home::{Home, on_shared_databases};
use crate::schema::execute;
use crate::world::{World, chat, words};

on_shared_databases!(
    several_processes_may_open_a_new_database_at_once,
    what_was_written_is_there_after_reopening,
    people_who_were_there_before_they_were_counted_are_counted,
    accounts_that_a_provider_made_and_nobody_used_must_prove_their_addresses,
    notices_of_before_keep_no_text,
    keys_of_nicks_lose_what_is_not_seen,
    words_that_a_killed_process_did_not_index_are_found,
    authors_who_had_left_before_they_were_kept_are_known,
    tables_of_an_older_version_are_left_alone_where_that_is_asked_for,
    tables_of_a_newer_version_are_refused,
    tables_are_not_upgraded_while_servers_run,
    a_migration_that_cannot_lock_a_table_is_taken_back,
);

/// The last migration of the first version, which changes a table that servers write.
const LAST: &str = "20261128000001";

fn try_to_open(home: &Home, upgrade: bool) -> Result<Store, Error> {
    Store::open_with(
        &home.url,
        Options {
            upgrade,
            upgrade_time: Duration::ZERO,
            ..Options::default()
        },
    )
}

async fn tables_of_an_older_version_are_left_alone_where_that_is_asked_for(home: Arc<Home>) {
    let new = try_to_open(&home, false).expect("a new database gets its tables");
    new.close().await;
    try_to_open(&home, false).expect("it is open").close().await;
    undo_at(&home, LAST);
    for _ in 0..2 {
        let refused = try_to_open(&home, false);
        assert!(
            matches!(&refused, Err(Error::OlderSchema { migration }) if migration.starts_with("2026-11-28-000001")),
            "{refused:?}"
        );
    }
    try_to_open(&home, true).expect("upgraded").close().await;
    try_to_open(&home, false).expect("it is open").close().await;
}

async fn tables_of_a_newer_version_are_refused(home: Arc<Home>) {
    home.open().close().await;
    execute(
        &home.url,
        "insert into __diesel_schema_migrations (version) values ('99990101000001'), ('99990101000002')",
    );
    for upgrade in [false, true] {
        let refused = try_to_open(&home, upgrade);
        assert!(
            matches!(&refused, Err(Error::NewerSchema { migration }) if migration == "99990101000001"),
            "{refused:?}"
        );
    }
}

async fn tables_are_not_upgraded_while_servers_run(home: Arc<Home>) {
    home.open().close().await;
    undo_at(&home, LAST);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("now");
    let (alive, gone) = (now.as_millis(), now.as_millis() - 12_001);
    execute(
        &home.url,
        &format!(
            "insert into nodes (id, heartbeat, seq_read) values ('a', {alive}, 0), ('b', {gone}, 0)"
        ),
    );
    let refused = try_to_open(&home, true);
    assert!(
        matches!(&refused, Err(Error::ServersRun { count: 1, migration }) if migration.starts_with("2026-11-28-000001")),
        "{refused:?}"
    );
    execute(&home.url, "delete from nodes where id = 'a'");
    try_to_open(&home, true).expect("upgraded").close().await;
}

async fn a_migration_that_cannot_lock_a_table_is_taken_back(home: Arc<Home>) {
    home.open().close().await;
    undo_at(&home, LAST);
    if home.url.starts_with("sqlite") {
        // Here the file is locked, which is known without a migration.
        return;
    }
    let mut reader = PgConnection::establish(&home.url).expect("it opens");
    reader
        .batch_execute("begin; select * from room_members")
        .expect("a long transaction");
    let refused = try_to_open(&home, true);
    let Err(Error::TablesLocked { migration, .. }) = &refused else {
        panic!("{refused:?}");
    };
    assert!(migration.starts_with("2026-11-28-000001"), "{migration}");
    reader.batch_execute("rollback").expect("it ends");
    try_to_open(&home, true).expect("upgraded").close().await;
}

async fn authors_who_had_left_before_they_were_kept_are_known(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (main, ann, bob) = (world.main, world.ann, world.bob);
    for author in [ann, bob] {
        world.say(chat(main, author, "hello")).await;
    }
    let leave = move |tx: &mut Tx<'_>| tx.members().delete(main, bob);
    world.store.write(leave).await.expect("bob leaves");
    let present = world.read(move |reader| reader.users().find(bob)).await;
    let names = present.map(|user| (user.name, user.nick)).expect("bob");
    world.store.close().await;
    undo_at(&home, "20261127000002");
    let world = World {
        store: home.open(),
        ..world
    };
    let former = world
        .read(move |reader| reader.members().list_former(main))
        .await;
    let former: Vec<_> = former
        .iter()
        .map(|user| (user.id, user.name.as_str(), user.nick.as_str()))
        .collect();
    assert_eq!(former, [(bob, names.0.as_str(), names.1.as_str())]);
}

async fn words_that_a_killed_process_did_not_index_are_found(home: Arc<Home>) {
    let world = World::new(&home).await;
    for n in 1..=1200 {
        world
            .say(chat(world.main, world.ann, &format!("number {n}")))
            .await;
    }
    world.store.close().await;
    if home.url.starts_with("sqlite") {
        // As it is when the process ends before its index has caught up.
        execute(
            &home.url,
            "update search_progress set message_id = 7; delete from message_search where (rowid & 4294967295) > 7",
        );
    }
    let world = World {
        store: home.open(),
        ..world
    };
    for n in [1, 7, 8, 1007, 1008, 1200] {
        let query = MessageQuery {
            search: Some(words(&format!("number {n}"))),
            ..Default::default()
        };
        assert_eq!(world.find(query).await, [n]);
    }
}

const SQLITE: EmbeddedMigrations = embed_migrations!("migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("migrations/postgres");

/// Undoes migrations up to and including the one of this name.
fn undo<D: Backend>(
    c: &mut impl MigrationHarness<D>,
    migrations: impl Fn() -> EmbeddedMigrations,
    last: &str,
) {
    loop {
        let undone = c
            .revert_last_migration(migrations())
            .expect("a migration is undone");
        if undone.to_string() == last {
            return;
        }
    }
}

/// Undoes migrations of a database, which no store has open, up to and including the one of this
/// name.
fn undo_at(home: &Home, last: &str) {
    match home.url.strip_prefix("sqlite:") {
        Some(path) => undo(
            &mut SqliteConnection::establish(path).expect("it opens"),
            || SQLITE,
            last,
        ),
        None => undo(
            &mut PgConnection::establish(&home.url).expect("it opens"),
            || POSTGRES,
            last,
        ),
    }
}

async fn accounts_that_a_provider_made_and_nobody_used_must_prove_their_addresses(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, ann, bob, cid) = (world.organization, world.ann, world.bob, world.cid);
    let provided = world.store.write(move |tx| {
        tx.identities()
            .upsert_provider(acme, "acme-uid", b"one", None, Timestamp(5))?;
        tx.passwords().set(bob, "$argon2id$")
    });
    provided.await.expect("made");
    world.store.close().await;
    undo_at(&home, "20261122000001");
    // The provider made Ann and Bob, who has chosen a password since, and an operator linked Cid.
    for (user, actor, action) in [
        (ann, "scim:acme-uid", "user.create"),
        (bob, "scim:acme-uid", "user.create"),
        (cid, "operator", "user.link"),
    ] {
        let (user, acme) = (user.0, acme.0);
        execute(
            &home.url,
            &format!(
                "insert into identities (user_id, organization_id, subject, subject_key, version, created_at, \
                 updated_at) values ({user}, {acme}, 's{user}', 's{user}', 1, 1, 1); \
                 insert into audit (organization_id, at, actor, deed, user_id, detail) \
                 values ({acme}, 1, '{actor}', '{action}', {user}, '{{}}')"
            ),
        );
    }
    let world = World {
        store: home.open(),
        ..world.clone()
    };
    let proved = async |id| {
        world
            .read(move |reader| reader.users().find(id))
            .await
            .expect("there")
            .email_proved
    };
    assert_eq!(
        (proved(ann).await, proved(bob).await, proved(cid).await),
        (false, true, true)
    );
    let stated = world
        .read(move |reader| reader.identities().find(ann))
        .await
        .expect("known")
        .stated_email;
    assert_eq!(
        stated.as_deref(),
        Some("ann@example.org"),
        "a domain may count for it"
    );
}

async fn people_who_were_there_before_they_were_counted_are_counted(home: Arc<Home>) {
    let world = World::new(&home).await;
    let make = |tx: &mut Tx<'_>| {
        tx.organizations()
            .insert("Empty", "empty", 10, Timestamp(1))
    };
    let (empty, _) = world.store.write(make).await.expect("an organization");
    world.store.close().await;
    undo_at(&home, "20261121000006");
    let (world, acme, ann) = (
        World {
            store: home.open(),
            ..world.clone()
        },
        world.organization,
        world.ann,
    );
    let count = async |id| {
        world
            .read(move |reader| reader.organizations().find(id))
            .await
            .expect("there")
            .user_count
    };
    assert_eq!((count(acme).await, count(empty).await), (3, 0));
    assert!(
        world
            .read(move |reader| reader.users().find(ann))
            .await
            .expect("ann is there")
            .active
    );
}

async fn notices_of_before_keep_no_text(home: Arc<Home>) {
    let world = World::new(&home).await;
    let said = world.say(chat(world.main, world.ann, "now")).await;
    let id = said.message.id;
    let edit = json!({"message": id.0, "updated_content": "a \u{1F512} \"secret\" \\ of before"});
    let tags = json!({"message": id.0, "add": ["plan"], "remove": ["secret", ":unread:7", ":url"]});
    let bare = json!({"message": id.0, "add": [], "remove": []});
    for (event, content) in [
        (MessageKind::MessageEdit, edit),
        (MessageKind::TagChange, tags),
        (MessageKind::TagChange, bare.clone()),
    ] {
        let placement = Placement::Unthreaded;
        let content = content.to_string();
        world
            .say(Draft {
                event,
                placement,
                ..chat(world.main, world.ann, &content)
            })
            .await;
    }
    let orphan = format!(
        "insert into thread_items values ({}, 999, '{{}}')",
        world.main.0
    );
    world.store.close().await;
    execute(&home.url, &orphan);
    undo_at(&home, "20261122000005");
    let world = World {
        store: home.open(),
        ..world
    };
    let room = world.main;
    let kept = world
        .read(move |reader| reader.messages().list_by_id(room, &[2, 3, 4]))
        .await;
    let kept: Vec<Json> = kept
        .iter()
        .map(|message| serde_json::from_str(&message.content).expect("JSON"))
        .collect();
    let of_tags = json!({"message": id.0, "add": ["plan"], "remove": [":unread:7", ":url"]});
    assert_eq!(kept, [json!({"message": id.0}), of_tags, bare]);
    // What no thread is in is gone: its place is free.
    execute(&home.url, &orphan);
}

async fn keys_of_nicks_lose_what_is_not_seen(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.store.close().await;
    let set_key = |user: UserId, key: &str| {
        // Both databases make a character of its number.
        let function = if home.url.starts_with("sqlite") {
            "char"
        } else {
            "chr"
        };
        let key: Vec<_> = key
            .chars()
            .map(|c| format!("{function}({})", u32::from(c)))
            .collect();
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
    undo_at(&home, again);
    let world = World {
        store: home.open(),
        ..world
    };
    let organization = world.organization;
    for (key, is_taken) in [
        ("annné", false),
        ("anné", true),
        ("bob", true),
        ("bo\u{200c}b", true),
    ] {
        let found = world
            .read(move |reader| {
                reader
                    .organization_members()
                    .has_nick(organization, key, UserId(0))
            })
            .await;
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
        let posted = store
            .post(chat(room, world.ann, "hello"))
            .await
            .expect("everybody can write");
        crate::world::added(posted);
    }
    assert_eq!(world.find(MessageQuery::default()).await, [1, 2, 3]);
}

async fn what_was_written_is_there_after_reopening(home: Arc<Home>) {
    let world = World::new(&home).await;
    let said = world.say(chat(world.main, world.ann, "hello")).await;
    let head = world.read(|reader| reader.log().find_head()).await;
    world.store.close().await;

    let again = World {
        store: home.open(),
        ..world
    };
    assert_eq!(again.view(said.message.id).await, *said);
    assert!(again.read(move |reader| reader.log().contains(head)).await);
    let next = again.say(chat(again.main, again.ann, "again")).await;
    assert_eq!(next.message.id.0, 2);
    assert_eq!(again.read(|reader| reader.log().find_head()).await.seq.0, 2);
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
