//! Messages that earlier versions have stored in another form, which are rewritten while the server
//! runs.

use diesel::prelude::*;
use eddyline_model::messages::MessageKind;
use eddyline_model::search;
use eddyline_model::{MessageId, RoomId};
use eddyline_portable::portable;

use crate::areas::{Messages, Rooms};
use crate::reader::{Access, dialect};
use crate::schema::messages;
use crate::transaction::Tx;
use crate::{Error, Result};

/// The number of messages whose contents are in memory at a time.
const PAGE: i64 = 200;

#[portable]
impl<C: Access> Messages<'_, C> {
    /// The first message behind this one, in the order of rooms and numbers.
    pub fn find_next(
        c: &mut Connection,
        room: RoomId,
        after: MessageId,
    ) -> Result<Option<(RoomId, MessageId)>> {
        let of_room = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.gt(after.0))
            .order(messages::id)
            .select((messages::room_id, messages::id))
            .first::<(i64, i64)>(c)
            .optional()?;
        let next = match of_room {
            Some(next) => Some(next),
            None => messages::table
                .filter(messages::room_id.gt(room.0))
                .order((messages::room_id, messages::id))
                .select((messages::room_id, messages::id))
                .first(c)
                .optional()?,
        };
        Ok(next.map(|(room, id)| (RoomId(room), MessageId(id))))
    }

    /// Messages after one and through another which earlier versions filed under other words.
    pub fn list_with_former_words(
        c: &mut Connection,
        room: RoomId,
        after: MessageId,
        through: MessageId,
    ) -> Result<Vec<MessageId>> {
        let (mut ids, mut after) = (Vec::new(), after.0);
        loop {
            let page = messages::table
                .filter(messages::room_id.eq(room.0))
                .filter(messages::id.gt(after))
                .filter(messages::id.le(through.0))
                .order(messages::id)
                .limit(PAGE)
                .select((messages::id, messages::content))
                .load::<(i64, String)>(c)?;
            let Some((last, _)) = page.last() else {
                return Ok(ids);
            };
            after = *last;
            let former = page
                .iter()
                .filter(|(_, content)| search::has_former_tokens(content));
            ids.extend(former.map(|(id, _)| MessageId(*id)));
        }
    }

    fn find_content(c: &mut Connection, room: RoomId, id: i64) -> Result<Option<(i16, String)>> {
        let content = messages::table
            .find((room.0, id))
            .select((messages::event, messages::content))
            .first(c);
        Ok(content.optional()?)
    }
}

impl Messages<'_, Tx<'_>> {
    /// Files messages under the words that they have now. Numbers of no message are passed over.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn set_words(&mut self, room: RoomId, ids: &[MessageId]) -> Result<()> {
        Rooms(self.0).lock(room)?;
        for id in ids {
            let Some((event, content)) = self.find_content(room, id.0)? else {
                continue;
            };
            let event = MessageKind::from_code(event).ok_or(Error::Corrupt("event"))?;
            let words = search::of_message(event, &content);
            dialect!(self, reindex, room, *id, &words)?;
        }
        Ok(())
    }
}
