//! A form with a picture that a page sends: read within bounds, and checked against forgery before
//! a page acts on it.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts as _};
use eddyline_http::serve::BodyLimit;
use eddyline_http::{PictureForm, check_response_budget, read_picture_form};
use http::Request;

use crate::Site;
use crate::error::PageError;
use crate::visit::Visit;

/// The page that has the form. A visitor who is not signed in returns here after signing in.
const PAGE: &str = "/account";

/// A form with a picture, and who sent it.
pub(crate) struct PictureUpload {
    pub(crate) visit: Visit,
    form: PictureForm,
}

impl PictureUpload {
    /// The picture as it came; empty when none was chosen.
    pub(crate) fn picture(&self) -> Bytes {
        self.form.picture()
    }
}

impl FromRequest<Site> for PictureUpload {
    type Rejection = PageError;

    async fn from_request(request: Request<Body>, site: &Site) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let mut visit = Visit::from_request_parts(&mut parts, site).await?;
        if visit.is_foreign(&parts.headers) {
            return Err(PageError::Forged);
        }
        let sender = visit.signed_in_for(PAGE)?;
        // Once something is done, its page cannot be refused.
        check_response_budget()?;
        let limit = BodyLimit {
            time: visit.body_time(),
            ..BodyLimit::default()
        };
        let form =
            read_picture_form(&parts.headers, body, sender, limit, &site.file_bodies).await?;
        if !visit.is_own_form(form.text("csrf")) {
            return Err(PageError::Forged);
        }
        // The session may have ended while the body came.
        visit.look_up_again().await?;
        Ok(Self { visit, form })
    }
}
