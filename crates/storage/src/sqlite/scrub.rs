//! Writing a file without what was deleted from it.

use std::time::{Duration, Instant};

use diesel::connection::{AnsiTransactionManager, SimpleConnection as _, TransactionManager as _};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer};

use super::{LOCK_PATIENCE, LOCK_PAUSE, is_locked};
use crate::Result;

#[derive(QueryableByName)]
struct SamplesRow {
    #[diesel(sql_type = Bool)]
    found: bool,
}

/// Deletes the samples of column values that `analyze` has taken; the counts stay.
pub(crate) fn delete_samples(c: &mut SqliteConnection) -> Result<()> {
    let has_samples = diesel::sql_query(
        "select exists (select 1 from sqlite_schema where name = 'sqlite_stat4') as found",
    );
    if has_samples.get_result::<SamplesRow>(c)?.found {
        super::begin(c)?;
        diesel::sql_query("delete from sqlite_stat4").execute(c)?;
        AnsiTransactionManager::commit_transaction(c)?;
    }
    Ok(())
}

/// Writes the file anew, and gives how long it waited until it could. The copy goes to a temporary
/// file, since it may not fit into memory.
#[expect(
    clippy::disallowed_methods,
    reason = "SQLite does not notify of a free lock; its calls block the thread in any case"
)]
pub(crate) fn vacuum(c: &mut SqliteConnection) -> Result<Duration> {
    c.batch_execute("pragma temp_store = file")?;
    let started = Instant::now();
    loop {
        let attempted = Instant::now();
        match c.batch_execute("vacuum") {
            Err(error) if is_locked(&error) && started.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(LOCK_PAUSE);
            }
            outcome => {
                outcome?;
                return Ok(attempted - started);
            }
        }
    }
}

#[derive(QueryableByName)]
struct Checkpoint {
    #[diesel(sql_type = Integer)]
    busy: i32,
}

/// Carries the write-ahead log over into the file and truncates it. `false` when somebody still
/// reads from it, or writes to it.
pub(crate) fn empty_log(c: &mut SqliteConnection) -> Result<bool> {
    match diesel::sql_query("pragma wal_checkpoint(truncate)").get_result::<Checkpoint>(c) {
        Ok(checkpoint) => Ok(checkpoint.busy == 0),
        Err(error) if is_locked(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
