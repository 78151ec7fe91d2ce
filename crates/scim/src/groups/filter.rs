//! The filters that groups are searched with: some attributes that equal some values.

use std::str::FromStr;

use super::GROUP_SCHEMA;
use super::show::GroupResource;
use crate::filter::terms;
use crate::path::{Literal, ValueFilter};
use crate::scan::{Fault, Scanner};
use crate::{ScimError, ScimType, shown, without_schema};

/// What a group must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupTerm {
    /// This id.
    Id(String),
    /// This `displayName`, compared without case.
    DisplayName(String),
    /// This `externalId`, compared with case.
    ExternalId(String),
    /// The user with this id as a member.
    Member(String),
}

impl GroupTerm {
    /// Reads an attribute, `eq` and a value.
    fn scan(scanner: &mut Scanner<'_>) -> Result<Self, Fault> {
        let word = scanner.word();
        let name = without_schema(GROUP_SCHEMA, word);
        if name.eq_ignore_ascii_case("members") && scanner.take('[') {
            return Self::member(scanner);
        }
        let term = match name.to_ascii_lowercase().as_str() {
            "id" => Self::Id,
            "displayname" => Self::DisplayName,
            "externalid" => Self::ExternalId,
            "members" | "members.value" => Self::Member,
            _ => {
                return Err(format!(
                    "{} is not supported in a filter, only id, displayName, externalId and \
                     members.value are",
                    shown(word)
                ));
            }
        };
        scanner.eq()?;
        scanner.string().map(term)
    }

    /// Reads what stands behind `members[`.
    fn member(scanner: &mut Scanner<'_>) -> Result<Self, Fault> {
        match ValueFilter::scan(scanner)?.conditions() {
            [condition] if condition.attribute().eq_ignore_ascii_case("value") => {
                match condition.value() {
                    Literal::Text(id) => Ok(Self::Member(id.clone())),
                    Literal::Boolean(_) => Err("The id of a member is a text".to_owned()),
                }
            }
            _ => Err("Members are asked for by one value".to_owned()),
        }
    }

    fn holds(&self, group: &GroupResource) -> bool {
        let state = &group.state;
        match self {
            Self::Id(id) => *id == group.id.to_string(),
            Self::DisplayName(name) => name.to_lowercase() == state.display_name.to_lowercase(),
            Self::ExternalId(id) => state.external_id.as_ref() == Some(id),
            Self::Member(id) => id.parse().is_ok_and(|user| state.members.contains(&user)),
        }
    }
}

/// A filter of groups: terms that must all hold, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFilter {
    terms: Vec<GroupTerm>,
}

impl GroupFilter {
    /// The terms in their order, 1 to [`MAX_TERMS`](crate::filter::MAX_TERMS).
    #[must_use]
    pub fn terms(&self) -> &[GroupTerm] {
        &self.terms
    }

    /// Whether a group has all that the terms name.
    #[must_use]
    pub fn matches(&self, group: &GroupResource) -> bool {
        self.terms.iter().all(|term| term.holds(group))
    }
}

impl FromStr for GroupFilter {
    type Err = ScimError;

    /// Reads a filter like one of users ([`Filter`](crate::Filter)) with `id`, `displayName`,
    /// `externalId`, `members`, `members.value` and `members[value eq "…"]`.
    ///
    /// # Errors
    ///
    /// [`ScimType::InvalidFilter`] says what is not supported.
    fn from_str(text: &str) -> Result<Self, ScimError> {
        match terms(text, GroupTerm::scan) {
            Ok(terms) => Ok(Self { terms }),
            Err(fault) => Err(ScimError::invalid(ScimType::InvalidFilter, "", fault)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::show::tests::team;
    use super::*;

    fn matches(text: &str) -> bool {
        text.parse::<GroupFilter>().expect(text).matches(&team())
    }

    #[test]
    fn a_group_is_found_by_each_of_its_attributes() {
        for text in [
            r#"displayName eq "The Team""#,
            r#"DISPLAYNAME EQ "the team""#,
            r#"urn:ietf:params:scim:schemas:core:2.0:Group:displayName eq "The Team""#,
            r#"externalId eq "00g1""#,
            r#"members.value eq "17""#,
            r#"members eq "17""#,
            r#"members[value eq "17"]"#,
            r#"id eq "3" and members eq "17""#,
            r#"(displayName eq "The Team") AND externalId eq "00g1""#,
        ] {
            assert!(matches(text), "{text}");
        }
        for text in [
            r#"displayName eq "Team""#,
            r#"externalId eq "00G1""#,
            r#"members.value eq "18""#,
            r#"members.value eq "ada""#,
            r#"id eq "3" and members eq "18""#,
            r#"id eq "17""#,
        ] {
            assert!(!matches(text), "{text}");
        }
    }

    #[test]
    fn other_filters_are_refused() {
        for text in [
            "",
            "displayName",
            r#"displayName co "Team""#,
            r#"displayName eq "a" or displayName eq "b""#,
            r#"not (displayName eq "a")"#,
            r#"userName eq "a""#,
            r#"urn:ietf:params:scim:schemas:core:2.0:User:displayName eq "a""#,
            r#"members.display eq "a""#,
            r#"members[value eq true]"#,
            r#"members[type eq "User"]"#,
            r#"members[value eq "1" and value eq "2"]"#,
            r#"members[value eq "1"].value"#,
        ] {
            let error = text.parse::<GroupFilter>().expect_err(text);
            assert_eq!(error.scim_type, ScimType::InvalidFilter, "{text}");
        }
    }
}
