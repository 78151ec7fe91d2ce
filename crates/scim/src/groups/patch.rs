//! Changes of a group (RFC 7644, section 3.5.2).

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};

use eddyline_model::UserId;
use serde_json::{Map, Value};

use super::{GROUP_SCHEMA, GroupState, ids, users};
use crate::operations::{Op, operations};
use crate::path::{Literal, ValueFilter};
use crate::values::{invalid, object, text};
use crate::{Path, ScimError, ScimType, shown};

/// The most operations of a PATCH of a group: some providers have one for each member.
pub const MAX_GROUP_OPERATIONS: usize = 1_000;

/// What a PATCH changes of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPatch {
    changes: Vec<GroupChange>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum GroupChange {
    DisplayName(String),
    ExternalId(Option<String>),
    Members(BTreeSet<UserId>),
    AddMembers(Vec<UserId>),
    RemoveMembers(Vec<UserId>),
}

/// What a path names.
enum GroupTarget {
    DisplayName,
    ExternalId,
    Members,
    /// The member with this id.
    Member(String),
    /// The standard, or some extension, has it, but it is not kept.
    Unkept,
    ReadOnly,
    Unknown,
}

impl GroupPatch {
    /// Reads the body of a PATCH as [`Patch::read`](crate::Patch::read) does, with up to
    /// [`MAX_GROUP_OPERATIONS`] operations on `displayName`, `externalId` and `members`.
    ///
    /// Members are added, replaced as a whole, and removed by `members[value eq "…"]` or by
    /// `members` with a value that names them. `members` without a value are all.
    ///
    /// # Errors
    ///
    /// As [`Patch::read`](crate::Patch::read).
    pub fn read(body: &Map<String, Value>) -> Result<Self, ScimError> {
        let (mut changes, mut unknown) = (Vec::new(), None);
        for operation in operations(body, MAX_GROUP_OPERATIONS)? {
            let operation = operation?;
            match (&operation.path, operation.value) {
                (Some(path), value) => match target(&path.parse()?)? {
                    GroupTarget::Unknown => unknown = Some(path.clone()),
                    GroupTarget::ReadOnly => {
                        let detail = format!("{} is set by the server only", shown(path));
                        return Err(ScimError::invalid(ScimType::Mutability, "", detail));
                    }
                    target => changes.extend(change(operation.op, target, value)?),
                },
                (None, Some(value)) => {
                    read_object(operation.op, object("value", value)?, &mut changes)?;
                }
                (None, None) => {}
            }
        }
        match unknown {
            Some(path) if changes.is_empty() => {
                let detail = format!("{} names nothing that groups have", shown(&path));
                Err(ScimError::invalid(ScimType::InvalidPath, "", detail))
            }
            _ => Ok(Self { changes }),
        }
    }

    /// The state with all operations applied in order. To add who is a member and to remove who is
    /// none changes nothing.
    #[must_use]
    pub fn apply(&self, mut state: GroupState) -> GroupState {
        for change in &self.changes {
            match change {
                GroupChange::DisplayName(name) => state.display_name.clone_from(name),
                GroupChange::ExternalId(id) => state.external_id.clone_from(id),
                GroupChange::Members(users) => state.members.clone_from(users),
                GroupChange::AddMembers(users) => state.members.extend(users),
                GroupChange::RemoveMembers(users) => {
                    for user in users {
                        state.members.remove(user);
                    }
                }
            }
        }
        state
    }
}

