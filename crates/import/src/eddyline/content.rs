//! Contents and tags of an archive as the server keeps them: where the archive has the number of a
//! person, the server names the user. HTML is cleaned once more, since an archive may have been
//! written by a stranger.

use std::collections::{BTreeMap, HashSet};

use eddyline_archive::PersonNumber;
use eddyline_model::UserId;
use eddyline_model::messages::MessageKind;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::authority::Participant;
use crate::texts;

/// The most bytes that the tags of a message have. Three thousand unread marks take less.
const MAX_TAG_BYTES: usize = 64 << 10;
/// The beginnings of tags behind which a user stands.
const TAGS_OF_USERS: [&str; 3] = [":user:", ":unread:", ":highlight:"];
/// How the addresses of files begin.
const PATH: &str = "/files/";
/// How they begin in bodies.
const FILES: &str = "=\"/files/";
/// The same as a reference, which cleaning leaves as it is.
const REFERENCES: &str = "=\"cid:/files/";

/// The people of an archive, by number.
pub(super) type Users = BTreeMap<PersonNumber, Participant>;

fn user(users: &Users, number: PersonNumber) -> Option<UserId> {
    users.get(&number)?.user()
}

/// Tags with users in the place of people, each once, up to [`MAX_TAG_BYTES`].
pub(super) fn tags(users: &Users, tags: &[String]) -> Vec<String> {
    let mut distinct = HashSet::new();
    let kept = tags.iter().filter(|tag| texts::is_tag(tag));
    let kept = kept.filter(|tag| distinct.insert(tag.as_str()));
    let mut bytes = 0;
    kept.filter_map(|text| tag(users, text))
        .take_while(|tag| {
            bytes += tag.len();
            bytes <= MAX_TAG_BYTES
        })
        .collect()
}

/// A tag, in which a user stands where the archive has a person. `None` where it names a user by a
/// number that no person has.
fn tag(users: &Users, tag: &str) -> Option<String> {
    for prefix in TAGS_OF_USERS {
        let Some(named) = tag.strip_prefix(prefix) else {
            continue;
        };
        if let Ok(number) = named.parse() {
            let user = user(users, number);
            return Some(format!("{prefix}{}", user.map_or(0, |user| user.0)));
        }
        return named.parse::<UserId>().is_err().then(|| tag.to_owned());
    }
    Some(tag.to_owned())
}

/// The content of a message; `None` when it is none of such an event.
pub(super) fn content(users: &Users, event: MessageKind, content: &RawValue) -> Option<String> {
    let raw = content.get();
    match event {
        event if event.has_text() => {
            let text: String = serde_json::from_str(raw).ok()?;
            Some(texts::without_nul(&text))
        }
        MessageKind::TagChange => tag_change(users, raw),
        MessageKind::Action => action(users, raw),
        MessageKind::File if !is_of_file(raw) => None,
        _ => document(event, content),
    }
}

/// Whether a content names a file of this server, as that of a message with a file does.
fn is_of_file(raw: &str) -> bool {
    #[derive(Deserialize)]
    struct Path {
        path: String,
    }
    serde_json::from_str::<Path>(raw).is_ok_and(|file| file.path.starts_with(PATH))
}

/// An id of a file in the archive and the one that the file has here, both of 32 hexadecimal digits.
pub(super) type RenamedFile = (String, String);

/// The content with the addresses of files that have another id here.
pub(super) fn with_ids(content: &RawValue, ids: &[RenamedFile]) -> Option<Box<RawValue>> {
    let renamed = ids
        .iter()
        .fold(content.get().to_owned(), |text, (old, new)| {
            text.replace(&format!("{PATH}{old}"), &format!("{PATH}{new}"))
        });
    RawValue::from_string(renamed).ok()
}

fn tag_change(users: &Users, raw: &str) -> Option<String> {
    #[derive(Deserialize, serde::Serialize)]
    struct TagChange {
        message: i64,
        #[serde(default)]
        add: Vec<String>,
        #[serde(default)]
        remove: Vec<String>,
    }
    let read: TagChange = serde_json::from_str(raw).ok()?;
    let change = TagChange {
        message: read.message,
        add: tags(users, &read.add),
        remove: tags(users, &read.remove),
    };
    serde_json::to_string(&change).ok()
}

fn action(users: &Users, raw: &str) -> Option<String> {
    #[derive(Deserialize, serde::Serialize)]
    struct Happened {
        #[serde(rename = "type")]
        kind: String,
        description: Box<RawValue>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct OfUser {
        user: PersonNumber,
    }
    let mut read: Happened = serde_json::from_str(raw).ok()?;
    // A value that is read has a bounded nesting, which a raw one has not.
    serde_json::from_str::<Value>(read.description.get()).ok()?;
    if let Ok(OfUser { user }) = serde_json::from_str(read.description.get()) {
        let user = self::user(users, user).map_or(0, |user| user.0);
        read.description = RawValue::from_string(format!("{{\"user\":{user}}}")).ok()?;
    }
    serde_json::to_string(&read).ok()
}

/// A document, as it is unless its HTML or its addresses are not clean.
pub(super) fn document(event: MessageKind, raw: &RawValue) -> Option<String> {
    let mut value: Value = serde_json::from_str(raw.get()).ok()?;
    match clean(event, None, None, &mut value) {
        true => serde_json::to_string(&value).ok(),
        false => Some(raw.get().to_owned()),
    }
}

/// Cleans the HTML and the addresses of a document; whether that changed anything.
fn clean(event: MessageKind, parent: Option<&str>, key: Option<&str>, value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            let mut has_changed = false;
            for (name, field) in fields.iter_mut() {
                has_changed |= clean(event, key, Some(name), field);
            }
            has_changed
        }
        Value::Array(items) => {
            let mut has_changed = false;
            for item in items {
                has_changed |= clean(event, parent, key, item);
            }
            has_changed
        }
        Value::String(text) => {
            let cleaned = match (parent, key) {
                (_, Some("title")) | (Some("fields"), Some("value")) => {
                    eddyline_markup::title(text)
                }
                (_, Some("body")) => body(text),
                (_, Some("content")) if event == MessageKind::Mail => body(text),
                (_, Some(name)) if is_address(name) && !is_harmless(text) => String::new(),
                _ => return false,
            };
            let has_changed = cleaned != *text;
            *text = cleaned;
            has_changed
        }
        _ => false,
    }
}

