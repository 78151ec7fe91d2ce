//! OAuth tokens that are renewed when they expire (specification, section 5; RFC 6749, section 6).

use std::fmt;
use std::sync::{Arc, Mutex as SyncMutex, MutexGuard, PoisonError};

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OwnedMutexGuard};

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

    pub(crate) fn application(&self) -> &OAuthApplication {
        &self.0.application
    }

    /// Waits until no other request renews the tokens.
    pub(crate) async fn lock_renewal(&self) -> OwnedMutexGuard<()> {
        self.0.renewing.clone().lock_owned().await
    }

    /// Keeps the next pair of tokens, and hands it to the application.
    pub(crate) fn replace_tokens(&self, next: &OAuthTokens) {
        self.lock().clone_from(next);
        (self.0.renewed)(next);
    }

    fn lock(&self) -> MutexGuard<'_, OAuthTokens> {
        self.0.tokens.lock().unwrap_or_else(PoisonError::into_inner)
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
