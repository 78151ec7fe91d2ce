//! Changes of groups, within a transaction that holds their organization. Each is recorded with who
//! did it.

use std::collections::{BTreeSet, HashSet};

use eddyline_model::audit::AuditAction;
use eddyline_model::groups::{
    Group, GroupLabels, MAX_GROUP_MEMBERS, MAX_GROUP_MEMBERSHIPS, MAX_GROUPS,
};
use eddyline_model::log::Control;
use eddyline_model::names::GroupName;
use eddyline_model::{GroupId, OrganizationId, UserId};
use eddyline_scim::ScimType;
use eddyline_storage::{Reader, Result as StoreResult, Tx};
use serde_json::{Map, Value, json};

use super::{GroupChanges, NewGroup};
use crate::Error;
use crate::audit::note;
use crate::core::transaction::TxResult;

/// How many users a refusal names.
const NAMED: usize = 20;

/// The group with this number, if it is the organization's.
///
/// # Errors
///
/// [`Error::not_found`].
pub(crate) fn find(
    reader: &mut Reader<'_>,
    organization: OrganizationId,
    id: GroupId,
) -> TxResult<Group> {
    let found = reader
        .groups()
        .find(id)?
        .filter(|group| group.organization == organization);
    Ok(found.ok_or_else(Error::not_found)?)
}

/// Makes a group.
///
/// # Errors
///
/// [`Error::conflict`], [`Error::invalid`].
pub(crate) fn create(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    new: &NewGroup,
    by: &str,
) -> TxResult<GroupId> {
    if tx.groups().count(organization)? >= MAX_GROUPS as i64 {
        return Err(
            Error::conflict(format!("an organization has at most {MAX_GROUPS} groups")).into(),
        );
    }
    check_name(tx, organization, &new.name)?;
    let users = check_users(tx, organization, &new.users)?;
    check_memberships(tx, organization, users.len())?;
    let now = tx.now();
    let id = tx
        .groups()
        .insert(organization, (new.name.as_str(), &new.name.key()), now)?;
    tx.groups().insert_members(organization, id, &users)?;
    touch(tx, organization, &users)?;
    let mut detail = json!({"group": id.0, "name": new.name.as_str(), "added": numbers(&users)});
    if new.labels != GroupLabels::default() {
        tx.groups().set_labels(id, &new.labels)?;
        let GroupLabels {
            display_name,
            external_id,
        } = &new.labels;
        for (label, text) in [("displayName", display_name), ("externalId", external_id)] {
            if let Some(text) = text {
                detail[label] = json!(text);
            }
        }
    }
    record(
        tx,
        organization,
        (by, AuditAction::GroupCreate),
        None,
        &detail,
    )?;
    Ok(id)
}

/// Gives a group another name, other labels or other members.
///
/// # Errors
///
/// [`Error::conflict`], [`Error::invalid`].
pub(crate) fn change(
    tx: &mut Tx<'_>,
    group: &Group,
    changes: &GroupChanges,
    by: &str,
) -> TxResult<()> {
    let mut detail = Map::new();
    if let Some(name) = changes
        .name
        .as_ref()
        .filter(|name| name.as_str() != group.name)
    {
        if tx.groups().find_by_name(group.organization, &name.key())? != Some(group.id) {
            check_name(tx, group.organization, name)?;
        }
        tx.groups()
            .set_name(group.id, (name.as_str(), &name.key()))?;
        detail.insert("name".to_owned(), json!([group.name, name.as_str()]));
    }
    let labels = changes.labels.clone().unwrap_or_else(|| GroupLabels {
        display_name: group
            .labels
            .display_name
            .clone()
            .filter(|_| detail.is_empty()),
        external_id: group.labels.external_id.clone(),
    });
    let name = changes
        .name
        .as_ref()
        .map_or(group.name.as_str(), GroupName::as_str);
    set_labels(tx, group, (name, &labels), &mut detail)?;
    if !detail.is_empty() {
        // Its members show how it is called.
        touch(tx, group.organization, &group.users)?;
    }
    if let Some(wanted) = &changes.users {
        let wanted = check_users(tx, group.organization, wanted)?;
        set_members(tx, group, &wanted, &mut detail)?;
    }
    if detail.is_empty() {
        return Ok(());
    }
    detail.insert("group".to_owned(), json!(group.id.0));
    Ok(record(
        tx,
        group.organization,
        (by, AuditAction::GroupUpdate),
        None,
        &Value::Object(detail),
    )?)
}

/// Brings a user of the organization into a group, or takes a user out of it. Doing it twice does
/// nothing.
///
/// # Errors
///
/// [`Error::conflict`] when it has as many members as it may.
pub(crate) fn set_member(
    tx: &mut Tx<'_>,
    group: &Group,
    user: UserId,
    is_member: bool,
    by: &str,
) -> TxResult<()> {
    if group.users.contains(&user) == is_member {
        return Ok(());
    }
    let mut wanted = group.users.clone();
    match is_member {
        true if wanted.len() >= MAX_GROUP_MEMBERS => {
            let text = format!("a group has at most {MAX_GROUP_MEMBERS} members");
            return Err(Error::conflict(text).into());
        }
        true => wanted.push(user),
        false => wanted.retain(|member| *member != user),
    }
    let mut detail = Map::from_iter([("group".to_owned(), json!(group.id.0))]);
    set_members(tx, group, &wanted, &mut detail)?;
    Ok(record(
        tx,
        group.organization,
        (by, AuditAction::GroupUpdate),
        Some(user),
        &Value::Object(detail),
    )?)
}

