//! Lists of messages.

use std::borrow::Cow;
use std::collections::HashMap;

use diesel::prelude::*;
use eddyline_model::messages::{Message, MessageKind, MessageQuery, MessageView, Sort};
use eddyline_model::search::{self, SearchQuery};
use eddyline_model::{MessageId, RoomId};
use eddyline_portable::portable;

use crate::areas::Messages;
use crate::connect::deadline;
use crate::find::{self, CANDIDATES, SearchPlace};
use crate::page_budget::PageBudget;
use crate::reader::{Access, dialect};
use crate::schema::messages;
use crate::{Error, Result};

/// The number of messages that are read at a time to look for phrases in them.
const PHRASE_PAGE: i64 = 100;
/// The most text that one request looks at for phrases, in bytes, beside [`CANDIDATES`] messages.
const PHRASE_BYTES: usize = 16 << 20;

/// The words of the last search as the database takes them: they are the same in all rooms.
#[derive(Default)]
pub(crate) struct WordsCache(Option<(SearchQuery, String)>);

fn is_looked_at(count: usize, bytes: usize) -> bool {
    let most = CANDIDATES.into_iter().max().unwrap_or_default();
    bytes >= PHRASE_BYTES || i64::try_from(count).is_ok_and(|count| count >= most)
}

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
        let (found, edge) = self.matches(room, query, &mut WordsCache::default())?;
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
        cache: &mut WordsCache,
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
        let words = match &query.search {
            Some(search) if search.is_empty() => return Ok((Vec::new(), None)),
            Some(search) => self.words_value(search, cache)?,
            None => String::new(),
        };
        let place = self.search_place(room, query, words)?;
        // Messages with the tags alone need no phrase where tags add to what a search finds.
        let search = query.search.as_ref().filter(|_| !find::is_widened(query));
        let (ids, edge) = match search.filter(|search| search.has_phrases()) {
            Some(search) => self.ids_with_phrases(&place, query, search)?,
            None => self.matching_ids(&place, query)?,
        };
        Ok((self.list_by_id(room, &ids)?, edge))
    }

    /// The words of a search as the database takes them.
    fn words_value(&mut self, search: &SearchQuery, cache: &mut WordsCache) -> Result<String> {
        if let Some((_, words)) = cache.0.as_ref().filter(|(of, _)| of == search) {
            return Ok(words.clone());
        }
        let words: String = dialect!(self, words_value, search)?;
        cache.0 = Some((search.clone(), words.clone()));
        Ok(words)
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
    fn search_place(
        &mut self,
        room: RoomId,
        query: &MessageQuery,
        words: String,
    ) -> Result<SearchPlace> {
        let mut cohorts = HashMap::new();
        for user in query.tags.iter().filter_map(|tag| find::unread_user(tag)) {
            cohorts.insert(user, self.list_cohorts_with(room, user)?);
        }
        Ok(SearchPlace {
            room,
            cohorts,
            words,
        })
    }

    /// The matches that have the phrases of their search, which no index knows: those with its words
    /// are read until there are enough, or until they are as many as one request may look at.
    fn ids_with_phrases(
        &mut self,
        place: &SearchPlace,
        query: &MessageQuery,
        search: &SearchQuery,
    ) -> Result<(Vec<i64>, Option<MessageId>)> {
        let wanted = usize::try_from(query.limit.saturating_add(query.skip)).unwrap_or(usize::MAX);
        let (mut ids, mut count, mut bytes) = (Vec::new(), 0, 0);
        let mut part = MessageQuery {
            limit: PHRASE_PAGE,
            skip: 0,
            ..query.clone()
        };
        loop {
            let (candidates, edge) = self.matching_ids(place, &part)?;
            let contents = self.list_contents(place.room, &candidates)?;
            for id in &candidates {
                let Some((event, content)) = contents.get(id) else {
                    continue;
                };
                if deadline::has_passed() {
                    return Err(Error::Deadline);
                }
                bytes += content.len();
                if search.accepts_phrases(&search::text_to_search(*event, content)) {
                    ids.push(*id);
                }
            }
            count += candidates.len();
            let is_part_full = i64::try_from(candidates.len()).is_ok_and(|n| n >= part.limit);
            let next = match candidates.last() {
                Some(last) if is_part_full => Some(MessageId(*last)),
                _ => edge,
            };
            if ids.len() >= wanted || next.is_none() || is_looked_at(count, bytes) {
                ids.truncate(wanted);
                let skip = usize::try_from(query.skip).unwrap_or(0).min(ids.len());
                ids.drain(..skip);
                return Ok((ids, next));
            }
            part.beyond = next;
        }
    }

    fn matching_ids(
        &mut self,
        place: &SearchPlace,
        query: &MessageQuery,
    ) -> Result<(Vec<i64>, Option<MessageId>)> {
        let (mut ids, mut edge) = (Vec::new(), None);
        for candidates in CANDIDATES {
            ids = dialect!(self, find_ids, place, query, candidates)?;
            let is_full = i64::try_from(ids.len()).is_ok_and(|count| count >= query.limit);
            if is_full || !find::examines(query) {
                return Ok((ids, None));
            }
            edge = dialect!(self, find_last_candidate, place, query, candidates)?.map(MessageId);
            if edge.is_none() {
                break;
            }
        }
        Ok((ids, edge))
    }
}

#[portable]
impl<C: Access> Messages<'_, C> {
    /// Kinds and contents of messages by their numbers.
    fn list_contents(
        c: &mut Connection,
        room: RoomId,
        ids: &[i64],
    ) -> Result<HashMap<i64, (MessageKind, String)>> {
        let rows = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.eq_any(ids))
            .select((messages::id, messages::event, messages::content))
            .load::<(i64, i16, String)>(c)?;
        let rows = rows.into_iter().map(|(id, event, content)| {
            let event = MessageKind::from_code(event).ok_or(Error::Corrupt("event"))?;
            Ok((id, (event, content)))
        });
        rows.collect()
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
