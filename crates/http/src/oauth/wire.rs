//! What clients are answered.

use axum::body::Body;
use axum::response::Response;
use eddyline_app::{Error, Introspection, Tokens};
use eddyline_wire::oauth::{ClientErrorAnswer, IntrospectionAnswer, TokenAnswer};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, PRAGMA};
use http::{HeaderMap, StatusCode};

use crate::answer::{Answer, encoded, json};
use crate::error;
use crate::media;

pub(super) fn token_answer(tokens: &Tokens) -> TokenAnswer {
    TokenAnswer {
        access_token: tokens.access.expose().to_owned(),
        token_type: "Bearer",
        expires_in: tokens.expires_in,
        scope: tokens.scopes.joined(","),
        refresh_token: tokens
            .refresh
            .as_ref()
            .map(|token| token.expose().to_owned()),
    }
}

/// Answers as a form, as Flowdock did, unless the client wants JSON.
pub(super) fn show_tokens(answer: &TokenAnswer, as_json: bool) -> Answer {
    if as_json {
        return json(StatusCode::OK, answer);
    }
    let mut response = Response::new(Body::from(answer.to_form()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, media::in_utf8(media::FORM));
    Ok(response)
}

/// The answer about a token. For an invalid one it says `active: false` and nothing else (RFC 7662,
/// section 2.2).
pub(super) fn introspection_answer(
    found: Option<Introspection>,
    issuer: &str,
) -> IntrospectionAnswer {
    let Some(found) = found else {
        return IntrospectionAnswer::default();
    };
    IntrospectionAnswer {
        active: true,
        scope: Some(found.scopes.joined(" ")),
        client_id: Some(found.client_id),
        username: Some(found.username),
        token_type: found.is_access_token.then_some("Bearer"),
        exp: Some(found.expires_at.0 / 1000),
        iat: found.issued_at.map(|at| at.0 / 1000),
        sub: Some(found.user.to_string()),
        iss: Some(issuer.to_owned()),
    }
}

/// The answer to an error. What OAuth has a name for is told in its shape, which is JSON whatever
/// the client takes; all else in that of the API.
pub(super) fn client_error(error: &Error) -> Response {
    let Some(named) = error.oauth() else {
        return error::response(error);
    };
    let body = ClientErrorAnswer {
        error: named.code().to_owned(),
        error_description: named.to_string(),
    };
    let body = serde_json::to_vec(&body).unwrap_or_default();
    error::respond(error, |status| encoded(status, body))
}

/// An answer that nobody on the way keeps.
pub(super) fn never_kept(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

/// Whether the client names JSON among what it takes. That it takes anything is no wish.
pub(super) fn wants_json(headers: &HeaderMap) -> bool {
    media::is_named(headers, &[ACCEPT], media::JSON)
}
