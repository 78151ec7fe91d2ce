//! Lists, which come as arrays or as texts with commas.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::marker::PhantomData;
use std::str::FromStr;

use serde_json::{Value, json};

use super::Kind;
use super::kinds::written_id;
use crate::params::ParamReader;

/// What is said of more than so many.
type TooMany = fn(usize) -> String;

/// Texts.
#[must_use]
pub fn texts() -> Texts {
    Texts { most: None }
}

/// See [`texts`].
#[derive(Clone, Debug)]
pub struct Texts {
    most: Option<(usize, TooMany)>,
}

impl Texts {
    /// Takes no more than so many different ones, and says this of more.
    #[must_use]
    pub fn at_most(mut self, most: usize, otherwise: TooMany) -> Self {
        self.most = Some((most, otherwise));
        self
    }
}

impl Kind for Texts {
    type Value = Vec<String>;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<Vec<String>> {
        let texts = reader.list_of_text(name)?;
        if let Some((most, otherwise)) = self.most
            && texts.len() > most
            && texts.iter().collect::<BTreeSet<_>>().len() > most
        {
            reader.error(name, otherwise(most));
        }
        Some(texts)
    }

    fn write(&self, value: &Vec<String>) -> Value {
        value.as_slice().into()
    }

    fn schema(&self) -> Value {
        let mut schema = json!({"type": "array", "items": {"type": "string"}});
        if let Some((most, _)) = self.most {
            schema["maxItems"] = most.into();
        }
        schema
    }
}

/// Words of a closed set, and what they stand for. Of each other text `otherwise` is said.
#[must_use]
pub fn words<T: 'static>(words: &'static [(&'static str, T)], otherwise: &'static str) -> Words<T> {
    Words { words, otherwise }
}

/// See [`words`].
#[derive(Clone, Debug)]
pub struct Words<T: 'static> {
    words: &'static [(&'static str, T)],
    otherwise: &'static str,
}

impl<T: Clone + PartialEq> Kind for Words<T> {
    type Value = Vec<T>;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<Vec<T>> {
        let texts = reader.list_of_text(name)?;
        let meaning = |text: &String| self.words.iter().find(|(word, _)| word == text);
        for unknown in texts
            .iter()
            .filter(|text| meaning(text).is_none())
            .collect::<BTreeSet<_>>()
        {
            reader.error(name, format!("{unknown} {}", self.otherwise));
        }
        Some(
            texts
                .iter()
                .filter_map(meaning)
                .map(|(_, meaning)| meaning.clone())
                .collect(),
        )
    }

    fn write(&self, value: &Vec<T>) -> Value {
        let word = |meaning: &T| {
            self.words
                .iter()
                .find(|(_, known)| known == meaning)
                .map(|(word, _)| *word)
        };
        value.iter().filter_map(word).collect()
    }

    fn schema(&self) -> Value {
        let words: Vec<&str> = self.words.iter().map(|(word, _)| *word).collect();
        json!({"type": "array", "items": {"type": "string", "enum": words}})
    }
}

/// Identifiers that are numbers, of which `otherwise` is said where one is none. How many there may
/// be, the use case judges.
#[must_use]
pub fn ids<T>(most: usize, otherwise: &'static str) -> Ids<T> {
    Ids {
        most,
        otherwise,
        type_: PhantomData,
    }
}

/// See [`ids`].
#[derive(Clone, Debug)]
pub struct Ids<T> {
    most: usize,
    otherwise: &'static str,
    type_: PhantomData<T>,
}

impl<T: FromStr + Display> Kind for Ids<T> {
    type Value = Vec<T>;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<Vec<T>> {
        let texts = reader.list_of_text(name)?;
        let ids: Option<Vec<T>> = texts.iter().map(|text| text.parse().ok()).collect();
        if ids.as_ref().is_none_or(|ids| ids.len() > self.most) {
            reader.error(name, self.otherwise);
        }
        ids
    }

    fn write(&self, value: &Vec<T>) -> Value {
        value.iter().map(written_id).collect()
    }

    fn schema(&self) -> Value {
        json!({"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": self.most})
    }
}
