//! The two response formats: the specification's, and that of the RFCs.

use std::borrow::Cow;

use axum::response::Response;
use eddyline_app::{Error, ErrorKind};
use eddyline_scim::ScimType;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::answer::encoded;
use crate::error;
use crate::media;
use crate::response::uncounted;

/// The most characters that say what is wrong.
const MAX_DETAIL: usize = 1000;

/// In which shapes a provider is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseFormat {
    /// Those of the specification.
    Plain,
    /// Those of RFC 7643 and RFC 7644.
    Scim,
}

impl ResponseFormat {
    /// The one that a request asks for, by what it sends or what it takes.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let is_scim = media::is_named(headers, &[ACCEPT, CONTENT_TYPE], media::SCIM_JSON);
        if is_scim { Self::Scim } else { Self::Plain }
    }

    /// An answer.
    pub(crate) fn answer(self, status: StatusCode, value: &Value) -> Response {
        self.typed(encoded(status, value.to_string()))
    }

    /// The answer to an error.
    pub(crate) fn failed(self, error: &Error) -> Response {
        match self {
            Self::Plain => error::response(error),
            Self::Scim => error::respond(error, |status| {
                self.error(status, scim_type(error), &detail(error))
            }),
        }
    }

    /// An answer with a status that no error has.
    pub(crate) fn refuse(self, status: StatusCode, text: &str) -> Response {
        match self {
            Self::Plain => error::plain(status, text),
            Self::Scim => self.error(status, None, text),
        }
    }

    /// A SCIM error message (RFC 7644, section 3.12). The status is a text there.
    fn error(self, status: StatusCode, scim_type: Option<ScimType>, detail: &str) -> Response {
        let mut error = json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
            "status": status.as_str(),
        });
        if let Some(scim_type) = scim_type {
            error["scimType"] = scim_type.as_str().into();
        }
        error["detail"] = error::shortened(detail, MAX_DETAIL).into();
        self.typed(uncounted(status, error.to_string().into()))
    }

    fn typed(self, mut response: Response) -> Response {
        if self == Self::Scim {
            let kind = HeaderValue::from_static("application/scim+json; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, kind);
        }
        response
    }
}

/// What SCIM calls an error. It has names for bad requests, and for names that are taken.
fn scim_type(error: &Error) -> Option<ScimType> {
    error.scim_type().or(match error.kind() {
        ErrorKind::Invalid => Some(ScimType::InvalidValue),
        ErrorKind::Malformed => Some(ScimType::InvalidSyntax),
        _ => None,
    })
}

/// What is wrong, for people.
fn detail(error: &Error) -> Cow<'_, str> {
    match error.log_text() {
        // `Display` ends with it.
        Some(_) => error::message(error),
        None => error.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_of(header: http::HeaderName, value: &'static str) -> ResponseFormat {
        ResponseFormat::of(&HeaderMap::from_iter([(
            header,
            HeaderValue::from_static(value),
        )]))
    }

    #[test]
    fn who_names_scim_is_answered_in_scim() {
        for (header, value) in [
            (ACCEPT, "application/scim+json"),
            (ACCEPT, "application/json, Application/SCIM+JSON;q=0.5"),
            (CONTENT_TYPE, "application/scim+json; charset=utf-8"),
        ] {
            assert_eq!(format_of(header, value), ResponseFormat::Scim, "{value}");
        }
        for (header, value) in [
            (ACCEPT, "application/json"),
            (ACCEPT, "*/*"),
            (CONTENT_TYPE, "application/json"),
        ] {
            assert_eq!(format_of(header, value), ResponseFormat::Plain, "{value}");
        }
    }
}
