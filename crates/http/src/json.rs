//! JSON request bodies.

use std::fmt;

use eddyline_wire::forms::Bounds;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The deepest nesting of a body; its outermost object counts as 1.
const MAX_DEPTH: usize = 32;

/// Why a body is not a JSON object that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JsonError {
    /// The bytes are not UTF-8.
    #[error("The body is not valid UTF-8")]
    Utf8,
    /// Objects and arrays are nested more than [`MAX_DEPTH`] deep.
    #[error("The body is nested too deeply")]
    Depth,
    /// It has more values than the bounds.
    #[error(
        "The body has too many values: at most {} are taken, {} objects and arrays among them",
        .0.values, .0.containers
    )]
    Count(Bounds),
    /// The text is not JSON; lines and columns count from 1.
    #[error("The body is not valid JSON (line {line}, column {column})")]
    Syntax {
        /// The line of the mistake.
        line: usize,
        /// The column of the mistake.
        column: usize,
    },
    /// The JSON is something other than an object.
    #[error("The body must be a JSON object")]
    NotAnObject,
}

/// Reads a body that must be a JSON object. A body that is empty or blank is an empty object, since
/// clients announce JSON on requests without a body too. Of repeated names the last counts.
pub(crate) fn parse_object(bytes: &[u8], bounds: Bounds) -> Result<Map<String, Value>, JsonError> {
    let Some(text) = checked(bytes, bounds)? else {
        return Ok(Map::new());
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(JsonError::NotAnObject),
        Err(error) => Err(syntax(&error)),
    }
}

/// Reads of such a body only the members with these names, and of those only what is no list and no
/// object: for those an empty one stands. The rest takes no memory.
pub(crate) fn parse_only(bytes: &[u8], names: &[&str]) -> Result<Map<String, Value>, JsonError> {
    let Some(text) = checked(bytes, Bounds::CHANGE)? else {
        return Ok(Map::new());
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = deserializer
        .deserialize_any(Members(names))
        .and_then(|found| {
            deserializer.end()?;
            Ok(found)
        });
    // What is no object is an error of this visitor, which has its place in the text too.
    found.map_err(|error| {
        if error.is_data() {
            JsonError::NotAnObject
        } else {
            syntax(&error)
        }
    })
}

/// The text of a body within its bounds; `None` for a blank one.
fn checked(bytes: &[u8], bounds: Bounds) -> Result<Option<&str>, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|_| JsonError::Utf8)?;
    // RFC 8259, section 8.1: a byte order mark may be ignored; some .NET clients send one.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    check_bounds(text, bounds)?;
    Ok(Some(text))
}

fn syntax(error: &serde_json::Error) -> JsonError {
    JsonError::Syntax {
        line: error.line(),
        column: error.column(),
    }
}

/// Looks at brackets and commas outside of strings only, so it costs no stack and judges broken
/// JSON as well. The outermost object does not count.
fn check_bounds(text: &str, bounds: Bounds) -> Result<(), JsonError> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let (mut containers, mut commas) = (0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                containers += 1;
                if depth > MAX_DEPTH {
                    return Err(JsonError::Depth);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => commas += 1,
            _ => {}
        }
        // Each container has a first value, and one more behind each comma.
        if containers > bounds.containers + 1 || containers + commas > bounds.values {
            return Err(JsonError::Count(bounds));
        }
    }
    Ok(())
}

