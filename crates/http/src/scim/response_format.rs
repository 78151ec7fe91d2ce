//! The two response formats: the specification's, and that of the RFCs.

use axum::response::Response;
use eddyline_app::Error;
use eddyline_scim::{ScimError, ScimType};
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::answer::encoded;
use crate::error::{self, ApiFailure};
use crate::media;

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

    /// The answer to a failure.
    pub(crate) fn failed(self, failure: ApiFailure) -> Response {
        if self == Self::Plain {
            return error::response(failure);
        }
        let mut described = describe(&failure);
        described.detail = error::shortened(&described.detail, MAX_DETAIL);
        // Status and headers are everybody's.
        let response = error::response(failure);
        let status = response.status();
        let told = ScimError {
            status: status.as_u16(),
            ..described
        }
        .to_value()
        .to_string();
        let (mut parts, _) = response.into_parts();
        parts.headers.remove(CONTENT_LENGTH);
        self.typed(Response::from_parts(parts, told.into()))
    }

    fn typed(self, mut response: Response) -> Response {
        if self == Self::Scim {
            let kind = HeaderValue::from_static("application/scim+json; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, kind);
        }
        response
    }
}

/// What is wrong, in SCIM's words.
fn describe(failure: &ApiFailure) -> ScimError {
    let listed = |errors: &std::collections::BTreeMap<String, Vec<String>>| {
        let texts: Vec<String> = errors
            .iter()
            .map(|(name, texts)| format!("{name} {}", texts.join(", ")))
            .collect();
        ScimError::invalid(ScimType::InvalidValue, "", texts.join("; "))
    };
    match failure {
        ApiFailure::App(Error::Scim(error)) => error.clone(),
        ApiFailure::App(Error::Invalid(errors)) => listed(errors),
        ApiFailure::Invalid(invalid) => listed(&invalid.errors),
        ApiFailure::Request(StatusCode::BAD_REQUEST, text) => {
            ScimError::invalid(ScimType::InvalidSyntax, "", text.clone())
        }
        ApiFailure::App(Error::Conflict(text)) => ScimError::new(409, text.clone()),
        ApiFailure::App(Error::Unavailable(_)) => {
            ScimError::new(503, "The service is temporarily unavailable; try again")
        }
        ApiFailure::App(Error::Internal(_)) => {
            ScimError::new(500, "Something went wrong on our side")
        }
        other => ScimError::new(500, other.to_string()),
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
