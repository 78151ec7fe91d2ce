//! The one place that turns what went wrong into a page.

use askama::Template;
use axum::response::{IntoResponse, Response};
use eddyline_app::{AuthorizeError, Error, Limit};
use eddyline_http::PictureFormError;
use eddyline_http::serve::BodyError;
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER};

use crate::answer::{page, see_other};
use crate::local_path::sign_in_path;

/// Seconds after which one may come back when the store is down or busy.
const RETRY_SECONDS: u64 = 2;

/// Why there is no such page, or it does not do what it was asked.
#[derive(Debug)]
pub(crate) enum PageFailure {
    /// The application said no.
    App(Error),
    /// One must sign in first, and then goes on to this page.
    SignIn(String),
    /// It is for others to look after an application or an organization.
    NotAllowed,
    /// There is no such page.
    NoPage,
    /// The page is not for this method.
    WrongMethod,
    /// A link was used, has ended, or never was.
    LinkGone,
    /// A form that did not come from a page of ours, as far as can be told.
    Forged,
    /// A form that cannot be read.
    Unreadable(StatusCode),
    /// A form that is too long.
    TooLong(Limit),
    /// The query of the address cannot be read.
    UnreadableAddress,
    /// An application asks for something, and it cannot be told there what is wrong with that.
    WrongAsking(String),
    /// A code that was shown is not to be shown any more.
    CodeGone,
    /// A mistake of ours.
    Broken,
}

impl From<Error> for PageFailure {
    fn from(error: Error) -> Self {
        Self::App(error)
    }
}

impl From<AuthorizeError> for PageFailure {
    fn from(failure: AuthorizeError) -> Self {
        match failure {
            AuthorizeError::App(error) => Self::App(error),
            AuthorizeError::Tell(text) => Self::WrongAsking(text.to_owned()),
            AuthorizeError::TellOutOfBand(text) => Self::WrongAsking(sentence(&text)),
            // A user who can be sent back is.
            AuthorizeError::SendBack { .. } => Self::Broken,
        }
    }
}

impl From<BodyError> for PageFailure {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Overloaded => Self::App(Error::Unavailable(error.to_string())),
            BodyError::TooLarge(limit) => Self::TooLong(limit),
            _ => Self::Unreadable(error.status()),
        }
    }
}

impl From<PictureFormError> for PageFailure {
    fn from(error: PictureFormError) -> Self {
        match error {
            PictureFormError::Body(error) => error.into(),
            PictureFormError::Unreadable(status) => Self::Unreadable(status),
            PictureFormError::App(error) => Self::App(error),
        }
    }
}

