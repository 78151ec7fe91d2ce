//! How long things took, in little memory and to better than two in a hundred.

use std::time::Duration;

/// Each doubling of the time is cut into so many steps.
const STEPS: usize = 64;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Enough for an hour, in nanoseconds.
const DOUBLINGS: usize = 37;

/// A count for each range of times.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; STEPS * DOUBLINGS],
            total: 0,
        }
    }
}

impl Histogram {
    /// Notes a time.
    pub(crate) fn add(&mut self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let range = range_of(nanoseconds).min(self.counts.len() - 1);
        self.counts[range] += 1;
        self.total += 1;
    }

    /// How many times were noted.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The time that this part of all times, 0 to 1, did not exceed; in milliseconds. `None` when
    /// nothing was noted.
    pub(crate) fn percentile(&self, part: f64) -> Option<f64> {
        let wanted = ((self.total as f64 * part).ceil() as u64).max(1);
        let mut seen = 0;
        let range = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        Some(end_of(range) as f64 / 1e6)
    }
}

fn range_of(value: u64) -> usize {
    if value < STEPS as u64 {
        return value as usize;
    }
    let doubling = value.ilog2() - STEP_BITS;
    let step = (value >> doubling) as usize - STEPS;
    (doubling as usize + 1) * STEPS + step
}

/// The largest value of a range.
fn end_of(range: usize) -> u64 {
    if range < STEPS {
        return range as u64;
    }
    let doubling = range / STEPS - 1;
    let step = range % STEPS + STEPS;
    ((step as u64 + 1) << doubling) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_where_the_next_begins() {
        for range in 0..STEPS * DOUBLINGS - 1 {
            assert_eq!(range_of(end_of(range)), range);
            assert_eq!(range_of(end_of(range) + 1), range + 1);
        }
    }

    #[test]
    fn percentiles_are_right_to_two_in_a_hundred() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|micros| histogram.add(Duration::from_micros(micros)));
        for (part, expected) in [(0.5, 0.5), (0.99, 0.99), (1.0, 1.0)] {
            let found = histogram.percentile(part).unwrap();
            assert!(
                (expected..expected * 1.02).contains(&found),
                "{part}: {found}"
            );
        }
        assert_eq!(histogram.total(), 1000);
    }

    #[test]
    fn nothing_has_no_percentile_and_an_age_is_the_longest() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(0.5), None);
        histogram.add(Duration::from_secs(1_000_000));
        assert!(histogram.percentile(0.5).unwrap() > 3_600_000.0);
    }
}
