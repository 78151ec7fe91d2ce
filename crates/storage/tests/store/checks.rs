//! What a check finds, and what a repair makes right.

use std::sync::Arc;

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, PgConnection, SqliteConnection};
use eddyline_storage::copy::CheckReport;
use eddyline_storage::{Error, Store};

use crate::home::{Home, postgres, run, sqlite_file};
use crate::world::{World, chat};

#[test]
fn sqlite() {
    run(
        sqlite_file(),
        every_defect_is_found_and_repaired_where_it_can_be,
    );
}

#[test]
fn on_postgres() {
    run(
        postgres(),
        every_defect_is_found_and_repaired_where_it_can_be,
    );
}

/// Runs statements on a connection of the test's own.
pub(crate) fn run_beside(home: &Home, statements: &str) {
    match home.url.strip_prefix("sqlite:") {
        Some(path) => SqliteConnection::establish(path)
            .expect("a connection")
            .batch_execute(statements),
        None => PgConnection::establish(&home.url)
            .expect("a connection")
            .batch_execute(statements),
    }
    .expect("they are run");
}

fn check(store: &Store) -> CheckReport {
    store
        .dump(|dump| {
            let report = dump.check()?;
            Ok::<_, Error>(report)
        })
        .expect("a check")
}

/// The defects in words, each with how many there are.
fn defects(store: &Store) -> Vec<(u64, &'static str)> {
    let found = check(store).defects.into_iter();
    found.map(|defect| (defect.count, defect.what)).collect()
}

async fn every_defect_is_found_and_repaired_where_it_can_be(home: Arc<Home>) {
    let world = World::new(&home).await;
    for text in ["one #tag", "two @bob", "three"] {
        let posted = world.store.post(chat(world.main, world.ann, text)).await;
        posted.expect("it is posted");
    }
    // The index follows after the commit on SQLite.
    world.store.close().await;
    let store = home.open();
    assert_eq!(defects(&store), []);
    assert_eq!(check(&store).messages, 3);

    let main = world.main.0;
    let is_postgres = home.url.starts_with("postgres");
    let search_row = match is_postgres {
        true => format!("room_id = {main} and message_id = 2"),
        false => format!("rowid = ({main} << 32) | 2"),
    };
    run_beside(
        &home,
        &format!(
            "delete from message_search where {search_row}; update organizations set user_count = 7"
        ),
    );
    let words = "rooms whose messages are not found by all of their words";
    let members = "organizations that know a wrong number of their members";
    assert_eq!(defects(&store), [(1, members), (1, words)]);
    store.repair(&check(&store)).await.expect("a repair");
    assert_eq!(defects(&store), []);

    run_beside(
        &home,
        &format!(
            "insert into message_tags (room_id, tag, message_id) values ({main}, 'lost', 99); \
             insert into mentions (room_id, user_id, message_id, sender_id) values ({main}, 1, 98, 1); \
             insert into reactions (room_id, message_id, emoji, user_id, position) values ({main}, 97, 'x', 1, 1); \
             update messages set user_id = 4711 where room_id = {main} and id = 3; \
             update rooms set last_message_id = 2 where id = {main}; \
             delete from event_log where seq = (select max(seq) - 1 from event_log); \
             update log_clock set sequence = sequence - 1"
        ),
    );
    assert_eq!(
        defects(&store),
        [
            (1, "messages of users that are missing"),
            (1, "rooms with newer messages than they know of"),
            (1, "tags of messages that are missing"),
            (1, "mentions in messages that are missing"),
            (1, "reactions to messages that are missing"),
            (1, "events of the log behind its end"),
            (1, "places in the log without an event"),
        ]
    );
    let report = check(&store);
    assert!(report.defects.iter().all(|defect| !defect.is_repairable));
    assert_eq!(report.defects[0].examples, [format!("{main}/3")]);
}