impl PageFailure {
    /// What went wrong about an application or an organization.
    pub(crate) fn not_allowed(error: Error) -> Self {
        match error {
            Error::Denied => Self::NotAllowed,
            other => other.into(),
        }
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct Problem<'a> {
    title: &'a str,
    text: &'a str,
    way_on: Option<(&'a str, &'a str)>,
}

impl IntoResponse for PageFailure {
    fn into_response(self) -> Response {
        match self {
            Self::App(error) => of_app(error),
            Self::SignIn(next) => see_other(&sign_in_path(&next)),
            Self::NoPage => no_page(),
            Self::NotAllowed => say(
                StatusCode::FORBIDDEN,
                "You can’t do that",
                "Only administrators of the organization can, and for an application also the person who \
                 registered it. While the organization is inactive, nobody can.",
            ),
            Self::WrongMethod => say(
                StatusCode::METHOD_NOT_ALLOWED,
                "This page can’t do that",
                "Reload the page and try again.",
            ),
            Self::LinkGone => say(
                StatusCode::NOT_FOUND,
                "This link doesn’t work",
                "It was already used, has expired, or wasn’t copied completely. Ask for a new one.",
            ),
            Self::Forged => say(
                StatusCode::FORBIDDEN,
                "We couldn’t accept this form",
                "The page was open for too long, or the form came from another site. \
                 Allow cookies, reload the page, and send the form again.",
            ),
            Self::Unreadable(status) => unreadable(status),
            Self::TooLong(limit) => {
                limit.log_refusal();
                unreadable(StatusCode::PAYLOAD_TOO_LARGE)
            }
            Self::UnreadableAddress => say(
                StatusCode::BAD_REQUEST,
                "We can’t read this address",
                "It wasn’t copied completely, or the site that sent you here got it wrong.",
            ),
            Self::WrongAsking(text) => {
                let text = format!(
                    "{text} You haven’t allowed anything. Only the developers of the application can fix this."
                );
                say(
                    StatusCode::BAD_REQUEST,
                    "This application’s request isn’t valid",
                    &text,
                )
            }
            Self::CodeGone => say(
                StatusCode::NOT_FOUND,
                "This code doesn’t work any more",
                "It was already used, has expired, or belongs to another user. \
                 Start again in the application.",
            ),
            Self::Broken => internal_error(),
        }
    }
}

fn of_app(error: Error) -> Response {
    if let Some(limit) = error.limit() {
        limit.log_refusal();
    }
    match error {
        Error::NotFound | Error::NoSuchFlow(_) | Error::Gone | Error::LinkEnded => no_page(),
        Error::Denied | Error::FlowDenied(_) | Error::MissingScope(_) => say(
            StatusCode::FORBIDDEN,
            "You can’t open this page",
            "You don’t have access to it. If it belongs to a flow, ask a member to invite you.",
        ),
        Error::Unauthenticated(_) | Error::InvalidToken => say(
            StatusCode::FORBIDDEN,
            "You are not signed in",
            "Sign in and try again.",
        ),
        Error::TooMany { retry_after, .. } | Error::TooManyRequests { retry_after, .. } => retry(
            say(
                StatusCode::TOO_MANY_REQUESTS,
                "Too many attempts",
                "Wait a minute, then try again.",
            ),
            retry_after,
        ),
        Error::MailQuota(exceeded) => {
            let text = format!(
                "{} Try again in {}.",
                sentence(exceeded.reason()),
                in_words(exceeded.retry_after)
            );
            retry(
                say(StatusCode::TOO_MANY_REQUESTS, "Too many e-mails", &text),
                exceeded.retry_after,
            )
        }
        Error::Conflict(text) | Error::Full { text, .. } => say(
            StatusCode::CONFLICT,
            "You can’t do that now",
            &sentence(&text),
        ),
        Error::Integration(failed) => {
            let text = match failed.authentication_url {
                Some(url) => format!("{}: {url}", failed.message),
                None => sentence(&failed.message),
            };
            say(
                StatusCode::FAILED_DEPENDENCY,
                "The integration couldn’t do that",
                &text,
            )
        }
        Error::Invalid(errors) => {
            let texts = errors
                .iter()
                .flat_map(|(name, texts)| texts.iter().map(move |text| (name, text)));
            let text: Vec<_> = texts
                .map(|(name, text)| sentence(&format!("{name} {text}")))
                .collect();
            say(
                StatusCode::BAD_REQUEST,
                "Something isn’t right",
                &text.join(" "),
            )
        }
        // Pages ask for nothing that only identity providers do.
        Error::Scim(error) => say(
            StatusCode::BAD_REQUEST,
            "Something isn’t right",
            &sentence(&error.detail),
        ),
        Error::TooLarge => say(
            StatusCode::PAYLOAD_TOO_LARGE,
            "That file is too large",
            "Choose a smaller one and try again.",
        ),
        Error::Unavailable(why) => {
            tracing::warn!(why, "answered that the service is unavailable");
            let text = "The server is busy or its database does not answer. Try again in a moment.";
            retry(
                say(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "Temporarily unavailable",
                    text,
                ),
                RETRY_SECONDS,
            )
        }
        Error::TookTooLong => {
            let text = "This took too long. Try again in a moment.";
            retry(
                say(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "Temporarily unavailable",
                    text,
                ),
                RETRY_SECONDS,
            )
        }
        Error::FileQuota { text, .. } => say(
            StatusCode::INSUFFICIENT_STORAGE,
            "We couldn’t save that",
            &format!("{text}."),
        ),
        Error::DiskFull => {
            tracing::error!("the disk is full");
            let text = "The server has no room for more data.";
            say(
                StatusCode::INSUFFICIENT_STORAGE,
                "We couldn’t save that",
                text,
            )
        }
        Error::Internal(why) => {
            tracing::error!(why, "internal error");
            internal_error()
        }
    }
}

fn unreadable(status: StatusCode) -> Response {
    say(
        status,
        "We couldn’t read this form",
        "Go back, reload the page, and try again.",
    )
}

fn no_page() -> Response {
    let text = "This page doesn’t exist, or you can’t see it.";
    say(StatusCode::NOT_FOUND, "Page not found", text)
}

fn internal_error() -> Response {
    say(
        StatusCode::INTERNAL_SERVER_ERROR,
        "Something went wrong on our side",
        "Try again in a moment.",
    )
}

fn say(status: StatusCode, title: &str, text: &str) -> Response {
    page(
        status,
        &Problem {
            title,
            text,
            way_on: Some(("/", "Go to the start page")),
        },
    )
}

fn retry(mut response: Response, seconds: u64) -> Response {
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// How long to wait, in the largest unit that people would use.
fn in_words(seconds: u64) -> String {
    match seconds {
        0..=90 => "a minute".to_owned(),
        91..=5400 => format!("{} minutes", seconds.div_ceil(60)),
        _ => format!("{} hours", seconds.div_ceil(3600)),
    }
}

/// Texts of the application begin small and have no full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let first: String = rest
        .next()
        .map(|first| first.to_uppercase().collect())
        .unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_a_unit_that_people_use() {
        for (seconds, words) in [
            (1, "a minute"),
            (90, "a minute"),
            (91, "2 minutes"),
            (5400, "90 minutes"),
            (5401, "2 hours"),
            (86_399, "24 hours"),
        ] {
            assert_eq!(in_words(seconds), words, "{seconds}");
        }
    }
}
