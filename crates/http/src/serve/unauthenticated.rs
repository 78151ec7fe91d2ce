//! Connections on which no request has shown valid credentials yet, and which of them are closed to
//! make room for others.
//!
//! Each network has a share of them, which counts while connections are scarce. A connection that
//! waits for its client then makes room for a newcomer, the longest idle first, of the network with
//! the most if that is beyond its share; one for which the server is working does not, and neither
//! does one that has only just been opened or answered, so that its client has a chance to show
//! credentials. A connection leaves the registry when it becomes known, so that streams cost
//! nothing here. One caller and one organization have only so many known connections: those beyond
//! stay unknown, and make room as others do.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use eddyline_app::{KeyedSemaphore, Permit, Quota, QuotaKey, QuotaSubject, network_of};
use futures_util::task::AtomicWaker;
use http::Extensions;
use tokio::time::Instant;

/// How many unknown clients may send long heads at a time. Each takes as much memory as such a
/// head, or twice that.
const LONG_HEADS: Quota = Quota {
    network: 32,
    ..Quota::new(256, 256, 256)
};

/// What became of an attempt to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eviction {
    /// A connection is being closed.
    Evicted,
    /// There are unknown connections, but none that may be closed before this time has passed.
    NotBefore(Duration),
    /// There is no unknown connection.
    NoneLeft,
}

/// The unknown connections of one listener.
pub(super) struct UnauthenticatedConnections {
    /// The number of connections that one network may have while connections are scarce.
    share: usize,
    /// Counts the known ones.
    known: KeyedSemaphore,
    /// How long a connection is safe after it was opened or answered.
    safe_time: Duration,
    /// Connections are scarce.
    scarce: AtomicBool,
    /// How many may send long heads.
    long_heads: KeyedSemaphore,
    began: Instant,
    registry: Mutex<Registry>,
}

/// The moment since which a connection has been idle, as far as the registry knows, and its number.
type Key = (u64, u64);

#[derive(Default)]
struct Registry {
    all: BTreeMap<Key, Arc<UnauthenticatedConnection>>,
    networks: HashMap<IpAddr, BTreeSet<Key>>,
    /// The networks by the number of their connections.
    by_count: BTreeSet<(usize, IpAddr)>,
    opened: u64,
}

/// One of them.
pub(super) struct UnauthenticatedConnection {
    connections: Arc<UnauthenticatedConnections>,
    network: IpAddr,
    number: u64,
    /// The first part of its key, which only the registry changes.
    filed: AtomicU64,
    /// When it was opened, or a request was answered last.
    idle_since: AtomicU64,
    /// The server is working on a request.
    busy: AtomicBool,
    /// Held once the connection is known.
    known: OnceLock<Permit>,
    closing: AtomicBool,
    waker: AtomicWaker,
}

impl UnauthenticatedConnections {
    pub(super) fn new(share: usize, known: Quota, safe_time: Duration) -> Arc<Self> {
        Arc::new(Self {
            share,
            known: KeyedSemaphore::new(known),
            safe_time,
            scarce: AtomicBool::new(false),
            long_heads: KeyedSemaphore::new(LONG_HEADS),
            began: Instant::now(),
            registry: Mutex::default(),
        })
    }

    /// Notes whether connections are scarce, so that unknown ones are waited for less long.
    pub(super) fn set_scarce(&self, scarce: bool) {
        self.scarce.store(scarce, Relaxed);
    }

    /// Returns `true` if another connection from this address may come in. If connections are
    /// scarce and its network has its share, the longest idle connection of that network makes
    /// room.
    pub(super) fn admit(&self, address: IpAddr) -> bool {
        if !self.scarce.load(Relaxed) {
            return true;
        }
        let network = network_of(address);
        let mut registry = self.lock();
        registry.count_of(network) < self.share
            || self.evict_from(&mut registry, Some(network)) == Eviction::Evicted
    }

    /// Adds a connection, which the guard removes.
    pub(super) fn add(self: &Arc<Self>, address: IpAddr) -> Registration {
        let (network, now) = (network_of(address), self.now());
        let mut registry = self.lock();
        registry.opened += 1;
        let unknown = Arc::new(UnauthenticatedConnection {
            connections: Arc::clone(self),
            network,
            number: registry.opened,
            filed: AtomicU64::new(now),
            idle_since: AtomicU64::new(now),
            busy: AtomicBool::new(false),
            known: OnceLock::new(),
            closing: AtomicBool::new(false),
            waker: AtomicWaker::new(),
        });
        registry.insert(&unknown);
        Registration(unknown)
    }

    /// Closes the longest idle connection of the network with the most, if that is beyond its share
    /// and one of its connections may be closed; or else the longest idle of all.
    pub(super) fn evict(&self) -> Eviction {
        let mut registry = self.lock();
        let most = registry.by_count.last().copied();
        if let Some((_, network)) = most.filter(|(count, _)| *count > self.share)
            && self.evict_from(&mut registry, Some(network)) == Eviction::Evicted
        {
            return Eviction::Evicted;
        }
        self.evict_from(&mut registry, None)
    }

