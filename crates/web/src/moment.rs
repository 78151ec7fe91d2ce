//! Points in time as people read them. Pages do not know where their reader is, so they say UTC.

use std::fmt::Write as _;

use eddyline_model::Timestamp;

use crate::texts::Texts;

/// The day, in English as `2026-11-21`.
pub(crate) fn day(at: &Timestamp, t: &Texts) -> String {
    let iso = iso(at);
    let (Some(year), Some(month), Some(day)) = (iso.get(..4), iso.get(5..7), iso.get(8..10)) else {
        return String::new();
    };
    let date = t.page.day.with("year", year).with("month", month);
    date.with("day", day).to_string()
}

/// The day and the minute, in English as `2026-11-21 08:30 UTC`.
pub(crate) fn minute(at: &Timestamp, t: &Texts) -> String {
    let iso = iso(at);
    let time = iso.get(11..16).unwrap_or_default();
    let moment = t.page.minute.with("day", day(at, t));
    moment.with("time", time).to_string()
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
    use crate::language::Language;

    #[test]
    fn a_moment_is_told_in_utc() {
        let at = Timestamp(1_795_250_100_999);
        for (language, the_day, the_minute) in [
            (Language::English, "2026-11-21", "2026-11-21 08:35 UTC"),
            (Language::German, "21.11.2026", "21.11.2026 um 08:35 UTC"),
        ] {
            let t = Texts::in_language(language);
            assert_eq!(day(&at, t), the_day);
            assert_eq!(minute(&at, t), the_minute);
            assert_eq!(day(&Timestamp(i64::MAX), t), "");
        }
    }
}
