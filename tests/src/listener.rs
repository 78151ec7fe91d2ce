//! A stream with patience: a test says what shall come, and fails when it does not.

use std::time::Duration;

use eddyline_client::{Client, EventStream, Json, StreamEvent, StreamRequest};
use tokio::time::timeout;

use crate::contract;

/// How long a test waits for an event that must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// An open stream of the server under test.
pub struct Listener(EventStream);

impl From<EventStream> for Listener {
    fn from(stream: EventStream) -> Self {
        Self(stream)
    }
}

impl Listener {
    /// Opens a stream, which must be granted.
    pub async fn open(client: &Client, request: &StreamRequest) -> Self {
        client.stream(request).await.unwrap().into()
    }

    /// Listens to these flows (`organization/flow`) as server-sent events.
    pub async fn to(client: &Client, flows: &[&str]) -> Self {
        Self::open(
            client,
            &flows
                .iter()
                .fold(StreamRequest::new(), |request, flow| request.flow(flow)),
        )
        .await
    }

    /// The next event, with its id. That somebody is active is passed over, since it comes at no
    /// certain point; see [`Listener::anything`].
    pub async fn next(&mut self) -> StreamEvent {
        loop {
            let event = self.anything().await;
            if !is_activity(&event) {
                return event;
            }
        }
    }

    /// The next event, whatever it is.
    pub async fn anything(&mut self) -> StreamEvent {
        let next = timeout(PATIENCE, self.0.next())
            .await
            .expect("an event comes in time");
        let event = next.expect("the stream is still open").unwrap();
        contract::check_event(&event.json);
        event
    }

    /// The next object.
    pub async fn json(&mut self) -> Json {
        self.next().await.json
    }

    /// The next object of this kind; others are passed over.
    pub async fn event(&mut self, kind: &str) -> Json {
        loop {
            let json = self.json().await;
            if json["event"] == kind {
                return json;
            }
        }
    }

    /// The texts of the chat messages up to one with the text `last`, which is among them. Other
    /// events are passed over.
    pub async fn texts_through(&mut self, last: &str) -> Vec<String> {
        let mut texts = Vec::new();
        while texts.last().is_none_or(|text| text != last) {
            let message = self.event("message").await;
            texts.push(
                message["content"]
                    .as_str()
                    .expect("chat is text")
                    .to_owned(),
            );
        }
        texts
    }

    /// Everything that still comes, until the server ends the stream or dies.
    pub async fn rest(self) -> Vec<Json> {
        self.rest_with_ids()
            .await
            .into_iter()
            .map(|event| event.json)
            .collect()
    }

    /// As [`Listener::rest`], with the events' ids.
    pub async fn rest_with_ids(mut self) -> Vec<StreamEvent> {
        let mut rest = Vec::new();
        while let Some(Ok(event)) = timeout(PATIENCE, self.0.next())
            .await
            .expect("the stream ends in time")
        {
            contract::check_event(&event.json);
            rest.push(event);
        }
        rest.retain(|event| !is_activity(event));
        rest
    }

    /// The id to continue from.
    pub fn last_event_id(&self) -> String {
        self.0
            .last_event_id()
            .expect("an event with an id has come")
            .to_owned()
    }

    /// A header of the answer.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.headers().get(name)?.to_str().ok()
    }
}

fn is_activity(event: &StreamEvent) -> bool {
    event.json["event"] == "activity.user"
}
