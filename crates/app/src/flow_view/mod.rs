//! A flow as a user sees it.

mod links;

use eddyline_model::flows::{AccessMode, Flow, FlowMembership};
use eddyline_model::organizations::{Organization, OrganizationRole};
use eddyline_model::policy::{self, FlowAction, FlowCaller, MembershipState};
use eddyline_model::{MessageId, RoomId, Timestamp, UserId};
use eddyline_storage::{Reader, Result as StoreResult};
use eddyline_wire::{Flow as WireFlow, FlowInbox, FlowUser, OrganizationSummary};

pub(crate) use self::links::CredentialScopes;
use self::links::links;
use crate::addresses::Addresses;

/// The most unread messages, and the most unread mentions, that are counted (docs/protocol.md, Flows
/// and Reading).
const MOST_UNREAD: i64 = 100;
/// The most unread mentions that are counted (docs/protocol.md, Reading).
const MOST_UNREAD_MENTIONS: i64 = 1_000;

/// A flow and one user's place in it.
pub(crate) struct View<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) organization: &'a Organization,
    pub(crate) user: UserId,
    pub(crate) role: Option<OrganizationRole>,
    pub(crate) place: Option<&'a FlowMembership>,
    pub(crate) shown: CredentialScopes,
}

impl View<'_> {
    fn flow_caller(&self) -> FlowCaller {
        let place = match self.place {
            None => MembershipState::Outside,
            Some(membership) if membership.blocked => MembershipState::Blocked,
            Some(_) => MembershipState::Inside,
        };
        FlowCaller::User {
            user: self.user,
            role: self.role,
            place,
        }
    }

    pub(crate) fn may(&self, action: FlowAction) -> bool {
        policy::flow(self.flow_caller(), self.flow, action).is_ok()
    }

    pub(crate) fn is_writable(&self) -> bool {
        policy::write(self.organization).is_ok()
    }

    fn joined(&self) -> bool {
        self.place.is_some_and(|membership| !membership.blocked)
    }

    /// Whether a list of flows shows it. An archived one is shown only to administrators, who can
    /// bring it back, and only in the list of all.
    pub(crate) fn is_listed(&self, all: bool) -> bool {
        if !all {
            return self.joined() && !self.flow.disabled;
        }
        let open_to_all = self.flow.access_mode == AccessMode::Organization;
        self.may(FlowAction::See) && (self.joined() || open_to_all || self.flow.disabled)
    }

    /// What the user has read of the inbox.
    fn inbox(&self, reader: &mut Reader<'_>) -> StoreResult<FlowInbox> {
        let Some(place) = self.place else {
            return Ok(FlowInbox::default());
        };
        let (room, read) = (self.flow.room, place.inbox_read_up_to);
        let unread = match read.0 < self.flow.last_message_id {
            true => reader
                .members()
                .list_unread_inbox(room, self.user, read, MOST_UNREAD)?,
            false => Vec::new(),
        };
        Ok(FlowInbox {
            read: Some(read.0),
            unread: i64::try_from(unread.len()).unwrap_or(MOST_UNREAD),
            first_unread: unread.first().map(|id| id.0),
        })
    }

    pub(crate) fn describe(
        &self,
        reader: &mut Reader<'_>,
        addresses: &Addresses,
    ) -> StoreResult<WireFlow> {
        let (flow, organization) = (self.flow, self.organization);
        let unread = match self.place {
            Some(place) if place.read_up_to.0 < flow.last_message_id => {
                reader.members().list_unread_chat(
                    flow.room,
                    self.user,
                    (place.read_up_to, MessageId(flow.last_message_id)),
                    MOST_UNREAD,
                )?
            }
            _ => Vec::new(),
        };
        let unread_mentions = match self.place {
            Some(place)
                if place.read_up_to.min(place.inbox_read_up_to).0 < flow.last_message_id =>
            {
                reader.members().count_unread_mentions(
                    flow.room,
                    self.user,
                    (place.read_up_to, place.inbox_read_up_to),
                    MOST_UNREAD_MENTIONS,
                )?
            }
            _ => 0,
        };
        Ok(WireFlow {
            id: flow.id.0.clone(),
            name: flow.name.clone(),
            parameterized_name: flow.parameterized_name.clone(),
            email: addresses.flow_email(organization, flow),
            description: flow.description.clone(),
            organization: OrganizationSummary::of(organization, &addresses.base),
            unread_mentions,
            unread: i64::try_from(unread.len()).unwrap_or(MOST_UNREAD),
            first_unread: unread.first().map(|id| id.0),
            read: self.place.map(|place| place.read_up_to.0),
            inbox: self.inbox(reader)?,
            open: self.joined() && self.place.is_some_and(|place| place.open),
            tab_position: self.place.and_then(|place| place.tab_position),
            joined: self.joined(),
            url: addresses.flow(organization, flow),
            web_url: addresses.flow_page(organization, flow),
            join_url: if self.shown.join_link() {
                addresses.join(flow)
            } else {
                None
            },
            access_mode: flow.access_mode.as_str().to_owned(),
            flow_admin: self.may(FlowAction::Configure) && self.is_writable(),
            disabled: flow.disabled,
            last_message_at: flow.last_message_at.map(|at: Timestamp| at.to_string()),
            last_message_id: Some(flow.last_message_id).filter(|id| *id > 0),
            links: links(self, addresses, self.shown),
            users: None,
        })
    }
}

/// A flow as a user sees it, without its people; `None` when it is gone.
pub(crate) fn describe_at(
    reader: &mut Reader<'_>,
    addresses: &Addresses,
    (room, user): (RoomId, UserId),
    shown: CredentialScopes,
) -> StoreResult<Option<WireFlow>> {
    let Some(flow) = reader.flows().find(room)? else {
        return Ok(None);
    };
    let Some(organization) = reader.organizations().find(flow.organization)? else {
        return Ok(None);
    };
    let role = reader
        .organization_members()
        .list_of_user(user)?
        .into_iter()
        .find(|m| m.organization == organization.id)
        .map(|m| m.role);
    let place = reader.members().find(room, user)?;
    let view = View {
        flow: &flow,
        organization: &organization,
        user,
        role,
        place: place.as_ref(),
        shown,
    };
    view.describe(reader, addresses).map(Some)
}

pub(crate) fn describe_with_users(
    reader: &mut Reader<'_>,
    addresses: &Addresses,
    (room, user): (RoomId, UserId),
    shown: CredentialScopes,
) -> StoreResult<Option<WireFlow>> {
    let Some(mut flow) = describe_at(reader, addresses, (room, user), shown)? else {
        return Ok(None);
    };
    add_users(reader, addresses, room, &mut flow)?;
    Ok(Some(flow))
}

pub(crate) fn add_users(
    reader: &mut Reader<'_>,
    addresses: &Addresses,
    room: RoomId,
    flow: &mut WireFlow,
) -> StoreResult<()> {
    let people = reader.members().list_of_room(room)?;
    flow.users = Some(
        people
            .iter()
            .map(|(m, user)| FlowUser::of(m, user, &addresses.base))
            .collect(),
    );
    Ok(())
}
