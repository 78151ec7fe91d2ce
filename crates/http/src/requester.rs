//! Who sends a request, as the handler of its endpoint takes it.

use eddyline_app::{Actor, Error, ScimProvider};
use eddyline_openapi::EndpointAccess;

use crate::error::missing_credentials;

/// Who sends the requests that a handler takes.
pub(crate) trait Requester: Send + Sized + 'static {
    /// Who may call its endpoint.
    const ACCESS: EndpointAccess;

    /// The sender of a request to such an endpoint.
    fn of(known: ResolvedRequester) -> Result<Self, Error>;
}

/// What is known of the sender of a request.
pub(crate) struct ResolvedRequester {
    pub(crate) actor: Option<Actor>,
    pub(crate) provider: Option<ScimProvider>,
}

impl Requester for Actor {
    const ACCESS: EndpointAccess = EndpointAccess::Caller;

    fn of(known: ResolvedRequester) -> Result<Self, Error> {
        known.actor.ok_or_else(missing_credentials)
    }
}

impl Requester for ScimProvider {
    const ACCESS: EndpointAccess = EndpointAccess::Provider;

    fn of(known: ResolvedRequester) -> Result<Self, Error> {
        known.provider.ok_or_else(missing_credentials)
    }
}

/// Anybody, with credentials or without, which are not looked at.
pub(crate) struct Anybody;

impl Requester for Anybody {
    const ACCESS: EndpointAccess = EndpointAccess::Public;

    fn of(_: ResolvedRequester) -> Result<Self, Error> {
        Ok(Self)
    }
}

/// Those who show flow tokens in the path, which the handler looks at.
pub(crate) struct TokensInPath;

impl Requester for TokensInPath {
    const ACCESS: EndpointAccess = EndpointAccess::TokensInPath;

    fn of(_: ResolvedRequester) -> Result<Self, Error> {
        Ok(Self)
    }
}
