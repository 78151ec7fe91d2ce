//! The one place that turns what went wrong into a status, headers and a body.

use std::collections::BTreeMap;

use axum::response::Response;
use eddyline_app::{CredentialsError, Error, IntegrationFailed, Limit, ScimError};
use eddyline_wire::forms::FormError;
use eddyline_wire::params::Invalid;
use eddyline_wire::{ErrorBody, IntegrationError};
use http::StatusCode;
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};

use crate::json::JsonError;
use crate::response::{uncounted, with_header};
use crate::serve::BodyError;

/// Seconds after which a caller may come back when the store is down or busy.
const RETRY_SECONDS: u64 = 2;

/// The most mistakes of one parameter that an answer names, and about the most bytes of all of
/// them.
const MAX_MISTAKES: usize = 20;
const MAX_MISTAKES_BYTES: usize = 4096;
/// The most characters of a mistake, and of a parameter's name.
const MAX_TEXT: usize = 500;
/// The most characters of a flow's name in an answer. No flow has a longer one.
const MAX_NAME: usize = 200;

/// Why an endpoint did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiFailure {
    /// The application said no.
    #[error(transparent)]
    App(#[from] Error),
    /// Parameters were refused.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The request cannot be read.
    #[error("{1}")]
    Request(StatusCode, String),
    /// The body is too long, or a file in it.
    #[error("the request body is too large")]
    TooLong(Limit),
    /// There are no credentials.
    #[error("no credentials")]
    Anonymous,
}

impl ApiFailure {
    pub(crate) fn internal(text: String) -> Self {
        Self::App(Error::Internal(text))
    }

    /// The bound for which a request was refused.
    fn limit(&self) -> Option<Limit> {
        match self {
            Self::App(error) => error.limit(),
            Self::TooLong(limit) => Some(*limit),
            _ => None,
        }
    }

    /// One mistake of one parameter.
    pub(crate) fn invalid(name: &str, text: &str) -> Self {
        Self::Invalid(Invalid::one(name, text))
    }

    fn bad_request(text: impl Into<String>) -> Self {
        Self::Request(StatusCode::BAD_REQUEST, text.into())
    }
}

impl From<BodyError> for ApiFailure {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Overloaded => Self::App(Error::Unavailable(error.to_string())),
            BodyError::TooLarge(limit) => Self::TooLong(limit),
            _ => Self::Request(error.status(), error.to_string()),
        }
    }
}

impl From<JsonError> for ApiFailure {
    fn from(error: JsonError) -> Self {
        Self::bad_request(error.to_string())
    }
}

impl From<FormError> for ApiFailure {
    fn from(error: FormError) -> Self {
        Self::Invalid(Invalid::one(&error.field, error.problem.to_string()))
    }
}

impl From<CredentialsError> for ApiFailure {
    fn from(_: CredentialsError) -> Self {
        Self::App(Error::Unauthenticated(
            "The Authorization header cannot be read",
        ))
    }
}

/// The answer to a failure. The log says which bound a request was refused for.
pub(crate) fn response(failure: ApiFailure) -> Response {
    if let Some(limit) = failure.limit() {
        limit.log_refusal();
    }
    match failure {
        ApiFailure::TooLong(_) => plain(StatusCode::PAYLOAD_TOO_LARGE, &failure.to_string()),
        ApiFailure::Invalid(invalid) => mistakes(invalid.errors),
        ApiFailure::Request(status, text) => plain(status, &text),
        ApiFailure::Anonymous => {
            challenge("Authentication is required", "Basic realm=\"Eddyline\"")
        }
        ApiFailure::App(error) => of_app(error),
    }
}

