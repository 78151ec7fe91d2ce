//! The records of an archive, as their JSON has them.
//!
//! The order of the fields is the order in the JSON, and fields without a value are left out: one
//! state of the data has one form. Times are milliseconds since 1970, in UTC.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::chain::DigestHex;

/// How an archive names a person: the number of their record in the entry of people, from 1 on. It
/// is not the number that the server has for them. 0 stands for a user who is not in the archive.
pub type PersonNumber = u32;

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &i64) -> bool {
    *value == 0
}

/// A person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonRecord {
    /// Their number.
    pub number: PersonNumber,
    /// Their address. In the archive of one person, others have it only where they share an
    /// organization with that person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Whether they have shown that the address is theirs.
    #[serde(default, skip_serializing_if = "is_false")]
    pub email_proved: bool,
    /// Full name.
    pub name: String,
    /// Nick.
    pub nick: String,
    /// Website.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub website: String,
    /// What they say of themselves at the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Whether it is a bot.
    #[serde(default, skip_serializing_if = "is_false")]
    pub bot: bool,
    /// Whether the account may be used.
    pub active: bool,
    /// When the account was made.
    pub created_at: i64,
    /// The picture that they uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PictureRecord>,
}

/// A picture that a person uploaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureRecord {
    /// Its media type.
    pub content_type: String,
    /// How many bytes it has.
    pub size: u64,
    /// Their SHA-256, which names the entry.
    pub sha256: DigestHex,
}

/// An organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrganizationRecord {
    /// Display name.
    pub name: String,
    /// Name in URLs.
    pub parameterized_name: String,
    /// All names in URLs that lead to it, the present one among them, in their order.
    pub names: Vec<String>,
    /// The name in URLs of the organization above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// How many people it may have.
    pub user_limit: i64,
    /// Whether it may be used.
    pub active: bool,
    /// When it was made.
    pub created_at: i64,
    /// The last day of its trial, as `2026-01-31`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial_ends: Option<String>,
    /// The day of its next bill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing_date: Option<String>,
    /// Its members, by number.
    pub members: Vec<OrganizationMemberRecord>,
    /// Its groups, by name.
    pub groups: Vec<GroupRecord>,
}

/// A member of an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrganizationMemberRecord {
    /// The person.
    pub person: PersonNumber,
    /// Whether they administer it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub administrator: bool,
}

/// A group of an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRecord {
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: i64,
    /// Its members, by number.
    pub people: Vec<PersonNumber>,
}

/// What the archive of one person says of them beside their record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfRecord {
    /// The person.
    pub person: PersonNumber,
    /// The organizations that they belong to, by name in URLs.
    pub organizations: Vec<PersonMembership>,
}

/// An organization that a person belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonMembership {
    /// Its name in URLs.
    pub organization: String,
    /// Its display name.
    pub name: String,
    /// Whether they administer it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub administrator: bool,
    /// Its groups that they are in, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// Its id.
    pub id: String,
    /// The name in URLs of its organization.
    pub organization: String,
    /// Display name.
    pub name: String,
    /// Name in URLs.
    pub parameterized_name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who may join: `invitation`, `link` or `organization`.
    pub access_mode: String,
    /// Whether it is archived.
    #[serde(default, skip_serializing_if = "is_false")]
    pub disabled: bool,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creator: Option<PersonNumber>,
    /// When it was made.
    pub created_at: i64,
    /// The number of its last message, also of one that is gone.
    pub last_message: i64,
    /// Set where the archive has the messages of this person only, and nothing of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_of: Option<PersonNumber>,
    /// Who is in it, by number.
    pub members: Vec<MemberRecord>,
    /// Who has left it, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_members: Vec<FormerMemberRecord>,
    /// What posts into its inbox, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceRecord>,
}

/// Who is in a flow or a private conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberRecord {
    /// The person.
    pub person: PersonNumber,
    /// Whether their clients show a tab for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub open: bool,
    /// Whether they are blocked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blocked: bool,
    /// The message up to which they have read the chat.
    pub read_up_to: i64,
    /// The message up to which they have read the inbox.
    pub inbox_read_up_to: i64,
}

/// Who has left a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerMemberRecord {
    /// The person.
    pub person: PersonNumber,
    /// The name that they had then.
    pub name: String,
    /// The nick that they had then.
    pub nick: String,
}

/// What posts into the inbox of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRecord {
    /// Its number in the flow, from 1 on in the order in which the sources were made.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// The name of its application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// Where what it mirrors is to be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_url: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creator: Option<PersonNumber>,
    /// When it was made.
    pub created_at: i64,
    /// When it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed_at: Option<i64>,
}

/// A private conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationRecord {
    /// The number of its last message, also of one that is gone.
    pub last_message: i64,
    /// Who talks in it, by number; one person in a conversation with oneself.
    pub members: Vec<MemberRecord>,
}

/// A thread that has a state of its own: one of the inbox, or one of the chat that was answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ThreadRecord {
    /// The message that began it.
    pub id: i64,
    /// Whether it is of the inbox.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inbox: bool,
    /// The source that keeps it; none for the flow's own token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<u32>,
    /// The id that the source has for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// How many activities it has.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub activities: i64,
    /// How many comments of people it has.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub internal_comments: i64,
    /// How many comments of the outside service it has.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub external_comments: i64,
    /// When it began.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
    /// The message under whose number the item is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_message: Option<i64>,
    /// The message that gave the item its present state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_from: Option<i64>,
    /// The present state of the outside item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Box<RawValue>>,
}

/// A message, or a notice of a change to another one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MessageRecord {
    /// Its number in the room.
    pub id: i64,
    /// Its kind, as in the API.
    pub event: String,
    /// Who it is from; none when it is anonymous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<PersonNumber>,
    /// The name that an anonymous sender gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_name: Option<String>,
    /// The recipient of a private message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<PersonNumber>,
    /// When it was sent.
    pub sent: i64,
    /// When it was last edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<i64>,
    /// The message that began its thread, which may be itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<i64>,
    /// The message that a comment answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<i64>,
    /// The identifier that the client gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Whether it was deleted, and stays as an empty place.
    #[serde(default, skip_serializing_if = "is_false")]
    pub deleted: bool,
    /// The text, or the document of a kind that has one.
    pub content: Box<RawValue>,
    /// All tags, in the order in which they are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The tags that a user set, rather than those found in the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explicit_tags: Vec<String>,
    /// Its files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<AttachedFile>,
    /// The reactions to it, in the order in which they are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<ReactionRecord>,
}

/// A file of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedFile {
    /// Its id, which addresses in contents name.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// How many bytes it has.
    pub size: u64,
    /// Their SHA-256, which names the entry.
    pub sha256: DigestHex,
    /// The width of a picture, in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    /// Its height.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<i64>,
}

/// An emoji with those who reacted with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReactionRecord {
    /// The emoji.
    pub emoji: String,
    /// Who reacted, in their order.
    pub people: Vec<PersonNumber>,
}