/// Removes a group.
///
/// # Errors
///
/// As any write.
pub(crate) fn remove(tx: &mut Tx<'_>, group: &Group, by: &str) -> TxResult<()> {
    tx.groups().delete(group.id)?;
    touch(tx, group.organization, &group.users)?;
    let detail = json!({"group": group.id.0, "name": group.name});
    Ok(record(
        tx,
        group.organization,
        (by, AuditAction::GroupRemove),
        None,
        &detail,
    )?)
}

/// Holds the organizations of a user who may take another nick: a group there may be about to take
/// it as its name. To be called before the user is locked.
pub(crate) fn lock_names(tx: &mut Tx<'_>, user: UserId) -> StoreResult<()> {
    let mut held = HashSet::new();
    loop {
        let organizations = tx
            .organization_members()
            .list_of_user(user)?
            .into_iter()
            .map(|membership| membership.organization);
        let new: Vec<OrganizationId> = organizations
            .filter(|organization| held.insert(*organization))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        // The user may come into another organization while these are waited for.
        for organization in new {
            tx.organizations().lock(organization)?;
        }
    }
}

/// Makes these users the members of a group and puts those who came and went into `detail`, for the
/// audit log. All of them must belong to the organization.
fn set_members(
    tx: &mut Tx<'_>,
    group: &Group,
    wanted: &[UserId],
    detail: &mut Map<String, Value>,
) -> TxResult<()> {
    let before: BTreeSet<UserId> = group.users.iter().copied().collect();
    let after: BTreeSet<UserId> = wanted.iter().copied().collect();
    let added: Vec<UserId> = after.difference(&before).copied().collect();
    let removed: Vec<UserId> = before.difference(&after).copied().collect();
    if !removed.is_empty() {
        tx.groups().delete_members(group.id, &removed)?;
    }
    if !added.is_empty() {
        check_memberships(tx, group.organization, added.len())?;
        tx.groups()
            .insert_members(group.organization, group.id, &added)?;
    }
    for (what, users) in [("added", added), ("removed", removed)] {
        if !users.is_empty() {
            touch(tx, group.organization, &users)?;
            detail.insert(what.to_owned(), numbers(&users));
        }
    }
    Ok(())
}

/// Sets what an identity provider calls a group that has this name, and puts what is different into
/// `detail`, for the audit log.
fn set_labels(
    tx: &mut Tx<'_>,
    group: &Group,
    (name, labels): (&str, &GroupLabels),
    detail: &mut Map<String, Value>,
) -> StoreResult<()> {
    let before = &group.labels;
    if before == labels {
        return Ok(());
    }
    tx.groups().set_labels(group.id, labels)?;
    if before.display_name != labels.display_name {
        let display_name = labels.display_name.as_deref().unwrap_or(name);
        let change = json!([group.display_name(), display_name]);
        detail.insert("displayName".to_owned(), change);
    }
    if before.external_id != labels.external_id {
        let change = json!([before.external_id, labels.external_id]);
        detail.insert("externalId".to_owned(), change);
    }
    Ok(())
}

/// Counts that an identity provider sees other groups in these users.
fn touch(tx: &mut Tx<'_>, organization: OrganizationId, users: &[UserId]) -> StoreResult<()> {
    let now = tx.now();
    tx.identities().touch_among(organization, users, now)
}

/// Checks that the groups of an organization may have so many members more. Every process keeps
/// them in memory.
fn check_memberships(tx: &mut Tx<'_>, organization: OrganizationId, more: usize) -> TxResult<()> {
    let members =
        usize::try_from(tx.groups().count_memberships(organization)?).unwrap_or(usize::MAX);
    if members.saturating_add(more) > MAX_GROUP_MEMBERSHIPS {
        let text = format!(
            "the groups of an organization have at most {MAX_GROUP_MEMBERSHIPS} members together"
        );
        return Err(Error::conflict(text).into());
    }
    Ok(())
}

/// Checks that no user and no other group of the organization has the name.
fn check_name(tx: &mut Tx<'_>, organization: OrganizationId, name: &GroupName) -> TxResult<()> {
    let text = if tx
        .groups()
        .find_by_name(organization, &name.key())?
        .is_some()
    {
        format!("the organization has a group {name} already")
    } else if tx
        .organization_members()
        .has_nick(organization, &name.key(), UserId(0))?
    {
        format!("{name} is the nick of a user of the organization")
    } else {
        return Ok(());
    };
    Err(Error::conflict(text)
        .with_scim_type(ScimType::Uniqueness)
        .into())
}

/// The users, each once, if there are not too many and all of them belong to the organization.
fn check_users(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    users: &[UserId],
) -> TxResult<Vec<UserId>> {
    let users: BTreeSet<UserId> = users.iter().copied().collect();
    if users.len() > MAX_GROUP_MEMBERS {
        return Err(
            Error::invalid("users", format!("can't be more than {MAX_GROUP_MEMBERS}")).into(),
        );
    }
    let users: Vec<UserId> = users.into_iter().collect();
    let members: BTreeSet<UserId> = tx
        .organization_members()
        .list_among(organization, &users)?
        .into_iter()
        .collect();
    let others = users
        .iter()
        .filter(|user| !members.contains(user))
        .take(NAMED);
    let others: Vec<String> = others.map(ToString::to_string).collect();
    if others.is_empty() {
        return Ok(users);
    }
    Err(Error::invalid(
        "users",
        format!(
            "can't hold users of other organizations: {}",
            others.join(", ")
        ),
    )
    .into())
}

fn numbers(users: &[UserId]) -> Value {
    users.iter().map(|user| user.0).collect()
}

/// Records a change, and makes every process forget the groups.
fn record(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    (by, action): (&str, AuditAction),
    user: Option<UserId>,
    detail: &Value,
) -> StoreResult<()> {
    note(tx, organization, (by, action), user, detail)?;
    tx.record_event(Control::GroupChange { organization });
    Ok(())
}
