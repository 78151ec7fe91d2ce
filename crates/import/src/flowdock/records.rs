//! The records of an archive of Flowdock. They are the messages, users and flows of its API.

use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::foreign::{MAX_LIST, is_id, list, without_repeats};

#[derive(Debug, Deserialize)]
pub(super) struct FlowdockMessage {
    pub(super) id: i64,
    pub(super) event: String,
    /// As it is written: values of any form take many times the memory of their text.
    #[serde(default)]
    content: Option<Box<RawValue>>,
    /// In milliseconds.
    pub(super) sent: i64,
    /// The flow, where the archive does not have a folder for each.
    #[serde(default)]
    pub(super) flow: Option<String>,
    #[serde(default, deserialize_with = "id")]
    pub(super) user: Option<String>,
    #[serde(default)]
    pub(super) external_user_name: Option<String>,
    #[serde(default)]
    pub(super) thread_id: Option<String>,
    #[serde(default, deserialize_with = "list")]
    pub(super) tags: Vec<String>,
    /// In milliseconds, or nothing that tells a time.
    #[serde(default)]
    edited: Option<Box<RawValue>>,
    #[serde(default, rename = "emojiReactions")]
    pub(super) reactions: Option<HashMap<String, ReactingPeople>>,
    #[serde(default, deserialize_with = "list")]
    pub(super) attachments: Vec<FlowdockFile>,
    /// Who did it in the tool that an item of the inbox is from.
    #[serde(default)]
    pub(super) author: Option<ToolAuthor>,
    #[serde(default)]
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) body: Option<String>,
}

impl FlowdockMessage {
    /// Whether what is kept of each message in memory is short.
    pub(super) fn is_bounded(&self) -> bool {
        let ids = [&self.user, &self.thread_id, &self.flow];
        let people = self.reactions.iter().flat_map(HashMap::values);
        let reactions: usize = people.map(|people| people.0.len()).sum();
        ids.into_iter().flatten().all(|id| is_id(id)) && reactions <= MAX_LIST
    }

    /// The content, if it is a text.
    pub(super) fn said(&self) -> Option<String> {
        serde_json::from_str(self.content.as_ref()?.get()).ok()
    }

    /// The content, if it is an object that can be read so.
    pub(super) fn described<T: DeserializeOwned>(&self) -> Option<T> {
        let content = self.content.as_ref()?.get();
        // A list could be read as well, as the fields in their order.
        let content = Some(content).filter(|content| content.starts_with('{'))?;
        serde_json::from_str(content).ok()
    }

    /// The time at which it was edited, in milliseconds.
    pub(super) fn edited(&self) -> Option<i64> {
        serde_json::from_str(self.edited.as_ref()?.get()).ok()
    }
}

/// The texts that a content has.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Texts {
    #[serde(default, deserialize_with = "text")]
    pub(super) text: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(super) title: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(super) body: Option<String>,
}

/// Those who reacted.
#[derive(Debug, Deserialize)]
pub(super) struct ReactingPeople(
    #[serde(deserialize_with = "list")] pub(super) Vec<ReactingPerson>,
);

/// One of those; `None` for what is no id of a user.
#[derive(Debug, Deserialize)]
pub(super) struct ReactingPerson(#[serde(deserialize_with = "id")] pub(super) Option<String>);

/// Reads a text, and takes anything else for none.
fn text<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    let text = Box::<RawValue>::deserialize(input)?;
    Ok(serde_json::from_str(text.get()).ok())
}

#[derive(Debug, Deserialize)]
pub(super) struct ToolAuthor {
    #[serde(default)]
    pub(super) name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct FlowdockFile {
    #[serde(default)]
    pub(super) path: String,
    #[serde(default)]
    pub(super) file_name: String,
    #[serde(default)]
    pub(super) content_type: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FlowdockUser {
    #[serde(deserialize_with = "id")]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
    pub(super) nick: String,
    #[serde(default)]
    pub(super) email: Option<String>,
    #[serde(default)]
    pub(super) website: Option<String>,
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) disabled: bool,
    /// Of answers that list the users of an organization.
    #[serde(default)]
    pub(super) in_organization: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct FlowdockFlow {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) parameterized_name: String,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) access_mode: Option<String>,
    #[serde(default)]
    pub(super) disabled: bool,
    /// The ids of its members.
    #[serde(default, deserialize_with = "members")]
    pub(super) users: Vec<String>,
}

/// Reads the ids of members, or null for none. Those who have no id take no memory.
fn members<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    struct FlowMember {
        #[serde(deserialize_with = "id")]
        id: Option<String>,
    }

    struct Members;

    impl<'de> Visitor<'de> for Members {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of members")
        }

        fn visit_unit<E>(self) -> Result<Vec<String>, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut ids = Vec::new();
            while let Some(member) = list.next_element::<FlowMember>()? {
                ids.extend(member.id);
            }
            Ok(without_repeats(ids))
        }
    }

    input.deserialize_any(Members)
}

