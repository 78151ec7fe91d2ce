//! The index of words, in FTS5: filled after the commit (see [`crate::backlog`]), up to a message
//! of each room that stands in `search_progress`.

use diesel::connection::{AnsiTransactionManager, TransactionManager as _};
use diesel::prelude::*;
use eddyline_model::messages::MessageKind;
use eddyline_model::search::{self, QueryWord, SearchQuery, SearchTokens};
use eddyline_model::{MessageId, RoomId};

use crate::backlog::{Backlog, MessageWords};
use crate::schema::{messages, rooms};
use crate::{Error, Result};

/// How many messages are read at once for their words.
const PAGE: i64 = 1000;
/// The most words that begin with those of a search and are looked up one by one. FTS5 reads the list
/// of each only as far as it must; of a beginning it first joins the lists of all words.
const MAX_WORDS: i64 = 512;

diesel::table! {
    message_search (rowid) { rowid -> BigInt, words -> Text, }
}
diesel::table! {
    search_progress (room_id) { room_id -> BigInt, message_id -> BigInt, }
}
diesel::allow_tables_to_appear_in_same_query!(rooms, search_progress);

/// The row of a message, so that a range of rows is a room.
pub(super) fn row(room: i64, id: i64) -> i64 {
    room << 32 | id
}

/// Words come later here.
#[expect(clippy::unnecessary_wraps, reason = "its twin for PostgreSQL can fail")]
pub(crate) fn index_at_once(
    _: &mut SqliteConnection,
    _: &[(i64, i64, &SearchTokens)],
) -> Result<()> {
    Ok(())
}

/// Files messages under their words, of rooms whose index has come beyond their numbers.
pub(crate) fn index_now(
    c: &mut SqliteConnection,
    words: &[(i64, i64, &SearchTokens)],
) -> Result<()> {
    for (room, id, words) in words {
        insert(c, *room, *id, words)?;
    }
    Ok(())
}

/// Files a message under other words.
pub(crate) fn reindex(
    c: &mut SqliteConnection,
    room: RoomId,
    id: MessageId,
    words: &SearchTokens,
) -> Result<()> {
    unindex(c, room, id)?;
    insert(c, room.0, id.0, words)
}

/// Takes a message out of the index. The messages before it go in first: it must not follow later.
pub(crate) fn unindex(c: &mut SqliteConnection, room: RoomId, id: MessageId) -> Result<()> {
    catch_up_room(c, room.0, &Backlog::default())?;
    diesel::delete(message_search::table.find(row(room.0, id.0))).execute(c)?;
    Ok(())
}

/// Forgets how far the index has come in a room that is deleted.
pub(crate) fn forget_room(c: &mut SqliteConnection, room: RoomId) -> Result<()> {
    diesel::delete(search_progress::table.find(room.0)).execute(c)?;
    Ok(())
}

/// Whether messages of a room are missing in the index.
pub(crate) fn is_behind(c: &mut SqliteConnection, room: RoomId) -> Result<bool> {
    let (through, last) = progress(c, room.0)?;
    Ok(through < last)
}

/// Brings the index up to date for the rooms of a backlog.
pub(crate) fn catch_up(c: &mut SqliteConnection, backlog: &Backlog) -> Result<()> {
    for room in backlog.rooms() {
        catch_up_room(c, room, backlog)?;
    }
    if backlog.is_of_all_rooms() {
        let through = search_progress::message_id.nullable();
        let behind = rooms::table
            .left_join(search_progress::table.on(search_progress::room_id.eq(rooms::id)))
            .filter(rooms::last_message_id.gt(0))
            .filter(
                through
                    .is_null()
                    .or(through.lt(rooms::last_message_id.nullable())),
            )
            .select(rooms::id)
            .load::<i64>(c)?;
        for room in behind {
            catch_up_room(c, room, backlog)?;
        }
    }
    Ok(())
}

fn catch_up_room(c: &mut SqliteConnection, room: i64, backlog: &Backlog) -> Result<()> {
    let (mut through, last) = progress(c, room)?;
    if through >= last {
        return Ok(());
    }
    if let Some(known) = backlog.words(room, through, last) {
        for (id, words) in known {
            insert(c, room, *id, words)?;
        }
    } else {
        loop {
            let page = read_words(c, room, through)?;
            let Some((end, _)) = page.last() else { break };
            through = *end;
            for (id, words) in &page {
                insert(c, room, *id, words)?;
            }
        }
    }
    diesel::insert_into(search_progress::table)
        .values((
            search_progress::room_id.eq(room),
            search_progress::message_id.eq(last),
        ))
        .on_conflict(search_progress::room_id)
        .do_update()
        .set(search_progress::message_id.eq(last))
        .execute(c)?;
    Ok(())
}

