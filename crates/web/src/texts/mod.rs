//! The texts of the pages and of their script, in each language.
//!
//! The files `texts/*.json` have them by area. For the pages they are fields of structs, so that the
//! compiler finds a template that names none, and texts that no page shows; reading a file fails
//! where a language lacks a text or has one too many. The areas `script`, `both` and `locale` go to
//! the script as a module (`language.js`), which finds them by their keys.
//!
//! Texts are plain: what shows them escapes them.

mod areas;
mod phrase;

use std::ops::Deref;
use std::sync::LazyLock;

use http::HeaderMap;
use intl_pluralrules::{PluralRuleType, PluralRules};
use serde_json::{Map, Value, json};

use self::areas::Areas;
pub(crate) use self::areas::Menu;
use self::phrase::{Filled, Value as Filling};
pub(crate) use self::phrase::{Phrase, Plural};
use crate::language::Language;

static ENGLISH: LazyLock<Texts> = LazyLock::new(|| Texts::load(Language::English));
static GERMAN: LazyLock<Texts> = LazyLock::new(|| Texts::load(Language::German));

/// The file of a language.
fn file(language: Language) -> &'static str {
    match language {
        Language::English => include_str!("../../texts/en.json"),
        Language::German => include_str!("../../texts/de.json"),
    }
}

/// The texts in one language. They live as long as the program.
pub(crate) struct Texts {
    pub(crate) language: Language,
    areas: Areas,
    rules: PluralRules,
    /// The module with the texts of the script.
    module: String,
    /// The texts of the service worker, as JSON.
    worker: String,
}

impl Deref for Texts {
    type Target = Areas;

    fn deref(&self) -> &Areas {
        &self.areas
    }
}

impl Texts {
    /// The texts of a language.
    pub(crate) fn in_language(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
        }
    }

    /// The texts in the language of a request.
    pub(crate) fn of(headers: &HeaderMap) -> &'static Self {
        Self::in_language(Language::of(headers))
    }

    /// Reads a file. It is a part of the program, and a test reads each.
    fn load(language: Language) -> Self {
        let name = language.tag();
        Self::parse(language, file(language))
            .unwrap_or_else(|error| panic!("texts/{name}.json: {error}"))
    }

    fn parse(language: Language, file: &str) -> Result<Self, String> {
        let mut all: Map<String, Value> =
            serde_json::from_str(file).map_err(|error| error.to_string())?;
        let script = all.remove("script").ok_or("lacks the area `script`")?;
        let shared = json!({ "both": all["both"], "locale": all["locale"], "script": script });
        let areas = serde_json::from_value(all.into()).map_err(|error| error.to_string())?;
        let tag = language.tag();
        Ok(Self {
            language,
            areas,
            rules: rules(tag)?,
            module: format!("export const language = '{tag}';\nexport const texts = {shared};\n"),
            worker: shared["script"]["notice"].to_string(),
        })
    }

    /// A text for a number.
    pub(crate) fn count<'a>(&self, plural: &'a Plural, n: usize) -> Filled<'a, Filling<(), usize>> {
        plural.of(&self.rules, n)
    }

    /// The texts of the script, as a module.
    pub(crate) fn module(&self) -> &str {
        &self.module
    }

    /// The texts of the service worker, as JSON.
    pub(crate) fn worker(&self) -> &str {
        &self.worker
    }
}

/// The rules by which a language counts (CLDR).
fn rules(tag: &str) -> Result<PluralRules, String> {
    let known = PluralRules::get_locales(PluralRuleType::CARDINAL);
    let language = known.into_iter().find(|known| *known == tag);
    let language = language.ok_or("has no rules of plurals")?;
    PluralRules::create(language, PluralRuleType::CARDINAL).map_err(str::to_owned)
}

#[cfg(test)]
mod tests;
