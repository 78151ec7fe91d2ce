//! The newest messages of a room, encoded once for all who ask: the first thing every client wants.
//!
//! An answer is kept with the position of the log that it was read at. Before it is given again, the
//! log is asked whether anything happened in the room since: one look into an index, which sees what
//! other processes wrote as well.

use std::sync::Arc;

use bytes::Bytes;
use eddyline_model::messages::{MessageQuery, MessageView};
use eddyline_model::{RoomId, Seq};
use eddyline_wire::Place;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::find::resolve_tags;
use crate::rooms::Room;
use crate::{App, Result};

/// Memory for kept answers, in bytes.
const MEMORY: u64 = 8 * 1024 * 1024;
/// About how many fit in: thirty short messages take about 20 KB.
const ROOMS: usize = 400;

/// Answers by room and limit.
pub(crate) struct Latest(Cache<(RoomId, i64), Kept, Weight>);

#[derive(Clone)]
struct Kept {
    read_at: Seq,
    answer: Bytes,
}

#[derive(Clone)]
struct Weight;

impl Weighter<(RoomId, i64), Kept> for Weight {
    fn weight(&self, _: &(RoomId, i64), kept: &Kept) -> u64 {
        kept.answer.len() as u64 + 100
    }
}

impl Default for Latest {
    fn default() -> Self {
        Self(Cache::with_weighter(ROOMS, MEMORY, Weight))
    }
}

impl App {
    /// The matches of a query in a room that the caller may read, ascending by number, as a JSON array.
    /// Tags may come in any form.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Unavailable`].
    pub async fn list_messages(&self, room: &Room, query: MessageQuery) -> Result<Bytes> {
        if query == (MessageQuery { limit: query.limit, ..MessageQuery::default() }) {
            return self.latest_messages(room, query).await;
        }
        let (encoder, flow) = (self.encoder().clone(), room.flow.id.clone());
        let show = move |found: &[MessageView]| encoder.messages(found, Place::Flow(&flow)).into();
        match resolve_tags(query, room) {
            Some(query) => Ok(self.store().find(room.id(), query, show).await?),
            None => Ok(show(&[])),
        }
    }

    async fn latest_messages(&self, room: &Room, query: MessageQuery) -> Result<Bytes> {
        let key = (room.id(), query.limit);
        let kept = self.inner.latest.0.get(&key);
        let (encoder, flow) = (self.encoder().clone(), room.flow.id.clone());
        let inner = Arc::clone(&self.inner);
        let answer = self.store().read(move |session| {
            if let Some(kept) = kept
                && !session.log_has_news(key.0, kept.read_at)?
            {
                return Ok(kept.answer);
            }
            // Read first: what happens meanwhile may be in the answer, but is never taken to be.
            let read_at = session.log_head()?.seq;
            let found = session.find_messages(key.0, &query)?;
            let views = session.views(key.0, found)?;
            let answer = Bytes::from(encoder.messages(&views, Place::Flow(&flow)));
            inner.latest.0.insert(key, Kept { read_at, answer: answer.clone() });
            Ok(answer)
        });
        Ok(answer.await?)
    }
}
