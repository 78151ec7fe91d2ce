//! What integrations write: the state of an outside item, and who did something to it
//! (specification, sections 2 and 4).

use eddyline_model::items::{
    Action, ActionMethod, Color, EntryPoint, Field, Item, MAX_ACTIONS, MAX_BODY_BYTES, MAX_FIELDS,
    MAX_SHORT_CHARS, MAX_TITLE_CHARS, MAX_VALUE_CHARS, Status,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::author::Author;
use crate::messages::Attachment;
use crate::reading::{FieldErrors, Object};

/// What an activity or a discussion holds, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxContent {
    /// Who did it.
    pub author: Option<Author>,
    /// What happened; HTML of links only.
    pub title: String,
    /// What was said; HTML.
    pub body: String,
    /// Files that came with it.
    pub attachments: Vec<Attachment>,
}

/// Reads the parameter `thread`: the state of an item as somebody wrote it, with its HTML not
/// looked at yet. Notes what is wrong with it.
pub fn read_item(value: &Value, errors: &mut FieldErrors) -> Option<Item> {
    let mut item = Object::new(value, "thread".into(), errors)?;
    let title = item.required_text("title", MAX_TITLE_CHARS);
    let body = item.text("body", MAX_BODY_BYTES).unwrap_or_default();
    if body.len() > MAX_BODY_BYTES {
        item.error(
            "body",
            format!("is too long (maximum is {MAX_BODY_BYTES} bytes)"),
        );
    }
    let external_url = item.url("external_url");
    let status = item.object("status").and_then(|mut status| {
        let colors = [&Color::EACH[..], &Color::CSS[..]].concat();
        let color = status.choice("color", &colors, true);
        match status.text("value", MAX_SHORT_CHARS) {
            Some(value) => Some(Status { value, color }),
            // A colour alone says nothing.
            None if color.is_some() => {
                status.error("value", "can't be blank");
                None
            }
            None => None,
        }
    });
    let fields = item.each("fields", MAX_FIELDS, |field| {
        Some(Field {
            label: field.required_text("label", MAX_SHORT_CHARS),
            value: field.text("value", MAX_VALUE_CHARS).unwrap_or_default(),
        })
    });
    let actions = item.each("actions", MAX_ACTIONS, read_action);
    Some(Item {
        title,
        body,
        external_url,
        status,
        actions,
        fields,
    })
}

fn read_action(action: &mut Object<'_, '_>) -> Option<Action> {
    let kinds = [("ViewAction", true), ("UpdateAction", false)];
    let Some(view) = action.choice("@type", &kinds, false) else {
        if action.text("@type", 100).is_none() {
            action.error("@type", "can't be blank");
        }
        return None;
    };
    let name = action.required_text("name", MAX_SHORT_CHARS);
    let description = action.text("description", MAX_VALUE_CHARS);
    if view {
        let (url, image) = (action.required_url("url"), action.url("image"));
        return Some(Action::View {
            url,
            name,
            description,
            image,
        });
    }
    let Some(mut target) = action.object("target") else {
        action.error("target", "must be an object");
        return None;
    };
    let kind = target.choice("@type", &[("EntryPoint", ())], false);
    if kind.is_none() && target.text("@type", 100).is_none() {
        target.error("@type", "can't be blank");
    }
    let url = target.required_url("urlTemplate");
    let method = target
        .choice("httpMethod", &ActionMethod::EACH, true)
        .unwrap_or_default();
    Some(Action::Update {
        name,
        description,
        target: EntryPoint::EntryPoint { url, method },
    })
}

