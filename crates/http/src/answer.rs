//! Shaping answers.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderName, StatusCode};
use serde::Serialize;

use crate::answer_bytes;
use crate::error::{self, Failure};

/// What an endpoint answers.
pub(crate) type Answer = Result<Response, Failure>;

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// A JSON answer of something.
pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> Answer {
    let bytes = serde_json::to_vec(value).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(encoded(status, bytes))
}

/// A JSON answer that is encoded already. It counts for the caller until it is sent.
pub(crate) fn encoded(status: StatusCode, bytes: impl Into<Bytes>) -> Response {
    match answer_bytes::hold(bytes.into()) {
        Ok(bytes) => shaped(status, bytes),
        Err(exceeded) => error::response(exceeded.into()),
    }
}

fn shaped(status: StatusCode, bytes: Bytes) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// The empty object with which many operations answer.
pub(crate) fn done() -> Response {
    encoded(StatusCode::OK, "{}")
}

/// An answer without a body.
pub(crate) fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// Adds a header; one that cannot be written is left out.
pub(crate) fn with_header(mut response: Response, name: HeaderName, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}
