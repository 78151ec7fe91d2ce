//! Messages of all rooms that a caller reads: searches, and what mentions the caller.

use std::collections::HashMap;

use bytes::Bytes;
use eddyline_model::messages::{MessageCursor, MessageQuery, MessageView};
use eddyline_model::policy::{FlowAction, MessageAction};
use eddyline_model::scopes::Scope;
use eddyline_model::tags::{USER_EVERYONE, group_tag, user_tag};
use eddyline_model::{RoomId, UserId};
use eddyline_storage::{RoomQuery, RoomWithNews, RoomsPage, RoomsPart};
use eddyline_wire::Encoder;

use super::LIST_BYTES;
use crate::actor::Actor;
use crate::html::add_html_to_list;
use crate::rooms::Room;
use crate::{ErrorKind, Messages, Result};

/// How many rooms a list over all rooms of a caller covers: those with the latest messages. From
/// each as many messages are read as the list is long, and a few more.
pub const ROOMS_OF_LIST: usize = 200;

/// A part of a list over several rooms.
#[derive(Clone, Debug)]
pub struct RoomsMessages {
    /// The newest message first, each with its room.
    pub messages: Vec<(Room, MessageView)>,
    /// Before which place the list goes on. `None` at its end; there may turn out to be nothing
    /// more.
    pub next: Option<MessageCursor>,
}

impl RoomsMessages {
    fn of(page: RoomsPage, rooms: &HashMap<RoomId, Room>) -> Self {
        let with_room = |view: MessageView| Some((rooms.get(&view.message.room)?.clone(), view));
        Self {
            messages: page.messages.into_iter().filter_map(with_room).collect(),
            next: page.next,
        }
    }

    /// The list as it is answered.
    #[must_use]
    pub fn encode(&self, encoder: &Encoder) -> RoomsList {
        let mut json = vec![b'['];
        let mut next = self.next;
        let mut last = None;
        for (room, view) in &self.messages {
            let message = encoder.message(view, room.reference());
            if last.is_some() && json.len() + message.len() > LIST_BYTES {
                next = last;
                break;
            }
            if last.is_some() {
                json.push(b',');
            }
            json.extend_from_slice(&message);
            last = Some(MessageCursor::of(&view.message));
        }
        json.push(b']');
        RoomsList {
            json: json.into(),
            next,
        }
    }
}

/// A part of a list over several rooms, encoded.
#[derive(Clone, Debug)]
pub struct RoomsList {
    /// A JSON array, the newest message first. Each says which flow it is of, or, of a private
    /// message, its two users.
    pub json: Bytes,
    /// Before which place the list goes on. `None` at its end; there may turn out to be nothing
    /// more.
    pub next: Option<MessageCursor>,
}

impl RoomsList {
    /// The same list, with the text of each message as HTML.
    #[must_use]
    pub fn with_html(self) -> Self {
        Self {
            json: add_html_to_list(&self.json).into(),
            ..self
        }
    }
}

impl Messages {
    /// Messages with the words and tags of a query in the flows and private conversations that the
    /// caller reads, the newest first. Of the query only `search`, `tags`, `any_tag`, `events`,
    /// `by`, `since_time`, `until_time` and `limit` count. With tags, rooms whose messages have none
    /// are left out.
    ///
    /// An access token sees the flows with the scope `flow`, and the conversations with `private`.
    ///
    /// # Errors
    ///
    /// [`crate::Error::denied`] for flow tokens; as [`Messages::list`].
    pub async fn search_everywhere(
        &self,
        actor: &Actor,
        query: MessageQuery,
        before: Option<MessageCursor>,
    ) -> Result<RoomsMessages> {
        let asked = |room: &Room| {
            let has_tags = query.tags.is_empty() || room.has_tags();
            has_tags
                .then(|| self.resolve_query(query.clone(), room))
                .flatten()
        };
        self.list_everywhere(actor, &query, before, asked).await
    }

    /// Messages of others that mention the caller by name, as a member of a group or with everyone,
    /// the newest first, as [`Messages::search_everywhere`] has them. Groups are those in which the
    /// caller is now.
    ///
    /// # Errors
    ///
    /// [`crate::Error::denied`] for flow tokens.
    pub async fn mentions(
        &self,
        actor: &Actor,
        limit: i64,
        before: Option<MessageCursor>,
    ) -> Result<RoomsMessages> {
        let me = actor.user()?.user.id;
        let query = MessageQuery {
            limit,
            any_tag: true,
            not_by: Some(me),
            ..MessageQuery::default()
        };
        let asked = |room: &Room| {
            let query = query.clone();
            room.has_tags().then(|| MessageQuery {
                tags: mention_tags(room, me),
                ..query
            })
        };
        self.list_everywhere(actor, &query, before, asked).await
    }

    /// `asked` says what is wanted of a room, if anything is.
    async fn list_everywhere(
        &self,
        actor: &Actor,
        query: &MessageQuery,
        before: Option<MessageCursor>,
        asked: impl Fn(&Room) -> Option<MessageQuery>,
    ) -> Result<RoomsMessages> {
        let rooms = self.readable_rooms(actor).await?;
        let mut queries = Vec::with_capacity(rooms.len());
        let mut shown = HashMap::with_capacity(rooms.len());
        for (news, room) in rooms {
            let Some(query) = asked(&room) else { continue };
            queries.push(RoomQuery {
                room: news.id,
                last_message_at: news.last_message_at,
                query,
            });
            shown.insert(news.id, room);
        }
        let part = RoomsPart {
            before,
            limit: usize::try_from(query.limit).unwrap_or(1),
            bytes: LIST_BYTES,
        };
        let show = move |page: RoomsPage| RoomsMessages::of(page, &shown);
        let _permit = self.search_permit(query).await?;
        Ok(self.core.store().list_of_rooms(queries, part, show).await?)
    }

    /// The rooms with the latest messages among those that the caller may read.
    async fn readable_rooms(&self, actor: &Actor) -> Result<Vec<(RoomWithNews, Room)>> {
        let me = actor.user()?.user.id;
        let sees = |scope| actor.require_any(&[scope]).is_ok();
        let (flows, conversations) = (sees(Scope::Flow), sees(Scope::Private));
        let limit = i64::try_from(ROOMS_OF_LIST).unwrap_or(i64::MAX);
        let found = self
            .core
            .store()
            .read(move |reader| reader.rooms().list_with_news(me, limit))
            .await?;
        let mut rooms = Vec::with_capacity(found.len());
        for news in found {
            let room = match news.with {
                Some(_) if !conversations => continue,
                None if !flows => continue,
                Some(with) => {
                    let room = self.rooms.private(actor, with, MessageAction::Read).await;
                    room.map(Room::from)
                }
                None => {
                    let room = self.rooms.admit(actor, news.id, FlowAction::Read).await;
                    room.map(Room::from)
                }
            };
            match room {
                Ok(room) => rooms.push((news, room)),
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::NotFound | ErrorKind::Denied | ErrorKind::Closed
                    ) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(rooms)
    }
}

/// The tags of the messages of a room that mention a user.
fn mention_tags(room: &Room, user: UserId) -> Vec<String> {
    let groups = match room {
        Room::Flow(flow) => flow.groups_of(user),
        Room::Private(_) => Vec::new(),
    };
    let mut tags = vec![user_tag(user), USER_EVERYONE.to_owned()];
    tags.extend(groups.into_iter().map(group_tag));
    tags
}
