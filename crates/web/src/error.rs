//! Errors as pages. Status and headers are those that the HTTP API has for an error; here are the
//! words.

use std::borrow::Cow;

use askama::Template;
use axum::response::{IntoResponse, Response};
use eddyline_app::{AuthorizeError, Error, ErrorKind};
use eddyline_http::error_page;
use http::StatusCode;

use crate::answer::{page, see_other};
use crate::local_path::sign_in_path;

/// Why a page is not shown, or its form has no effect.
#[derive(Debug)]
pub(crate) enum PageError {
    /// The use case failed.
    App(Error),
    /// The visitor must sign in first, and goes on to this page.
    SignIn(String),
    /// The visitor may not join the flow.
    CannotJoin,
    /// The visitor may not manage the application or the organization.
    NotAllowed,
    /// The page is not for this method.
    WrongMethod,
    /// The link was used, has expired, or never was one.
    InvalidLink,
    /// The form did not come from a page of ours, as far as can be told.
    Forged,
    /// The query of the address cannot be read.
    InvalidAddress,
    /// An application sent the visitor here with a request that is wrong, and cannot be told so.
    InvalidAuthorization(String),
    /// The code was used, has expired, or belongs to another user.
    InvalidCode,
}

impl PageError {
    /// There is no such page.
    pub(crate) fn not_found() -> Self {
        Self::App(Error::not_found())
    }

    /// The form cannot be read, or is none of the page's.
    pub(crate) fn unreadable() -> Self {
        Self::App(Error::malformed("The form cannot be read"))
    }

    /// What went wrong with the management of an application or an organization.
    pub(crate) fn not_allowed(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Denied => Self::NotAllowed,
            _ => error.into(),
        }
    }

    /// What went wrong with a link.
    pub(crate) fn of_link(error: Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::InvalidLink,
            _ => error.into(),
        }
    }

    /// What went wrong with a link by which visitors join a flow.
    pub(crate) fn of_join_link(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Denied => Self::CannotJoin,
            _ => Self::of_link(error),
        }
    }
}

impl From<Error> for PageError {
    fn from(error: Error) -> Self {
        Self::App(error)
    }
}

impl From<AuthorizeError> for PageError {
    fn from(error: AuthorizeError) -> Self {
        match error {
            AuthorizeError::App(error) => Self::App(error),
            AuthorizeError::Tell(text) => Self::InvalidAuthorization(text.to_owned()),
            AuthorizeError::TellOutOfBand(text) => Self::InvalidAuthorization(sentence(&text)),
            AuthorizeError::SendBack { .. } => Self::App(Error::internal(
                "a visitor who could be sent back to an application was not",
            )),
        }
    }
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    title: &'a str,
    text: &'a str,
    way_on: Option<(&'a str, &'a str)>,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, title, text) = match self {
            Self::App(error) => {
                return error_page(&error, |status| {
                    let (title, text) = words(&error);
                    say(status, title, &text)
                });
            }
            Self::SignIn(next) => return see_other(&sign_in_path(&next)),
            Self::InvalidAuthorization(text) => {
                let text = format!(
                    "{text} You haven’t allowed anything. Only the developers of the application can fix this."
                );
                let title = "This application’s request isn’t valid";
                return say(StatusCode::BAD_REQUEST, title, &text);
            }
            Self::CannotJoin => (
                StatusCode::FORBIDDEN,
                "You can’t join this flow",
                "You were blocked from it, or removed and not invited again, or its organization is inactive.",
            ),
            Self::NotAllowed => (
                StatusCode::FORBIDDEN,
                "You can’t do that",
                "Only administrators of the organization can, and for an application also the person who \
                 registered it. While the organization is inactive, nobody can.",
            ),
            Self::WrongMethod => (
                StatusCode::METHOD_NOT_ALLOWED,
                "This page can’t do that",
                "Reload the page and try again.",
            ),
            Self::InvalidLink => (
                StatusCode::NOT_FOUND,
                "This link doesn’t work",
                "It was already used, has expired, or wasn’t copied completely. Ask for a new one.",
            ),
            Self::Forged => (
                StatusCode::FORBIDDEN,
                "We couldn’t accept this form",
                "The page was open for too long, or the form came from another site. \
                 Allow cookies, reload the page, and send the form again.",
            ),
            Self::InvalidAddress => (
                StatusCode::BAD_REQUEST,
                "We can’t read this address",
                "It wasn’t copied completely, or the site that sent you here got it wrong.",
            ),
            Self::InvalidCode => (
                StatusCode::NOT_FOUND,
                "This code doesn’t work any more",
                "It was already used, has expired, or belongs to another user. \
                 Start again in the application.",
            ),
        };
        say(status, title, text)
    }
}

