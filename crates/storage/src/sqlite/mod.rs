//! What SQLite does in its own way: opening, the batch's inserts, finding.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use eddyline_model::messages::MessageQuery;

use crate::Result;
use crate::find::{SearchPlace, Statement, Wording, last_candidate, statement};
use crate::rows::{LockedRoom, MentionRow, MessageRow, ThreadRow};
use crate::schema::{mentions, message_tags, messages, rooms, threads};
use crate::unread_mentions::{MENTIONS_OF_KEY_LOOKED_AT, MentionsReader};

mod kept;
mod scrub;
mod search;

use self::kept::{MoveRoom, ReadClock, SetClock};
pub(crate) use self::kept::{insert_log, insert_messages};
pub(crate) use self::scrub::{delete_samples, empty_log, vacuum};
pub(crate) use self::search::{
    catch_up, forget_room, index_at_once, index_now, is_behind, merge_words, reindex, unindex,
    words_value,
};

/// Full synchronisation, so that an answered message survives a power cut. Pages that change all
/// the time are carried over from the write-ahead log every 8000 of its pages (32 MB), rather than
/// every 1000: most of them have changed again by then. `message_search_words` has a row for each
/// word of each message in the index, and takes no space.
const PREPARATION: &str = "pragma busy_timeout = 5000; pragma journal_mode = wal; \
    pragma synchronous = full; pragma foreign_keys = on; pragma temp_store = memory; \
    pragma cache_size = -16000; pragma journal_size_limit = 67108864; pragma wal_autocheckpoint = 8000; \
    create virtual table if not exists temp.message_search_words using fts5vocab(main, message_search, instance);";

/// Sets a connection up. Several processes that open a new file at once are in each other's way
/// when they change its journal, and SQLite does not wait for that by itself.
#[expect(
    clippy::disallowed_methods,
    reason = "SQLite does not notify of a free lock; its calls block the thread in any case"
)]
pub(crate) fn prepare(c: &mut SqliteConnection) -> QueryResult<()> {
    let started = std::time::Instant::now();
    loop {
        match c.batch_execute(PREPARATION) {
            Err(error) if is_locked(&error) && started.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(LOCK_PAUSE);
            }
            outcome => return outcome,
        }
    }
}

fn is_locked(error: &diesel::result::Error) -> bool {
    matches!(error, diesel::result::Error::DatabaseError(_, info) if info.message().contains("locked"))
}

/// Changes when another connection has written.
pub(crate) fn data_version(c: &mut SqliteConnection) -> Result<i64> {
    #[derive(QueryableByName)]
    struct Version {
        #[diesel(sql_type = BigInt)]
        data_version: i64,
    }
    Ok(diesel::sql_query("pragma data_version")
        .get_result::<Version>(c)?
        .data_version)
}

pub(crate) fn lock_rooms(c: &mut SqliteConnection, ids: &[i64]) -> Result<Vec<LockedRoom>> {
    let mut found = Vec::with_capacity(ids.len());
    // One by one: a list of any length is a new statement each time, to be read and planned.
    for id in ids {
        let room = rooms::table.find(id).select((
            rooms::id,
            rooms::last_message_id,
            rooms::last_message_at,
            rooms::access_version,
        ));
        found.extend(room.get_result::<LockedRoom>(c).optional()?);
    }
    Ok(found)
}

pub(crate) fn update_rooms(
    c: &mut SqliteConnection,
    changed: &[(i64, i64, Option<i64>)],
) -> Result<()> {
    for (id, last_message_id, last_message_at) in changed.iter().copied() {
        MoveRoom {
            id,
            last_message_id,
            last_message_at,
        }
        .execute(c)?;
    }
    Ok(())
}

/// The messages with these uuids in these rooms. One by one: given a list of uuids, SQLite reads
/// the whole room rather than the index.
pub(crate) fn same_uuid(
    c: &mut SqliteConnection,
    wanted: &[(i64, &str)],
) -> Result<Vec<MessageRow>> {
    let mut found = Vec::new();
    for (room, uuid) in wanted {
        let message = messages::table
            .filter(messages::room_id.eq(room))
            .filter(messages::uuid.eq(uuid));
        found.extend(message.get_result::<MessageRow>(c).optional()?);
    }
    Ok(found)
}

