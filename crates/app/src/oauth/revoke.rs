//! Ending tokens by those who hold them (RFC 7009).

use super::authorized::end_grant;
use eddyline_auth::Secret;
use eddyline_auth::oauth::OAuthError;
use eddyline_model::audit::actor;
use eddyline_model::log::Control;

use super::AuthenticatedClient;
use crate::core::transaction::NoCaller;
use crate::{Error, OAuth, Result};

impl OAuth {
    /// Ends a token of a client. With a refresh token, also one that was replaced, its whole family
    /// ends; with an access token only that. What is not known has ended. Once this answers, the
    /// tokens are dead in every process.
    ///
    /// # Errors
    ///
    /// [`OAuthError::UnauthorizedClient`] for the token of another client.
    pub async fn revoke_token(&self, client: &AuthenticatedClient, token: &Secret) -> Result<()> {
        let (hash, id) = (token.hash(), client.application.id);
        let ((), event) = self
            .core
            .transaction(NoCaller::OAuthClient, move |tx| {
                let refresh = tx
                    .oauth_tokens()
                    .find_refresh(&hash.0)?
                    .map(|(_, grant)| (grant, true));
                let found = match refresh {
                    Some(found) => Some(found),
                    None => tx
                        .oauth_tokens()
                        .find_access(&hash.0)?
                        .map(|(_, grant)| (grant, false)),
                };
                let Some((grant, family)) = found else {
                    return Ok(());
                };
                if grant.application != id {
                    let why = "the token was given to another client";
                    return Err(Error::from(OAuthError::UnauthorizedClient(why)).into());
                }
                let user = grant.user;
                tx.set_actor(actor::application(id));
                if family {
                    end_grant(tx, (user, id, grant.id), "the application ended it")?;
                } else if tx.oauth_tokens().delete_access(&hash.0)? {
                    tx.record_event(Control::CredentialEnd {
                        user,
                        credential: hash.credential(),
                    });
                }
                Ok(())
            })
            .await?;
        self.core.wait_until_end_applied(event).await
    }
}
