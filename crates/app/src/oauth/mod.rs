//! OAuth 2.0: what users allow applications, and the tokens that follow from it (RFC 6749;
//! specification, section 5).
//!
//! One consent leads to one code, one code to one grant, and one grant to a family of tokens which all
//! end with it. Every secret is found by its digest; only the secrets of applications can be read
//! again, since they sign what is sent to them.

mod applications;
mod authorize;
mod authorized;
mod client;
mod exchange;
mod introspect;
mod keys;
mod revoke;
mod tokens;

use crate::authenticate::Authentication;
use crate::core::Core;
use eddyline_auth::AddressGuard;
use eddyline_auth::SealingKey;
use eddyline_auth::oauth::OAuthError;
use eddyline_storage::Abort;
use std::sync::Arc;

use crate::Error;

pub use applications::{ApplicationChanges, NewApplication};
pub use authorize::{AuthorizationPrompt, AuthorizeError};
pub(crate) use authorized::end_grants;
pub use authorized::{Authorized, AuthorizedByMember};
pub use client::AuthenticatedClient;
pub use introspect::Introspection;
pub(crate) use keys::keys;
pub use keys::{RenewedSecret, renew_secret_key, what_is_sealed};
pub use tokens::Tokens;

/// Applications, and the grants and tokens that users give them. See [`crate::App::oauth`].
#[derive(Clone)]
pub struct OAuth {
    core: Core,
    authentication: Authentication,
    sealing: Arc<SealingKey>,
    client_guard: Arc<AddressGuard>,
    code_guard: Arc<AddressGuard>,
}

crate::core::opaque_debug!(OAuth);

impl OAuth {
    pub(crate) fn new(core: Core, authentication: Authentication, sealing: Arc<SealingKey>) -> Self {
        let attempts = core.config().oauth.attempts_per_address;
        let guard = || Arc::new(AddressGuard::new(attempts));
        Self { core, authentication, sealing, client_guard: guard(), code_guard: guard() }
    }
}

/// How OAuth is set up.
#[derive(Clone, Debug)]
pub struct OAuthConfig {
    /// How long an access token lives, in milliseconds.
    pub access_token_millis: i64,
    /// How long an authorization code lives, in milliseconds; ten minutes at most (RFC 6749, section
    /// 4.1.2).
    pub code_millis: i64,
    /// How long a refresh token that is not used lives, in milliseconds.
    pub refresh_token_millis: i64,
    /// Whether applications may ask for tokens with users' passwords at all.
    pub password_grant: bool,
    /// Whether codes may be shown to users at all, for them to copy.
    pub out_of_band: bool,
    /// How many wrong codes, refresh tokens and client secrets are taken from one address in a minute;
    /// 0 for any number.
    pub attempts_per_address: u32,
    /// What the key is made of under which secrets of applications are sealed. Without it the key is
    /// kept in the database.
    pub key: Option<KeyMaterial>,
}

/// Random bytes that a key is made of. They never print themselves.
#[derive(Clone)]
pub struct KeyMaterial(
    /// The bytes, at least [`SealingKey::MIN_BYTES`](eddyline_auth::SealingKey::MIN_BYTES).
    pub Vec<u8>,
);

impl std::fmt::Debug for KeyMaterial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyMaterial([redacted])")
    }
}

impl Default for OAuthConfig {
    fn default() -> Self {
        const MINUTE: i64 = 60_000;
        Self {
            access_token_millis: 120 * MINUTE,
            code_millis: 10 * MINUTE,
            refresh_token_millis: 90 * 24 * 60 * MINUTE,
            password_grant: true,
            out_of_band: true,
            attempts_per_address: 100,
            key: None,
        }
    }
}

/// Why a client did not get what it asked for.
#[derive(Debug, thiserror::Error)]
pub enum ClientFailure {
    /// What it asked for is wrong.
    #[error(transparent)]
    OAuth(#[from] OAuthError),
    /// Anything else: it must wait, or the store is down.
    #[error(transparent)]
    App(#[from] Error),
}

impl From<eddyline_storage::Error> for ClientFailure {
    fn from(error: eddyline_storage::Error) -> Self {
        Self::App(error.into())
    }
}

impl From<Abort<OAuthError>> for ClientFailure {
    fn from(abort: Abort<OAuthError>) -> Self {
        match abort {
            Abort::Store(error) => error.into(),
            Abort::Rejected(error) => error.into(),
        }
    }
}
