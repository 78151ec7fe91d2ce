//! Up to where members have read, and what is unread.

use std::collections::{BTreeMap, BTreeSet};

use diesel::dsl::{Eq, Or};
use diesel::prelude::*;
use eddyline_model::flows::FlowMembership;
use eddyline_model::messages::{LastMessage, MessageKind};
use eddyline_model::reading::ReadMarker;
use eddyline_model::{MessageId, RoomId, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Members;
use crate::find::kind_tag;
use crate::reader::{Access, dialect};
use crate::schema::{message_tags, messages, room_members, thread_markers};
use crate::transaction::Tx;
use crate::unread_mentions::MentionsReader;

/// How many messages of any kind behind the marker of the chat are looked at for unread ones, and
/// how many of the newest.
const CHAT_LOOKED_AT: i64 = 2_000;
/// How many messages of the inbox behind its marker are looked at once. The user's own are among
/// them, and those of threads that were read further.
const INBOX_LOOKED_AT: i64 = 300;
/// How often, while all of them are read.
const INBOX_PARTS: usize = 10;
/// How many of them are looked at when the chat was read.
const PASSED_WITH_CHAT: i64 = 20;

/// After all messages.
const END: MessageId = MessageId(i64::MAX);

/// A message of the inbox.
struct InboxRow {
    id: MessageId,
    /// What began its thread.
    root: MessageId,
    is_by_another: bool,
}

type IsOfKind = Eq<messages::event, i16>;

/// Whether a message has one of the kinds that a marker counts. The condition has no `IN`: diesel
/// caches no statement with one on SQLite, which would prepare it for each query.
fn is_counted_by(marker: ReadMarker) -> Or<Or<IsOfKind, IsOfKind>, IsOfKind> {
    let [first, second, third] = marker.kinds().map(|kind| messages::event.eq(kind.code()));
    first.or(second).or(third)
}

#[portable]
impl<C: Access> Members<'_, C> {
    /// The chat messages of others after one message and through another, the earliest first, at
    /// most `limit` of them. Deleted ones are left out.
    fn chat_between(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        after: i64,
        through: i64,
        limit: i64,
    ) -> Result<Vec<i64>> {
        let is_by_another = messages::user_id.is_null().or(messages::user_id.ne(user.0));
        let is_kept = messages::content
            .ne("")
            .or(messages::event.gt(MessageKind::Comment.code()));
        Ok(messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.gt(after))
            .filter(messages::id.le(through))
            .filter(is_counted_by(ReadMarker::Chat))
            .filter(is_by_another)
            .filter(is_kept)
            .order(messages::id)
            .limit(limit)
            .select(messages::id)
            .load(c)?)
    }

    /// The messages of one kind after one message and through another, the earliest first, at most
    /// `limit` of them.
    fn kind_between(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        after: MessageId,
        through: MessageId,
        limit: i64,
        tag: &str,
    ) -> Result<Vec<InboxRow>> {
        let rows = message_tags::table
            .inner_join(
                messages::table.on(messages::room_id
                    .eq(message_tags::room_id)
                    .and(messages::id.eq(message_tags::message_id))),
            )
            .filter(message_tags::room_id.eq(room.0))
            .filter(message_tags::tag.eq(tag))
            .filter(message_tags::message_id.gt(after.0))
            .filter(message_tags::message_id.le(through.0))
            .order(message_tags::message_id)
            .limit(limit)
            .select((messages::id, messages::thread_root, messages::user_id))
            .load::<(i64, Option<i64>, Option<i64>)>(c)?;
        let row = |(id, root, author): (i64, Option<i64>, Option<i64>)| InboxRow {
            id: MessageId(id),
            root: MessageId(root.unwrap_or(id)),
            is_by_another: author != Some(user.0),
        };
        Ok(rows.into_iter().map(row).collect())
    }

    /// Up to where the user has read these threads, where that is further than one of the markers.
    pub fn list_thread_markers(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        roots: &[MessageId],
    ) -> Result<BTreeMap<MessageId, MessageId>> {
        if roots.is_empty() {
            return Ok(BTreeMap::new());
        }
        let rows = thread_markers::table
            .filter(thread_markers::room_id.eq(room.0))
            .filter(thread_markers::user_id.eq(user.0))
            .filter(thread_markers::root_id.eq_any(roots.iter().map(|root| root.0)))
            .select((thread_markers::root_id, thread_markers::read_up_to))
            .load::<(i64, i64)>(c)?;
        let marker = |(root, read)| (MessageId(root), MessageId(read));
        Ok(rows.into_iter().map(marker).collect())
    }
}