/// The page in place of one that panicked, which is in the log already.
pub(crate) fn panicked() -> Response {
    let (title, text) = words(&Error::internal("a request panicked"));
    say(StatusCode::INTERNAL_SERVER_ERROR, title, &text)
}

/// The title and the text of the page that an error is.
fn words(error: &Error) -> (&'static str, Cow<'static, str>) {
    match error.kind() {
        ErrorKind::Invalid => ("Something isn’t right", mistakes(error).into()),
        ErrorKind::Malformed | ErrorKind::UnsupportedType | ErrorKind::TimedOut => (
            "We couldn’t read this form",
            "Go back, reload the page, and try again.".into(),
        ),
        ErrorKind::TooLarge => (
            "That’s too large",
            "Choose something smaller and try again.".into(),
        ),
        ErrorKind::Unauthenticated | ErrorKind::MissingToken | ErrorKind::InvalidToken => {
            ("You are not signed in", "Sign in and try again.".into())
        }
        ErrorKind::Denied | ErrorKind::MissingScope => (
            "You can’t open this page",
            "You don’t have access to it. If it belongs to a flow, ask a member to invite you."
                .into(),
        ),
        ErrorKind::NotFound | ErrorKind::Gone => (
            "Page not found",
            "This page doesn’t exist, or you can’t see it.".into(),
        ),
        ErrorKind::Conflict | ErrorKind::VersionMismatch => {
            ("You can’t do that now", own_sentence(error).into())
        }
        ErrorKind::TooManyAttempts | ErrorKind::TooManyRequests => {
            ("Too many attempts", "Wait a minute, then try again.".into())
        }
        ErrorKind::MailQuota => ("Too many e-mails", of_mail_quota(error).into()),
        ErrorKind::Integration => (
            "The integration couldn’t do that",
            of_integration(error).into(),
        ),
        ErrorKind::Unavailable => (
            "Temporarily unavailable",
            "The server is busy or its database does not answer. Try again in a moment.".into(),
        ),
        ErrorKind::DeadlineExceeded => (
            "Temporarily unavailable",
            "This took too long. Try again in a moment.".into(),
        ),
        ErrorKind::FileQuota => ("We couldn’t save that", own_sentence(error).into()),
        ErrorKind::DiskFull => (
            "We couldn’t save that",
            "The server has no room for more data.".into(),
        ),
        ErrorKind::Internal => (
            "Something went wrong on our side",
            "Try again in a moment.".into(),
        ),
    }
}

/// What the error says to the caller, or else its kind.
fn own_sentence(error: &Error) -> String {
    match error.message() {
        Some(message) => sentence(message),
        None => sentence(&error.kind().to_string()),
    }
}

/// What is wrong with each field, in sentences.
fn mistakes(error: &Error) -> String {
    let sentences = error.fields().iter().flat_map(|(name, texts)| {
        texts
            .iter()
            .map(move |text| sentence(&format!("{name} {text}")))
    });
    let sentences: Vec<String> = sentences.collect();
    match sentences.is_empty() {
        true => own_sentence(error),
        false => sentences.join(" "),
    }
}

fn of_mail_quota(error: &Error) -> String {
    let wait = in_words(error.retry_after().unwrap_or_default());
    format!("{} Try again in {wait}.", own_sentence(error))
}

/// The address at which the user has to sign in stays as it is, without a full stop.
fn of_integration(error: &Error) -> String {
    let url = error
        .integration()
        .and_then(|failed| failed.authentication_url.as_deref());
    match (error.message(), url) {
        (Some(message), Some(url)) => format!("{message}: {url}"),
        _ => own_sentence(error),
    }
}

fn say(status: StatusCode, title: &str, text: &str) -> Response {
    page(
        status,
        &ErrorPage {
            title,
            text,
            way_on: Some(("/", "Go to the start page")),
        },
    )
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
