//! Bounds on the searches that run at the same time. Each keeps a core busy, here or in the
//! database, so there are fewer of them than of other reads.

use std::time::Duration;

use eddyline_model::messages::MessageQuery;

use crate::charging::current_keys;
use crate::quota::{KeyedSemaphore, Permit, Quota};
use crate::{Limit, Messages, Result};

/// How long a search waits for others of its caller or organization.
const WAIT: Duration = Duration::from_secs(5);

/// Bounds on the searches that run in this process.
pub(crate) struct Searches(KeyedSemaphore);

impl Default for Searches {
    fn default() -> Self {
        Self(KeyedSemaphore::new(searches(cores())))
    }
}

fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// One search for each core; a quarter of them as the share of a caller, and half as that of an
/// organization.
fn searches(cores: u64) -> Quota {
    let total = cores.max(2);
    let caller = (total / 4).max(1);
    Quota {
        network: caller,
        ..Quota::new(total, (total / 2).max(1), caller)
    }
}

impl Messages {
    /// A permit for a search of the caller of this request. Other queries need none.
    ///
    /// # Errors
    ///
    /// [`crate::Error::too_many_requests`] when the searches of the caller or its organization take
    /// too long.
    pub(crate) async fn search_permit(&self, query: &MessageQuery) -> Result<Option<Permit>> {
        let Some(keys) = current_keys().filter(|_| query.search.is_some() || query.by.is_some())
        else {
            return Ok(None);
        };
        Ok(Some(
            self.searches
                .0
                .acquire_within(keys, 1, WAIT)
                .await
                .map_err(|exceeded| exceeded.of(Limit::Searches))?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use futures_util::FutureExt as _;

    use super::*;
    use crate::accounts::tests::World;
    use crate::as_client;

    #[test]
    fn a_caller_leaves_a_quarter_of_the_cores_to_others() {
        for (cores, total, organization, caller, reserve) in [
            (1, 2, 1, 1, 1),
            (2, 2, 1, 1, 1),
            (4, 4, 2, 1, 1),
            (16, 16, 8, 4, 4),
        ] {
            let quota = searches(cores);
            assert_eq!(
                (quota.total, quota.organization, quota.caller, quota.reserve),
                (total, organization, caller, reserve),
                "{cores} cores"
            );
        }
    }

    #[tokio::test]
    async fn searches_of_a_caller_wait_for_each_other() {
        let world = World::new().await;
        let search = MessageQuery {
            search: Some(eddyline_model::search::query("tea")),
            ..MessageQuery::default()
        };
        let begin = |last: u8, query: &MessageQuery| {
            let (app, query) = (world.app.clone(), query.clone());
            let counting = async move { app.messages().search_permit(&query).await.unwrap() };
            Box::pin(as_client(IpAddr::from([192, 0, 2, last]), counting))
        };
        let quota = searches(cores());
        let own = quota.total - quota.reserve;
        let mut held: Vec<_> = (0..own)
            .map(|_| begin(1, &search).now_or_never().unwrap())
            .collect();
        let mut waiting = begin(1, &search);
        assert!((&mut waiting).now_or_never().is_none());
        assert!(
            begin(1, &MessageQuery::default())
                .now_or_never()
                .unwrap()
                .is_none(),
            "a list needs no permit"
        );
        assert!(
            begin(2, &search).now_or_never().unwrap().is_some(),
            "another caller does not wait"
        );
        held.pop();
        assert!(waiting.await.is_some());
    }
}
