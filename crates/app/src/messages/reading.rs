//! Marking what was read (docs/protocol.md, Reading).

use eddyline_model::log::Control;
use eddyline_model::policy::PrivateAction;
use eddyline_model::{MessageId, RoomId, UserId};

use crate::actor::Actor;
use crate::rooms::Room;
use crate::{Error, Messages, Result};

impl Messages {
    /// Moves the caller's marker in a flow, for which the caller was admitted with
    /// [`FlowAction::Read`](eddyline_model::policy::FlowAction::Read), to a message, and tells the
    /// caller's own streams. A marker only goes forward: an earlier message changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] for a message that is not there yet, [`Error::denied`].
    pub async fn mark_read(&self, actor: &Actor, room: &Room, message: MessageId) -> Result<()> {
        let user = actor.user()?.user.id;
        self.move_marker(actor, room.id(), user, message).await
    }

    /// Moves the caller's marker in the private conversation with a user, as
    /// [`Messages::mark_read`] does in a flow.
    ///
    /// # Errors
    ///
    /// As [`Messages::mark_read`]; [`Error::not_found`] for strangers.
    pub async fn mark_private_read(
        &self,
        actor: &Actor,
        with: UserId,
        message: MessageId,
    ) -> Result<()> {
        let user = actor.user()?.user.id;
        match self
            .rooms
            .admit_private(actor, with, PrivateAction::Read)
            .await?
            .room()
        {
            Some(room) => self.move_marker(actor, room, user, message).await,
            None => Err(beyond()),
        }
    }

    async fn move_marker(
        &self,
        actor: &Actor,
        room: RoomId,
        user: UserId,
        message: MessageId,
    ) -> Result<()> {
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
