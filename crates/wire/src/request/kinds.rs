//! Texts, numbers and words.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde_json::{Value, json};

use super::Kind;
use crate::params::ParamReader;

fn text_schema(characters: &RangeInclusive<usize>) -> Value {
    let mut schema = json!({"type": "string"});
    if *characters.start() > 0 {
        schema["minLength"] = (*characters.start()).into();
    }
    if *characters.end() < usize::MAX {
        schema["maxLength"] = (*characters.end()).into();
    }
    schema
}

/// A text of so many characters.
#[must_use]
pub fn text(characters: RangeInclusive<usize>) -> Text {
    Text {
        read: characters.clone(),
        characters,
        is_filled: false,
        is_required: false,
        words: &[],
        check: None,
    }
}

/// The same where the use case judges the length, with other things that it is to refuse first: a
/// text of any length is read.
#[must_use]
pub fn unchecked_text(characters: RangeInclusive<usize>) -> Text {
    Text {
        read: 0..=usize::MAX,
        ..text(characters)
    }
}

/// See [`text`].
#[derive(Clone, Debug)]
pub struct Text {
    read: RangeInclusive<usize>,
    characters: RangeInclusive<usize>,
    is_filled: bool,
    is_required: bool,
    words: &'static [&'static str],
    check: Option<fn(&str) -> Option<String>>,
}

impl Text {
    /// Takes a text of nothing but blanks for none.
    #[must_use]
    pub fn filled(mut self) -> Self {
        self.is_filled = true;
        self
    }

    /// Refuses an empty text here already.
    #[must_use]
    pub fn not_empty(mut self) -> Self {
        self.read = 1..=*self.read.end();
        self
    }

    /// Must be there, although it is read into an `Option`.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Must be one of these words, which the handler judges: it depends on the caller.
    #[must_use]
    pub fn of(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    /// Refuses a text of which this says what is wrong with it.
    #[must_use]
    pub fn checked(mut self, check: fn(&str) -> Option<String>) -> Self {
        self.check = Some(check);
        self
    }
}

impl Kind for Text {
    type Value = String;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<String> {
        let text = reader.opt_text(name, self.read.clone())?;
        if self.is_filled && text.trim().is_empty() {
            return None;
        }
        if let Some(wrong) = self.check.and_then(|check| check(&text)) {
            reader.error(name, wrong);
        }
        Some(text)
    }

    fn write(&self, value: &String) -> Value {
        value.as_str().into()
    }

    fn schema(&self) -> Value {
        match self.words {
            [] => text_schema(&self.characters),
            words => json!({"type": "string", "enum": words}),
        }
    }

    fn is_required(&self) -> bool {
        self.is_required
    }
}

/// A text that no output of programmers shows.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(
    /// The text.
    pub String,
);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText")
    }
}

/// A text that must not be shown.
#[must_use]
pub fn secret(characters: RangeInclusive<usize>) -> Secret {
    Secret(text(characters))
}

/// See [`secret`].
#[derive(Clone, Debug)]
pub struct Secret(Text);

impl Kind for Secret {
    type Value = SecretText;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<SecretText> {
        self.0.read(reader, name).map(SecretText)
    }

    fn write(&self, value: &SecretText) -> Value {
        self.0.write(&value.0)
    }

    fn schema(&self) -> Value {
        let mut schema = self.0.schema();
        schema["format"] = "password".into();
        schema
    }
}

/// A text that is of the form of a type, which says itself what is wrong with others. `characters`
/// is what the type takes.
#[must_use]
pub fn parsed<T>(characters: RangeInclusive<usize>) -> Parsed<T> {
    Parsed {
        characters,
        missing: "is required",
        type_: PhantomData,
    }
}

/// See [`parsed`].
#[derive(Clone, Debug)]
pub struct Parsed<T> {
    characters: RangeInclusive<usize>,
    missing: &'static str,
    type_: PhantomData<T>,
}

impl<T> Parsed<T> {
    /// Says the same of an absent text as of an empty one.
    #[must_use]
    pub fn blank_if_missing(mut self) -> Self {
        self.missing = "can't be blank";
        self
    }
}