/// The messages of the inbox behind a member's marker, as far as they were looked at.
#[derive(Default)]
struct InboxNews {
    /// Those that are unread, the earliest first, each with what began its thread.
    unread: Vec<(MessageId, MessageId)>,
    /// The last one that was looked at.
    last: Option<MessageId>,
    /// Whether all were looked at.
    is_all: bool,
}

impl InboxNews {
    /// The last message before which nothing is unread, if that is known: `through`, when all up to
    /// there were looked at.
    fn end(&self, through: MessageId) -> Option<MessageId> {
        match self.unread.first() {
            Some((first, _)) => Some(MessageId(first.0 - 1)),
            None if self.is_all => Some(through),
            None => self.last,
        }
    }
}

impl<C: Access> Members<'_, C> {
    /// Returns the number of messages that mention the user, stand behind the marker for their
    /// kind, and were not read with their thread, at most `limit`. Looks at the newest 1,000 mentions
    /// of the user by name, and as many of each cohort with the user, 5,000 at most: behind a
    /// marker may be any number of others.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn count_unread_mentions(
        &mut self,
        room: RoomId,
        user: UserId,
        (read_up_to, inbox_read_up_to): (MessageId, MessageId),
        limit: i64,
    ) -> Result<i64> {
        let of = MentionsReader {
            room,
            user,
            read_up_to,
            inbox_read_up_to,
        };
        let ids = dialect!(self, list_unread_mentions, &of, limit)?;
        Ok(i64::try_from(ids.len()).unwrap_or(limit))
    }

    /// The chat messages of others after the user's marker, the earliest first, at most `limit` of
    /// them. Deleted ones are left out. Looks at 2,000 messages behind the marker and at the newest
    /// 2,000 of the room, whose last number is `last`: between them may be any number of others.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn list_unread_chat(
        &mut self,
        room: RoomId,
        user: UserId,
        (read_up_to, last): (MessageId, MessageId),
        limit: i64,
    ) -> Result<Vec<MessageId>> {
        let near = read_up_to.0.saturating_add(CHAT_LOOKED_AT);
        let mut ids = self.chat_between(room, user, read_up_to.0, near, limit)?;
        let left = limit - i64::try_from(ids.len()).unwrap_or(limit);
        if left > 0 && near < last.0 {
            let newest = near.max(last.0 - CHAT_LOOKED_AT);
            ids.extend(self.chat_between(room, user, newest, last.0, left)?);
        }
        Ok(ids.into_iter().map(MessageId).collect())
    }

    /// The messages of others in the inbox that the user has read neither with the inbox nor with
    /// their thread, the earliest first, at most `limit` of them. Looks at 300 messages at once,
    /// until some are unread, ten times at most.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn list_unread_inbox(
        &mut self,
        room: RoomId,
        user: UserId,
        read_up_to: MessageId,
        limit: i64,
    ) -> Result<Vec<MessageId>> {
        let unread = self.find_inbox_news(room, user, read_up_to, END)?.unread;
        let ids = unread.into_iter().map(|(id, _)| id);
        Ok(ids.take(usize::try_from(limit).unwrap_or(0)).collect())
    }

    /// Looks at the messages of the inbox after one message and through another, the earliest
    /// `limit` of them. Each kind is one range of an index: asked for together, all of the range would
    /// be read and sorted.
    fn inbox_between(
        &mut self,
        room: RoomId,
        user: UserId,
        (after, through): (MessageId, MessageId),
        limit: i64,
    ) -> Result<InboxNews> {
        let mut rows = Vec::new();
        for tag in ReadMarker::Inbox.kinds().into_iter().filter_map(kind_tag) {
            rows.extend(self.kind_between(room, user, after, through, limit, tag)?);
        }
        rows.sort_unstable_by_key(|row: &InboxRow| row.id);
        let limit = usize::try_from(limit).unwrap_or(0);
        rows.truncate(limit);
        let (is_all, last) = (rows.len() < limit, rows.last().map(|row| row.id));
        let roots: BTreeSet<MessageId> = rows.iter().map(|row| row.root).collect();
        let roots: Vec<MessageId> = roots.into_iter().collect();
        let markers = self.list_thread_markers(room, user, &roots)?;
        let is_unread = |row: &InboxRow| {
            let read = markers.get(&row.root);
            row.is_by_another && read.is_none_or(|read| *read < row.id)
        };
        let unread = rows.into_iter().filter(is_unread);
        Ok(InboxNews {
            unread: unread.map(|row| (row.id, row.root)).collect(),
            last,
            is_all,
        })
    }

    /// Looks at the messages of the inbox after a marker and through a message, in parts, until some of
    /// them are unread.
    fn find_inbox_news(
        &mut self,
        room: RoomId,
        user: UserId,
        read_up_to: MessageId,
        through: MessageId,
    ) -> Result<InboxNews> {
        let mut news = InboxNews::default();
        for _ in 0..INBOX_PARTS {
            let range = (news.last.unwrap_or(read_up_to), through);
            let part = self.inbox_between(room, user, range, INBOX_LOOKED_AT)?;
            news = InboxNews {
                last: part.last.or(news.last),
                ..part
            };
            if news.is_all || !news.unread.is_empty() {
                break;
            }
        }
        Ok(news)
    }

    /// Which of the threads whose last messages these are have something for the user to read: a
    /// message of another behind the marker for its kind that was not read with its thread.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn list_unread_threads(
        &mut self,
        room: RoomId,
        user: UserId,
        last: &BTreeMap<MessageId, LastMessage>,
    ) -> Result<BTreeSet<MessageId>> {
        let Some(membership) = self.find(room, user)? else {
            return Ok(BTreeSet::new());
        };
        let nearest = membership.read_up_to.min(membership.inbox_read_up_to);
        let changed: Vec<MessageId> = last
            .iter()
            .filter(|(_, last)| last.id > nearest)
            .map(|(root, _)| *root)
            .collect();
        let markers = self.list_thread_markers(room, user, &changed)?;
        let marker = |root: &MessageId| markers.get(root).copied().unwrap_or(MessageId(0));
        let mut unread = BTreeSet::new();
        let mut others = BTreeSet::new();
        for root in changed {
            let last = &last[&root];
            if last.id <= marker(&root) {
                continue;
            }
            if last.user != Some(user) && membership.has_unread(last.event, last.id) {
                unread.insert(root);
            } else if last.id > membership.inbox_read_up_to {
                // What the inbox got may stand before the last message.
                others.insert(root);
            }
        }
        if !others.is_empty() {
            let place = membership.inbox_read_up_to;
            let news = self.find_inbox_news(room, user, place, END)?;
            let roots = news.unread.into_iter().map(|(_, root)| root);
            unread.extend(roots.filter(|root| others.contains(root)));
        }
        Ok(unread)
    }
}

