//! A form that somebody sent: read within bounds, and checked against forgery before anybody acts
//! on it.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts as _};
use eddyline_app::{Error, Limit};
use eddyline_http::check_response_budget;
use eddyline_http::media::is_form;
use eddyline_http::serve::{BodyLimit, read_body};
use http::Request;

use crate::Site;
use crate::error::PageError;
use crate::form::Form;
use crate::visit::Visit;

/// How large a form may be, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// A form, and who sent it.
pub(crate) struct Submission {
    pub(crate) visit: Visit,
    form: Form,
}

impl Submission {
    /// A value of the form.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.form.get(name)
    }

    /// All values of the form.
    pub(crate) fn form(&self) -> &Form {
        &self.form
    }
}

impl FromRequest<Site> for Submission {
    type Rejection = PageError;

    async fn from_request(request: Request<Body>, site: &Site) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        if !is_form(&parts.headers) {
            return Err(Error::unsupported_type(
                "The form must be sent as application/x-www-form-urlencoded",
            )
            .into());
        }
        let mut visit = Visit::from_request_parts(&mut parts, site).await?;
        if visit.is_foreign(&parts.headers) {
            return Err(PageError::Forged);
        }
        // Once something is done, its page cannot be refused.
        check_response_budget()?;
        let (body, _reservation) = match visit.actor() {
            Some(_) => (body, None),
            None => {
                let (body, reservation) =
                    site.unknown_bodies.count(body, visit.client(), MAX_BYTES);
                (body, Some(reservation))
            }
        };
        let limit = BodyLimit {
            bytes: MAX_BYTES,
            time: visit.body_time(),
            limit: Limit::FixedBody,
            ..BodyLimit::default()
        };
        let body = read_body(body, limit).await.map_err(Error::from)?;
        let form = Form::parse(&body).ok_or_else(PageError::unreadable)?;
        if !visit.is_own_form(form.get("csrf")) {
            return Err(PageError::Forged);
        }
        // The session may have ended while the body came.
        visit.look_up_again().await?;
        Ok(Self { visit, form })
    }
}
