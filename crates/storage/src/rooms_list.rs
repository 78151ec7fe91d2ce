//! Lists of messages over several rooms, the newest first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use diesel::prelude::*;
use eddyline_model::messages::{Message, MessageCursor, MessageQuery, MessageView, Sort};
use eddyline_model::{MessageId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::{Messages, Rooms};
use crate::around::DISORDER;
use crate::lists::WordsCache;
use crate::page_budget::PageBudget;
use crate::reader::Access;
use crate::schema::{flows, private_rooms, room_members, rooms};

/// A room of a user, by its last message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomWithNews {
    /// The room.
    pub id: RoomId,
    /// The other user of a private conversation. The user itself in a conversation with oneself.
    pub with: Option<UserId>,
    /// When its last message was sent.
    pub last_message_at: Timestamp,
}

/// What a list over several rooms asks of one of them.
#[derive(Clone, Debug)]
pub struct RoomQuery {
    /// The room.
    pub room: RoomId,
    /// When its last message was sent.
    pub last_message_at: Timestamp,
    /// Which of its messages are wanted. `limit`, `skip`, `sort`, `beyond` and `around` do not
    /// count.
    pub query: MessageQuery,
}

/// A part of a list over several rooms.
#[derive(Clone, Debug)]
pub struct RoomsPage {
    /// The messages, the newest first.
    pub messages: Vec<MessageView>,
    /// Before which place the list goes on. `None` at its end. There may turn out to be nothing
    /// more.
    pub next: Option<MessageCursor>,
}

/// Where a list over several rooms begins, and how long it is.
#[derive(Clone, Copy, Debug)]
pub struct RoomsPart {
    /// Only messages before this place.
    pub before: Option<MessageCursor>,
    /// How many at most, one at least.
    pub limit: usize,
    /// Of about how many bytes at most.
    pub bytes: usize,
}

#[portable]
impl<C: Access> Rooms<'_, C> {
    /// The rooms of a user that have messages, those with the latest ones first, but for archived
    /// flows and those that the user is blocked from. Whether the user may read each is for the
    /// caller to ask.
    pub fn list_with_news(
        c: &mut Connection,
        user: UserId,
        limit: i64,
    ) -> Result<Vec<RoomWithNews>> {
        let rows = room_members::table
            .inner_join(rooms::table.on(rooms::id.eq(room_members::room_id)))
            .left_join(private_rooms::table.on(private_rooms::room_id.eq(rooms::id)))
            .left_join(flows::table.on(flows::room_id.eq(rooms::id)))
            .filter(room_members::user_id.eq(user.0))
            .filter(room_members::blocked.eq(false))
            .filter(rooms::last_message_at.is_not_null())
            .filter(
                flows::disabled
                    .nullable()
                    .is_null()
                    .or(flows::disabled.nullable().eq(false)),
            )
            .order((rooms::last_message_at.desc(), rooms::id.desc()))
            .limit(limit)
            .select((
                rooms::id,
                rooms::last_message_at.assume_not_null(),
                (private_rooms::low_user_id, private_rooms::high_user_id).nullable(),
            ))
            .load::<(i64, i64, Option<(i64, i64)>)>(c)?;
        let rows = rows.into_iter().map(|(id, at, pair)| RoomWithNews {
            id: RoomId(id),
            with: pair.map(|(low, high)| UserId(low + high - user.0)),
            last_message_at: Timestamp(at),
        });
        Ok(rows.collect())
    }
}

