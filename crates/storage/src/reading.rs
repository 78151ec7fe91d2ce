//! Up to where members have read, and what is unread.

use std::collections::{BTreeMap, BTreeSet};

use diesel::dsl::{exists, max, not};
use diesel::prelude::*;
use eddyline_model::messages::{LastMessage, MessageKind};
use eddyline_model::reading::ReadMarker;
use eddyline_model::{MessageId, RoomId, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Members;
use crate::find::kind_tag;
use crate::reader::Access;
use crate::schema::{
    mentions, mentions_seen, message_tags, messages, room_members, thread_markers, threads,
};
use crate::transaction::Tx;

/// How many messages of any kind behind the marker of the chat are looked at for unread ones.
const CHAT_LOOKED_AT: i64 = 2_000;
/// How many messages of the inbox behind its marker are looked at. Those of threads that were read
/// further are among them.
const INBOX_LOOKED_AT: i64 = 300;

#[portable]
impl<C: Access> Members<'_, C> {
    /// The chat messages of others after the user's marker, the earliest first, at most `limit` of
    /// them. Deleted ones are left out, and what comes more than 2,000 messages after the marker.
    pub fn list_unread_chat(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        read_up_to: MessageId,
        limit: i64,
    ) -> Result<Vec<MessageId>> {
        let is_by_another = messages::user_id.is_null().or(messages::user_id.ne(user.0));
        let is_kept = messages::content
            .ne("")
            .or(messages::event.gt(MessageKind::Comment.code()));
        let ids = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.gt(read_up_to.0))
            .filter(messages::id.le(read_up_to.0 + CHAT_LOOKED_AT))
            .filter(messages::event.eq_any(ReadMarker::Chat.kinds().map(MessageKind::code)))
            .filter(is_by_another)
            .filter(is_kept)
            .order(messages::id)
            .limit(limit)
            .select(messages::id)
            .load(c)?;
        Ok(ids.into_iter().map(MessageId).collect())
    }

    /// The messages of one kind behind a place, the earliest first, each with what began its thread,
    /// and whether it counts as unread as long as it was not read.
    fn kind_behind(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        place: MessageId,
        tag: &str,
    ) -> Result<Vec<(i64, Option<i64>, bool)>> {
        let rows = message_tags::table
            .inner_join(
                messages::table.on(messages::room_id
                    .eq(message_tags::room_id)
                    .and(messages::id.eq(message_tags::message_id))),
            )
            .filter(message_tags::room_id.eq(room.0))
            .filter(message_tags::tag.eq(tag))
            .filter(message_tags::message_id.gt(place.0))
            .order(message_tags::message_id)
            .limit(INBOX_LOOKED_AT)
            .select((messages::id, messages::thread_root, messages::user_id))
            .load::<(i64, Option<i64>, Option<i64>)>(c)?;
        let counted = |(id, root, author)| (id, root, author != Some(user.0));
        Ok(rows.into_iter().map(counted).collect())
    }

    /// Up to where the user has read these threads, where that is further than the inbox.
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

    /// For each of these threads the last message of another that the inbox got after a place, if
    /// there is one. What began a thread is left out.
    fn last_inbox_answers(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        place: MessageId,
        roots: &[i64],
    ) -> Result<Vec<(i64, Option<i64>)>> {
        let last = messages::table
            .filter(messages::room_id.eq(threads::room_id))
            .filter(messages::thread_root.eq(threads::root_id.nullable()))
            .filter(messages::thread_root.ne(messages::id.nullable()))
            .filter(messages::id.gt(place.0))
            .filter(messages::event.eq_any(ReadMarker::Inbox.kinds().map(MessageKind::code)))
            .filter(messages::user_id.is_null().or(messages::user_id.ne(user.0)))
            .select(max(messages::id))
            .single_value();
        Ok(threads::table
            .filter(threads::room_id.eq(room.0))
            .filter(threads::root_id.eq_any(roots))
            .select((threads::root_id, last))
            .load(c)?)
    }

    /// Which of these messages the inbox got from another after a place.
    fn of_inbox(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        place: MessageId,
        ids: &[i64],
    ) -> Result<Vec<i64>> {
        Ok(messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.eq_any(ids))
            .filter(messages::id.gt(place.0))
            .filter(messages::event.eq_any(ReadMarker::Inbox.kinds().map(MessageKind::code)))
            .filter(messages::user_id.is_null().or(messages::user_id.ne(user.0)))
            .select(messages::id)
            .load(c)?)
    }

    /// How many messages after the user's marker mention them.
    pub fn count_unread_mentions(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        read_up_to: MessageId,
    ) -> Result<i64> {
        let own = diesel::alias!(mentions as own);
        let mine = own
            .filter(own.field(mentions::room_id).eq(room.0))
            .filter(own.field(mentions::user_id).eq(user.0));
        let personal: i64 = mine
            .filter(own.field(mentions::message_id).gt(read_up_to.0))
            .count()
            .get_result(c)?;
        let seen = mentions_seen::table
            .filter(mentions_seen::room_id.eq(room.0))
            .filter(mentions_seen::user_id.eq(user.0));
        let everyone: i64 = mentions::table
            .filter(mentions::room_id.eq(room.0))
            .filter(mentions::user_id.eq(0))
            .filter(mentions::sender_id.ne(user.0))
            .filter(mentions::message_id.gt(read_up_to.0))
            .filter(not(exists(mine.filter(
                own.field(mentions::message_id).eq(mentions::message_id),
            ))))
            .filter(not(exists(
                seen.filter(mentions_seen::message_id.eq(mentions::message_id)),
            )))
            .count()
            .get_result(c)?;
        Ok(personal + everyone)
    }
}

