//! Deleting organizations and users after a grace time.
//!
//! A deletion is requested ([`request`]), by operators or by an administrator of the organization
//! ([`own`]): the organization is closed, or the user is made inactive.
//! Until its day it can be cancelled ([`cancel`]), which restores both. When the day is there, a
//! server deletes ([`carry_out`]), in many small transactions.

mod cancel;
mod carry_out;
mod mails;
mod own;
mod request;

use std::fmt;

use eddyline_model::audit::AuditEntry;
use eddyline_model::deletion::{DeletionTarget, PendingDeletion};
use eddyline_model::names::Email;
use eddyline_model::{OrganizationId, RoomId, Timestamp, UserId};
use eddyline_storage::{Reader, Result as StoreResult, Tx};

pub use self::carry_out::{CompletedDeletions, DeletionProgress};
pub use self::own::ClosedPlace;
use crate::accounts::Accounts;
use crate::audit::note_in;
use crate::core::Core;
use crate::core::transaction::TxResult;
use crate::mailer::Mail;
use crate::operator::retention::{find_hold_on, find_hold_on_person};
use crate::{Error, Operator, Result};

/// Deletions of organizations and users. See [`crate::App::deletions`].
#[derive(Clone)]
pub struct Deletions {
    core: Core,
    operator: Operator,
    accounts: Accounts,
    mail: Mail,
}

crate::core::opaque_debug!(Deletions);

/// What is to be deleted, by the names in URLs and addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletionName {
    /// An organization.
    Organization(String),
    /// A user.
    User(Email),
}

impl fmt::Display for DeletionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Organization(organization) => write!(f, "organization {organization}"),
            Self::User(email) => write!(f, "user {}", email.as_str()),
        }
    }
}

/// A deletion as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletionItem {
    /// What is to be deleted, such as `organization acme`.
    pub what: String,
    /// Who requested it, in the words of the audit log.
    pub requested_by: String,
    /// When it was requested.
    pub requested_at: Timestamp,
    /// From when on a server deletes.
    pub due_at: Timestamp,
    /// Whether a server has begun to delete.
    pub begun: bool,
    /// On what the legal hold is placed that stops it.
    pub held_by: Option<String>,
}

impl Deletions {
    pub(crate) fn new(core: Core, operator: Operator, accounts: Accounts, mail: Mail) -> Self {
        Self {
            core,
            operator,
            accounts,
            mail,
        }
    }

    /// The deletions that wait, or have begun, in the order of their days.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn list(&self) -> Result<Vec<DeletionItem>> {
        self.core
            .read(|reader| {
                let mut found = Vec::new();
                for deletion in reader.deletions().list()? {
                    found.push(DeletionItem {
                        what: name_of(reader, deletion.target)?,
                        held_by: find_hold(reader, deletion.target)?,
                        requested_by: deletion.requested_by,
                        requested_at: deletion.requested_at,
                        due_at: deletion.due_at,
                        begun: deletion.begun_at.is_some(),
                    });
                }
                Ok(found)
            })
            .await
    }
}

/// What is to be deleted, as operators call it.
fn name_of(reader: &mut Reader<'_>, target: DeletionTarget) -> StoreResult<String> {
    Ok(match target {
        DeletionTarget::Organization(id) => {
            let found = reader.organizations().find(id)?;
            found.map_or_else(
                || format!("organization {}", id.0),
                |found| format!("organization {}", found.parameterized_name),
            )
        }
        DeletionTarget::User(id) => {
            let found = reader.users().find(id)?;
            found.map_or_else(
                || format!("user {id}"),
                |found| format!("user {}", found.email),
            )
        }
    })
}

/// What a name stands for.
fn find_target(reader: &mut Reader<'_>, name: &DeletionName) -> TxResult<DeletionTarget> {
    Ok(match name {
        DeletionName::Organization(name) => {
            let found = reader.organizations().find_id_by_name(name)?;
            DeletionTarget::Organization(found.ok_or_else(Error::not_found)?)
        }
        DeletionName::User(email) => {
            let account = reader.users().find_account_by_email(&email.key())?;
            DeletionTarget::User(account.ok_or_else(Error::not_found)?.user.id)
        }
    })
}

/// The legal hold that keeps an organization or a user from being deleted, as operators call what
/// it is placed on.
fn find_hold(reader: &mut Reader<'_>, target: DeletionTarget) -> StoreResult<Option<String>> {
    // To look for what a hold covers is to read the authors of all messages of an organization.
    if reader.retention().find_holds()?.0.is_empty() {
        return Ok(None);
    }
    match target {
        DeletionTarget::User(user) => find_hold_on_person(reader, user),
        DeletionTarget::Organization(id) => {
            let people = reader.deletions().list_people_ever(id)?;
            let flows = reader.flows().list_of_organization(id)?;
            let rooms = flows.into_iter().map(|flow| flow.room).collect();
            if let Some(held) = find_hold_on(reader, &people, &rooms, &[id].into())? {
                return Ok(Some(held));
            }
            for user in list_people_to_erase(reader, id)? {
                if let Some(held) = find_hold_on_person(reader, user)? {
                    return Ok(Some(held));
                }
            }
            Ok(None)
        }
    }
}

/// The members of a closed organization whose accounts go with it: those that belong to no other,
/// and were removed from no other.
fn list_people_to_erase(
    reader: &mut Reader<'_>,
    organization: OrganizationId,
) -> StoreResult<Vec<UserId>> {
    let mut found = Vec::new();
    for (user, _) in reader.deletions().list_members(organization)? {
        if !reader
            .deletions()
            .has_other_organization(user, organization)?
        {
            found.push(user);
        }
    }
    Ok(found)
}

/// Refuses to delete what a legal hold covers.
fn refuse_held(reader: &mut Reader<'_>, target: DeletionTarget) -> TxResult<()> {
    match find_hold(reader, target)? {
        None => Ok(()),
        Some(held) => Err(held_by(&held).into()),
    }
}

fn held_by(held: &str) -> Error {
    let text = format!(
        "a legal hold on the {held} covers what would be deleted; release it first, with `hold release`"
    );
    Error::conflict(text)
}

/// Holds an organization with its flows, and the private conversations of these people.
fn lock_organization(
    tx: &mut Tx<'_>,
    id: OrganizationId,
    people: &[UserId],
) -> StoreResult<Vec<RoomId>> {
    tx.rooms().lock_of_organizations(&[id], people)?;
    tx.organizations().lock(id)?;
    let flows = tx.flows().list_of_organization(id)?;
    Ok(flows.into_iter().map(|flow| flow.room).collect())
}

/// Records what was done about the deletion of a user, for each organization of theirs.
fn note_user(
    tx: &mut Tx<'_>,
    organizations: &[OrganizationId],
    entry: AuditEntry,
    deletion: &PendingDeletion,
) -> StoreResult<()> {
    let DeletionTarget::User(user) = deletion.target else {
        return Ok(());
    };
    note_in(tx, organizations.iter().copied(), &entry.about(user))
}
