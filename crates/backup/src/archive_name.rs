//! The names of archives in a place for them.

use std::fmt;
use std::str::FromStr;

use eddyline_model::Timestamp;
use eddyline_random::is_hex;
use time::OffsetDateTime;
use time::PrimitiveDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

/// In UTC, without characters that a file system or a shell minds.
const TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[year][month][day]T[hour][minute][second].[subsecond digits:3]Z");
const PREFIX: &str = "eddyline-";
/// How many hexadecimal digits the id of a series has.
pub(crate) const SERIES_DIGITS: usize = 8;
const FULL: &str = "full";
const INCREMENTAL: &str = "incremental";
const SUFFIX: &str = ".tar";
const ENCRYPTED_SUFFIX: &str = ".tar.age";
const INDEX_SUFFIX: &str = ".index";

/// What an archive has of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BackupKind {
    /// Everything.
    Full,
    /// What the archives before it do not have: it is restored together with them, back to the
    /// newest full one.
    Incremental,
}

/// The name of an archive in an [`ArchivePlace`](crate::ArchivePlace), for example
/// `eddyline-0f1e2d3c-20261120T083000.000Z-full.tar.age`. Names are ordered by their time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArchiveName {
    /// When the backup began.
    pub taken_at: Timestamp,
    /// What it has.
    pub kind: BackupKind,
    /// Whether it is encrypted.
    pub is_encrypted: bool,
    /// Whose backup it is: the id of a [`BackupSeries`](crate::BackupSeries).
    pub series: String,
}

impl ArchiveName {
    /// The name of the index beside the archive: what the next incremental backup compares with.
    pub(crate) fn index(&self) -> String {
        format!("{}{INDEX_SUFFIX}", self.stem())
    }

    fn stem(&self) -> String {
        let kind = match self.kind {
            BackupKind::Full => FULL,
            BackupKind::Incremental => INCREMENTAL,
        };
        let nanoseconds = i128::from(self.taken_at.0) * 1_000_000;
        let time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds)
            .ok()
            .and_then(|time| time.format(TIME).ok())
            .unwrap_or_default();
        format!("{PREFIX}{}-{time}-{kind}", self.series)
    }
}

impl fmt::Display for ArchiveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.is_encrypted {
            true => ENCRYPTED_SUFFIX,
            false => SUFFIX,
        };
        write!(f, "{}{suffix}", self.stem())
    }
}

/// The text is not the name of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not the name of a backup")]
pub struct InvalidArchiveName;

impl FromStr for ArchiveName {
    type Err = InvalidArchiveName;

    fn from_str(text: &str) -> Result<Self, InvalidArchiveName> {
        parse(text).ok_or(InvalidArchiveName)
    }
}

fn parse(text: &str) -> Option<ArchiveName> {
    let rest = text.strip_prefix(PREFIX)?;
    let (stem, is_encrypted) = match rest.strip_suffix(ENCRYPTED_SUFFIX) {
        Some(stem) => (stem, true),
        None => (rest.strip_suffix(SUFFIX)?, false),
    };
    let (series, stem) = stem.split_once('-')?;
    let (time, kind) = stem.split_once('-')?;
    let kind = match kind {
        FULL => BackupKind::Full,
        INCREMENTAL => BackupKind::Incremental,
        _ => return None,
    };
    let time = PrimitiveDateTime::parse(time, TIME).ok()?.assume_utc();
    let millis = i64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()?;
    let name = ArchiveName {
        taken_at: Timestamp(millis),
        kind,
        is_encrypted,
        series: is_hex(series, SERIES_DIGITS).then(|| series.to_owned())?,
    };
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_time_and_the_kind() {
        let name = ArchiveName {
            taken_at: Timestamp::parse_iso8601("2026-11-20T08:30:00.250Z").unwrap(),
            kind: BackupKind::Incremental,
            is_encrypted: true,
            series: "0f1e2d3c".to_owned(),
        };
        let text = "eddyline-0f1e2d3c-20261120T083000.250Z-incremental.tar.age";
        assert_eq!(name.to_string(), text);
        assert_eq!(text.parse(), Ok(name.clone()));
        assert_eq!(
            name.index(),
            "eddyline-0f1e2d3c-20261120T083000.250Z-incremental.index"
        );
        let text = "eddyline-0f1e2d3c-20261120T083000.250Z-full.tar";
        let full: ArchiveName = text.parse().unwrap();
        assert_eq!((full.kind, full.is_encrypted), (BackupKind::Full, false));
        assert_eq!(full.to_string(), text);
    }

    #[test]
    fn other_names_are_none() {
        for text in [
            "",
            "monday.tar.age",
            "eddyline-20261120T083000.250Z-full.tar",
            "eddyline-0f1e2d3x-20261120T083000.250Z-full.tar",
            "eddyline-0f1e2d3c-20261120T083000.250Z-incremental.index",
            "eddyline-0f1e2d3c-20261120T083000.250Z-other.tar",
            "eddyline-0f1e2d3c-20261320T083000.250Z-full.tar",
            "eddyline-0f1e2d3c-20261120T083000.250Z-full.tar.gz",
            ".eddyline-0f1e2d3c-20261120T083000.250Z-full.tar",
        ] {
            assert_eq!(
                text.parse::<ArchiveName>(),
                Err(InvalidArchiveName),
                "{text}"
            );
        }
    }
}
