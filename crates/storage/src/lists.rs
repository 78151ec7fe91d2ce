//! Lists of messages.

use std::borrow::Cow;
use std::collections::HashMap;

use eddyline_model::messages::{Message, MessageQuery, MessageView, Sort};
use eddyline_model::{MessageId, RoomId};

use crate::Result;
use crate::areas::Messages;
use crate::find::{self, CANDIDATES, SearchPlace};
use crate::page_budget::PageBudget;
use crate::reader::{Access, dialect};

/// A part of a list of messages.
#[derive(Clone, Debug)]
pub struct MessagePage {
    /// The messages, ascending by number.
    pub messages: Vec<MessageView>,
    /// Beyond which message the list goes on, in the order of the query ([`MessageQuery::beyond`]).
    /// `None` at its end. There may turn out to be nothing more. Of a list around a place: after
    /// which message later ones follow.
    pub next: Option<MessageId>,
    /// Of a list around a place: before which message there are earlier ones.
    pub previous: Option<MessageId>,
    /// Of a list around a place: how many of the messages stand before it.
    pub before: usize,
}

impl<C: Access> Messages<'_, C> {
    /// The matches of a query, of about so many bytes at most. A search by words may not find what
    /// was posted just now; [`crate::Store::list`] does.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn list(
        &mut self,
        room: RoomId,
        query: &MessageQuery,
        bytes: usize,
    ) -> Result<MessagePage> {
        if let Some(around) = query.around {
            return self.list_around(room, query, around, bytes);
        }
        let (found, edge) = self.matches(room, query)?;
        let count = found.len();
        let is_full = i64::try_from(count).is_ok_and(|count| count >= query.limit);
        let end = match query.sort {
            Sort::Descending => found.first(),
            Sort::Ascending => found.last(),
        };
        let next = if is_full {
            end.map(|message| message.id)
        } else {
            edge
        };
        let messages = self.list_views_within(
            room,
            found,
            PageBudget {
                bytes,
                sort: query.sort,
            },
        )?;
        let mut page = MessagePage {
            messages,
            next,
            previous: None,
            before: 0,
        };
        if page.messages.len() < count {
            page.next = page.end(query.sort);
        }
        Ok(page)
    }

    /// The matches ascending by number, and where the search goes on that has looked at as many
    /// messages as it may.
    pub(crate) fn matches(
        &mut self,
        room: RoomId,
        query: &MessageQuery,
    ) -> Result<(Vec<Message>, Option<MessageId>)> {
        let query = &*self.within_times(room, query)?;
        if !find::is_indexed(query) {
            let rows = self.list_plain(room, query)?;
            let mut found = self.load_messages(rows)?;
            if query.sort == Sort::Descending {
                found.reverse();
            }
            return Ok((found, None));
        }
        if query.search.as_ref().is_some_and(Vec::is_empty) {
            return Ok((Vec::new(), None));
        }
        let (ids, edge) = self.matching_ids(room, query)?;
        Ok((self.list_by_id(room, &ids)?, edge))
    }

    /// The query with its times as bounds among the numbers.
    fn within_times<'q>(
        &mut self,
        room: RoomId,
        query: &'q MessageQuery,
    ) -> Result<Cow<'q, MessageQuery>> {
        if query.since_time.is_none() && query.until_time.is_none() {
            return Ok(Cow::Borrowed(query));
        }
        let mut query = query.clone();
        if let Some(at) = query.since_time.take() {
            query.first = query.first.max(Some(self.find_first_since(room, at)?));
        }
        if let Some(at) = query.until_time.take() {
            let end = self.find_first_since(room, at)?;
            query.end = Some(query.end.map_or(end, |known| known.min(end)));
        }
        Ok(Cow::Owned(query))
    }

    /// Returns the place in which the messages of a query are looked for.
    fn search_place(&mut self, room: RoomId, query: &MessageQuery) -> Result<SearchPlace> {
        let mut cohorts = HashMap::new();
        for user in query.tags.iter().filter_map(|tag| find::unread_user(tag)) {
            cohorts.insert(user, self.list_cohorts_with(room, user)?);
        }
        Ok(SearchPlace { room, cohorts })
    }

    fn matching_ids(
        &mut self,
        room: RoomId,
        query: &MessageQuery,
    ) -> Result<(Vec<i64>, Option<MessageId>)> {
        let (mut ids, mut edge) = (Vec::new(), None);
        let place = self.search_place(room, query)?;
        for candidates in CANDIDATES {
            ids = dialect!(self, find_ids, &place, query, candidates)?;
            let is_full = i64::try_from(ids.len()).is_ok_and(|count| count >= query.limit);
            if is_full || !find::examines(query) {
                return Ok((ids, None));
            }
            edge = dialect!(self, find_last_candidate, room, query, candidates)?.map(MessageId);
            if edge.is_none() {
                break;
            }
        }
        Ok((ids, edge))
    }
}

impl MessagePage {
    /// The message with which the page ends, in the order of the query.
    #[must_use]
    pub fn end(&self, sort: Sort) -> Option<MessageId> {
        let end = match sort {
            Sort::Descending => self.messages.first(),
            Sort::Ascending => self.messages.last(),
        };
        end.map(|view| view.message.id)
    }
}
