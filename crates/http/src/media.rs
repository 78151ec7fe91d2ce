//! Media types: their names, and those that requests name (RFC 9110, sections 8.3 and 12.5.1).

use std::borrow::Cow;

pub(crate) use eddyline_wire::media_types::{
    EVENT_STREAM, FORM, JSON, MULTIPART, OCTETS, SCIM_JSON,
};
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};

use crate::multipart;

/// What clients call UTF-8 in a content type.
const UTF8: [&[u8]; 2] = [b"utf-8", b"utf8"];

/// What the body of a request is, by its `Content-Type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyType<'a> {
    /// The request does not say.
    Unnamed,
    Json,
    /// JSON under the name that old scripts have for it.
    TextJson,
    ScimJson,
    Form,
    Multipart,
    /// Anything else, in lower case.
    Other(Cow<'a, str>),
}

impl<'a> BodyType<'a> {
    pub(crate) fn of(headers: &'a HeaderMap) -> Self {
        let value = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let named = essence(value);
        let named: Cow<'_, str> = match named.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => named.to_ascii_lowercase().into(),
            false => named.into(),
        };
        match &*named {
            "" => Self::Unnamed,
            JSON => Self::Json,
            "text/json" => Self::TextJson,
            SCIM_JSON => Self::ScimJson,
            FORM => Self::Form,
            MULTIPART => Self::Multipart,
            _ => Self::Other(named),
        }
    }

    /// Its name, empty where the request does not say.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Unnamed => "",
            Self::Json => JSON,
            Self::TextJson => "text/json",
            Self::ScimJson => SCIM_JSON,
            Self::Form => FORM,
            Self::Multipart => MULTIPART,
            Self::Other(name) => name,
        }
    }
}

/// Whether the body of a request is a form without parts, as browsers send most forms.
#[must_use]
pub fn is_form(headers: &HeaderMap) -> bool {
    BodyType::of(headers) == BodyType::Form
}

/// Whether these headers name a type, among others or alone. A range such as `*/*` names none.
pub(crate) fn is_named(headers: &HeaderMap, names: &[HeaderName], wanted: &str) -> bool {
    let lines = names
        .iter()
        .flat_map(|name| headers.get_all(name))
        .filter_map(|value| value.to_str().ok());
    lines
        .flat_map(|line| line.split(','))
        .any(|value| essence(value).eq_ignore_ascii_case(wanted))
}

/// Whether a content type names no other charset than UTF-8.
pub(crate) fn is_utf8(content_type: &[u8]) -> bool {
    multipart::charset(content_type)
        .is_none_or(|charset| UTF8.iter().any(|name| charset.eq_ignore_ascii_case(name)))
}

/// The value of `Content-Type` for a text of this type in UTF-8.
pub(crate) fn in_utf8(media_type: &str) -> HeaderValue {
    // The names of this file are visible ASCII, of which headers are made.
    HeaderValue::try_from(format!("{media_type}; charset=utf-8"))
        .unwrap_or(HeaderValue::from_static(OCTETS))
}

/// A type without its parameters.
fn essence(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;

    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn a_body_is_known_by_its_type_without_parameters_and_case() {
        for (value, is) in [
            ("", BodyType::Unnamed),
            ("application/json; charset=utf-8", BodyType::Json),
            ("Application/JSON", BodyType::Json),
            ("text/json", BodyType::TextJson),
            ("application/x-www-form-urlencoded", BodyType::Form),
            ("multipart/form-data; boundary=x", BodyType::Multipart),
            ("Image/PNG", BodyType::Other("image/png".into())),
        ] {
            assert_eq!(BodyType::of(&headers(CONTENT_TYPE, value)), is, "{value}");
        }
        assert_eq!(BodyType::of(&HeaderMap::new()), BodyType::Unnamed);
    }

    #[test]
    fn a_type_is_named_among_others() {
        let accept = headers(ACCEPT, "text/html, Application/JSON;q=0.5, */*");
        assert!(is_named(&accept, &[ACCEPT], JSON) && !is_named(&accept, &[ACCEPT], SCIM_JSON));
        assert!(!is_named(&accept, &[CONTENT_TYPE], JSON));
        assert!(!is_named(&headers(ACCEPT, "*/*"), &[ACCEPT], JSON));
    }

    #[test]
    fn a_text_is_utf8_unless_it_says_otherwise() {
        for kind in [
            "text/plain",
            "text/plain; charset=UTF-8",
            "text/plain; charset=\"utf8\"",
        ] {
            assert!(is_utf8(kind.as_bytes()), "{kind}");
        }
        assert!(!is_utf8(b"text/plain; charset=latin1"));
    }

    #[test]
    fn a_text_says_that_it_is_utf8() {
        assert_eq!(in_utf8(JSON), "application/json; charset=utf-8");
    }
}
