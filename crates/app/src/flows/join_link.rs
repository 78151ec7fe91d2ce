//! The secrets of join links. A link ends when its flow gets another secret: with each change of
//! its access mode, when a member who may configure the flow asks for it, and when a user is
//! removed from the organization, who may have copied the links of all its flows. The invitations
//! that were requested on the page of a link end with it.

use eddyline_auth::Secret;
use eddyline_model::audit::AuditAction;
use eddyline_model::log::Control;
use eddyline_model::policy::FlowAction;
use eddyline_model::{OrganizationId, RoomId};
use eddyline_storage::{Result as StoreResult, Tx};
use eddyline_wire::Flow as WireFlow;
use serde_json::json;

use crate::actor::Actor;
use crate::audit::note_flow;
use crate::flow_view::CredentialScopes;
use crate::pending_invitations::revoke;
use crate::rooms::FlowRoom;
use crate::{Flows, Result};

impl Flows {
    /// Gives a flow a new join link. The old link, and the invitations requested on its page, are
    /// invalid before this returns.
    ///
    /// # Errors
    ///
    /// [`crate::Error::denied`] when the caller may not configure the flow, or the organization is
    /// inactive.
    pub async fn replace_join_link(&self, actor: &Actor, room: &FlowRoom) -> Result<WireFlow> {
        let (id, user) = (room.id(), actor.user()?.user.id);
        let ((), event) = self
            .rooms
            .change_flow(actor, id, FlowAction::Configure, |tx, _, room| {
                replace_join_secret(tx, room.id())?;
                note_flow(tx, room.id(), AuditAction::FlowLink, &json!({}))?;
                // Clients that show the link fetch the flow again.
                tx.record_event(Control::FlowChange { room: room.id() });
                Ok(())
            })
            .await?;
        self.core.wait_until_applied(event).await;
        self.describe(id, user, CredentialScopes::by(actor)).await
    }
}

/// A secret for a join link.
pub(crate) fn new_join_secret() -> String {
    Secret::generate_hex::<20>().expose().to_owned()
}

/// Ends the join link of a flow and the invitations requested on its page. The caller holds its
/// room.
pub(crate) fn replace_join_secret(tx: &mut Tx<'_>, room: RoomId) -> StoreResult<()> {
    replace(tx, &[room])
}

/// Ends the join links of all flows of an organization and the invitations requested on their
/// pages. The caller holds the rooms. A flow without a link gets a new secret when its access mode
/// changes.
pub(crate) fn replace_join_secrets(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> StoreResult<()> {
    let rooms = tx.flows().list_rooms_with_join_link(organization)?;
    replace(tx, &rooms)
}

fn replace(tx: &mut Tx<'_>, rooms: &[RoomId]) -> StoreResult<()> {
    let secrets: Vec<(RoomId, String)> = rooms
        .iter()
        .map(|room| (*room, new_join_secret()))
        .collect();
    tx.flows().set_join_secrets(&secrets)?;
    let requested = tx.invitations().list_requested(rooms)?;
    revoke(tx, &requested)
}
