//! A form that somebody sent: read within bounds, and checked against forgery before anybody acts
//! on it.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts as _};
use eddyline_app::{Error, Limit};
use eddyline_http::check_response_budget;
use eddyline_http::media::is_form;
use eddyline_http::serve::{BodyLimit, read_body};
use eddyline_wire::Request as Parameters;
use eddyline_wire::params::Params;
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

    /// What the form says, by the declaration of the endpoint of the API that takes the same
    /// parameters. The first value of a name counts. Browsers send a line end of a text area as two
    /// characters; it is read as one.
    ///
    /// # Errors
    ///
    /// [`Error::invalid_fields`] with all that is wrong.
    pub(crate) fn read<P: Parameters>(&self) -> Result<P, Error> {
        let pairs: Vec<_> = self.form.iter().collect();
        let values = pairs.into_iter().rev();
        let params: Params = values
            .map(|(name, value)| (name.to_owned(), value.replace("\r\n", "\n").into()))
            .collect();
        let mut reader = params.reader();
        let read = P::read(&mut reader);
        reader.finish()?;
        read.ok_or_else(|| {
            Error::internal("a value of a form was read as missing, without an error")
        })
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
