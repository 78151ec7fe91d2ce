//! The text of messages as HTML, for clients that ask for it.

use std::borrow::Cow;

use eddyline_markup::chat;
use serde::Deserialize;
use serde_json::value::RawValue;

/// How many times as long as its text HTML may be, and how many bytes longer in any case. Longer
/// HTML is left out, so that lists and the memory of the stream keep to a bound: text of nothing
/// but mentions grows twelvefold.
const GROWTH: usize = 3;
const SPARE_BYTES: usize = 4096;

/// An encoded message or edit with `html` as last member: its text with light markdown, made safe.
/// Messages that have no such text stay as they are, as do those whose HTML would be longer than
/// three times the text and 4 KiB.
pub(crate) fn add_html(object: &[u8]) -> Vec<u8> {
    html_of(object)
        .and_then(|html| serde_json::to_vec(&html).ok())
        .map_or_else(
            || object.to_vec(),
            |html| [&object[..object.len() - 1], b",\"html\":", &html, b"}"].concat(),
        )
}

/// The same for each message of an encoded list.
pub(crate) fn add_html_to_list(list: &[u8]) -> Vec<u8> {
    let Ok(messages) = serde_json::from_slice::<Vec<&RawValue>>(list) else {
        return list.to_vec();
    };
    let each = messages
        .into_iter()
        .map(|message| add_html(message.get().as_bytes()));
    let joined = each.collect::<Vec<_>>().join(&b","[..]);
    [b"[", &*joined, b"]"].concat()
}

/// What an object says of its text. The rest of it is not decoded.
#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    content: &'a RawValue,
}

/// The content of a comment or an edit.
#[derive(Deserialize)]
struct Inside<'a> {
    #[serde(borrow, alias = "updated_content")]
    text: Cow<'a, str>,
}

fn html_of(object: &[u8]) -> Option<String> {
    let Said { event, content } = serde_json::from_slice(object).ok()?;
    let text: Cow<'_, str> = match &*event {
        "message" | "status" => serde_json::from_str(content.get()).ok()?,
        "comment" | "message-edit" => serde_json::from_str::<Inside<'_>>(content.get()).ok()?.text,
        _ => return None,
    };
    html_of_text(&text)
}

/// The text of a message, comment or status as HTML. `None` where it would be too long.
#[must_use]
pub fn html_of_text(text: &str) -> Option<String> {
    let html = chat(text);
    (html.len() <= GROWTH * text.len() + SPARE_BYTES).then_some(html)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn with_html(object: &Value) -> Value {
        serde_json::from_slice(&add_html(object.to_string().as_bytes())).unwrap()
    }

    #[test]
    fn each_kind_of_text_has_html() {
        for (event, content) in [
            ("message", json!("a **b**")),
            ("status", json!("a **b**")),
            ("comment", json!({"title": "c", "text": "a **b**"})),
            (
                "message-edit",
                json!({"message": 1, "updated_content": "a **b**"}),
            ),
        ] {
            let object = json!({"event": event, "content": content});
            assert_eq!(with_html(&object)["html"], "a <b>b</b>", "{event}");
        }
    }

    #[test]
    fn what_has_no_text_stays_as_it_is() {
        for object in [
            json!({"event": "file", "content": {"file_name": "a"}}),
            json!({"event": "message-delete", "content": {"message": 1}}),
        ] {
            assert_eq!(with_html(&object), object);
        }
    }

    #[test]
    fn html_has_a_bound() {
        let object = |words: usize| json!({"event": "message", "content": "@a ".repeat(words)});
        assert!(with_html(&object(100))["html"].is_string());
        assert_eq!(with_html(&object(8000 / 3))["html"], Value::Null);
        let long = json!({"event": "message", "content": "word ".repeat(20_000)});
        assert!(with_html(&long)["html"].is_string());
    }

    #[test]
    fn a_list_has_html_in_each_of_its_messages() {
        let list = json!([
            {"event": "message", "content": "<"},
            {"event": "activity", "content": {}},
        ]);
        let shown: Value =
            serde_json::from_slice(&add_html_to_list(list.to_string().as_bytes())).unwrap();
        assert_eq!(
            shown,
            json!([
                {"event": "message", "content": "<", "html": "&lt;"},
                {"event": "activity", "content": {}},
            ])
        );
        assert_eq!(add_html_to_list(b"[]"), b"[]");
    }
}