    /// Closes the longest idle connection of a network, or of all. Where a connection stands in the
    /// order may be out of date: it is then put where it belongs, which happens once for each of
    /// its requests at most, or once in `safe_time` while it is busy.
    fn evict_from(&self, registry: &mut Registry, network: Option<IpAddr>) -> Eviction {
        let now = self.now();
        loop {
            let Some(unknown) = registry.first(network) else {
                return Eviction::NoneLeft;
            };
            let filed = unknown.filed.load(Relaxed);
            let age = Duration::from_millis(now.saturating_sub(filed));
            if age < self.safe_time {
                return Eviction::NotBefore(self.safe_time - age);
            }
            let busy = unknown.busy.load(Relaxed);
            let idle_since = if busy {
                now
            } else {
                unknown.idle_since.load(Relaxed)
            };
            registry.remove(&unknown);
            if idle_since > filed {
                unknown.filed.store(idle_since, Relaxed);
                registry.insert(&unknown);
                continue;
            }
            if busy {
                registry.insert(&unknown);
                return Eviction::NotBefore(self.safe_time);
            }
            unknown.closing.store(true, Relaxed);
            unknown.waker.wake();
            return Eviction::Evicted;
        }
    }

    fn now(&self) -> u64 {
        self.began
            .elapsed()
            .as_millis()
            .try_into()
            .unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registry {
    fn first(&self, network: Option<IpAddr>) -> Option<Arc<UnauthenticatedConnection>> {
        let Some(network) = network else {
            return self.all.values().next().cloned();
        };
        self.all.get(self.networks.get(&network)?.first()?).cloned()
    }

    fn count_of(&self, network: IpAddr) -> usize {
        self.networks.get(&network).map_or(0, BTreeSet::len)
    }

    fn insert(&mut self, unknown: &Arc<UnauthenticatedConnection>) {
        self.all.insert(unknown.key(), Arc::clone(unknown));
        self.change(unknown.network, |keys| keys.insert(unknown.key()));
    }

    fn remove(&mut self, unknown: &UnauthenticatedConnection) {
        self.all.remove(&unknown.key());
        self.change(unknown.network, |keys| keys.remove(&unknown.key()));
    }

    fn change(&mut self, network: IpAddr, change: impl FnOnce(&mut BTreeSet<Key>) -> bool) {
        let keys = self.networks.entry(network).or_default();
        self.by_count.remove(&(keys.len(), network));
        change(keys);
        if keys.is_empty() {
            self.networks.remove(&network);
        } else {
            self.by_count.insert((keys.len(), network));
        }
    }
}

impl UnauthenticatedConnection {
    fn key(&self) -> Key {
        (self.filed.load(Relaxed), self.number)
    }

    /// The server works on a request, or waits for its client again.
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Relaxed);
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Relaxed)
    }

    /// A request was answered, as far as the server is concerned.
    pub(super) fn answered(&self) {
        self.idle_since.store(self.connections.now(), Relaxed);
        self.busy.store(false, Relaxed);
    }

    /// Whether no request has shown valid credentials yet.
    pub(super) fn is_unauthenticated(&self) -> bool {
        self.known.get().is_none()
    }

    /// Whether its client may not take as long as others, since connections are scarce.
    pub(super) fn is_hurried(&self) -> bool {
        self.connections.scarce.load(Relaxed) && self.is_unauthenticated()
    }

    /// Allows the client to send a long head, unless too many others do.
    pub(super) fn allow_long_head(&self) -> Option<Permit> {
        let network = QuotaKey::network(self.network).into();
        self.connections.long_heads.acquire(network, 1).ok()
    }

    /// Whether the connection is to make room as soon as the server is not working for it.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Relaxed) && self.is_unauthenticated()
    }

    /// Waits for the connection to be needed by others.
    pub(super) fn poll_closing(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_unauthenticated() {
            self.waker.register(cx.waker());
        }
        if self.is_closing() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// Counts the connection as one of this caller from now on, unless the caller has its share of
    /// them.
    fn mark_known(&self, owner: QuotaSubject) {
        if !self.is_unauthenticated() {
            return;
        }
        match self.connections.known.acquire(owner.quota_keys(), 1) {
            Ok(permit) => {
                if self.known.set(permit).is_ok() {
                    self.connections.lock().remove(self);
                }
            }
            Err(exceeded) => {
                tracing::debug!(?exceeded, "a connection stays among the unknown ones");
            }
        }
    }
}

/// A connection in the registry, for as long as it is open or until it is known.
pub(super) struct Registration(Arc<UnauthenticatedConnection>);

impl Registration {
    pub(super) fn connection(&self) -> &Arc<UnauthenticatedConnection> {
        &self.0
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if self.0.is_unauthenticated() {
            self.0.connections.lock().remove(&self.0);
        }
    }
}

/// The connection by which a request came, while it is unknown.
#[derive(Clone)]
pub(super) struct UnauthenticatedHandle(pub(super) Arc<UnauthenticatedConnection>);

/// Notes that a request has shown valid credentials of this caller. From now on its connection
/// counts as a known one, within the share of the caller, and its answer counts for the caller.
/// Called with the extensions of every authenticated request.
pub fn mark_authenticated(extensions: &Extensions, owner: QuotaSubject) {
    crate::response_budget::charge_to(owner);
    if let Some(UnauthenticatedHandle(unknown)) = extensions.get() {
        unknown.mark_known(owner);
    }
}
