//! The records of an export, as far as they are read. What is missing or of another type in one field
//! must not lose the rest where that can be helped.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The most bytes of memory for the entries of a list within a record.
const MAX_LIST: usize = 32 << 20;

/// Reads a text, and takes anything else for none.
fn text<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    let text = <&RawValue>::deserialize(input)?;
    Ok(serde_json::from_str(text.get()).ok())
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
    pub(super) id: String,
    #[serde(default, deserialize_with = "text")]
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "text")]
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
    #[serde(default, deserialize_with = "text")]
    pub(super) real_name: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(super) display_name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Channel {
    pub(super) id: String,
    #[serde(default, deserialize_with = "text")]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) created: Option<i64>,
    #[serde(default, deserialize_with = "text")]
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
    #[serde(default, deserialize_with = "text")]
    pub(super) user: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(super) text: Option<String>,
    pub(super) ts: String,
    #[serde(default, deserialize_with = "text")]
    pub(super) thread_ts: Option<String>,
    #[serde(default)]
    pub(super) edited: Option<Edited>,
    #[serde(default, deserialize_with = "list")]
    pub(super) reactions: Vec<Reaction>,
    #[serde(default, deserialize_with = "list")]
    pub(super) files: Vec<FileRecord>,
    #[serde(default, deserialize_with = "list")]
    attachments: Vec<Attached>,
    #[serde(default, deserialize_with = "text")]
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
    #[serde(default, deserialize_with = "text")]
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
}
