//! Measurements of the same thing, round after round.

use super::sample::{Faults, Metric, Sample};

/// From here on the generator may be what limits a result.
const GENERATOR_BOUND: f64 = 0.9;

/// What is measured: a part of the program, what it looks at, and how hard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(super) part: &'static str,
    pub(super) subject: &'static str,
    pub(super) setting: String,
}

impl Key {
    pub(crate) fn new(
        part: &'static str,
        subject: &'static str,
        setting: impl Into<String>,
    ) -> Self {
        Self {
            part,
            subject,
            setting: setting.into(),
        }
    }
}

/// The values of one metric, by round.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(super) metric: Metric,
    pub(super) values: Vec<f64>,
}

impl Series {
    /// Median, least and greatest value.
    pub(super) fn spread(&self) -> (f64, f64, f64) {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = if sorted.len().is_multiple_of(2) {
            (sorted[middle - 1] + sorted[middle]) / 2.0
        } else {
            sorted[middle]
        };
        (median, sorted[0], sorted[sorted.len() - 1])
    }
}

/// All rounds of one measurement.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(super) key: Key,
    /// Never empty, and with the most important first.
    pub(super) series: Vec<Series>,
    pub(super) faults: Faults,
}

impl Line {
    pub(super) fn median(&self, metric: Metric) -> Option<f64> {
        self.series
            .iter()
            .find(|series| series.metric == metric)
            .map(|series| series.spread().0)
    }

    /// Whether the generator was as busy as it can be, in any round.
    pub(super) fn generator_bound(&self) -> bool {
        let cores = self
            .series
            .iter()
            .find(|series| series.metric == Metric::GeneratorCores);
        cores.is_some_and(|series| series.spread().2 >= GENERATOR_BOUND)
    }
}

/// How one line stands to another: a ratio of medians.
#[derive(Clone, Debug)]
pub(crate) struct Ratio {
    pub(super) metric: Metric,
    pub(super) against: &'static str,
    pub(super) value: f64,
}

/// Everything measured.
#[derive(Debug, Default)]
pub(crate) struct Results {
    lines: Vec<Line>,
    comparisons: Vec<(Key, Metric, &'static str)>,
}

impl Results {
    /// Adds a round of a measurement.
    pub(crate) fn add(&mut self, key: Key, sample: Sample) {
        let found = self.lines.iter().position(|line| line.key == key);
        let at = found.unwrap_or_else(|| {
            self.lines.push(Line {
                key,
                series: Vec::new(),
                faults: Faults::default(),
            });
            self.lines.len() - 1
        });
        let line = &mut self.lines[at];
        line.faults += sample.faults;
        for (metric, value) in sample.metrics {
            match line
                .series
                .iter_mut()
                .find(|series| series.metric == metric)
            {
                Some(series) => series.values.push(value),
                None => line.series.push(Series {
                    metric,
                    values: vec![value],
                }),
            }
        }
    }

    /// Asks for the ratio of a measurement to that of another subject in the same setting.
    pub(crate) fn compare(&mut self, key: Key, metric: Metric, against: &'static str) {
        let wanted = (key, metric, against);
        if !self.comparisons.contains(&wanted) {
            self.comparisons.push(wanted);
        }
    }

    /// Whether nothing went wrong.
    pub(crate) fn is_clean(&self) -> bool {
        self.lines
            .iter()
            .all(|line| line.faults == Faults::default())
    }

    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The ratios that were asked for of a line, as far as both sides were measured.
    pub(super) fn ratios(&self, line: &Line) -> Vec<Ratio> {
        let wanted = self.comparisons.iter().filter(|(key, ..)| *key == line.key);
        wanted
            .filter_map(|&(ref key, metric, against)| {
                let other = Key {
                    subject: against,
                    ..key.clone()
                };
                let other = self.lines.iter().find(|line| line.key == other)?;
                let value = line.median(metric)? / other.median(metric)?;
                value.is_finite().then_some(Ratio {
                    metric,
                    against,
                    value,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(subject: &'static str) -> Key {
        Key::new("posts", subject, "16 connections")
    }

    fn posts(rate: f64) -> Sample {
        Sample::single(Metric::Posts, rate)
    }

    #[test]
    fn rounds_of_the_same_thing_are_one_line() {
        let mut results = Results::default();
        for rate in [3.0, 1.0, 10.0] {
            results.add(key("ours"), posts(rate));
        }
        let [line] = results.lines() else {
            panic!("one line")
        };
        assert_eq!(line.series[0].spread(), (3.0, 1.0, 10.0));
    }

    #[test]
    fn the_median_of_two_lies_between_them() {
        let series = Series {
            metric: Metric::Posts,
            values: vec![4.0, 1.0],
        };
        assert_eq!(series.spread(), (2.5, 1.0, 4.0));
    }

    #[test]
    fn a_ratio_is_that_of_the_medians() {
        let mut results = Results::default();
        for (ours, theirs) in [(1.0, 2.0), (3.0, 4.0), (9.0, 5.0)] {
            results.add(key("ours"), posts(ours));
            results.add(key("theirs"), posts(theirs));
            results.compare(key("ours"), Metric::Posts, "theirs");
            results.compare(key("ours"), Metric::Posts, "nobody's");
        }
        let ratios = results.ratios(&results.lines()[0]);
        let [ratio] = &ratios[..] else {
            panic!("one ratio")
        };
        assert_eq!((ratio.against, ratio.value), ("theirs", 0.75));
    }

    #[test]
    fn one_fault_in_one_round_spoils_the_whole() {
        let mut results = Results::default();
        results.add(key("ours"), posts(1.0));
        assert!(results.is_clean());
        results.add(
            key("ours"),
            Sample {
                faults: Faults {
                    missed: 1,
                    ..Faults::default()
                },
                ..posts(1.0)
            },
        );
        assert!(!results.is_clean());
    }

    #[test]
    fn a_busy_generator_is_told() {
        let mut results = Results::default();
        for cores in [0.5, 0.95] {
            results.add(key("ours"), Sample::single(Metric::GeneratorCores, cores));
        }
        assert!(results.lines()[0].generator_bound());
    }
}
