//! Rules of retention, and legal holds.

use std::collections::BTreeSet;
use std::fmt;

use eddyline_model::audit::{AuditAction, AuditEntry};
use eddyline_model::names::Email;
use eddyline_model::retention::{HoldTarget, RetentionPeriod, RetentionScope};
use eddyline_model::{OrganizationId, RoomId, Timestamp, UserId};
use eddyline_storage::{PlacedHold, Reader, Result as StoreResult, Tx};
use serde_json::{Value, json};

use super::flows::find_flow;
use super::{OPERATOR, find_organization};
use crate::audit::note_in;
use crate::core::transaction::{NoCaller, TxResult};
use crate::{Error, Operator, Result};

/// What a rule of retention is for, by the names in URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetentionName {
    /// All flows of an organization that have no rule of their own.
    Organization(String),
    /// A flow: its organization and its own name.
    Flow(String, String),
    /// All private conversations.
    Private,
}

impl fmt::Display for RetentionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Organization(organization) => write!(f, "organization {organization}"),
            Self::Flow(organization, flow) => write!(f, "flow {organization}/{flow}"),
            Self::Private => f.write_str("private conversations"),
        }
    }
}

/// What a legal hold is placed on, by the names in URLs and addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldName {
    /// An organization.
    Organization(String),
    /// A flow: its organization and its own name.
    Flow(String, String),
    /// A user.
    User(Email),
}

impl fmt::Display for HoldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Organization(organization) => write!(f, "organization {organization}"),
            Self::Flow(organization, flow) => write!(f, "flow {organization}/{flow}"),
            Self::User(email) => write!(f, "user {}", email.as_str()),
        }
    }
}

/// A legal hold as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldItem {
    /// What is held, such as `flow acme/main`.
    pub held: String,
    /// Why.
    pub reason: String,
    /// Since when.
    pub placed_at: Timestamp,
}

impl Operator {
    /// Sets how long messages are kept, or with `None` deletes the rule. Servers apply it
    /// within the next hour. Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization or flow.
    pub async fn set_retention(
        &self,
        name: RetentionName,
        period: Option<RetentionPeriod>,
    ) -> Result<()> {
        self.core
            .transaction(NoCaller::Operator, move |tx| {
                let scope = find_scope(tx, &name)?;
                let rules = tx.retention().list_rules()?.0;
                let rule = rules.into_iter().find(|(of, _)| *of == scope);
                if rule.map(|(_, period)| period) == period {
                    return Ok(());
                }
                match period {
                    Some(period) => tx.retention().upsert_rule(scope, period)?,
                    None => {
                        tx.retention().delete_rule(scope)?;
                    }
                }
                let days = match period {
                    None => Value::Null,
                    Some(RetentionPeriod::Forever) => json!("forever"),
                    Some(RetentionPeriod::Days(days)) => json!(days),
                };
                let detail = json!({"for": name.to_string(), "days": days});
                let concerned = organization_of(tx, scope)?;
                let entry = AuditEntry::new(AuditAction::RetentionSet, None);
                Ok(note_in(tx, concerned, &entry.by(OPERATOR).with(&detail))?)
            })
            .await?;
        Ok(())
    }

    /// The rules of retention, each with what it is for, such as `organization acme`.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn retention_rules(&self) -> Result<Vec<(String, RetentionPeriod)>> {
        self.core
            .read(|reader| {
                let mut found = Vec::new();
                for (scope, period) in reader.retention().list_rules()?.0 {
                    let name = match scope {
                        RetentionScope::Organization(id) => organization_name(reader, id)?,
                        RetentionScope::Flow(room) => flow_name(reader, room)?,
                        RetentionScope::Private => RetentionName::Private.to_string(),
                    };
                    found.push((name, period));
                }
                Ok(found)
            })
            .await
    }

    /// Places a legal hold: what it covers is deleted neither by retention nor by an erasure. What
    /// users themselves edit or delete is not kept. Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization, flow or user.
    pub async fn place_hold(&self, name: HoldName, reason: String) -> Result<()> {
        self.core
            .transaction(NoCaller::Operator, move |tx| {
                let target = find_target(tx, &name)?;
                let placed_at = tx.now();
                let holds = tx.retention().list_holds()?;
                if holds
                    .iter()
                    .any(|hold| hold.target == target && hold.reason == reason)
                {
                    return Ok(());
                }
                tx.retention().upsert_hold(&PlacedHold {
                    target,
                    reason: reason.clone(),
                    placed_at,
                })?;
                note_hold(tx, target, AuditAction::HoldPlace)
            })
            .await?;
        Ok(())
    }

    /// Releases a legal hold.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when none is placed on that.
    pub async fn release_hold(&self, name: HoldName) -> Result<()> {
        self.core
            .transaction(NoCaller::Operator, move |tx| {
                let target = find_target(tx, &name)?;
                if !tx.retention().delete_hold(target)? {
                    return Err(Error::not_found().into());
                }
                note_hold(tx, target, AuditAction::HoldRelease)
            })
            .await?;
        Ok(())
    }

    /// The legal holds that are placed.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn holds(&self) -> Result<Vec<HeldItem>> {
        self.core
            .read(|reader| {
                let mut found = Vec::new();
                for hold in reader.retention().list_holds()? {
                    found.push(HeldItem {
                        held: target_name(reader, hold.target)?,
                        reason: hold.reason,
                        placed_at: hold.placed_at,
                    });
                }
                Ok(found)
            })
            .await
    }
}

