//! The newest messages of a room, encoded once for all who ask: the first thing every client wants.
//!
//! An answer is kept with the position of the log that it was read at. Before it is given again,
//! the log is asked whether anything happened in the room since: one look into an index, which sees
//! what other processes wrote as well. Requests at the same time share that look. Where the feed
//! has taken a newer message of the room, the answer is read again without it.

use std::sync::Arc;

use eddyline_model::log::{LogBody, LogItem};
use eddyline_model::messages::MessageQuery;
use eddyline_model::{RoomId, Seq};
use eddyline_storage::MessagePage;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::list::{LIST_BYTES, MessageList, MessageViews};
use crate::metrics::{CacheLookups, LookupCounts};
use crate::rooms::Room;
use crate::{Messages, Result};

/// Memory for kept answers, in bytes.
const MEMORY: u64 = 8 * 1024 * 1024;
/// About how many fit in: thirty short messages take about 20 KB.
const ROOMS: usize = 400;

/// Answers by room and limit.
pub(crate) struct Latest {
    answers: Cache<(RoomId, i64), CachedList, Weight>,
    /// The position of the last message of a room, as far as the feed has come.
    last: Cache<RoomId, Seq>,
    lookups: CacheLookups,
}

#[derive(Clone)]
struct CachedList {
    read_at: Seq,
    answer: MessageList,
}

#[derive(Clone)]
struct Weight;

impl Weighter<(RoomId, i64), CachedList> for Weight {
    fn weight(&self, _: &(RoomId, i64), kept: &CachedList) -> u64 {
        kept.answer.json.len() as u64 + 100
    }
}

impl Default for Latest {
    fn default() -> Self {
        Self {
            answers: Cache::with_weighter(ROOMS, MEMORY, Weight),
            last: Cache::new(ROOMS),
            lookups: CacheLookups::default(),
        }
    }
}

impl Latest {
    /// Notes the newest message of each room that the feed has taken. A list after it reads the
    /// room at once, and does not ask the log first.
    pub(crate) fn note(&self, items: &[LogItem]) {
        for item in items {
            if let LogBody::Message(Some(view)) = &item.body {
                self.last.insert(view.message.room, item.id.seq);
            }
        }
    }

    /// How often a kept answer could be given.
    pub(crate) fn lookups(&self) -> LookupCounts {
        self.lookups.counts()
    }

    /// The kept answer, unless the feed has taken a newer message of the room.
    fn get(&self, key: (RoomId, i64)) -> Option<CachedList> {
        let kept = self.answers.get(&key)?;
        self.last
            .get(&key.0)
            .is_none_or(|last| last <= kept.read_at)
            .then_some(kept)
    }
}

impl Messages {
    /// Lists the messages of a room that match a query. The caller must be admitted for reading. A
    /// tag may have any of its forms. Rooms whose messages have no tags ignore those of the query.
    ///
    /// # Errors
    ///
    /// [`crate::Error::unavailable`], [`crate::Error::too_many_requests`] for a search that waits
    /// too long.
    pub async fn list(&self, room: &Room, query: MessageQuery) -> Result<MessageList> {
        let latest = MessageQuery {
            limit: query.limit,
            ..MessageQuery::default()
        };
        if query == latest
            && let Some(id) = room.id()
        {
            return self.latest_messages(id, room, query).await;
        }
        let (encoder, shown, wanted) = (self.core.encoder().clone(), room.clone(), query.clone());
        let show = move |page: MessagePage| {
            MessageList::encode(&encoder, &page, &wanted, shown.reference())
        };
        let list = self.list_shown(room, query, show).await?;
        Ok(list.unwrap_or_else(MessageList::empty))
    }

    /// The same, not encoded. All of its messages together have about [`LIST_BYTES`] at most.
    ///
    /// # Errors
    ///
    /// As [`Messages::list`].
    pub async fn list_views(&self, room: &Room, query: MessageQuery) -> Result<MessageViews> {
        let list = self.list_shown(room, query, MessageViews::of).await?;
        Ok(list.unwrap_or_default())
    }

    /// `None` where no message can match.
    async fn list_shown<T: Send + 'static>(
        &self,
        room: &Room,
        mut query: MessageQuery,
        show: impl FnOnce(MessagePage) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        if !room.has_tags() {
            query.tags.clear();
        }
        let Some(id) = room.id() else {
            return Ok(None);
        };
        let Some(query) = self.resolve_query(query, room) else {
            return Ok(None);
        };
        let _permit = self.search_permit(&query).await?;
        let list = self.core.store().list(id, query, LIST_BYTES, show);
        Ok(Some(list.await?))
    }

    async fn latest_messages(
        &self,
        id: RoomId,
        room: &Room,
        query: MessageQuery,
    ) -> Result<MessageList> {
        let key = (id, query.limit);
        if let Some(kept) = self.latest.get(key)
            && !self.core.store().log_has_news(id, kept.read_at).await?
        {
            self.latest.lookups.note(true);
            return Ok(kept.answer);
        }
        self.latest.lookups.note(false);
        let (encoder, shown) = (self.core.encoder().clone(), room.clone());
        let latest = Arc::clone(&self.latest);
        let answer = self.core.store().read(move |reader| {
            // Read first: what happens meanwhile may be in the answer, but is never taken to be.
            let read_at = reader.log().find_head()?.seq;
            let page = reader.messages().list(id, &query, LIST_BYTES)?;
            let answer = MessageList::encode(&encoder, &page, &query, shown.reference());
            latest.answers.insert(
                key,
                CachedList {
                    read_at,
                    answer: answer.clone(),
                },
            );
            Ok(answer)
        });
        Ok(answer.await?)
    }
}