fn body(html: &str) -> String {
    let referring = html.replace(FILES, REFERENCES);
    let own = |id: &str| id.starts_with("/files/").then(|| id.to_owned());
    eddyline_markup::body(&referring, own).replace(REFERENCES, FILES)
}

fn is_address(name: &str) -> bool {
    ["url", "uri", "link", "path", "avatar", "icon"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Whether an address leads nowhere but to a page, a mail, or a place of this server.
fn is_harmless(address: &str) -> bool {
    let trimmed = address.trim_start().to_ascii_lowercase();
    let has_scheme = trimmed
        .split(['/', '?', '#'])
        .next()
        .is_some_and(|start| start.contains(':'));
    !has_scheme
        || ["http:", "https:", "mailto:"]
            .iter()
            .any(|known| trimmed.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(event: MessageKind, json: &str) -> String {
        document(event, &RawValue::from_string(json.to_owned()).unwrap()).unwrap()
    }

    #[test]
    fn a_document_that_is_clean_keeps_its_bytes() {
        let json = r#"{ "title": "A <a href=\"https://example.org/\" rel=\"nofollow\">b</a>", "thread": {"fields": [{"label": "a < b", "value": "1"}], "status": {"value": "a < b"}, "external_url": "https://example.org/?a:b"}}"#;
        let again = cleaned(MessageKind::Activity, json);
        let again = cleaned(MessageKind::Activity, &again);
        assert_eq!(cleaned(MessageKind::Activity, &again), again);
        let plain = r#"{"z":1, "title": "A b", "status": {"value": "a < b"}}"#;
        assert_eq!(cleaned(MessageKind::Activity, plain), plain);
    }

    #[test]
    fn a_repeated_tag_comes_once() {
        let repeated = vec!["a".to_owned(); 65_536];
        assert_eq!(tags(&Users::new(), &repeated), ["a"]);
    }

    #[test]
    fn html_of_a_stranger_runs_nothing() {
        let json = r#"{"title":"<script>x</script>a","body":"<img src=x onerror=y>","thread":{"external_url":"javascript:x","fields":[{"value":"<b onclick=x>v</b>"}]}}"#;
        let clean = cleaned(MessageKind::Activity, json);
        for word in ["script", "onerror", "onclick"] {
            assert!(!clean.contains(word), "{clean}");
        }
        let mail = cleaned(MessageKind::Mail, r#"{"content":"<svg onload=x></svg>m"}"#);
        assert!(!mail.contains("onload"), "{mail}");
    }

    #[test]
    fn ids_of_files_change_in_addresses_only() {
        let old = "0123456789abcdef0123456789abcdef";
        let new = "f".repeat(32);
        let json = format!(r#"{{"path":"/files/{old}/a.txt","said":"{old}"}}"#);
        let raw = RawValue::from_string(json).unwrap();
        let renamed = with_ids(&raw, &[(old.to_owned(), new.clone())]).unwrap();
        let expected = format!(r#"{{"path":"/files/{new}/a.txt","said":"{old}"}}"#);
        assert_eq!(renamed.get(), expected);
    }

    #[test]
    fn a_file_is_one_of_this_server() {
        let of = |path: &str| {
            let raw = RawValue::from_string(format!(r#"{{"path":"{path}"}}"#)).unwrap();
            content(&Users::new(), MessageKind::File, &raw)
        };
        assert!(of("/files/0a/a.txt").is_some());
        for path in ["javascript:x", "https://example.org/", "//example.org/a"] {
            assert_eq!(of(path), None, "{path}");
        }
    }

    #[test]
    fn files_of_a_body_keep_their_addresses() {
        let html = r#"<img src="/files/0a/dot.png" alt="">"#;
        assert!(
            body(html).contains("src=\"/files/0a/dot.png\""),
            "{}",
            body(html)
        );
    }

    #[test]
    fn tags_have_a_bound() {
        let tag = |n: usize| format!("t{n:0>1023}");
        let given: Vec<String> = (0..=MAX_TAG_BYTES / 1024).map(tag).collect();
        assert_eq!(tags(&Users::new(), &given).len(), MAX_TAG_BYTES / 1024);
    }

    #[test]
    fn users_take_the_place_of_people() {
        let users = Users::from([(2, Participant::of_test(Some(UserId(70))))]);
        let given = [
            ":user:2",
            ":unread:2",
            ":user:3",
            ":unread:4294967299",
            ":user:crew",
            "tea",
            "a\nb",
        ];
        assert_eq!(
            tags(&users, &given.map(str::to_owned)),
            [":user:70", ":unread:70", ":user:0", ":user:crew", "tea"]
        );
        assert_eq!(
            action(&users, r#"{"type":"block","description":{"user":2}}"#).unwrap(),
            r#"{"type":"block","description":{"user":70}}"#
        );
    }
}
