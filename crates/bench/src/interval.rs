//! A stretch of time in which something is measured: how long it was, and what it cost.

use std::time::{Duration, Instant};

use crate::Result;
use crate::process::Family;

/// A stretch that has begun.
pub(crate) struct Interval<'a> {
    server: &'a Family,
    began: Instant,
    server_cpu: Duration,
    own_cpu: Duration,
}

/// What a stretch came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// How long it was, in seconds.
    pub(crate) seconds: f64,
    /// Processor time of the server, in seconds.
    pub(crate) server: f64,
    /// Processor time of this program, in seconds.
    pub(crate) own: f64,
}

impl<'a> Interval<'a> {
    pub(crate) fn begin(server: &'a Family) -> Result<Self> {
        let (server_cpu, own_cpu) = (server.cpu()?, Family::own().cpu()?);
        Ok(Self {
            server,
            began: Instant::now(),
            server_cpu,
            own_cpu,
        })
    }

    pub(crate) fn end(self) -> Result<Spent> {
        Ok(Spent {
            seconds: self.began.elapsed().as_secs_f64(),
            server: (self.server.cpu()? - self.server_cpu).as_secs_f64(),
            own: (Family::own().cpu()? - self.own_cpu).as_secs_f64(),
        })
    }
}
