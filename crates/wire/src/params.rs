//! The parameters of a request, and reading them by type.
//!
//! A [`ParamReader`] is asked for one parameter after the other and then for the verdict, so that
//! the caller learns of all mistakes at once. What an endpoint takes is declared as a
//! [`Request`](crate::Request), which does the asking.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::reading::text_of_number;
use serde::Serialize;
use serde_json::{Map, Value};

/// Parameters that were refused: for each its name and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("Validation error")]
pub struct Invalid {
    /// Texts for the caller, by the name of the parameter.
    pub errors: BTreeMap<String, Vec<String>>,
}

impl Invalid {
    /// One parameter with one mistake.
    pub fn one(name: &str, text: impl Into<String>) -> Self {
        Self {
            errors: BTreeMap::from([(name.to_owned(), vec![text.into()])]),
        }
    }
}

/// The parameters of a request, from wherever they came.
#[derive(Clone, Debug, Default)]
pub struct Params(Map<String, Value>);

impl FromIterator<(String, Value)> for Params {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(parameters: I) -> Self {
        Self(parameters.into_iter().collect())
    }
}

impl Params {
    /// Joins the parameters of the query and of the body. Where both have a name, the body's
    /// counts.
    pub fn merge(query: Map<String, Value>, body: Map<String, Value>) -> Self {
        Self(query).with_body(body)
    }

    /// Adds the parameters of the body, which count where both have a name.
    pub fn with_body(mut self, body: Map<String, Value>) -> Self {
        self.0.extend(body);
        self
    }

    /// Whether the parameter is there, and not null.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether they are those of a message that is a file.
    pub fn is_file(&self) -> bool {
        self.get("event").is_some_and(|event| event == "file")
    }

    /// Begins to read and to collect mistakes.
    pub fn reader(&self) -> ParamReader<'_> {
        ParamReader {
            params: self,
            invalid: Invalid::default(),
        }
    }

    /// A JSON null is no value.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }
}

/// Reads parameters by type and collects what is wrong with them.
///
/// After a mistake a getter answers as if the parameter were absent. So what it answered means
/// nothing until [`ParamReader::finish`] has found no mistake. Unknown parameters are ignored.
#[derive(Debug)]
pub struct ParamReader<'a> {
    params: &'a Params,
    invalid: Invalid,
}

impl<'a> ParamReader<'a> {
    /// Notes a mistake that the handler itself has found.
    pub fn error(&mut self, name: &str, text: impl Into<String>) {
        self.invalid
            .errors
            .entry(name.to_owned())
            .or_default()
            .push(text.into());
    }

