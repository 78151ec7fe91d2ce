//! What the disk can do: one row, one commit, no network.

use std::path::Path;
use std::time::Instant;

use super::database;
use crate::Result;
use crate::histogram::Histogram;
use crate::plan::Plan;
use crate::report::{Metric, Sample};

const TEXT: &str = "sixty bytes or so, which is what people say on the average";

/// Commits for as long as a measurement takes. The thread is blocked meanwhile.
pub(crate) fn commits(database: &Path, plan: &Plan) -> Result<Sample> {
    let mut connection = database::open(database)?;
    let mut times = Histogram::default();
    let began = Instant::now();
    while began.elapsed() < plan.warm_up + plan.measured {
        let one = Instant::now();
        connection.immediate_transaction(|connection| database::insert(connection, TEXT))?;
        if one.duration_since(began) >= plan.warm_up {
            times.add(one.elapsed());
        }
    }
    let seconds = (began.elapsed() - plan.warm_up).as_secs_f64();
    let mut sample = Sample::default();
    sample.add(Metric::Commits, times.total() as f64 / seconds);
    sample.add_times(&times);
    Ok(sample)
}