/// Reads an object and keeps its members with these names.
struct Members<'a>(&'a [&'a str]);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if self.0.contains(&name.as_str()) {
                let Plain(value) = map.next_value()?;
                found.insert(name, value);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// A value whose inner values are left out.
struct Plain(Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor).map(Self)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(Vec::new()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Object(Map::new()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, JsonError> {
        super::parse_object(bytes, Bounds::CHANGE)
    }

    fn nested(depth: usize) -> String {
        format!(
            "{{\"a\":{}{}}}",
            "[".repeat(depth - 1),
            "]".repeat(depth - 1)
        )
    }

    #[test]
    fn a_body_is_an_object() {
        let object = parse_object(br#"{"content": "hi", "tags": ["a"], "content": "ho"}"#)
            .expect("an object");
        assert_eq!(
            Value::Object(object),
            json!({"content": "ho", "tags": ["a"]})
        );
        for body in ["[]", "1", "\"text\"", "null", "true"] {
            assert_eq!(
                parse_object(body.as_bytes()),
                Err(JsonError::NotAnObject),
                "{body}"
            );
        }
    }

    #[test]
    fn no_body_is_an_empty_object() {
        for body in ["", " \r\n", "\u{feff}", "\u{feff}{}"] {
            assert_eq!(parse_object(body.as_bytes()), Ok(Map::new()), "{body:?}");
        }
    }

    #[test]
    fn broken_json_is_refused_with_its_place() {
        assert_eq!(
            parse_object(b"{\n\"a\": }"),
            Err(JsonError::Syntax { line: 2, column: 6 })
        );
        for body in [
            "{",
            "{}x",
            "{'a': 1}",
            r#"{"a": "\ud800"}"#,
            "{\"a\": 1e999}",
            "{\"a\": \"\n\"}",
        ] {
            assert!(
                matches!(parse_object(body.as_bytes()), Err(JsonError::Syntax { .. })),
                "{body}"
            );
        }
        assert_eq!(parse_object(b"{\"a\": \"\xff\"}"), Err(JsonError::Utf8));
    }

    #[test]
    fn nesting_is_bounded_before_it_is_parsed() {
        assert!(parse_object(nested(32).as_bytes()).is_ok());
        assert_eq!(parse_object(nested(33).as_bytes()), Err(JsonError::Depth));
        assert_eq!(
            parse_object("[".repeat(1_000_000).as_bytes()),
            Err(JsonError::Depth)
        );
        assert_eq!(
            parse_object("{\"a\":".repeat(1000).as_bytes()),
            Err(JsonError::Depth)
        );
    }

    #[test]
    fn values_are_counted_before_they_are_parsed() {
        let bounds = Bounds {
            values: 10,
            containers: 3,
        };
        let parse = |text: &str| super::parse_object(text.as_bytes(), bounds);
        let list = |count: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(count - 1));
        assert!(parse(&list(9)).is_ok());
        assert_eq!(
            parse(&list(10)),
            Err(JsonError::Count(bounds)),
            "the list is one of them"
        );
        assert!(parse(r#"{"a":[{},{}]}"#).is_ok());
        assert_eq!(parse(r#"{"a":[{},{},{}]}"#), Err(JsonError::Count(bounds)));
        assert_eq!(
            parse(&"[{},".repeat(1_000_000)),
            Err(JsonError::Count(bounds))
        );
        assert!(parse(&format!("{{\"a\":\"{}\"}}", ",[{".repeat(1000))).is_ok());
    }

    #[test]
    fn only_the_wanted_members_are_read() {
        let parse =
            |text: &str| parse_only(text.as_bytes(), &["token", "event"]).map(Value::Object);
        let text = r#"{"a": [{"token": 1}], "token": "x", "event": {"b": [1]}, "token": "y"}"#;
        assert_eq!(parse(text), Ok(json!({"token": "y", "event": {}})));
        for value in ["1", "-1", "1.5", "true", "null", "[]", "\"\\n\u{fc}\""] {
            let text = format!("{{\"token\": {value}}}");
            assert_eq!(
                parse(&text),
                Ok(serde_json::from_str(&text).unwrap()),
                "{value}"
            );
        }
        for text in ["", "{}", " \n"] {
            assert_eq!(parse(text), Ok(json!({})), "{text:?}");
        }
        for body in [
            "[]",
            "1",
            "\"text\"",
            "null",
            "true",
            "{",
            "{}x",
            "{'a': 1}",
            "{\n\"a\": }",
        ] {
            assert_eq!(
                parse(body),
                parse_object(body.as_bytes()).map(Value::Object),
                "{body}"
            );
        }
        assert!(matches!(parse(&nested(33)), Err(JsonError::Depth)));
    }

    #[test]
    fn brackets_inside_of_texts_do_not_nest() {
        let body = format!(r#"{{"a": "\"{}", "b": "\\"}}"#, "[{".repeat(100));
        assert!(parse_object(body.as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(bytes: Vec<u8>, text in "[\\[\\]{}\"\\\\,:a1 ]{0,80}") {
            let _ = parse_object(&bytes);
            let _ = parse_object(text.as_bytes());
            let _ = parse_only(text.as_bytes(), &["a"]);
        }
    }
}