    /// Whether the parameter is there, and not null.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.params.has(name)
    }

    /// Whether something is wrong with this parameter.
    pub fn is_wrong(&self, name: &str) -> bool {
        self.invalid.errors.contains_key(name)
    }

    /// The verdict: every mistake found so far, or none.
    ///
    /// # Errors
    ///
    /// [`Invalid`] with every mistake found so far.
    pub fn finish(&mut self) -> Result<(), Invalid> {
        if self.invalid.errors.is_empty() {
            Ok(())
        } else {
            Err(std::mem::take(&mut self.invalid))
        }
    }

    /// The value as it came, for parameters that have more than one form. No text in it, however
    /// deep, has a NUL.
    pub fn value(&mut self, name: &str) -> Option<&'a Value> {
        let value = self.params.get(name)?;
        if has_nul(value) {
            self.error(name, "must not contain NUL characters");
            return None;
        }
        Some(value)
    }

    /// The object that a parameter is. What is in it is for [`ParamReader::opt_text_in`] to check.
    pub fn object(&mut self, name: &str, otherwise: &str) -> Option<&'a Map<String, Value>> {
        let value = self.params.get(name)?;
        self.expect(name, otherwise, value.as_object())
    }

    /// A text in an object, called `NAME[WITHIN]` where it is wrong.
    pub fn opt_text_in(
        &mut self,
        object: &Map<String, Value>,
        name: &str,
        within: &str,
    ) -> Option<String> {
        let wrong = match object.get(within) {
            None | Some(Value::Null) => return None,
            Some(value) if has_nul(value) => "must not contain NUL characters",
            Some(Value::String(text)) => return Some(text.clone()),
            Some(_) => "must be a text",
        };
        self.error(&format!("{name}[{within}]"), wrong);
        None
    }

    /// A text of so many characters (Unicode scalar values). A number is taken as the text of it.
    pub fn opt_text(&mut self, name: &str, characters: RangeInclusive<usize>) -> Option<String> {
        let value = self.value(name)?;
        let text = self.accept(name, as_text(value, "must be a text"))?;
        let count = text.chars().count();
        if count > *characters.end() {
            self.error(
                name,
                format!("is too long (maximum is {} characters)", characters.end()),
            );
        } else if count == 0 && *characters.start() > 0 {
            self.error(name, "can't be blank");
        } else if count < *characters.start() {
            self.error(
                name,
                format!(
                    "is too short (minimum is {} characters)",
                    characters.start()
                ),
            );
        } else {
            return Some(text);
        }
        None
    }

    /// The same where absence is a mistake. After a mistake the text is empty.
    pub fn required_text(&mut self, name: &str, characters: RangeInclusive<usize>) -> String {
        self.require(name);
        self.opt_text(name, characters).unwrap_or_default()
    }

    /// A truth value: `true`, `false`, `1` or `0`, as JSON or as a text.
    pub fn opt_bool(&mut self, name: &str) -> Option<bool> {
        let value = self.value(name)?;
        let text = match value {
            Value::Bool(truth) => return Some(*truth),
            other => as_text(other, "").ok(),
        };
        let truth = match text.as_deref() {
            Some("true" | "1") => Some(true),
            Some("false" | "0") => Some(false),
            _ => None,
        };
        self.expect(name, "must be true or false", truth)
    }

    /// A whole number within the range, as a JSON number or a text. One outside is a mistake.
    pub fn opt_number_in(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let value = self.value(name)?;
        let number = match value {
            Value::Number(number) => number.as_i64(),
            // Rust would take a leading plus as well.
            Value::String(text) if !text.starts_with('+') => text.parse().ok(),
            _ => None,
        };
        let number = number.filter(|number| range.contains(number));
        let wanted = match (*range.start(), *range.end()) {
            (0, i64::MAX) => "must be a whole number, 0 or more".to_owned(),
            (1, i64::MAX) => "must be a whole number, 1 or more".to_owned(),
            (least, most) => format!("must be a whole number from {least} to {most}"),
        };
        self.expect(name, &wanted, number)
    }

    /// The same with a number for when the parameter is absent.
    pub fn number_in(&mut self, name: &str, range: RangeInclusive<i64>, default: i64) -> i64 {
        self.opt_number_in(name, range).unwrap_or(default)
    }

    /// An identifier, as a JSON number or a text.
    pub fn opt_id<T>(&mut self, name: &str) -> Option<T>
    where
        T: FromStr,
        T::Err: Display,
    {
        let value = self.value(name)?;
        let text = self.accept(name, as_text(value, "").map_err(|_| "is not a valid id"))?;
        match text.parse() {
            Ok(id) => Some(id),
            Err(error) => {
                self.error(name, error.to_string());
                None
            }
        }
    }

    /// An identifier that must be there. There is no stand-in for one, so this is a verdict like
    /// [`ParamReader::finish`]: read it last.
    ///
    /// # Errors
    ///
    /// [`Invalid`] with every mistake found so far, and with this one when the identifier is
    /// missing or malformed.
    pub fn required_id<T>(&mut self, name: &str) -> Result<T, Invalid>
    where
        T: FromStr,
        T::Err: Display,
    {
        self.require(name);
        let id = self.opt_id(name);
        self.finish()?;
        id.ok_or_else(|| Invalid::one(name, "is required"))
    }

    /// One of a few words, and what it stands for.
    pub fn opt_choice<T: Clone>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let value = self.value(name)?;
        let found = choices
            .iter()
            .find(|(word, _)| value == word)
            .map(|(_, meaning)| meaning.clone());
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        self.expect(
            name,
            &format!("must be one of: {}", words.join(", ")),
            found,
        )
    }

    /// Texts, as an array or as one text with commas between them, around which blanks and empty
    /// parts are dropped. An empty list is not the same as an absent one.
    pub fn list_of_text(&mut self, name: &str) -> Option<Vec<String>> {
        let value = self.value(name)?;
        let text = |value| as_text(value, "must be a list of texts");
        let list = match value {
            Value::Array(list) => list.iter().map(text).collect(),
            other => text(other).map(|text| {
                text.split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
                    .map(str::to_owned)
                    .collect()
            }),
        };
        self.accept(name, list)
    }

    /// Notes that a parameter is missing, if it is and nothing else is wrong with it.
    pub fn require(&mut self, name: &str) {
        if !self.params.has(name) && !self.is_wrong(name) {
            self.error(name, "is required");
        }
    }

    fn accept<T>(&mut self, name: &str, found: Result<T, &str>) -> Option<T> {
        found.map_err(|wrong| self.error(name, wrong)).ok()
    }

    fn expect<T>(&mut self, name: &str, otherwise: &str, found: Option<T>) -> Option<T> {
        if found.is_none() {
            self.error(name, otherwise);
        }
        found
    }
}

/// Old clients send numbers where texts belong (a uuid, tags), and texts where numbers belong. What
/// is neither is `wrong`.
fn as_text<'w>(value: &Value, wrong: &'w str) -> Result<String, &'w str> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => text_of_number(number),
        _ => Err(wrong),
    }
}

/// PostgreSQL keeps no NUL in a text, so none is let in. Bodies are at most 32 deep.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(list) => list.iter().any(has_nul),
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
