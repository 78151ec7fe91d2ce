//! What only exports read: rooms page by page, with everything that was ever in them.

use diesel::prelude::*;
use eddyline_model::messages::Message;
use eddyline_model::sources::Source;
use eddyline_model::{MessageId, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::{Files, Messages, Reactions, Rooms, Sources, Threads};
use crate::reader::Access;
use crate::rows::{MessageRow, ThreadRow};
use crate::schema::{
    applications, files, messages, objects, organization_members, private_rooms, reactions,
    sources, thread_items, threads,
};
use crate::sources::Row as SourceRow;
use crate::threads::INBOX;
use crate::{Error, Result};

/// A file with the message that it came with and the digest of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOfMessage {
    /// The message.
    pub message: MessageId,
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its MIME type.
    pub content_type: String,
    /// How many bytes it has.
    pub size: i64,
    /// Where the bytes lie.
    pub object: String,
    /// Their SHA-256.
    pub digest: Vec<u8>,
    /// The width of a picture, in pixels.
    pub width: Option<i64>,
    /// Its height.
    pub height: Option<i64>,
}

/// A thread as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadOfRoom {
    /// The message that began it.
    pub root: MessageId,
    /// Whether it is of the inbox.
    pub is_inbox: bool,
    /// The number of the source that keeps it; 0 for the flow's own token.
    pub source: Option<i64>,
    /// The id that the source has for it.
    pub external_id: Option<String>,
    /// How many activities it has.
    pub activities: i64,
    /// How many comments of users it has.
    pub internal_comments: i64,
    /// How many comments of the outside service it has.
    pub external_comments: i64,
    /// When it began.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The message under whose number the item is kept.
    pub item_message: Option<MessageId>,
    /// The message that gave the item its present state.
    pub item_from: Option<MessageId>,
    /// The item as JSON.
    pub item: Option<String>,
}

/// A source, with the name of its application.
#[derive(Clone, Debug)]
pub struct SourceOfFlow {
    /// The source.
    pub source: Source,
    /// The name.
    pub application: Option<String>,
}

/// A private conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrivateRoom {
    /// The room.
    pub room: RoomId,
    /// The user with the lower number.
    pub low: UserId,
    /// The other one; the same in a conversation with oneself.
    pub high: UserId,
}

fn to_private_room((room, low, high): (i64, i64, i64)) -> PrivateRoom {
    PrivateRoom {
        room: RoomId(room),
        low: UserId(low),
        high: UserId(high),
    }
}

fn to_thread((row, item): (ThreadRow, Option<String>)) -> ThreadOfRoom {
    ThreadOfRoom {
        root: MessageId(row.root_id),
        is_inbox: row.origin == INBOX,
        source: row.source_id,
        external_id: row.external_id,
        activities: row.activities,
        internal_comments: row.internal_comments,
        external_comments: row.external_comments,
        created_at: Timestamp(row.created_at),
        updated_at: Timestamp(row.updated_at),
        item_message: row.item_id.map(MessageId),
        item_from: row.item_from.map(MessageId),
        item,
    }
}

#[portable]
impl<C: Access> Messages<'_, C> {
    fn rows_above(
        c: &mut Connection,
        room: RoomId,
        after: MessageId,
        author: Option<UserId>,
        limit: i64,
    ) -> Result<Vec<MessageRow>> {
        let mut found = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.gt(after.0))
            .into_boxed();
        if let Some(author) = author {
            found = found.filter(messages::user_id.eq(author.0));
        }
        Ok(found.order(messages::id).limit(limit).load(c)?)
    }

    /// The users whom the messages of a room name as their author or their reader.
    pub fn list_users_of_room(c: &mut Connection, room: RoomId) -> Result<Vec<UserId>> {
        let mut found = messages::table
            .filter(messages::room_id.eq(room.0))
            .select(messages::user_id)
            .distinct()
            .load::<Option<i64>>(&mut *c)?;
        found.extend(
            messages::table
                .filter(messages::room_id.eq(room.0))
                .select(messages::to_user_id)
                .distinct()
                .load::<Option<i64>>(c)?,
        );
        Ok(found.into_iter().flatten().map(UserId).collect())
    }

    /// The rooms in which a user has written, ordered by number.
    pub fn list_rooms_of_author(c: &mut Connection, author: UserId) -> Result<Vec<RoomId>> {
        let rooms = messages::table
            .filter(messages::user_id.eq(author.0))
            .select(messages::room_id)
            .distinct()
            .order(messages::room_id)
            .load::<i64>(c)?;
        Ok(rooms.into_iter().map(RoomId).collect())
    }
}

impl<C: Access> Messages<'_, C> {
    /// Messages and notices of a room with a number above `after`, ordered by number: all, or those
    /// of one author.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn list_page(
        &mut self,
        room: RoomId,
        after: MessageId,
        author: Option<UserId>,
        limit: i64,
    ) -> Result<Vec<Message>> {
        let rows = self.rows_above(room, after, author, limit)?;
        self.load_messages(rows)
    }
}

