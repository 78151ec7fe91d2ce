//! What the token endpoint and its neighbours say is wrong (RFC 6749, section 5.2).

use super::parameters::RepeatedParameter;

/// What is wrong with a request of a client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OAuthError {
    /// Something is missing, comes twice, or cannot be read.
    #[error("{0}")]
    InvalidRequest(String),
    /// The client is not known, or did not show its secret.
    #[error("the client is not known, or its secret is wrong")]
    InvalidClient,
    /// The code, the refresh token or the password is not, or no longer, good.
    #[error("{0}")]
    InvalidGrant(&'static str),
    /// The client may not do this.
    #[error("{0}")]
    UnauthorizedClient(&'static str),
    /// There is no such grant type.
    #[error("the grant type is not supported")]
    UnsupportedGrantType,
    /// A scope is not known, or is more than was granted.
    #[error("the scope is unknown, or more than was granted")]
    InvalidScope,
}

impl OAuthError {
    /// The error code of RFC 6749, section 5.2.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest(_) => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant(_) => "invalid_grant",
            Self::UnauthorizedClient(_) => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::InvalidScope => "invalid_scope",
        }
    }

    /// A parameter that must be there is not.
    #[must_use]
    pub fn missing(name: &str) -> Self {
        Self::InvalidRequest(format!("{name} is missing"))
    }
}

impl From<RepeatedParameter> for OAuthError {
    fn from(repeated: RepeatedParameter) -> Self {
        Self::InvalidRequest(repeated.to_string())
    }
}