fn of_app(error: Error) -> Response {
    match error {
        Error::Invalid(errors) => mistakes(errors),
        Error::Unauthenticated(text) => challenge(text, "Basic realm=\"Eddyline\""),
        Error::InvalidToken => challenge(
            "The access token is not valid",
            "Bearer realm=\"Eddyline\", error=\"invalid_token\"",
        ),
        Error::TooMany { retry_after, .. } => {
            let text = "Too many failed attempts; try again later";
            retry(plain(StatusCode::TOO_MANY_REQUESTS, text), retry_after)
        }
        Error::TooManyRequests { retry_after, .. } => retry(
            plain(StatusCode::TOO_MANY_REQUESTS, "Too many requests"),
            retry_after,
        ),
        Error::MailQuota(exceeded) => retry(
            plain(StatusCode::TOO_MANY_REQUESTS, &exceeded.to_string()),
            exceeded.retry_after,
        ),
        Error::NotFound => plain(StatusCode::NOT_FOUND, "not found"),
        Error::NoSuchFlow(name) => plain(
            StatusCode::NOT_FOUND,
            &format!("not found: {}", shortened(&name, MAX_NAME)),
        ),
        Error::Denied => plain(StatusCode::FORBIDDEN, "Access denied"),
        Error::FlowDenied(name) => plain(
            StatusCode::FORBIDDEN,
            &format!("Access denied: {}", shortened(&name, MAX_NAME)),
        ),
        Error::MissingScope(wanted) => {
            // RFC 6750, section 3.1. Any of them will do.
            let challenge = format!(
                "Bearer realm=\"Eddyline\", error=\"insufficient_scope\", scope=\"{wanted}\""
            );
            with_header(
                plain(StatusCode::FORBIDDEN, "Access denied"),
                WWW_AUTHENTICATE,
                &challenge,
            )
        }
        Error::Gone => plain(StatusCode::GONE, "This source was removed"),
        Error::LinkEnded => plain(StatusCode::GONE, "This link has ended"),
        Error::TooLarge => plain(StatusCode::PAYLOAD_TOO_LARGE, "the file is too large"),
        Error::Conflict(text) | Error::Full { text, .. } => plain(StatusCode::CONFLICT, &text),
        Error::Integration(IntegrationFailed {
            message,
            status,
            authentication_url,
        }) => {
            let body = IntegrationError {
                message,
                status,
                authentication_url,
            };
            uncounted(
                StatusCode::FAILED_DEPENDENCY,
                serde_json::to_vec(&body).unwrap_or_default().into(),
            )
        }
        Error::Scim(error) => of_provider(&error),
        Error::Unavailable(why) => {
            tracing::warn!(why, "answered that the service is unavailable");
            let text = "The service is temporarily unavailable; try again";
            retry(plain(StatusCode::SERVICE_UNAVAILABLE, text), RETRY_SECONDS)
        }
        Error::TookTooLong => {
            let text = "This took too long to look up; ask for less, or try again";
            retry(plain(StatusCode::SERVICE_UNAVAILABLE, text), RETRY_SECONDS)
        }
        Error::FileQuota { text, .. } => plain(StatusCode::INSUFFICIENT_STORAGE, &text),
        Error::DiskFull => {
            tracing::error!("the disk is full");
            plain(
                StatusCode::INSUFFICIENT_STORAGE,
                "The server has no room for more data",
            )
        }
        Error::Internal(why) => {
            tracing::error!(why, "internal error");
            plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                "Something went wrong on our side",
            )
        }
    }
}

/// What an identity provider asked cannot be done, in the shapes of the specification.
fn of_provider(error: &ScimError) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_REQUEST);
    match (&error.field, status) {
        (Some(field), StatusCode::BAD_REQUEST) => {
            mistakes(Invalid::one(field, &error.detail).errors)
        }
        (_, StatusCode::UNAUTHORIZED) => challenge(&error.detail, "Bearer realm=\"Eddyline\""),
        _ => plain(status, &error.detail),
    }
}

/// An error of which there is one thing to say.
pub(crate) fn plain(status: StatusCode, text: &str) -> Response {
    body(status, &ErrorBody::new(shortened(text, MAX_TEXT)))
}

/// Parameters that were refused. Texts of the request are cut before they are echoed, because this
/// answer is not counted for the caller.
fn mistakes(errors: BTreeMap<String, Vec<String>>) -> Response {
    let (mut told, mut room) = (BTreeMap::new(), MAX_MISTAKES_BYTES);
    for (name, texts) in errors {
        let name = shortened(&name, MAX_TEXT);
        let fitting = texts
            .iter()
            .take(MAX_MISTAKES)
            .map(|text| shortened(text, MAX_TEXT))
            .take_while(|text| {
                let left = room.checked_sub(name.len() + text.len());
                room = left.unwrap_or(0);
                left.is_some()
            });
        let fitting: Vec<String> = fitting.collect();
        if !fitting.is_empty() {
            told.insert(name, fitting);
        }
    }
    body(StatusCode::BAD_REQUEST, &ErrorBody::validation(told))
}

/// The beginning of a text that may echo what was sent.
pub(crate) fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn body(status: StatusCode, body: &ErrorBody) -> Response {
    uncounted(status, serde_json::to_vec(body).unwrap_or_default().into())
}

fn challenge(text: &str, challenge: &str) -> Response {
    with_header(
        plain(StatusCode::UNAUTHORIZED, text),
        WWW_AUTHENTICATE,
        challenge,
    )
}

fn retry(response: Response, seconds: u64) -> Response {
    with_header(response, RETRY_AFTER, &seconds.to_string())
}