impl<C: Access> Messages<'_, C> {
    /// The matches in several rooms, which come in the order of their last messages, the latest
    /// first.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn list_of_rooms(&mut self, asked: &[RoomQuery], part: RoomsPart) -> Result<RoomsPage> {
        let RoomsPart { before, limit, .. } = part;
        let mut found: Vec<Message> = Vec::new();
        // The place beyond which a search has not looked at everything.
        let mut edge: Option<MessageCursor> = None;
        let mut cache = WordsCache::default();
        for asked in asked {
            // The rooms that follow have only older messages.
            if found.len() > limit && found[limit].sent > asked.last_message_at {
                break;
            }
            let (matches, unexamined) = self.matches_before(asked, before, limit, &mut cache)?;
            if let Some(id) = unexamined
                && let Some(last) = self.find(asked.room, id)?
            {
                edge = edge.max(Some(MessageCursor::of(&last)));
            }
            found.extend(matches);
            found.sort_unstable_by_key(|message| Reverse(MessageCursor::of(message)));
            found.truncate(limit + 1);
        }
        found.retain(|message| edge.is_none_or(|edge| MessageCursor::of(message) >= edge));
        let next = if found.len() > limit {
            found.truncate(limit);
            found.last().map(MessageCursor::of)
        } else {
            edge
        };
        self.page_of_rooms(found, next, part.bytes)
    }

    /// Enough of the matches in a room, in any order, and the message up to which a search has
    /// looked that did not look at all.
    fn matches_before(
        &mut self,
        asked: &RoomQuery,
        before: Option<MessageCursor>,
        limit: usize,
        cache: &mut WordsCache,
    ) -> Result<(Vec<Message>, Option<MessageId>)> {
        // Some of those that are read may turn out to be too late, or have later ones behind them.
        let limit = i64::try_from(limit).unwrap_or(i64::MAX - 4 * DISORDER) + 1 + 3 * DISORDER;
        let beyond = match before {
            Some(place) => Some(MessageId(self.place_in(asked.room, place)? + DISORDER)),
            None => None,
        };
        let query = MessageQuery {
            limit,
            skip: 0,
            sort: Sort::Descending,
            beyond,
            around: None,
            ..asked.query.clone()
        };
        let (mut matches, edge) = self.matches(asked.room, &query, cache)?;
        matches.retain(|message| before.is_none_or(|place| MessageCursor::of(message) < place));
        Ok((matches, edge))
    }

    /// The number in a room at which messages come to stand at a place or behind it, but for
    /// [`DISORDER`].
    fn place_in(&mut self, room: RoomId, place: MessageCursor) -> Result<i64> {
        if room == place.room {
            return Ok(place.id.0);
        }
        let at = if room < place.room {
            place.sent.plus_millis(1)
        } else {
            place.sent
        };
        self.boundary(room, at)
    }

    /// Makes a page of messages in their order, as many as there is room for.
    fn page_of_rooms(
        &mut self,
        mut found: Vec<Message>,
        mut next: Option<MessageCursor>,
        bytes: usize,
    ) -> Result<RoomsPage> {
        let count = found.len();
        // The budget counts from the beginning, which here is the newest.
        PageBudget {
            bytes,
            sort: Sort::Ascending,
        }
        .cut(&mut found, |message| message.content.len());
        let places: Vec<MessageCursor> = found.iter().map(MessageCursor::of).collect();
        let mut of_rooms: BTreeMap<RoomId, Vec<Message>> = BTreeMap::new();
        for message in found.into_iter().rev() {
            of_rooms.entry(message.room).or_default().push(message);
        }
        let mut views: HashMap<(RoomId, MessageId), MessageView> = HashMap::new();
        for (room, mut messages) in of_rooms {
            messages.sort_unstable_by_key(|message| message.id);
            let budget = PageBudget {
                bytes,
                sort: Sort::Descending,
            };
            let shown = self.list_views_within(room, messages, budget)?;
            views.extend(
                shown
                    .into_iter()
                    .map(|view| ((room, view.message.id), view)),
            );
        }
        let messages: Vec<MessageView> = places
            .iter()
            .map_while(|place| views.remove(&(place.room, place.id)))
            .collect();
        if messages.len() < count {
            next = messages.last().map(|view| MessageCursor::of(&view.message));
        }
        Ok(RoomsPage { messages, next })
    }
}
