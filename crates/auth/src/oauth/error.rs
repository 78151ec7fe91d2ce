//! What is wrong with a request of a client, in the words of RFC 6749: at the token endpoint and
//! its neighbours (section 5.2), and in an authorization request (section 4.1.2.1).

use std::borrow::Cow;

/// What is wrong with a request of a client. Its text is for the developer of the application.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OAuthError {
    /// Something is missing, comes twice, or cannot be read.
    #[error("{0}")]
    InvalidRequest(String),
    /// The client is not known, or did not show its secret.
    #[error("the client is not known, or its secret is wrong")]
    InvalidClient,
    /// The code, the refresh token or the password is wrong, expired, revoked or used.
    #[error("{0}")]
    InvalidGrant(&'static str),
    /// The client may not do this.
    #[error("{0}")]
    UnauthorizedClient(&'static str),
    /// There is no such grant type.
    #[error("the grant type is not supported")]
    UnsupportedGrantType,
    /// An authorization request asks for something else than a code.
    #[error("response_type must be code")]
    UnsupportedResponseType,
    /// A scope is not known, or is more than was granted.
    #[error("{0}")]
    InvalidScope(Cow<'static, str>),
}

impl OAuthError {
    /// A scope of a token request is not known, or is more than was granted.
    pub const SCOPE: Self = Self::InvalidScope(Cow::Borrowed(
        "the scope is unknown, or more than was granted",
    ));

    /// The error code of RFC 6749, sections 4.1.2.1 and 5.2.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest(_) => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant(_) => "invalid_grant",
            Self::UnauthorizedClient(_) => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidScope(_) => "invalid_scope",
        }
    }

    /// A parameter that must be there is not.
    #[must_use]
    pub fn missing(name: &str) -> Self {
        Self::InvalidRequest(format!("{name} is missing"))
    }
}
