//! The body of every error.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an error answer says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// What is wrong, in words.
    pub message: String,
    /// For validation errors, what is wrong with each field.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, Vec<String>>,
}

/// What an error answer says when an integration did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IntegrationError {
    /// What happened, in words.
    pub message: String,
    /// The status of the integration's answer; null when there was none.
    pub status: Option<u16>,
    /// Where the user has to sign in first, if the integration says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication_url: Option<String>,
}

impl ErrorBody {
    /// An error of which there is one thing to say.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            errors: BTreeMap::new(),
        }
    }

    /// An error of which there is something to say for each field.
    #[must_use]
    pub fn validation(errors: BTreeMap<String, Vec<String>>) -> Self {
        Self {
            message: "Validation error".into(),
            errors,
        }
    }
}
