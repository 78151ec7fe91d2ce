//! Which attributes an answer has (RFC 7644, section 3.9).

use serde_json::{Map, Value};

use crate::{GROUP_SCHEMA, ScimError, ScimType, USER_SCHEMA, without_schema};

/// The longest list of attributes, in bytes.
pub const MAX_ATTRIBUTES: usize = 2_000;

/// What every resource has, whatever was asked for.
const ALWAYS: &[&str] = &["schemas", "id"];

/// Which attributes of resources are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection(Choice);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Choice {
    #[default]
    All,
    Only(Names),
    Without(Names),
}

/// Names of attributes, each with the part that is meant, in lower case.
type Names = Vec<(String, Option<String>)>;

impl Projection {
    /// Reads the parameters `attributes` and `excludedAttributes`: names between commas, in any
    /// case, with or without the URN of the schema of users or groups, and with parts behind a dot. A
    /// parameter without names is like none, and what no resource has is ignored.
    ///
    /// # Errors
    ///
    /// [`ScimType::InvalidValue`] when both have names, since they exclude each other, or when one
    /// is longer than [`MAX_ATTRIBUTES`] bytes.
    pub fn parse(attributes: Option<&str>, excluded: Option<&str>) -> Result<Self, ScimError> {
        let only = names("attributes", attributes)?;
        let without = names("excludedAttributes", excluded)?;
        match (only.is_empty(), without.is_empty()) {
            (true, true) => Ok(Self(Choice::All)),
            (false, true) => Ok(Self(Choice::Only(only))),
            (true, false) => Ok(Self(Choice::Without(without))),
            (false, false) => Err(ScimError::invalid(
                ScimType::InvalidValue,
                "excludedAttributes",
                "must not be given together with attributes",
            )),
        }
    }

    /// The resource with what is wanted of it. `id` and `schemas` are always there.
    #[must_use]
    pub fn apply(&self, resource: Map<String, Value>) -> Map<String, Value> {
        match &self.0 {
            Choice::All => resource,
            Choice::Only(names) => project(resource, |name| kept(names, name)),
            Choice::Without(names) => project(resource, |name| dropped(names, name)),
        }
    }
}

fn names(parameter: &str, list: Option<&str>) -> Result<Names, ScimError> {
    let list = list.unwrap_or_default();
    if list.len() > MAX_ATTRIBUTES {
        let detail = format!("must not be longer than {MAX_ATTRIBUTES} bytes");
        return Err(ScimError::invalid(
            ScimType::InvalidValue,
            parameter,
            detail,
        ));
    }
    let names = list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    Ok(names.map(name_and_part).collect())
}

fn name_and_part(name: &str) -> (String, Option<String>) {
    let name = without_schema(GROUP_SCHEMA, without_schema(USER_SCHEMA, name));
    let name = name.to_ascii_lowercase();
    match name.split_once('.') {
        // The dots of another schema's URN divide nothing.
        Some((attribute, part)) if !name.contains(':') => {
            (attribute.to_owned(), Some(part.to_owned()))
        }
        _ => (name, None),
    }
}

/// What becomes of an attribute.
enum AttributeProjection {
    Whole,
    Gone,
    /// Only these parts stay.
    Parts(Vec<String>),
    /// All parts but these stay.
    PartsWithout(Vec<String>),
}

fn kept(names: &Names, attribute: &str) -> AttributeProjection {
    match parts_of(names, attribute) {
        None => AttributeProjection::Whole,
        Some(parts) if parts.is_empty() => AttributeProjection::Gone,
        Some(parts) => AttributeProjection::Parts(parts),
    }
}

fn dropped(names: &Names, attribute: &str) -> AttributeProjection {
    match parts_of(names, attribute) {
        None => AttributeProjection::Gone,
        Some(parts) if parts.is_empty() => AttributeProjection::Whole,
        Some(parts) => AttributeProjection::PartsWithout(parts),
    }
}

/// The parts of an attribute that are named; `None` when the whole is.
fn parts_of(names: &Names, attribute: &str) -> Option<Vec<String>> {
    let here = names
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case(attribute));
    here.map(|(_, part)| part.clone()).collect()
}

