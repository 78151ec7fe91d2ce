//! Cohorts: the users whom messages address with groups and with everyone. A cohort is kept once
//! for all messages of a room that address the same users, and named by its number in the tags of a
//! message and among its mentions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use diesel::prelude::*;
use diesel::sql_types::Bool;
use eddyline_model::messages::Message;
use eddyline_model::tags::{Cohort, CohortMarks, Tags};
use eddyline_model::{MessageId, RoomId, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::{Messages, Rooms};
use crate::messages::{join_tags, split_tags, to_message};
use crate::reader::Access;
use crate::rows::{MentionRow, MessageRow};
use crate::schema::{cohorts, mentions, messages};
use crate::transaction::Tx;

/// Begins the line among the tags of a message that stands for the marks of its cohorts: their
/// numbers with commas between, and after spaces the users who are left out. No tag begins with a
/// control character.
const MARKS: char = '\u{1}';

/// The number of cohorts of a room from which on an edit makes no new one: the marks of the message
/// are spelled out. The order of marks, and which of them an edit leaves out, are up to its author.
/// Those that posts make follow from who is in the flow and in its groups.
const MOST_FOR_EDITS: i64 = 1_000;

/// The number of cohorts that are loaded by one statement, which has a variable for each.
const LOADED_AT_ONCE: usize = 1_000;

/// The tags of a message as its row has them.
struct TagsRow {
    listed: Vec<String>,
    place: usize,
    cohorts: Vec<i64>,
    without: Vec<UserId>,
}

impl TagsRow {
    fn of(text: &str) -> Self {
        let mut row = Self {
            listed: split_tags(text),
            place: 0,
            cohorts: Vec::new(),
            without: Vec::new(),
        };
        let is_marks = |tag: &String| tag.starts_with(MARKS);
        if let Some(place) = row.listed.iter().position(is_marks) {
            let line = row.listed.remove(place);
            let mut parts = line.trim_start_matches(MARKS).split(' ');
            let numbers = parts.next().unwrap_or_default().split(',');
            row.place = place;
            row.cohorts = numbers.filter_map(|number| number.parse().ok()).collect();
            row.without = parts.filter_map(|user| user.parse().ok()).collect();
        }
        row
    }

    /// The tags with their cohorts. A cohort that is missing was removed a moment ago, with the
    /// last message that addressed it.
    fn with(self, cohorts: &HashMap<i64, Arc<Cohort>>) -> Tags {
        let ids = self.cohorts.iter();
        let cohorts: Vec<_> = ids.filter_map(|id| cohorts.get(id).cloned()).collect();
        let marks = (!cohorts.is_empty()).then_some(CohortMarks {
            place: self.place,
            cohorts,
            without: self.without,
        });
        Tags::new(self.listed, marks)
    }
}

/// The numbers of cohorts in a room.
#[derive(Default)]
pub(crate) struct CohortIds {
    ids: HashMap<[u8; 32], i64>,
    new: Vec<(i64, Arc<Cohort>)>,
}

impl CohortIds {
    fn of(&self, tags: &Tags) -> Vec<i64> {
        let ids = tags.cohorts().iter();
        ids.filter_map(|cohort| self.ids.get(cohort.digest()).copied())
            .collect()
    }

    /// Returns `true` if none of the cohorts of these tags lacks a number: otherwise their marks
    /// are spelled out.
    fn has_all(&self, tags: &Tags) -> bool {
        let mut cohorts = tags.cohorts().iter();
        cohorts.all(|cohort| self.ids.contains_key(cohort.digest()))
    }

    /// Takes the numbers from cohorts that are not written yet.
    fn drop_new(&mut self) {
        for (_, cohort) in self.new.drain(..) {
            self.ids.remove(cohort.digest());
        }
    }

    /// Tags as they are kept.
    pub(crate) fn text(&self, tags: &Tags) -> String {
        let Some(marks) = tags.marks().filter(|_| self.has_all(tags)) else {
            return join_tags(&tags.to_vec());
        };
        let ids: Vec<String> = self.of(tags).iter().map(i64::to_string).collect();
        let mut line = format!("{MARKS}{}", ids.join(","));
        for user in &marks.without {
            line.push_str(&format!(" {user}"));
        }
        let (before, after) = tags.listed().split_at(marks.place);
        join_tags(&[before, &[line], after].concat())
    }

    /// Returns the keys of the unread marks of a message in the table of mentions: the numbers of
    /// users, and those of cohorts negated.
    pub(crate) fn mention_keys(&self, tags: &Tags) -> BTreeSet<i64> {
        let users = tags.listed_unread().map(|user| user.0);
        if !self.has_all(tags) {
            return users.chain(tags.marked().map(|user| user.0)).collect();
        }
        users
            .chain(self.of(tags).into_iter().map(|id| -id))
            .collect()
    }

    /// The rows of mentions that a message has with these keys.
    pub(crate) fn mention_rows(
        message: &Message,
        keys: impl IntoIterator<Item = i64>,
    ) -> Vec<MentionRow> {
        let author = message.author.user;
        let left_out = author.filter(|author| {
            let marks = message.tags.marks();
            marks.is_some_and(|marks| marks.without.contains(author))
        });
        let number = |user: Option<UserId>| user.map_or(0, |user| user.0);
        let sender = |key: i64| number(if key < 0 { left_out } else { author });
        keys.into_iter()
            .map(|key| (message.room.0, key, message.id.0, sender(key)))
            .collect()
    }
}

/// The members of the cohorts of a message whose marks were taken off.
fn taken_off(message: &Message) -> HashSet<UserId> {
    let marks = message.tags.marks();
    let mut users: HashSet<UserId> = marks
        .into_iter()
        .flat_map(|marks| marks.without.iter().copied())
        .filter(|user| message.author.user != Some(*user))
        .collect();
    if !users.is_empty() {
        for user in message.tags.listed_unread() {
            users.remove(&user);
        }
    }
    users
}

/// Returns `true` if a message mentions everyone by the row of earlier versions, which had no
/// cohorts.
fn is_of_before(message: &Message) -> bool {
    message.to.is_none()
        && message.tags.marks().is_none()
        && message.tags.contains(crate::find::EVERYONE)
}

fn users_text(users: &[UserId]) -> String {
    let mut text = String::from(",");
    for user in users {
        text.push_str(&format!("{user},"));
    }
    text
}

fn parse_users(text: &str) -> Vec<UserId> {
    text.split(',')
        .filter_map(|user| user.parse().ok())
        .collect()
}

/// Returns the number at which a search for the number of a cohort begins.
fn first_id(cohort: &Cohort) -> i64 {
    let mut first = [0; 8];
    first.copy_from_slice(&cohort.digest()[..8]);
    (i64::from_be_bytes(first) & i64::MAX).max(1)
}

#[portable]
impl<C: Access> Messages<'_, C> {
    fn cohort_rows(c: &mut Connection, room: RoomId, ids: &[i64]) -> Result<Vec<(i64, String)>> {
        Ok(cohorts::table
            .filter(cohorts::room_id.eq(room.0))
            .filter(cohorts::id.eq_any(ids))
            .select((cohorts::id, cohorts::users))
            .load(c)?)
    }

    fn find_digest(c: &mut Connection, room: RoomId, id: i64) -> Result<Option<Vec<u8>>> {
        Ok(cohorts::table
            .find((room.0, id))
            .select(cohorts::digest)
            .get_result(c)
            .optional()?)
    }

    /// The cohorts of a room that a user is in.
    pub(crate) fn list_cohorts_with(
        c: &mut Connection,
        room: RoomId,
        user: i64,
    ) -> Result<Vec<i64>> {
        Ok(cohorts::table
            .filter(cohorts::room_id.eq(room.0))
            .filter(cohorts::users.like(format!("%,{user},%")))
            .select(cohorts::id)
            .load(c)?)
    }

    /// Returns `true` if a room has so many cohorts.
    fn has_cohorts(c: &mut Connection, room: RoomId, count: i64) -> Result<bool> {
        let last = cohorts::table
            .filter(cohorts::room_id.eq(room.0))
            .order(cohorts::id)
            .offset(count - 1)
            .select(cohorts::id)
            .first::<i64>(c);
        Ok(last.optional()?.is_some())
    }

    /// The mentions of cohorts in messages from one through another.
    pub(crate) fn list_cohort_mentions(
        c: &mut Connection,
        room: RoomId,
        first: i64,
        last: i64,
    ) -> Result<Vec<MentionRow>> {
        Ok(mentions::table
            .filter(mentions::room_id.eq(room.0))
            .filter(mentions::message_id.ge(first))
            .filter(mentions::message_id.le(last))
            // Spelled as the index `mentions_of_cohorts` spells it, so that the planner may use it.
            .filter(diesel::dsl::sql::<Bool>("not mentions.user_id > 0"))
            .load(c)?)
    }

    /// Messages after one and through another whose row spells out several unread marks.
    pub fn list_with_spelled_marks(
        c: &mut Connection,
        room: RoomId,
        after: MessageId,
        through: MessageId,
    ) -> Result<Vec<MessageId>> {
        let ids = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.gt(after.0))
            .filter(messages::id.le(through.0))
            .filter(messages::tags.like("%:unread:%:unread:%"))
            .order(messages::id)
            .select(messages::id)
            .load::<i64>(c)?;
        Ok(ids.into_iter().map(MessageId).collect())
    }
}

