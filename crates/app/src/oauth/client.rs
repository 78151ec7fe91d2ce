//! Which client asks: checked before anything else that it sends is looked at.

use std::net::IpAddr;

use eddyline_auth::oauth::{ClientCredentials, OAuthError};
use eddyline_auth::{RetryAfter, constant_time_eq};
use eddyline_model::applications::Application;

use crate::{Error, Limit, OAuth, Result};

/// An application that has shown who it is.
#[derive(Clone, Debug)]
pub struct AuthenticatedClient {
    pub(super) application: Application,
    /// Where it asks from.
    pub(super) address: IpAddr,
}

impl OAuth {
    /// Finds out which application shows these credentials, from this address. One that has a
    /// secret must show it; one that has none, and then shows something, is not who it says.
    ///
    /// # Errors
    ///
    /// [`OAuthError::InvalidClient`], and [`Error::too_many_attempts`] after too many of those.
    pub async fn authenticate_client(
        &self,
        credentials: &ClientCredentials,
        address: IpAddr,
    ) -> Result<AuthenticatedClient> {
        let guard = &self.client_guard;
        waits_for(guard.check(address, self.core.now()))?;
        let client_id = credentials.client_id.clone();
        let found = self
            .core
            .store()
            .read(move |reader| reader.applications().find_by_client_id(&client_id))
            .await?;
        // Looked at again: otherwise guesses made side by side all pass before any fails.
        waits_for(guard.check(address, self.core.now()))?;
        let Some((application, sealed)) = found else {
            return Err(self.is_no_client(address));
        };
        let known = match sealed {
            None => None,
            Some(sealed) => {
                let opened = self.sealing.open(&application.client_id, &sealed);
                let broken = || Error::internal("the secret of an application cannot be opened");
                Some(opened.ok_or_else(broken)?)
            }
        };
        let good = match (&known, &credentials.secret) {
            (Some(known), Some(shown)) => {
                constant_time_eq(known.expose().as_bytes(), shown.expose().as_bytes())
            }
            (None, None) => application.public,
            _ => false,
        };
        if good {
            Ok(AuthenticatedClient {
                application,
                address,
            })
        } else {
            Err(self.is_no_client(address))
        }
    }

    fn is_no_client(&self, address: IpAddr) -> Error {
        self.client_guard.failed(address, self.core.now());
        OAuthError::InvalidClient.into()
    }
}

/// Refuses a client with too many wrong guesses.
pub(super) fn waits_for(verdict: std::result::Result<(), RetryAfter>) -> Result<()> {
    verdict.map_err(|wait| Error::too_many_attempts(Limit::ApplicationSecrets, wait.seconds))
}
