//! How often caches had what was asked of them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;

use crate::App;

/// The lookups of one cache.
#[derive(Debug, Default)]
pub(crate) struct CacheLookups {
    hits: Apart,
    misses: Apart,
}

/// A counter that shares no cache line with anything else. Every lookup writes it, and on the same
/// line that would take what all cores read, such as the fields of its cache, away from them. Some
/// processors fetch lines of 64 bytes in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart(AtomicU64);

impl CacheLookups {
    pub(crate) fn note(&self, is_hit: bool) {
        let counter = if is_hit { &self.hits } else { &self.misses };
        counter.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> LookupCounts {
        LookupCounts {
            hits: self.hits.0.load(Ordering::Relaxed),
            misses: self.misses.0.load(Ordering::Relaxed),
        }
    }
}

/// How many lookups found something that could be used, and how many did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LookupCounts {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

/// Asks the caches when the metrics are read.
pub(super) struct CacheCollector(App);

impl CacheCollector {
    pub(super) fn new(app: &App) -> Self {
        Self(app.clone())
    }

    /// The counts of each cache, by the name that its label has.
    fn counts(&self) -> Vec<(&'static str, LookupCounts)> {
        let app = &self.0;
        let pages = app.core().hub.page_lookups();
        let pages = LookupCounts {
            hits: pages.hits,
            misses: pages.misses,
        };
        let mut counts = vec![
            ("passwords", app.authentication().password_lookups.counts()),
            ("latest_messages", app.messages().latest.lookups()),
            ("log_pages", pages),
        ];
        counts.extend(app.authentication().callers.lookups());
        counts.extend(app.rooms().cache.lookups());
        counts
    }
}

impl Collector for CacheCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let counts = self.counts();
        let mut counter = |name, help, of: fn(&LookupCounts) -> u64| -> fmt::Result {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (cache, counts) in &counts {
                let labels = [("cache", *cache)];
                ConstCounter::new(of(counts)).encode(family.encode_family(&labels)?)?;
            }
            Ok(())
        };
        counter(
            "cache_hits",
            "Lookups that a cache answered; in log_pages, one for each part of a page.",
            |counts| counts.hits,
        )?;
        counter(
            "cache_misses",
            "Lookups that a cache did not answer.",
            |counts| counts.misses,
        )
    }
}

impl fmt::Debug for CacheCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CacheCollector")
    }
}
