//! What a token is worth, for those who were given it (RFC 7662).

use eddyline_auth::Secret;
use eddyline_auth::oauth::OAuthError;
use eddyline_model::scopes::Scopes;
use eddyline_model::users::User;
use eddyline_model::{Timestamp, UserId};

use super::{AuthenticatedClient, ClientFailure};
use crate::App;

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

impl App {
    /// What a token is worth; `None` for one that has ended, never was, or is another client's. Only
    /// clients with a secret may ask.
    ///
    /// # Errors
    ///
    /// [`OAuthError::InvalidClient`] for a client without a secret.
    pub async fn introspect(
        &self,
        client: &AuthenticatedClient,
        token: &Secret,
    ) -> Result<Option<Introspection>, ClientFailure> {
        let application = &client.application;
        if application.public {
            return Err(OAuthError::InvalidClient.into());
        }
        let (hash, id, now) = (token.hash(), application.id, self.now());
        let found = self.store().read(move |session| {
            let access = session.access_token(&hash.0)?;
            let access = access.map(|(t, grant)| (grant, t.scopes, Some(t.created_at), t.expires_at, true));
            let found = match access {
                Some(found) => Some(found),
                None => session
                    .refresh_token(&hash.0)?
                    .filter(|(token, grant)| token.generation == grant.generation)
                    .map(|(token, grant)| (grant, grant.scopes, None, token.expires_at, false)),
            };
            let Some((grant, scopes, issued_at, expires_at, is_access_token)) =
                found.filter(|(grant, _, _, ends, _)| grant.application == id && *ends > now)
            else {
                return Ok(None);
            };
            let Some(User { email, .. }) = session.user(grant.user)? else { return Ok(None) };
            Ok(Some((grant.user, email, scopes, issued_at, expires_at, is_access_token)))
        });
        Ok(found.await?.map(|(user, username, scopes, issued_at, expires_at, is_access_token)| {
            Introspection {
                user,
                username,
                scopes,
                client_id: application.client_id.clone(),
                is_access_token,
                issued_at,
                expires_at,
            }
        }))
    }
}