pub(crate) fn insert_tags(c: &mut SqliteConnection, tags: &[(i64, &str, i64)]) -> Result<()> {
    for (room, tag, id) in tags {
        diesel::insert_into(message_tags::table)
            .values((
                message_tags::room_id.eq(room),
                message_tags::tag.eq(tag),
                message_tags::message_id.eq(id),
            ))
            .on_conflict_do_nothing()
            .execute(c)?;
    }
    Ok(())
}

pub(crate) fn insert_mentions(c: &mut SqliteConnection, rows: &[MentionRow]) -> Result<()> {
    for (room, user, message, sender) in rows {
        diesel::insert_into(mentions::table)
            .values((
                mentions::room_id.eq(room),
                mentions::user_id.eq(user),
                mentions::message_id.eq(message),
                mentions::sender_id.eq(sender),
            ))
            .on_conflict_do_nothing()
            .execute(c)?;
    }
    Ok(())
}

/// The threads that their owners know by these ids, in the same order.
pub(crate) fn mirrors(
    c: &mut SqliteConnection,
    wanted: &[(i64, i64, &str)],
) -> Result<Vec<Option<i64>>> {
    wanted
        .iter()
        .map(|(room, source, external_id)| {
            let thread = threads::table
                .filter(threads::room_id.eq(room))
                .filter(threads::source_id.eq(source))
                .filter(threads::external_id.eq(external_id));
            Ok(thread.select(threads::root_id).get_result(c).optional()?)
        })
        .collect()
}

pub(crate) fn put_threads(c: &mut SqliteConnection, rows: &[ThreadRow]) -> Result<()> {
    for row in rows {
        let counts = (
            threads::activities.eq(row.activities),
            threads::internal_comments.eq(row.internal_comments),
            threads::external_comments.eq(row.external_comments),
            threads::updated_at.eq(row.updated_at),
            threads::item_id.eq(row.item_id),
            threads::item_from.eq(row.item_from),
        );
        diesel::insert_into(threads::table)
            .values(row)
            .on_conflict((threads::room_id, threads::root_id))
            .do_update()
            .set(counts)
            .execute(c)?;
    }
    Ok(())
}

/// Moves the clock of the log, and gives where it stands then. Two statements, since `returning`
/// builds a temporary table. No other process writes in between: the transaction has the lock.
pub(crate) fn advance_clock(c: &mut SqliteConnection, count: i64) -> Result<i64> {
    let sequence = ReadClock.get_result::<i64>(c)? + count;
    SetClock { sequence }.execute(c)?;
    Ok(sequence)
}

const WORDING: Wording = Wording {
    placeholder: |_| "?".to_owned(),
    words_from: "message_search t",
    words_id: "(t.rowid & 4294967295)",
    words_order: "t.rowid",
    // The range keeps a search inside its room; FTS5 takes it into account while it reads.
    words_match: |room, placeholder| {
        let (first, last) = (search::row(room.0, 0), search::row(room.0, u32::MAX.into()));
        format!("t.message_search match {placeholder} and t.rowid between {first} and {last}")
    },
};

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// Looks at this many candidates of a search that has further conditions.
pub(crate) fn find_ids(
    c: &mut SqliteConnection,
    place: &SearchPlace,
    query: &MessageQuery,
    candidates: i64,
) -> Result<Vec<i64>> {
    ids(c, statement(place, query, &WORDING, candidates))
}

/// The last of the candidates, if there are so many.
pub(crate) fn find_last_candidate(
    c: &mut SqliteConnection,
    place: &SearchPlace,
    query: &MessageQuery,
    candidates: i64,
) -> Result<Option<i64>> {
    Ok(ids(c, last_candidate(place, query, &WORDING, candidates))?.pop())
}

/// The messages whose unread mention of a member counts, at most `limit` of them. SQLite has no
/// lateral joins, so the newest of a key are those after the last of the others.
pub(crate) fn list_unread_mentions(
    c: &mut SqliteConnection,
    of: &MentionsReader,
    limit: i64,
) -> Result<Vec<i64>> {
    let (room, nearest) = (of.room, of.nearest());
    let newest = format!(
        "cross join mentions m where m.room_id = {room} and m.user_id = k.mention_key \
         and m.message_id > coalesce((select n.message_id from mentions n \
         where n.room_id = {room} and n.user_id = k.mention_key and n.message_id > {nearest} \
         order by n.message_id desc limit 1 offset {MENTIONS_OF_KEY_LOOKED_AT}), {nearest})"
    );
    ids(c, of.statement(&newest, limit))
}

