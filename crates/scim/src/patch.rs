//! Changes of a user (RFC 7644, section 3.5.2).
//!
//! Reading a PATCH turns each of its operations into changes of what is kept (`change`), by what
//! its path names (`target`). Applying does what depends on the user: which address is meant, and
//! what becomes of the name.

mod apply;
mod change;
mod target;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::{Map, Value};

use self::change::Change;
use self::target::PatchTarget;
use crate::operations::{Op, Operation, operations};
use crate::values::object;
use crate::{Path, ScimError, ScimType, State, USER_SCHEMA, shown};

/// The most operations of a PATCH.
pub const MAX_OPERATIONS: usize = 100;

/// What a PATCH changes: at least one thing that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    changes: Vec<Change>,
}

impl Patch {
    /// Reads the body of a PATCH: `Operations`, 1 to [`MAX_OPERATIONS`] of them, whose `op` is
    /// `add`, `replace` or `remove`. Names, also those in paths, and `op` may have any case;
    /// `schemas` is not looked at. `null` takes a value away.
    ///
    /// An operation without a path has an object, of which each key is read like a path:
    /// `userName`, `name.givenName`, `emails[type eq "work"].value`, all with or without the URN of
    /// the schema of users.
    ///
    /// Attributes that are not kept (`title`, those of any extension, and those that nobody knows)
    /// are ignored beside others that are kept.
    ///
    /// # Errors
    ///
    /// All are bad requests (400) with one of these kinds:
    ///
    /// - [`InvalidSyntax`](ScimType::InvalidSyntax): the body is no PATCH, or gives a key twice in
    ///   different case.
    /// - [`InvalidPath`](ScimType::InvalidPath), [`InvalidFilter`](ScimType::InvalidFilter): a path
    ///   cannot be read, or nothing is named but what no user has.
    /// - [`Mutability`](ScimType::Mutability): a path names what only the server sets, or something
    ///   required is taken away.
    /// - [`InvalidValue`](ScimType::InvalidValue): a value is missing, has a wrong type or contains
    ///   NUL.
    /// - [`NoTarget`](ScimType::NoTarget): something is to be removed without a path.
    pub fn read(body: &Map<String, Value>) -> Result<Self, ScimError> {
        let (mut changes, mut unknown) = (Vec::new(), None);
        for operation in operations(body, MAX_OPERATIONS)? {
            read_operation(&operation?, &mut changes, &mut unknown)?;
        }
        match unknown {
            Some(path) if changes.is_empty() => {
                let detail = format!("{} names nothing that users have", shown(&path));
                Err(ScimError::invalid(ScimType::InvalidPath, "", detail))
            }
            _ => Ok(Self { changes }),
        }
    }

    /// The state with all operations applied in order.
    ///
    /// Given and family name are parts of one full name: setting one leaves the other as it is.
    /// Beside them `name.formatted` counts for nothing, and `displayName` beside any of them,
    /// whatever the order is, since providers send all of them.
    ///
    /// Of addresses, one is kept, which is of the type `work` and primary; what is said of others
    /// is ignored beside other changes.
    ///
    /// # Errors
    ///
    /// [`NoTarget`](ScimType::NoTarget) when only other addresses are named,
    /// [`Mutability`](ScimType::Mutability) when the address is to be removed, and
    /// [`InvalidValue`](ScimType::InvalidValue) when nothing is left of the name.
    pub fn apply(&self, state: State) -> Result<State, ScimError> {
        apply::apply(&self.changes, state)
    }
}

/// To add a single value is to replace it (RFC 7644, section 3.5.2.1).
fn read_operation(
    operation: &Operation<'_>,
    changes: &mut Vec<Change>,
    unknown: &mut Option<String>,
) -> Result<(), ScimError> {
    let value = operation.value.filter(|_| operation.op != Op::Remove);
    match (&operation.path, value) {
        (Some(path), value) => read_path(path, value, changes, unknown),
        (None, Some(value)) => read_object(object("value", value)?, changes),
        (None, None) => Ok(()),
    }
}

/// What is said about one path. One that names nothing is noted as `unknown`.
fn read_path(
    text: &str,
    value: Option<&Value>,
    changes: &mut Vec<Change>,
    unknown: &mut Option<String>,
) -> Result<(), ScimError> {
    let path: Path = text.parse()?;
    match PatchTarget::of(&path) {
        PatchTarget::Mapped(kept) => change::read(kept, value, changes),
        PatchTarget::Unkept => Ok(()),
        PatchTarget::ReadOnly => {
            let detail = format!("{} is set by the server only", shown(text));
            Err(ScimError::invalid(ScimType::Mutability, "", detail))
        }
        PatchTarget::Unknown => {
            *unknown = Some(text.to_owned());
            Ok(())
        }
    }
}

/// What is said about many attributes at once, where those that are not kept are ignored.
fn read_object(members: &Map<String, Value>, changes: &mut Vec<Change>) -> Result<(), ScimError> {
    let mut seen = HashSet::new();
    for (key, value) in members {
        if !seen.insert(key.to_ascii_lowercase()) {
            return Err(ScimError::invalid(
                ScimType::InvalidSyntax,
                &shown(key),
                "is given twice",
            ));
        }
        match key.parse::<Path>().map(|path| PatchTarget::of(&path)) {
            Ok(PatchTarget::Mapped(kept)) => change::read(kept, Some(value), changes)?,
            Ok(_) => {
                if let (true, Some(members)) =
                    (key.eq_ignore_ascii_case(USER_SCHEMA), value.as_object())
                {
                    read_user_schema(members, changes)?;
                }
            }
            // What is no name at all is no name of ours; a filter means to be one.
            Err(error) if error.scim_type == ScimType::InvalidFilter => return Err(error),
            Err(_) => {}
        }
    }
    Ok(())
}

/// The attributes under the URN of the schema of users, which is not nested in itself.
fn read_user_schema(
    members: &Map<String, Value>,
    changes: &mut Vec<Change>,
) -> Result<(), ScimError> {
    if members
        .keys()
        .any(|key| key.eq_ignore_ascii_case(USER_SCHEMA))
    {
        return Err(ScimError::invalid(
            ScimType::InvalidSyntax,
            USER_SCHEMA,
            "is nested in itself",
        ));
    }
    read_object(members, changes)
}

fn no_target(detail: &str) -> ScimError {
    ScimError::invalid(ScimType::NoTarget, "", detail)
}
