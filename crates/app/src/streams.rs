//! Opening a stream.

use crate::actor::Actor;
use crate::authenticate::Authentication;
use crate::core::Core;
use crate::presence::PresenceGuard;
use crate::presence::PresenceTracker;
use crate::quota::KeyedSemaphore;
use crate::quota::Permit;
use crate::rooms::Rooms;
use crate::{Error, ErrorKind, Limit, Result};
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope;
use eddyline_model::{EventId, RoomId};
use eddyline_streaming::presence::PresenceState;
use eddyline_streaming::{
    ResumePoint, StreamFormat, SubscribeError, SubscribeRequest, Subscription, SubscriptionFilter,
};

/// How often a stream is tried again when rights change while it opens.
const ATTEMPTS: usize = 8;

/// Where a client says it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamPoint {
    /// It is new.
    Now,
    /// It had this event last, as it says.
    After(String),
}

/// What a caller wants to listen to.
#[derive(Clone, Debug)]
pub struct StreamRequest {
    /// Flows, by id, `organization/flow` or `organization:flow`.
    pub flows: Vec<String>,
    /// Whether also to what is sent to the caller.
    pub user: bool,
    /// The framing.
    pub format: StreamFormat,
    /// Where the client was.
    pub from: StreamPoint,
    /// What it shows of the user.
    pub shows: PresenceState,
    /// Whether it wants to know who comes and goes.
    pub presence: bool,
}

/// What a stream holds beside its subscription, until it is dropped.
#[derive(Debug)]
pub struct Listening {
    /// Counts the stream for the caller.
    _permit: Permit,
    /// Shows the user as present.
    _connected: Option<PresenceGuard>,
}

/// Streams of events. See [`crate::App::streams`].
#[derive(Clone)]
pub struct Streams {
    core: Core,
    authentication: Authentication,
    rooms: Rooms,
    presence: PresenceTracker,
    permits: KeyedSemaphore,
}

crate::core::opaque_debug!(Streams);

impl Streams {
    pub(crate) fn new(
        core: Core,
        authentication: Authentication,
        rooms: Rooms,
        presence: PresenceTracker,
    ) -> Self {
        let permits = KeyedSemaphore::new(core.config().streams);
        Self {
            core,
            authentication,
            rooms,
            presence,
            permits,
        }
    }

    /// The event after which a stream must go on for a client that reads something now: what
    /// happens after this call comes after it.
    #[must_use]
    pub fn position(&self) -> EventId {
        self.core.hub.head()
    }

    /// Opens a stream, which the second part counts for the caller and shows as the user's presence
    /// until it is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::too_many_requests`] when the caller or the caller's organization has as many
    /// streams as it may; [`Error::not_found`] or [`Error::denied`] for a flow that the caller
    /// cannot read; [`Error::invalid`] for a request that names nothing to listen to;
    /// [`Error::unavailable`].
    pub async fn listen(
        &self,
        actor: &Actor,
        listen: &StreamRequest,
    ) -> Result<(Subscription, Listening)> {
        if listen.flows.is_empty() && !listen.user {
            return Err(Error::invalid("filter", "is required unless user=1"));
        }
        if listen.user {
            actor.user()?;
            actor.require_any(&[Scope::Private])?;
        }
        if !listen.flows.is_empty() {
            actor.require_any(&[Scope::Flow])?;
        }
        let permit = self
            .permits
            .acquire(actor.quota_keys(), 1)
            .map_err(|exceeded| exceeded.of(Limit::Streams))?;
        let resume = resume_point(&listen.from);
        if resume.is_some() {
            self.core.wait_until_fed().await;
        }
        for _ in 0..ATTEMPTS {
            let rights = self.core.hub.rights_mark();
            // What was shown may have ended since it was looked at, when there was no stream to
            // end.
            let actor = &self.authentication.reauthenticate(actor).await?;
            let rooms = self.listen_rooms(actor, &listen.flows).await?;
            let user = listen.user.then(|| actor.user_id()).flatten();
            let request = SubscribeRequest {
                filter: SubscriptionFilter::new(rooms.clone(), user),
                rights,
                caller: actor.user_id(),
                credential: actor.opens_with(),
                format: listen.format,
                resume,
                acknowledged: self.core.store().last_acknowledged(),
                presence: listen.presence,
                full_detail: actor.require_any(&[Scope::Manage]).is_ok(),
            };
            match self.core.hub.subscribe(request).await {
                Ok(subscription) => {
                    let connected = match (actor.user_id(), listen.shows) {
                        (None, _) | (_, PresenceState::Offline) => None,
                        (Some(user), shows) => {
                            Some(self.presence.connect(user, shows, rooms.into_boxed_slice()))
                        }
                    };
                    return Ok((
                        subscription,
                        Listening {
                            _permit: permit,
                            _connected: connected,
                        },
                    ));
                }
                Err(SubscribeError::RightsChanged) => {}
                Err(error) => return Err(Error::unavailable(error.to_string())),
            }
        }
        Err(Error::unavailable("rights keep changing"))
    }

    async fn listen_rooms(&self, actor: &Actor, flows: &[String]) -> Result<Vec<RoomId>> {
        let mut rooms = Vec::with_capacity(flows.len());
        for name in flows {
            let room = self
                .rooms
                .find_named(actor, name, FlowAction::Read)
                .await
                .map_err(|error| with_flow_name(error, name))?;
            self.core
                .entry_encoder
                .learn_flow_id(room.id(), &room.flow.id);
            rooms.push(room.id());
        }
        Ok(rooms)
    }
}

/// Says which of several flows cannot be read.
fn with_flow_name(error: Error, flow: &str) -> Error {
    match error.kind() {
        ErrorKind::NotFound => error.with_message(format!("not found: {flow}")),
        ErrorKind::Denied => error.with_message(format!("Access denied: {flow}")),
        _ => error,
    }
}

fn resume_point(from: &StreamPoint) -> Option<ResumePoint> {
    match from {
        StreamPoint::Now => None,
        StreamPoint::After(text) => Some(
            text.parse::<EventId>()
                .map_or(ResumePoint::Unknown, ResumePoint::After),
        ),
    }
}
