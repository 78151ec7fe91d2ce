//! Status and headers of the answer to an error, by its kind, and its line in the log. They are
//! the same for every shape of the body.

use std::borrow::Cow;

use axum::response::Response;
use eddyline_app::{Error, ErrorKind};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};

use crate::response::with_header;

/// Status and headers of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: StatusCode,
    /// Seconds.
    retry_after: Option<u64>,
    /// RFC 9110, section 11.6.1.
    challenge: Option<String>,
}

impl Head {
    fn of(error: &Error) -> Self {
        Self {
            status: status(error.kind()),
            retry_after: error.retry_after(),
            challenge: challenge(error),
        }
    }

    /// The same for a page. A challenge would make browsers ask for a password in a window of
    /// their own, and 401 requires one (RFC 9110, section 15.5.2). What is gone is not found there.
    fn of_page(error: &Error) -> Self {
        let head = Self::of(error);
        let status = match head.status {
            StatusCode::UNAUTHORIZED => StatusCode::FORBIDDEN,
            StatusCode::GONE => StatusCode::NOT_FOUND,
            status => status,
        };
        Self {
            status,
            challenge: None,
            ..head
        }
    }

    /// Shapes the body, and adds the headers.
    fn answer(self, shape: impl FnOnce(StatusCode) -> Response) -> Response {
        let mut response = shape(self.status);
        if let Some(seconds) = self.retry_after {
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        match self.challenge {
            Some(challenge) => with_header(response, WWW_AUTHENTICATE, &challenge),
            None => response,
        }
    }
}

/// The status of each kind of error: the one table of them.
pub(super) fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Invalid | ErrorKind::Malformed => StatusCode::BAD_REQUEST,
        ErrorKind::Unauthenticated | ErrorKind::MissingToken | ErrorKind::InvalidToken => {
            StatusCode::UNAUTHORIZED
        }
        ErrorKind::Denied | ErrorKind::Closed | ErrorKind::MissingScope => StatusCode::FORBIDDEN,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::TimedOut => StatusCode::REQUEST_TIMEOUT,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Gone => StatusCode::GONE,
        ErrorKind::VersionMismatch => StatusCode::PRECONDITION_FAILED,
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::UnsupportedType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorKind::Integration => StatusCode::FAILED_DEPENDENCY,
        ErrorKind::TooManyAttempts | ErrorKind::TooManyRequests | ErrorKind::MailQuota => {
            StatusCode::TOO_MANY_REQUESTS
        }
        ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorKind::Unavailable | ErrorKind::DeadlineExceeded => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::FileQuota | ErrorKind::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
    }
}

/// What a caller has to show (RFC 9110, section 11.6.1; RFC 6750, section 3).
fn challenge(error: &Error) -> Option<String> {
    let challenge = match error.kind() {
        ErrorKind::Unauthenticated => "Basic realm=\"Eddyline\"",
        // Without a code, since there were no credentials (RFC 6750, section 3.1).
        ErrorKind::MissingToken => "Bearer realm=\"Eddyline\"",
        ErrorKind::InvalidToken => "Bearer realm=\"Eddyline\", error=\"invalid_token\"",
        // Any of the scopes will do.
        ErrorKind::MissingScope => {
            let scopes = error.missing_scopes()?;
            return Some(format!(
                "Bearer realm=\"Eddyline\", error=\"insufficient_scope\", scope=\"{scopes}\""
            ));
        }
        _ => return None,
    };
    Some(challenge.to_owned())
}

/// What is wrong, in a sentence for clients.
pub(crate) fn message(error: &Error) -> Cow<'_, str> {
    let message = error.message().unwrap_or(match error.kind() {
        ErrorKind::Invalid => "Validation error",
        ErrorKind::Malformed => "The request cannot be read",
        ErrorKind::UnsupportedType => "The type of the body is not supported",
        ErrorKind::TimedOut => "The request took too long to arrive",
        ErrorKind::TooLarge => "The request is too large",
        ErrorKind::Unauthenticated | ErrorKind::MissingToken => "Authentication is required",
        ErrorKind::InvalidToken => "The access token is not valid",
        ErrorKind::Denied | ErrorKind::Closed | ErrorKind::MissingScope => "Access denied",
        ErrorKind::NotFound => "not found",
        ErrorKind::Gone => "It was removed",
        ErrorKind::Conflict => "It contradicts what is there",
        ErrorKind::VersionMismatch => "It was changed since; read it again",
        ErrorKind::TooManyAttempts => "Too many failed attempts; try again later",
        ErrorKind::TooManyRequests => "Too many requests",
        ErrorKind::MailQuota => "Too much mail",
        ErrorKind::Integration => "The integration did not do what it was asked",
        ErrorKind::Unavailable => "The service is temporarily unavailable; try again",
        ErrorKind::DeadlineExceeded => "This took too long to look up; ask for less, or try again",
        ErrorKind::FileQuota => "The quota on files is used up",
        ErrorKind::DiskFull => "The server has no room for more data",
        ErrorKind::Internal => "Something went wrong on our side",
    });
    match (error.kind(), error.retry_after()) {
        // Clients show this text to users, who do not see the header `Retry-After`.
        (ErrorKind::MailQuota, Some(wait)) => {
            format!("{message}; try again in {wait} seconds").into()
        }
        _ => message.into(),
    }
}