#[portable]
impl Messages<'_, Tx<'_>> {
    fn insert_cohort(c: &mut Connection, room: RoomId, id: i64, cohort: &Cohort) -> Result<()> {
        diesel::insert_into(cohorts::table)
            .values((
                cohorts::room_id.eq(room.0),
                cohorts::id.eq(id),
                cohorts::digest.eq(&cohort.digest()[..]),
                cohorts::users.eq(users_text(cohort.users())),
            ))
            .on_conflict_do_nothing()
            .execute(c)?;
        Ok(())
    }

    /// Deletes cohorts that no message of the room addresses any more.
    fn delete_unused_cohorts(c: &mut Connection, room: RoomId, ids: &[i64]) -> Result<()> {
        for id in ids {
            let addressing = mentions::table
                .filter(mentions::room_id.eq(room.0))
                .filter(mentions::user_id.eq(-id));
            if !diesel::select(diesel::dsl::exists(addressing)).get_result::<bool>(c)? {
                diesel::delete(cohorts::table.find((room.0, id))).execute(c)?;
            }
        }
        Ok(())
    }
}

impl<C: Access> Messages<'_, C> {
    /// Messages of one room with their cohorts, in the order of the rows.
    pub(crate) fn load_messages(&mut self, rows: Vec<MessageRow>) -> Result<Vec<Message>> {
        let tags: Vec<TagsRow> = rows.iter().map(|row| TagsRow::of(&row.tags)).collect();
        let ids: BTreeSet<i64> = tags
            .iter()
            .flat_map(|tags| &tags.cohorts)
            .copied()
            .collect();
        let cohorts = match rows.first() {
            Some(row) if !ids.is_empty() => {
                let ids: Vec<i64> = ids.into_iter().collect();
                self.load_cohorts(RoomId(row.room_id), &ids)?
            }
            _ => HashMap::new(),
        };
        let rows = rows.into_iter().zip(tags);
        rows.map(|(row, tags)| to_message(row, tags.with(&cohorts)))
            .collect()
    }

    pub(crate) fn load_cohorts(
        &mut self,
        room: RoomId,
        ids: &[i64],
    ) -> Result<HashMap<i64, Arc<Cohort>>> {
        let mut cohorts = HashMap::new();
        for part in ids.chunks(LOADED_AT_ONCE) {
            let rows = self.cohort_rows(room, part)?.into_iter();
            cohorts.extend(rows.map(|(id, users)| (id, Arc::new(Cohort::of(parse_users(&users))))));
        }
        Ok(cohorts)
    }

    /// The numbers of the cohorts of these tags. Those that the room lacks get one, and are not
    /// written yet.
    pub(crate) fn find_cohorts<'t>(
        &mut self,
        room: RoomId,
        tags: impl IntoIterator<Item = &'t Tags>,
    ) -> Result<CohortIds> {
        let mut found = CohortIds::default();
        for cohort in tags.into_iter().flat_map(Tags::cohorts) {
            if found.ids.contains_key(cohort.digest()) {
                continue;
            }
            let mut id = first_id(cohort);
            loop {
                let is_new = found.new.iter().any(|(new, _)| *new == id);
                match self.find_digest(room, id)? {
                    Some(digest) if digest == cohort.digest() => break,
                    None if !is_new => {
                        found.new.push((id, cohort.clone()));
                        break;
                    }
                    _ => id = id.checked_add(1).unwrap_or(1),
                }
            }
            found.ids.insert(*cohort.digest(), id);
        }
        Ok(found)
    }
}