#[portable]
impl Members<'_, Tx<'_>> {
    fn move_marker(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        marker: ReadMarker,
        message: MessageId,
    ) -> Result<bool> {
        let member = room_members::table.find((room.0, user.0));
        let moved = match marker {
            ReadMarker::Chat => {
                diesel::update(member.filter(room_members::read_up_to.lt(message.0)))
                    .set(room_members::read_up_to.eq(message.0))
                    .execute(c)?
            }
            ReadMarker::Inbox => {
                diesel::update(member.filter(room_members::inbox_read_up_to.lt(message.0)))
                    .set(room_members::inbox_read_up_to.eq(message.0))
                    .execute(c)?
            }
        };
        Ok(moved > 0)
    }

    /// Markers of threads before both others say nothing any more.
    fn delete_overtaken(c: &mut Connection, room: RoomId, user: UserId) -> Result<()> {
        let (chat, inbox) = room_members::table
            .find((room.0, user.0))
            .select((room_members::read_up_to, room_members::inbox_read_up_to))
            .get_result::<(i64, i64)>(c)?;
        let overtaken = thread_markers::table
            .filter(thread_markers::room_id.eq(room.0))
            .filter(thread_markers::user_id.eq(user.0))
            .filter(thread_markers::read_up_to.le(chat.min(inbox)));
        diesel::delete(overtaken).execute(c)?;
        Ok(())
    }

