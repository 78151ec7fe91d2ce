//! The messages that the server itself posts into a flow.

use eddyline_model::messages::{Author, Draft, MessageKind};
use eddyline_model::{RoomId, UserId};
use eddyline_storage::Tx;
use serde_json::{Value, json};

/// What the server itself posts when something happened to the flow.
pub(crate) fn action(
    tx: &Tx<'_>,
    room: RoomId,
    user: Option<UserId>,
    kind: &str,
    description: &Value,
) -> Draft {
    let content = json!({"type": kind, "description": description}).to_string();
    Draft::bare(
        room,
        MessageKind::Action,
        Author {
            user,
            external_name: None,
        },
        content,
        tx.now(),
    )
}
