//! A bound on the memory that bodies of unknown callers take together.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use eddyline_app::{Quota, QuotaKey};
use http_body::{Body as _, Frame, SizeHint};

/// What the body of any caller may take without being counted: no more than the connection takes
/// anyway. So signing in works also while the budget is used up.
const FREE_BYTES: usize = 4 * 1024;

/// The share of one network is one part in so many of the budget.
const NETWORK_PART: u64 = 8;

/// How many bytes the bodies of unknown callers may take together. Clones share the bound.
#[derive(Clone, Debug)]
pub struct BodyBudget(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    quota: Quota,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    bytes: u64,
    networks: BTreeMap<QuotaKey, u64>,
}

/// The budget for bodies of unknown callers is used up, or the share of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many request bodies are on their way")]
pub(super) struct BudgetExceeded;

impl BodyBudget {
    /// A budget of so many bytes, of which one network has an eighth as its share.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let total = bytes as u64;
        Self(Arc::new(Budget {
            quota: Quota {
                network: total / NETWORK_PART,
                ..Quota::new(total, total, total)
            },
            used: Mutex::default(),
        }))
    }

    /// Counts a body from this address, at most `limit` bytes of it: more is never in memory. It
    /// counts until the reservation is dropped, and the body too. A body for which the budget has
    /// no room breaks off, which [`read_body`](super::read_body) reports as
    /// [`BodyError::Overloaded`](super::BodyError::Overloaded).
    pub fn count(&self, body: Body, address: IpAddr, limit: usize) -> (Body, BodyReservation) {
        let reservation = Arc::new(Reservation {
            budget: Arc::clone(&self.0),
            network: QuotaKey::network(address),
            bytes: AtomicUsize::new(0),
        });
        let counted = Counted {
            body,
            arrived: 0,
            limit,
            reservation: Arc::clone(&reservation),
        };
        (
            Body::new(counted),
            BodyReservation {
                _reservation: reservation,
            },
        )
    }

    /// Bytes that are counted at present.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.0.used().bytes
    }
}

impl Budget {
    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a body counted for as long as it is in memory.
#[derive(Debug)]
pub struct BodyReservation {
    _reservation: Arc<Reservation>,
}

#[derive(Debug)]
struct Reservation {
    budget: Arc<Budget>,
    network: QuotaKey,
    bytes: AtomicUsize,
}

impl Reservation {
    fn grow_to(&self, bytes: usize) -> Result<(), BudgetExceeded> {
        let more = bytes.saturating_sub(self.bytes.load(Relaxed));
        if more == 0 {
            return Ok(());
        }
        let (quota, more) = (&self.budget.quota, more as u64);
        let mut used = self.budget.used();
        let of_network = used.networks.get(&self.network).copied();
        let of_network = of_network.unwrap_or_default();
        if !quota.admits(self.network, of_network, used.bytes, more)
            || used.bytes + more > quota.total
        {
            return Err(BudgetExceeded);
        }
        used.bytes += more;
        used.networks.insert(self.network, of_network + more);
        self.bytes.store(bytes, Relaxed);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let bytes = self.bytes.load(Relaxed) as u64;
        if bytes == 0 {
            return;
        }
        let mut used = self.budget.used();
        used.bytes -= bytes;
        if let Some(of_network) = used.networks.get_mut(&self.network) {
            *of_network -= bytes;
            if *of_network == 0 {
                used.networks.remove(&self.network);
            }
        }
    }
}

struct Counted {
    body: Body,
    arrived: usize,
    limit: usize,
    reservation: Arc<Reservation>,
}

impl Counted {
    /// What the body takes: as much as it announced, since there is a buffer for all of it, or up
    /// to twice of what has come.
    fn taken(&self) -> usize {
        let all = match self.body.size_hint().exact() {
            Some(rest) => self
                .arrived
                .saturating_add(usize::try_from(rest).unwrap_or(usize::MAX)),
            None => self.arrived.saturating_mul(2),
        };
        all.min(self.limit)
    }
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.arrived += data.len();
            let taken = self.taken();
            if taken > FREE_BYTES
                && let Err(error) = self.reservation.grow_to(taken)
            {
                return Poll::Ready(Some(Err(axum::Error::new(error))));
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Whether a body broke off because there was no room for it.
pub(super) fn is_exceeded(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<BudgetExceeded>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;

    use super::*;
    use crate::serve::{BodyError, BodyLimit, read_body};

    const KIB: usize = 1024;

    /// Reads a body that announces its length and comes from this host.
    async fn announced(
        budget: &BodyBudget,
        host: u8,
        bytes: usize,
    ) -> Result<(Bytes, BodyReservation), BodyError> {
        let (body, reservation) =
            budget.count(vec![0; bytes].into(), [192, 0, 2, host].into(), 128 * KIB);
        Ok((read_body(body, BodyLimit::default()).await?, reservation))
    }

    #[tokio::test]
    async fn a_small_body_is_read_also_when_the_budget_is_used_up() {
        let budget = BodyBudget::new(0);
        announced(&budget, 1, FREE_BYTES).await.unwrap();
        assert_eq!(
            announced(&budget, 1, FREE_BYTES + 1).await.err(),
            Some(BodyError::Overloaded)
        );
    }

    #[tokio::test]
    async fn one_network_leaves_a_quarter_of_the_budget_to_others_until_its_bodies_are_dropped() {
        let budget = BodyBudget::new(80 * KIB);
        let mut held = Vec::new();
        for _ in 0..6 {
            held.push(announced(&budget, 1, 10 * KIB).await.unwrap());
        }
        assert_eq!(
            announced(&budget, 1, 5 * KIB).await.err(),
            Some(BodyError::Overloaded)
        );
        let _other = announced(&budget, 2, 10 * KIB).await.unwrap();
        assert_eq!(
            announced(&budget, 2, 5 * KIB).await.err(),
            Some(BodyError::Overloaded),
            "an eighth is the share of a network"
        );
        held.pop();
        held.pop();
        announced(&budget, 1, 5 * KIB).await.unwrap();
        drop(held);
        assert_eq!(budget.used(), 10 * 1024);
    }

    #[tokio::test]
    async fn all_networks_together_have_the_budget() {
        let budget = BodyBudget::new(80 * KIB);
        let mut held = Vec::new();
        for host in 1..=8 {
            held.push(announced(&budget, host, 10 * KIB).await.unwrap());
        }
        assert_eq!(
            announced(&budget, 9, 5 * KIB).await.err(),
            Some(BodyError::Overloaded)
        );
        held.pop();
        announced(&budget, 9, 10 * KIB).await.unwrap();
    }

    #[tokio::test]
    async fn a_body_without_a_length_counts_twice_as_it_grows_up_to_its_limit() {
        let budget = BodyBudget::new(8 * 128 * KIB);
        for (chunks, counted) in [(3, 6 * KIB), (64, 128 * KIB), (100, 128 * KIB)] {
            let chunks =
                stream::iter((0..chunks).map(|_| Ok::<_, Infallible>(Bytes::from(vec![0; KIB]))));
            let (body, reservation) =
                budget.count(Body::from_stream(chunks), [192, 0, 2, 1].into(), 128 * KIB);
            read_body(body, BodyLimit::default()).await.unwrap();
            assert_eq!(budget.used(), counted as u64);
            drop(reservation);
            assert_eq!(budget.used(), 0);
        }
    }
}
