//! The accounts that reads and writes count for. The store does not know what callers are: it is
//! given opaque accounts.

use std::cell::Cell;
use std::future::Future;

/// An account that reads and writes count for: a caller, or a group of callers. Equal accounts
/// share one budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BudgetKey {
    kind: u8,
    id: u128,
}

impl BudgetKey {
    /// Whatever runs outside requests.
    pub(crate) const BACKGROUND: Self = Self { kind: 0, id: 0 };
    /// Looks into the log for all who ask at the same time.
    pub(crate) const NEWS: Self = Self { kind: 0, id: 1 };

    /// The account with this number among those of its kind. Kind 0 is the store's own.
    #[must_use]
    pub const fn new(kind: u8, id: u128) -> Self {
        Self { kind, id }
    }
}

/// The caller and the group whom reads and writes count for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskBudget {
    /// The caller.
    pub caller: BudgetKey,
    /// The group of the caller.
    pub group: BudgetKey,
    /// The most reads of the caller that wait.
    pub line: usize,
}

impl TaskBudget {
    /// The budget of whatever runs outside requests: it may take longer, and its waiting line has
    /// no bound.
    pub const BACKGROUND: Self = Self {
        caller: BudgetKey::BACKGROUND,
        group: BudgetKey::BACKGROUND,
        line: usize::MAX,
    };

    /// The budget of this task: that of the request it handles, or of the background.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.try_with(Cell::get).unwrap_or(Self::BACKGROUND)
    }

    /// Runs a future whose reads and writes count for this budget, until it charges another account.
    pub fn scope<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(Cell::new(self), future)
    }

    /// Counts later reads and writes of this task for another caller and group. Outside a scope it
    /// does nothing.
    pub fn charge(self) {
        let _ = CURRENT.try_with(|current| current.set(self));
    }

    /// Counts later reads and writes of this task for another group. Outside a scope it does
    /// nothing.
    pub fn charge_group(group: BudgetKey) {
        let _ = CURRENT.try_with(|current| {
            current.set(Self {
                group,
                ..current.get()
            });
        });
    }
}

tokio::task_local! {
    static CURRENT: Cell<TaskBudget>;
}
