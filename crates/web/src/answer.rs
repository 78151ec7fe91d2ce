//! Pages as responses: their headers are the same everywhere.

use askama::Template;
use axum::body::Body;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, StatusCode};

use crate::local_path::local_path;

/// No script, nothing from elsewhere, in nobody's frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// A page. It is nobody else's to keep.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> Response {
    let (status, text) = match template.render() {
        Ok(text) => (status, text),
        Err(error) => {
            tracing::error!(%error, "a page could not be written");
            (StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side.".to_owned())
        }
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    harden(headers);
    response
}

/// Sends the browser on to a path here, to be read with GET.
pub(crate) fn see_other(path: &str) -> Response {
    sent_on(StatusCode::SEE_OTHER, path)
}

/// Sends the browser on to a path here, where what it asked for always is.
pub(crate) fn moved(path: &str) -> Response {
    sent_on(StatusCode::PERMANENT_REDIRECT, path)
}

fn sent_on(status: StatusCode, path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let path = local_path(path).unwrap_or("/");
    headers.insert(LOCATION, HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/")));
    harden(headers);
    response
}

/// What keeps a page to itself. Addresses hold secrets, so that other sites do not learn from where
/// one comes; our own do, since browsers then say that a form is ours.
fn harden(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
