//! Which records a visitor asks for: what the form of the page says, and the filter that it means.

use eddyline_app::{AuditAction, AuditFilter, FieldErrors};
use eddyline_model::{Timestamp, UserId};
use serde_json::{Map, Value};

use crate::form::Form;
use crate::texts::Texts;
use crate::zone::{Day, Zone};

/// The values of the form, as they were entered. An empty one excludes no record.
pub(super) struct AskedRecords {
    /// The name of an action. A field of the name `action` would hide the address of its form from scripts.
    pub(super) what: String,
    /// The number of a user.
    pub(super) user: String,
    /// The first day, as `2026-11-29`.
    pub(super) from: String,
    /// The last day.
    pub(super) until: String,
}

impl AskedRecords {
    /// Takes the values from a query or from a form that was sent.
    pub(super) fn of(form: &Form) -> Self {
        let value = |name| form.get(name).trim().to_owned();
        Self {
            what: value("what"),
            user: value("user"),
            from: value("from"),
            until: value("until"),
        }
    }

    /// The values that are there, by the names of their fields.
    pub(super) fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("what", self.what.as_str()),
            ("user", &self.user),
            ("from", &self.from),
            ("until", &self.until),
        ];
        all.into_iter().filter(|(_, value)| !value.is_empty())
    }

    /// The same as an object, for the record of a download.
    pub(super) fn to_json(&self) -> Map<String, Value> {
        let given = self.given();
        given
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect()
    }

    /// The filter that is meant. Days are those of UTC, and the last one is included.
    ///
    /// # Errors
    ///
    /// What is wrong with each field.
    pub(super) fn read(&self, t: &Texts) -> Result<AuditFilter, FieldErrors> {
        let t = &t.audit;
        let mut errors = FieldErrors::new();
        let mut wrong = |name: &str, text: &str| {
            errors.insert(name.to_owned(), vec![text.to_owned()]);
        };
        let mut filter = AuditFilter::default();
        match AuditAction::named(&self.what) {
            Some(action) => filter.actions = vec![action.name().to_owned()],
            None if self.what.is_empty() => {}
            None => wrong("what", &t.no_action),
        }
        match self.user.parse::<i64>() {
            Ok(id @ 1..) => filter.concerning = Some(UserId(id)),
            _ if self.user.is_empty() => {}
            _ => wrong("user", &t.no_user),
        }
        match midnight(&self.from, Some) {
            Ok(since) => filter.since = since,
            Err(()) => wrong("from", &t.no_day),
        }
        match midnight(&self.until, Day::next) {
            Ok(until) => filter.until = until,
            Err(()) => wrong("until", &t.no_day),
        }
        if let (Some(since), Some(until)) = (filter.since, filter.until)
            && until <= since
        {
            wrong("until", &t.wrong_order);
        }
        match errors.is_empty() {
            true => Ok(filter),
            false => Err(errors),
        }
    }
}

/// When the day begins that `then` makes of an entered one; `None` where none was entered.
fn midnight(text: &str, then: fn(Day) -> Option<Day>) -> Result<Option<Timestamp>, ()> {
    if text.is_empty() {
        return Ok(None);
    }
    let day: Day = text.parse()?;
    // The day itself has to be one that can be asked for, also where the next one counts.
    let begins = Zone::UTC.start(day).and(then(day));
    begins
        .and_then(|day| Zone::UTC.start(day))
        .map(Some)
        .ok_or(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    fn read(query: &str) -> Result<AuditFilter, Vec<String>> {
        let form = Form::parse(query.as_bytes()).unwrap();
        let read = AskedRecords::of(&form).read(Texts::in_language(Language::English));
        read.map_err(|errors| errors.into_keys().collect())
    }

    #[test]
    fn days_are_those_of_utc_and_the_last_is_included() {
        let both = read("from=2026-11-22&until=2026-11-22").unwrap();
        let start = 1_795_305_600_000;
        assert_eq!(both.since, Some(Timestamp(start)));
        assert_eq!(both.until, Some(Timestamp(start + 86_400_000)));
        let first = read("from=1970-01-01").unwrap();
        assert_eq!(first.since, Some(Timestamp(0)));
        assert_eq!(
            read("what=&user=&from=+&until="),
            Ok(AuditFilter::default())
        );
    }

    #[test]
    fn what_is_wrong_is_said_of_its_field() {
        for (query, fields) in [
            ("what=member.", vec!["what"]),
            ("what=member.add&user=0", vec!["user"]),
            ("user=9223372036854775808", vec!["user"]),
            ("from=2026-11-31&until=x", vec!["from", "until"]),
            ("from=1969-12-31", vec!["from"]),
            ("until=1969-12-31", vec!["until"]),
            ("until=9999-12-31", vec!["until"]),
            ("from=2026-11-22&until=2026-11-21", vec!["until"]),
        ] {
            let fields: Vec<String> = fields.into_iter().map(str::to_owned).collect();
            assert_eq!(read(query), Err(fields), "{query}");
        }
    }
}
