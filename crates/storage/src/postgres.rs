//! What PostgreSQL does in its own way: the batch as a few statements over arrays, locks, words
//! in a `tsvector`.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, SmallInt, Text};
use eddyline_model::log::Seq;
use eddyline_model::messages::MessageQuery;
use eddyline_model::search::{SearchQuery, SearchTokens};
use eddyline_model::{MessageId, RoomId};

use crate::Result;
use crate::find::{SearchPlace, Statement, Wording, last_candidate, statement};
use crate::rows::{LockedRoom, MentionRow, MessageRow, NewLogRow, ThreadRow};
use crate::schema::{rooms, writers};
use crate::unread_mentions::{MENTIONS_OF_KEY_LOOKED_AT, MentionsReader};

/// Locks in ascending order, which all writers keep to, so that none waits for another in a ring.
pub(crate) fn lock_rooms(c: &mut PgConnection, ids: &[i64]) -> Result<Vec<LockedRoom>> {
    Ok(rooms::table
        .filter(rooms::id.eq_any(ids))
        .order(rooms::id)
        .select((
            rooms::id,
            rooms::last_message_id,
            rooms::last_message_at,
            rooms::access_version,
        ))
        .for_update()
        .load(c)?)
}

pub(crate) fn update_rooms(
    c: &mut PgConnection,
    changed: &[(i64, i64, Option<i64>)],
) -> Result<()> {
    diesel::sql_query(
        "update rooms set last_message_id = n.last, last_message_at = n.at \
         from unnest($1, $2, $3) as n (id, last, at) where rooms.id = n.id",
    )
    .bind::<Array<BigInt>, _>(column(changed, |room| room.0))
    .bind::<Array<BigInt>, _>(column(changed, |room| room.1))
    .bind::<Array<Nullable<BigInt>>, _>(column(changed, |room| room.2))
    .execute(c)?;
    Ok(())
}

fn column<T, V>(rows: &[T], value: impl Fn(&T) -> V) -> Vec<V> {
    rows.iter().map(value).collect()
}

/// The messages with these uuids in these rooms.
pub(crate) fn same_uuid(c: &mut PgConnection, wanted: &[(i64, &str)]) -> Result<Vec<MessageRow>> {
    Ok(diesel::sql_query(
        "select m.* from unnest($1, $2) as n (room, uuid) \
         join messages m on m.room_id = n.room and m.uuid = n.uuid and m.uuid is not null",
    )
    .bind::<Array<BigInt>, _>(column(wanted, |pair| pair.0))
    .bind::<Array<Text>, _>(wanted.iter().map(|pair| pair.1).collect::<Vec<_>>())
    .load(c)?)
}

pub(crate) fn insert_messages(c: &mut PgConnection, rows: &[MessageRow]) -> Result<()> {
    diesel::sql_query(
        "insert into messages (room_id, id, event, user_id, external_user_name, content, tags, explicit_tags, \
         uuid, fingerprint, sent, thread_root, parent_id, to_user_id, thread_left) \
         select * from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
    )
    .bind::<Array<BigInt>, _>(column(rows, |row| row.room_id))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.id))
    .bind::<Array<SmallInt>, _>(column(rows, |row| row.event))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.user_id))
    .bind::<Array<Nullable<Text>>, _>(rows.iter().map(|row| row.external_user_name.as_deref()).collect::<Vec<_>>())
    .bind::<Array<Text>, _>(rows.iter().map(|row| row.content.as_str()).collect::<Vec<_>>())
    .bind::<Array<Text>, _>(rows.iter().map(|row| row.tags.as_str()).collect::<Vec<_>>())
    .bind::<Array<Text>, _>(rows.iter().map(|row| row.explicit_tags.as_str()).collect::<Vec<_>>())
    .bind::<Array<Nullable<Text>>, _>(rows.iter().map(|row| row.uuid.as_deref()).collect::<Vec<_>>())
    .bind::<Array<BigInt>, _>(column(rows, |row| row.fingerprint))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.sent))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.thread_root))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.parent_id))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.to_user_id))
    .bind::<Array<Nullable<Text>>, _>(rows.iter().map(|row| row.thread_left.as_deref()).collect::<Vec<_>>())
    .execute(c)?;
    Ok(())
}

pub(crate) fn insert_tags(c: &mut PgConnection, tags: &[(i64, &str, i64)]) -> Result<()> {
    diesel::sql_query(
        "insert into message_tags (room_id, tag, message_id) \
         select * from unnest($1, $2, $3) on conflict do nothing",
    )
    .bind::<Array<BigInt>, _>(column(tags, |tag| tag.0))
    .bind::<Array<Text>, _>(tags.iter().map(|tag| tag.1).collect::<Vec<_>>())
    .bind::<Array<BigInt>, _>(column(tags, |tag| tag.2))
    .execute(c)?;
    Ok(())
}