impl<T> Kind for Parsed<T>
where
    T: FromStr + Display,
    T::Err: Display,
{
    type Value = T;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<T> {
        let text = reader.opt_text(name, 0..=usize::MAX)?;
        text.parse()
            .map_err(|wrong: T::Err| reader.error(name, wrong.to_string()))
            .ok()
    }

    fn write(&self, value: &T) -> Value {
        value.to_string().into()
    }

    fn schema(&self) -> Value {
        text_schema(&self.characters)
    }

    fn missing(&self) -> &'static str {
        self.missing
    }
}

/// `true` or `false`.
#[must_use]
pub fn boolean() -> Truth {
    Truth { default: None }
}

/// See [`boolean`].
#[derive(Clone, Debug)]
pub struct Truth {
    default: Option<bool>,
}

impl Truth {
    /// Is this where it is absent.
    #[must_use]
    pub fn or(mut self, default: bool) -> Self {
        self.default = Some(default);
        self
    }
}

impl Kind for Truth {
    type Value = bool;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<bool> {
        reader.opt_bool(name)
    }

    fn write(&self, value: &bool) -> Value {
        (*value).into()
    }

    fn schema(&self) -> Value {
        json!({"type": "boolean"})
    }

    fn default(&self) -> Option<bool> {
        self.default
    }
}

/// A whole number within a range.
#[must_use]
pub fn whole(range: RangeInclusive<i64>) -> Whole {
    Whole {
        range,
        default: None,
    }
}

/// See [`whole`].
#[derive(Clone, Debug)]
pub struct Whole {
    range: RangeInclusive<i64>,
    default: Option<i64>,
}

impl Whole {
    /// Is this where it is absent.
    #[must_use]
    pub fn or(mut self, default: i64) -> Self {
        self.default = Some(default);
        self
    }
}

impl Kind for Whole {
    type Value = i64;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<i64> {
        reader.opt_number_in(name, self.range.clone())
    }

    fn write(&self, value: &i64) -> Value {
        (*value).into()
    }

    fn schema(&self) -> Value {
        let mut schema = json!({"type": "integer"});
        if *self.range.start() > i64::MIN {
            schema["minimum"] = (*self.range.start()).into();
        }
        if *self.range.end() < i64::MAX {
            schema["maximum"] = (*self.range.end()).into();
        }
        schema
    }

    fn default(&self) -> Option<i64> {
        self.default
    }
}

/// An identifier that is a number, and 1 or more.
#[must_use]
pub fn id<T>() -> Id<T> {
    Id(PhantomData)
}

/// See [`id`].
#[derive(Clone, Debug)]
pub struct Id<T>(PhantomData<T>);

impl<T> Kind for Id<T>
where
    T: FromStr + Display,
    T::Err: Display,
{
    type Value = T;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<T> {
        reader.opt_id(name)
    }

    fn write(&self, value: &T) -> Value {
        written_id(value)
    }

    fn schema(&self) -> Value {
        json!({"type": "integer", "minimum": 1})
    }
}

/// The number that an identifier is.
pub(super) fn written_id(id: &impl Display) -> Value {
    let text = id.to_string();
    text.parse::<i64>().map_or(Value::String(text), Value::from)
}

/// One of a few words, and what it stands for. Of several with one meaning the first is written.
#[must_use]
pub fn choice<T: 'static>(words: &'static [(&'static str, T)]) -> Choice<T> {
    Choice { words }
}

/// See [`choice`].
#[derive(Clone, Debug)]
pub struct Choice<T: 'static> {
    words: &'static [(&'static str, T)],
}

impl<T: Clone + PartialEq> Kind for Choice<T> {
    type Value = T;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<T> {
        reader.opt_choice(name, self.words)
    }

    fn write(&self, value: &T) -> Value {
        self.words
            .iter()
            .find(|(_, meaning)| meaning == value)
            .map(|(word, _)| *word)
            .into()
    }

    fn schema(&self) -> Value {
        json!({"type": "string", "enum": self.words.iter().map(|(word, _)| *word).collect::<Vec<_>>()})
    }
}
