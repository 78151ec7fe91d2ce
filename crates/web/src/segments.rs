//! What stands in a path beside the names of pages. What is no text leads nowhere.

use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use eddyline_model::UserId;
use http::request::Parts;

use crate::Site;
use crate::error::PageError;

/// The last segment of a link that was mailed or handed on.
pub(crate) struct LinkSegment(pub(crate) String);

impl FromRequestParts<Site> for LinkSegment {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, PageError> {
        match Path::<String>::from_request_parts(parts, site).await {
            Ok(Path(text)) if is_well_formed(&text) => Ok(Self(text)),
            _ => Err(PageError::InvalidLink),
        }
    }
}

/// The names of an organization and a flow.
pub(crate) struct FlowNames(pub(crate) String, pub(crate) String);

impl FromRequestParts<Site> for FlowNames {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, PageError> {
        match Path::<(String, String)>::from_request_parts(parts, site).await {
            Ok(Path((organization, flow)))
                if is_well_formed(&organization) && is_well_formed(&flow) =>
            {
                Ok(Self(organization, flow))
            }
            _ => Err(PageError::not_found()),
        }
    }
}

/// The name of an organization.
pub(crate) struct OrganizationName(pub(crate) String);

impl FromRequestParts<Site> for OrganizationName {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, PageError> {
        match Path::<String>::from_request_parts(parts, site).await {
            Ok(Path(name)) if is_well_formed(&name) => Ok(Self(name)),
            _ => Err(PageError::not_found()),
        }
    }
}

/// The name of an organization and the number of one of its users.
pub(crate) struct OrganizationUser(pub(crate) String, pub(crate) UserId);

impl FromRequestParts<Site> for OrganizationUser {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, PageError> {
        let Path((name, user)) = Path::<(String, String)>::from_request_parts(parts, site)
            .await
            .map_err(|_| PageError::not_found())?;
        match user.parse() {
            Ok(user) if is_well_formed(&name) => Ok(Self(name, user)),
            _ => Err(PageError::not_found()),
        }
    }
}

/// The number of something.
pub(crate) struct Numbered<T>(pub(crate) T);

impl<T: FromStr + Send> FromRequestParts<Site> for Numbered<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, PageError> {
        let Path(text) = Path::<String>::from_request_parts(parts, site)
            .await
            .map_err(|_| PageError::not_found())?;
        text.parse().map(Self).map_err(|_| PageError::not_found())
    }
}

/// No name has a NUL, and PostgreSQL takes no text with one.
fn is_well_formed(text: &str) -> bool {
    !text.contains('\0')
}
