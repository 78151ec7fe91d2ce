//! The live stream (specification, section 4, "Streaming").

mod decode;
mod event;
mod json;
mod resuming;
mod sse;

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use eddyline_wire::media_types;
use futures_util::{Stream, TryFutureExt as _};
use http::Method;
use http::header::CONTENT_TYPE;
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;

pub use decode::StreamDecoder;
pub use event::{Event, ReactionChange, StreamEvent};
pub use resuming::ResumingStream;

use crate::client::Client;
use crate::error::{ApiError, Error};

/// How the stream is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamFormat {
    /// One JSON object after the other, each ended by a carriage return.
    Json,
    /// Server-sent events, which carry ids to continue from.
    #[default]
    EventStream,
}

impl StreamFormat {
    /// The content type that asks for the format.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json => media_types::JSON,
            Self::EventStream => media_types::EVENT_STREAM,
        }
    }
}

/// What to listen to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamRequest {
    /// The flows, by id or as `organization/flow`.
    pub flows: Vec<String>,
    /// Whether the flows that the caller is in are wanted, and each that the caller comes into.
    pub joined: bool,
    /// Listens to this one flow (`organization/flow`) by its own path instead.
    pub path: Option<String>,
    /// Whether the caller's private messages are wanted.
    pub user: bool,
    /// The caller's presence: `true` or `idle`; offline without it.
    pub active: Option<String>,
    /// Whether presence events are wanted.
    pub presence: bool,
    /// Whether texts are wanted as HTML, too; with server-sent events only.
    pub html: bool,
    /// The form of the stream.
    pub format: StreamFormat,
    /// The last event seen: what came after it is sent first.
    pub last_event_id: Option<String>,
    /// Sends the format and the last event id as parameters, as a client must that cannot set
    /// headers.
    pub by_query: bool,
}

impl StreamRequest {
    /// Listens to nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens to this flow, beside those named before.
    #[must_use]
    pub fn flow(mut self, flow: &str) -> Self {
        self.flows.push(flow.to_owned());
        self
    }

    /// Listens to the flows that the caller is in, and to each that the caller comes into.
    #[must_use]
    pub fn joined(mut self) -> Self {
        self.joined = true;
        self
    }

    /// Listens to the flow `organization/flow` by its own path.
    #[must_use]
    pub fn path(mut self, flow: &str) -> Self {
        self.path = Some(flow.to_owned());
        self
    }

    /// Listens to the caller's private messages too.
    #[must_use]
    pub fn user(mut self) -> Self {
        self.user = true;
        self
    }

    /// Shows the caller as `true` (active) or `idle`.
    #[must_use]
    pub fn active(mut self, state: &str) -> Self {
        self.active = Some(state.to_owned());
        self
    }

    /// Wants texts as HTML, too.
    #[must_use]
    pub fn html(mut self) -> Self {
        self.html = true;
        self
    }

    /// Asks for the plain JSON stream.
    #[must_use]
    pub fn json(mut self) -> Self {
        self.format = StreamFormat::Json;
        self
    }

    /// Continues after this event.
    #[must_use]
    pub fn after(mut self, event_id: &str) -> Self {
        self.last_event_id = Some(event_id.to_owned());
        self
    }

    /// Sends format and last event id as parameters.
    #[must_use]
    pub fn by_query(mut self) -> Self {
        self.by_query = true;
        self
    }

    fn path_and_query(&self) -> (String, Vec<(&'static str, String)>) {
        let path = match &self.path {
            Some(flow) => format!("/flows/{flow}"),
            None => "/flows".to_owned(),
        };
        let mut query = Vec::new();
        if self.joined {
            query.push(("flows", "joined".to_owned()));
        }
        if !self.flows.is_empty() {
            query.push(("filter", self.flows.join(",")));
        }
        let mut wish = |name, is_wanted: bool| {
            query.extend(is_wanted.then(|| (name, "1".to_owned())));
        };
        wish("user", self.user);
        wish("presence", self.presence);
        wish("html", self.html);
        query.extend(self.active.clone().map(|state| ("active", state)));
        if self.by_query {
            query.push(("accept", self.format.content_type().to_owned()));
        }
        (path, query)
    }
}

impl Client {
    /// Opens a stream. It stays open until the server ends it or the value is dropped.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::Api`] for every status but 200, [`Error::NoStream`] for an answer of
    /// another content type. Wait a few seconds before trying again.
    pub async fn stream(&self, request: &StreamRequest) -> Result<EventStream, Error> {
        let (path, query) = request.path_and_query();
        let mut call = self.request_to(Method::GET, self.stream_url(), &path);
        for (name, value) in query {
            call = call.query(name, value);
        }
        if !request.by_query {
            call = call.header("accept", request.format.content_type());
        }
        // The JSON stream reads the id from the parameter only, since no header of HTTP's own
        // asks for ids inside its objects.
        if let Some(id) = &request.last_event_id {
            call = match request.format {
                StreamFormat::EventStream if !request.by_query => call.header("last-event-id", id),
                _ => call.query("last_event_id", id),
            };
        }
        let (head, body) = call.open().await?.into_parts();
        if head.status != http::StatusCode::OK {
            let body = self
                .in_time(body.collect().map_err(Error::Body))
                .await?
                .to_bytes();
            return Err(Error::Api(ApiError::read(
                head.status,
                &head.headers,
                &body,
            )));
        }
        let content_type = head
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        if content_type.split(';').next().map(str::trim) != Some(request.format.content_type()) {
            return Err(Error::NoStream {
                content_type: content_type.to_owned(),
            });
        }
        let began_after = head.headers.get("event-id");
        let began_after = began_after.and_then(|id| Some(id.to_str().ok()?.to_owned()));
        Ok(EventStream {
            headers: head.headers,
            body: Some(body),
            decoder: StreamDecoder::new(request.format),
            ready: VecDeque::new(),
            last_event_id: request.last_event_id.clone().or(began_after),
        })
    }
}

/// An open stream of events.
///
/// It ends (`None`) when the server closes it, and after its first error. It does not reconnect:
/// [`Client::follow`] gives one that does.
#[derive(Debug)]
pub struct EventStream {
    headers: http::HeaderMap,
    body: Option<Incoming>,
    decoder: StreamDecoder,
    ready: VecDeque<StreamEvent>,
    last_event_id: Option<String>,
}

impl EventStream {
    /// The next event, or `None` at the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, Error>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// The id of the last event handed out that had one; at first the one asked for, or else the one
    /// after which the server began.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// The headers of the server's answer.
    pub fn headers(&self) -> &http::HeaderMap {
        &self.headers
    }
}

impl Stream for EventStream {
    type Item = Result<StreamEvent, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.ready.pop_front() {
                if event.id.is_some() {
                    this.last_event_id.clone_from(&event.id);
                }
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(body) = &mut this.body else {
                return Poll::Ready(None);
            };
            let error = match ready!(Pin::new(body).poll_frame(cx)) {
                None => {
                    this.body = None;
                    continue;
                }
                Some(Err(error)) => Error::Body(error),
                Some(Ok(frame)) => match frame.into_data() {
                    Err(_trailers) => continue,
                    Ok(chunk) => match this.decoder.push(&chunk, &mut this.ready) {
                        Ok(()) => continue,
                        Err(malformed) => Error::Stream(malformed),
                    },
                },
            };
            this.body = None;
            return Poll::Ready(Some(Err(error)));
        }
    }
}
