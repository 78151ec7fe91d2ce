//! The parameters of a request, and reading them by type.
//!
//! A handler asks its [`Reader`] for one parameter after the other and then for the verdict, so
//! that the caller learns of all mistakes at once:
//!
//! ```text
//! let mut p = params.reader();
//! let content = p.required_text("content", 1..=8096);
//! let limit = p.number_in("limit", 1..=100, 30);
//! p.finish()?;
//! ```

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::Serialize;
use serde_json::{Map, Value};

/// Parameters that were refused: for each its name and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("Validation error")]
pub(crate) struct Invalid {
    /// Texts for the caller, by the name of the parameter.
    pub(crate) errors: BTreeMap<String, Vec<String>>,
}

impl Invalid {
    /// One parameter with one mistake.
    pub(crate) fn one(name: &str, text: impl Into<String>) -> Self {
        Self { errors: BTreeMap::from([(name.to_owned(), vec![text.into()])]) }
    }
}

/// The parameters of a request, from wherever they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Map<String, Value>);

impl Params {
    /// Joins the parameters of the query and of the body. Where both have a name, the body's counts.
    pub(crate) fn merge(query: Map<String, Value>, body: Map<String, Value>) -> Self {
        let mut all = query;
        all.extend(body);
        Self(all)
    }

    /// Whether the parameter is there, and not null.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Begins to read and to collect mistakes.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { params: self, invalid: Invalid::default() }
    }

    /// A JSON null is no value.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }
}

/// Reads parameters by type and collects what is wrong with them.
///
/// After a mistake a getter answers as if the parameter were absent. So what it answered means
/// nothing until [`Reader::finish`] has found no mistake. Unknown parameters are ignored.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    params: &'a Params,
    invalid: Invalid,
}

impl<'a> Reader<'a> {
    /// Notes a mistake that the handler itself has found.
    pub(crate) fn error(&mut self, name: &str, text: impl Into<String>) {
        self.invalid.errors.entry(name.to_owned()).or_default().push(text.into());
    }

    /// The verdict: every mistake found so far, or none.
    pub(crate) fn finish(&mut self) -> Result<(), Invalid> {
        if self.invalid.errors.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.invalid)) }
    }

    /// The value as it came, for parameters that have more than one form. No text in it, however
    /// deep, has a NUL.
    pub(crate) fn value(&mut self, name: &str) -> Option<&'a Value> {
        let value = self.params.get(name)?;
        if has_nul(value) {
            self.error(name, "must not contain NUL characters");
            return None;
        }
        Some(value)
    }

    /// A text of so many characters (Unicode scalar values). A number is taken as the text of it.
    pub(crate) fn opt_text(&mut self, name: &str, characters: RangeInclusive<usize>) -> Option<String> {
        let value = self.value(name)?;
        let text = self.expect(name, "must be a text", as_text(value))?;
        let count = text.chars().count();
        if count > *characters.end() {
            self.error(name, format!("is too long (maximum is {} characters)", characters.end()));
        } else if count == 0 && *characters.start() > 0 {
            self.error(name, "can't be blank");
        } else if count < *characters.start() {
            self.error(name, format!("is too short (minimum is {} characters)", characters.start()));
        } else {
            return Some(text);
        }
        None
    }

    /// The same where absence is a mistake. After a mistake the text is empty.
    pub(crate) fn required_text(&mut self, name: &str, characters: RangeInclusive<usize>) -> String {
        self.require(name);
        self.opt_text(name, characters).unwrap_or_default()
    }

    /// A truth value: `true`, `false`, `1` or `0`, as JSON or as a text.
    pub(crate) fn opt_bool(&mut self, name: &str) -> Option<bool> {
        let value = self.value(name)?;
        let text = match value {
            Value::Bool(truth) => return Some(*truth),
            other => as_text(other),
        };
        let truth = match text.as_deref() {
            Some("true" | "1") => Some(true),
            Some("false" | "0") => Some(false),
            _ => None,
        };
        self.expect(name, "must be true or false", truth)
    }

    /// A whole number within the range, as a JSON number or a text. One outside is a mistake.
    pub(crate) fn opt_number_in(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
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
    pub(crate) fn number_in(&mut self, name: &str, range: RangeInclusive<i64>, default: i64) -> i64 {
        self.opt_number_in(name, range).unwrap_or(default)
    }

    /// An identifier, as a JSON number or a text.
    pub(crate) fn opt_id<T>(&mut self, name: &str) -> Option<T>
    where
        T: FromStr,
        T::Err: Display,
    {
        let value = self.value(name)?;
        let text = self.expect(name, "is not a valid id", as_text(value))?;
        match text.parse() {
            Ok(id) => Some(id),
            Err(error) => {
                self.error(name, error.to_string());
                None
            }
        }
    }

    /// An identifier that must be there. There is no stand-in for one, so this is a verdict like
    /// [`Reader::finish`]: read it last.
    pub(crate) fn required_id<T>(&mut self, name: &str) -> Result<T, Invalid>
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
    pub(crate) fn opt_choice<T: Clone>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let value = self.value(name)?;
        let found = choices.iter().find(|(word, _)| value == word).map(|(_, meaning)| meaning.clone());
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        self.expect(name, &format!("must be one of: {}", words.join(", ")), found)
    }

    /// Texts, as an array or as one text with commas between them, around which blanks and empty
    /// parts are dropped. An empty list is not the same as an absent one.
    pub(crate) fn list_of_text(&mut self, name: &str) -> Option<Vec<String>> {
        let value = self.value(name)?;
        let list = match value {
            Value::Array(list) => list.iter().map(as_text).collect(),
            other => as_text(other).map(|text| {
                text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
            }),
        };
        self.expect(name, "must be a list of texts", list)
    }

    fn require(&mut self, name: &str) {
        if !self.params.has(name) {
            self.error(name, "is required");
        }
    }

    fn expect<T>(&mut self, name: &str, otherwise: &str, found: Option<T>) -> Option<T> {
        if found.is_none() {
            self.error(name, otherwise);
        }
        found
    }
}

