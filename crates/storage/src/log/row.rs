//! How an entry of the log is kept.

use diesel::prelude::*;
use eddyline_model::log::{Control, EventId, LogBody, Seq};
use eddyline_model::messages::Message;
use eddyline_model::reading::ReadMarker;
use eddyline_model::{CredentialId, GrantId, MessageId, OrganizationId, RoomId, Timestamp, UserId};

use crate::rows::NewLogRow;
use crate::schema::event_log;
use crate::{Error, Result};

pub(super) const MESSAGE: i16 = 0;
const FLOW_ADD: i16 = 1;
const FLOW_REMOVE: i16 = 2;
const USER_JOIN: i16 = 3;
const FLOW_CHANGE: i16 = 4;
pub(super) const USER_EDIT: i16 = 5;
const REVOKED: i16 = 6;
const FLOW_TOKENS: i16 = 7;
const READ: i16 = 8;
const USER_BLOCK: i16 = 9;
const FLOW_ARCHIVE: i16 = 10;
const ORGANIZATION_REMOVE: i16 = 11;
const ORGANIZATION_CHANGE: i16 = 12;
const CREDENTIAL_END: i16 = 13;
const GRANT_END: i16 = 14;
const GROUP_CHANGE: i16 = 15;
const READ_CHAT: i16 = 16;
const READ_INBOX: i16 = 17;
const READ_THREAD: i16 = 18;

#[derive(Clone, Copy, Queryable, Selectable)]
#[diesel(table_name = event_log)]
pub(super) struct Row {
    pub(super) seq: i64,
    pub(super) check_value: i64,
    pub(super) kind: i16,
    pub(super) room_id: Option<i64>,
    pub(super) message_id: Option<i64>,
    pub(super) user_id: Option<i64>,
    pub(super) peer_id: Option<i64>,
}

pub(crate) fn new_row(body: &LogBody, now: Timestamp) -> Option<NewLogRow> {
    let row =
        |kind, room: Option<RoomId>, message: Option<MessageId>, user: Option<UserId>| NewLogRow {
            seq: 0,
            check_value: 0,
            kind,
            room_id: room.map(|id| id.0),
            message_id: message.map(|id| id.0),
            user_id: user.map(|id| id.0),
            peer_id: None,
            created_at: now.0,
        };
    Some(match body {
        LogBody::Message(view) => {
            let message = &view.as_ref()?.message;
            let (user_id, peer_id) = parties(message);
            NewLogRow {
                user_id,
                peer_id,
                ..row(MESSAGE, Some(message.room), Some(message.id), None)
            }
        }
        LogBody::Control(control) => match *control {
            Control::FlowAdd { room, user } => row(FLOW_ADD, Some(room), None, Some(user)),
            Control::FlowRemove { room, user } => row(FLOW_REMOVE, Some(room), None, Some(user)),
            Control::UserJoin { room, user } => row(USER_JOIN, Some(room), None, Some(user)),
            Control::UserBlock { room, user } => row(USER_BLOCK, Some(room), None, Some(user)),
            Control::FlowChange { room } => row(FLOW_CHANGE, Some(room), None, None),
            Control::FlowArchive { room } => row(FLOW_ARCHIVE, Some(room), None, None),
            Control::UserEdit { user } => row(USER_EDIT, None, None, Some(user)),
            Control::Revoked { user } => row(REVOKED, None, None, Some(user)),
            Control::CredentialEnd { user, credential } => NewLogRow {
                message_id: Some(credential.0),
                ..row(CREDENTIAL_END, None, None, Some(user))
            },
            Control::GrantEnd { user, grant } => NewLogRow {
                message_id: Some(grant.0),
                ..row(GRANT_END, None, None, Some(user))
            },
            Control::OrganizationRemove { user } => {
                row(ORGANIZATION_REMOVE, None, None, Some(user))
            }
            Control::OrganizationChange => row(ORGANIZATION_CHANGE, None, None, None),
            Control::GroupChange { organization } => NewLogRow {
                message_id: Some(organization.0),
                ..row(GROUP_CHANGE, None, None, None)
            },
            Control::FlowTokens { room } => row(FLOW_TOKENS, Some(room), None, None),
            Control::Read {
                room,
                user,
                marker,
                message,
            } => {
                let kind = match marker {
                    None => READ,
                    Some(ReadMarker::Chat) => READ_CHAT,
                    Some(ReadMarker::Inbox) => READ_INBOX,
                };
                row(kind, Some(room), Some(message), Some(user))
            }
            Control::ThreadRead { room, user, root } => {
                row(READ_THREAD, Some(room), Some(root), Some(user))
            }
        },
    })
}

/// The two whom a private message concerns; of a message of a flow, nobody.
fn parties(message: &Message) -> (Option<i64>, Option<i64>) {
    let Some(to) = message.to else {
        return (None, None);
    };
    match message.author.user {
        Some(from) if from != to => (Some(from.0), Some(to.0)),
        _ => (Some(to.0), None),
    }
}

pub(super) fn control(row: &Row) -> Result<Control> {
    let broken = Error::LogRow {
        seq: row.seq,
        kind: row.kind,
    };
    let room = row.room_id.map(RoomId);
    let user = row.user_id.map(UserId);
    Ok(match (row.kind, room, user) {
        (FLOW_ADD, Some(room), Some(user)) => Control::FlowAdd { room, user },
        (FLOW_REMOVE, Some(room), Some(user)) => Control::FlowRemove { room, user },
        (USER_JOIN, Some(room), Some(user)) => Control::UserJoin { room, user },
        (USER_BLOCK, Some(room), Some(user)) => Control::UserBlock { room, user },
        (FLOW_CHANGE, Some(room), _) => Control::FlowChange { room },
        (FLOW_ARCHIVE, Some(room), _) => Control::FlowArchive { room },
        (USER_EDIT, _, Some(user)) => Control::UserEdit { user },
        (REVOKED, _, Some(user)) => Control::Revoked { user },
        (ORGANIZATION_REMOVE, _, Some(user)) => Control::OrganizationRemove { user },
        (ORGANIZATION_CHANGE, _, _) => Control::OrganizationChange,
        (FLOW_TOKENS, Some(room), _) => Control::FlowTokens { room },
        // What such a row is about stands in the place of a message.
        (CREDENTIAL_END, _, Some(user)) => Control::CredentialEnd {
            user,
            credential: CredentialId(row.message_id.ok_or(broken)?),
        },
        (GRANT_END, _, Some(user)) => Control::GrantEnd {
            user,
            grant: GrantId(row.message_id.ok_or(broken)?),
        },
        (GROUP_CHANGE, _, _) => Control::GroupChange {
            organization: OrganizationId(row.message_id.ok_or(broken)?),
        },
        (READ | READ_CHAT | READ_INBOX, Some(room), Some(user)) => Control::Read {
            room,
            user,
            marker: match row.kind {
                READ_CHAT => Some(ReadMarker::Chat),
                READ_INBOX => Some(ReadMarker::Inbox),
                _ => None,
            },
            message: MessageId(row.message_id.ok_or(broken)?),
        },
        (READ_THREAD, Some(room), Some(user)) => Control::ThreadRead {
            room,
            user,
            root: MessageId(row.message_id.ok_or(broken)?),
        },
        _ => return Err(broken),
    })
}

pub(super) fn event_id(row: &Row) -> EventId {
    EventId {
        seq: Seq(row.seq),
        check: row.check_value as u32,
    }
}
