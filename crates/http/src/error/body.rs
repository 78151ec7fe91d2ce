//! The body of an error in the API: what is wrong, in words, and with which parameters.

use std::collections::BTreeMap;

use axum::response::Response;
use eddyline_app::{Error, FieldErrors, IntegrationFailed};
use eddyline_wire::{ErrorBody, IntegrationError};
use http::StatusCode;

use super::head::{message, respond, status};
use crate::response::uncounted;

/// The most mistakes of one parameter that an answer names, and about the most bytes of all of
/// them.
const MAX_MISTAKES: usize = 20;
const MAX_MISTAKES_BYTES: usize = 4096;
/// The most characters of a mistake, and of a parameter's name.
const MAX_TEXT: usize = 500;

/// The answer of the API to an error.
#[must_use]
pub fn response(error: &Error) -> Response {
    respond(error, |status| shape(status, error))
}

/// The answer in place of one that panicked, which is in the log already.
pub(crate) fn panicked() -> Response {
    let error = Error::internal("a request panicked");
    shape(status(error.kind()), &error)
}

/// An error of which there is one thing to say.
pub(crate) fn plain(status: StatusCode, text: &str) -> Response {
    body(status, &ErrorBody::new(shortened(text, MAX_TEXT)))
}

fn shape(status: StatusCode, error: &Error) -> Response {
    if let Some(failed) = error.integration() {
        return of_integration(status, failed.clone());
    }
    if error.fields().is_empty() {
        return plain(status, &message(error));
    }
    body(status, &ErrorBody::validation(shown(error.fields())))
}

fn of_integration(status: StatusCode, failed: IntegrationFailed) -> Response {
    let IntegrationFailed {
        message,
        status: answered,
        authentication_url,
    } = failed;
    let body = IntegrationError {
        message,
        status: answered,
        authentication_url,
    };
    uncounted(status, serde_json::to_vec(&body).unwrap_or_default().into())
}

/// What is wrong with each parameter. Texts of the request are cut before they are echoed, because
/// this answer is not counted for the caller.
fn shown(fields: &FieldErrors) -> FieldErrors {
    let (mut shown, mut room) = (BTreeMap::new(), MAX_MISTAKES_BYTES);
    for (name, texts) in fields {
        let name = shortened(name, MAX_TEXT);
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
            shown.insert(name, fitting);
        }
    }
    shown
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
