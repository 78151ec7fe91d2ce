//! What is wrong with a request, in the words of RFC 7644, section 3.12.

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

/// Why a request cannot be read or applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct ScimError {
    /// What SCIM calls it.
    pub scim_type: ScimType,
    /// The attribute that is wrong (`name.givenName`), if it is one.
    pub field: Option<String>,
    /// What is wrong, for people. With a `field` it goes on from its name: `is required`.
    pub detail: String,
}

impl ScimError {
    /// An attribute is wrong, or the whole request when `field` is empty.
    pub fn invalid(scim_type: ScimType, field: &str, detail: impl Into<String>) -> Self {
        let field = (!field.is_empty()).then(|| field.to_owned());
        Self {
            scim_type,
            field,
            detail: detail.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_an_attribute_or_none() {
        let error = ScimError::invalid(ScimType::InvalidValue, "name.givenName", "must be a text");
        assert_eq!(error.field.as_deref(), Some("name.givenName"));
        assert_eq!(error.to_string(), "must be a text");
        assert_eq!(ScimError::invalid(ScimType::NoTarget, "", "x").field, None);
    }
}
