//! Cancelling what PostgreSQL executes for a read that was given up. The thread of the read waits
//! for the answer, so the request comes from another one, over a connection of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use diesel::sql_types::{Bool, Integer};
use diesel::{PgConnection, QueryableByName, RunQueryDsl};
use eddyline_postgres_tls::Route;

use super::connect_postgres;
use crate::Result;

/// How often a read that was given up is cancelled, with a pause after each time.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// Sends requests to cancel. Clones share its connection, which is opened for the first of them.
#[derive(Clone)]
pub(crate) struct Canceller {
    route: Arc<Route>,
    connection: Arc<Mutex<Option<PgConnection>>>,
}

/// The server process that executes a read. Its connection goes to another read only after the
/// process was taken off, which waits for a request under way: none hits the statement of somebody
/// else.
#[derive(Clone)]
pub(crate) struct Backend {
    canceller: Canceller,
    process: Arc<Mutex<Option<i32>>>,
}

/// Takes the process off when the read has ended.
pub(crate) struct Executing(Backend);

impl Canceller {
    pub(crate) fn new(route: &Arc<Route>) -> Self {
        Self {
            route: route.clone(),
            connection: Arc::default(),
        }
    }

    pub(crate) fn backend(&self) -> Backend {
        Backend {
            canceller: self.clone(),
            process: Arc::default(),
        }
    }

    fn cancel(&self, process: i32) -> Result<()> {
        #[derive(QueryableByName)]
        struct Cancelled {
            #[diesel(sql_type = Bool)]
            #[expect(dead_code, reason = "it may have ended already")]
            cancelled: bool,
        }
        let mut kept = lock(&self.connection);
        let mut connection = match kept.take() {
            Some(connection) => connection,
            None => connect_postgres(&self.route)?,
        };
        diesel::sql_query("select pg_cancel_backend($1) as cancelled")
            .bind::<Integer, _>(process)
            .get_result::<Cancelled>(&mut connection)?;
        *kept = Some(connection);
        Ok(())
    }
}

impl Backend {
    /// Notes which process executes the read from now on.
    pub(crate) fn executes(&self, process: i32) -> Executing {
        *lock(&self.process) = Some(process);
        Executing(self.clone())
    }

    /// Cancels what is executed, on another thread.
    #[expect(
        clippy::disallowed_methods,
        reason = "the canceller has a thread of its own"
    )]
    pub(crate) fn give_up(&self) {
        let (backend, Ok(runtime)) = (self.clone(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        if lock(&backend.process).is_none() {
            return;
        }
        runtime.spawn_blocking(move || {
            for _ in 0..ATTEMPTS {
                if !backend.cancel() {
                    break;
                }
                std::thread::sleep(PAUSE);
            }
        });
    }

    /// Cancels what is executed now. Says whether the read may go on all the same: a process passes
    /// over a request that comes between two statements.
    fn cancel(&self) -> bool {
        let process = lock(&self.process);
        let Some(process) = *process else {
            return false;
        };
        let outcome = self.canceller.cancel(process);
        if let Err(error) = &outcome {
            // Its deadline ends it.
            tracing::debug!(%error, "a read that was given up could not be cancelled");
        }
        outcome.is_ok()
    }
}

impl Drop for Executing {
    fn drop(&mut self) {
        *lock(&self.0.process) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
