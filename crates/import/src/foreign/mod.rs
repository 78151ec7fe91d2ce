//! The common form of what archives of other programs have, and how it comes into the store.
//!
//! A reader of a format gives people, rooms and messages in any order. The messages wait in a file,
//! and only a few numbers of each in memory, until they are sorted by room and time.

mod array;
mod bounds;
mod digest;
mod entries;
mod file;
pub(crate) mod load;
mod mentions;
mod nicks;
mod reactions;
mod rooms;
mod spool;
mod zip_file;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

pub(crate) use self::array::each_record;
pub(crate) use self::bounds::{GrowingText, MAX_ID, MAX_LIST, cut_name, is_id, list};
pub(crate) use self::entries::Entries;
pub(crate) use self::load::load;
pub(crate) use self::mentions::{Mentioned, with_mentions};
pub(crate) use self::spool::Spool;
pub(crate) use self::zip_file::{Names, ZipFile};

use crate::people::Person;
use crate::{Error, ImportReport, LeftOutKind, Result};

/// The most bytes of memory for people and rooms.
const MAX_LISTS: usize = 48 << 20;

/// Everything that a reader has found in an archive. All of it is in memory, within a bound.
#[derive(Default)]
pub(crate) struct Foreign {
    pub(crate) people: Vec<Person>,
    pub(crate) rooms: Vec<Room>,
    /// Places of rooms, by what the archive calls them.
    places: HashMap<String, usize>,
    bytes: usize,
}

impl Foreign {
    /// Takes a person. One whose id is none is left out, and the answer is `false`.
    ///
    /// # Errors
    ///
    /// [`Error::Unfit`] when there is no room in memory.
    pub(crate) fn add_person(&mut self, report: &mut ImportReport, person: Person) -> Result<bool> {
        if !is_id(&person.id) {
            report.leave_out(LeftOutKind::UnreadableRecord, person.shown());
            return Ok(false);
        }
        let texts = [&person.id, &person.name, &person.nick, &person.website];
        let more = [&person.email, &person.status].into_iter().flatten();
        self.count(size_of::<Person>(), texts.into_iter().chain(more))?;
        self.people.push(person);
        Ok(true)
    }

    /// The place of the room of this id.
    pub(crate) fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// Adds a room, and returns its place. A room without a valid id is left out. For an id that
    /// is there already it returns the place of the first room with it.
    ///
    /// # Errors
    ///
    /// As [`Self::add_person`].
    pub(crate) fn add_room(
        &mut self,
        report: &mut ImportReport,
        room: Room,
    ) -> Result<Option<usize>> {
        if !is_id(&room.id) {
            report.leave_out(LeftOutKind::UnreadableRecord, room.name);
            return Ok(None);
        }
        if let Some(place) = self.place(&room.id) {
            return Ok(Some(place));
        }
        let place = self.rooms.len();
        self.count_names([&room.id])?;
        self.places.insert(room.id.clone(), place);
        self.rooms.push(Room::default());
        self.put_room(place, room)?;
        Ok(Some(place))
    }

    /// Replaces the room at a place by one with the same id.
    ///
    /// # Errors
    ///
    /// As [`Self::add_person`].
    pub(crate) fn put_room(&mut self, place: usize, room: Room) -> Result<()> {
        let room = Room {
            members: without_repeats(room.members),
            ..room
        };
        let texts = [&room.id, &room.name].into_iter();
        let more = room.description.iter().chain(&room.creator);
        self.count(size_of::<Room>(), texts.chain(more))?;
        self.count_names(&room.members)?;
        self.rooms[place] = room;
        Ok(())
    }

    /// Counts what is kept besides people and rooms, until all are read: names of members, for
    /// instance.
    ///
    /// # Errors
    ///
    /// As [`Self::add_person`].
    pub(crate) fn count_names<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n String>,
    ) -> Result<()> {
        self.count(0, names)
    }

    /// Counts something of this size with its texts.
    ///
    /// # Errors
    ///
    /// As [`Self::add_person`].
    pub(crate) fn count<'n>(
        &mut self,
        own: usize,
        texts: impl IntoIterator<Item = &'n String>,
    ) -> Result<()> {
        /// The bytes that the system needs for a text besides those of the text.
        const TEXT: usize = size_of::<String>() + 16;
        let texts = texts.into_iter().map(|text| TEXT + text.len());
        self.bytes = self.bytes.saturating_add(own + texts.sum::<usize>());
        match self.bytes > MAX_LISTS {
            true => Err(Error::Unfit(
                "the archive has too many people, flows and members of flows".to_owned(),
            )),
            false => Ok(()),
        }
    }
}

/// Names in their order, each once.
pub(crate) fn without_repeats(names: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let is_first: Vec<bool> = names.iter().map(|name| seen.insert(&**name)).collect();
    let distinct = names
        .into_iter()
        .zip(is_first)
        .filter(|(_, is_first)| *is_first);
    let mut names: Vec<String> = distinct.map(|(name, _)| name).collect();
    // `collect` reuses the memory of the longer list.
    names.shrink_to_fit();
    names
}