/// What the legal hold is placed on that covers some of these users, flows or organizations.
pub(crate) fn find_hold_on(
    reader: &mut Reader<'_>,
    users: &BTreeSet<UserId>,
    rooms: &BTreeSet<RoomId>,
    organizations: &BTreeSet<OrganizationId>,
) -> StoreResult<Option<String>> {
    let holds = reader.retention().find_holds()?;
    match holds.covering_person(users, rooms, organizations) {
        Some(target) => Ok(Some(target_name(reader, target)?)),
        None => Ok(None),
    }
}

/// What the legal hold is placed on that covers what a user may have written.
pub(crate) fn find_hold_on_person(
    reader: &mut Reader<'_>,
    user: UserId,
) -> StoreResult<Option<String>> {
    let (rooms, mut users) = reader.retention().list_rooms_ever(user)?;
    users.insert(user);
    let all: Vec<UserId> = users.iter().copied().collect();
    let organizations = reader.retention().list_organizations_ever(&all)?;
    find_hold_on(reader, &users, &rooms, &organizations)
}

/// Refuses to erase a user whom a legal hold covers.
pub(super) fn refuse_held(tx: &mut Tx<'_>, user: UserId) -> TxResult<()> {
    let Some(held) = find_hold_on_person(tx, user)? else {
        return Ok(());
    };
    let text = format!(
        "a legal hold on the {held} covers what this user may have written; release it first, with `hold release`"
    );
    Err(Error::conflict(text).into())
}

fn find_scope(tx: &mut Tx<'_>, name: &RetentionName) -> TxResult<RetentionScope> {
    Ok(match name {
        RetentionName::Organization(organization) => {
            RetentionScope::Organization(find_organization(tx, organization)?)
        }
        RetentionName::Flow(organization, flow) => {
            RetentionScope::Flow(find_flow(tx, organization, flow)?.ok_or_else(Error::not_found)?)
        }
        RetentionName::Private => RetentionScope::Private,
    })
}

fn find_target(tx: &mut Tx<'_>, name: &HoldName) -> TxResult<HoldTarget> {
    Ok(match name {
        HoldName::Organization(organization) => {
            HoldTarget::Organization(find_organization(tx, organization)?)
        }
        HoldName::Flow(organization, flow) => {
            HoldTarget::Flow(find_flow(tx, organization, flow)?.ok_or_else(Error::not_found)?)
        }
        HoldName::User(email) => {
            let account = tx.users().find_account_by_email(&email.key())?;
            HoldTarget::User(account.ok_or_else(Error::not_found)?.user.id)
        }
    })
}

fn organization_name(reader: &mut Reader<'_>, id: OrganizationId) -> StoreResult<String> {
    let found = reader.organizations().find(id)?;
    Ok(found.map_or_else(
        || format!("organization {}", id.0),
        |found| RetentionName::Organization(found.parameterized_name).to_string(),
    ))
}

fn flow_name(reader: &mut Reader<'_>, room: RoomId) -> StoreResult<String> {
    let Some(flow) = reader.flows().find(room)? else {
        return Ok(format!("flow {}", room.0));
    };
    let organization = reader.organizations().find(flow.organization)?;
    let organization = organization.map_or_else(String::new, |found| found.parameterized_name);
    Ok(RetentionName::Flow(organization, flow.parameterized_name).to_string())
}

fn target_name(reader: &mut Reader<'_>, target: HoldTarget) -> StoreResult<String> {
    match target {
        HoldTarget::Organization(id) => organization_name(reader, id),
        HoldTarget::Flow(room) => flow_name(reader, room),
        HoldTarget::User(id) => {
            let user = reader.users().find(id)?;
            Ok(format!(
                "user {}",
                user.map_or_else(|| id.to_string(), |user| user.email)
            ))
        }
    }
}

/// The organization in whose audit log a rule is recorded; that about private conversations is for the server.
fn organization_of(
    tx: &mut Tx<'_>,
    scope: RetentionScope,
) -> StoreResult<BTreeSet<OrganizationId>> {
    Ok(match scope {
        RetentionScope::Organization(id) => [id].into(),
        RetentionScope::Flow(room) => {
            let flow = tx.flows().find(room)?;
            flow.into_iter().map(|flow| flow.organization).collect()
        }
        RetentionScope::Private => BTreeSet::new(),
    })
}

/// Records that a hold was placed or released. The record does not say why: administrators read
/// it.
fn note_hold(tx: &mut Tx<'_>, target: HoldTarget, action: AuditAction) -> TxResult<()> {
    let (concerned, user, held) = match target {
        HoldTarget::Organization(id) => ([id].into(), None, "organization"),
        HoldTarget::Flow(room) => {
            let concerned = organization_of(tx, RetentionScope::Flow(room))?;
            (concerned, None, "flow")
        }
        HoldTarget::User(user) => {
            let concerned = tx.retention().list_organizations_ever(&[user])?;
            (concerned, Some(user), "user")
        }
    };
    let detail = match target {
        HoldTarget::User(_) => json!({"held": held}),
        _ => json!({"held": target_name(tx, target)?}),
    };
    let entry = AuditEntry::new(action, None).by(OPERATOR).with(&detail);
    Ok(note_in(tx, concerned, &AuditEntry { user, ..entry })?)
}