fn target(path: &Path) -> Result<GroupTarget, ScimError> {
    if path
        .schema()
        .is_some_and(|schema| !schema.eq_ignore_ascii_case(GROUP_SCHEMA))
    {
        return Ok(GroupTarget::Unkept);
    }
    let attribute = path.attribute().to_ascii_lowercase();
    Ok(match (attribute.as_str(), path.filter(), path.sub()) {
        ("displayname", None, None) => GroupTarget::DisplayName,
        ("externalid", None, None) => GroupTarget::ExternalId,
        ("members", None, None) => GroupTarget::Members,
        ("members", Some(filter), None) => GroupTarget::Member(member(filter)?),
        ("members", _, Some(part)) if !part.eq_ignore_ascii_case("value") => GroupTarget::Unkept,
        ("schemas", None, None) => GroupTarget::Unkept,
        ("id" | "meta", ..) => GroupTarget::ReadOnly,
        _ => GroupTarget::Unknown,
    })
}

/// The id of the member that brackets name.
fn member(filter: &ValueFilter) -> Result<String, ScimError> {
    if let [condition] = filter.conditions()
        && condition.attribute().eq_ignore_ascii_case("value")
        && let Literal::Text(id) = condition.value()
    {
        return Ok(id.clone());
    }
    let detail = "A member is named by its value, with eq and a text";
    Err(ScimError::invalid(ScimType::InvalidFilter, "", detail))
}

/// What an operation means for what its path names; `None` for what is not kept.
fn change(
    op: Op,
    target: GroupTarget,
    value: Option<&Value>,
) -> Result<Option<GroupChange>, ScimError> {
    let given = value.filter(|value| !value.is_null());
    let change = match (target, op) {
        (GroupTarget::Unkept | GroupTarget::ReadOnly | GroupTarget::Unknown, _) => return Ok(None),
        (GroupTarget::DisplayName, _) => {
            let name = given.filter(|_| op != Op::Remove);
            let name = name.ok_or_else(|| {
                ScimError::invalid(ScimType::Mutability, "displayName", "is required")
            })?;
            GroupChange::DisplayName(text("displayName", name)?)
        }
        (GroupTarget::ExternalId, Op::Remove) => GroupChange::ExternalId(None),
        (GroupTarget::ExternalId, _) => {
            GroupChange::ExternalId(given.map(|id| text("externalId", id)).transpose()?)
        }
        (GroupTarget::Members, Op::Add) => GroupChange::AddMembers(users(required(value)?)?),
        (GroupTarget::Members, Op::Replace) => GroupChange::Members(users(required(value)?)?),
        (GroupTarget::Members, Op::Remove) => match given {
            // Whatever is not the id of a user is no member.
            Some(named) => GroupChange::RemoveMembers(known(ids(named)?)),
            None => GroupChange::Members(BTreeSet::new()),
        },
        (GroupTarget::Member(id), Op::Remove) => GroupChange::RemoveMembers(known(vec![id])),
        (GroupTarget::Member(_), _) => {
            let detail = "is added and removed, and does not become another";
            return Err(ScimError::invalid(ScimType::Mutability, "members", detail));
        }
    };
    Ok(Some(change))
}

fn required(value: Option<&Value>) -> Result<&Value, ScimError> {
    value.ok_or_else(|| invalid("value", "is required"))
}

fn known(ids: Vec<String>) -> Vec<UserId> {
    let users = ids.into_iter().map(|id| id.parse().ok());
    users.flatten().collect()
}

/// What is said about many attributes at once, where those that are not kept are ignored.
fn read_object(
    op: Op,
    parts: &Map<String, Value>,
    changes: &mut Vec<GroupChange>,
) -> Result<(), ScimError> {
    let mut seen = HashSet::new();
    for (key, value) in parts {
        if !seen.insert(key.to_ascii_lowercase()) {
            let name = shown(key);
            return Err(ScimError::invalid(
                ScimType::InvalidSyntax,
                &name,
                "is given twice",
            ));
        }
        let target = match key.parse::<Path>() {
            Ok(path) => target(&path)?,
            // What is no name at all is no name of ours; a filter means to be one.
            Err(error) if error.scim_type == ScimType::InvalidFilter => return Err(error),
            Err(_) => continue,
        };
        changes.extend(change(op, target, Some(value))?);
    }
    Ok(())
}
