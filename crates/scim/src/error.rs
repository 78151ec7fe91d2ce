//! What went wrong, in the words of RFC 7644, section 3.12.

use serde_json::{Map, Value, json};

/// The kinds of bad requests that SCIM has names for (RFC 7644, section 3.12, table 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScimType {
    /// A filter cannot be read, or asks for what is not supported.
    InvalidFilter,
    /// More users match than are looked at.
    TooMany,
    /// A value must be unique and is taken.
    Uniqueness,
    /// An attribute cannot be changed.
    Mutability,
    /// A body is not what the request takes.
    InvalidSyntax,
    /// The path of a PATCH is no path, or names nothing.
    InvalidPath,
    /// The path of a PATCH leads to nothing that could be changed.
    NoTarget,
    /// A value is missing, or cannot be that of its attribute.
    InvalidValue,
    /// The version of the protocol is not supported.
    InvalidVers,
    /// The request must not stand in a URL.
    Sensitive,
}

impl ScimType {
    /// The name on the wire, for example `invalidFilter`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidFilter => "invalidFilter",
            Self::TooMany => "tooMany",
            Self::Uniqueness => "uniqueness",
            Self::Mutability => "mutability",
            Self::InvalidSyntax => "invalidSyntax",
            Self::InvalidPath => "invalidPath",
            Self::NoTarget => "noTarget",
            Self::InvalidValue => "invalidValue",
            Self::InvalidVers => "invalidVers",
            Self::Sensitive => "sensitive",
        }
    }
}

/// A request that fails, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct ScimError {
    /// The status of the answer.
    pub status: u16,
    /// Which kind of bad request it is, if SCIM has a name for it.
    pub scim_type: Option<ScimType>,
    /// The attribute that is wrong (`name.givenName`), if it is one.
    pub field: Option<String>,
    /// What is wrong, for people. With a `field` it goes on from its name: `is required`.
    pub detail: String,
}

impl ScimError {
    /// A bad request (400) because of an attribute, or of the whole when `field` is empty.
    pub fn invalid(scim_type: ScimType, field: &str, detail: impl Into<String>) -> Self {
        let field = (!field.is_empty()).then(|| field.to_owned());
        Self {
            status: 400,
            scim_type: Some(scim_type),
            field,
            detail: detail.into(),
        }
    }

    /// A failure that SCIM has only a status for.
    pub fn new(status: u16, detail: impl Into<String>) -> Self {
        Self {
            status,
            scim_type: None,
            field: None,
            detail: detail.into(),
        }
    }

    /// The body of the answer: a SCIM error message, with the status as a text.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut error = Map::new();
        error.insert(
            "schemas".into(),
            json!(["urn:ietf:params:scim:api:messages:2.0:Error"]),
        );
        error.insert("status".into(), self.status.to_string().into());
        if let Some(scim_type) = self.scim_type {
            error.insert("scimType".into(), scim_type.as_str().into());
        }
        let detail = match &self.field {
            Some(field) => format!("{field} {}", self.detail),
            None => self.detail.clone(),
        };
        error.insert("detail".into(), detail.into());
        Value::Object(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_request_names_its_kind_and_attribute() {
        let error = ScimError::invalid(ScimType::InvalidValue, "name.givenName", "must be a text");
        assert_eq!(
            error.to_value(),
            json!({
                "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
                "status": "400",
                "scimType": "invalidValue",
                "detail": "name.givenName must be a text",
            })
        );
        assert_eq!(error.to_string(), "must be a text");
    }

    #[test]
    fn other_failures_have_a_status_and_words() {
        let error = ScimError::new(404, "There is no such user");
        assert_eq!(
            error.to_value(),
            json!({
                "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
                "status": "404",
                "detail": "There is no such user",
            })
        );
        assert_eq!(ScimError::invalid(ScimType::NoTarget, "", "x").field, None);
    }
}