/// The messages of the inbox behind a member's marker, as far as they were looked at.
struct InboxNews {
    /// Those that are unread, the earliest first.
    unread: Vec<MessageId>,
    /// The last one that was looked at.
    last: Option<MessageId>,
}

impl<C: Access> Members<'_, C> {
    /// The messages of others in the inbox that the user has read neither with the inbox nor with
    /// their thread, the earliest first, at most `limit` of them. Looks at the first 300 messages
    /// after the marker.
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
        let mut unread = self.find_inbox_news(room, user, read_up_to)?.unread;
        unread.truncate(usize::try_from(limit).unwrap_or(0));
        Ok(unread)
    }

    /// As [`Members::kind_behind`], of all kinds of the inbox. Each is one range of an index: asked
    /// for together, all that stands behind the place would be read and sorted.
    fn inbox_behind(
        &mut self,
        room: RoomId,
        user: UserId,
        place: MessageId,
    ) -> Result<Vec<(i64, Option<i64>, bool)>> {
        let mut rows = Vec::new();
        for tag in ReadMarker::Inbox.kinds().into_iter().filter_map(kind_tag) {
            rows.extend(self.kind_behind(room, user, place, tag)?);
        }
        rows.sort_unstable_by_key(|(id, ..)| *id);
        rows.truncate(usize::try_from(INBOX_LOOKED_AT).unwrap_or(0));
        Ok(rows)
    }

    fn find_inbox_news(
        &mut self,
        room: RoomId,
        user: UserId,
        read_up_to: MessageId,
    ) -> Result<InboxNews> {
        let rows = self.inbox_behind(room, user, read_up_to)?;
        let root = |id, root: Option<i64>| MessageId(root.unwrap_or(id));
        let roots: BTreeSet<MessageId> = rows.iter().map(|(id, of, _)| root(*id, *of)).collect();
        let roots: Vec<MessageId> = roots.into_iter().collect();
        let markers = self.list_thread_markers(room, user, &roots)?;
        let is_unread = |(id, of, is_by_another): &(i64, Option<i64>, bool)| {
            let read = markers.get(&root(*id, *of));
            *is_by_another && read.is_none_or(|read| read.0 < *id)
        };
        let unread = rows.iter().filter(|row| is_unread(row));
        Ok(InboxNews {
            unread: unread.map(|(id, ..)| MessageId(*id)).collect(),
            last: rows.last().map(|(id, ..)| MessageId(*id)),
        })
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
        let mut hidden = Vec::new();
        for root in changed {
            let last = &last[&root];
            if last.id <= marker(&root) {
                continue;
            }
            if last.user != Some(user) && membership.has_unread(last.event, last.id) {
                unread.insert(root);
            } else if last.id > membership.inbox_read_up_to {
                // What the inbox got may stand before the last message.
                hidden.push(root.0);
            }
        }
        if hidden.is_empty() {
            return Ok(unread);
        }
        let place = membership.inbox_read_up_to;
        let answers = self.last_inbox_answers(room, user, place, &hidden)?;
        let begun = self.of_inbox(room, user, place, &hidden)?;
        let answers = answers
            .into_iter()
            .filter_map(|(root, id)| Some((root, id?)));
        let all = answers.chain(begun.into_iter().map(|id| (id, id)));
        let all = all.map(|(root, id)| (MessageId(root), MessageId(id)));
        unread.extend(
            all.filter(|(root, id)| *id > marker(root))
                .map(|(root, _)| root),
        );
        Ok(unread)
    }
}

#[portable]
impl Members<'_, Tx<'_>> {
    fn move_chat_marker(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        message: MessageId,
    ) -> Result<bool> {
        let behind = room_members::table
            .find((room.0, user.0))
            .filter(room_members::read_up_to.lt(message.0));
        let moved = diesel::update(behind)
            .set(room_members::read_up_to.eq(message.0))
            .execute(c)?;
        Ok(moved > 0)
    }

    fn move_inbox_marker(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        message: MessageId,
    ) -> Result<bool> {
        let behind = room_members::table
            .find((room.0, user.0))
            .filter(room_members::inbox_read_up_to.lt(message.0));
        let moved = diesel::update(behind)
            .set(room_members::inbox_read_up_to.eq(message.0))
            .execute(c)?;
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
        let marker = thread_markers::table.find((room.0, user.0, root.0));
        let known = marker
            .select(thread_markers::read_up_to)
            .get_result::<i64>(c)
            .optional()?;
        if known.is_some_and(|known| known >= message.0) {
            return Ok(false);
        }
        diesel::insert_into(thread_markers::table)
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
            .set(thread_markers::read_up_to.eq(message.0))
            .execute(c)?;
        Ok(true)
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
        let chat = moves(ReadMarker::Chat) && self.move_chat_marker(room, user, message)?;
        let inbox = moves(ReadMarker::Inbox) && self.move_inbox_marker(room, user, message)?;
        if inbox {
            self.delete_overtaken(room, user)?;
        }
        Ok(chat || inbox)
    }

    /// Notes up to where a user has read a thread. Where nothing before that is unread in the inbox
    /// any more, its marker moves along, so that the threads need not be remembered for ever. Tells
    /// whether anything changed.
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
        let Some(membership) = self.find(room, user)? else {
            return Ok(false);
        };
        let place = membership.inbox_read_up_to;
        let both = place.min(membership.read_up_to);
        if message <= both || !self.move_thread_marker(room, user, root, message)? {
            return Ok(false);
        }
        let news = self.find_inbox_news(room, user, place)?;
        let end = match (news.unread.first(), news.last) {
            (Some(first), _) => MessageId(first.0 - 1),
            (None, last) => last.unwrap_or(place),
        };
        if self.move_inbox_marker(room, user, end)? {
            self.delete_overtaken(room, user)?;
        }
        Ok(true)
    }
}
