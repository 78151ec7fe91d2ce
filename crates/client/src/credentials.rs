//! Who the client speaks as (specification, section 5).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::oauth::OAuthSession;

/// Credentials sent with every request of a [`Client`](crate::Client).
///
/// `Debug` names the kind only, never the secret.
#[derive(Clone, Default)]
pub enum Credentials {
    /// Nothing is sent.
    #[default]
    None,
    /// HTTP Basic with a user's e-mail address and password.
    Basic {
        /// E-mail address.
        email: String,
        /// Password in plain text.
        password: String,
    },
    /// HTTP Basic with a user's API token as the name and an empty password.
    ApiToken(String),
    /// An OAuth access token in the `Authorization` header.
    Bearer(String),
    /// OAuth tokens that are renewed when they expire.
    OAuth(OAuthSession),
    /// The token of a flow or of a source, sent as the query parameter `flow_token`: the posts
    /// are anonymous.
    FlowToken(String),
}

impl Credentials {
    /// The value of the `Authorization` header, when these credentials use it.
    pub(crate) fn authorization(&self) -> Option<String> {
        match self {
            Self::None | Self::FlowToken(_) => None,
            Self::Basic { email, password } => Some(basic(email, password)),
            Self::ApiToken(token) => Some(basic(token, "")),
            Self::Bearer(token) => Some(format!("Bearer {token}")),
            Self::OAuth(session) => Some(format!("Bearer {}", session.tokens().access_token)),
        }
    }

    /// The query parameter, when these credentials use one.
    pub(crate) fn query(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::FlowToken(token) => Some(("flow_token", token)),
            _ => None,
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Basic { .. } => "Basic",
            Self::ApiToken(_) => "ApiToken",
            Self::Bearer(_) => "Bearer",
            Self::OAuth(_) => "OAuth",
            Self::FlowToken(_) => "FlowToken",
        })
    }
}

fn basic(name: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{name}:{password}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_token_is_a_basic_name_without_a_password() {
        let header = Credentials::ApiToken("secret".into()).authorization();
        assert_eq!(header.as_deref(), Some("Basic c2VjcmV0Og=="));
    }

    #[test]
    fn a_flow_token_travels_in_the_query() {
        let token = Credentials::FlowToken("secret".into());
        assert_eq!(token.authorization(), None);
        assert_eq!(token.query(), Some(("flow_token", "secret")));
    }

    #[test]
    fn debug_output_does_not_hold_the_secret() {
        let token = Credentials::Bearer("secret".into());
        assert_eq!(format!("{token:?}"), "Bearer");
    }
}
