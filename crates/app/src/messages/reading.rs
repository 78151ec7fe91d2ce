//! Marking what was read (docs/protocol.md, Reading).

use eddyline_model::log::Control;
use eddyline_model::reading::ReadMarker;
use eddyline_model::{MessageId, RoomId, UserId};
use eddyline_storage::Tx;
use eddyline_wire::Flow;

use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::flow_view::{CredentialScopes, describe_at};
use crate::rooms::{FlowRoom, Room};
use crate::{Error, Messages, Result};

impl Messages {
    /// Moves one of the caller's markers in a room, or all of them, to a message, and tells the
    /// caller's own streams. The caller was admitted to the room with
    /// [`MessageAction::Read`](eddyline_model::policy::MessageAction::Read). A marker only goes
    /// forward: an earlier message changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] for a message that is not there yet, [`Error::denied`].
    pub async fn mark_read(
        &self,
        actor: &Actor,
        room: &Room,
        marker: Option<ReadMarker>,
        message: MessageId,
    ) -> Result<()> {
        let user = actor.user()?.user.id;
        let room = room.id().ok_or_else(beyond)?;
        self.core
            .transaction_as(actor, move |tx, _| {
                check(tx, room, user, message)?;
                if tx.members().set_read(room, user, marker, message)? {
                    tx.record_event(Control::Read {
                        room,
                        user,
                        marker,
                        message,
                    });
                }
                Ok(())
            })
            .await?;
        Ok(())
    }

    /// Notes that the caller, who was admitted as for [`Messages::mark_read`], has read a thread up
    /// to a message, and tells the caller's own streams. The flow, without its people, says what is
    /// unread then.
    ///
    /// # Errors
    ///
    /// As [`Messages::mark_read`]; [`Error::not_found`] when there is no such thread.
    pub async fn mark_thread_read(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        thread_id: &str,
        message: MessageId,
    ) -> Result<Flow> {
        let user = actor.user()?.user.id;
        let (root, room) = (self.thread_root(room, thread_id)?, room.id());
        let addresses = self.core.config().addresses.clone();
        let shown = CredentialScopes::by(actor);
        self.core
            .transaction_as(actor, move |tx, _| {
                check(tx, room, user, message)?;
                if tx.threads().find(room, root)?.is_none() {
                    return Err(Error::not_found().into());
                }
                if tx.members().set_thread_read(room, user, root, message)? {
                    tx.record_event(Control::ThreadRead { room, user, root });
                }
                Ok(())
            })
            .await?;
        let store = self.core.store();
        let flow = store.read(move |reader| describe_at(reader, &addresses, (room, user), shown));
        flow.await?.ok_or_else(Error::not_found)
    }
}

/// Whether a user may mark a message of a room as read. Looked at in the transaction, since the user
/// may be out by now.
fn check(tx: &mut Tx<'_>, room: RoomId, user: UserId, message: MessageId) -> TxResult<()> {
    let membership = tx.members().find(room, user)?;
    if membership.is_none_or(|membership| membership.blocked) {
        return Err(Error::denied().into());
    }
    let last = tx.rooms().find_last_message_id(room)?;
    if last.is_none_or(|last| message > last) {
        return Err(beyond().into());
    }
    Ok(())
}

fn beyond() -> Error {
    Error::invalid("message", "is not there yet")
}
