//! Which archives of a place belong together, when a full one is due, and which may go.

use eddyline_model::Timestamp;

use crate::{ArchiveName, BackupKind};

/// The archives of each chain, from its full one on, in the order of the names. One backup of a
/// series is taken at a time, so an incremental one builds on those before it. One without a full
/// one before it belongs to no chain.
fn chains(ordered: &[ArchiveName]) -> impl Iterator<Item = &[ArchiveName]> {
    ordered
        .chunk_by(|_, next| next.kind == BackupKind::Incremental)
        .filter(|chain| chain[0].kind == BackupKind::Full)
}

/// The newest chain, which the next incremental backup adds to.
pub(crate) fn newest(ordered: &[ArchiveName]) -> &[ArchiveName] {
    chains(ordered).last().unwrap_or_default()
}

/// The kind of the next backup of a series: full when the newest full one has this age, in
/// milliseconds, or is of the future, since a clock that was wrong must not put it off.
#[must_use]
pub fn next_kind(ordered: &[ArchiveName], now: Timestamp, full_interval: i64) -> BackupKind {
    match newest(ordered).first() {
        Some(full) if full.taken_at <= now && full.taken_at.plus_millis(full_interval) > now => {
            BackupKind::Incremental
        }
        _ => BackupKind::Full,
    }
}

/// The archives that may go: those of all chains but the newest whose newest archive is older than
/// `kept` milliseconds.
pub(crate) fn expired(ordered: &[ArchiveName], now: Timestamp, kept: i64) -> Vec<ArchiveName> {
    let count = chains(ordered).count();
    let old = chains(ordered)
        .take(count.saturating_sub(1))
        .filter(|chain| {
            let newest = chain.last();
            newest.is_some_and(|newest| newest.taken_at.plus_millis(kept) <= now)
        });
    old.flatten().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `F3` is a full archive of the third moment, `I4` an incremental one of the fourth.
    fn archives(text: &str) -> Vec<ArchiveName> {
        let names = text.split_whitespace().map(|word| ArchiveName {
            taken_at: Timestamp(word[1..].parse().unwrap()),
            kind: match &word[..1] {
                "F" => BackupKind::Full,
                _ => BackupKind::Incremental,
            },
            is_encrypted: true,
            series: "0f1e2d3c".to_owned(),
        });
        names.collect()
    }

    #[test]
    fn a_full_one_is_due_after_its_interval() {
        let next = |text, now| next_kind(&archives(text), Timestamp(now), 10);
        assert_eq!(next("", 5), BackupKind::Full);
        assert_eq!(next("I1", 5), BackupKind::Full);
        assert_eq!(next("F1", 10), BackupKind::Incremental);
        assert_eq!(next("F1 I5", 10), BackupKind::Incremental);
        assert_eq!(next("F1 I5", 11), BackupKind::Full);
        assert_eq!(next("F1 I5 F11 I15", 20), BackupKind::Incremental);
        assert_eq!(next("F9 I10", 8), BackupKind::Full);
    }

    #[test]
    fn an_incremental_one_builds_on_the_newest_chain() {
        assert_eq!(newest(&archives("")), []);
        assert_eq!(newest(&archives("I1 I2")), []);
        assert_eq!(newest(&archives("F1 I2 F3 I4 I5")), archives("F3 I4 I5"));
    }

    #[test]
    fn a_chain_goes_as_a_whole_and_never_the_newest() {
        let gone = |text, now| expired(&archives(text), Timestamp(now), 10);
        assert_eq!(gone("F1 I2 F3", 12), archives("F1 I2"));
        assert_eq!(gone("F1 I2 F3", 11), []);
        assert_eq!(gone("F1 I2", 1000), []);
        assert_eq!(gone("F1 I2 F3 F4 I5", 14), archives("F1 I2 F3"));
        // An incremental one without its full one is left alone.
        assert_eq!(gone("I0 F1 F2", 100), archives("F1"));
    }
}
