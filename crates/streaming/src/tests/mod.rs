//! The stream as a listener sees it, over a log in memory.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

mod amendment;
mod concurrent;
mod following;
mod quiet;
mod random;
mod replay;
mod revocation;
mod transient;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use eddyline_model::{EventId, RoomId, Seq, UserId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::{
    Amendment, Audience, Batch, Entry, Hub, HubConfig, Log, LogUnavailable, Page, ResumePoint,
    StreamFormat, SubscribeError, SubscribeRequest, Subscription, SubscriptionFilter,
};

/// A log that is a list; it can be away.
#[derive(Default)]
struct MemoryLog {
    head: Mutex<Seq>,
    entries: Mutex<Vec<Arc<Entry>>>,
    away: AtomicBool,
    /// Whether readings take a turn of the runtime.
    slow: AtomicBool,
    pages_read: AtomicUsize,
}

impl MemoryLog {
    async fn turn(&self) -> Result<(), LogUnavailable> {
        if self.slow.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        if self.away.load(Ordering::SeqCst) {
            Err(LogUnavailable)
        } else {
            Ok(())
        }
    }
}

impl Log for MemoryLog {
    fn verify(&self, id: EventId) -> BoxFuture<'_, Result<bool, LogUnavailable>> {
        async move {
            self.turn().await?;
            Ok(id.seq <= *self.head.lock().unwrap() && id.check == check_of(id.seq))
        }
        .boxed()
    }

    fn page(
        &self,
        after: Seq,
        through: Seq,
        filter: Arc<SubscriptionFilter>,
        limit: usize,
        _: Option<UserId>,
    ) -> BoxFuture<'_, Result<Page, LogUnavailable>> {
        async move {
            self.turn().await?;
            self.pages_read.fetch_add(1, Ordering::SeqCst);
            let all = self.entries.lock().unwrap();
            let fits = |e: &&Arc<Entry>| {
                e.seq() > after && e.seq() <= through && filter.admits(e.audience())
            };
            let entries: Vec<_> = all.iter().filter(fits).take(limit).cloned().collect();
            let through = if entries.len() == limit {
                entries[limit - 1].seq()
            } else {
                through
            };
            Ok(Page { entries, through })
        }
        .boxed()
    }
}

fn check_of(seq: Seq) -> u32 {
    seq.0 as u32 * 7
}

fn id(seq: i64) -> EventId {
    EventId {
        seq: Seq(seq),
        check: check_of(Seq(seq)),
    }
}

fn after(seq: i64) -> Option<ResumePoint> {
    Some(ResumePoint::After(id(seq)))
}

fn room(room: i64) -> Audience {
    Audience::Room(RoomId(room))
}

fn rooms(rooms: &[i64]) -> SubscriptionFilter {
    SubscriptionFilter::new(rooms.iter().copied().map(RoomId).collect(), None)
}

/// A ring of four entries and pages of three, so that little is needed to fall out of them.
fn small() -> HubConfig {
    HubConfig {
        ring_entries: 4,
        page_entries: 3,
        ..HubConfig::default()
    }
}

/// A hub and its log, with everything that is needed to use them in one line.
#[derive(Clone)]
struct World {
    hub: Hub,
    log: Arc<MemoryLog>,
}

impl World {
    fn new(config: HubConfig) -> Self {
        let log = Arc::new(MemoryLog::default());
        Self {
            hub: Hub::new(log.clone(), config),
            log,
        }
    }

    /// Commits an entry, and publishes it.
    fn tell(&self, audience: Audience) -> i64 {
        let (seq, entry) = self.commit(audience);
        self.hub.publish(id(seq), vec![entry]);
        seq
    }

    /// The same with an entry of so many bytes.
    fn tell_long(&self, audience: Audience, bytes: usize) {
        let seq = self.commit_control();
        let text = format!("{{\"n\":{seq},\"text\":\"{}\"}}", "x".repeat(bytes));
        let entry = Arc::new(Entry::new(id(seq), audience, text.as_bytes()));
        self.log.entries.lock().unwrap().push(entry.clone());
        self.hub.publish(id(seq), vec![entry]);
    }

    /// Commits an entry that this node has not heard of yet. It says its number.
    fn commit(&self, audience: Audience) -> (i64, Arc<Entry>) {
        let seq = self.commit_control();
        let entry = Arc::new(Entry::new(
            id(seq),
            audience,
            format!("{{\"n\":{seq}}}").as_bytes(),
        ));
        self.log.entries.lock().unwrap().push(entry.clone());
        (seq, entry)
    }

    /// Commits an entry that nobody may hear.
    fn commit_control(&self) -> i64 {
        let mut head = self.log.head.lock().unwrap();
        head.0 += 1;
        head.0
    }

    fn request(&self, filter: SubscriptionFilter, resume: Option<ResumePoint>) -> SubscribeRequest {
        SubscribeRequest {
            caller: filter.user(),
            filter,
            follows: false,
            rights: self.hub.rights_mark(),
            credential: None,
            format: StreamFormat::Json,
            resume,
            acknowledged: Seq(0),
            presence: false,
            full_detail: true,
        }
    }

    fn try_listen(&self, request: SubscribeRequest) -> Result<Subscription, SubscribeError> {
        self.hub
            .subscribe(request)
            .now_or_never()
            .expect("the log answers at once")
    }

    /// Opens a stream, and reads the keep-alive that it begins with.
    fn listen(&self, filter: SubscriptionFilter, resume: Option<ResumePoint>) -> Subscription {
        let mut stream = self.try_listen(self.request(filter, resume)).unwrap();
        assert_eq!(one(&mut stream).as_deref(), Some("\n"));
        stream
    }

    fn pages_read(&self) -> usize {
        self.log.pages_read.load(Ordering::SeqCst)
    }
}

/// The next batch, if there is one now.
fn poll(stream: &mut Subscription) -> Poll<Option<Batch>> {
    stream.poll_next(&mut Context::from_waker(Waker::noop()))
}

/// The bytes of the next batch, if there is one now.
fn one(stream: &mut Subscription) -> Option<String> {
    match poll(stream) {
        Poll::Ready(Some(batch)) => Some(String::from_utf8(batch.into_bytes().to_vec()).unwrap()),
        _ => None,
    }
}

/// The numbers of all entries that are waiting.
fn all(stream: &mut Subscription) -> Vec<i64> {
    std::iter::from_fn(|| one(stream))
        .flat_map(|text| numbers(&text))
        .collect()
}

fn numbers(text: &str) -> Vec<i64> {
    let objects = text.split("\r\n").map(str::trim).filter(|o| !o.is_empty());
    objects
        .map(|o| o[r#"{"n":"#.len()..o.len() - 1].parse().unwrap())
        .collect()
}

fn is_ended(stream: &mut Subscription) -> bool {
    matches!(poll(stream), Poll::Ready(None))
}

/// Counts how often a task is woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wakes {
    fn poll(self: &Arc<Self>, stream: &mut Subscription) -> Poll<Option<Batch>> {
        stream.poll_next(&mut Context::from_waker(&Waker::from(self.clone())))
    }

    /// How often it was woken since this was asked last.
    fn take(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn user(user: i64) -> Audience {
    Audience::User(UserId(user))
}
