//! Opening a stream.

use crate::actor::Actor;
use crate::authenticate::Authentication;
use crate::core::Core;
use crate::presence::{PresenceGuard, PresenceTracker, StreamKey};
use crate::quota::{DisplaceablePermit, DisplacingSemaphore};
use crate::rooms::Rooms;
use crate::{Error, ErrorKind, Limit, Result};
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope;
use eddyline_model::{EventId, RoomId};
use eddyline_storage::Reader;
use eddyline_streaming::presence::PresenceState;
use eddyline_streaming::{
    ResumePoint, StreamFormat, SubscribeError, SubscribeRequest, Subscription, SubscriptionFilter,
};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::task::{Context, Poll};

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
    /// Whether also to the flows that the caller is in, and to each that the caller comes into.
    pub joined: bool,
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
    permit: DisplaceablePermit,
    /// Shows the user as present.
    connected: Option<PresenceGuard>,
    /// Counts the stream for the metrics.
    _open: OpenStream,
}

/// Counts a stream until it is dropped.
#[derive(Debug)]
struct OpenStream(Gauge);

impl OpenStream {
    fn counted_by(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Listening {
    /// The name of the stream, by which its user can change what it shows. `None` for a stream that
    /// was opened without showing its user.
    #[must_use]
    pub fn key(&self) -> Option<StreamKey> {
        self.connected.as_ref().map(PresenceGuard::key)
    }

    /// Waits for the stream to be displaced: it ends to make room for that of another caller.
    pub fn poll_displaced(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.permit.poll_displaced(cx)
    }

    /// Returns `true` if the stream is displaced.
    #[must_use]
    pub fn is_displaced(&self) -> bool {
        self.permit.is_displaced()
    }
}

/// Streams of events. See [`crate::App::streams`].
#[derive(Clone)]
pub struct Streams {
    core: Core,
    authentication: Authentication,
    rooms: Rooms,
    presence: PresenceTracker,
    permits: DisplacingSemaphore,
    open: Gauge,
}

crate::core::opaque_debug!(Streams);

impl Streams {
    pub(crate) fn new(
        core: Core,
        authentication: Authentication,
        rooms: Rooms,
        presence: PresenceTracker,
    ) -> Self {
        let permits = DisplacingSemaphore::new(core.config().streams);
        Self {
            core,
            authentication,
            rooms,
            presence,
            permits,
            open: Gauge::default(),
        }
    }

    /// Adds the number of open streams to a registry.
    pub(crate) fn register_metrics(&self, registry: &mut Registry) {
        registry.register("streams", "Streams that are open", self.open.clone());
    }

    /// The event after which a stream must go on for a client that reads something now: what
    /// happens after this call comes after it.
    #[must_use]
    pub fn position(&self) -> EventId {
        self.core.hub.head()
    }

    /// Opens a stream, which the second part counts for the caller and shows as the user's presence
    /// until it is dropped. If as many streams are open as may be, another one ends for it.
    ///
    /// # Errors
    ///
    /// [`Error::too_many_requests`] when all streams are open that may be, and no other one ends for
    /// this caller; [`Error::not_found`] or [`Error::denied`] for a flow that the caller
    /// cannot read; [`Error::invalid`] for a request that names nothing to listen to;
    /// [`Error::unavailable`].
    pub async fn listen(
        &self,
        actor: &Actor,
        listen: &StreamRequest,
    ) -> Result<(Subscription, Listening)> {
        if listen.flows.is_empty() && !listen.joined && !listen.user {
            let text = "is required unless user=1 or flows=joined";
            return Err(Error::invalid("filter", text));
        }
        if listen.user {
            actor.user()?;
            actor.require_any(&[Scope::Private])?;
        }
        if listen.joined {
            actor.user()?;
        }
        if !listen.flows.is_empty() || listen.joined {
            actor.require_any(&[Scope::Flow])?;
        }
        let keys = actor.quota_keys();
        self.permits
            .check(keys)
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
            let mut rooms = self.listen_rooms(actor, &listen.flows).await?;
            if listen.joined {
                rooms.extend(self.joined_rooms(actor).await?);
            }
            // The presence counts each room once.
            rooms.sort_unstable();
            rooms.dedup();
            let user = listen.user.then(|| actor.user_id()).flatten();
            let request = SubscribeRequest {
                filter: SubscriptionFilter::new(rooms.clone(), user),
                follows: listen.joined,
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
                    // Acquired only now, so that no other stream ends for a request that is
                    // refused.
                    let permit = self
                        .permits
                        .acquire(keys)
                        .map_err(|exceeded| exceeded.of(Limit::Streams))?;
                    let connected = match (actor.user_id(), listen.shows) {
                        (None, _) | (_, PresenceState::Offline) => None,
                        (Some(user), shows) => {
                            let shown = self.presence.connect(user, shows, &rooms, listen.joined);
                            if self.core.hub.rights_mark() != rights {
                                self.follow_missed(actor, listen, &rooms).await?;
                            }
                            Some(shown)
                        }
                    };
                    return Ok((
                        subscription,
                        Listening {
                            permit,
                            connected,
                            _open: OpenStream::counted_by(&self.open),
                        },
                    ));
                }
                Err(SubscribeError::RightsChanged) => {}
                Err(error) => return Err(Error::unavailable(error.to_string())),
            }
        }
        Err(Error::unavailable("rights keep changing"))
    }

    /// Changes what an open stream of the caller shows of the caller.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when this server has no such stream, or it was opened without showing
    /// its user; [`Error::too_many_requests`] for more than
    /// [`PRESENCE_CHANGES`](crate::PRESENCE_CHANGES) in a minute.
    pub fn show(&self, actor: &Actor, key: StreamKey, shows: PresenceState) -> Result<()> {
        let user = actor.user()?.user.id;
        self.presence.show(user, key, shows)
    }

    /// Applies to the presence what changed between the subscription, which follows the caller since
    /// then, and the start of the presence.
    async fn follow_missed(
        &self,
        actor: &Actor,
        listen: &StreamRequest,
        rooms: &[RoomId],
    ) -> Result<()> {
        let user = actor.user()?.user.id;
        let joined = self.joined_rooms(actor).await?;
        for room in rooms.iter().filter(|room| !joined.contains(room)) {
            self.presence.unfollow(user, *room);
        }
        if listen.joined {
            for room in joined {
                self.presence.follow(&[user], room);
            }
        }
        Ok(())
    }

    /// The rooms of the flows that the caller is in and may read.
    async fn joined_rooms(&self, actor: &Actor) -> Result<Vec<RoomId>> {
        let user = actor.user()?.user.id;
        let read = move |reader: &mut Reader<'_>| reader.members().list_rooms_of_user(user);
        let mut rooms = Vec::new();
        for id in self.core.store().read(read).await? {
            match self.rooms.admit(actor, id, FlowAction::Read).await {
                Ok(room) => {
                    let flow = &room.flow.id;
                    self.core.entry_encoder.learn_flow_id(id, flow);
                    rooms.push(id);
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::NotFound | ErrorKind::Denied | ErrorKind::Closed
                    ) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(rooms)
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
pub(crate) fn with_flow_name(error: Error, flow: &str) -> Error {
    match error.kind() {
        ErrorKind::NotFound => error.with_message(format!("not found: {flow}")),
        ErrorKind::Denied | ErrorKind::Closed => {
            error.with_message(format!("Access denied: {flow}"))
        }
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
