//! Points in time as people read them. Pages do not know where their reader is, so they say UTC.

use std::fmt::Write as _;

use eddyline_model::Timestamp;

/// The day, as `2026-11-21`.
pub(crate) fn day(at: &Timestamp) -> String {
    iso(at).get(..10).unwrap_or_default().to_owned()
}

/// The day and the minute, as `2026-11-21 08:30 UTC`.
pub(crate) fn minute(at: &Timestamp) -> String {
    let iso = iso(at);
    let (day, time) = (
        iso.get(..10).unwrap_or_default(),
        iso.get(11..16).unwrap_or_default(),
    );
    format!("{day} {time} UTC")
}

/// Empty for what is beyond all calendars.
fn iso(at: &Timestamp) -> String {
    let mut text = String::new();
    match write!(text, "{at}") {
        Ok(()) => text,
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_in_utc() {
        let at = Timestamp(1_795_250_100_999);
        assert_eq!(
            (day(&at).as_str(), minute(&at).as_str()),
            ("2026-11-21", "2026-11-21 08:35 UTC")
        );
        assert_eq!(day(&Timestamp(i64::MAX)), "");
    }
}
