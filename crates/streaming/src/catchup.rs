//! Reading what the ring no longer has. Listeners who want the same page share one reading of it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eddyline_model::{EventId, Seq, UserId};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};

use crate::entry::{Audience, Entry, SubscriptionFilter};

/// How many pages are kept for listeners who are about to want them.
const KEPT_PAGES: usize = 32;
/// About how many bytes of pages are kept. The latest is kept whatever its size.
const KEPT_BYTES: usize = 8 << 20;

/// The log, as far as the stream has to read it. It is given to the hub by its owner.
pub trait Log: Send + Sync + 'static {
    /// Whether the log has an entry at the position of `id` that bears its check value. An entry
    /// that nobody may hear counts as well. Never asked for position 0.
    fn verify(&self, id: EventId) -> BoxFuture<'_, Result<bool, LogUnavailable>>;

    /// The entries after `after` and up to `through` that `filter` lets through, in ascending
    /// order, the first `limit` of them at most, or fewer where they are large. `through` is a
    /// position that has been published. `caller` is the user of the listener who asks first, if a
    /// user's credentials opened its stream: the work of reading may be counted for them.
    fn page(
        &self,
        after: Seq,
        through: Seq,
        filter: Arc<SubscriptionFilter>,
        limit: usize,
        caller: Option<UserId>,
    ) -> BoxFuture<'_, Result<Page, LogUnavailable>>;
}

/// A stretch of the log, as one filter sees it.
#[derive(Clone, Debug)]
pub struct Page {
    /// The entries, in ascending order.
    pub entries: Vec<Arc<Entry>>,
    /// The page is complete up to and including this position. It is always beyond the position
    /// that was asked after; when all entries were found, it is the end that was asked for.
    pub through: Seq,
}

/// The log cannot be read now. Who reads it for a stream waits and tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the log cannot be read")]
pub struct LogUnavailable;

/// A page on its way, shared by all who wait for it. It is read only while somebody waits.
pub(crate) type Reading = Shared<BoxFuture<'static, Result<Arc<Page>, LogUnavailable>>>;

/// The pages that are being read or were read lately.
pub(crate) struct PageCache {
    log: Arc<dyn Log>,
    limit: usize,
    slots: Mutex<VecDeque<Slot>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// How often a listener below the ring found the page that it needed, read or on its way, and how
/// often one had to be read for it. A listener that takes a page in several parts, each as large as
/// one write, looks for it once for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLookups {
    /// Lookups of pages that were there, or were being read for another listener.
    pub hits: u64,
    /// Pages that were read.
    pub misses: u64,
}

struct Slot {
    after: Seq,
    filter: Arc<SubscriptionFilter>,
    content: Content,
    /// How many more ticks it is kept.
    ticks: u8,
}

enum Content {
    // Not a strong reference: a reading that nobody polls any more must not sit here with what
    // it holds of the store, such as its turn in a queue.
    Reading(WeakShared<BoxFuture<'static, Result<Arc<Page>, LogUnavailable>>>),
    Read(Arc<Page>),
}

/// What a listener that is below the ring waits for.
pub(crate) enum Step {
    /// A page that is here.
    Found(Arc<Page>),
    /// A page on its way.
    Read(Reading),
    /// The log was away: the next attempt.
    Retry(Pin<Box<tokio::time::Sleep>>),
}

impl PageCache {
    pub(crate) fn new(log: Arc<dyn Log>, limit: usize) -> Arc<Self> {
        Arc::new(Self {
            log,
            limit: limit.max(1),
            slots: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        })
    }

    pub(crate) fn log(&self) -> &dyn Log {
        &*self.log
    }

    pub(crate) fn lookups(&self) -> PageLookups {
        PageLookups {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }

    /// A page with what follows `after`. One that began earlier is as good, so that a listener
    /// who took a part of a page finds the rest of it.
    pub(crate) fn look_up(
        self: &Arc<Self>,
        after: Seq,
        through: Seq,
        filter: &Arc<SubscriptionFilter>,
        caller: Option<UserId>,
    ) -> Step {
        let mut slots = self.slots();
        for slot in slots.iter().filter(|slot| slot.filter == *filter) {
            match &slot.content {
                Content::Read(page) if slot.after <= after && after < page.through => {
                    self.hits.fetch_add(1, Ordering::Relaxed);
                    return Step::Found(Arc::clone(page));
                }
                Content::Reading(reading) if slot.after == after => {
                    if let Some(reading) = reading.upgrade() {
                        self.hits.fetch_add(1, Ordering::Relaxed);
                        return Step::Read(reading);
                    }
                }
                _ => {}
            }
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let reading = Arc::clone(self)
            .read(after, through, Arc::clone(filter), caller)
            .boxed()
            .shared();
        if let Some(reading) = reading.downgrade() {
            remove(&mut slots, after, filter);
            if slots.len() == KEPT_PAGES {
                slots.pop_front();
            }
            slots.push_back(Slot {
                after,
                filter: Arc::clone(filter),
                content: Content::Reading(reading),
                ticks: 2,
            });
        }
        Step::Read(reading)
    }

    async fn read(
        self: Arc<Self>,
        after: Seq,
        through: Seq,
        filter: Arc<SubscriptionFilter>,
        caller: Option<UserId>,
    ) -> Result<Arc<Page>, LogUnavailable> {
        let page = self
            .log
            .page(after, through, Arc::clone(&filter), self.limit, caller)
            .await;
        let mut slots = self.slots();
        let Some(page) = page.ok().filter(|page| page.through > after).map(Arc::new) else {
            remove(&mut slots, after, &filter);
            return Err(LogUnavailable);
        };
        if let Some(slot) = slots
            .iter_mut()
            .find(|slot| slot.after == after && slot.filter == filter)
        {
            slot.content = Content::Read(Arc::clone(&page));
        }
        drop_old(&mut slots, after, &filter);
        Ok(page)
    }

    /// Lets old pages go: they are there for those who come at the same time, not for good.
    pub(crate) fn tick(&self) {
        self.slots().retain_mut(|slot| {
            slot.ticks = slot.ticks.saturating_sub(1);
            match &slot.content {
                Content::Reading(reading) => reading.upgrade().is_some(),
                Content::Read(_) => slot.ticks > 0,
            }
        });
    }

    /// Lets all pages go: what comes next is read anew.
    pub(crate) fn discard_all(&self) {
        self.slots().clear();
    }

    /// Lets the pages go that may hold an entry for `audience`. One that is being read now is not
    /// kept.
    pub(crate) fn discard(&self, audience: &Audience) {
        self.slots().retain(|slot| !slot.filter.admits(audience));
    }

    fn slots(&self) -> MutexGuard<'_, VecDeque<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the oldest pages go while all have too many bytes, but for the one that was read just now.
fn drop_old(slots: &mut VecDeque<Slot>, after: Seq, filter: &Arc<SubscriptionFilter>) {
    let mut bytes: usize = slots.iter().map(Slot::bytes).sum();
    slots.retain(|slot| {
        let latest = slot.after == after && slot.filter == *filter;
        let kept = bytes <= KEPT_BYTES || latest || slot.bytes() == 0;
        if !kept {
            bytes -= slot.bytes();
        }
        kept
    });
}

impl Slot {
    fn bytes(&self) -> usize {
        match &self.content {
            Content::Reading(_) => 0,
            Content::Read(page) => page.entries.iter().map(|entry| entry.size()).sum(),
        }
    }
}

fn remove(slots: &mut VecDeque<Slot>, after: Seq, filter: &Arc<SubscriptionFilter>) {
    slots.retain(|slot| slot.after != after || slot.filter != *filter);
}
