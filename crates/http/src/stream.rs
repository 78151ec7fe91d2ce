//! The stream (specification, section 4, Streaming).

use std::task::{Context, Poll};
use std::time::Duration;

use eddyline_app::streaming::{Batch, PresenceState, StreamFormat, Subscription};
use eddyline_app::{Actor, Error, Listening, StreamPoint, StreamRequest};
use eddyline_model::scopes::Scope::{Flow, Private};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::Empty;
use eddyline_wire::requests::{self, Presence, ShowPresence, StreamFilter};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method};

use crate::answer::{Answer, done};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;
use crate::media;
use crate::serve::{FrameSource, WithDeadline, stream};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
pub(crate) const EVENT_ID: HeaderName = HeaderName::from_static("event-id");
pub(crate) const STREAM_ID: HeaderName = HeaderName::from_static("stream-id");
/// What nginx reads.
pub(crate) const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What is asked of open streams.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::PUT,
            "/streams/{stream}",
            "showPresence",
            "Change what an open stream shows of you",
            show,
        )
        .scopes(&[Flow, Private])
        .answers(200, "Done", Some(Empty)),
    ]
}

pub(crate) async fn several(
    ctx: RequestContext,
    request: UnparsedParams<(requests::Listen, StreamFilter)>,
) -> Answer {
    let (request, StreamFilter { flows, filter }) = request.read()?;
    let named = filter.unwrap_or_default();
    open(&ctx, named, flows.is_some(), request).await
}

pub(crate) async fn one(ctx: RequestContext, request: UnparsedParams<requests::Listen>) -> Answer {
    let flow = format!("{}/{}", ctx.segment("organization"), ctx.segment("flow"));
    open(&ctx, vec![flow], false, request.read()?).await
}

async fn open(
    ctx: &RequestContext,
    flows: Vec<String>,
    joined: bool,
    request: requests::Listen,
) -> Answer {
    let listen = StreamRequest {
        joined,
        ..listen(ctx, flows, request)?
    };
    let actor = ctx.actor();
    let (subscription, listening) = ctx.app().streams().listen(actor, &listen).await?;
    let began_after = subscription.began_after();
    let key = listening.key();
    let source = SubscriptionFrames {
        subscription,
        listening,
    };
    let mut response = stream(WithDeadline::new(source, time_left(ctx, actor)));
    let kind = match listen.format {
        StreamFormat::Sse | StreamFormat::SseWithHtml => media::EVENT_STREAM,
        StreamFormat::Json | StreamFormat::JsonWithIds => media::JSON,
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media::in_utf8(kind));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
    if let Some(id) = began_after.and_then(|id| HeaderValue::try_from(id.to_string()).ok()) {
        headers.insert(EVENT_ID, id);
    }
    if let Some(id) = key.and_then(|key| HeaderValue::try_from(key.to_string()).ok()) {
        headers.insert(STREAM_ID, id);
    }
    Ok(response)
}

/// Changes what an open stream shows of the caller, without opening it anew.
async fn show(ctx: RequestContext, request: UnparsedParams<ShowPresence>) -> Answer {
    let ShowPresence { active } = request.read()?;
    let key = ctx
        .segment("stream")
        .parse()
        .map_err(|_| Error::not_found())?;
    let streams = ctx.app().streams();
    streams.show(ctx.actor(), key, state_of(active))?;
    Ok(done())
}

fn state_of(presence: Presence) -> PresenceState {
    match presence {
        Presence::Active => PresenceState::Active,
        Presence::Idle => PresenceState::Idle,
        Presence::Offline => PresenceState::Offline,
    }
}

/// How long the caller's right to listen lasts, where it ends by itself: a stream outlives no
/// access token that it was opened with.
fn time_left(ctx: &RequestContext, actor: &Actor) -> Option<Duration> {
    let left = actor.ends_at()?.0.saturating_sub(ctx.app().now().0);
    Some(Duration::from_millis(
        u64::try_from(left).unwrap_or_default(),
    ))
}

fn listen(
    ctx: &RequestContext,
    flows: Vec<String>,
    request: requests::Listen,
) -> Result<StreamRequest, Error> {
    let requests::Listen {
        user,
        accept,
        active,
        presence,
        last_event_id: parameter,
        html,
    } = request;
    let shows = active.map_or(PresenceState::Offline, state_of);
    // Some clients send an empty header with their first request, and the id in the parameter.
    let header = ctx
        .headers
        .get(LAST_EVENT_ID)
        .filter(|id| !id.is_empty())
        .map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
    let wants_events = wants_events(&ctx.headers, accept.as_deref());
    let format = match (wants_events, &parameter) {
        (true, _) if html => StreamFormat::SseWithHtml,
        (true, _) => StreamFormat::Sse,
        (false, _) if html => {
            let text = "goes with text/event-stream only";
            return Err(Error::invalid("html", text));
        }
        (false, Some(_)) => StreamFormat::JsonWithIds,
        (false, None) => StreamFormat::Json,
    };
    // An empty id says that the client has none.
    let from = header
        .or(parameter)
        .filter(|id| !id.is_empty())
        .map_or(StreamPoint::Now, StreamPoint::After);
    Ok(StreamRequest {
        flows,
        joined: false,
        user,
        format,
        from,
        shows,
        presence,
    })
}

/// Whether the client wants server-sent events; a parameter is clearer than a header, which many
/// clients set to whatever they can read.
fn wants_events(headers: &HeaderMap, parameter: Option<&str>) -> bool {
    match parameter {
        Some(kind) => kind.trim().eq_ignore_ascii_case(media::EVENT_STREAM),
        None => headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .any(|value| value.to_ascii_lowercase().contains(media::EVENT_STREAM)),
    }
}

/// A subscription, with what it holds besides.
struct SubscriptionFrames {
    subscription: Subscription,
    listening: Listening,
}

impl FrameSource for SubscriptionFrames {
    type Batch = Batch;

    fn use_chunks(&mut self) {
        self.subscription.use_chunks();
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Batch>> {
        if self.listening.poll_displaced(cx).is_ready() {
            return Poll::Ready(None);
        }
        self.subscription.poll_next(cx)
    }

    fn poll_rights_lost(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.listening.poll_displaced(cx).is_ready() {
            return Poll::Ready(());
        }
        self.subscription.poll_rights_lost(cx)
    }

    fn retain_allowed(&mut self, batch: &mut Batch) -> bool {
        !self.listening.is_displaced() && self.subscription.retain_allowed(batch)
    }
}
