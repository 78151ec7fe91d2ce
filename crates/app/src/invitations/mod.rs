//! Invitations into flows, by mail: making, importing, showing, accepting and ending them.
//!
//! A user who accepts joins by [`crate::join`]. The mails themselves are written and sent by
//! [`crate::mailer`]; here they are only put into its queue.

pub(crate) mod accept;
mod create;
pub(crate) mod end;
mod import;
mod operator;
mod send;

pub use self::import::{BLOCKED_ADDRESS, InvitedList, PRESENT_ADDRESS};
pub use self::operator::{AddressFate, OperatorInvitations};

use crate::core::Core;
use crate::mailer::Mail;
use crate::rooms::Rooms;
use eddyline_model::invitations::{Invitation, InvitationState};
use eddyline_model::names::email_key;
use eddyline_model::policy::{self, FlowAction, Invited};
use eddyline_model::{InvitationId, RoomId};
use eddyline_storage::{Reader, Tx};
use eddyline_wire::Invitation as WireInvitation;
use std::sync::Arc;

pub(crate) use self::import::Imports;
pub(crate) use self::send::MailLimits;
use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::rooms::FlowRoom;
use crate::{Error, Result};

/// Invitations to flows by mail. See [`crate::App::invitations`].
#[derive(Clone)]
pub struct Invitations {
    core: Core,
    rooms: Rooms,
    mail: Mail,
    imports: Arc<Imports>,
}

crate::core::opaque_debug!(Invitations);

impl Invitations {
    pub(crate) fn new(core: Core, rooms: Rooms, mail: Mail) -> Self {
        Self {
            core,
            rooms,
            mail,
            imports: Arc::default(),
        }
    }

    /// The pending invitations into a flow with higher numbers than `after`, oldest first, at most
    /// `limit`.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn list(
        &self,
        room: &FlowRoom,
        after: InvitationId,
        limit: i64,
    ) -> Result<Vec<WireInvitation>> {
        let id = room.id();
        let pending = self
            .core
            .store()
            .read(move |reader| reader.invitations().list_pending(id, after, limit))
            .await?;
        Ok(pending
            .iter()
            .map(|invitation| self.show(room, invitation))
            .collect())
    }

    /// An invitation into a flow, which may be accepted already, for members of the flow and for
    /// the one it was sent to.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`].
    pub async fn get(
        &self,
        actor: &Actor,
        organization: &str,
        flow: &str,
        id: InvitationId,
    ) -> Result<WireInvitation> {
        let room = self
            .rooms
            .load_room(self.rooms.room_id_by_name(organization, flow).await?)
            .await?;
        let (who, wanted) = (actor.clone(), room.clone());
        let (invitation, _) = self
            .core
            .read(move |reader| find_invitation(reader, &who, &wanted, id))
            .await?;
        Ok(self.show(&room, &invitation))
    }

    fn show(&self, room: &FlowRoom, invitation: &Invitation) -> WireInvitation {
        let url =
            self.core
                .config()
                .addresses
                .invitation(&room.organization, &room.flow, invitation.id);
        WireInvitation::of(invitation, &room.flow, url)
    }
}

/// An invitation into a room, and what the actor is to it.
fn find_invitation(
    reader: &mut Reader<'_>,
    actor: &Actor,
    room: &FlowRoom,
    id: InvitationId,
) -> TxResult<(Invitation, Invited)> {
    let flow_caller = actor.flow_caller(room);
    let Some(invitation) = reader
        .invitations()
        .find(id)?
        .filter(|found| found.room == room.id())
    else {
        // A caller who may not know of the flow's invitations does not learn which numbers there
        // are.
        let refusal = policy::flow(flow_caller, &room.flow, FlowAction::Invite).err();
        return Err(refusal.map_or(Error::not_found(), Error::from).into());
    };
    // An address that somebody merely entered is not yet theirs; the link in the mail is good for
    // all.
    let own = actor.user().is_ok_and(|caller| {
        caller.user.email_proved && email_key(&caller.user.email) == email_key(&invitation.email)
    });
    let who = policy::invited(flow_caller, &room.flow, own).map_err(Error::from)?;
    Ok((invitation, who))
}

/// The invitation as it is now, held against others, unless it is over.
fn lock_pending(tx: &mut Tx<'_>, room: RoomId, id: InvitationId) -> TxResult<Invitation> {
    tx.rooms().lock(room)?;
    let invitation = tx.invitations().find(id)?.ok_or_else(Error::not_found)?;
    if invitation.state != InvitationState::Pending {
        return Err(Error::conflict("the invitation was accepted already").into());
    }
    Ok(invitation)
}
