//! What threads and comments refer to: their first messages, and those that they answer.

use std::collections::HashMap;

use diesel::prelude::*;
use eddyline_model::messages::{MessageKind, reference};
use eddyline_model::{MessageId, RoomId, Timestamp};
use eddyline_portable::portable;

use crate::areas::Threads;
use crate::reader::Access;
use crate::schema::messages;
use crate::{Error, Result};

/// What another message is about, for titles and counts.
#[derive(Clone)]
pub(crate) struct Referred {
    pub(crate) event: MessageKind,
    pub(crate) content: String,
    pub(crate) sent: Timestamp,
    pub(crate) thread_root: Option<MessageId>,
}

impl Referred {
    /// The text by which others refer to it.
    pub(crate) fn text(&self) -> String {
        reference(self.event, &self.content).into_owned()
    }
}

#[portable]
impl<C: Access> Threads<'_, C> {
    pub(crate) fn list_referred(
        c: &mut Connection,
        room: RoomId,
        ids: &[i64],
    ) -> Result<HashMap<i64, Referred>> {
        let rows = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.eq_any(ids))
            .select((
                messages::id,
                messages::event,
                messages::content,
                messages::sent,
                messages::thread_root,
            ))
            .load::<(i64, i16, String, i64, Option<i64>)>(c)?;
        rows.into_iter()
            .map(|(id, event, content, sent, root)| {
                let event = MessageKind::from_code(event).ok_or(Error::Corrupt("event"))?;
                let thread_root = root.map(MessageId);
                Ok((
                    id,
                    Referred {
                        event,
                        content,
                        sent: Timestamp(sent),
                        thread_root,
                    },
                ))
            })
            .collect()
    }
}
