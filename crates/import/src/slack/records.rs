//! The records of an export, as far as they are read. What is missing or of another type in one field
//! must not lose the rest where that can be helped.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::foreign::{cut_name, is_id};

/// The most bytes of memory for the entries of a list within a record.
const MAX_LIST: usize = 32 << 20;

/// Reads a text, and takes anything else for none.
fn text<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    let text = <&RawValue>::deserialize(input)?;
    Ok(serde_json::from_str(text.get()).ok())
}

/// Reads a name like a text, as much of it as is kept.
fn name<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Ok(text(input)?.map(cut_name))
}

/// Reads what the archive calls something.
fn id<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    let id = String::deserialize(input)?;
    if !is_id(&id) {
        return Err(D::Error::custom("this is no id"));
    }
    Ok(id)
}

/// The same where none may be.
fn optional_id<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    let id = text(input)?;
    if !id.as_deref().is_none_or(is_id) {
        return Err(D::Error::custom("this is no id"));
    }
    Ok(id)
}

/// Reads a list, without those entries that are of another kind.
fn list<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned>(
    input: D,
) -> Result<Vec<T>, D::Error> {
    let list = <&RawValue>::deserialize(input)?;
    let entries: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
    if entries.len() > MAX_LIST / size_of::<T>() {
        return Err(D::Error::custom("a list has too many entries"));
    }
    let read = entries
        .into_iter()
        .map(|entry| serde_json::from_str(entry.get()));
    Ok(read.filter_map(Result::ok).collect())
}

#[derive(Deserialize)]
pub(super) struct User {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    #[serde(default, deserialize_with = "name")]
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "name")]
    pub(super) real_name: Option<String>,
    #[serde(default)]
    pub(super) deleted: bool,
    #[serde(default)]
    pub(super) is_bot: bool,
    #[serde(default)]
    pub(super) profile: Option<Profile>,
}

#[derive(Default, Deserialize)]
pub(super) struct Profile {
    #[serde(default, deserialize_with = "text")]
    pub(super) email: Option<String>,
    #[serde(default, deserialize_with = "name")]
    pub(super) real_name: Option<String>,
    #[serde(default, deserialize_with = "name")]
    pub(super) display_name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Channel {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    #[serde(default, deserialize_with = "name")]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) created: Option<i64>,
    #[serde(default, deserialize_with = "optional_id")]
    pub(super) creator: Option<String>,
    #[serde(default)]
    pub(super) is_archived: bool,
    #[serde(default, deserialize_with = "list")]
    pub(super) members: Vec<String>,
    #[serde(default)]
    pub(super) topic: Option<Said>,
    #[serde(default)]
    pub(super) purpose: Option<Said>,
}

#[derive(Deserialize)]
pub(super) struct Said {
    #[serde(default)]
    pub(super) value: String,
}

#[derive(Deserialize)]
pub(super) struct MessageRecord {
    #[serde(default, deserialize_with = "text")]
    pub(super) subtype: Option<String>,
    #[serde(default, deserialize_with = "optional_id")]
    pub(super) user: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(super) text: Option<String>,
    #[serde(deserialize_with = "id")]
    pub(super) ts: String,
    #[serde(default, deserialize_with = "optional_id")]
    pub(super) thread_ts: Option<String>,
    #[serde(default)]
    pub(super) edited: Option<Edited>,
    #[serde(default, deserialize_with = "list")]
    pub(super) reactions: Vec<Reaction>,
    #[serde(default, deserialize_with = "list")]
    pub(super) files: Vec<FileRecord>,
    #[serde(default, deserialize_with = "list")]
    attachments: Vec<Attached>,
    #[serde(default, deserialize_with = "name")]
    username: Option<String>,
    #[serde(default)]
    bot_profile: Option<Named>,
    #[serde(default)]
    user_profile: Option<Profile>,
}

#[derive(Deserialize)]
pub(super) struct Edited {
    pub(super) ts: String,
}

#[derive(Deserialize)]
pub(super) struct Reaction {
    pub(super) name: String,
    #[serde(default, deserialize_with = "list")]
    pub(super) users: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct FileRecord {
    #[serde(default, deserialize_with = "text")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(super) title: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(super) mimetype: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(super) url_private: Option<String>,
    #[serde(default, deserialize_with = "text")]
    mode: Option<String>,
}

impl FileRecord {
    /// Whether it was deleted in Slack.
    pub(super) fn is_gone(&self) -> bool {
        self.mode.as_deref() == Some("tombstone")
    }
}

#[derive(Deserialize)]
struct Named {
    #[serde(default, deserialize_with = "name")]
    name: Option<String>,
}

/// What a program puts below a message.
#[derive(Deserialize)]
struct Attached {
    #[serde(default, deserialize_with = "text")]
    pretext: Option<String>,
    #[serde(default, deserialize_with = "text")]
    title: Option<String>,
    #[serde(default, deserialize_with = "text")]
    text: Option<String>,
    #[serde(default, deserialize_with = "text")]
    fallback: Option<String>,
}

impl MessageRecord {
    /// The name that the message itself has for its author.
    pub(super) fn author_name(&self) -> Option<String> {
        let profile = self.user_profile.as_ref();
        let of_bot = self.bot_profile.as_ref().and_then(|bot| bot.name.clone());
        let of_user = profile.and_then(|profile| profile.real_name.clone());
        [self.username.clone(), of_bot, of_user]
            .into_iter()
            .flatten()
            .find(|name| !name.trim().is_empty())
    }

    /// The text of what a program has put below a message that says nothing itself.
    pub(super) fn attached_text(&self) -> String {
        let lines = self.attachments.iter().flat_map(|attached| {
            let own = [&attached.pretext, &attached.title, &attached.text];
            let own: Vec<&String> = own.into_iter().flatten().collect();
            match own.is_empty() {
                true => attached.fallback.iter().collect(),
                false => own,
            }
        });
        lines.map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_within_a_record_has_a_bound() {
        let most = MAX_LIST / size_of::<FileRecord>();
        let record = |files: usize| {
            let files = vec!["{}"; files].join(",");
            serde_json::from_str::<MessageRecord>(&format!("{{\"ts\":\"1\",\"files\":[{files}]}}"))
        };
        assert_eq!(record(most).unwrap().files.len(), most);
        assert!(record(most + 1).is_err());
    }

    #[test]
    fn an_id_has_a_bound_and_a_longer_name_is_cut() {
        let read = |id: &str, ts: &str, thread: &str| {
            let record = format!(r#"{{"user":"{id}","ts":"{ts}","thread_ts":"{thread}"}}"#);
            serde_json::from_str::<MessageRecord>(&record).is_ok()
        };
        let (most, beyond) = ("1".repeat(256), "1".repeat(257));
        assert!(read(&most, &most, &most));
        for (id, ts, thread) in [
            (&*beyond, "1", "1"),
            ("1", &*beyond, "1"),
            ("1", "1", &*beyond),
            ("1", "1.\\u0000", "1"),
        ] {
            assert!(!read(id, ts, thread));
        }
        let channel = format!(r#"{{"id":"C1","name":"{}"}}"#, "n".repeat(1_000_000));
        let channel: Channel = serde_json::from_str(&channel).unwrap();
        assert_eq!(channel.name.unwrap().len(), 512);
        assert!(serde_json::from_str::<Channel>(r#"{"id":"C\u0000"}"#).is_err());
        assert!(serde_json::from_str::<User>(r#"{"id":"U\u0000"}"#).is_err());
    }
}
