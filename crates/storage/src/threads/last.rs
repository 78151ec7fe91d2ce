//! The last message of each of some threads.

use std::collections::BTreeMap;

use diesel::dsl::max;
use diesel::prelude::*;
use eddyline_model::messages::{Author, LastMessage, MessageKind};
use eddyline_model::{MessageId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::Threads;
use crate::reader::Access;
use crate::schema::{messages, threads};
use crate::{Error, Result};

/// How many messages are read at once. What integrations push may be long, and one line of it is
/// kept.
const AT_ONCE: usize = 10;
/// How many numbers of messages one statement names at most.
const MOST_AT_ONCE: i64 = 1000;

type LastRow = (
    i64,
    Option<i64>,
    i16,
    Option<i64>,
    Option<String>,
    String,
    i64,
);

#[portable]
impl<C: Access> Threads<'_, C> {
    /// The last answer in each of the threads that have a row, one look-up in an index each.
    fn last_answers(
        c: &mut Connection,
        room: RoomId,
        roots: &[i64],
    ) -> Result<Vec<(i64, Option<i64>)>> {
        let last = messages::table
            .filter(messages::room_id.eq(threads::room_id))
            .filter(messages::thread_root.eq(threads::root_id.nullable()))
            .filter(messages::thread_root.ne(messages::id.nullable()))
            .select(max(messages::id))
            .single_value();
        Ok(threads::table
            .filter(threads::room_id.eq(room.0))
            .filter(threads::root_id.eq_any(roots))
            .select((threads::root_id, last))
            .load(c)?)
    }

    /// The last of these messages that is no notice about another.
    fn last_listed(c: &mut Connection, room: RoomId, ids: &[i64]) -> Result<Option<i64>> {
        Ok(messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.eq_any(ids))
            .filter(messages::event.lt(MessageKind::MessageEdit.code()))
            .select(max(messages::id))
            .first(c)?)
    }

    /// The answers in a thread before a message, the latest first.
    fn answers_before(
        c: &mut Connection,
        room: RoomId,
        root: i64,
        before: i64,
        count: i64,
    ) -> Result<Vec<i64>> {
        Ok(messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::thread_root.eq(root))
            .filter(messages::thread_root.ne(messages::id.nullable()))
            .filter(messages::id.lt(before))
            .order(messages::id.desc())
            .limit(count)
            .select(messages::id)
            .load(c)?)
    }

    fn last_rows(c: &mut Connection, room: RoomId, ids: &[i64]) -> Result<Vec<LastRow>> {
        Ok(messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.eq_any(ids))
            .select((
                messages::id,
                messages::thread_root,
                messages::event,
                messages::user_id,
                messages::external_user_name,
                messages::content,
                messages::sent,
            ))
            .load(c)?)
    }
}

impl<C: Access> Threads<'_, C> {
    /// The last message of each of these threads, by what began it. Threads whose messages are all
    /// gone have none.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn list_last(
        &mut self,
        room: RoomId,
        roots: &[MessageId],
    ) -> Result<BTreeMap<MessageId, LastMessage>> {
        if roots.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut lasts: BTreeMap<i64, i64> = roots.iter().map(|root| (root.0, root.0)).collect();
        let roots: Vec<i64> = lasts.keys().copied().collect();
        let answers = self.last_answers(room, &roots)?.into_iter();
        lasts.extend(answers.filter_map(|(root, last)| Some((root, last?))));
        let mut found = BTreeMap::new();
        let mut notices = Vec::new();
        for ids in lasts.values().copied().collect::<Vec<_>>().chunks(AT_ONCE) {
            for (root, message) in self.read_last(room, ids)? {
                match message.event.is_listed() {
                    true => found.insert(root, message).map_or((), drop),
                    // A notice of a deletion is stored in the thread and is not shown as a message.
                    false => notices.push((root, message.id)),
                }
            }
        }
        for (root, notice) in notices {
            let last = self.find_before(room, root.0, notice.0)?.unwrap_or(root.0);
            found.extend(self.read_last(room, &[last])?);
        }
        Ok(found)
    }

    /// Messages with these numbers, each with what began its thread.
    fn read_last(&mut self, room: RoomId, ids: &[i64]) -> Result<Vec<(MessageId, LastMessage)>> {
        let rows = self.last_rows(room, ids)?.into_iter();
        rows.map(|(id, root, event, user, external_name, content, sent)| {
            let event = MessageKind::from_code(event).ok_or(Error::Corrupt("event"))?;
            let user = user.map(UserId);
            let author = Author {
                user,
                external_name,
            };
            let message = LastMessage::new(MessageId(id), event, author, &content, Timestamp(sent));
            Ok((MessageId(root.unwrap_or(id)), message))
        })
        .collect()
    }

    /// The last answer in a thread before a notice. A thread may end in many notices: each step looks
    /// at ten times as many messages as the one before.
    fn find_before(&mut self, room: RoomId, root: i64, mut before: i64) -> Result<Option<i64>> {
        let mut count = 1;
        loop {
            count = (count * 10).min(MOST_AT_ONCE);
            let ids = self.answers_before(room, root, before, count)?;
            let Some(first) = ids.last() else {
                return Ok(None);
            };
            before = *first;
            if let Some(last) = self.last_listed(room, &ids)? {
                return Ok(Some(last));
            }
        }
    }
}
