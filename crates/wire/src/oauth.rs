//! What the endpoints of OAuth answer.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use utoipa::ToSchema;

/// All but what stands as it is in a form.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'*');

/// Tokens (specification, section 5; RFC 6749, section 5.1).
#[derive(Serialize, ToSchema)]
pub struct TokenAnswer {
    /// Shown with each request.
    pub access_token: String,
    /// Always `Bearer`.
    pub token_type: &'static str,
    /// Seconds until the access token ends.
    pub expires_in: i64,
    /// What the access token may be used for, between commas.
    pub scope: String,
    /// For the next access token; only with the scope `offline_access`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
}

impl TokenAnswer {
    /// The answer as `application/x-www-form-urlencoded`.
    #[must_use]
    pub fn to_form(&self) -> String {
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
        form
    }
}

/// An application that was registered just now.
#[derive(Serialize, ToSchema)]
pub struct RegisteredApplication {
    /// The name that users see.
    pub name: String,
    /// Where users may be sent back to, one address on each line.
    pub redirect_uri: String,
    /// What it calls itself by.
    pub client_id: String,
    /// Its secret, which is not shown again.
    pub client_secret: String,
}

/// Whether a token is valid, and what it allows (RFC 7662, section 2.2). An invalid one has `active`
/// only.
#[derive(Default, Serialize, ToSchema)]
pub struct IntrospectionAnswer {
    /// Whether the token holds.
    pub active: bool,
    /// What it may be used for, between spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Which application it was given to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The user's e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// `Bearer`, for an access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_type: Option<&'static str>,
    /// When it ends, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp: Option<i64>,
    /// When it was issued, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iat: Option<i64>,
    /// The user's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub: Option<String>,
    /// Who issued it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iss: Option<String>,
}

/// What is wrong with a client's request (RFC 6749, section 5.2).
#[derive(Serialize, ToSchema)]
pub struct ClientErrorAnswer {
    /// The error code of the RFC.
    pub error: String,
    /// What is wrong, for the application's developer.
    pub error_description: String,
}
