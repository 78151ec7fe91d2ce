//! OAuth tokens that are renewed when they expire (specification, section 5; RFC 6749, section 6).

use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex as SyncMutex, MutexGuard, PoisonError};

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, Method, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::JoinHandle;

use crate::client::Client;
use crate::error::Error;

/// The application that the tokens were made for.
#[derive(Clone)]
pub struct OAuthApplication {
    /// Its public id.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
}

/// A user's tokens for an application.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OAuthTokens {
    /// Sent with each request; lives 2 hours.
    pub access_token: String,
    /// Gets the next pair; each is used once.
    pub refresh_token: String,
}

/// The tokens of one user, shared by all clones.
///
/// When the server says that the access token is no longer valid, the client gets the next pair of
/// tokens and repeats the request, which the server has not carried out. Requests at the same time
/// share one renewal.
#[derive(Clone)]
pub struct OAuthSession(Arc<Shared>);

struct Shared {
    application: OAuthApplication,
    tokens: SyncMutex<OAuthTokens>,
    renewing: Arc<Mutex<()>>,
    renewed: Box<dyn Fn(&OAuthTokens) + Send + Sync>,
}

impl OAuthSession {
    /// Begins with these tokens. `renewed` gets each later pair and should store it: the pair
    /// before it is no longer good for anything.
    pub fn new(
        application: OAuthApplication,
        tokens: OAuthTokens,
        renewed: impl Fn(&OAuthTokens) + Send + Sync + 'static,
    ) -> Self {
        let (tokens, renewed) = (SyncMutex::new(tokens), Box::new(renewed));
        Self(Arc::new(Shared {
            application,
            tokens,
            renewing: Arc::default(),
            renewed,
        }))
    }

    /// The present tokens.
    pub fn tokens(&self) -> OAuthTokens {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, OAuthTokens> {
        self.0.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gets the pair of tokens after the one with this access token, unless another request has
    /// done so.
    pub(crate) async fn renew(&self, client: &Client, expired: &str) -> Result<(), Error> {
        let one_at_a_time = self.0.renewing.clone().lock_owned().await;
        if self.tokens().access_token != expired {
            return Ok(());
        }
        match self.begin_renewal(client, one_at_a_time).await {
            Ok(renewed) => renewed,
            Err(error) => match error.try_into_panic() {
                // Of the application's `renewed`.
                Ok(panic) => resume_unwind(panic),
                Err(_) => Err(Error::RuntimeEnded),
            },
        }
    }

    /// In a task of its own: when the request that needs the tokens is dropped or late, the pair
    /// that the server has made by then is kept all the same. The pair before it is no longer
    /// valid.
    fn begin_renewal(
        &self,
        client: &Client,
        one_at_a_time: OwnedMutexGuard<()>,
    ) -> JoinHandle<Result<(), Error>> {
        let (session, client) = (self.clone(), client.clone());
        tokio::spawn(async move {
            let _one_at_a_time = one_at_a_time;
            session.get_next(&client).await
        })
    }

    async fn get_next(&self, client: &Client) -> Result<(), Error> {
        let tokens = self.tokens();
        let OAuthApplication {
            client_id,
            client_secret,
        } = &self.0.application;
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", tokens.refresh_token.as_str()),
            ("client_id", client_id),
            ("client_secret", client_secret),
        ];
        let request = client
            .request(Method::POST, "/oauth/token")
            .anonymous()
            .form(&form);
        let next: OAuthTokens = request.call().await?;
        self.lock().clone_from(&next);
        (self.0.renewed)(&next);
        Ok(())
    }
}

/// Whether an answer says that the access token is not valid (RFC 6750, section 3.1).
pub(crate) fn is_expired(status: StatusCode, headers: &HeaderMap) -> bool {
    let challenges = headers.get_all(WWW_AUTHENTICATE);
    let invalid = |value: &http::HeaderValue| {
        value
            .to_str()
            .is_ok_and(|text| text.contains("error=\"invalid_token\""))
    };
    status == StatusCode::UNAUTHORIZED && challenges.iter().any(invalid)
}

impl fmt::Debug for OAuthApplication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthApplication")
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OAuthTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OAuthTokens")
    }
}

impl fmt::Debug for OAuthSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OAuthSession")
            .field(&self.0.application)
            .finish()
    }
}
