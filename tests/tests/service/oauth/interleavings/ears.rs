//! Streams that were opened with access tokens.

use std::time::Duration;

use eddyline_client::{Error, EventStream, StatusCode, StreamRequest};
use tokio::time::timeout;

use super::deeds::short;
use super::nodes::{FLOW, Node};
use super::world::World;

/// How long something may take that must come.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Ear {
    token: String,
    /// The number of the process that it is open at.
    pub(super) at: usize,
    stream: EventStream,
}

impl Ear {
    /// Opens a stream; `None` when the token is not taken.
    pub(super) async fn open(node: &Node, at: usize, token: String) -> Option<Self> {
        match node
            .with(&token)
            .stream(&StreamRequest::new().flow(FLOW))
            .await
        {
            Ok(stream) => Some(Self { token, at, stream }),
            Err(Error::Api(refusal)) if refusal.status == StatusCode::UNAUTHORIZED => None,
            Err(error) => panic!("a stream with {}: {error}", short(&token)),
        }
    }

    /// Whether the token may still be used.
    pub(super) fn may_listen(&self, world: &World) -> bool {
        world.is_usable(&self.token)
    }

    /// Waits for this text.
    pub(super) async fn hears(&mut self, text: &str) {
        let heard = timeout(PATIENCE, self.reads_to(text)).await;
        assert_eq!(
            heard,
            Ok(true),
            "the stream with {}, which may be used, ended",
            short(&self.token)
        );
    }

    /// Waits for the end, before which this text must not come.
    pub(super) async fn ends_without(mut self, text: &str) {
        let heard = timeout(PATIENCE, self.reads_to(text)).await;
        assert_eq!(
            heard,
            Ok(false),
            "the stream with {}, which is dead, went on",
            short(&self.token)
        );
    }

    /// Whether the text came; otherwise the stream ended.
    async fn reads_to(&mut self, text: &str) -> bool {
        while let Some(Ok(event)) = self.stream.next().await {
            if event.json["content"] == text {
                return true;
            }
        }
        false
    }
}
