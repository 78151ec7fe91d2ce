//! Errors as pages. Status and headers are those that the HTTP API has for an error; here are the
//! words.

use std::borrow::Cow;
use std::sync::Arc;

use askama::Template;
use axum::response::{IntoResponse, Response};
use eddyline_app::{AuthorizeError, Error, ErrorKind};
use eddyline_http::error_page;
use eddyline_http::request_envelope::AnsweredBy;
use http::StatusCode;
use http::header::ALLOW;

use crate::answer::{page, see_other};
use crate::language::Language;
use crate::local_path::{deletion_of, sign_in_path};
use crate::texts::Texts;

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
    t: &'static Texts,
    title: &'a str,
    text: &'a str,
    way_on: Option<(&'a str, &'a str)>,
}

/// An error that waits for its page. The extractors and pages that fail need not know the language
/// of the request; [`in_language`] writes the page.
#[derive(Clone)]
struct Untold(Arc<PageError>);

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        if let Self::SignIn(next) = &self {
            return see_other(&sign_in_path(next));
        }
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response.extensions_mut().insert(Untold(Arc::new(self)));
        response
    }
}

/// The response, or the page of the error that it stands for, in the language of the request.
///
/// `path` is that of the request.
pub(crate) fn in_language(mut response: Response, t: &'static Texts, path: &str) -> Response {
    let Some(Untold(error)) = response.extensions_mut().remove() else {
        return response;
    };
    let mut page = error.page(t, path);
    // The router has named the methods that a page is for.
    if let Some(methods) = response.headers_mut().remove(ALLOW) {
        page.headers_mut().insert(ALLOW, methods);
    }
    if let Some(by) = response.extensions_mut().remove::<AnsweredBy>() {
        page.extensions_mut().insert(by);
    }
    page
}

impl PageError {
    fn page(&self, t: &'static Texts, path: &str) -> Response {
        let e = &t.error;
        let (status, told) = match self {
            Self::App(error) if error.kind() == ErrorKind::Closed => {
                let told = (e.closed.title.as_str(), e.closed.text.as_str());
                return error_page(error, |status| match organization_in(path) {
                    Some(name) => {
                        let way_on = (&*deletion_of(name), t.closing.show.as_str());
                        say_with(t, status, told, way_on)
                    }
                    None => say(t, status, told.0, told.1),
                });
            }
            Self::App(error) => {
                return error_page(error, |status| {
                    let (title, text) = words(error, t);
                    say(t, status, title, &text)
                });
            }
            Self::SignIn(next) => return see_other(&sign_in_path(next)),
            Self::InvalidAuthorization(text) => {
                let text = format!("{text} {}", e.invalid_authorization.text);
                let title = &e.invalid_authorization.title;
                return say(t, StatusCode::BAD_REQUEST, title, &text);
            }
            Self::CannotJoin => (StatusCode::FORBIDDEN, &e.cannot_join),
            Self::NotAllowed => (StatusCode::FORBIDDEN, &e.not_allowed),
            Self::WrongMethod => (StatusCode::METHOD_NOT_ALLOWED, &e.wrong_method),
            Self::InvalidLink => (StatusCode::NOT_FOUND, &e.invalid_link),
            Self::Forged => (StatusCode::FORBIDDEN, &e.forged),
            Self::InvalidAddress => (StatusCode::BAD_REQUEST, &e.invalid_address),
            Self::InvalidCode => (StatusCode::NOT_FOUND, &e.invalid_code),
        };
        let way_on = match self {
            Self::InvalidLink => ("/sign-in", t.sign_in.title.as_str()),
            _ => ("/", t.error.to_start.as_str()),
        };
        say_with(t, status, (&told.title, &told.text), way_on)
    }
}

/// The organization that a path of the client names.
fn organization_in(path: &str) -> Option<&str> {
    let (organization, _) = path.strip_prefix("/app/")?.split_once('/')?;
    (organization != "-").then_some(organization)
}

/// The page in place of one that panicked, which is in the log already. What the request asked for
/// is lost, its language too.
pub(crate) fn panicked() -> Response {
    let t = Texts::in_language(Language::English);
    let (title, text) = words(&Error::internal("a request panicked"), t);
    say(t, StatusCode::INTERNAL_SERVER_ERROR, title, &text)
}

/// The title and the text of the page that an error is.
fn words(error: &Error, t: &'static Texts) -> (&'static str, Cow<'static, str>) {
    let e = &t.error;
    let told = match error.kind() {
        ErrorKind::Invalid => return (&e.invalid, mistakes(error).into()),
        ErrorKind::Conflict | ErrorKind::VersionMismatch => {
            return (&e.conflict, own_sentence(error).into());
        }
        ErrorKind::MailQuota => return (&e.mail_quota, of_mail_quota(error, t).into()),
        ErrorKind::Integration => return (&e.integration, of_integration(error).into()),
        ErrorKind::FileQuota => return (&e.file_quota, own_sentence(error).into()),
        ErrorKind::Malformed | ErrorKind::UnsupportedType | ErrorKind::TimedOut => &e.malformed,
        ErrorKind::TooLarge => &e.too_large,
        ErrorKind::Unauthenticated | ErrorKind::MissingToken | ErrorKind::InvalidToken => {
            &e.unauthenticated
        }
        ErrorKind::Denied | ErrorKind::MissingScope => &e.denied,
        ErrorKind::Closed => &e.closed,
        ErrorKind::NotFound | ErrorKind::Gone => &e.not_found,
        ErrorKind::TooManyAttempts | ErrorKind::TooManyRequests => &e.too_many_attempts,
        ErrorKind::Unavailable => &e.unavailable,
        ErrorKind::DeadlineExceeded => &e.deadline,
        ErrorKind::DiskFull => &e.disk_full,
        ErrorKind::Internal => &e.internal,
    };
    (&told.title, told.text.as_str().into())
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

fn of_mail_quota(error: &Error, t: &Texts) -> String {
    let wait = in_words(error.retry_after().unwrap_or_default(), t);
    format!(
        "{} {}",
        own_sentence(error),
        t.error.again_in.with("wait", wait)
    )
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

fn say(t: &'static Texts, status: StatusCode, title: &str, text: &str) -> Response {
    say_with(t, status, (title, text), ("/", &t.error.to_start))
}

/// A page with a title, a text and a link.
fn say_with(
    t: &'static Texts,
    status: StatusCode,
    (title, text): (&str, &str),
    way_on: (&str, &str),
) -> Response {
    page(
        t,
        status,
        &ErrorPage {
            t,
            title,
            text,
            way_on: Some(way_on),
        },
    )
}

/// How long to wait, in the largest unit that people would use.
fn in_words(seconds: u64, t: &Texts) -> String {
    let (unit, plural) = match seconds {
        0..=5400 => (60, &t.error.minutes),
        _ => (3600, &t.error.hours),
    };
    let count = match seconds {
        0..=90 => 1,
        _ => seconds.div_ceil(unit),
    };
    t.count(plural, usize::try_from(count).unwrap_or(usize::MAX))
        .to_string()
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
        for (seconds, english, german) in [
            (1, "a minute", "einer Minute"),
            (90, "a minute", "einer Minute"),
            (91, "2 minutes", "2 Minuten"),
            (5400, "90 minutes", "90 Minuten"),
            (5401, "2 hours", "2 Stunden"),
            (86_399, "24 hours", "24 Stunden"),
        ] {
            for (language, words) in [(Language::English, english), (Language::German, german)] {
                assert_eq!(
                    in_words(seconds, Texts::in_language(language)),
                    words,
                    "{seconds}"
                );
            }
        }
    }
}
