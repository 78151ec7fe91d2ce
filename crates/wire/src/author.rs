//! Who something is by, as an integration says it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who did what an activity or a discussion tells of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Author {
    /// Name.
    pub name: String,
    /// URL of a picture.
    pub avatar: Option<String>,
}
