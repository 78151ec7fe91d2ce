//! What stands in a path beside the names of pages. What is no text leads nowhere.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;

use crate::Site;
use crate::failure::Failure;

/// The last segment of a link that was mailed or handed on.
pub(crate) struct Link(pub(crate) String);

impl FromRequestParts<Site> for Link {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Failure> {
        match Path::<String>::from_request_parts(parts, site).await {
            Ok(Path(text)) if is_decent(&text) => Ok(Self(text)),
            _ => Err(Failure::LinkGone),
        }
    }
}

/// The names of an organization and a flow.
pub(crate) struct FlowNames(pub(crate) String, pub(crate) String);

impl FromRequestParts<Site> for FlowNames {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Failure> {
        match Path::<(String, String)>::from_request_parts(parts, site).await {
            Ok(Path((organization, flow))) if is_decent(&organization) && is_decent(&flow) => {
                Ok(Self(organization, flow))
            }
            _ => Err(Failure::NoPage),
        }
    }
}

/// No name has a NUL, and PostgreSQL takes no text with one.
fn is_decent(text: &str) -> bool {
    !text.contains('\0')
}
