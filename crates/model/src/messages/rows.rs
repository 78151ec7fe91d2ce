//! The number of rows that a draft is to write.

use super::Draft;

/// The rows that every message writes: its own, its entry in the log, and the states of its room and
/// of its thread.
const ROWS_OF_MESSAGE: usize = 4;
/// The number of bytes of text or of words that take as long as a row.
const BYTES_OF_ROW: usize = 256;

impl Draft {
    /// Returns the approximate number of rows that the store writes for it: its cost in the queue
    /// of the writer. A mention of a group or of everyone is one row, whatever the number of users
    /// it addresses.
    #[must_use]
    pub fn rows(&self) -> u64 {
        let bytes = self.content.len() + self.search_tokens.as_str().len();
        let parts = self.tags.listed().len() + self.tags.cohorts().len() + self.files.len();
        (ROWS_OF_MESSAGE + parts + bytes / BYTES_OF_ROW) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Author, MessageKind};
    use super::*;
    use crate::tags::{Cohort, CohortMarks, Tags};
    use crate::{RoomId, Timestamp, UserId};

    fn draft(content: &str) -> Draft {
        let author = Author::user(UserId(1));
        let (room, sent) = (RoomId(1), Timestamp(0));
        Draft::bare(room, MessageKind::Message, author, content.to_owned(), sent)
    }

    #[test]
    fn a_draft_costs_its_tags_its_cohorts_and_its_length() {
        assert_eq!(draft("hello").rows(), 4);
        assert_eq!(draft(&"x".repeat(1024)).rows(), 8);
        let mut addressed = draft("hello");
        let everyone = Cohort::of((2..1000).map(UserId).collect());
        let marks = CohortMarks {
            place: 0,
            cohorts: vec![Arc::new(everyone)],
            without: Vec::new(),
        };
        addressed.tags = Tags::new(vec!["a".to_owned(), "b".to_owned()], Some(marks));
        assert_eq!(addressed.rows(), 7);
    }
}
