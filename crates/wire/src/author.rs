//! Who something is by, as an integration says it.

use eddyline_model::pictures::PicturePaths;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who did what an activity or a discussion tells of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Author {
    /// Name.
    pub name: String,
    /// URL of a picture.
    pub avatar: Option<String>,
    /// Path below the address of the pages to a small copy of the picture, which the server fetches
    /// for browsers that are signed in there. It is left out where there is no picture, and where
    /// the server fetches none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar_path: Option<String>,
}

impl Author {
    /// Notes where the pages show the picture.
    pub fn find_path(&mut self, pictures: &PicturePaths) {
        let address = self.avatar.as_ref();
        self.avatar_path = address.and_then(|address| pictures.path(address));
    }
}