/// Writes into the log what an operator has to know of an error: the bound for which a request was
/// refused, and what the server could not do.
fn log(error: &Error) {
    if let Some(limit) = error.limit() {
        limit.log_refusal();
    }
    let why = error.log_text().unwrap_or_default();
    match error.kind() {
        ErrorKind::Unavailable => {
            tracing::warn!(why, "answered that the service is unavailable");
        }
        ErrorKind::DiskFull => tracing::error!("the disk is full"),
        ErrorKind::Internal => tracing::error!(why, "internal error"),
        _ => {}
    }
}

/// Answers with an error, whose body `shape` makes for the status. The error is logged.
pub(crate) fn respond(error: &Error, shape: impl FnOnce(StatusCode) -> Response) -> Response {
    log(error);
    Head::of(error).answer(shape)
}

/// Answers with an error as a page, which `page` makes for the status. The error is logged. Status
/// and headers are those of the API's answer, but for what would mislead a browser.
pub fn error_page(error: &Error, page: impl FnOnce(StatusCode) -> Response) -> Response {
    log(error);
    Head::of_page(error).answer(page)
}

#[cfg(test)]
mod tests {
    use eddyline_app::{IntegrationFailed, Limit};
    use eddyline_model::Timestamp;
    use eddyline_model::scopes::{Scope, Scopes};

    use super::*;

    fn integration() -> Error {
        Error::from(IntegrationFailed {
            message: "The integration answered with status 500".to_owned(),
            status: Some(500),
            authentication_url: None,
        })
    }

    /// An error, its status in the API and on pages, and its headers.
    type Row = (Error, u16, u16, Option<u64>, Option<&'static str>);

    /// Each kind of error.
    fn table() -> Vec<Row> {
        let scopes = Scopes::of(&[Scope::Flow, Scope::Private]);
        let basic = Some("Basic realm=\"Eddyline\"");
        let bearer = Some("Bearer realm=\"Eddyline\"");
        let wrong = Some("Bearer realm=\"Eddyline\", error=\"invalid_token\"");
        let lacking =
            Some("Bearer realm=\"Eddyline\", error=\"insufficient_scope\", scope=\"flow private\"");
        let limit = Limit::Requests;
        vec![
            (Error::invalid("name", "is wrong"), 400, 400, None, None),
            (Error::malformed("x"), 400, 400, None, None),
            (Error::unsupported_type("x"), 415, 415, None, None),
            (Error::timed_out("x"), 408, 408, None, None),
            (Error::too_large(limit, "x"), 413, 413, None, None),
            (Error::unauthenticated("x"), 401, 403, None, basic),
            (Error::missing_token("x"), 401, 403, None, bearer),
            (Error::invalid_token(), 401, 403, None, wrong),
            (Error::denied(), 403, 403, None, None),
            (Error::closed(Timestamp(0)), 403, 403, None, None),
            (Error::missing_scope(scopes), 403, 403, None, lacking),
            (Error::not_found(), 404, 404, None, None),
            (Error::gone("x"), 410, 404, None, None),
            (Error::conflict("x"), 409, 409, None, None),
            (Error::version_mismatch("x"), 412, 412, None, None),
            (Error::too_many_attempts(limit, 7), 429, 429, Some(7), None),
            (Error::too_many_requests(limit, 7), 429, 429, Some(7), None),
            (Error::mail_quota(limit, 7, "x"), 429, 429, Some(7), None),
            (integration(), 424, 424, None, None),
            (Error::unavailable("x"), 503, 503, Some(2), None),
            (Error::deadline_exceeded(), 503, 503, Some(2), None),
            (Error::file_quota(limit, "x"), 507, 507, None, None),
            (Error::disk_full(), 507, 507, None, None),
            (Error::internal("x"), 500, 500, None, None),
        ]
    }

    #[test]
    fn each_kind_has_its_status_and_headers_in_the_api_and_on_pages() {
        let table = table();
        let kinds: Vec<_> = table.iter().map(|(error, ..)| error.kind()).collect();
        assert_eq!(kinds, ErrorKind::ALL);
        for (error, status, of_page, retry_after, challenge) in table {
            let head = |status, challenge: Option<&str>| Head {
                status: StatusCode::from_u16(status).unwrap(),
                retry_after,
                challenge: challenge.map(str::to_owned),
            };
            assert_eq!(Head::of(&error), head(status, challenge), "{error}");
            assert_eq!(Head::of_page(&error), head(of_page, None), "{error}");
        }
    }

    #[test]
    fn no_answer_says_what_is_for_the_log_only() {
        for error in [Error::internal("s3cret"), Error::unavailable("s3cret")] {
            assert!(!message(&error).contains("s3cret"));
        }
    }

    #[test]
    fn an_answer_has_the_headers_whatever_its_shape() {
        let shape = |status| {
            let mut response = Response::default();
            *response.status_mut() = status;
            response
        };
        let error = Error::too_many_requests(Limit::Requests, 7);
        for response in [respond(&error, shape), error_page(&error, shape)] {
            assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
            assert_eq!(response.headers()[RETRY_AFTER], "7");
        }
    }
}
