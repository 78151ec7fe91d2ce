//! Texts with placeholders, and texts that depend on a number.

use std::fmt::{self, Display};

use intl_pluralrules::{PluralCategory, PluralRules};
use serde::Deserialize;

/// A text in which values stand for placeholders such as `{name}`.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Phrase(Vec<Piece>);

#[derive(Debug)]
enum Piece {
    Text(String),
    /// A placeholder by its name.
    Value(String),
}

impl From<String> for Phrase {
    fn from(text: String) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, name, after)) = first_placeholder(rest) {
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Value(name.to_owned()));
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Self(pieces)
    }
}

/// What stands before the first placeholder, its name, and what stands after it.
fn first_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

impl Phrase {
    /// The text with this value for the placeholder `name`. Further ones follow by
    /// [`Filled::with`].
    pub(crate) fn with<V: Display>(
        &self,
        name: &'static str,
        value: V,
    ) -> Filled<'_, Value<(), V>> {
        self.bare().with(name, value)
    }

    /// The text with no value yet.
    fn bare(&self) -> Filled<'_, ()> {
        Filled {
            phrase: self,
            values: (),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// The names of the placeholders.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Value(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }
}

/// A text that depends on a number, which stands for the placeholder `n`. Its forms are named by the
/// plural categories of CLDR; each language has those that it needs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plural {
    zero: Option<Phrase>,
    one: Option<Phrase>,
    two: Option<Phrase>,
    few: Option<Phrase>,
    many: Option<Phrase>,
    other: Phrase,
}

impl Plural {
    /// The text for a number, by the rules of the language.
    pub(super) fn of(&self, rules: &PluralRules, n: usize) -> Filled<'_, Value<(), usize>> {
        let category = rules.select(n).unwrap_or(PluralCategory::OTHER);
        let phrase = self.form(&category).unwrap_or(&self.other);
        // Where a form says the number in words, it has no placeholder for it.
        let values = Value((), "n", n);
        Filled { phrase, values }
    }

    fn form(&self, category: &PluralCategory) -> Option<&Phrase> {
        match category {
            PluralCategory::ZERO => self.zero.as_ref(),
            PluralCategory::ONE => self.one.as_ref(),
            PluralCategory::TWO => self.two.as_ref(),
            PluralCategory::FEW => self.few.as_ref(),
            PluralCategory::MANY => self.many.as_ref(),
            PluralCategory::OTHER => Some(&self.other),
        }
    }
}

/// A phrase with values for its placeholders. Templates write and escape it without making a
/// `String`.
pub(crate) struct Filled<'a, V> {
    phrase: &'a Phrase,
    values: V,
}

/// A value behind others.
pub(crate) struct Value<V, D>(V, &'static str, D);

/// Values by the names of placeholders.
pub(crate) trait Values {
    /// Writes the value of a placeholder. `None` means that there is none.
    fn write(&self, name: &str, to: &mut fmt::Formatter<'_>) -> Option<fmt::Result>;
}

impl Values for () {
    fn write(&self, _: &str, _: &mut fmt::Formatter<'_>) -> Option<fmt::Result> {
        None
    }
}

impl<V: Values, D: Display> Values for Value<V, D> {
    fn write(&self, name: &str, to: &mut fmt::Formatter<'_>) -> Option<fmt::Result> {
        match self.1 == name {
            true => Some(self.2.fmt(to)),
            false => self.0.write(name, to),
        }
    }
}

impl<'a, V: Values> Filled<'a, V> {
    /// The same with one more value.
    pub(crate) fn with<D: Display>(self, name: &'static str, value: D) -> Filled<'a, Value<V, D>> {
        debug_assert!(self.phrase.has(name), "no {{{name}}} in {:?}", self.phrase);
        Filled {
            phrase: self.phrase,
            values: Value(self.values, name, value),
        }
    }
}

impl<V: Values> Display for Filled<'_, V> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.phrase.0 {
            match piece {
                Piece::Text(text) => to.write_str(text)?,
                Piece::Value(name) => match self.values.write(name, to) {
                    Some(written) => written?,
                    None => debug_assert!(false, "no value for {{{name}}}"),
                },
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use intl_pluralrules::PluralRuleType;

    use super::*;

    #[test]
    fn values_stand_for_placeholders() {
        let phrase = Phrase::from("{online} of {all} online".to_owned());
        let filled = phrase.with("all", "{online}").with("online", 1);
        assert_eq!(filled.to_string(), "1 of {online} online");
        let plain = Phrase::from("a { b } } c {".to_owned());
        assert_eq!(plain.names().collect::<Vec<_>>(), [" b "]);
    }

    #[test]
    fn the_form_of_a_plural_follows_the_rules_of_the_language() {
        let plural: Plural =
            serde_json::from_str(r#"{"one": "one day", "other": "{n} days"}"#).unwrap();
        let english = PluralRules::get_locales(PluralRuleType::CARDINAL)
            .into_iter()
            .find(|known| *known == "en")
            .unwrap();
        let rules = PluralRules::create(english, PluralRuleType::CARDINAL).unwrap();
        for (n, text) in [
            (0, "0 days"),
            (1, "one day"),
            (2, "2 days"),
            (21, "21 days"),
        ] {
            assert_eq!(plural.of(&rules, n).to_string(), text);
        }
    }

    #[test]
    fn a_plural_has_known_forms_only() {
        for wrong in [r#"{"one": "x"}"#, r#"{"other": "x", "both": "x"}"#] {
            assert!(serde_json::from_str::<Plural>(wrong).is_err(), "{wrong}");
        }
    }
}
