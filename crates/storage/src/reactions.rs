//! Reactions to messages.

use std::collections::HashMap;

use diesel::dsl::max;
use diesel::prelude::*;
use eddyline_model::reactions::{Emoji, Reactions as MessageReactions};
use eddyline_model::{MessageId, RoomId, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Reactions;
use crate::reader::Access;
use crate::schema::reactions;
use crate::transaction::Tx;

#[portable]
impl<C: Access> Reactions<'_, C> {
    /// The reactions to some messages of one room. Messages without any are left out.
    pub fn list(
        c: &mut Connection,
        room: RoomId,
        messages: &[i64],
    ) -> Result<HashMap<MessageId, MessageReactions>> {
        let rows: Vec<(i64, String, i64)> = reactions::table
            .filter(reactions::room_id.eq(room.0))
            .filter(reactions::message_id.eq_any(messages))
            .order((reactions::message_id, reactions::position))
            .select((reactions::message_id, reactions::emoji, reactions::user_id))
            .load(c)?;
        let mut found: HashMap<MessageId, MessageReactions> = HashMap::new();
        for (message, emoji, user) in rows {
            let of_message = found.entry(MessageId(message)).or_default();
            of_message.push(&emoji, UserId(user));
        }
        Ok(found)
    }
}

#[portable]
impl Reactions<'_, Tx<'_>> {
    /// Notes that a user reacts to a message, after all who did before. The room must be locked, and
    /// the user must not have reacted with this emoji.
    pub fn insert(
        c: &mut Connection,
        room: RoomId,
        message: MessageId,
        emoji: Emoji,
        user: UserId,
    ) -> Result<()> {
        let last: Option<i64> = reactions::table
            .filter(reactions::room_id.eq(room.0))
            .filter(reactions::message_id.eq(message.0))
            .select(max(reactions::position))
            .get_result(c)?;
        diesel::insert_into(reactions::table)
            .values((
                reactions::room_id.eq(room.0),
                reactions::message_id.eq(message.0),
                reactions::emoji.eq(emoji.as_str()),
                reactions::user_id.eq(user.0),
                reactions::position.eq(last.unwrap_or_default() + 1),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Takes a reaction of a user back. Says whether there was one.
    pub fn delete(
        c: &mut Connection,
        room: RoomId,
        message: MessageId,
        emoji: Emoji,
        user: UserId,
    ) -> Result<bool> {
        let reaction = reactions::table.find((room.0, message.0, emoji.as_str(), user.0));
        Ok(diesel::delete(reaction).execute(c)? > 0)
    }

    /// Removes all reactions to a message.
    pub fn delete_of_message(c: &mut Connection, room: RoomId, message: MessageId) -> Result<()> {
        let of_message = reactions::table
            .filter(reactions::room_id.eq(room.0))
            .filter(reactions::message_id.eq(message.0));
        diesel::delete(of_message).execute(c)?;
        Ok(())
    }
}
