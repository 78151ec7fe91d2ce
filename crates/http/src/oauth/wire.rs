//! The shapes of what clients are answered.

use axum::body::Body;
use axum::response::Response;
use eddyline_app::{Error, Introspection, Tokens};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, PRAGMA};
use http::{HeaderMap, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{Answer, encoded, json};
use crate::error;
use crate::media;

/// All but what stands as it is in a form.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'*');

/// Tokens (specification, section 5; RFC 6749, section 5.1).
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenAnswer {
    /// Shown with each request.
    access_token: String,
    /// Always `Bearer`.
    token_type: &'static str,
    /// Seconds until the access token ends.
    expires_in: i64,
    /// What the access token may be used for, between commas.
    scope: String,
    /// For the next access token; only with the scope `offline_access`.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
}

/// An application that was registered just now.
#[derive(Serialize, ToSchema)]
pub(crate) struct RegisteredApplication {
    /// The name that users see.
    pub(super) name: String,
    /// Where users may be sent back to, one address on each line.
    pub(super) redirect_uri: String,
    /// What it calls itself by.
    pub(super) client_id: String,
    /// Its secret, which is not shown again.
    pub(super) client_secret: String,
}

impl TokenAnswer {
    pub(super) fn of(tokens: &Tokens) -> Self {
        Self {
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

    pub(super) fn response(&self, as_json: bool) -> Answer {
        if as_json {
            return json(StatusCode::OK, self);
        }
        let escaped = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
        let mut form = format!(
            "access_token={}&token_type={}&expires_in={}&scope={}",
            escaped(&self.access_token),
            self.token_type,
            self.expires_in,
            escaped(&self.scope)
        );
        if let Some(token) = &self.refresh_token {
            form += &format!("&refresh_token={}", escaped(token));
        }
        let mut response = Response::new(Body::from(form));
        response
            .headers_mut()
            .insert(CONTENT_TYPE, media::in_utf8(media::FORM));
        Ok(response)
    }
}

/// What a token is worth (RFC 7662, section 2.2). Of one that is worth nothing, only that is told.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct IntrospectionAnswer {
    /// Whether the token holds.
    active: bool,
    /// What it may be used for, between spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    /// Which application it was given to.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// The user's e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    /// `Bearer`, for an access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_type: Option<&'static str>,
    /// When it ends, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
    /// When it was issued, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    iat: Option<i64>,
    /// The user's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<String>,
    /// Who issued it.
    #[serde(skip_serializing_if = "Option::is_none")]
    iss: Option<String>,
}

impl IntrospectionAnswer {
    pub(super) fn of(found: Option<Introspection>, issuer: &str) -> Self {
        let Some(found) = found else {
            return Self::default();
        };
        Self {
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
}

/// What is wrong with a client's request (RFC 6749, section 5.2).
#[derive(Serialize, ToSchema)]
pub(crate) struct ClientErrorAnswer {
    /// The error code of the RFC.
    error: String,
    /// What is wrong, for the application's developer.
    error_description: String,
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
