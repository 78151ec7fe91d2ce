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
    fn last_answers(c: &mut Connection, room: RoomId, roots: &[i64]) -> Result<Vec<Option<i64>>> {
        let last = messages::table
            .filter(messages::room_id.eq(threads::room_id))
            .filter(messages::thread_root.eq(threads::root_id.nullable()))
            .filter(messages::thread_root.ne(messages::id.nullable()))
            .select(max(messages::id))
            .single_value();
        Ok(threads::table
            .filter(threads::room_id.eq(room.0))
            .filter(threads::root_id.eq_any(roots))
            .select(last)
            .load(c)?)
    }

    /// The answers in a thread before a message, the latest first.
    fn answers_before(
        c: &mut Connection,
        room: RoomId,
        root: MessageId,
        before: MessageId,
    ) -> Result<Vec<i64>> {
        Ok(messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::thread_root.eq(root.0))
            .filter(messages::thread_root.ne(messages::id.nullable()))
            .filter(messages::id.lt(before.0))
            .order(messages::id.desc())
            .limit(AT_ONCE as i64)
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
        let roots: Vec<i64> = roots.iter().map(|root| root.0).collect();
        let answers = self.last_answers(room, &roots)?;
        // What began a thread is the last where nobody answered, or where the answers are gone.
        let ids: Vec<i64> = roots
            .into_iter()
            .chain(answers.into_iter().flatten())
            .collect();
        let mut last: BTreeMap<MessageId, LastMessage> = BTreeMap::new();
        // A notice that an answer was deleted stands in its thread, and is no message of it.
        let mut notices = BTreeMap::new();
        for ids in ids.chunks(AT_ONCE) {
            for (root, message) in self.read_last(room, ids)? {
                if !message.event.is_listed() {
                    notices.insert(root, message.id);
                } else if last.get(&root).is_none_or(|known| known.id < message.id) {
                    last.insert(root, message);
                }
            }
        }
        for (root, notice) in notices {
            if let Some(message) = self.find_last_before(room, root, notice)? {
                last.insert(root, message);
            }
        }
        Ok(last)
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

    /// The last answer in a thread before a notice.
    fn find_last_before(
        &mut self,
        room: RoomId,
        root: MessageId,
        mut before: MessageId,
    ) -> Result<Option<LastMessage>> {
        loop {
            let ids = self.answers_before(room, root, before)?;
            let Some(first) = ids.last() else {
                return Ok(None);
            };
            before = MessageId(*first);
            let found = self.read_last(room, &ids)?.into_iter();
            let listed = found.filter(|(_, message)| message.event.is_listed());
            if let Some((_, last)) = listed.max_by_key(|(_, message)| message.id) {
                return Ok(Some(last));
            }
        }
    }
}
