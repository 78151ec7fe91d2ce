//! What belongs into an archive.

use std::collections::BTreeSet;

use eddyline_archive::{ExportScope, ScopeKind, paths};
use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::flows::Flow;
use eddyline_model::names::Email;
use eddyline_model::organizations::Organization;
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, RoomId, UserId};
use eddyline_storage::{PrivateRoom, Reader, Store};
use tokio::runtime::Handle;

use crate::people::People;
use crate::{Error, Result};

/// What is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportSubject {
    /// An organization.
    Organization {
        /// Its name in URLs.
        name: String,
        /// Whether the private conversations between its members belong to it.
        with_private_conversations: bool,
    },
    /// A flow.
    Flow {
        /// The name in URLs of its organization.
        organization: String,
        /// Its name in URLs.
        flow: String,
    },
    /// What one person has written, and their private conversations.
    Person {
        /// Their address.
        email: Email,
    },
}

/// What was found of a subject.
pub(crate) struct Plan {
    pub(crate) scope: ExportScope,
    pub(crate) organization: Option<Organization>,
    pub(crate) person: Option<User>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) conversations: Vec<PrivateRoom>,
}

/// A room of an archive.
pub(crate) struct PlannedRoom {
    pub(crate) room: RoomId,
    pub(crate) folder: String,
    /// Set where the archive has the messages of this user only.
    pub(crate) only_of: Option<UserId>,
    pub(crate) kind: RoomKind,
}

pub(crate) enum RoomKind {
    Flow(Box<Flow>),
    Conversation,
}

impl Plan {
    pub(crate) fn find(reader: &mut Reader<'_>, subject: &ExportSubject) -> Result<Self> {
        match subject {
            ExportSubject::Organization {
                name,
                with_private_conversations,
            } => of_organization(reader, name, *with_private_conversations),
            ExportSubject::Flow { organization, flow } => of_flow(reader, organization, flow),
            ExportSubject::Person { email } => of_person(reader, email),
        }
    }

    /// Notes in the audits of the organizations that are concerned who exported what. Blocks.
    pub(crate) fn audit(&self, reader: &mut Reader<'_>, store: &Store) -> Result<()> {
        let user = self.person.as_ref().map(|person| person.id);
        let mut organizations: BTreeSet<OrganizationId> =
            self.organization.iter().map(|found| found.id).collect();
        match user {
            Some(user) => {
                let memberships = reader.organization_members().list_of_user(user)?;
                organizations.extend(memberships.iter().map(|found| found.organization));
            }
            None => organizations.extend(self.flows.iter().map(|flow| flow.organization)),
        }
        let detail = serde_json::to_string(&self.scope).map_err(eddyline_archive::Error::from)?;
        let work = store.write(move |tx| {
            for organization in &organizations {
                let entry = AuditEntry {
                    user,
                    ..AuditEntry::new(AuditAction::DataExport, Some(*organization))
                };
                tx.audit()
                    .insert(&entry.by(actor::OPERATOR).with(&detail))?;
            }
            Ok(())
        });
        Handle::current().block_on(work)?;
        Ok(())
    }

    /// The users that the archive names.
    pub(crate) fn users(&self, reader: &mut Reader<'_>) -> Result<BTreeSet<UserId>> {
        let mut found = BTreeSet::new();
        if let Some(organization) = &self.organization {
            let members = reader.organization_members().list_users(organization.id)?;
            found.extend(members.iter().map(|(user, _)| user.id));
        }
        for room in &self.conversations {
            found.extend([room.low, room.high]);
        }
        if let Some(person) = &self.person {
            // Of flows, the archive has what this person wrote and nothing of others.
            found.insert(person.id);
            return Ok(found);
        }
        for flow in &self.flows {
            found.extend(users_of_flow(reader, flow)?);
        }
        Ok(found)
    }

