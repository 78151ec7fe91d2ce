//! Lists around a place in a room, and where a time stands in it.

use diesel::prelude::*;
use eddyline_model::messages::{Around, MessageQuery, MessageView, Sort};
use eddyline_model::{MessageId, RoomId, Timestamp};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::{Messages, Rooms};
use crate::lists::{MessagePage, WordsCache};
use crate::page_budget::PageBudget;
use crate::reader::Access;
use crate::schema::messages;

/// Messages bear the time at which they were checked and are numbered as they are committed, so
/// the times of neighbours may stand in another order. Those of messages whose numbers are further
/// apart than this are taken to stand in the order of their numbers.
pub(crate) const DISORDER: i64 = 32;

#[portable]
impl<C: Access> Messages<'_, C> {
    /// The number and the time of the first message of a room with this number or a later one, of
    /// whatever kind.
    fn find_time_onward(c: &mut Connection, room: RoomId, id: i64) -> Result<Option<(i64, i64)>> {
        Ok(messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.ge(id))
            .order(messages::id)
            .select((messages::id, messages::sent))
            .first(c)
            .optional()?)
    }

    /// The first number from `from` up to `to` of a message that was sent at a time or later.
    fn find_sent_onward(
        c: &mut Connection,
        room: RoomId,
        from: i64,
        to: i64,
        at: Timestamp,
    ) -> Result<Option<i64>> {
        Ok(messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.between(from, to))
            .filter(messages::sent.ge(at.0))
            .order(messages::id)
            .select(messages::id)
            .first(c)
            .optional()?)
    }
}

impl<C: Access> Messages<'_, C> {
    /// The number of the first message of a room, of whatever kind, that was sent at a time or
    /// later. Behind the last message when there is none.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn find_first_since(&mut self, room: RoomId, at: Timestamp) -> Result<MessageId> {
        let found = self.boundary(room, at)?;
        let first = self.find_sent_onward(room, found - DISORDER, found, at)?;
        Ok(MessageId(first.unwrap_or(found)))
    }

    /// The same but for [`DISORDER`], by halving the numbers of the room: a few look-ups in the
    /// primary key, however many messages there are.
    pub(crate) fn boundary(&mut self, room: RoomId, at: Timestamp) -> Result<i64> {
        let last = Rooms(self.0).find_last_message_id(room)?;
        let mut low = 1;
        let mut high = last.map_or(0, |last| last.0) + 1;
        while low < high {
            let middle = low + (high - low) / 2;
            match self.find_time_onward(room, middle)? {
                Some((id, sent)) if sent < at.0 => low = id + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    pub(crate) fn list_around(
        &mut self,
        room: RoomId,
        query: &MessageQuery,
        around: Around,
        bytes: usize,
    ) -> Result<MessagePage> {
        let middle = match around {
            Around::Message(id) => id,
            Around::Time(at) => self.find_first_since(room, at)?,
        };
        let side = |sort, since, until| MessageQuery {
            around: None,
            sort,
            since,
            until,
            ..query.clone()
        };
        let beyond = Some(MessageId(middle.0.saturating_sub(1)));
        // It is not searched for words around a place.
        let mut cache = WordsCache::default();
        let (mut before, _) = self.matches(
            room,
            &side(Sort::Descending, None, Some(middle)),
            &mut cache,
        )?;
        let (mut onward, _) =
            self.matches(room, &side(Sort::Ascending, beyond, None), &mut cache)?;
        let limit = usize::try_from(query.limit).unwrap_or_default();
        let shares = Around::share(limit, before.len(), onward.len());
        let is_cut = |found: usize, share: usize| found > share || found == limit;
        let (mut has_older, mut has_newer) = (
            is_cut(before.len(), shares.0),
            is_cut(onward.len(), shares.1),
        );
        before.drain(..before.len() - shares.0);
        onward.truncate(shares.1);
        let half = |sort| PageBudget {
            bytes: bytes / 2,
            sort,
        };
        let before = self.list_views_within(room, before, half(Sort::Descending))?;
        let onward = self.list_views_within(room, onward, half(Sort::Ascending))?;
        has_older |= before.len() < shares.0;
        has_newer |= onward.len() < shares.1;
        let before_count = before.len();
        let mut messages = before;
        messages.extend(onward);
        let id_of = |view: Option<&MessageView>| view.map(|view| view.message.id);
        Ok(MessagePage {
            previous: id_of(messages.first()).filter(|_| has_older),
            next: id_of(messages.last()).filter(|_| has_newer),
            before: before_count,
            messages,
        })
    }
}