/// Reads the parameter `author`.
pub fn read_author(value: &Value, errors: &mut FieldErrors) -> Option<Author> {
    let mut author = Object::new(value, "author".into(), errors)?;
    let avatar = author.url("avatar");
    Some(Author {
        name: author.required_text("name", MAX_SHORT_CHARS),
        avatar,
        avatar_path: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<Item, FieldErrors> {
        let mut errors = FieldErrors::new();
        let item = read_item(value, &mut errors);
        if errors.is_empty() {
            Ok(item.expect("an item"))
        } else {
            Err(errors)
        }
    }

    /// Shows: 2.32
    #[test]
    fn a_whole_item_comes_back_as_it_was_written() {
        let written = json!({
            "title": "Crash on <a href=\"http://x/1\">start</a>",
            "body": "<p>It crashes.</p>",
            "external_url": "https://tracker.example/1",
            "status": {"value": "open", "color": "green"},
            "actions": [
                {"@type": "ViewAction", "url": "https://tracker.example/1", "name": "Look"},
                {"@type": "UpdateAction", "name": "Close", "target": {
                    "@type": "EntryPoint", "urlTemplate": "https://tracker.example/1/close", "httpMethod": "PUT",
                }},
            ],
            "fields": [{"label": "Priority", "value": "high"}],
        });
        assert_eq!(
            serde_json::to_value(read(&written).unwrap()).unwrap(),
            written
        );
    }

    #[test]
    fn an_item_needs_no_more_than_a_title() {
        let item = read(
            &json!({"title": "x", "fields": "", "status": "", "body": null, "external_url": ""}),
        );
        assert_eq!(
            item,
            Ok(Item {
                title: "x".into(),
                ..Item::default()
            })
        );
    }

    #[test]
    fn a_list_may_be_written_with_numbers() {
        let fields: serde_json::Map<String, Value> = (0..12)
            .map(|n| (n.to_string(), json!({"label": n.to_string(), "value": n})))
            .collect();
        let item = read(&json!({"title": "x", "fields": fields})).unwrap();
        let labels: Vec<String> = item.fields.into_iter().map(|field| field.label).collect();
        assert_eq!(labels, (0..12).map(|n| n.to_string()).collect::<Vec<_>>());
    }

    /// Shows: 2.30
    #[test]
    fn each_mistake_is_named() {
        let target =
            json!({"@type": "EntryPoint", "urlTemplate": "ftp://x", "httpMethod": "TRACE"});
        for (written, field) in [
            (json!("x"), "thread"),
            (json!({}), "thread[title]"),
            (json!({"title": " "}), "thread[title]"),
            (json!({"title": {"a": 1}}), "thread[title]"),
            (json!({"title": "x".repeat(1001)}), "thread[title]"),
            (
                json!({"title": "x", "body": "ä".repeat(40_000)}),
                "thread[body]",
            ),
            (
                json!({"title": "x", "external_url": "javascript:alert(1)"}),
                "thread[external_url]",
            ),
            (
                json!({"title": "x", "external_url": "data:image/png;base64,AAAA"}),
                "thread[external_url]",
            ),
            (
                json!({"title": "x", "actions": [{"@type": "ViewAction", "name": "x", "url": "http://x", "image": "data:,"}]}),
                "thread[actions][0][image]",
            ),
            (json!({"title": "x", "status": "open"}), "thread[status]"),
            (
                json!({"title": "x", "status": {"value": "x", "color": "pink"}}),
                "thread[status][color]",
            ),
            (
                json!({"title": "x", "status": {"color": "red"}}),
                "thread[status][value]",
            ),
            (json!({"title": "x", "fields": "x"}), "thread[fields]"),
            (json!({"title": "x", "fields": [1]}), "thread[fields][0]"),
            (
                json!({"title": "x", "fields": [{"value": "1"}]}),
                "thread[fields][0][label]",
            ),
            (
                json!({"title": "x", "fields": vec![json!({"label": "x"}); 51]}),
                "thread[fields]",
            ),
            (
                json!({"title": "x", "actions": vec![json!({}); 21]}),
                "thread[actions]",
            ),
            (
                json!({"title": "x", "actions": [{}]}),
                "thread[actions][0][@type]",
            ),
            (
                json!({"title": "x", "actions": [{"@type": "BuyAction"}]}),
                "thread[actions][0][@type]",
            ),
            (
                json!({"title": "x", "actions": [{"@type": "ViewAction", "name": "x"}]}),
                "thread[actions][0][url]",
            ),
            (
                json!({"title": "x", "actions": [{"@type": "UpdateAction", "name": "x"}]}),
                "thread[actions][0][target]",
            ),
            (
                json!({"title": "x", "actions": [{"@type": "UpdateAction", "name": "x", "target": target}]}),
                "thread[actions][0][target][httpMethod]",
            ),
        ] {
            let errors = read(&written).expect_err("a mistake");
            assert!(errors.contains_key(field), "{written}: {errors:?}");
        }
    }

    #[test]
    fn a_picture_within_an_address_is_refused_for_what_it_is() {
        let mut errors = FieldErrors::new();
        let picture = format!("data:image/png;base64,{}", "A".repeat(5000));
        read_author(&json!({"name": "Ada", "avatar": picture}), &mut errors);
        let text = "must be an address that begins with http:// or https://";
        assert_eq!(
            errors,
            FieldErrors::from([("author[avatar]".into(), vec![text.into()])])
        );
    }

    #[test]
    fn limits_hold_at_their_edge() {
        let fields = vec![json!({"label": "l".repeat(200), "value": "v".repeat(1000)}); 50];
        let item = json!({"title": "ä".repeat(1000), "body": "x".repeat(65_536), "fields": fields});
        assert!(read(&item).is_ok());
    }
}