    /// The rooms, in their order in the archive.
    pub(crate) fn rooms(self, people: &People) -> Vec<PlannedRoom> {
        let only_of = self.person.map(|person| person.id);
        let flow = |flow: Flow| PlannedRoom {
            room: flow.room,
            folder: paths::flow(&flow.id.0),
            only_of,
            kind: RoomKind::Flow(Box::new(flow)),
        };
        let mut flows: Vec<_> = self.flows.into_iter().map(flow).collect();
        flows.sort_by(|one, other| one.folder.cmp(&other.folder));
        let pair = |room: &PrivateRoom| {
            let (one, other) = (people.number(room.low), people.number(room.high));
            (one.min(other), one.max(other))
        };
        let mut conversations = self.conversations;
        conversations.sort_by_key(pair);
        let conversations = conversations.into_iter().map(|room| {
            let (low, high) = pair(&room);
            PlannedRoom {
                room: room.room,
                folder: paths::conversation(low, high),
                only_of: None,
                kind: RoomKind::Conversation,
            }
        });
        flows.into_iter().chain(conversations).collect()
    }
}

fn organization_named(reader: &mut Reader<'_>, name: &str) -> Result<Organization> {
    let missing = || Error::NotFound(format!("organization {name}"));
    let id = reader.organizations().find_id_by_name(name)?;
    let id = id.ok_or_else(missing)?;
    let deletion = DeletionTarget::Organization(id);
    if reader.deletions().find(deletion)?.is_some() {
        return Err(Error::Closed(name.to_owned()));
    }
    let found = reader.organizations().find(id)?;
    found.ok_or_else(missing)
}

fn of_organization(reader: &mut Reader<'_>, name: &str, is_private: bool) -> Result<Plan> {
    let organization = organization_named(reader, name)?;
    let conversations = match is_private {
        true => reader.rooms().list_private_within(organization.id)?,
        false => Vec::new(),
    };
    Ok(Plan {
        scope: ExportScope {
            kind: ScopeKind::Organization,
            name: organization.parameterized_name.clone(),
            private_conversations: is_private,
        },
        flows: reader.flows().list_of_organization(organization.id)?,
        conversations,
        organization: Some(organization),
        person: None,
    })
}

fn of_flow(reader: &mut Reader<'_>, organization: &str, name: &str) -> Result<Plan> {
    let organization = organization_named(reader, organization)?;
    let path = format!("{}/{name}", organization.parameterized_name);
    let missing = || Error::NotFound(format!("flow {path}"));
    let room = reader.flows().find_room_by_name(organization.id, name)?;
    let flow = reader.flows().find(room.ok_or_else(missing)?)?;
    let flow = flow.ok_or_else(missing)?;
    Ok(Plan {
        scope: ExportScope {
            kind: ScopeKind::Flow,
            name: format!(
                "{}/{}",
                organization.parameterized_name, flow.parameterized_name
            ),
            private_conversations: false,
        },
        flows: vec![flow],
        conversations: Vec::new(),
        organization: None,
        person: None,
    })
}

fn of_person(reader: &mut Reader<'_>, email: &Email) -> Result<Plan> {
    let missing = || Error::NotFound(format!("user {}", email.as_str()));
    let account = reader.users().find_account_by_email(&email.key())?;
    let user = account.ok_or_else(missing)?.user;
    let mut rooms: BTreeSet<RoomId> = reader
        .members()
        .list_of_user(user.id)?
        .into_iter()
        .map(|membership| membership.room)
        .collect();
    rooms.extend(reader.messages().list_rooms_of_author(user.id)?);
    let mut flows = Vec::new();
    for room in rooms {
        flows.extend(reader.flows().find(room)?);
    }
    Ok(Plan {
        scope: ExportScope {
            kind: ScopeKind::User,
            name: user.email.clone(),
            private_conversations: true,
        },
        flows,
        conversations: reader.rooms().list_private_of(user.id)?,
        organization: None,
        person: Some(user),
    })
}

fn users_of_flow(reader: &mut Reader<'_>, flow: &Flow) -> Result<BTreeSet<UserId>> {
    let mut found: BTreeSet<UserId> = flow.creator.into_iter().collect();
    let members = reader.members().list_of_room(flow.room)?;
    found.extend(members.into_iter().map(|(_, user)| user.id));
    let former = reader.members().list_former(flow.room)?;
    found.extend(former.into_iter().map(|user| user.id));
    found.extend(reader.messages().list_users_of_room(flow.room)?);
    found.extend(reader.reactions().list_users_of_room(flow.room)?);
    let sources = reader.sources().list_all_of_room(flow.room)?;
    found.extend(sources.into_iter().filter_map(|found| found.source.creator));
    Ok(found)
}
