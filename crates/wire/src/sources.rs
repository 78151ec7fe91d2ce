//! Sources as those who may see them read them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What ties an application to a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Source {
    /// Number.
    pub id: i64,
    /// What people know it by.
    pub name: String,
    /// The secret it posts with; only in the answer to its making.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_token: Option<String>,
    /// The flow's id.
    pub flow: String,
    /// Its application; nothing once that is gone.
    pub application: Option<SourceApplication>,
    /// What is wrong with it, in the integration's words.
    pub error_message: Option<String>,
    /// Its address.
    pub url: String,
    /// Where what it mirrors is to be found.
    pub external_url: Option<String>,
    /// Where it is configured.
    pub configuration_url: Option<String>,
    /// Number of the user who made it, unless an operator did.
    pub creator: Option<i64>,
    /// When it was made, ISO 8601.
    pub created_at: String,
    /// When it last changed, ISO 8601.
    pub updated_at: String,
    /// When one of its threads changed last, ISO 8601; null while it has none.
    #[serde(default)]
    pub threads_updated_at: Option<String>,
}

/// An application that can be set up for a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SetupApplication {
    /// Number.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Its picture.
    pub icon_url: Option<String>,
    /// The page of the application where it is set up for this flow.
    pub setup_url: String,
}

/// The application of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SourceApplication {
    /// Number, as text.
    pub id: String,
    /// Name.
    pub name: String,
    /// Where its sources are configured.
    pub configuration_uri: Option<String>,
}