pub(crate) fn insert_mentions(c: &mut PgConnection, rows: &[MentionRow]) -> Result<()> {
    diesel::sql_query(
        "insert into mentions (room_id, user_id, message_id, sender_id) \
         select * from unnest($1, $2, $3, $4) on conflict do nothing",
    )
    .bind::<Array<BigInt>, _>(column(rows, |row| row.0))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.1))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.2))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.3))
    .execute(c)?;
    Ok(())
}

/// The threads that their owners know by these ids, in the same order.
pub(crate) fn mirrors(
    c: &mut PgConnection,
    wanted: &[(i64, i64, &str)],
) -> Result<Vec<Option<i64>>> {
    #[derive(QueryableByName)]
    struct Mirror {
        #[diesel(sql_type = Nullable<BigInt>)]
        root_id: Option<i64>,
    }
    let found = diesel::sql_query(
        "select t.root_id from unnest($1, $2, $3) with ordinality as n (room, source, id, place) \
         left join threads t on t.room_id = n.room and t.source_id = n.source and t.external_id = n.id \
         order by n.place",
    )
    .bind::<Array<BigInt>, _>(column(wanted, |mirror| mirror.0))
    .bind::<Array<BigInt>, _>(column(wanted, |mirror| mirror.1))
    .bind::<Array<Text>, _>(wanted.iter().map(|mirror| mirror.2).collect::<Vec<_>>())
    .load::<Mirror>(c)?;
    Ok(found.into_iter().map(|mirror| mirror.root_id).collect())
}

/// Whether anything happened in each of these rooms after its position, in the same order.
pub(crate) fn news_of_each(c: &mut PgConnection, asked: &[(RoomId, Seq)]) -> Result<Vec<bool>> {
    #[derive(QueryableByName)]
    struct News {
        #[diesel(sql_type = Bool)]
        has_news: bool,
    }
    let found = diesel::sql_query(
        "select exists (select 1 from event_log e where e.room_id = n.room and e.seq > n.seq) as has_news \
         from unnest($1, $2) with ordinality as n (room, seq, place) order by n.place",
    )
    .bind::<Array<BigInt>, _>(column(asked, |(room, _)| room.0))
    .bind::<Array<BigInt>, _>(column(asked, |(_, after)| after.0))
    .load::<News>(c)?;
    Ok(found.into_iter().map(|news| news.has_news).collect())
}

pub(crate) fn put_threads(c: &mut PgConnection, rows: &[ThreadRow]) -> Result<()> {
    diesel::sql_query(
        "insert into threads (room_id, root_id, activities, internal_comments, external_comments, created_at, \
         updated_at, origin, source_id, application_id, external_id, item_id, \
         item_from) \
         select * from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
         on conflict (room_id, root_id) do update set activities = excluded.activities, \
         internal_comments = excluded.internal_comments, external_comments = excluded.external_comments, \
         updated_at = excluded.updated_at, item_id = excluded.item_id, \
         item_from = excluded.item_from",
    )
    .bind::<Array<BigInt>, _>(column(rows, |row| row.room_id))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.root_id))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.activities))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.internal_comments))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.external_comments))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.created_at))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.updated_at))
    .bind::<Array<SmallInt>, _>(column(rows, |row| row.origin))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.source_id))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.application_id))
    .bind::<Array<Nullable<Text>>, _>(rows.iter().map(|row| row.external_id.as_deref()).collect::<Vec<_>>())
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.item_id))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.item_from))
    .execute(c)?;
    Ok(())
}

/// Moves the clock of the log, and gives where it stands then. diesel has every other update read
/// and planned again each time, since in general its text depends on what is set.
#[derive(Debug, QueryId)]
struct AdvanceClock {
    count: i64,
}

impl Query for AdvanceClock {
    type SqlType = BigInt;
}

impl RunQueryDsl<PgConnection> for AdvanceClock {}

impl QueryFragment<Pg> for AdvanceClock {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("update log_clock set sequence = sequence + ");
        out.push_bind_param::<BigInt, _>(&self.count)?;
        out.push_sql(" where id = 1 returning sequence");
        Ok(())
    }
}

pub(crate) fn advance_clock(c: &mut PgConnection, count: i64) -> Result<i64> {
    Ok(AdvanceClock { count }.get_result(c)?)
}

pub(crate) fn insert_log(c: &mut PgConnection, rows: &[NewLogRow]) -> Result<()> {
    diesel::sql_query(
        "insert into event_log (seq, check_value, kind, room_id, message_id, user_id, peer_id, created_at) \
         select * from unnest($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind::<Array<BigInt>, _>(column(rows, |row| row.seq))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.check_value))
    .bind::<Array<SmallInt>, _>(column(rows, |row| row.kind))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.room_id))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.message_id))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.user_id))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.peer_id))
    .bind::<Array<BigInt>, _>(column(rows, |row| row.created_at))
    .execute(c)?;
    Ok(())
}

