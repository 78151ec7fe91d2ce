//! Points in time, as the wire and the store hold them.

use std::fmt;
use std::str::FromStr;

use ::time::format_description::well_known::Rfc3339;
use ::time::macros::format_description;
use ::time::{Date, OffsetDateTime};

/// A point in time in milliseconds since 1970-01-01 UTC, which is the wire's own unit
/// (specification, section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(
    /// Milliseconds since the epoch.
    pub i64,
);

impl Timestamp {
    /// The point in time `milliseconds` later.
    #[must_use]
    pub fn plus_millis(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }

    /// Reads an ISO 8601 date and time with an offset (RFC 3339); `None` when it is not one.
    #[must_use]
    pub fn parse_iso8601(text: &str) -> Option<Self> {
        let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        i64::try_from(moment.unix_timestamp_nanos() / 1_000_000)
            .ok()
            .map(Self)
    }
}

/// ISO 8601 in UTC with milliseconds and a `Z`, for example `2026-11-20T08:30:00.000Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = format_description!(
            "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z"
        );
        let text = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .ok()
            .and_then(|moment| moment.format(format).ok())
            .ok_or(fmt::Error)?;
        f.write_str(&text)
    }
}

/// A day of the calendar, written `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(Date);

/// The text is not a day of the form `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a day of the form YYYY-MM-DD")]
pub struct InvalidDay;

impl FromStr for Day {
    type Err = InvalidDay;

    fn from_str(text: &str) -> Result<Self, InvalidDay> {
        Date::parse(text, format_description!("[year]-[month]-[day]"))
            .map(Self)
            .map_err(|_| InvalidDay)
    }
}

impl Day {
    /// The day in UTC of a point in time; `None` outside the years from -9999 to 9999.
    #[must_use]
    pub fn of(moment: Timestamp) -> Option<Self> {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(moment.0) * 1_000_000)
            .ok()
            .map(|moment| Self(moment.date()))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self
            .0
            .format(format_description!("[year]-[month]-[day]"))
            .map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows: 2.2
    #[test]
    fn a_timestamp_is_written_with_milliseconds_and_z() {
        assert_eq!(
            Timestamp(1_700_000_000_007).to_string(),
            "2023-11-14T22:13:20.007Z"
        );
        assert_eq!(
            Timestamp::parse_iso8601("2023-11-14T23:13:20.007+01:00"),
            Some(Timestamp(1_700_000_000_007))
        );
        assert_eq!(Timestamp::parse_iso8601("yesterday"), None);
    }

    #[test]
    fn a_day_is_written_year_first() {
        assert_eq!(
            "2026-02-28".parse::<Day>().map(|day| day.to_string()),
            Ok("2026-02-28".to_owned())
        );
        for bad in [
            "2026-02-29",
            "28.2.2026",
            "2026-2-8",
            "",
            "2026-02-28T00:00",
        ] {
            assert_eq!(bad.parse::<Day>(), Err(InvalidDay), "{bad:?}");
        }
    }
}
