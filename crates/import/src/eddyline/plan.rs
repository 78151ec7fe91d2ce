//! A room of an archive before it is imported.

use eddyline_archive::{FlowRecord, MemberRecord};
use eddyline_model::MessageId;

use crate::authority::Pair;

/// The properties of a room that are known before its messages.
pub(super) struct RoomPlan {
    pub(super) folder: String,
    /// The id that notes of the import give it.
    pub(super) foreign_id: String,
    pub(super) last: MessageId,
    pub(super) members: Vec<MemberRecord>,
    pub(super) flow: Option<FlowRecord>,
    /// The users of a conversation.
    pub(super) pair: Option<Pair>,
}

/// The entry with the messages of a room.
pub(super) fn messages_of(folder: &str) -> String {
    format!("{folder}/messages.jsonl")
}
