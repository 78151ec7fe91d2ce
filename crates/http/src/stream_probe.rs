//! A stream without credentials that ends by itself, by which an operator sees what the proxies in
//! front of the server do: whether they pass bytes on as they are sent, and tell who asks.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde::Serialize;
use tokio::time::{Sleep, sleep};

use crate::answer::Answer;
use crate::context::RequestContext;
use crate::forwarded::ForwardedState;
use crate::media;
use crate::requester::Anybody;
use crate::serve::{FrameSource, stream};
use crate::stream::NO_BUFFERING;

/// The events after the first, each with the time before it. A proxy passes the first one on with the
/// head of the answer, whatever it does to others; it shows by the time between these two whether it
/// holds events back.
const LATER: [(Duration, &str); 2] = [
    (Duration::from_millis(250), "event: sent\ndata: {}\n\n"),
    (Duration::from_millis(500), "event: end\ndata: {}\n\n"),
];

/// What the first event tells.
#[derive(Serialize)]
struct ProbeEvent {
    forwarded: ForwardedState,
}

pub(crate) async fn probe(ctx: RequestContext<Anybody>) -> Answer {
    let event = ProbeEvent {
        forwarded: ctx.forwarded(),
    };
    let data = serde_json::to_string(&event)
        .map_err(|error| eddyline_app::Error::internal(error.to_string()))?;
    let mut response = stream(ProbeFrames::new(&data));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media::in_utf8(media::EVENT_STREAM));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}

/// The events.
struct ProbeFrames {
    first: Option<String>,
    later: std::array::IntoIter<(Duration, &'static str), { LATER.len() }>,
    /// The next of those, once its time has come.
    waiting: Option<(Pin<Box<Sleep>>, &'static str)>,
    is_chunked: bool,
}

impl ProbeFrames {
    fn new(data: &str) -> Self {
        Self {
            first: Some(format!("event: probe\ndata: {data}\n\n")),
            later: LATER.into_iter(),
            waiting: None,
            is_chunked: false,
        }
    }

    /// Waits for the time of the next event.
    fn wait_for_next(&mut self) {
        #[expect(
            clippy::disallowed_methods,
            reason = "by the time between events a client tells whether they were held back"
        )]
        let wait = |(time, text)| (Box::pin(sleep(time)), text);
        self.waiting = self.later.next().map(wait);
    }

    fn frame(&self, text: &str) -> Bytes {
        match self.is_chunked {
            true => format!("{:x}\r\n{text}\r\n", text.len()).into(),
            false => text.to_owned().into(),
        }
    }
}

impl FrameSource for ProbeFrames {
    type Batch = Bytes;

    fn use_chunks(&mut self) {
        self.is_chunked = true;
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            self.wait_for_next();
            return Poll::Ready(Some(self.frame(&first)));
        }
        let Some((time, text)) = &mut self.waiting else {
            return Poll::Ready(None);
        };
        ready!(time.as_mut().poll(cx));
        let text = *text;
        self.wait_for_next();
        Poll::Ready(Some(self.frame(text)))
    }

    fn poll_rights_lost(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    fn retain_allowed(&mut self, _: &mut Bytes) -> bool {
        true
    }
}