type FileColumns = (
    (i64, String, String, String, i64, String),
    (Option<Vec<u8>>, Option<i64>, Option<i64>),
);

#[portable]
impl<C: Access> Files<'_, C> {
    /// The files of some messages of one room, ordered by message and place.
    pub fn list_of_messages(
        c: &mut Connection,
        room: RoomId,
        ids: &[i64],
    ) -> Result<Vec<FileOfMessage>> {
        let rows = files::table
            .inner_join(objects::table.on(objects::object_key.eq(files::object_key)))
            .filter(files::room_id.eq(room.0))
            .filter(files::message_id.eq_any(ids))
            .order((files::message_id, files::position))
            .select((
                (
                    files::message_id,
                    files::id,
                    files::name,
                    files::content_type,
                    files::size,
                    files::object_key,
                ),
                (objects::digest, files::width, files::height),
            ))
            .load::<FileColumns>(c)?;
        let to_file = |((message, id, name, content_type, size, object), rest): FileColumns| {
            let (digest, width, height) = rest;
            Ok(FileOfMessage {
                message: MessageId(message),
                id,
                name,
                content_type,
                size,
                object,
                digest: digest.ok_or(Error::Corrupt("a kept object without a digest"))?,
                width,
                height,
            })
        };
        rows.into_iter().map(to_file).collect()
    }
}

#[portable]
impl<C: Access> Reactions<'_, C> {
    /// The users who reacted to messages of a room.
    pub fn list_users_of_room(c: &mut Connection, room: RoomId) -> Result<Vec<UserId>> {
        let users = reactions::table
            .filter(reactions::room_id.eq(room.0))
            .select(reactions::user_id)
            .distinct()
            .load::<i64>(c)?;
        Ok(users.into_iter().map(UserId).collect())
    }
}

#[portable]
impl<C: Access> Threads<'_, C> {
    /// Threads of a room that began behind the message `after`, ordered by that.
    pub fn list_page_of_room(
        c: &mut Connection,
        room: RoomId,
        after: MessageId,
        limit: i64,
    ) -> Result<Vec<ThreadOfRoom>> {
        let of_thread = thread_items::room_id
            .eq(threads::room_id)
            .and(threads::item_id.eq(thread_items::message_id.nullable()));
        let rows = threads::table
            .left_join(thread_items::table.on(of_thread))
            .filter(threads::room_id.eq(room.0))
            .filter(threads::root_id.gt(after.0))
            .order(threads::root_id)
            .limit(limit)
            .select((threads::all_columns, thread_items::item.nullable()))
            .load::<(ThreadRow, Option<String>)>(c)?;
        Ok(rows.into_iter().map(to_thread).collect())
    }
}

#[portable]
impl<C: Access> Sources<'_, C> {
    /// All sources of a flow, the removed ones too, the oldest first.
    pub fn list_all_of_room(c: &mut Connection, room: RoomId) -> Result<Vec<SourceOfFlow>> {
        let of_source = applications::id.nullable().eq(sources::application_id);
        let rows = sources::table
            .left_join(applications::table.on(of_source))
            .filter(sources::room_id.eq(room.0))
            .order(sources::id)
            .select((SourceRow::as_select(), applications::name.nullable()))
            .load::<(SourceRow, Option<String>)>(c)?;
        let to_source = |(row, application): (SourceRow, _)| SourceOfFlow {
            source: row.into(),
            application,
        };
        Ok(rows.into_iter().map(to_source).collect())
    }
}

#[portable]
impl<C: Access> Rooms<'_, C> {
    /// All private conversations of a user, ordered by room.
    pub fn list_private_of(c: &mut Connection, user: UserId) -> Result<Vec<PrivateRoom>> {
        let theirs = private_rooms::low_user_id
            .eq(user.0)
            .or(private_rooms::high_user_id.eq(user.0));
        let rows = private_rooms::table
            .filter(theirs)
            .order(private_rooms::room_id)
            .load::<(i64, i64, i64)>(c)?;
        Ok(rows.into_iter().map(to_private_room).collect())
    }

    /// The private conversations between members of an organization, and of each with themselves,
    /// ordered by room.
    pub fn list_private_within(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<Vec<PrivateRoom>> {
        let members = || {
            organization_members::table
                .filter(organization_members::organization_id.eq(organization.0))
                .select(organization_members::user_id)
        };
        let rows = private_rooms::table
            .filter(private_rooms::low_user_id.eq_any(members()))
            .filter(private_rooms::high_user_id.eq_any(members()))
            .order(private_rooms::room_id)
            .load::<(i64, i64, i64)>(c)?;
        Ok(rows.into_iter().map(to_private_room).collect())
    }
}
