//! The records of an archive of Flowdock. They are the messages, users and flows of its API.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Debug, Deserialize)]
pub(super) struct FlowdockMessage {
    pub(super) id: i64,
    pub(super) event: String,
    #[serde(default)]
    pub(super) content: Value,
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
    #[serde(default)]
    pub(super) tags: Option<Vec<String>>,
    /// In milliseconds, or nothing that tells a time.
    #[serde(default)]
    pub(super) edited: Value,
    #[serde(default, rename = "emojiReactions")]
    pub(super) reactions: Option<HashMap<String, Vec<Value>>>,
    #[serde(default)]
    pub(super) attachments: Option<Vec<FlowdockFile>>,
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
        const MAX_ID: usize = 256;
        /// The most files, and the most reactions, that a message may have.
        const MAX_LIST: usize = 10_000;
        let ids = [&self.user, &self.thread_id, &self.flow];
        let files = self.attachments.as_ref().map_or(0, Vec::len);
        let reactions = self.reactions.iter().flat_map(HashMap::values);
        let reactions: usize = reactions.map(Vec::len).sum();
        ids.into_iter().flatten().all(|id| id.len() <= MAX_ID) && files.max(reactions) <= MAX_LIST
    }
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
    #[serde(default)]
    pub(super) users: Option<Vec<FlowMember>>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct FlowMember {
    #[serde(deserialize_with = "id")]
    pub(super) id: Option<String>,
}

/// An id of a user: a number, or its digits as a text. `0` stands for no user.
pub(super) fn user_id(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty() && text != "0").then_some(text)
}

fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(user_id(&Value::deserialize(deserializer)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_kept_of_a_message_has_bounds() {
        let message = |field: &str, value: Value| -> FlowdockMessage {
            let mut record = json!({"id": 1, "event": "message", "sent": 1});
            record[field] = value;
            serde_json::from_value(record).unwrap()
        };
        for (field, most, beyond) in [
            ("thread_id", json!("t".repeat(256)), json!("t".repeat(257))),
            (
                "attachments",
                json!(vec![json!({}); 10_000]),
                json!(vec![json!({}); 10_001]),
            ),
            (
                "emojiReactions",
                json!({"a": vec![1; 5000], "b": vec![1; 5000]}),
                json!({"a": vec![1; 5000], "b": vec![1; 5001]}),
            ),
        ] {
            assert!(message(field, most).is_bounded(), "{field}");
            assert!(!message(field, beyond).is_bounded(), "{field}");
        }
    }
}
