//! What a token is worth, for those who were given it (RFC 7662).

use eddyline_auth::Secret;
use eddyline_auth::oauth::OAuthError;
use eddyline_model::scopes::Scopes;
use eddyline_model::{Timestamp, UserId};

use super::AuthenticatedClient;
use crate::{OAuth, Result};

/// A token that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Introspection {
    /// Whose it is.
    pub user: UserId,
    /// Their address, by which they sign in.
    pub username: String,
    /// What it may be used for.
    pub scopes: Scopes,
    /// The client that it was given to.
    pub client_id: String,
    /// Whether it is an access token; otherwise it is a refresh token.
    pub is_access_token: bool,
    /// When it was issued, where that is known.
    pub issued_at: Option<Timestamp>,
    /// When it ends.
    pub expires_at: Timestamp,
}

impl OAuth {
    /// What a token is worth; `None` for one that has ended, never was, or is another client's.
    /// Only clients with a secret may ask.
    ///
    /// # Errors
    ///
    /// [`OAuthError::InvalidClient`] for a client without a secret.
    pub async fn introspect(
        &self,
        client: &AuthenticatedClient,
        token: &Secret,
    ) -> Result<Option<Introspection>> {
        let application = &client.application;
        if application.public {
            return Err(OAuthError::InvalidClient.into());
        }
        let (hash, id, now) = (token.hash(), application.id, self.core.now());
        let client_id = application.client_id.clone();
        let found = self.core.store().read(move |reader| {
            let (grant, scopes, issued_at, expires_at) =
                match reader.oauth_tokens().find_access(&hash.0)? {
                    Some((token, grant)) => (
                        grant,
                        token.scopes,
                        Some(token.created_at),
                        token.expires_at,
                    ),
                    None => match reader.oauth_tokens().find_refresh(&hash.0)? {
                        Some((token, grant)) if token.generation == grant.generation => {
                            let scopes = grant.scopes;
                            (grant, scopes, None, token.expires_at)
                        }
                        _ => return Ok(None),
                    },
                };
            if grant.application != id || expires_at <= now {
                return Ok(None);
            }
            let user = reader.users().find(grant.user)?;
            Ok(user.map(|user| Introspection {
                user: grant.user,
                username: user.email,
                scopes,
                client_id: client_id.clone(),
                is_access_token: issued_at.is_some(),
                issued_at,
                expires_at,
            }))
        });
        Ok(found.await?)
    }
}
