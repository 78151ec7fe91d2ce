//! How long the chaos lasts, and the seed of its chances.

use std::env;
use std::io::Write as _;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

/// Minutes that the repeated faults get together; without it everything is short.
const MINUTES: &str = "EDDYLINE_CHAOS_MINUTES";
/// A seed that an earlier run printed.
const SEED: &str = "EDDYLINE_CHAOS_SEED";

/// What this process was asked to try.
#[derive(Debug)]
pub struct Plan {
    minutes: Option<u64>,
    seed: u64,
}

/// The plan of this process, made from its environment and told on the standard error.
pub fn plan() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| {
        let number = |name| {
            env::var(name)
                .ok()
                .map(|text: String| text.parse().expect(name))
        };
        let time = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap();
        let plan = Plan {
            minutes: number(MINUTES),
            seed: number(SEED).unwrap_or(time.as_secs()),
        };
        let length = plan
            .minutes
            .map_or("short".to_owned(), |minutes| format!("{minutes} minutes"));
        let _ = writeln!(std::io::stderr(), "chaos: {length}, {SEED}={}", plan.seed);
        plan
    })
}

impl Plan {
    /// Whether there is time for more than the least.
    pub fn is_long(&self) -> bool {
        self.minutes.is_some()
    }

    /// One of two, by whether there is time.
    pub fn choose<T>(&self, short: T, long: T) -> T {
        if self.is_long() { long } else { short }
    }

    /// How long one test may take before it counts as hung.
    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.minutes.map_or(240, |minutes| 1200 + 60 * minutes))
    }

    /// How long anything may take once the faults are over. Long runs have more to list and to
    /// hear.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(90 + 5 * self.minutes.unwrap_or(0))
    }

    /// Counts the rounds of a fault: at least so many, and in a long run until its `share` of the
    /// minutes is over.
    pub fn rounds(&self, least: usize, share: f64) -> Rounds {
        let minutes = self.minutes.unwrap_or(0);
        let time = Duration::from_secs(60 * minutes).mul_f64(share);
        Rounds {
            least,
            done: 0,
            until: Instant::now() + time,
        }
    }

    /// The chances of one part of the test, by the name of the part. They are the same in every run
    /// with the same seed, as far as the machine allows.
    pub fn random(&self, part: &str) -> Random {
        // FNV-1a: different names begin at different places.
        let start = 0xcbf2_9ce4_8422_2325 ^ self.seed;
        Random(part.bytes().fold(start, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }
}

/// See [`Plan::rounds`].
#[derive(Debug)]
pub struct Rounds {
    least: usize,
    done: usize,
    until: Instant,
}

impl Rounds {
    /// Whether there is another round, which counts as done.
    pub fn another(&mut self) -> bool {
        let goes_on = self.done < self.least || Instant::now() < self.until;
        self.done += usize::from(goes_on);
        goes_on
    }

    /// How many were done.
    pub fn done(&self) -> usize {
        self.done
    }
}

/// Chances that can be had again: SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    /// Chances of their own for one of several.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.below(u64::MAX))
    }

    /// Whether what happens once in `times` happens now.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// A time below `end`.
    pub fn time_below(&mut self, end: Duration) -> Duration {
        Duration::from_micros(
            self.below(u64::try_from(end.as_micros()).expect("short enough").max(1)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_chances_and_another_name_others() {
        let plan = Plan {
            minutes: None,
            seed: 7,
        };
        let chances = |part| {
            let mut random = plan.random(part);
            (0..20).map(|_| random.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(chances("kills"), chances("kills"));
        assert_ne!(chances("kills"), chances("cuts"));
        assert!(chances("kills").iter().all(|chance| *chance < 1000));
    }

    #[test]
    fn a_short_run_does_the_least() {
        let plan = Plan {
            minutes: None,
            seed: 7,
        };
        let mut rounds = plan.rounds(3, 1.0);
        while rounds.another() {}
        assert_eq!(rounds.done(), 3);
    }
}
