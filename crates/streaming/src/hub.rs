//! Publishing entries, and subscribing to them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, RwLock};

use eddyline_model::{EventId, Seq, UserId};

use crate::amendment::Amendment;
use crate::catchup::{Log, LogUnavailable, PageCache, PageLookups};
use crate::entry::{Entry, SubscriptionFilter};
use crate::framing::StreamFormat;
use crate::listeners::{Call, Listener, Listeners, Signal};
use crate::rights::{Additions, OpenedWith, RightsMark};
use crate::ring::Ring;
use crate::shared::{HubConfig, Position, Shared, State};
use crate::subscription::{Opening, Subscription};
use crate::transient::{Transient, Transients};
use crate::wakes::Wakes;

/// Who wants to listen, to what, and from where on.
#[derive(Clone, Debug)]
pub struct SubscribeRequest {
    /// What to listen to; the caller's right to it has been checked. From here on revocations narrow
    /// it, and with `follows` [`Hub::add_room`] widens it. A stream that listens to nothing ends at
    /// once, unless it follows.
    pub filter: SubscriptionFilter,
    /// Whether it listens to each room that the caller comes into.
    pub follows: bool,
    /// When the rights were checked.
    pub rights: RightsMark,
    /// The user behind the stream, for revocations.
    pub caller: Option<UserId>,
    /// What the stream was opened with, for revocations.
    pub credential: Option<OpenedWith>,
    /// The framing.
    pub format: StreamFormat,
    /// Where to go on; `None` begins with what comes next.
    pub resume: Option<ResumePoint>,
    /// The last entry that a stream without a place to go on from does not tell, although it may
    /// not be published yet: the client has been answered about it.
    pub acknowledged: Seq,
    /// Whether presence is wanted.
    pub presence: bool,
    /// Whether the listener gets entries in full detail, see [`Entry::with_restricted`].
    pub full_detail: bool,
}

/// Where a client says it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumePoint {
    /// After this entry. Position 0 is the beginning of the log.
    After(EventId),
    /// After something that is no event id of this server: the answer is a `reset`.
    Unknown,
}

/// Why a stream cannot be opened now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubscribeError {
    /// The place to go on from is not in the ring, and the log cannot be asked.
    #[error(transparent)]
    LogUnavailable(#[from] LogUnavailable),
    /// The rights of a user changed since they were checked: check again, with a new mark.
    #[error("rights have changed since they were checked")]
    RightsChanged,
}

/// Takes entries in and lets listeners have them. A clone is the same hub.
#[derive(Clone)]
pub struct Hub {
    pub(crate) shared: Arc<Shared>,
}

enum Start {
    Live,
    At(EventId),
    Reset,
}

impl Hub {
    /// A hub that falls back to `log`. It stands before the first entry: see [`Hub::start_at`].
    #[must_use]
    pub fn new(log: Arc<dyn Log>, config: HubConfig) -> Self {
        let state = State {
            ring: Ring::new(config.ring_entries, config.ring_bytes),
            transients: Transients::default(),
            listeners: Listeners::default(),
            losses: 0,
            additions: Additions::default(),
            closed: false,
        };
        let pages = PageCache::new(log, config.page_entries);
        Self {
            shared: Arc::new(Shared {
                state: RwLock::new(state),
                pages,
                config,
                ticks: AtomicU32::new(0),
                wakes: Wakes::default(),
            }),
        }
    }

    /// Sets the position after which publishing begins; 0 at first.
    ///
    /// What stands before it is read from the log. A process that starts does well to begin some
    /// entries before the end of the log and to publish those: then the clients that all come
    /// back at once find what they missed in the ring. May also be called later, to leave a
    /// stretch out.
    pub fn start_at(&self, head: EventId) {
        let waiting: Vec<_> = {
            let mut state = self.shared.state_mut();
            state.ring.start_at(head);
            self.shared.pages.discard_all();
            let signals = state.listeners.iter().map(|(_, listener)| &listener.signal);
            signals
                .filter(|signal| signal.call(Call::News))
                .map(Arc::clone)
                .collect()
        };
        self.shared.wakes.wake(waiting);
    }

    /// Tells the next stretch of the log, which ends with `head`.
    ///
    /// `entries` is all that anybody may hear of it, in ascending order. Positions that nobody
    /// hears are left out; they count as told. What stands before the present head was told
    /// already and is passed over.
    pub fn publish(&self, head: EventId, entries: Vec<Arc<Entry>>) {
        self.publish_amended(head, entries, Vec::new());
    }

    /// As [`Hub::publish`]. In the same moment entries before this stretch are amended: a listener
    /// that hears of a change never hears afterwards what was changed.
    pub fn publish_amended(
        &self,
        head: EventId,
        entries: Vec<Arc<Entry>>,
        amendments: Vec<Amendment>,
    ) {
        let mut waiting = Vec::new();
        for amendment in &amendments {
            // Before listeners are called: one that looks for a page after its call finds none of
            // these.
            self.shared.pages.discard(&amendment.audience);
        }
        {
            let mut state = self.shared.state_mut();
            for amendment in amendments {
                state.amend(amendment);
            }
            let mut last = state.ring.head().seq;
            if head.seq < last {
                tracing::error!(head = %head.seq, present = %last, "published backwards");
                return;
            }
            for entry in entries {
                if entry.seq() <= last || entry.seq() > head.seq {
                    tracing::error!(seq = %entry.seq(), after = %last, head = %head.seq, "published out of order");
                    continue;
                }
                last = entry.seq();
                state.listeners.call(&entry, |_| true, &mut waiting);
                state.ring.push(entry);
            }
            state.ring.advance(head);
            state.release_transients(&mut waiting);
        }
        self.shared.wakes.wake(waiting);
    }

