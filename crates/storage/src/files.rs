//! Files of messages, and the objects that hold their bytes.
//!
//! An object begins as pending, before its bytes are written. With the message it becomes kept,
//! unless an equal one is kept already. From either it can become marked for deletion, and nothing
//! ever brings it back: a process that finds it so may remove the bytes, and then forgets it.
//!
//! A transaction that locks several objects does so in the order of their digests, and rooms
//! before.

use std::collections::{BTreeMap, BTreeSet};

use diesel::Connection as _;
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as Diesel};
use diesel::sql_types::{BigInt, Bool};
use eddyline_model::files::{File, FileId, NewFile, NewObject};
use eddyline_model::{MessageId, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::Files;
use crate::reader::{Access, Inner};
use crate::schema::{files, flows, messages, nodes, objects, private_rooms, settings};
use crate::transaction::Tx;
use crate::{Error, Result};

const PENDING: i16 = 0;
const KEPT: i16 = 1;
const MARKED_FOR_DELETION: i16 = 2;

/// The setting with the time until which no bytes are removed.
pub(crate) const DELETIONS_PAUSED_UNTIL: &str = "file_deletions_paused_until";

/// How many rows one statement adds, or how many keys it is given.
const ROWS: usize = 500;

/// What a small file counts for in sums: file systems keep whole blocks.
pub const COUNTED_FILE_BYTES: i64 = 4096;

/// How often an equal object may come and go while one is to be kept.
const ATTEMPTS: usize = 10;

/// What of a file is read to hand it out.
#[derive(Queryable, Selectable)]
#[diesel(table_name = files)]
struct FileRow {
    id: String,
    room_id: i64,
    message_id: i64,
    name: String,
    content_type: String,
    size: i64,
    object_key: String,
    thumbnail_key: Option<String>,
}

// Conditions are spelled as the indexes spell them, so that the planners may use those.
fn is_not_kept() -> SqlLiteral<Bool> {
    sql("state <> 1")
}

/// PostgreSQL sums up in a type without bounds, for which there is none here.
fn sum_of_sizes() -> SqlLiteral<BigInt> {
    sql(&format!(
        "coalesce(cast(sum(case when files.size < {COUNTED_FILE_BYTES} then {COUNTED_FILE_BYTES} \
         else files.size end) as bigint), 0)"
    ))
}

fn time_of(value: &[u8]) -> Timestamp {
    let text = std::str::from_utf8(value).unwrap_or_default();
    Timestamp(text.parse().unwrap_or_default())
}

fn to_file(row: FileRow) -> File {
    File {
        id: FileId(row.id),
        room: RoomId(row.room_id),
        message: MessageId(row.message_id),
        name: row.name,
        content_type: row.content_type,
        size: row.size,
        object: row.object_key,
        thumbnail: row.thumbnail_key,
    }
}

#[portable]
impl<C: Access> Files<'_, C> {
    /// Whether processes that have shown no sign of life since `since` left pending objects.
    pub fn has_abandoned_objects(c: &mut Connection, since: Timestamp) -> Result<bool> {
        let living = nodes::table
            .filter(nodes::heartbeat.ge(since.0))
            .select(nodes::id)
            .load::<String>(c)?;
        let abandoned = objects::table
            .filter(objects::state.eq(PENDING))
            .filter(is_not_kept())
            .filter(objects::touched_at.lt(since.0))
            .filter(objects::node.ne_all(living));
        Ok(diesel::select(diesel::dsl::exists(abandoned)).get_result(c)?)
    }

    /// The keys of some objects marked for deletion whose bytes could be removed before this time.
    pub fn list_objects_marked_for_deletion(
        c: &mut Connection,
        before: Timestamp,
        limit: i64,
    ) -> Result<Vec<String>> {
        let postponed = settings::table
            .find(DELETIONS_PAUSED_UNTIL)
            .select(settings::value)
            .get_result::<Vec<u8>>(c)
            .optional()?;
        if postponed.is_some_and(|until| time_of(&until) > before) {
            return Ok(Vec::new());
        }
        Ok(objects::table
            .filter(objects::state.eq(MARKED_FOR_DELETION))
            .filter(is_not_kept())
            .filter(objects::touched_at.lt(before.0))
            .order((objects::touched_at, objects::object_key))
            .limit(limit)
            .select(objects::object_key)
            .load(c)?)
    }

    /// How many objects are marked for deletion.
    pub fn count_objects_marked_for_deletion(c: &mut Connection) -> Result<i64> {
        Ok(objects::table
            .filter(objects::state.eq(MARKED_FOR_DELETION))
            .filter(is_not_kept())
            .count()
            .get_result(c)?)
    }

    /// The file with this id.
    pub fn find(c: &mut Connection, id: &FileId) -> Result<Option<File>> {
        let row = files::table
            .find(&id.0)
            .select(FileRow::as_select())
            .get_result(c)
            .optional()?;
        Ok(row.map(to_file))
    }

    /// Bytes of all files in the flows of an organization. Equal files count each time, thumbnails
    /// do not, and each counts for [`COUNTED_FILE_BYTES`] at least.
    pub fn count_bytes_of_organization(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<u64> {
        let rooms = flows::table
            .filter(flows::organization_id.eq(organization.0))
            .select(flows::room_id);
        let bytes = files::table
            .filter(files::room_id.eq_any(rooms))
            .select(sum_of_sizes())
            .get_result::<i64>(c)?;
        Ok(bytes.unsigned_abs())
    }

    /// Bytes of all files that a user has sent in private conversations, counted as those of
    /// organizations.
    pub fn count_private_bytes_of_user(c: &mut Connection, user: UserId) -> Result<u64> {
        let with = private_rooms::low_user_id
            .eq(user.0)
            .or(private_rooms::high_user_id.eq(user.0));
        let rooms = private_rooms::table
            .filter(with)
            .select(private_rooms::room_id);
        let own = messages::room_id
            .eq(files::room_id)
            .and(messages::id.eq(files::message_id));
        let bytes = files::table
            .inner_join(messages::table.on(own))
            .filter(files::room_id.eq_any(rooms))
            .filter(messages::user_id.eq(user.0))
            .select(sum_of_sizes())
            .get_result::<i64>(c)?;
        Ok(bytes.unsigned_abs())
    }
}

#[portable]
impl Files<'_, Tx<'_>> {
    /// Notes an object before its bytes are written. Should the process `node` die, the object is
    /// found among the abandoned ones.
    pub fn insert_object(c: &mut Connection, key: &str, node: &str, now: Timestamp) -> Result<()> {
        diesel::insert_into(objects::table)
            .values((
                objects::object_key.eq(key),
                objects::size.eq(0),
                objects::state.eq(PENDING),
                objects::node.eq(node),
                objects::touched_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Marks those of some objects that are still pending: their upload was given up, or equal ones
    /// were kept. `from` is when their bytes can be removed: not before the last of them is
    /// written.
    pub fn mark_pending_objects(
        c: &mut Connection,
        keys: &[String],
        from: Timestamp,
    ) -> Result<()> {
        for part in keys.chunks(ROWS) {
            let pending = objects::table
                .filter(objects::state.eq(PENDING))
                .filter(objects::object_key.eq_any(part));
            diesel::update(pending)
                .set((
                    objects::state.eq(MARKED_FOR_DELETION),
                    objects::touched_at.eq(from.0),
                ))
                .execute(c)?;
        }
        Ok(())
    }

    /// Marks objects whose upload `node` has given up, but for those that are kept. `from` is as
    /// above. An object that is not noted at all counts as marked too: somebody took this process
    /// for dead, and removed and forgot it, perhaps before its bytes came.
    pub fn mark_abandoned_uploads(
        c: &mut Connection,
        keys: &[String],
        node: &str,
        from: Timestamp,
    ) -> Result<()> {
        for part in keys.chunks(ROWS) {
            for key in part {
                let row = (
                    objects::object_key.eq(key),
                    objects::size.eq(0),
                    objects::state.eq(MARKED_FOR_DELETION),
                    objects::node.eq(node),
                    objects::touched_at.eq(from.0),
                );
                diesel::insert_into(objects::table)
                    .values(row)
                    .on_conflict_do_nothing()
                    .execute(c)?;
            }
            let known = objects::table
                .filter(is_not_kept())
                .filter(objects::object_key.eq_any(part));
            diesel::update(known)
                .set((
                    objects::state.eq(MARKED_FOR_DELETION),
                    objects::touched_at.eq(from.0),
                ))
                .execute(c)?;
        }
        Ok(())
    }

    /// Marks the pending objects of processes that have shown no sign of life since `since`.
    /// Returns how many there were.
    pub fn mark_abandoned_objects(
        c: &mut Connection,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<usize> {
        let living = nodes::table
            .filter(nodes::heartbeat.ge(since.0))
            .select(nodes::id)
            .load::<String>(c)?;
        let abandoned = objects::table
            .filter(objects::state.eq(PENDING))
            .filter(is_not_kept())
            // A process may begin to write before it first shows that it lives.
            .filter(objects::touched_at.lt(since.0))
            .filter(objects::node.ne_all(living));
        Ok(diesel::update(abandoned)
            .set((
                objects::state.eq(MARKED_FOR_DELETION),
                objects::touched_at.eq(now.0),
            ))
            .execute(c)?)
    }

    /// Puts off the removal of objects marked for deletion.
    pub fn postpone_objects(c: &mut Connection, keys: &[String], until: Timestamp) -> Result<()> {
        for part in keys.chunks(ROWS) {
            let marked = objects::table
                .filter(objects::state.eq(MARKED_FOR_DELETION))
                .filter(objects::object_key.eq_any(part));
            diesel::update(marked)
                .set(objects::touched_at.eq(until.0))
                .execute(c)?;
        }
        Ok(())
    }

    /// Puts off the removal of all bytes until this time: a backup needs those that were kept when it
    /// began.
    pub fn postpone_deletions(c: &mut Connection, until: Timestamp) -> Result<()> {
        let value = until.0.to_string().into_bytes();
        diesel::insert_into(settings::table)
            .values((
                settings::name.eq(DELETIONS_PAUSED_UNTIL),
                settings::value.eq(&value),
            ))
            .on_conflict(settings::name)
            .do_update()
            .set(settings::value.eq(&value))
            .execute(c)?;
        Ok(())
    }

    /// Forgets objects marked for deletion whose bytes are gone, but for those that were put off
    /// until `before` or later: more bytes may come.
    pub fn delete_objects(c: &mut Connection, keys: &[String], before: Timestamp) -> Result<()> {
        for part in keys.chunks(ROWS) {
            let marked = objects::table
                .filter(objects::state.eq(MARKED_FOR_DELETION))
                .filter(objects::touched_at.lt(before.0))
                .filter(objects::object_key.eq_any(part));
            diesel::delete(marked).execute(c)?;
        }
        Ok(())
    }

    /// Makes a pending object kept. `None` when an equal one is, after all.
    fn insert_kept_object(
        c: &mut Connection,
        object: &NewObject,
        now: Timestamp,
    ) -> Result<Option<()>> {
        let pending = objects::table
            .find(&object.key)
            .filter(objects::state.eq(PENDING));
        // In a transaction within, so that a failure does not end the one around it.
        let made = c.transaction(|c| {
            diesel::update(pending)
                .set((
                    objects::state.eq(KEPT),
                    objects::digest.eq(&object.digest[..]),
                    objects::size.eq(object.size),
                    objects::touched_at.eq(now.0),
                ))
                .execute(c)
        });
        match made {
            Ok(0) => Err(Error::Refused(
                "an upload was given up before it was posted",
            )),
            Ok(_) => Ok(Some(())),
            Err(Diesel::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn insert_rows(
        c: &mut Connection,
        new: &[(RoomId, MessageId, &[NewFile])],
        keys: &BTreeMap<&str, String>,
    ) -> Result<()> {
        let key = |object: &NewObject| {
            keys.get(object.key.as_str())
                .cloned()
                .unwrap_or_else(|| object.key.clone())
        };
        let mut rows = Vec::new();
        for (room, message, with) in new {
            for (position, file) in (0_i16..).zip(with.iter()) {
                let thumbnail = file.thumbnail.as_ref();
                rows.push((
                    files::id.eq(&file.id.0),
                    files::room_id.eq(room.0),
                    files::message_id.eq(message.0),
                    files::position.eq(position),
                    files::name.eq(&file.name),
                    files::content_type.eq(&file.content_type),
                    files::size.eq(file.object.size),
                    files::object_key.eq(key(&file.object)),
                    files::width.eq(file.picture.map(|picture| i64::from(picture.width))),
                    files::height.eq(file.picture.map(|picture| i64::from(picture.height))),
                    files::thumbnail_key.eq(thumbnail.map(|(object, _)| key(object))),
                    files::thumbnail_width.eq(thumbnail.map(|(_, size)| i64::from(size.width))),
                    files::thumbnail_height.eq(thumbnail.map(|(_, size)| i64::from(size.height))),
                ));
            }
        }
        for part in rows.chunks(ROWS) {
            diesel::insert_into(files::table).values(part).execute(c)?;
        }
        Ok(())
    }

    /// Takes the files off a message, and returns the keys of their objects.
    fn delete_rows(
        c: &mut Connection,
        room: RoomId,
        message: MessageId,
    ) -> Result<BTreeSet<String>> {
        let of = || {
            files::table
                .filter(files::room_id.eq(room.0))
                .filter(files::message_id.eq(message.0))
        };
        let rows: Vec<(String, Option<String>)> = of()
            .select((files::object_key, files::thumbnail_key))
            .load(c)?;
        if !rows.is_empty() {
            diesel::delete(of()).execute(c)?;
        }
        Ok(rows
            .into_iter()
            .flat_map(|(object, thumbnail)| [Some(object), thumbnail])
            .flatten()
            .collect())
    }

    /// Marks a kept object, which was locked, unless a file has it.
    fn mark_unused(c: &mut Connection, key: &str) -> Result<()> {
        let with = files::table.filter(files::object_key.eq(key));
        let with_thumbnail = files::table.filter(files::thumbnail_key.eq(key));
        let is_used = diesel::select(diesel::dsl::exists(with)).get_result::<bool>(c)?
            || diesel::select(diesel::dsl::exists(with_thumbnail)).get_result::<bool>(c)?;
        if !is_used {
            diesel::update(objects::table.find(key).filter(objects::state.eq(KEPT)))
                .set(objects::state.eq(MARKED_FOR_DELETION))
                .execute(c)?;
        }
        Ok(())
    }
}

impl Files<'_, Tx<'_>> {
    /// Keeps the files that come with messages. Of equal objects one is kept, and files that would
    /// have another have that one.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when an object is no longer pending, and no equal one is kept.
    pub(crate) fn insert(
        &mut self,
        new: &[(RoomId, MessageId, &[NewFile])],
        now: Timestamp,
    ) -> Result<()> {
        let files = new.iter().flat_map(|(_, _, files)| files.iter());
        let mut objects: Vec<&NewObject> = files
            .flat_map(|file| {
                [
                    Some(&file.object),
                    file.thumbnail.as_ref().map(|(object, _)| object),
                ]
            })
            .flatten()
            .collect();
        objects.sort_by_key(|object| object.digest);
        let mut keys = BTreeMap::new();
        for object in objects {
            keys.insert(object.key.as_str(), self.keep_object(object, now)?);
        }
        self.insert_rows(new, &keys)
    }

    /// Makes sure that an object's bytes are kept, and returns the key that they lie under.
    fn keep_object(&mut self, object: &NewObject, now: Timestamp) -> Result<String> {
        for _ in 0..ATTEMPTS {
            if let Some(kept) = self.lock_kept(&object.digest)? {
                if kept != object.key {
                    self.mark_pending_objects(std::slice::from_ref(&object.key), now)?;
                }
                return Ok(kept);
            }
            if self.insert_kept_object(object, now)?.is_some() {
                return Ok(object.key.clone());
            }
        }
        Err(Error::Busy)
    }

    /// Removes the files of a message, and marks the objects for deletion that no other file has.
    pub(crate) fn delete_of_message(&mut self, room: RoomId, message: MessageId) -> Result<()> {
        let keys: Vec<String> = self.delete_rows(room, message)?.into_iter().collect();
        if keys.is_empty() {
            return Ok(());
        }
        for key in self.lock_objects(&keys)? {
            self.mark_unused(&key)?;
        }
        Ok(())
    }

    /// The key of the kept object with this digest, which nobody marks before the transaction ends.
    fn lock_kept(&mut self, digest: &[u8; 32]) -> Result<Option<String>> {
        let kept = objects::table
            .filter(objects::digest.eq(&digest[..]))
            .filter(sql::<Bool>("state = 1"))
            .select(objects::object_key);
        Ok(match self.0.connection() {
            // There is only one who writes.
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => kept.get_result(c).optional()?,
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => kept.for_update().get_result(c).optional()?,
        })
    }

    /// Locks objects, and returns their keys in the order of the digests.
    fn lock_objects(&mut self, keys: &[String]) -> Result<Vec<String>> {
        let all = objects::table
            .filter(objects::object_key.eq_any(keys))
            .order((objects::digest, objects::object_key))
            .select(objects::object_key);
        Ok(match self.0.connection() {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => all.load(c)?,
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => all.for_update().load(c)?,
        })
    }
}