/// Old clients send numbers where texts belong (a uuid, tags), and texts where numbers belong.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// PostgreSQL keeps no NUL in a text, so none is let in. Bodies are at most 32 deep.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(list) => list.iter().any(has_nul),
        Value::Object(map) => map.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use eddyline_model::{MessageId, UserId};
    use serde_json::json;

    use super::*;

    fn params(body: Value) -> Params {
        match body {
            Value::Object(map) => Params::merge(Map::new(), map),
            other => panic!("not an object: {other}"),
        }
    }

    /// What a getter answers, and the mistakes it noted for the parameter `x`.
    fn read<T>(value: Value, get: impl FnOnce(&mut Reader<'_>) -> T) -> (T, Vec<String>) {
        let params = Params(Map::from_iter([("x".to_owned(), value)]));
        let mut reader = params.reader();
        let answer = get(&mut reader);
        let mistakes = reader.finish().err().and_then(|mut invalid| invalid.errors.remove("x"));
        (answer, mistakes.unwrap_or_default())
    }

    fn mistake<T>(value: Value, get: impl FnOnce(&mut Reader<'_>) -> T) -> String {
        read(value, get).1.join("; ")
    }

    #[test]
    fn the_body_wins_over_the_query() {
        let map = |value: Value| value.as_object().cloned().unwrap_or_default();
        let params = Params::merge(map(json!({"a": "1", "b": "2"})), map(json!({"b": "3", "c": null})));
        let mut reader = params.reader();
        assert_eq!(reader.number_in("a", 0..=9, 0), 1);
        assert_eq!(reader.number_in("b", 0..=9, 0), 3);
        assert!(params.has("a") && !params.has("c") && !params.has("d"));
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let params = params(json!({"limit": 0, "open": "yes"}));
        let mut reader = params.reader();
        reader.required_text("content", 1..=8096);
        reader.opt_bool("open");
        reader.number_in("limit", 1..=100, 30);
        reader.error("flow", "is archived");
        let invalid = reader.finish().expect_err("mistakes");
        assert_eq!(
            serde_json::to_value(&invalid).expect("JSON"),
            json!({"errors": {
                "content": ["is required"],
                "flow": ["is archived"],
                "limit": ["must be a whole number from 1 to 100"],
                "open": ["must be true or false"],
            }})
        );
    }

    #[test]
    fn an_absent_or_null_parameter_is_no_mistake_unless_required() {
        for params in [params(json!({})), params(json!({"x": null}))] {
            let mut reader = params.reader();
            assert_eq!(reader.opt_text("x", 1..=5), None);
            assert_eq!(reader.opt_bool("x"), None);
            assert_eq!(reader.number_in("x", 1..=100, 30), 30);
            assert_eq!(reader.opt_id::<UserId>("x"), None);
            assert_eq!(reader.list_of_text("x"), None);
            assert_eq!(reader.finish(), Ok(()));

            assert_eq!(reader.required_text("x", 1..=5), "");
            assert_eq!(reader.finish(), Err(Invalid::one("x", "is required")));
        }
    }

    #[test]
    fn a_text_is_measured_in_characters() {
        let get = |p: &mut Reader<'_>| p.opt_text("x", 2..=3);
        assert_eq!(read(json!("äöü"), get), (Some("äöü".to_owned()), vec![]));
        assert_eq!(mistake(json!("äöüß"), get), "is too long (maximum is 3 characters)");
        assert_eq!(mistake(json!("a"), get), "is too short (minimum is 2 characters)");
        assert_eq!(mistake(json!(""), get), "can't be blank");
        assert_eq!(read(json!(""), |p| p.opt_text("x", 0..=3)), (Some(String::new()), vec![]));
    }

    #[test]
    fn a_number_will_do_for_a_text_but_nothing_else() {
        let get = |p: &mut Reader<'_>| p.opt_text("x", 1..=30);
        assert_eq!(read(json!(17), get).0.as_deref(), Some("17"));
        for value in [json!(true), json!([]), json!({"a": 1})] {
            assert_eq!(mistake(value, get), "must be a text");
        }
    }

    #[test]
    fn a_nul_is_refused_wherever_it_hides() {
        let nul = "must not contain NUL characters";
        assert_eq!(mistake(json!("a\0b"), |p| p.required_text("x", 1..=5)), nul);
        assert_eq!(mistake(json!(["a", "\0"]), |p| p.list_of_text("x")), nul);
        assert_eq!(mistake(json!({"a": [{"b": "\0"}]}), |p| p.value("x").is_some()), nul);
        assert_eq!(mistake(json!({"\0": 1}), |p| p.value("x").is_some()), nul);
        assert_eq!(mistake(json!("1\0"), |p| p.opt_id::<MessageId>("x")), nul);
    }

    #[test]
    fn truth_has_three_forms() {
        for (value, truth) in [
            (json!(true), true),
            (json!(1), true),
            (json!("1"), true),
            (json!("true"), true),
            (json!(false), false),
            (json!(0), false),
            (json!("0"), false),
            (json!("false"), false),
        ] {
            assert_eq!(read(value, |p| p.opt_bool("x")), (Some(truth), vec![]));
        }
        for value in [json!("yes"), json!(2), json!("TRUE"), json!(""), json!([]), json!(1.0)] {
            assert_eq!(mistake(value, |p| p.opt_bool("x")), "must be true or false");
        }
    }

    #[test]
    fn a_number_out_of_range_is_never_clamped() {
        let get = |p: &mut Reader<'_>| p.number_in("x", 1..=100, 30);
        for (value, number) in [(json!(1), 1), (json!("100"), 100), (json!("07"), 7)] {
            assert_eq!(read(value, get), (number, vec![]));
        }
        for value in [
            json!(0),
            json!(101),
            json!("-1"),
            json!("+1"),
            json!(" 1"),
            json!("ten"),
            json!(""),
            json!(1.5),
            json!(true),
            json!("99999999999999999999"),
            json!(u64::MAX),
        ] {
            assert_eq!(mistake(value, get), "must be a whole number from 1 to 100");
        }
        assert_eq!(
            mistake(json!(-1), |p| p.opt_number_in("x", 0..=i64::MAX)),
            "must be a whole number, 0 or more"
        );
    }

    #[test]
    fn an_id_is_read_by_its_type() {
        assert_eq!(read(json!("12"), |p| p.required_id("x")).0, Ok(MessageId(12)));
        assert_eq!(read(json!(12), |p| p.opt_id("x")).0, Some(UserId(12)));
        for value in [json!(0), json!(-1), json!("a"), json!(1.5), json!([]), json!("99999999999999999999")] {
            let refused = Err(Invalid::one("x", "is not a valid id"));
            assert_eq!(read(value, |p| p.required_id::<MessageId>("x")).0, refused);
        }
    }

    #[test]
    fn a_required_id_tells_the_earlier_mistakes_too() {
        let params = params(json!({}));
        let mut reader = params.reader();
        reader.required_text("content", 1..=10);
        let invalid = reader.required_id::<MessageId>("message").expect_err("mistakes");
        assert_eq!(invalid.errors.keys().collect::<Vec<_>>(), ["content", "message"]);
    }

    #[test]
    fn a_list_is_an_array_or_a_text_with_commas() {
        let get = |p: &mut Reader<'_>| p.list_of_text("x");
        let of = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(read(json!("a, b,,c "), get), (of(&["a", "b", "c"]), vec![]));
        assert_eq!(read(json!(["a,b", 16]), get), (of(&["a,b", "16"]), vec![]));
        assert_eq!(read(json!(16), get), (of(&["16"]), vec![]));
        assert_eq!(read(json!(""), get), (of(&[]), vec![]));
        assert_eq!(read(json!([]), get), (of(&[]), vec![]));
        for value in [json!({"a": "b"}), json!([["a"]]), json!([null]), json!(true)] {
            assert_eq!(mistake(value, get), "must be a list of texts");
        }
    }

    #[test]
    fn a_choice_is_one_of_its_words() {
        let get = |p: &mut Reader<'_>| p.opt_choice("x", &[("asc", 1), ("desc", -1)]);
        assert_eq!(read(json!("desc"), get), (Some(-1), vec![]));
        assert_eq!(mistake(json!("up"), get), "must be one of: asc, desc");
    }
}
