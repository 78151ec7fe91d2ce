//! The records of an export, as far as they are read.

use serde::Deserialize;

use crate::foreign::list;

#[derive(Deserialize)]
pub(super) struct Record {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) version: Option<i64>,
    pub(super) channel: Option<ChannelRecord>,
    pub(super) user: Option<UserRecord>,
    pub(super) bot: Option<BotRecord>,
    pub(super) post: Option<Post>,
    pub(super) direct_channel: Option<DirectChannel>,
    pub(super) direct_post: Option<Post>,
}

#[derive(Deserialize)]
pub(super) struct ChannelRecord {
    pub(super) team: String,
    pub(super) name: String,
    pub(super) display_name: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) header: Option<String>,
    pub(super) purpose: Option<String>,
    pub(super) deleted_at: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct UserRecord {
    pub(super) username: String,
    pub(super) email: Option<String>,
    pub(super) nickname: Option<String>,
    pub(super) first_name: Option<String>,
    pub(super) last_name: Option<String>,
    pub(super) delete_at: Option<i64>,
    pub(super) teams: Option<Vec<TeamOfUser>>,
}

#[derive(Deserialize)]
pub(super) struct TeamOfUser {
    pub(super) name: String,
    pub(super) channels: Option<Vec<ChannelOfUser>>,
}

#[derive(Deserialize)]
pub(super) struct ChannelOfUser {
    pub(super) name: String,
}

#[derive(Deserialize)]
pub(super) struct BotRecord {
    pub(super) username: String,
    pub(super) display_name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct DirectChannel {
    members: Option<Vec<String>>,
    participants: Option<Vec<Participant>>,
}

#[derive(Deserialize)]
struct Participant {
    username: String,
}

impl DirectChannel {
    /// Who talks in it: older exports list names, newer ones participants.
    pub(super) fn people(self) -> Vec<String> {
        let listed = self.members.unwrap_or_default();
        match listed.is_empty() {
            false => listed,
            true => {
                let participants = self.participants.into_iter().flatten();
                participants
                    .map(|participant| participant.username)
                    .collect()
            }
        }
    }
}

/// A post, in a channel or a conversation, or a reply to one.
#[derive(Deserialize)]
pub(super) struct Post {
    pub(super) team: Option<String>,
    pub(super) channel: Option<String>,
    #[serde(default)]
    pub(super) channel_members: Vec<String>,
    pub(super) user: String,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) message: Option<String>,
    pub(super) create_at: i64,
    pub(super) edit_at: Option<i64>,
    pub(super) reactions: Option<Vec<Reaction>>,
    pub(super) replies: Option<Vec<Post>>,
    #[serde(default, deserialize_with = "list")]
    pub(super) attachments: Vec<Attachment>,
}

#[derive(Deserialize)]
pub(super) struct Reaction {
    pub(super) user: String,
    pub(super) emoji_name: String,
}

#[derive(Deserialize)]
pub(super) struct Attachment {
    pub(super) path: String,
}
