//! Pictures of integrations, which the server fetches for the pages.

use axum::body::Body;
use axum::response::Response;
use eddyline_app::ErrorKind;
use eddyline_http::reserve_response_bytes;
use http::StatusCode;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    X_CONTENT_TYPE_OPTIONS,
};

use crate::error::PageError;
use crate::segments::LinkSegment;
use crate::visit::Visit;

/// A picture changes seldom.
const SHOWN: &str = "private, max-age=86400";
/// One that is not there may come to be there.
const MISSING: &str = "private, max-age=300";
/// A picture opened by itself is a document, which may do nothing.
const POLICY: &str = "default-src 'none'; sandbox";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Shows a picture to those who are signed in.
pub(super) async fn show(
    visit: Visit,
    LinkSegment(token): LinkSegment,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let actor = visit.actor().filter(|_| !visit.is_foreign(&headers));
    let actor = actor.ok_or_else(PageError::not_found)?;
    let picture = match visit.app().pictures().get(actor, &token).await {
        Ok(picture) => picture,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(missing()),
        Err(error) => return Err(error.into()),
    };
    let bytes = reserve_response_bytes(picture.bytes)?;
    let mut response = answer(bytes.into(), SHOWN);
    let kind = HeaderValue::from_static(picture.content_type);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

/// Pages show initials then.
fn missing() -> Response {
    let mut response = answer(Body::empty(), MISSING);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn answer(body: Body, caching: &'static str) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().extend([
        (CACHE_CONTROL, HeaderValue::from_static(caching)),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (RESOURCE_POLICY, HeaderValue::from_static("same-origin")),
    ]);
    response
}
