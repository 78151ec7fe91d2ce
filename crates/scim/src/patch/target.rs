//! What a path names.

use crate::path::ValueFilter;
use crate::{Path, USER_SCHEMA};

/// What a path names, from our side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PatchTarget {
    Mapped(MappedAttribute),
    /// The standard, or some extension, has it, but we do not keep it.
    Unkept,
    /// Only the server sets it.
    ReadOnly,
    /// No schema that we know has it.
    Unknown,
}

/// What we keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MappedAttribute {
    UserName,
    ExternalId,
    Active,
    NickName,
    DisplayName,
    /// The name with its parts.
    Name,
    Formatted,
    GivenName,
    FamilyName,
    /// Addresses with their properties: those that match.
    Emails(Option<ValueFilter>),
    /// The addresses alone: those that match.
    EmailValue(Option<ValueFilter>),
}

/// Attributes of users in RFC 7643, sections 3, 4.1 and 4.3, which we do not keep. Those of the
/// extension stand here since some providers leave its URN out.
const UNKEPT: &[&str] = &[
    "schemas",
    "title",
    "userType",
    "preferredLanguage",
    "locale",
    "timezone",
    "profileUrl",
    "password",
    "phoneNumbers",
    "ims",
    "photos",
    "addresses",
    "entitlements",
    "roles",
    "x509Certificates",
];
const UNKEPT_OF_ENTERPRISES: &[&str] = &[
    "employeeNumber",
    "costCenter",
    "organization",
    "division",
    "department",
    "manager",
];
const READ_ONLY: &[&str] = &["id", "meta", "groups"];
const UNKEPT_PARTS_OF_NAMES: &[&str] = &["middleName", "honorificPrefix", "honorificSuffix"];
const UNKEPT_PARTS_OF_EMAILS: &[&str] = &["type", "primary", "display"];

impl PatchTarget {
    pub(super) fn of(path: &Path) -> Self {
        let attribute = path.attribute();
        match path.schema() {
            Some(schema) if !schema.eq_ignore_ascii_case(USER_SCHEMA) => Self::Unkept,
            _ if is_one_of(attribute, UNKEPT) => Self::Unkept,
            None if is_one_of(attribute, UNKEPT_OF_ENTERPRISES) => Self::Unkept,
            _ if is_one_of(attribute, READ_ONLY) => Self::ReadOnly,
            _ => Self::of_attribute(path),
        }
    }

    fn of_attribute(path: &Path) -> Self {
        match (
            path.attribute().to_ascii_lowercase().as_str(),
            path.filter(),
            path.sub(),
        ) {
            ("username", None, None) => Self::Mapped(MappedAttribute::UserName),
            ("externalid", None, None) => Self::Mapped(MappedAttribute::ExternalId),
            ("active", None, None) => Self::Mapped(MappedAttribute::Active),
            ("nickname", None, None) => Self::Mapped(MappedAttribute::NickName),
            ("displayname", None, None) => Self::Mapped(MappedAttribute::DisplayName),
            ("name", None, None) => Self::Mapped(MappedAttribute::Name),
            ("name", None, Some(part)) => Self::of_part_of_name(part),
            ("emails", filter, None) => Self::Mapped(MappedAttribute::Emails(filter.cloned())),
            ("emails", filter, Some(part)) if part.eq_ignore_ascii_case("value") => {
                Self::Mapped(MappedAttribute::EmailValue(filter.cloned()))
            }
            ("emails", _, Some(part)) if is_one_of(part, UNKEPT_PARTS_OF_EMAILS) => Self::Unkept,
            _ => Self::Unknown,
        }
    }

    fn of_part_of_name(part: &str) -> Self {
        match part.to_ascii_lowercase().as_str() {
            "formatted" => Self::Mapped(MappedAttribute::Formatted),
            "givenname" => Self::Mapped(MappedAttribute::GivenName),
            "familyname" => Self::Mapped(MappedAttribute::FamilyName),
            _ if is_one_of(part, UNKEPT_PARTS_OF_NAMES) => Self::Unkept,
            _ => Self::Unknown,
        }
    }
}

fn is_one_of(name: &str, known: &[&str]) -> bool {
    known.iter().any(|known| name.eq_ignore_ascii_case(known))
}
