//! Marking what was read (docs/protocol.md, Reading).

use eddyline_model::MessageId;
use eddyline_model::log::Control;

use crate::actor::Actor;
use crate::rooms::Room;
use crate::{Error, Messages, Result};

impl Messages {
    /// Moves the caller's marker in a room, for which the caller was admitted with
    /// [`MessageAction::Read`](eddyline_model::policy::MessageAction::Read), to a message, and
    /// tells the caller's own streams. A marker only goes forward: an earlier message changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] for a message that is not there yet, [`Error::denied`].
    pub async fn mark_read(&self, actor: &Actor, room: &Room, message: MessageId) -> Result<()> {
        let user = actor.user()?.user.id;
        let room = room.id().ok_or_else(beyond)?;
        self.core
            .transaction_as(actor, move |tx, _| {
                // Looked at again: the user may be out by now.
                if tx
                    .members()
                    .find(room, user)?
                    .is_none_or(|membership| membership.blocked)
                {
                    return Err(Error::denied().into());
                }
                if tx
                    .rooms()
                    .find_last_message_id(room)?
                    .is_none_or(|last| message > last)
                {
                    return Err(beyond().into());
                }
                if tx.members().set_read(room, user, message)? {
                    tx.record_event(Control::Read {
                        room,
                        user,
                        message,
                    });
                }
                Ok(())
            })
            .await?;
        Ok(())
    }
}

fn beyond() -> Error {
    Error::invalid("message", "is not there yet")
}
