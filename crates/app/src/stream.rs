//! Opening a stream.

use eddyline_model::policy::FlowDeed;
use eddyline_model::scopes::Scope;
use eddyline_model::{EventId, RoomId};
use eddyline_streaming::presence::PresenceState;
use eddyline_streaming::{Filter, Format, ResumePoint, SubscribeError, SubscribeRequest, Subscription};

use crate::actor::Actor;
use crate::presence::Connected;
use crate::{App, Error, Result};

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
pub struct Listen {
    /// Flows, by id, `organization/flow` or `organization:flow`.
    pub flows: Vec<String>,
    /// Whether also to what is sent to the caller.
    pub user: bool,
    /// The framing.
    pub format: Format,
    /// Where the client was.
    pub from: StreamPoint,
    /// What it shows of the user.
    pub shows: PresenceState,
    /// Whether it wants to know who comes and goes.
    pub presence: bool,
}

impl App {
    /// Opens a stream. The second part shows the user as present until it is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] or [`Error::Denied`] for a flow that the caller cannot read, named in
    /// [`Error::Invalid`] with nothing to listen to; [`Error::Unavailable`].
    pub async fn listen(&self, actor: &Actor, listen: &Listen) -> Result<(Subscription, Option<Connected>)> {
        if listen.flows.is_empty() && !listen.user {
            return Err(Error::field("filter", "is required unless user=1"));
        }
        if listen.user {
            actor.user()?;
            actor.require_any(&[Scope::Private])?;
        }
        if !listen.flows.is_empty() {
            actor.require_any(&[Scope::Flow])?;
        }
        for _ in 0..ATTEMPTS {
            let rights = self.inner.hub.rights_mark();
            // What was shown may have ended since it was looked at, when there was no stream to end.
            let actor = &self.again(actor).await?;
            let rooms = self.listen_rooms(actor, &listen.flows).await?;
            let user = listen.user.then(|| actor.user_id()).flatten();
            let request = SubscribeRequest {
                filter: Filter::new(rooms.clone(), user),
                rights,
                caller: actor.user_id(),
                credential: actor.opens_with(),
                format: listen.format,
                resume: resume_point(&listen.from),
                presence: listen.presence,
                full_detail: actor.require_any(&[Scope::Manage]).is_ok(),
            };
            match self.inner.hub.subscribe(request).await {
                Ok(subscription) => {
                    let connected = match (actor.user_id(), listen.shows) {
                        (None, _) | (_, PresenceState::Offline) => None,
                        (Some(user), shows) => Some(self.connect(user, shows, rooms.into_boxed_slice())),
                    };
                    return Ok((subscription, connected));
                }
                Err(SubscribeError::RightsChanged) => {}
                Err(error) => return Err(Error::Unavailable(error.to_string())),
            }
        }
        Err(Error::Unavailable("rights keep changing".into()))
    }

    async fn listen_rooms(&self, actor: &Actor, flows: &[String]) -> Result<Vec<RoomId>> {
        let mut rooms = Vec::with_capacity(flows.len());
        for name in flows {
            let room = self.room_named(actor, name, FlowDeed::Read).await.map_err(|error| match error {
                Error::NotFound => Error::NoSuchFlow(name.clone()),
                Error::Denied => Error::FlowDenied(name.clone()),
                other => other,
            })?;
            self.inner.scribe.learn_flow_id(room.id(), &room.flow.id);
            rooms.push(room.id());
        }
        Ok(rooms)
    }
}

fn resume_point(from: &StreamPoint) -> Option<ResumePoint> {
    match from {
        StreamPoint::Now => None,
        StreamPoint::After(text) => {
            Some(text.parse::<EventId>().map_or(ResumePoint::Unknown, ResumePoint::After))
        }
    }
}
