//! One measurement.

use std::ops::AddAssign;

use serde::Serialize;

use crate::histogram::Histogram;
use crate::interval::Spent;

/// Something that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    Posts,
    Commits,
    Lists,
    Pages,
    Searches,
    Deliveries,
    Users,
    Operations,
    StartUp,
    Resident,
    StreamMemory,
    P50,
    P99,
    ServerCpu,
    GeneratorCpu,
    GeneratorCores,
}

impl Metric {
    /// Its name, and what it is counted in.
    pub(crate) fn name_and_unit(self) -> (&'static str, &'static str) {
        match self {
            Self::Posts => ("posts", "posts/s"),
            Self::Commits => ("commits", "commits/s"),
            Self::Lists => ("lists", "lists/s"),
            Self::Pages => ("pages", "pages/s"),
            Self::Searches => ("searches", "searches/s"),
            Self::Deliveries => ("deliveries", "deliveries/s"),
            Self::Users => ("users", "users/s"),
            Self::Operations => ("operations", "operations"),
            Self::StartUp => ("start-up", "ms"),
            Self::Resident => ("resident memory", "MB"),
            Self::StreamMemory => ("memory of a stream", "bytes"),
            Self::P50 => ("p50", "ms"),
            Self::P99 => ("p99", "ms"),
            Self::ServerCpu => ("server CPU", "µs/operation"),
            Self::GeneratorCpu => ("generator CPU", "µs/operation"),
            Self::GeneratorCores => ("generator", "cores"),
        }
    }
}

/// What went wrong; all of it has to be zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Faults {
    /// Answers with another status than 2xx.
    pub(crate) refused: u64,
    /// Broken connections, and answers or messages that nobody expected.
    pub(crate) errors: u64,
    /// Messages that a listener has not got.
    pub(crate) missed: u64,
    /// Messages that a listener has got again.
    pub(crate) doubled: u64,
    /// Messages that a listener has got after a later one.
    pub(crate) disordered: u64,
}

impl Faults {
    /// Each kind with its name.
    pub(crate) fn kinds(&self) -> [(&'static str, u64); 5] {
        let Self {
            refused,
            errors,
            missed,
            doubled,
            disordered,
        } = *self;
        [
            ("refused", refused),
            ("errors", errors),
            ("missed", missed),
            ("doubled", doubled),
            ("out of order", disordered),
        ]
    }
}

impl AddAssign for Faults {
    fn add_assign(&mut self, other: Self) {
        self.refused += other.refused;
        self.errors += other.errors;
        self.missed += other.missed;
        self.doubled += other.doubled;
        self.disordered += other.disordered;
    }
}

/// What a measurement came to. The first metric is the one that matters most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) metrics: Vec<(Metric, f64)>,
    pub(crate) faults: Faults,
}

impl Sample {
    /// Of one metric.
    pub(crate) fn single(metric: Metric, value: f64) -> Self {
        Self {
            metrics: vec![(metric, value)],
            faults: Faults::default(),
        }
    }

    /// Of operations that took these times, and what a stretch of time full of them cost.
    pub(crate) fn of_operations(rate: Metric, times: &Histogram, spent: Spent) -> Self {
        let mut sample = Self::default();
        let count = times.total() as f64;
        sample.add(rate, count / spent.seconds);
        sample.add_times(times);
        if count > 0.0 {
            sample.add(Metric::ServerCpu, spent.server * 1e6 / count);
            sample.add(Metric::GeneratorCpu, spent.own * 1e6 / count);
        }
        sample.add(Metric::GeneratorCores, spent.own / spent.seconds);
        sample
    }

    pub(crate) fn add(&mut self, metric: Metric, value: f64) {
        self.metrics.push((metric, value));
    }

    /// Adds percentiles, if there is anything to take them of.
    pub(crate) fn add_times(&mut self, times: &Histogram) {
        for (metric, part) in [(Metric::P50, 0.5), (Metric::P99, 0.99)] {
            if let Some(milliseconds) = times.percentile(part) {
                self.add(metric, milliseconds);
            }
        }
    }
}
