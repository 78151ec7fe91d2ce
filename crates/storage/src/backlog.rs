//! Messages whose words are not yet in the index.
//!
//! On SQLite a message's words go into the index a moment after its commit, many messages at a
//! time: for one message alone they would cost as much as all the rest of it. A search has the
//! index brought up to date first, so nobody sees the difference. How far the index has come is in
//! the database; what is kept here only spares reading the messages again.

use std::collections::BTreeMap;

use eddyline_model::search::SearchTokens;

/// So many messages are worth a transaction of their own.
const LARGE: usize = 512;
/// Words of more messages than this are not kept but read again.
const MOST: usize = 4096;

/// A message's number and its words.
pub(crate) type MessageWords = (i64, SearchTokens);

/// The messages of each room that wait, with their words as far as they are known here.
#[derive(Default)]
pub(crate) struct Backlog {
    rooms: BTreeMap<i64, Vec<MessageWords>>,
    count: usize,
    all_rooms: bool,
}

impl Backlog {
    /// What may have been left by the process before: nobody knows which rooms.
    pub(crate) fn of_all_rooms() -> Self {
        Self {
            all_rooms: true,
            ..Self::default()
        }
    }

    /// Adds a message.
    pub(crate) fn add(&mut self, room: i64, id: i64, words: SearchTokens) {
        self.count += 1;
        let waiting = self.rooms.entry(room).or_default();
        if self.count <= MOST {
            waiting.push((id, words));
        }
    }

    /// Adds whatever of a room may wait.
    pub(crate) fn add_room(&mut self, room: i64) {
        self.count += 1;
        self.rooms.entry(room).or_default();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0 && !self.all_rooms
    }

    pub(crate) fn is_large(&self) -> bool {
        self.count >= LARGE
    }

    /// Whether any room may be behind, not only those of [`Backlog::rooms`].
    #[cfg(feature = "sqlite")]
    pub(crate) fn is_of_all_rooms(&self) -> bool {
        self.all_rooms
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn rooms(&self) -> impl Iterator<Item = i64> {
        self.rooms.keys().copied()
    }

    /// The words of a room's messages after one and through another; `None` when those of any are
    /// not known here.
    #[cfg(feature = "sqlite")]
    pub(crate) fn words(&self, room: i64, after: i64, through: i64) -> Option<&[MessageWords]> {
        let waiting = self.rooms.get(&room)?;
        let start = waiting.partition_point(|(id, _)| *id <= after);
        let wanted = &waiting[start..];
        let complete = wanted.iter().map(|(id, _)| *id).eq(after + 1..=through);
        complete.then_some(wanted)
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;

    fn ids(words: Option<&[MessageWords]>) -> Option<Vec<i64>> {
        words.map(|words| words.iter().map(|(id, _)| *id).collect())
    }

    #[test]
    fn words_are_known_only_without_a_gap() {
        let mut backlog = Backlog::default();
        for id in [4, 5, 6, 8] {
            backlog.add(1, id, SearchTokens::default());
        }
        assert_eq!(
            ids(backlog.words(1, 3, 6)),
            None,
            "8 is beyond what is asked for"
        );
        assert_eq!(ids(backlog.words(1, 3, 8)), None, "7 is missing");
        assert_eq!(ids(backlog.words(1, 2, 8)), None, "3 is missing");
        assert_eq!(ids(backlog.words(1, 7, 8)), Some(vec![8]));
        assert_eq!(ids(backlog.words(1, 8, 8)), Some(vec![]));
        assert_eq!(ids(backlog.words(2, 0, 1)), None);
    }

    #[test]
    fn a_room_is_remembered_when_its_words_are_too_many() {
        let mut backlog = Backlog::default();
        for id in 1..=MOST as i64 + 1 {
            backlog.add(1, id, SearchTokens::default());
        }
        assert_eq!(ids(backlog.words(1, 0, MOST as i64 + 1)), None);
        assert!(backlog.rooms().eq([1]));
    }
}
