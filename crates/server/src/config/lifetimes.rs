//! Values of the options about OAuth: how long something lives, switches, and a key.

use std::fmt;

use eddyline_model::deletion::{GracePeriod, MAX_GRACE_DAYS};

use super::values::{HIDDEN, Value};

const DAY_SECONDS: i64 = 24 * 3600;

/// How long something lives: a number with a unit, `s`, `m`, `h` or `d`; without one, seconds. At
/// least a second, at most ten years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lifetime {
    seconds: i64,
}

impl Lifetime {
    const MAX_SECONDS: i64 = 10 * 366 * 24 * 3600;

    pub(crate) fn millis(self) -> i64 {
        self.seconds * 1000
    }
}

impl Value for Lifetime {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is not a time such as 90s, 10m, 2h or 90d, of ten years at most");
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "" | "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 24 * 3600,
            _ => return Err(wrong()),
        };
        let seconds = digits
            .parse::<u32>()
            .ok()
            .and_then(|number| i64::from(number).checked_mul(unit));
        match seconds {
            Some(seconds @ 1..=Self::MAX_SECONDS) => Ok(Self { seconds }),
            _ => Err(wrong()),
        }
    }
}

/// How long a code lives: at most ten minutes (RFC 6749, section 4.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeLifetime(Lifetime);

impl CodeLifetime {
    pub(crate) fn millis(self) -> i64 {
        self.0.millis()
    }
}

impl Value for CodeLifetime {
    fn parse(text: &str) -> Result<Self, String> {
        let lifetime = Lifetime::parse(text)?;
        if lifetime.seconds > 600 {
            return Err(format!(
                "{text:?} is too long; a code lives ten minutes at most"
            ));
        }
        Ok(Self(lifetime))
    }
}

/// How long a record of the audit log is kept: at least a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordLifetime(Lifetime);

impl RecordLifetime {
    pub(crate) fn days(self) -> u32 {
        u32::try_from(self.0.seconds / DAY_SECONDS).unwrap_or(u32::MAX)
    }
}

impl Value for RecordLifetime {
    fn parse(text: &str) -> Result<Self, String> {
        let lifetime = Lifetime::parse(text)?;
        if lifetime.seconds < DAY_SECONDS {
            return Err(format!(
                "{text:?} is too short; a record is kept for a day at least"
            ));
        }
        Ok(Self(lifetime))
    }
}

/// How long a deletion waits that an administrator requests: at least a day, so that the other
/// administrators have time to cancel it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeletionGrace(pub(crate) GracePeriod);

impl Value for DeletionGrace {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse::<GracePeriod>() {
            Ok(grace) if !grace.is_none() => Ok(Self(grace)),
            _ => Err(format!(
                "{text:?} is not a number of days from 1d to {MAX_GRACE_DAYS}d"
            )),
        }
    }
}

/// How long a link to a file is good. Stores take seven days at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkLifetime(Lifetime);

impl LinkLifetime {
    /// In milliseconds.
    pub(crate) fn millis(self) -> i64 {
        self.0.millis()
    }
}

impl Value for LinkLifetime {
    fn parse(text: &str) -> Result<Self, String> {
        let lifetime = Lifetime::parse(text)?;
        if lifetime.seconds > 7 * 24 * 3600 {
            return Err(format!(
                "{text:?} is too long; a link is good for seven days at most"
            ));
        }
        Ok(Self(lifetime))
    }
}

/// Something that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switch(pub(crate) bool);

impl Value for Switch {
    const ALONE: Option<&'static str> = Some("on");
    const BOOLEAN: bool = true;

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "on" | "true" | "1" => Ok(Self(true)),
            "off" | "false" | "0" => Ok(Self(false)),
            _ => Err(format!("{text:?} is neither on nor off")),
        }
    }
}

/// What the key for secrets is made of. It is not printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SecretKey(String);

impl SecretKey {
    /// The text itself; keep it out of the log.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl Value for SecretKey {
    fn parse(text: &str) -> Result<Self, String> {
        if text.len() < eddyline_auth::SealingKey::MIN_BYTES {
            return Err(format!(
                "has fewer than {} characters",
                eddyline_auth::SealingKey::MIN_BYTES
            ));
        }
        Ok(Self(text.to_owned()))
    }

    fn shown(_: &str) -> String {
        HIDDEN.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_has_a_unit() {
        for (text, seconds) in [
            ("2s", 2),
            ("10m", 600),
            ("2h", 7200),
            ("90d", 7_776_000),
            ("30", 30),
            ("3660d", 316_224_000),
        ] {
            assert_eq!(Lifetime::parse(text), Ok(Lifetime { seconds }), "{text}");
        }
        for bad in [
            "",
            "0s",
            "-1s",
            "h",
            "2 h",
            "2w",
            "1.5h",
            "2hours",
            "3661d",
            "99999999999s",
        ] {
            assert!(Lifetime::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_code_lives_ten_minutes_at_most() {
        assert_eq!(
            CodeLifetime::parse("10m").map(CodeLifetime::millis),
            Ok(600_000)
        );
        assert!(CodeLifetime::parse("601s").is_err());
    }

    #[test]
    fn a_link_is_good_for_seven_days_at_most() {
        assert_eq!(
            LinkLifetime::parse("7d").map(LinkLifetime::millis),
            Ok(604_800_000)
        );
        assert!(LinkLifetime::parse("8d").is_err());
    }

    #[test]
    fn a_deletion_waits_for_a_day_at_least_and_a_year_at_most() {
        for text in ["1d", "30d", "365d"] {
            assert!(DeletionGrace::parse(text).is_ok(), "{text}");
        }
        for text in ["0d", "366d", "12h", "30", ""] {
            let wrong = DeletionGrace::parse(text).unwrap_err();
            assert!(wrong.contains("from 1d to 365d"), "{wrong}");
        }
    }

    #[test]
    fn a_switch_is_on_or_off() {
        assert_eq!(
            (Switch::parse("on"), Switch::parse("false")),
            (Ok(Switch(true)), Ok(Switch(false)))
        );
        assert!(Switch::parse("yes").is_err());
    }

    #[test]
    fn a_key_is_long_and_does_not_print() {
        assert!(SecretKey::parse(&"x".repeat(31)).is_err());
        let key = SecretKey::parse(&"x".repeat(32)).unwrap();
        assert_eq!(format!("{key:?}"), "[redacted]");
    }
}
