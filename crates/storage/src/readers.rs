//! Who may read when, and for how long.

use std::time::Duration;

use crate::budget::{BudgetKey, TaskBudget};
use crate::fair::{FairSemaphore, FairnessKey, LineFull, Permit, PermitLimits, Share};
use crate::{Error, Result};

/// How long a read may take that belongs to no request.
const BACKGROUND_TIME: Duration = Duration::from_secs(30);

/// The permits to read, and how long a read may take. Clones share the permits.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    semaphore: FairSemaphore<BudgetKey>,
    time: Duration,
}

impl Readers {
    /// So many reads at once: a fair share of a quarter for each caller and of a half for each
    /// group. While no other caller waits, a caller leaves a quarter free and a group an eighth.
    pub(crate) fn new(permits: usize, time: Duration) -> Self {
        let part = |of: usize, parts: usize| (permits * of / parts).max(1);
        let limits = PermitLimits {
            permits,
            caller: Share {
                fair: part(1, 4),
                most: part(3, 4),
            },
            group: Share {
                fair: part(1, 2),
                most: part(7, 8),
            },
        };
        Self {
            semaphore: FairSemaphore::new(limits),
            time,
        }
    }

    /// Waits for a permit of a budget.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyReads`] when the line of the budget is full.
    pub(crate) async fn acquire(&self, budget: TaskBudget) -> Result<Permit<BudgetKey>> {
        let key = FairnessKey {
            caller: budget.caller,
            group: budget.group,
        };
        self.semaphore
            .acquire(key, budget.line)
            .await
            .map_err(|LineFull| Error::TooManyReads)
    }

    /// Whether others wait for a permit.
    pub(crate) fn are_awaited(&self) -> bool {
        self.semaphore.is_awaited()
    }

    /// How many wait for a permit.
    pub(crate) fn waiting(&self) -> usize {
        self.semaphore.waiting()
    }

    /// How long a read of a budget may take.
    pub(crate) fn time(&self, budget: TaskBudget) -> Duration {
        if budget == TaskBudget::BACKGROUND {
            BACKGROUND_TIME
        } else {
            self.time
        }
    }
}
