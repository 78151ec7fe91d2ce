//! The text of messages as HTML, for clients that ask for it.

use std::borrow::Cow;

use eddyline_markup::{chat, chat_text, text};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// How many times as long as its text HTML may be, and how many bytes longer in any case. Longer
/// HTML is left out, so that lists and the memory of the stream keep to a bound: text of nothing
/// but mentions grows twelvefold.
const GROWTH: usize = 3;
const SPARE_BYTES: usize = 4096;

/// An encoded message or edit with `html` as last member: its text with light markdown, made
/// safe. Messages that have no such text have none, nor have those whose HTML would be longer than
/// three times the text and 4 KiB. A message of a thread whose title has light markdown has
/// `thread_title` before it.
pub(crate) fn add_html(object: &[u8]) -> Vec<u8> {
    let Ok(said) = serde_json::from_slice::<Said<'_>>(object) else {
        return object.to_vec();
    };
    let title = said.thread.as_ref().and_then(TitleJson::plain);
    with_members(object, [("thread_title", title), ("html", said.html())])
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

/// An encoded list of threads, in which each whose title has light markdown has `plain_title` as last
/// member.
#[must_use]
pub fn add_plain_titles(list: &[u8]) -> Vec<u8> {
    let Ok(threads) = serde_json::from_slice::<Vec<&RawValue>>(list) else {
        return list.to_vec();
    };
    let each = threads.into_iter().map(|thread| {
        let thread = thread.get().as_bytes();
        let title = serde_json::from_slice::<TitleJson<'_>>(thread).ok();
        let plain = title.as_ref().and_then(TitleJson::plain);
        with_members(thread, [("plain_title", plain)])
    });
    let joined = each.collect::<Vec<_>>().join(&b","[..]);
    [b"[", &*joined, b"]"].concat()
}

/// An encoded object with further members of text.
fn with_members<const N: usize>(object: &[u8], members: [(&str, Option<String>); N]) -> Vec<u8> {
    let mut json = object.to_vec();
    for (name, value) in members {
        let Some(value) = value.and_then(|value| serde_json::to_vec(&value).ok()) else {
            continue;
        };
        json.pop();
        json.extend([b",\"", name.as_bytes(), b"\":", &value, b"}"].concat());
    }
    json
}

/// What an object says of its text. The rest of it is not decoded.
#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(borrow)]
    thread: Option<TitleJson<'a>>,
}

/// What a thread says of its title.
#[derive(Deserialize)]
struct TitleJson<'a> {
    #[serde(borrow)]
    title: Cow<'a, str>,
    source: Option<IgnoredAny>,
}

impl TitleJson<'_> {
    /// The title without light markdown, if it has some. That of an outside item has none.
    fn plain(&self) -> Option<String> {
        let title = Some(text(&self.title)).filter(|_| self.source.is_none())?;
        Some(chat_text(&title)).filter(|plain| *plain != title)
    }
}

/// The content of a comment or an edit.
#[derive(Deserialize)]
struct Inside<'a> {
    #[serde(borrow, alias = "updated_content")]
    text: Cow<'a, str>,
}

impl Said<'_> {
    fn html(&self) -> Option<String> {
        let content = self.content.get();
        let text: Cow<'_, str> = match &*self.event {
            "message" | "status" => serde_json::from_str(content).ok()?,
            "comment" | "message-edit" => serde_json::from_str::<Inside<'_>>(content).ok()?.text,
            _ => return None,
        };
        html_of_text(&text)
    }
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
    fn a_title_with_markdown_is_there_without_it() {
        let title = |title: &str, source: Value| {
            let thread = json!({"title": title, "source": source});
            let object = json!({"event": "file", "content": {}, "thread": thread});
            with_html(&object)["thread_title"].clone()
        };
        let none = || Value::Null;
        assert_eq!(title("**Lunch** &lt; `tea`", none()), "Lunch < tea");
        assert_eq!(title("Lunch &lt; tea", none()), none());
        assert_eq!(title("**kept**", json!({"id": 1})), none());
        let both =
            json!({"event": "message", "content": "a", "thread": {"title": "*b*", "source": null}});
        let shown = with_html(&both);
        assert_eq!(
            (&shown["html"], &shown["thread_title"]),
            (&json!("a"), &json!("b"))
        );
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

    #[test]
    fn a_list_of_threads_has_titles_without_markdown() {
        let list = json!([
            {"id": "a", "title": "**bold** &amp; plain", "source": null},
            {"id": "b", "title": "plain", "source": null},
            {"id": "c", "title": "**as it is**", "source": {"id": 1}},
        ]);
        let mut expected = list.clone();
        expected[0]["plain_title"] = json!("bold & plain");
        let shown = add_plain_titles(list.to_string().as_bytes());
        assert_eq!(serde_json::from_slice::<Value>(&shown).unwrap(), expected);
        assert_eq!(add_plain_titles(b"[]"), b"[]");
    }
}
