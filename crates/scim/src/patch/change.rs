//! What a value means for what a path names.

use std::slice;

use serde_json::{Map, Value};

use super::target::MappedAttribute;
use crate::path::ValueFilter;
use crate::values::{boolean, email, find, is_primary, object, text};
use crate::{ScimError, ScimType};

/// One thing that becomes another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    UserName(String),
    ExternalId(Option<String>),
    Active(bool),
    Nick(String),
    DisplayName(String),
    Formatted(String),
    /// Empty when it goes away.
    GivenName(String),
    /// Empty when it goes away.
    FamilyName(String),
    /// The address that matches; `None` when it goes away.
    Email(Option<ValueFilter>, Option<String>),
}

/// Adds what a value says about what is kept. Without one, or with `null`, it is taken away.
pub(super) fn read(
    attribute: MappedAttribute,
    value: Option<&Value>,
    changes: &mut Vec<Change>,
) -> Result<(), ScimError> {
    let value = value.filter(|value| !value.is_null());
    let change = match attribute {
        MappedAttribute::UserName => {
            Change::UserName(text("userName", required("userName", value)?)?)
        }
        MappedAttribute::ExternalId => {
            Change::ExternalId(value.map(|value| text("externalId", value)).transpose()?)
        }
        MappedAttribute::Active => Change::Active(boolean("active", required("active", value)?)?),
        MappedAttribute::NickName => Change::Nick(text_or_none("nickName", value)?),
        MappedAttribute::DisplayName => {
            Change::DisplayName(text("displayName", required("displayName", value)?)?)
        }
        MappedAttribute::Name => {
            return read_name(object("name", required("name", value)?)?, changes);
        }
        MappedAttribute::Formatted => {
            Change::Formatted(text("name.formatted", required("name.formatted", value)?)?)
        }
        MappedAttribute::GivenName => Change::GivenName(text_or_none("name.givenName", value)?),
        MappedAttribute::FamilyName => Change::FamilyName(text_or_none("name.familyName", value)?),
        MappedAttribute::Emails(filter) => match value.map(read_emails).transpose()? {
            None | Some(Emails::None) => Change::Email(filter, None),
            Some(Emails::Address(address)) => Change::Email(filter, Some(address)),
            Some(Emails::Unkept) => return Ok(()),
        },
        MappedAttribute::EmailValue(filter) => {
            let address = value.map(|value| text("emails.value", value)).transpose()?;
            Change::Email(filter, address)
        }
    };
    changes.push(change);
    Ok(())
}

/// The parts of a name; those that are not given stay (RFC 7644, section 3.5.2.3).
fn read_name(name: &Map<String, Value>, changes: &mut Vec<Change>) -> Result<(), ScimError> {
    let parts = [
        ("formatted", MappedAttribute::Formatted),
        ("givenName", MappedAttribute::GivenName),
        ("familyName", MappedAttribute::FamilyName),
    ];
    for (part, kept) in parts {
        if let Some(value) = find(name, part)? {
            read(kept, Some(value), changes)?;
        }
    }
    Ok(())
}

enum Emails {
    Address(String),
    /// There shall be no address.
    None,
    /// Only properties are given that we do not keep, such as the type.
    Unkept,
}

/// The address that is marked as primary, or else the first of the type that is kept or of none.
fn read_emails(value: &Value) -> Result<Emails, ScimError> {
    let emails = value
        .as_array()
        .map_or(slice::from_ref(value), Vec::as_slice);
    let primary = emails.iter().find(|email| is_primary(email));
    let Some(first) = primary.or_else(|| emails.iter().find(|email| !is_other(email))) else {
        return Ok(if emails.is_empty() {
            Emails::None
        } else {
            Emails::Unkept
        });
    };
    Ok(match email(first)? {
        Some(address) => Emails::Address(address),
        None if first.is_null() => Emails::None,
        None => Emails::Unkept,
    })
}

/// Whether an address is of another type than the one that is kept.
fn is_other(email: &Value) -> bool {
    let kind = email
        .as_object()
        .and_then(|email| find(email, "type").ok().flatten())
        .and_then(Value::as_str);
    kind.is_some_and(|kind| !kind.eq_ignore_ascii_case("work"))
}

fn required<'a>(field: &str, value: Option<&'a Value>) -> Result<&'a Value, ScimError> {
    value.ok_or_else(|| cannot_go(field))
}

/// Something that a user always has was to go (RFC 7644, section 3.5.2.2).
pub(super) fn cannot_go(field: &str) -> ScimError {
    ScimError::invalid(ScimType::Mutability, field, "is required")
}

fn text_or_none(field: &str, value: Option<&Value>) -> Result<String, ScimError> {
    value.map_or_else(|| Ok(String::new()), |value| text(field, value))
}