/// Reads an id of a user: a number, or its digits as a text. `0` stands for no user, as does all
/// else.
fn id<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    struct Id;

    impl<'de> Visitor<'de> for Id {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an id")
        }

        fn visit_str<E>(self, text: &str) -> Result<Option<String>, E> {
            Ok(Some(text.to_owned()).filter(|text| !text.is_empty() && text != "0"))
        }

        fn visit_u64<E>(self, number: u64) -> Result<Option<String>, E> {
            Ok((number > 0).then(|| number.to_string()))
        }

        fn visit_i64<E>(self, number: i64) -> Result<Option<String>, E> {
            Ok(Some(number.to_string()))
        }

        fn visit_f64<E>(self, _: f64) -> Result<Option<String>, E> {
            Ok(None)
        }

        fn visit_bool<E>(self, _: bool) -> Result<Option<String>, E> {
            Ok(None)
        }

        fn visit_unit<E>(self) -> Result<Option<String>, E> {
            Ok(None)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Option<String>, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(None)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Option<String>, A::Error> {
            while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(None)
        }
    }

    input.deserialize_any(Id)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn message(field: &str, value: Value) -> serde_json::Result<FlowdockMessage> {
        let mut record = json!({"id": 1, "event": "message", "sent": 1});
        record[field] = value;
        serde_json::from_str(&record.to_string())
    }

    #[test]
    fn what_is_kept_of_a_message_has_bounds() {
        for (field, most, beyond) in [
            ("thread_id", json!("t".repeat(256)), json!("t".repeat(257))),
            ("thread_id", json!("t"), json!("t\0")),
            ("tags", json!(vec!["a"; 10_000]), json!(vec!["a"; 10_001])),
            (
                "attachments",
                json!(vec![json!({}); 10_000]),
                json!(vec![json!({}); 10_001]),
            ),
            (
                "emojiReactions",
                json!({"a": vec![1; 10_000]}),
                json!({"a": vec![1; 10_001]}),
            ),
            (
                "emojiReactions",
                json!({"a": vec![1; 5000], "b": vec![1; 5000]}),
                json!({"a": vec![1; 5000], "b": vec![1; 5001]}),
            ),
        ] {
            assert!(message(field, most).unwrap().is_bounded(), "{field}");
            let beyond = message(field, beyond);
            assert!(!beyond.is_ok_and(|beyond| beyond.is_bounded()), "{field}");
        }
    }

    #[test]
    fn an_id_of_a_user_has_several_forms() {
        for (user, expected) in [
            (json!(7), Some("7")),
            (json!("7"), Some("7")),
            (json!(-1), Some("-1")),
            (json!(0), None),
            (json!("0"), None),
            (json!(""), None),
            (json!(null), None),
            (json!(1.5), None),
            (json!(true), None),
            (json!([{"a": 0}]), None),
            (json!({"a": [0]}), None),
        ] {
            let read = message("user", user.clone()).unwrap();
            assert_eq!(read.user.as_deref(), expected, "{user}");
        }
    }

    #[test]
    fn members_without_an_id_take_no_memory() {
        let read = |users: Value| -> FlowdockFlow {
            let flow = json!({"id": "1", "name": "", "parameterized_name": "", "users": users});
            serde_json::from_value(flow).unwrap()
        };
        let many = json!(vec![json!([0]); 1000]);
        assert_eq!(read(many).users.capacity(), 0);
        let members = json!([{"id": 2}, [0], {"id": null}, ["3"], {"id": 2, "nick": "a"}]);
        assert_eq!(read(members).users, ["2", "3"]);
        assert!(read(json!(null)).users.is_empty());
    }

    #[test]
    fn a_content_is_a_text_or_an_object() {
        assert_eq!(message("content", json!("a")).unwrap().said().unwrap(), "a");
        let content = json!({"text": "a", "title": 5, "body": null, "more": [{}]});
        let read = message("content", content).unwrap();
        assert!(read.said().is_none());
        let texts: Texts = read.described().unwrap();
        assert_eq!(texts.text.as_deref(), Some("a"));
        assert_eq!((texts.title, texts.body), (None, None));
        let listed = message("content", json!(["a", "b", "c"])).unwrap();
        assert!(listed.described::<Texts>().is_none());
        let none = message("content", json!(null)).unwrap();
        assert!(none.said().is_none() && none.described::<Texts>().is_none());
    }

    #[test]
    fn a_list_may_be_null_and_a_time_anything() {
        assert!(message("tags", json!(null)).unwrap().tags.is_empty());
        assert!(message("tags", json!(7)).is_err());
        assert_eq!(message("edited", json!(7)).unwrap().edited(), Some(7));
        for other in [json!(false), json!("7"), json!({"a": 1}), json!(null)] {
            assert_eq!(message("edited", other).unwrap().edited(), None);
        }
    }

    /// Values of any form take many times the memory of their text: nothing keeps such values.
    #[test]
    fn a_content_takes_the_memory_of_its_text() {
        assert!(size_of::<FlowdockMessage>() < 512);
        let many = json!(vec![json!({"a": 0}); 1000]);
        let read = message("content", many.clone()).unwrap();
        assert_eq!(read.content.unwrap().get(), many.to_string());
    }
}
