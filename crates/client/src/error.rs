//! What can go wrong with a call.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use eddyline_wire::ErrorBody;
use eddyline_wire::params::Invalid;
use http::{HeaderMap, StatusCode};

/// A call that did not give its value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address, path or header that HTTP cannot carry. Nothing was sent.
    #[error("cannot build the request")]
    Request(#[source] http::Error),
    /// TLS could not be set up.
    #[error("cannot set up TLS")]
    Tls(#[source] rustls::Error),
    /// A value that JSON cannot carry. Nothing was sent.
    #[error("cannot write the request body")]
    Encode(#[source] serde_json::Error),
    /// Parameters break a bound that the server would refuse them for. Nothing was sent.
    #[error("{}", listed(.0))]
    Invalid(#[from] Invalid),
    /// The server was not reached, or the connection ended before the answer's head: the request
    /// may or may not have had its effect.
    #[error("the request failed: {}", causes(.0))]
    Transport(hyper_util::client::legacy::Error),
    /// The connection ended within the answer.
    #[error("the answer broke off: {}", causes(.0))]
    Body(hyper::Error),
    /// No complete answer came within the client's time limit.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// The tokio runtime ended in the middle of a renewal of OAuth tokens.
    #[error("the runtime ended while tokens were renewed")]
    RuntimeEnded,
    /// The server refused.
    #[error("{0}")]
    Api(ApiError),
    /// The answer is not of the expected shape.
    #[error("unexpected answer to the request (status {status})")]
    Decode {
        /// The answer's status.
        status: StatusCode,
        /// Where the shape differs.
        source: serde_json::Error,
    },
    /// The answer to the request for a stream is no stream. The streaming address is probably
    /// wrong.
    #[error("the answer is no stream: its content type is {content_type:?}")]
    NoStream {
        /// The content type; empty when the answer has none.
        content_type: String,
    },
    /// The stream holds something that is not an event.
    #[error("the stream is not readable")]
    Stream(#[from] MalformedStream),
}

/// The stream holds something that is not an event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedStream {
    /// An event is not JSON.
    #[error("an event is not JSON")]
    NotJson(#[source] serde_json::Error),
    /// An event is longer than 16 MiB.
    #[error("an event is too long")]
    TooLong,
}

/// Each parameter with what is wrong with it.
fn listed(invalid: &Invalid) -> String {
    let each = invalid
        .errors
        .iter()
        .map(|(name, texts)| format!("{name} {}", texts.join(" and ")));
    each.collect::<Vec<_>>().join("; ")
}

/// An error with all its causes, which alone tell a refused connection from a certificate that is
/// not trusted.
fn causes(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

impl Error {
    /// The status of the server's refusal, if it was one.
    pub fn status(&self) -> Option<StatusCode> {
        self.api().map(|refusal| refusal.status)
    }

    /// The server's refusal, if it was one.
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Self::Api(refusal) => Some(refusal),
            _ => None,
        }
    }
}

/// The server's refusal: an answer with a status of 400 or above (or an unexpected one below).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Status of the answer.
    pub status: StatusCode,
    /// The server's sentence; empty when the body was not the API's error object.
    pub message: String,
    /// For failed validation: what is wrong, by the name of the parameter.
    pub errors: BTreeMap<String, Vec<String>>,
    /// How long the server asks to wait before the next attempt.
    pub retry_after: Option<Duration>,
}

impl ApiError {
    pub(crate) fn read(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let (message, errors) = match serde_json::from_slice(body) {
            Ok(ErrorBody { message, errors }) => (message, errors),
            Err(_) => Default::default(),
        };
        let retry_after = headers
            .get(http::header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        Self {
            status,
            message,
            errors,
            retry_after,
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}", self.status)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        for (field, texts) in &self.errors {
            write!(f, "; {field} {}", texts.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_validation_error_names_its_fields() {
        let error = ApiError::read(
            StatusCode::BAD_REQUEST,
            &HeaderMap::new(),
            br#"{"message":"Validation error","errors":{"content":["is too long"]}}"#,
        );
        assert_eq!(
            error.to_string(),
            "status 400 Bad Request: Validation error; content is too long"
        );
    }

    #[test]
    fn a_body_of_another_making_leaves_the_status() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "3".parse().unwrap());
        let error = ApiError::read(StatusCode::BAD_GATEWAY, &headers, b"<html>");
        assert_eq!(error.to_string(), "status 502 Bad Gateway");
        assert_eq!(error.retry_after, Some(Duration::from_secs(3)));
    }
}
