//! A request that has been read, as handlers get it.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use eddyline_app::{Actor, App, Error, FlowRoom, Permit, QuotaSubject, Room, ScimProvider};
use eddyline_model::policy::{FlowAction, MessageAction};
use http::{Extensions, HeaderMap};

use crate::Shared;
use crate::forwarded::ForwardedState;
use crate::path_params::PathParams;
use crate::path_room;
use crate::requester::{Requester, ResolvedRequester};
use crate::serve::{BodyReservation, mark_authenticated};
use crate::uploads::Received;

/// A request that has been read, and who sent it.
pub(crate) struct RequestContext<S = Actor> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) sender: S,
    pub(crate) headers: HeaderMap,
    /// The body as it came, where it is a file or the endpoint reads it itself.
    pub(crate) raw: Bytes,
    /// The files that came as parts of a form.
    pub(crate) files: Vec<Received>,
    pub(crate) extensions: Extensions,
    pub(crate) segments: PathParams,
    /// Held while a file is in memory.
    pub(crate) _permit: Option<Permit>,
    /// Held while the body of a caller without credentials is in memory.
    pub(crate) _reservation: Option<BodyReservation>,
}

impl RequestContext<ResolvedRequester> {
    /// The request with the sender that its handler takes.
    pub(crate) fn for_requester<S: Requester>(self) -> Result<RequestContext<S>, Error> {
        let Self {
            shared,
            sender,
            headers,
            raw,
            files,
            extensions,
            segments,
            _permit,
            _reservation,
        } = self;
        let sender = S::of(sender)?;
        Ok(RequestContext {
            shared,
            sender,
            headers,
            raw,
            files,
            extensions,
            segments,
            _permit,
            _reservation,
        })
    }
}

impl RequestContext {
    /// Who asks.
    pub(crate) fn actor(&self) -> &Actor {
        &self.sender
    }

    /// The flow that the path names, if the caller may do `action` there.
    pub(crate) async fn flow(&self, action: FlowAction) -> Result<Arc<FlowRoom>, Error> {
        let (organization, flow) = (self.segment("organization"), self.segment("flow"));
        self.app()
            .rooms()
            .find(self.actor(), organization, flow, action)
            .await
    }

    /// The flow or the private conversation that the path names, if the caller may do `action`
    /// there.
    pub(crate) async fn room(&self, action: MessageAction) -> Result<Room, Error> {
        path_room::find(self.app(), &self.segments, self.actor(), action)
            .await?
            .ok_or_else(Error::not_found)
    }
}

impl RequestContext<ScimProvider> {
    /// The identity provider who asks.
    pub(crate) fn provider(&self) -> &ScimProvider {
        &self.sender
    }
}

impl<S> RequestContext<S> {
    /// The application.
    pub(crate) fn app(&self) -> &App {
        &self.shared.app
    }

    /// Notes that the request has shown valid credentials of a kind that only its endpoint knows.
    pub(crate) fn mark_authenticated(&self, owner: QuotaSubject) {
        mark_authenticated(&self.extensions, owner);
    }

    /// Where the request comes from.
    pub(crate) fn client_address(&self) -> IpAddr {
        self.shared
            .proxies
            .client(&self.headers, &self.extensions)
            .addr
    }

    /// What became of the headers of a proxy.
    pub(crate) fn forwarded(&self) -> ForwardedState {
        self.shared.proxies.state(&self.headers, &self.extensions)
    }

    /// A segment of the path.
    pub(crate) fn segment(&self, name: &str) -> &str {
        self.segments.get(name)
    }

    /// A number in the path. Anything else is the number of nothing.
    pub(crate) fn id<T: std::str::FromStr>(&self, name: &str) -> Result<T, Error> {
        self.segment(name).parse().map_err(|_| Error::not_found())
    }
}
