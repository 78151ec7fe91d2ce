//! Flows: listing, showing, making and changing them.

mod join_link;
mod list;
mod users;

use crate::audit::{differences, note_flow};
use crate::core::Core;
use crate::presence::PresenceTracker;
use crate::rooms::Rooms;
use eddyline_auth::Secret;
use eddyline_model::audit::AuditAction;
use eddyline_model::flows::{AccessMode, Flow};
use eddyline_model::log::Control;
use eddyline_model::names::{FlowName, parameterized_candidates};
use eddyline_model::policy::{self, FlowAction, FlowCaller, MembershipState, OrganizationAction};
use eddyline_model::tags::Roster as _;
use eddyline_model::{FlowId, OrganizationId, RoomId, UserId};
use eddyline_storage::{NewFlowRow, Result as StoreResult, Tx};
use eddyline_wire::Flow as WireFlow;
use serde_json::json;

pub(crate) use self::join_link::replace_join_secrets;
use self::join_link::{new_join_secret, replace_join_secret};
pub(crate) use self::list::list_joined;
pub use self::list::{FLOW_LIST_BYTES, FlowList, FlowsWanted};
pub(crate) use self::users::{add_joining_member, admit_member, take_out};
use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::flow_view::{CredentialScopes, describe_with_users};
use crate::rooms::FlowRoom;
use crate::{Error, FlowLimits, Limit, Result};

/// What is to change about a flow, or about the caller's place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowChanges {
    /// A new display name.
    pub name: Option<FlowName>,
    /// What the flow is for; empty for nothing.
    pub description: Option<String>,
    /// Whether the caller's clients show a tab; joins a flow that can be joined.
    pub open: Option<bool>,
    /// Whether the flow is archived.
    pub disabled: Option<bool>,
    /// Who may come in.
    pub access_mode: Option<AccessMode>,
}

impl FlowChanges {
    fn configures(&self) -> bool {
        self.name.is_some()
            || self.description.is_some()
            || self.disabled.is_some()
            || self.access_mode.is_some()
    }
}

/// Flows, their users and their join links. See [`crate::App::flows`].
#[derive(Clone)]
pub struct Flows {
    core: Core,
    rooms: Rooms,
    presence: PresenceTracker,
}

crate::core::opaque_debug!(Flows);

impl Flows {
    pub(crate) fn new(core: Core, rooms: Rooms, presence: PresenceTracker) -> Self {
        Self {
            core,
            rooms,
            presence,
        }
    }

    pub(crate) fn with_present_people(&self, room: RoomId, mut flow: WireFlow) -> WireFlow {
        if let Some(people) = &mut flow.users {
            self.presence.bring_up_to_date(room, people);
        }
        flow
    }

    /// A flow as the caller sees it, with its people.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`].
    pub async fn get(&self, actor: &Actor, room: &FlowRoom) -> Result<WireFlow> {
        let caller = actor.user()?;
        self.describe(room.id(), caller.user.id, CredentialScopes::by(actor))
            .await
    }

    pub(crate) async fn describe(
        &self,
        room: RoomId,
        user: UserId,
        shown: CredentialScopes,
    ) -> Result<WireFlow> {
        let addresses = self.core.config().addresses.clone();
        let flow = self
            .core
            .store()
            .read(move |reader| describe_with_users(reader, &addresses, (room, user), shown))
            .await?;
        Ok(self.with_present_people(room, flow.ok_or_else(Error::not_found)?))
    }

