//! Which client asks: checked before anything else that it sends is looked at.

use std::net::IpAddr;

use eddyline_auth::constant_time_eq;
use eddyline_auth::oauth::{ClientCredentials, OAuthError};
use eddyline_model::applications::Application;

use super::ClientFailure;
use crate::{App, Error};

/// An application that has shown who it is.
#[derive(Clone, Debug)]
pub struct AuthenticatedClient {
    pub(super) application: Application,
    /// Where it asks from.
    pub(super) address: IpAddr,
}

impl App {
    /// Finds out which application shows these credentials, from this address. One that has a secret
    /// must show it; one that has none, and then shows something, is not who it says.
    ///
    /// # Errors
    ///
    /// [`OAuthError::InvalidClient`], and [`Error::TooMany`] after too many of those.
    pub async fn authenticate_client(
        &self,
        credentials: &ClientCredentials,
        address: IpAddr,
    ) -> Result<AuthenticatedClient, ClientFailure> {
        self.check_oauth_attempts(address)?;
        let client_id = credentials.client_id.clone();
        let found = self.store().read(move |session| session.application_by_client_id(&client_id)).await?;
        let Some((application, sealed)) = found else {
            return Err(self.oauth_attempt_failed(address, OAuthError::InvalidClient));
        };
        let known = sealed.and_then(|sealed| self.inner.sealing.open(&application.client_id, &sealed));
        let good = match (&known, &credentials.secret) {
            (Some(known), Some(shown)) => {
                constant_time_eq(known.expose().as_bytes(), shown.expose().as_bytes())
            }
            (None, None) => application.public,
            _ => false,
        };
        if good {
            Ok(AuthenticatedClient { application, address })
        } else {
            Err(self.oauth_attempt_failed(address, OAuthError::InvalidClient))
        }
    }

    /// Refuses those who guessed wrong too often.
    pub(super) fn check_oauth_attempts(&self, address: IpAddr) -> Result<(), ClientFailure> {
        self.inner
            .oauth_guard
            .check(address, self.now())
            .map_err(|wait| ClientFailure::App(Error::TooMany { retry_after: wait.seconds }))
    }

    /// Counts a wrong guess.
    pub(super) fn oauth_attempt_failed(&self, address: IpAddr, error: OAuthError) -> ClientFailure {
        self.inner.oauth_guard.failed(address, self.now());
        error.into()
    }
}