fn ids(c: &mut SqliteConnection, statement: Statement) -> Result<Vec<i64>> {
    let mut sql = diesel::sql_query(statement.sql).into_boxed();
    for value in statement.values {
        sql = sql.bind::<Text, _>(value);
    }
    Ok(sql
        .load::<IdRow>(c)?
        .into_iter()
        .map(|found| found.id)
        .collect())
}

/// How long a writer tries to get SQLite's one write lock.
const LOCK_PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);
const LOCK_PAUSE: std::time::Duration = std::time::Duration::from_micros(500);

/// Sets up the connection of the writer.
///
/// SQLite's own waiting backs off to a tenth of a second, in which a busy writer commits a hundred
/// times and the one who waits never finds the lock free. So [`begin`] waits itself, in short
/// steps.
pub(crate) fn prepare_to_write(c: &mut SqliteConnection) -> QueryResult<()> {
    c.batch_execute("pragma busy_timeout = 0")
}

/// Begins a transaction that may write.
#[expect(
    clippy::disallowed_methods,
    reason = "SQLite does not notify of a free lock; its calls block the thread in any case"
)]
pub(crate) fn begin(c: &mut SqliteConnection) -> Result<()> {
    use diesel::connection::AnsiTransactionManager;
    let started = std::time::Instant::now();
    loop {
        match AnsiTransactionManager::begin_transaction_sql(c, "begin immediate") {
            Err(error) if is_locked(&error) && started.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(LOCK_PAUSE);
            }
            outcome => return Ok(outcome?),
        }
    }
}

#[cfg(test)]
mod tests {
    use eddyline_model::RoomId;

    use super::*;
    use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
    use eddyline_model::MessageId;
    use eddyline_model::messages::MessageKind;

    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

    #[derive(QueryableByName)]
    struct Step {
        #[diesel(sql_type = Text)]
        detail: String,
    }

    fn plan(query: &MessageQuery) -> Vec<String> {
        let mut c = SqliteConnection::establish(":memory:").unwrap();
        c.run_pending_migrations(MIGRATIONS).unwrap();
        let place = SearchPlace {
            room: RoomId(1),
            cohorts: [(7, vec![5, 6])].into(),
            words: "\"word\"".to_owned(),
        };
        let statement = statement(&place, query, &WORDING, 10_000);
        let mut sql =
            diesel::sql_query(format!("explain query plan {}", statement.sql)).into_boxed();
        for value in statement.values {
            sql = sql.bind::<Text, _>(value);
        }
        sql.load::<Step>(&mut c)
            .unwrap()
            .into_iter()
            .map(|step| step.detail)
            .collect()
    }

    #[test]
    fn no_indexed_query_reads_a_whole_room() {
        let tags = vec!["a".to_owned(), "b".to_owned()];
        let queries = [
            MessageQuery {
                events: vec![MessageKind::File],
                ..MessageQuery::default()
            },
            MessageQuery {
                events: vec![MessageKind::Action, MessageKind::Status],
                ..MessageQuery::default()
            },
            MessageQuery {
                thread_root: Some(MessageId(7)),
                ..MessageQuery::default()
            },
            MessageQuery {
                parent: Some(MessageId(7)),
                ..MessageQuery::default()
            },
            MessageQuery {
                tags: tags.clone(),
                ..MessageQuery::default()
            },
            MessageQuery {
                tags: vec![":unread:7".to_owned()],
                ..MessageQuery::default()
            },
            MessageQuery {
                tags: tags.clone(),
                any_tag: true,
                ..MessageQuery::default()
            },
            MessageQuery {
                tags: tags.clone(),
                search: Some(eddyline_model::search::query("word")),
                tags_widen: true,
                ..MessageQuery::default()
            },
            MessageQuery {
                tags,
                search: Some(eddyline_model::search::query("word")),
                ..MessageQuery::default()
            },
        ];
        for query in queries {
            for step in plan(&query) {
                let reads_all = step.contains("SCAN messages")
                    || step.contains("mentions USING PRIMARY KEY (room_id=?)")
                    || step.contains("messages USING PRIMARY KEY (room_id=?)");
                assert!(!reads_all, "{query:?}: {step}");
            }
        }
    }
}