impl Messages<'_, Tx<'_>> {
    /// The numbers of the cohorts of a message before and after an edit. Where the room has many
    /// cohorts, new ones get none.
    pub(crate) fn find_cohorts_for_edit(
        &mut self,
        before: &Message,
        after: &Message,
    ) -> Result<CohortIds> {
        let room = after.room;
        let mut ids = self.find_cohorts(room, [&before.tags, &after.tags])?;
        if !ids.new.is_empty() && self.has_cohorts(room, MOST_FOR_EDITS)? {
            ids.drop_new();
        }
        Ok(ids)
    }

    /// Writes the cohorts that a room lacks, of those with these keys. The room must be locked.
    pub(crate) fn insert_cohorts(
        &mut self,
        room: RoomId,
        cohorts: &CohortIds,
        keys: &BTreeSet<i64>,
    ) -> Result<()> {
        for (id, cohort) in &cohorts.new {
            if keys.contains(&-id) {
                self.insert_cohort(room, *id, cohort)?;
            }
        }
        Ok(())
    }

    /// Writes which users have a changed message unread. The room must be locked, and the cohorts
    /// written.
    pub(crate) fn update_mentions(
        &mut self,
        before: &Message,
        after: &Message,
        cohorts: &CohortIds,
    ) -> Result<()> {
        let (room, id) = (after.room, after.id);
        let is_of_before = is_of_before(before);
        // Marks that were spelled out beside the row for everyone have no rows of their own.
        let had = match is_of_before {
            true => BTreeSet::from([0]),
            false => cohorts.mention_keys(&before.tags),
        };
        let has = cohorts.mention_keys(&after.tags);
        let mut gone: Vec<i64> = had.difference(&has).copied().collect();
        if is_of_before {
            gone.extend(before.tags.listed_unread().map(|user| user.0));
            gone.retain(|key| !has.contains(key));
        }
        self.delete_mentions(room, id, &gone)?;
        let new = has.difference(&had).copied();
        self.insert_mentions(&CohortIds::mention_rows(after, new))?;
        let is_other = before.tags.cohorts() != after.tags.cohorts();
        if is_of_before || is_other || taken_off(before) != taken_off(after) {
            self.delete_seen_mentions(room, id)?;
            for user in taken_off(after) {
                self.insert_seen_mention(room, user, id)?;
            }
        }
        let unused: Vec<i64> = gone
            .iter()
            .filter(|key| **key < 0)
            .map(|key| -key)
            .collect();
        self.delete_unused_cohorts(room, &unused)
    }

    /// Deletes the rows that mark a message as unread for users. The room must be locked.
    pub(crate) fn delete_all_mentions(&mut self, gone: &Message) -> Result<()> {
        let (room, id) = (gone.room, gone.id);
        let cohorts = self.find_cohorts(room, [&gone.tags])?;
        let mut keys: Vec<i64> = cohorts.mention_keys(&gone.tags).into_iter().collect();
        keys.push(0);
        self.delete_mentions(room, id, &keys)?;
        self.delete_seen_mentions(room, id)?;
        self.delete_unused_cohorts(room, &cohorts.of(&gone.tags))
    }

    /// Replaces the unread marks that the rows of messages spell out by cohorts. Messages are shown
    /// and found as before. Numbers of no message are passed over.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn set_compact_marks(&mut self, room: RoomId, ids: &[MessageId]) -> Result<()> {
        Rooms(self.0).lock(room)?;
        for id in ids {
            let Some(before) = self.find(room, *id)? else {
                continue;
            };
            let after = Message {
                tags: Tags::compact(before.tags.to_vec(), before.tags.cohorts()),
                ..before.clone()
            };
            self.update_tags(&before, &after)?;
        }
        Ok(())
    }
}