    /// Tells something that is not stored to those who listen now. It may get lost.
    pub fn publish_transient(&self, transient: Transient) {
        let mut waiting = Vec::new();
        {
            let mut state = self.shared.state_mut();
            state.transients.push(transient);
            state.release_transients(&mut waiting);
        }
        self.shared.wakes.wake(waiting);
    }

    /// The position up to which everything has been published.
    #[must_use]
    pub fn head(&self) -> EventId {
        self.shared.state().ring.head()
    }

    /// The position of the oldest entry in the ring; beyond the head when there is none. What
    /// stands before it is read from the log.
    #[must_use]
    pub fn ring_start(&self) -> Seq {
        self.shared.state().ring.start()
    }

    /// How often pages of the log were found, and how often they were read.
    #[must_use]
    pub fn page_lookups(&self) -> PageLookups {
        self.shared.pages.lookups()
    }

    /// How many streams are open.
    #[must_use]
    pub fn listeners(&self) -> usize {
        self.shared.state().listeners.len()
    }

    /// Wakes listeners some at a time, for as long as it is polled, so that a message to very many
    /// does not hold up whatever else the runtime has to do. Without it all are woken at once. To
    /// be run once, as a task or as part of one.
    pub async fn run_wakes(&self) {
        self.shared.wakes.run().await;
    }

    /// Time goes on. To be called evenly, say every 5 s; with the default of 4 quiet ticks an
    /// idle stream then says a keep-alive every 20 s, and one that fell silent after 15 to 20 s.
    /// It spares each stream a timer of its own.
    pub fn tick(&self) {
        let now = self
            .shared
            .ticks
            .fetch_add(1, Ordering::AcqRel)
            .wrapping_add(1);
        self.shared.pages.tick();
        let quiet_ticks = self.shared.config.quiet_ticks.max(1);
        let waiting: Vec<_> = {
            let state = self.shared.state();
            let signals = state.listeners.iter().map(|(_, listener)| &listener.signal);
            let quiet = signals.filter(|signal| signal.silent_since(now) >= quiet_ticks);
            quiet
                .filter(|signal| signal.call(Call::KeepAlive))
                .map(Arc::clone)
                .collect()
        };
        self.shared.wakes.wake(waiting);
    }

    /// Opens a stream.
    ///
    /// The log is asked only about a place to go on from that the ring does not know. After
    /// [`Hub::close_all`] the stream ends after its first frame: a client opens another one then, as
    /// after any stream that ends, where browsers give up after a refusal.
    ///
    /// # Errors
    /// See [`SubscribeError`].
    pub async fn subscribe(
        &self,
        request: SubscribeRequest,
    ) -> Result<Subscription, SubscribeError> {
        let start = self.find(request.resume).await?;
        let signal = Signal::new(request.presence, self.shared.now());
        let mut state = self.shared.state_mut();
        if state.has_changed(&request) && !state.closed {
            return Err(SubscribeError::RightsChanged);
        }
        let head = state.ring.head();
        let (cursor, opening, began_after) = match start {
            Start::Live => (
                head.seq.max(request.acknowledged),
                Opening::KeepAlive,
                Some(head),
            ),
            Start::At(id) => (id.seq, Opening::KeepAlive, Some(id)),
            Start::Reset => (head.seq, Opening::Reset(head), None),
        };
        let position = Position {
            cursor,
            transient: state.transients.next(),
        };
        let listens = state.closed || !request.filter.is_empty() || request.follows;
        let id = listens.then(|| {
            state.ring.add_listener(&request.filter);
            state.listeners.add(Listener {
                filter: Arc::new(request.filter),
                caller: request.caller,
                follows: request.follows,
                credential: request.credential,
                signal: Arc::clone(&signal),
            })
        });
        if let Some(id) = id.filter(|_| state.closed) {
            state.remove(id);
        }
        let detail = (request.format, request.full_detail);
        Ok(Subscription::new(
            Arc::clone(&self.shared),
            id,
            signal,
            detail,
            position,
            opening,
            began_after,
        ))
    }

    /// Where a new listener begins.
    async fn find(&self, resume: Option<ResumePoint>) -> Result<Start, LogUnavailable> {
        let id = match resume {
            None => return Ok(Start::Live),
            Some(ResumePoint::Unknown) => return Ok(Start::Reset),
            Some(ResumePoint::After(id)) => id,
        };
        let verified = self.shared.state().ring.verify(id);
        let known = match verified {
            Some(known) => known,
            None => self.shared.pages().log().verify(id).await?,
        };
        Ok(if known { Start::At(id) } else { Start::Reset })
    }
}