    fn move_thread_marker(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        root: MessageId,
        message: MessageId,
    ) -> Result<bool> {
        let insert = diesel::insert_into(thread_markers::table)
            .values((
                thread_markers::room_id.eq(room.0),
                thread_markers::user_id.eq(user.0),
                thread_markers::root_id.eq(root.0),
                thread_markers::read_up_to.eq(message.0),
            ))
            .on_conflict((
                thread_markers::room_id,
                thread_markers::user_id,
                thread_markers::root_id,
            ))
            .do_update()
            .set(thread_markers::read_up_to.eq(message.0));
        let forward = thread_markers::read_up_to.lt(message.0);
        let moved = diesel::query_dsl::methods::FilterDsl::filter(insert, forward).execute(c)?;
        Ok(moved > 0)
    }
}

impl Members<'_, Tx<'_>> {
    /// Moves one of a user's markers forward, or both; they never go back. Tells whether one moved.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn set_read(
        &mut self,
        room: RoomId,
        user: UserId,
        marker: Option<ReadMarker>,
        message: MessageId,
    ) -> Result<bool> {
        let moves = |each| marker.is_none_or(|marker| marker == each);
        let (chat, inbox) = (ReadMarker::Chat, ReadMarker::Inbox);
        let chat = moves(chat) && self.move_marker(room, user, chat, message)?;
        let inbox = moves(inbox) && self.move_marker(room, user, inbox, message)?;
        if chat && !inbox {
            self.pass_chat(room, user, message)?;
        }
        if chat || inbox {
            self.delete_overtaken(room, user)?;
        }
        Ok(chat || inbox)
    }

    /// Moves the marker of the inbox to a message of the chat, or to before what is unread in the
    /// inbox. In flows without an inbox it would fall behind for ever, and all between the markers
    /// is searched for mentions.
    fn pass_chat(&mut self, room: RoomId, user: UserId, message: MessageId) -> Result<()> {
        let Some(membership) = self.find(room, user)? else {
            return Ok(());
        };
        let range = (membership.inbox_read_up_to, message);
        let news = self.inbox_between(room, user, range, PASSED_WITH_CHAT)?;
        if let Some(end) = news.end(message) {
            self.move_marker(room, user, ReadMarker::Inbox, end)?;
        }
        Ok(())
    }

    /// As [`Members::find`]. The row is held until the transaction ends, as it is by one that moves
    /// its markers.
    fn lock(&mut self, room: RoomId, user: UserId) -> Result<Option<FlowMembership>> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = room_members::table
                .find((room.0, user.0))
                .select(room_members::user_id)
                .for_update();
            row.first::<i64>(c).optional()?;
        }
        self.find(room, user)
    }

    /// Notes up to where a user has read a thread. The marker of the inbox moves to before what is
    /// still unread there, or to the end of the flow, so that the threads need not be remembered
    /// for ever. Tells whether anything changed.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn set_thread_read(
        &mut self,
        room: RoomId,
        user: UserId,
        root: MessageId,
        message: MessageId,
    ) -> Result<bool> {
        // What other servers commit after this stays unread.
        let last = self.0.rooms().find_last_message_id(room)?;
        let (Some(membership), Some(last)) = (self.lock(room, user)?, last) else {
            return Ok(false);
        };
        let place = membership.inbox_read_up_to;
        let both = place.min(membership.read_up_to);
        if message <= both || !self.move_thread_marker(room, user, root, message)? {
            return Ok(false);
        }
        let news = self.find_inbox_news(room, user, place, last)?;
        let end = news.end(last).unwrap_or(place);
        if self.move_marker(room, user, ReadMarker::Inbox, end)? {
            self.delete_overtaken(room, user)?;
        }
        Ok(true)
    }
}
