//! Requests, one after the other, on a number of connections.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::Result;
use crate::connection::Connection;
use crate::histogram::Histogram;
use crate::interval::Interval;
use crate::plan::Plan;
use crate::process::Family;
use crate::report::{Faults, Metric, Sample};

/// How long an answer may take before it counts as missing.
const PATIENCE: Duration = Duration::from_secs(15);

/// A load to be put on a server.
pub(crate) struct Load<'a> {
    /// Where the server listens.
    pub(crate) address: SocketAddr,
    /// Its process.
    pub(crate) server: &'a Family,
    /// How many connections ask at once.
    pub(crate) connections: usize,
    /// How many different requests each connection sends in turn.
    pub(crate) variants: usize,
    /// What the rate is called.
    pub(crate) rate: Metric,
}

/// What the connections tell.
#[derive(Default)]
struct Tally {
    recording: Cell<bool>,
    stopped: Cell<bool>,
    times: RefCell<Histogram>,
    faults: RefCell<Faults>,
}

impl Load<'_> {
    /// Puts the load on the server. `request` makes the requests before the first is sent, from the
    /// number of the connection and that of the request.
    pub(crate) async fn run(
        &self,
        plan: &Plan,
        mut request: impl FnMut(usize, usize) -> Vec<u8>,
    ) -> Result<Sample> {
        let tally = Rc::new(Tally::default());
        let mut drivers = JoinSet::new();
        for number in 0..self.connections {
            let requests: Vec<_> = (0..self.variants)
                .map(|variant| request(number, variant))
                .collect();
            let connection = Connection::open(self.address).await?;
            drivers.spawn_local(drive(connection, requests, tally.clone()));
        }
        sleep(plan.warm_up).await;
        let interval = Interval::begin(self.server)?;
        tally.recording.set(true);
        sleep(plan.measured).await;
        tally.recording.set(false);
        let spent = interval.end()?;
        tally.stopped.set(true);
        let all_ended = async { while drivers.join_next().await.is_some() {} };
        if tokio::time::timeout(PATIENCE, all_ended).await.is_err() {
            tally.faults.borrow_mut().errors += drivers.len() as u64;
        }
        let times = tally.times.borrow();
        let mut sample = Sample::of_operations(self.rate, &times, spent);
        sample.faults = *tally.faults.borrow();
        Ok(sample)
    }
}

/// Asks until it is told to stop; then the last answer is waited for.
async fn drive(mut connection: Connection, requests: Vec<Vec<u8>>, tally: Rc<Tally>) {
    for request in requests.iter().cycle() {
        if tally.stopped.get() {
            return;
        }
        let asked = Instant::now();
        let answer = connection.exchange(request).await;
        if tally.recording.get() {
            tally.times.borrow_mut().add(asked.elapsed());
        }
        match answer {
            Ok(response) if response.status / 100 == 2 => {}
            Ok(_) => tally.faults.borrow_mut().refused += 1,
            Err(_) => {
                tally.faults.borrow_mut().errors += 1;
                return;
            }
        }
    }
}