fn project(
    resource: Map<String, Value>,
    fate: impl Fn(&str) -> AttributeProjection,
) -> Map<String, Value> {
    let members = resource.into_iter().filter_map(|(name, value)| {
        if ALWAYS.contains(&name.as_str()) {
            return Some((name, value));
        }
        let value = match fate(&name) {
            AttributeProjection::Whole => Some(value),
            AttributeProjection::Gone => None,
            AttributeProjection::Parts(parts) => {
                parts_where(value, &|part| parts.iter().any(|known| is(known, part)))
            }
            AttributeProjection::PartsWithout(parts) => {
                parts_where(value, &|part| !parts.iter().any(|known| is(known, part)))
            }
        };
        value.map(|value| (name, value))
    });
    members.collect()
}

fn is(known: &str, part: &str) -> bool {
    known.eq_ignore_ascii_case(part)
}

/// The value, or each of its values, with some of its parts; `None` when nothing is left. A value
/// without parts has none that could be named, so it stays only where all others would.
fn parts_where(value: Value, wanted: &dyn Fn(&str) -> bool) -> Option<Value> {
    match value {
        Value::Object(parts) => {
            let parts: Map<_, _> = parts.into_iter().filter(|(part, _)| wanted(part)).collect();
            (!parts.is_empty()).then_some(Value::Object(parts))
        }
        Value::Array(values) => {
            let values: Vec<_> = values
                .into_iter()
                .filter_map(|value| parts_where(value, wanted))
                .collect();
            (!values.is_empty()).then_some(Value::Array(values))
        }
        simple => wanted("").then_some(simple),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::{resource, tests::ada};
    use serde_json::json;

    fn shown_with(attributes: Option<&str>, excluded: Option<&str>) -> Value {
        Value::Object(
            Projection::parse(attributes, excluded)
                .unwrap()
                .apply(resource(&ada())),
        )
    }

    fn with(attributes: &str) -> Value {
        let mut shown = shown_with(Some(attributes), None);
        let members = shown.as_object_mut().unwrap();
        assert_eq!(members.remove("id"), Some(json!("17")));
        assert_eq!(members.remove("schemas"), Some(json!([crate::USER_SCHEMA])));
        shown
    }

    #[test]
    fn what_is_named_is_shown_with_the_id_and_the_schemas() {
        for (attributes, expected) in [
            ("userName", json!({"userName": "ada@example.org"})),
            (
                "USERNAME , active",
                json!({"userName": "ada@example.org", "active": true}),
            ),
            (
                "urn:ietf:params:scim:schemas:core:2.0:User:nickName",
                json!({"nickName": "ada"}),
            ),
            ("name.givenName", json!({"name": {"givenName": "Ada"}})),
            (
                "name.familyName,Name.GivenName",
                json!({"name": {"givenName": "Ada", "familyName": "King Lovelace"}}),
            ),
            (
                "urn:ietf:params:scim:schemas:core:2.0:User:emails.value",
                json!({"emails": [{"value": "ada.lovelace@example.org"}]}),
            ),
            ("meta.version", json!({"meta": {"version": "W/\"3\""}})),
            ("id", json!({})),
            ("title,userName.value,emails.display", json!({})),
            (
                "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:userName",
                json!({}),
            ),
        ] {
            assert_eq!(with(attributes), expected, "{attributes}");
        }
        assert_eq!(
            with("name.givenName,name")["name"],
            resource(&ada())["name"]
        );
    }

    #[test]
    fn what_is_excluded_is_not_shown_but_for_the_id_and_the_schemas() {
        let mut expected = resource(&ada());
        for gone in ["emails", "meta", "displayName"] {
            expected.remove(gone);
        }
        expected["name"]
            .as_object_mut()
            .unwrap()
            .remove("givenName");
        let excluded = "emails,META,id,schemas,name.givenName,displayName,userName.value,members";
        assert_eq!(shown_with(None, Some(excluded)), Value::Object(expected));
        let nameless = shown_with(None, Some("name.givenName,name.familyName"));
        assert_eq!(nameless.get("name"), None);
    }

    #[test]
    fn without_names_everything_is_shown() {
        for none in [None, Some(""), Some(" , ,")] {
            assert_eq!(Projection::parse(none, none), Ok(Projection::default()));
        }
        assert_eq!(shown_with(None, None), Value::Object(resource(&ada())));
    }

    #[test]
    fn the_two_parameters_exclude_each_other() {
        let error = Projection::parse(Some("userName"), Some("emails")).unwrap_err();
        assert_eq!(error.scim_type, ScimType::InvalidValue);
        assert!(Projection::parse(Some("userName"), Some("")).is_ok());
        let long = "a,".repeat(1_001);
        assert!(Projection::parse(Some(&long), None).is_err());
        assert!(Projection::parse(None, Some(&long)).is_err());
    }
}