/// Files messages under their words.
pub(crate) fn index_at_once(
    c: &mut PgConnection,
    words: &[(i64, i64, &SearchTokens)],
) -> Result<()> {
    diesel::sql_query(
        "insert into message_search (room_id, message_id, words) \
         select room, id, array_to_tsvector(string_to_array(words, ' ')) \
         from unnest($1, $2, $3) as n (room, id, words)",
    )
    .bind::<Array<BigInt>, _>(column(words, |word| word.0))
    .bind::<Array<BigInt>, _>(column(words, |word| word.1))
    .bind::<Array<Text>, _>(column(words, |word| word.2.as_str()))
    .execute(c)?;
    Ok(())
}

/// The same for messages that are imported.
pub(crate) fn index_now(c: &mut PgConnection, words: &[(i64, i64, &SearchTokens)]) -> Result<()> {
    index_at_once(c, words)
}

/// Files a message under other words.
pub(crate) fn reindex(
    c: &mut PgConnection,
    room: RoomId,
    id: MessageId,
    words: &SearchTokens,
) -> Result<()> {
    unindex(c, room, id)?;
    if words.is_empty() {
        Ok(())
    } else {
        index_at_once(c, &[(room.0, id.0, words)])
    }
}

/// The index is never behind here.
#[expect(clippy::unnecessary_wraps, reason = "its twin for SQLite can fail")]
pub(crate) fn is_behind(_: &mut PgConnection, _: RoomId) -> Result<bool> {
    Ok(false)
}

/// There is never anything to catch up with here.
#[expect(clippy::unnecessary_wraps, reason = "its twin for SQLite can fail")]
pub(crate) fn catch_up(_: &mut PgConnection, _: &crate::backlog::Backlog) -> Result<()> {
    Ok(())
}

/// Takes a message out of the index.
pub(crate) fn unindex(c: &mut PgConnection, room: RoomId, id: MessageId) -> Result<()> {
    diesel::sql_query("delete from message_search where room_id = $1 and message_id = $2")
        .bind::<BigInt, _>(room.0)
        .bind::<BigInt, _>(id.0)
        .execute(c)?;
    Ok(())
}

/// The index is filled with the messages themselves, and keeps nothing of a room beside their words.
#[expect(clippy::unnecessary_wraps, reason = "its twin for SQLite can fail")]
pub(crate) fn forget_room(_: &mut PgConnection, _: RoomId) -> Result<()> {
    Ok(())
}

const WORDING: Wording = Wording {
    placeholder: |n| format!("${n}"),
    words_from: "message_search t",
    words_id: "t.message_id",
    words_order: "t.message_id",
    words_match: |room, placeholder| {
        format!("t.room_id = {room} and t.words @@ {placeholder}::tsquery")
    },
};

/// The words of a search as a `tsquery`.
#[expect(clippy::unnecessary_wraps, reason = "its twin for SQLite can fail")]
pub(crate) fn words_value(_: &mut PgConnection, search: &SearchQuery) -> Result<String> {
    let words = search.words().iter().map(|word| match word.is_beginning {
        true => format!("'{}':*", word.token),
        false => format!("'{}'", word.token),
    });
    Ok(words.collect::<Vec<_>>().join(" & "))
}

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// Looks at this many candidates of a search that has further conditions.
pub(crate) fn find_ids(
    c: &mut PgConnection,
    place: &SearchPlace,
    query: &MessageQuery,
    candidates: i64,
) -> Result<Vec<i64>> {
    ids(c, statement(place, query, &WORDING, candidates))
}

/// The last of the candidates, if there are so many.
pub(crate) fn find_last_candidate(
    c: &mut PgConnection,
    place: &SearchPlace,
    query: &MessageQuery,
    candidates: i64,
) -> Result<Option<i64>> {
    Ok(ids(c, last_candidate(place, query, &WORDING, candidates))?.pop())
}

/// The messages whose unread mention of a member counts, at most `limit` of them.
pub(crate) fn list_unread_mentions(
    c: &mut PgConnection,
    of: &MentionsReader,
    limit: i64,
) -> Result<Vec<i64>> {
    let newest = format!(
        "cross join lateral (select n.message_id, n.user_id, n.sender_id from mentions n \
         where n.room_id = {} and n.user_id = k.mention_key and n.message_id > {} \
         order by n.message_id desc limit {MENTIONS_OF_KEY_LOOKED_AT}) m",
        of.room,
        of.nearest(),
    );
    ids(c, of.statement(&newest, limit))
}

fn ids(c: &mut PgConnection, statement: Statement) -> Result<Vec<i64>> {
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

/// The last batch a writer committed. Waits for a backend of that writer that is still dying with
/// its transaction open, so that the answer is final.
pub(crate) fn committed_batch(c: &mut PgConnection, writer: &str) -> Result<Option<i64>> {
    Ok(writers::table
        .find(writer)
        .select(writers::batch)
        .for_update()
        .get_result(c)
        .optional()?)
}

/// Wakes the other processes.
pub(crate) fn notify(c: &mut PgConnection) -> Result<()> {
    diesel::sql_query("notify eddyline_log").execute(c)?;
    Ok(())
}
