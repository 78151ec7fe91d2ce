//! Who sends a request, as the handler of its endpoint takes it.

use eddyline_app::{Actor, ScimProvider};

use crate::access::Access;
use crate::error::Failure;

/// Who sends the requests that a handler takes.
pub(crate) trait Sender: Send + Sized + 'static {
    /// Who may call its endpoint.
    const ACCESS: Access;

    /// The sender of a request to such an endpoint.
    fn of(known: KnownSender) -> Result<Self, Failure>;
}

/// What is known of the sender of a request.
pub(crate) struct KnownSender {
    pub(crate) actor: Option<Actor>,
    pub(crate) provider: Option<ScimProvider>,
}

impl Sender for Actor {
    const ACCESS: Access = Access::Caller;

    fn of(known: KnownSender) -> Result<Self, Failure> {
        known.actor.ok_or(Failure::Anonymous)
    }
}

impl Sender for ScimProvider {
    const ACCESS: Access = Access::Provider;

    fn of(known: KnownSender) -> Result<Self, Failure> {
        known.provider.ok_or(Failure::Anonymous)
    }
}

/// Anybody, with credentials or without, which are not looked at.
pub(crate) struct Anybody;

impl Sender for Anybody {
    const ACCESS: Access = Access::Public;

    fn of(_: KnownSender) -> Result<Self, Failure> {
        Ok(Self)
    }
}

/// Those who show flow tokens in the path, which the handler looks at.
pub(crate) struct TokensInPath;

impl Sender for TokensInPath {
    const ACCESS: Access = Access::TokensInPath;

    fn of(_: KnownSender) -> Result<Self, Failure> {
        Ok(Self)
    }
}
