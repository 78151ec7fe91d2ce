//! Responses, whatever they answer.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderName, StatusCode};

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// A JSON answer that is small, or whose bytes are in memory anyway.
pub(crate) fn uncounted(status: StatusCode, bytes: Bytes) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// Adds a header; one that cannot be written is left out.
pub(crate) fn with_header(mut response: Response, name: HeaderName, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}
