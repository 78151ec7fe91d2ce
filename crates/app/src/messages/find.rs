//! Finding messages.

use std::collections::BTreeSet;

use eddyline_model::messages::{MessageQuery, MessageView};
use eddyline_model::tags::{Roster, resolve};
use eddyline_model::{MessageId, RoomId};

use crate::rooms::Room;
use crate::{App, Error, Result};

impl App {
    /// One message of a room that the caller may read.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn message(&self, room: &Room, id: MessageId) -> Result<MessageView> {
        self.load_view(room.id(), id).await?.ok_or(Error::NotFound)
    }

    /// The message that began a thread of a room.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the id is not one of a thread there.
    pub fn thread_root(&self, room: &Room, thread_id: &str) -> Result<MessageId> {
        match self.inner.thread_ids.decode(thread_id) {
            Some((of, root)) if of == room.id() => Ok(root),
            _ => Err(Error::NotFound),
        }
    }

    pub(crate) async fn load_view(&self, room: RoomId, id: MessageId) -> Result<Option<MessageView>> {
        Ok(self
            .store()
            .read(move |session| match session.message(room, id)? {
                Some(message) if message.event.is_listed() => Ok(session.views(room, vec![message])?.pop()),
                _ => Ok(None),
            })
            .await?)
    }
}

/// The query with its tags in their stored form; `None` when no message can have them.
pub(crate) fn resolve_tags<R: Roster>(mut query: MessageQuery, roster: &R) -> Option<MessageQuery> {
    if query.tags.is_empty() {
        return Some(query);
    }
    let wanted = query.tags.len();
    let resolved: Vec<Option<String>> = query.tags.iter().map(|tag| resolve(tag, roster)).collect();
    let known = resolved.iter().flatten().count();
    let distinct: BTreeSet<String> = resolved.into_iter().flatten().collect();
    query.tags = distinct.into_iter().collect();
    // A tag that nobody can have: with all tags wanted, nothing matches.
    let possible = !query.tags.is_empty() && (known == wanted || query.any_tag);
    possible.then_some(query)
}
