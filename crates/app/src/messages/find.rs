//! Finding messages.

use std::collections::BTreeSet;

use eddyline_model::messages::{MessageQuery, MessageView};
use eddyline_model::tags::{Roster, resolve};
use eddyline_model::{MessageId, RoomId};

use crate::rooms::{FlowRoom, Room};
use crate::{Error, Messages, Profile, Result};

impl Messages {
    /// One message of a room that the caller may read.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`].
    pub async fn get(&self, room: &Room, id: MessageId) -> Result<MessageView> {
        let room = room.id().ok_or_else(Error::not_found)?;
        self.load_view(room, id).await?.ok_or_else(Error::not_found)
    }

    /// The message that began a thread of a flow.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the id is not one of a thread there.
    pub fn thread_root(&self, room: &FlowRoom, thread_id: &str) -> Result<MessageId> {
        match self.core.thread_ids.decode(thread_id) {
            Some((of, root)) if of == room.id() => Ok(root),
            _ => Err(Error::not_found()),
        }
    }

    /// The query with its tags in their stored form; `None` when it cannot match anything. In the
    /// classic profile tags add to what a search finds.
    pub(crate) fn resolve_query<R: Roster>(
        &self,
        query: MessageQuery,
        roster: &R,
    ) -> Option<MessageQuery> {
        match self.core.config().profile {
            Profile::Spec => resolve_tags(query, roster),
            Profile::Classic => widen(query, roster),
        }
    }

    pub(crate) async fn load_view(
        &self,
        room: RoomId,
        id: MessageId,
    ) -> Result<Option<MessageView>> {
        Ok(self
            .core
            .store()
            .read(move |reader| match reader.messages().find(room, id)? {
                Some(message) if message.event.is_listed() => {
                    Ok(reader.messages().list_views(room, vec![message])?.pop())
                }
                _ => Ok(None),
            })
            .await?)
    }
}

/// The query with its tags in their stored form; `None` when no message can have them.
fn resolve_tags<R: Roster>(mut query: MessageQuery, roster: &R) -> Option<MessageQuery> {
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

/// The same where tags add to what a search finds.
fn widen<R: Roster>(mut query: MessageQuery, roster: &R) -> Option<MessageQuery> {
    query.tags_widen = true;
    let searches = query
        .search
        .as_ref()
        .is_some_and(|search| !search.is_empty());
    if query.search.is_some() && !query.tags.is_empty() {
        // Of a search, also when no word of it can be searched for.
        (query.since, query.until) = (None, None);
    }
    let without_tags = MessageQuery {
        tags: Vec::new(),
        ..query.clone()
    };
    match resolve_tags(query, roster) {
        Some(query) if !searches && !query.tags.is_empty() => Some(MessageQuery {
            search: None,
            ..query
        }),
        Some(query) => Some(query),
        None if searches => Some(without_tags),
        None => None,
    }
}
