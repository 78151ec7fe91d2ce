//! OAuth 2.0: what users allow applications, and the tokens that follow from it (RFC 6749;
//! specification, section 5).
//!
//! One consent leads to one code, one code to one grant, and one grant to a family of tokens which
//! all end with it. Every secret is found by its digest; only the secrets of applications can be
//! read again, since they sign what is sent to them.

mod applications;
mod authorize;
mod authorized;
mod client;
mod exchange;
mod introspect;
mod keys;
mod records;
mod revoke;
mod tokens;

use std::sync::Arc;

use crate::authenticate::Authentication;
use crate::core::Core;
use eddyline_auth::AddressGuard;
use eddyline_auth::SealingKey;

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
    /// Under which the secrets of applications are kept.
    sealing: Arc<SealingKey>,
    /// Limits guesses at secrets of applications.
    client_guard: Arc<AddressGuard>,
    /// Limits guesses at codes and refresh tokens. It counts apart, since a visitor of an
    /// application's site can have the application show wrong codes.
    code_guard: Arc<AddressGuard>,
}

crate::core::opaque_debug!(OAuth);

impl OAuth {
    pub(crate) fn new(
        core: Core,
        authentication: Authentication,
        sealing: Arc<SealingKey>,
    ) -> Self {
        let attempts = core.config().oauth.attempts_per_address;
        let guard = || Arc::new(AddressGuard::new(attempts));
        Self {
            core,
            authentication,
            sealing,
            client_guard: guard(),
            code_guard: guard(),
        }
    }
}