    /// Makes a flow in an organization of the caller's, with the caller in it.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the organization is not the caller's, [`Error::denied`] when it is
    /// inactive, [`Error::conflict`] when it has as many flows as it may have, or the caller has
    /// made as many.
    pub async fn create(
        &self,
        actor: &Actor,
        organization: &str,
        name: FlowName,
    ) -> Result<WireFlow> {
        let user = actor.user()?.user.clone();
        let (id, organization) = (user.id, organization.to_lowercase());
        let limits = self.core.config().flows;
        let (room, event) = self
            .core
            .transaction_as(actor, move |tx, _| {
                let organization = lock_writable(tx, &organization, user.id)?;
                check_flow_limits(tx, limits, organization, user.id)?;
                let room = insert_flow(tx, organization, &name, Some(user.id))?;
                add_joining_member(tx, room, &user)?;
                Ok(room)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        self.describe(room, id, CredentialScopes::by(actor)).await
    }

    /// Changes a flow, or the caller's place in it.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`].
    pub async fn update(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        changes: FlowChanges,
    ) -> Result<WireFlow> {
        let caller = actor.user()?.clone();
        let (id, user) = (room.id(), caller.user.id);
        let own_mark = changes.open.is_some() && !changes.configures() && room.contains(user);
        let action = if own_mark {
            FlowAction::SetOpen
        } else {
            FlowAction::See
        };
        let ((), event) = self
            .rooms
            .change_flow(actor, id, action, move |tx, actor, room| {
                allow_update(actor.flow_caller(room), room, &changes)?;
                Ok(apply_update(tx, room, &changes, &caller.user)?)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        self.describe(id, user, CredentialScopes::by(actor)).await
    }
}

/// The organization of that name, held against others, for one of its people who wants to write.
fn lock_writable(tx: &mut Tx<'_>, name: &str, user: UserId) -> TxResult<OrganizationId> {
    let id = tx
        .organizations()
        .find_id_by_name(name)?
        .ok_or_else(Error::not_found)?;
    let organization = tx.organizations().lock(id)?.ok_or_else(Error::not_found)?;
    let role = tx
        .organization_members()
        .list_of_user(user)?
        .into_iter()
        .find(|m| m.organization == id)
        .map(|m| m.role);
    policy::organization(role, OrganizationAction::See).map_err(Error::from)?;
    policy::write(&organization).map_err(Error::from)?;
    Ok(id)
}

/// Refuses another flow where there are as many as there may be. The organization is held.
fn check_flow_limits(
    tx: &mut Tx<'_>,
    limits: FlowLimits,
    organization: OrganizationId,
    user: UserId,
) -> TxResult<()> {
    let (all, own) = tx.flows().count(organization, user)?;
    for (most, count, who, limit) in [
        (
            limits.of_organization,
            all,
            "the organization has",
            Limit::OrganizationFlows,
        ),
        (limits.of_user, own, "you have made", Limit::UserFlows),
    ] {
        if most > 0 && count >= i64::from(most) {
            let text =
                format!("{who} {count} flows, archived ones included, and more are not allowed");
            return Err(Error::full(limit, text).into());
        }
    }
    Ok(())
}

fn allow_update(flow_caller: FlowCaller, room: &FlowRoom, changes: &FlowChanges) -> Result<()> {
    if changes.configures() {
        policy::flow(flow_caller, &room.flow, FlowAction::Configure)?;
    }
    let archived_after = changes.disabled.unwrap_or(room.flow.disabled);
    if changes.open.is_some() && !archived_after {
        let active = Flow {
            disabled: false,
            ..room.flow.clone()
        };
        let inside = matches!(
            flow_caller,
            FlowCaller::User {
                place: MembershipState::Inside,
                ..
            }
        );
        if changes.open == Some(true) && !inside {
            policy::flow(flow_caller, &active, FlowAction::Join)?;
        }
    } else if changes.open.is_some() {
        return Err(Error::denied());
    }
    Ok(())
}

fn apply_update(
    tx: &mut Tx<'_>,
    room: &FlowRoom,
    changes: &FlowChanges,
    user: &eddyline_model::users::User,
) -> StoreResult<()> {
    let before = &room.flow;
    let mut after = before.clone();
    if let Some(name) = &changes.name {
        after.name = name.as_str().to_owned();
    }
    if let Some(description) = &changes.description {
        after.description = Some(description.clone()).filter(|text| !text.is_empty());
    }
    after.disabled = changes.disabled.unwrap_or(before.disabled);
    after.access_mode = changes.access_mode.unwrap_or(before.access_mode);
    write_flow(tx, before, &after)?;
    match (changes.open, room.member(user.id)) {
        (Some(open), Some(_)) => tx.members().set_open(room.id(), user.id, open)?,
        (Some(true), None) => add_joining_member(tx, room.id(), user)?,
        _ => {}
    }
    Ok(())
}

/// Writes what is different about a flow, which is held, and tells it. Doing it twice does nothing.
pub(crate) fn write_flow(tx: &mut Tx<'_>, before: &Flow, after: &Flow) -> StoreResult<()> {
    let room = before.room;
    if after != before {
        tx.flows().update(after)?;
        let mode = |flow: &Flow| json!(flow.access_mode.as_str());
        let changed = differences(&[
            ("name", json!(before.name), json!(after.name)),
            (
                "description",
                json!(before.description),
                json!(after.description),
            ),
            ("disabled", json!(before.disabled), json!(after.disabled)),
            ("access_mode", mode(before), mode(after)),
        ]);
        note_flow(tx, room, AuditAction::FlowChange, &changed)?;
        tx.record_event(Control::FlowChange { room });
    }
    if after.access_mode != before.access_mode {
        replace_join_secret(tx, room)?;
    }
    if after.disabled != before.disabled {
        tx.rooms().advance_access(room)?;
        if after.disabled {
            tx.record_event(Control::FlowArchive { room });
        }
    }
    Ok(())
}

/// Adds a flow under the first free form of its name.
pub(crate) fn insert_flow(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    name: &FlowName,
    creator: Option<UserId>,
) -> StoreResult<RoomId> {
    let random = Secret::generate_hex::<4>();
    // Held, so that nobody else takes the name that is found free.
    tx.organizations().lock(organization)?;
    let mut parameterized_name = String::new();
    for candidate in parameterized_candidates(name.as_str(), random.expose()) {
        if tx
            .flows()
            .find_room_by_name(organization, &candidate)?
            .is_none()
        {
            parameterized_name = candidate;
            break;
        }
    }
    let now = tx.now();
    let room = tx.flows().insert(&NewFlowRow {
        id: FlowId(uuid::Uuid::new_v4().to_string()),
        organization,
        name: name.as_str().to_owned(),
        parameterized_name,
        creator,
        join_secret: new_join_secret(),
        created_at: now,
    })?;
    note_flow(tx, room, AuditAction::FlowCreate, &json!({}))?;
    Ok(room)
}
