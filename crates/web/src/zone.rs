//! The reader's time zone, and points in time as people read them there.

use std::str::FromStr;

use eddyline_model::Timestamp;
use http::HeaderMap;
use jiff::civil;
use jiff::tz::TimeZone;
use time::macros::format_description;
use time::{Date, Month};

use crate::cookies;
use crate::texts::Texts;

/// The cookie in which a script notes the reader's time zone, as `Europe/Helsinki`.
const COOKIE: &str = "eddyline-zone";

/// The time zone of the reader, which knows the summer time of each year.
#[derive(Clone, Debug)]
pub(crate) struct Zone(TimeZone);

/// A day of the reader's calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Day(Date);

impl FromStr for Day {
    type Err = ();

    /// Reads a day as `2026-11-20`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let date = Date::parse(text, format_description!("[year]-[month]-[day]"));
        date.map(Self).map_err(|_| ())
    }
}

impl Zone {
    /// That of UTC, for pages that say so.
    pub(crate) const UTC: Self = Self(TimeZone::UTC);

    /// The zone that a request shows, or UTC.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let name = cookies::find(headers, COOKIE);
        let zone = name.and_then(|name| TimeZone::get(&name).ok());
        Self(zone.unwrap_or(TimeZone::UTC))
    }

    /// The time of the day, as `09:06`.
    pub(crate) fn clock(&self, at: Timestamp) -> String {
        self.moment(at).map_or_else(String::new, |moment| {
            format!("{:02}:{:02}", moment.hour(), moment.minute())
        })
    }

    /// The day of a point in time.
    pub(crate) fn day(&self, at: Timestamp) -> Day {
        let date = self.moment(at).and_then(|moment| to_date(moment.date()));
        Day(date.unwrap_or(Date::MIN))
    }

    /// When a day begins: after midnight where clocks are put forward then. `None` for a day before
    /// 1970.
    pub(crate) fn start(&self, day: Day) -> Option<Timestamp> {
        let date = to_civil(day.0)?.to_zoned(self.0.clone()).ok()?;
        let millis = date.start_of_day().ok()?.timestamp().as_millisecond();
        (millis >= 0).then_some(Timestamp(millis))
    }

    fn moment(&self, at: Timestamp) -> Option<civil::DateTime> {
        let at = jiff::Timestamp::from_millisecond(at.0).ok()?;
        Some(self.0.to_datetime(at))
    }
}

fn to_date(date: civil::Date) -> Option<Date> {
    let month = Month::try_from(date.month().unsigned_abs()).ok()?;
    Date::from_calendar_date(date.year().into(), month, date.day().unsigned_abs()).ok()
}

fn to_civil(date: Date) -> Option<civil::Date> {
    let (year, month, day) = date.to_calendar_date();
    let month = i8::try_from(u8::from(month)).ok()?;
    civil::Date::new(i16::try_from(year).ok()?, month, i8::try_from(day).ok()?).ok()
}

impl Day {
    /// The day in words, as `Thursday, 19 November`, with the year where it is another than that of
    /// `today`.
    pub(crate) fn name(self, today: Self, t: &Texts) -> String {
        let (date, locale) = (self.0, &t.locale);
        let is_this_year = date.year() == today.0.year();
        let phrase = match is_this_year {
            true => &locale.day,
            false => &locale.day_with_year,
        };
        let day = phrase
            .with("weekday", &locale.weekdays[weekday(date)])
            .with("date", date.day())
            .with("month", &locale.months[month(date)]);
        match is_this_year {
            true => day.to_string(),
            false => day.with("year", date.year()).to_string(),
        }
    }

    /// The day after it. `None` at the end of the calendar.
    pub(crate) fn next(self) -> Option<Self> {
        self.0.next_day().map(Self)
    }

    /// The day as addresses have it: `2026-11-20`.
    pub(crate) fn key(self) -> String {
        let date = self.0;
        format!(
            "{:04}-{:02}-{:02}",
            date.year(),
            u8::from(date.month()),
            date.day()
        )
    }

    /// The day in few letters: nothing for today, `Thu` for the last six days, else `19 Nov`.
    pub(crate) fn short(self, today: Self, t: &Texts) -> Option<String> {
        let (date, locale) = (self.0, &t.locale);
        match (today.0 - date).whole_days() {
            0 => None,
            1..=6 => Some(locale.weekdays_short[weekday(date)].clone()),
            _ => {
                let day = locale.day_short.with("date", date.day());
                Some(
                    day.with("month", &locale.months_short[month(date)])
                        .to_string(),
                )
            }
        }
    }
}

