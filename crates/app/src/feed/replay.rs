//! Replays: the log as streams read it where the ring in memory no longer has what they missed.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eddyline_model::log::{LogBody, LogItem, Seq};
use eddyline_model::{EventId, UserId};
use eddyline_storage::{LogFilter, Reader, Result as StoreResult};
use eddyline_streaming::{Log, LogUnavailable, Page, SubscriptionFilter};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::Result;
use crate::charging::as_replay;
use crate::core::transaction::Database;
use crate::feed_encode::EntryEncoder;

/// About how many bytes a page for streams has at most. One entry may be larger.
const REPLAY_BYTES: usize = 512 * 1024;
/// How many entries of such a page are read at once: their number times the size of the largest
/// message is what may be in memory before they are counted.
const REPLAY_PORTION: usize = 64;
/// How long one page is looked for. What was passed over until then need not be looked at again.
const REPLAY_TIME: Duration = Duration::from_secs(1);

/// The log as streams read it when the ring no longer has what they want.
pub(crate) struct StoredLog {
    store: Database,
    entry_encoder: EntryEncoder,
}

impl StoredLog {
    pub(crate) fn new(store: Database, entry_encoder: EntryEncoder) -> Self {
        Self {
            store,
            entry_encoder,
        }
    }

    async fn read_page(
        &self,
        after: Seq,
        through: Seq,
        filter: Arc<SubscriptionFilter>,
        limit: usize,
    ) -> Result<Page> {
        let entry_encoder = self.entry_encoder.clone();
        let wanted = LogFilter {
            rooms: filter.rooms().to_vec(),
            user: filter.user(),
        };
        let page = self.store.read(move |reader| {
            let mut page = Page {
                entries: Vec::new(),
                through: after,
            };
            let mut sharing = HashMap::new();
            // Stretches with nothing for this filter are passed over here rather than handed out.
            let (mut bytes, started) = (0, Instant::now());
            let goes_on = |page: &Page, bytes| {
                page.entries.len() < limit && bytes < REPLAY_BYTES && page.through < through
            };
            while goes_on(&page, bytes) && started.elapsed() < REPLAY_TIME {
                let missing = (limit - page.entries.len()).min(REPLAY_PORTION);
                let missing = i64::try_from(missing).unwrap_or(i64::MAX);
                let next = reader
                    .log()
                    .list_page(page.through, through, &wanted, missing)?;
                for item in &next.items {
                    if bytes >= REPLAY_BYTES {
                        // The rest of the portion belongs to the next page.
                        return Ok(page);
                    }
                    page.through = item.id.seq;
                    if let (Some(user), Some(two)) = (wanted.user, private_parties(item))
                        && !may_still_read(reader, user, two, &mut sharing)?
                    {
                        continue;
                    }
                    if let Some(entry) = entry_encoder.encode(reader, item)? {
                        bytes += entry.size();
                        page.entries.push(Arc::new(entry));
                    }
                }
                page.through = next.through;
            }
            Ok(page)
        });
        Ok(page.await?)
    }
}

/// The sender and the recipient of a private message.
fn private_parties(item: &LogItem) -> Option<[UserId; 2]> {
    let LogBody::Message(Some(view)) = &item.body else {
        return None;
    };
    Some([view.message.author.user?, view.message.to?])
}

/// Whether `user`, who is one of the `two`, may still read their private messages: as long as they
/// share an organization. `known` keeps the answers for the other entries of the page.
fn may_still_read(
    reader: &mut Reader<'_>,
    user: UserId,
    two: [UserId; 2],
    known: &mut HashMap<UserId, bool>,
) -> StoreResult<bool> {
    let other = if two[0] == user { two[1] } else { two[0] };
    if other == user {
        return Ok(true);
    }
    if let Some(shares) = known.get(&other) {
        return Ok(*shares);
    }
    let shares = reader.organization_members().have_common(user, other)?;
    known.insert(other, shares);
    Ok(shares)
}

impl Log for StoredLog {
    fn verify(&self, id: EventId) -> BoxFuture<'_, std::result::Result<bool, LogUnavailable>> {
        async move {
            self.store
                .read(move |reader| reader.log().contains(id))
                .await
                .map_err(|_| LogUnavailable)
        }
        .boxed()
    }

    fn page(
        &self,
        after: Seq,
        through: Seq,
        filter: Arc<SubscriptionFilter>,
        limit: usize,
        caller: Option<UserId>,
    ) -> BoxFuture<'_, std::result::Result<Page, LogUnavailable>> {
        async move {
            let first = filter.rooms().first().copied();
            as_replay(caller, first, self.read_page(after, through, filter, limit))
                .await
                .map_err(|error| {
                    tracing::debug!(%error, "a page of the log could not be read");
                    LogUnavailable
                })
        }
        .boxed()
    }
}
