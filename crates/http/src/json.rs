//! JSON request bodies.

use serde_json::{Map, Value};

/// The deepest nesting of a body; its outermost object counts as 1.
const MAX_DEPTH: usize = 32;

/// Why a body is not a JSON object that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyError {
    /// The bytes are not UTF-8.
    #[error("The body is not valid UTF-8")]
    Utf8,
    /// Objects and arrays are nested more than [`MAX_DEPTH`] deep.
    #[error("The body is nested too deeply")]
    Depth,
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
pub(crate) fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, BodyError> {
    let text = std::str::from_utf8(bytes).map_err(|_| BodyError::Utf8)?;
    // RFC 8259, section 8.1: a byte order mark may be ignored; some .NET clients send one.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    if is_deeper_than(MAX_DEPTH, text) {
        return Err(BodyError::Depth);
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(BodyError::NotAnObject),
        Err(error) => Err(BodyError::Syntax { line: error.line(), column: error.column() }),
    }
}

/// Looks at brackets outside of strings only, so it costs no stack and judges broken JSON as well.
fn is_deeper_than(limit: usize, text: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn nested(depth: usize) -> String {
        format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1))
    }

    #[test]
    fn a_body_is_an_object() {
        let object =
            parse_object(br#"{"content": "hi", "tags": ["a"], "content": "ho"}"#).expect("an object");
        assert_eq!(Value::Object(object), json!({"content": "ho", "tags": ["a"]}));
        for body in ["[]", "1", "\"text\"", "null", "true"] {
            assert_eq!(parse_object(body.as_bytes()), Err(BodyError::NotAnObject), "{body}");
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
        assert_eq!(parse_object(b"{\n\"a\": }"), Err(BodyError::Syntax { line: 2, column: 6 }));
        for body in ["{", "{}x", "{'a': 1}", r#"{"a": "\ud800"}"#, "{\"a\": 1e999}", "{\"a\": \"\n\"}"] {
            assert!(matches!(parse_object(body.as_bytes()), Err(BodyError::Syntax { .. })), "{body}");
        }
        assert_eq!(parse_object(b"{\"a\": \"\xff\"}"), Err(BodyError::Utf8));
    }

    #[test]
    fn nesting_is_bounded_before_it_is_parsed() {
        assert!(parse_object(nested(32).as_bytes()).is_ok());
        assert_eq!(parse_object(nested(33).as_bytes()), Err(BodyError::Depth));
        assert_eq!(parse_object("[".repeat(1_000_000).as_bytes()), Err(BodyError::Depth));
        assert_eq!(parse_object("{\"a\":".repeat(1000).as_bytes()), Err(BodyError::Depth));
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
        }
    }
}