/// The place of a day in its week, from Monday on.
fn weekday(date: Date) -> usize {
    usize::from(date.weekday().number_days_from_monday())
}

/// The place of a month in its year.
fn month(date: Date) -> usize {
    usize::from(u8::from(date.month())) - 1
}

#[cfg(test)]
mod tests {
    use http::header::{COOKIE as HEADER, HeaderValue};

    use super::*;
    use crate::language::Language;

    fn zone(cookie: &str) -> Zone {
        let value = HeaderValue::from_str(&format!("eddyline-zone={cookie}")).unwrap();
        Zone::of(&HeaderMap::from_iter([(HEADER, value)]))
    }

    fn english() -> &'static Texts {
        Texts::in_language(Language::English)
    }

    /// 21 November 2026, 23:35 UTC.
    const AT: Timestamp = Timestamp(1_795_304_100_999);

    #[test]
    fn a_point_in_time_is_told_by_the_clock_of_the_reader() {
        for (cookie, clock, day) in [
            ("UTC", "23:35", "Saturday, 21 November"),
            ("Europe/Berlin", "00:35", "Sunday, 22 November"),
            ("America/St_Johns", "20:05", "Saturday, 21 November"),
            ("Pacific/Kiritimati", "13:35", "Sunday, 22 November"),
            ("Nowhere/Land", "23:35", "Saturday, 21 November"),
            ("../../etc/passwd", "23:35", "Saturday, 21 November"),
            ("", "23:35", "Saturday, 21 November"),
        ] {
            let zone = zone(cookie);
            assert_eq!(zone.clock(AT), clock, "{cookie}");
            assert_eq!(zone.day(AT).name(zone.day(AT), english()), day, "{cookie}");
        }
        assert_eq!(zone("UTC").clock(Timestamp(i64::MAX)), "");
    }

    #[test]
    fn a_day_begins_at_the_midnight_of_the_reader() {
        let day: Day = "2026-11-22".parse().unwrap();
        assert_eq!(day.key(), "2026-11-22");
        for (cookie, start) in [
            ("UTC", 1_795_305_600_000),
            ("Europe/Berlin", 1_795_302_000_000),
            ("America/St_Johns", 1_795_318_200_000),
        ] {
            assert_eq!(zone(cookie).start(day), Some(Timestamp(start)), "{cookie}");
        }
        assert_eq!(zone("UTC").start("1969-12-31".parse().unwrap()), None);
        for bad in ["", "2026-11-31", "2026-1-1", "20-11-2026", "2026-11-22x"] {
            assert_eq!(bad.parse::<Day>(), Err(()), "{bad}");
        }
    }

    #[test]
    fn a_day_of_another_season_has_the_clock_of_that_season() {
        let berlin = zone("Europe/Berlin");
        // 15 July 2026, 21:30 UTC.
        assert_eq!(berlin.clock(Timestamp(1_784_151_000_000)), "23:30");
        let summer: Day = "2026-07-16".parse().unwrap();
        // 15 July 2026, 22:00 UTC.
        assert_eq!(berlin.start(summer), Some(Timestamp(1_784_152_800_000)));
        // Clocks in Lebanon go from midnight to one: 28 March 2026, 22:00 UTC.
        let beirut = zone("Asia/Beirut");
        let changed: Day = "2026-03-29".parse().unwrap();
        assert_eq!(beirut.start(changed), Some(Timestamp(1_774_735_200_000)));
        assert_eq!(beirut.clock(Timestamp(1_774_735_200_000)), "01:00");
    }

    #[test]
    fn a_day_is_told_the_shorter_the_nearer_it_is() {
        let zone = zone("UTC");
        let today = zone.day(AT);
        let ago = |days: i64| zone.day(Timestamp(AT.0 - days * 86_400_000));
        for (language, thursday, november, this_year, last_year) in [
            (
                Language::English,
                "Thu",
                "13 Nov",
                "Saturday, 21 November",
                "Friday, 17 October 2025",
            ),
            (
                Language::German,
                "Do",
                "13. Nov.",
                "Samstag, 21. November",
                "Freitag, 17. Oktober 2025",
            ),
        ] {
            let t = Texts::in_language(language);
            assert_eq!(ago(0).short(today, t), None);
            assert_eq!(ago(2).short(today, t).as_deref(), Some(thursday));
            assert_eq!(ago(8).short(today, t).as_deref(), Some(november));
            assert_eq!(ago(0).name(today, t), this_year);
            assert_eq!(ago(400).name(today, t), last_year);
        }
    }
}