/// A flow or a conversation of an archive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    /// What the archive calls it.
    pub(crate) id: String,
    /// What people call it.
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) created_at: Option<i64>,
    pub(crate) creator: Option<String>,
    /// What the archive calls its members.
    pub(crate) members: Vec<String>,
    pub(crate) kind: RoomKind,
    pub(crate) is_archived: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RoomKind {
    /// All members of the organization may join.
    #[default]
    Open,
    /// Only who is invited.
    Closed,
    /// A private conversation of one or two people.
    Conversation,
}

/// A message of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForeignMessage {
    /// What the archive calls it, within its room.
    pub(crate) id: String,
    /// What the archive calls the author.
    pub(crate) author: Option<String>,
    /// The name that stands beside it, for authors without an account.
    pub(crate) author_name: Option<String>,
    pub(crate) text: String,
    /// `true` if the archive has more text than is read.
    pub(crate) is_cut: bool,
    /// In milliseconds.
    pub(crate) sent: i64,
    pub(crate) edited: Option<i64>,
    /// What the archive calls the message that it answers.
    pub(crate) answers: Option<String>,
    pub(crate) files: Vec<ForeignFile>,
    pub(crate) reactions: Vec<ForeignReaction>,
}

impl ForeignMessage {
    /// Returns `true` if what it calls itself and others are ids.
    fn has_ids(&self) -> bool {
        let others = [&self.author, &self.answers];
        is_id(&self.id) && others.into_iter().flatten().all(|id| is_id(id))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForeignFile {
    pub(crate) name: String,
    pub(crate) content_type: String,
    /// The entry of the archive with its bytes; `None` when there is none.
    pub(crate) entry: Option<String>,
    /// Where else it might be found.
    pub(crate) url: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForeignReaction {
    pub(crate) emoji: String,
    /// What the archive calls those who reacted.
    pub(crate) people: Vec<String>,
}

/// Whom a text mentions: where the text of a message names a person, it has [`mention`] of what the
/// archive calls them, until it is known what they are called here.
pub(crate) const MENTION: char = '\u{e000}';

/// A mention of a person in a text that waits.
pub(crate) fn mention(person: &str) -> String {
    format!("{MENTION}{person}{MENTION}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_rooms_have_a_bound_together() {
        let (mut foreign, mut report) = (Foreign::default(), ImportReport::default());
        let long = || "n".repeat(MAX_LISTS / 2 - 1024);
        let person = Person {
            name: long(),
            ..Person::default()
        };
        foreign.add_person(&mut report, person).unwrap();
        let room = Room {
            members: vec![long()],
            ..Room::default()
        };
        assert_eq!(foreign.add_room(&mut report, room).unwrap(), Some(0));
        let error = foreign.count_names(&["n".repeat(2048)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the archive has too many people, flows and members of flows"
        );
    }

    #[test]
    fn a_room_comes_once_and_so_does_each_member() {
        let (mut foreign, mut report) = (Foreign::default(), ImportReport::default());
        let members = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        for names in [&["v", "u", "v", "w", "u"][..], &["x"]] {
            let room = Room {
                id: "C1".to_owned(),
                members: members(names),
                ..Room::default()
            };
            assert_eq!(foreign.add_room(&mut report, room).unwrap(), Some(0));
        }
        assert_eq!(foreign.rooms.len(), 1);
        assert_eq!(foreign.rooms[0].members, ["v", "u", "w"]);
        let many = without_repeats(vec!["u".to_owned(); 1000]);
        assert_eq!((many.len(), many.capacity()), (1, 1));
    }

    #[test]
    fn many_small_people_have_a_bound_too() {
        let (mut foreign, mut report) = (Foreign::default(), ImportReport::default());
        let added = std::iter::repeat_with(|| foreign.add_person(&mut report, Person::default()));
        assert!(added.take_while(Result::is_ok).count() < MAX_LISTS / size_of::<Person>());
    }

    #[test]
    fn people_and_rooms_without_an_id_are_left_out_and_counted() {
        let (mut foreign, mut report) = (Foreign::default(), ImportReport::default());
        for id in ["C\0".to_owned(), "C".repeat(MAX_ID + 1)] {
            let person = Person {
                id: id.clone(),
                ..Person::default()
            };
            assert!(!foreign.add_person(&mut report, person).unwrap());
            let room = Room {
                id,
                ..Room::default()
            };
            assert_eq!(foreign.add_room(&mut report, room).unwrap(), None);
        }
        assert!(foreign.people.is_empty() && foreign.rooms.is_empty());
        assert_eq!(report.left_out[0].kind, LeftOutKind::UnreadableRecord);
        assert_eq!(report.left_out[0].count, 4);
    }
}