/// The last message of a room that is in the index, and the last there is.
fn progress(c: &mut SqliteConnection, room: i64) -> Result<(i64, i64)> {
    let through = search_progress::table
        .find(room)
        .select(search_progress::message_id)
        .get_result(c);
    let last = rooms::table
        .find(room)
        .select(rooms::last_message_id)
        .get_result(c);
    Ok((
        through.optional()?.unwrap_or(0),
        last.optional()?.unwrap_or(0),
    ))
}

fn read_words(c: &mut SqliteConnection, room: i64, after: i64) -> Result<Vec<MessageWords>> {
    let rows = messages::table
        .filter(messages::room_id.eq(room))
        .filter(messages::id.gt(after))
        .order(messages::id)
        .limit(PAGE)
        .select((messages::id, messages::event, messages::content))
        .load::<(i64, i16, String)>(c)?;
    rows.into_iter()
        .map(|(id, event, content)| {
            let event = MessageKind::from_code(event).ok_or(Error::Corrupt("event"))?;
            Ok((id, search::of_message(event, &content)))
        })
        .collect()
}

fn insert(c: &mut SqliteConnection, room: i64, id: i64, words: &SearchTokens) -> Result<()> {
    if !words.is_empty() {
        diesel::insert_into(message_search::table)
            .values((
                message_search::rowid.eq(row(room, id)),
                message_search::words.eq(words.as_str()),
            ))
            .execute(c)?;
    }
    Ok(())
}

/// The words of a search as a query of FTS5.
pub(crate) fn words_value(c: &mut SqliteConnection, search: &SearchQuery) -> Result<String> {
    let (mut words, mut left) = (Vec::new(), MAX_WORDS);
    for word in search.words() {
        words.push(match word.is_beginning {
            true => beginning_value(c, word, &mut left)?,
            false => format!("\"{}\"", word.token),
        });
    }
    Ok(words.join(" AND "))
}

fn beginning_value(c: &mut SqliteConnection, word: &QueryWord, left: &mut i64) -> Result<String> {
    let beginning = &word.token;
    let words = list_words(c, beginning, *left + 1)?;
    Ok(match i64::try_from(words.len()) {
        Ok(0) => format!("\"{beginning}\""),
        Ok(count) if count <= *left => {
            *left -= count;
            let words = words.iter().map(|word| format!("\"{word}\""));
            format!("({})", words.collect::<Vec<_>>().join(" OR "))
        }
        _ => format!("\"{beginning}\" *"),
    })
}

/// The words of all messages that begin so, `limit` of them at most. Each is looked up behind the one
/// before, since a row of `message_search_words` is a word in a message.
fn list_words(c: &mut SqliteConnection, beginning: &str, limit: i64) -> Result<Vec<String>> {
    #[derive(QueryableByName)]
    struct Word {
        #[diesel(sql_type = diesel::sql_types::Text)]
        word: String,
    }
    let words = diesel::sql_query(
        "with recursive found (word) as ( \
           select (select term from message_search_words where term >= ?1 limit 1) \
           union all \
           select (select term from message_search_words where term >= found.word || char(1) limit 1) \
           from found where found.word < ?2 \
         ) select word from found where word < ?2 limit ?3",
    )
    .bind::<diesel::sql_types::Text, _>(beginning)
    .bind::<diesel::sql_types::Text, _>(format!("{beginning}{}", char::MAX))
    .bind::<diesel::sql_types::BigInt, _>(limit)
    .load::<Word>(c)?;
    Ok(words.into_iter().map(|row| row.word).collect())
}

/// Merges the segments of the index, so many pages of it at most, and says whether there is more to
/// be merged. A negative number begins with segments of all sizes, those with deleted rows among
/// them.
pub(crate) fn merge_words(c: &mut SqliteConnection, pages: i32) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Changes {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        count: i64,
    }
    let count = |c: &mut SqliteConnection| -> Result<i64> {
        let changes = diesel::sql_query("select total_changes() as count");
        Ok(changes.get_result::<Changes>(c)?.count)
    };
    super::begin(c)?;
    let merge =
        format!("insert into message_search (message_search, rank) values ('merge', {pages})");
    let merged = (|| {
        let before = count(c)?;
        diesel::sql_query(merge).execute(c)?;
        Ok(count(c)? - before)
    })();
    match merged {
        Ok(changes) => {
            AnsiTransactionManager::commit_transaction(c)?;
            // The statement itself counts as one.
            Ok(changes >= 2)
        }
        Err(error) => {
            AnsiTransactionManager::rollback_transaction(c)?;
            Err(error)
        }
    }
}
