//! Lists of threads: those with a row, and those that nobody answered.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use diesel::prelude::*;
use eddyline_model::messages::{LastMessage, MessageKind, Sort, ThreadCounts, ThreadState};
use eddyline_model::search::SearchQuery;
use eddyline_model::threads::{self as model, ThreadPlace, ThreadQuery};
use eddyline_model::{MessageId, RoomId, Timestamp};
use eddyline_portable::portable;

use super::{CHAT, INBOX, ThreadRecord};
use crate::areas::{Members, Threads};
use crate::page_budget::PageBudget;
use crate::reader::Access;
use crate::rows::ThreadRow;
use crate::schema::{messages, threads};
use crate::{Error, Result};

/// How many threads a query by words or by status reads at most, so that one request cannot read all
/// of a flow with a million.
const LOOKED_AT: i64 = 2_000;
/// How many of them it reads at once.
const PART: i64 = 200;
/// How many bytes of items it reads at once.
const PART_BYTES: usize = 1 << 20;

/// Which of the threads with a row; each is one range of an index.
#[derive(Clone, Copy)]
enum Range {
    Origin(i16),
    Application(i64),
}

#[portable]
impl<C: Access> Threads<'_, C> {
    fn newest_rows(
        c: &mut Connection,
        room: RoomId,
        range: Range,
        query: &ThreadQuery,
    ) -> Result<Vec<ThreadRow>> {
        let mut found = threads::table
            .filter(threads::room_id.eq(room.0))
            .into_boxed();
        found = match range {
            Range::Origin(origin) => found.filter(threads::origin.eq(origin)),
            Range::Application(id) => found.filter(threads::application_id.eq(id)),
        };
        if let Some(since) = query.since {
            found = found.filter(threads::updated_at.gt(since.0));
        }
        if let Some(until) = query.until {
            found = match query.before {
                None => found.filter(threads::updated_at.lt(until.0)),
                Some(before) => found.filter(threads::updated_at.le(until.0)).filter(
                    threads::updated_at
                        .lt(until.0)
                        .or(threads::root_id.lt(before.0)),
                ),
            };
        }
        if !query.empty {
            let total =
                || threads::activities + threads::internal_comments + threads::external_comments;
            let begun = messages::table
                .filter(messages::room_id.eq(threads::room_id))
                .filter(messages::id.eq(threads::root_id));
            found = match range {
                // What began a thread of the chat is no answer in it.
                Range::Origin(CHAT) => found.filter(
                    total().gt(1).or(total()
                        .gt(0)
                        .and(diesel::dsl::not(diesel::dsl::exists(begun)))),
                ),
                _ => found.filter(total().gt(0)),
            };
        }
        let order = (threads::updated_at.desc(), threads::root_id.desc());
        Ok(found.order(order).limit(query.limit).load(c)?)
    }

    /// The messages that began threads which nobody answered.
    fn unanswered(
        c: &mut Connection,
        room: RoomId,
        query: &ThreadQuery,
    ) -> Result<Vec<(i64, i16, i64)>> {
        let answered = threads::table
            .filter(threads::room_id.eq(messages::room_id))
            .filter(threads::root_id.eq(messages::id));
        let mut found = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::thread_root.eq(messages::id.nullable()))
            // As the index has it.
            .filter(diesel::dsl::sql::<diesel::sql_types::Bool>("(event = 0 or event = 2 or event = 3)"))
            .filter(diesel::dsl::not(diesel::dsl::exists(answered)))
            .into_boxed();
        if let Some(since) = query.since {
            found = found.filter(messages::sent.gt(since.0));
        }
        if let Some(until) = query.until {
            found = match query.before {
                None => found.filter(messages::sent.lt(until.0)),
                Some(before) => found
                    .filter(messages::sent.le(until.0))
                    .filter(messages::sent.lt(until.0).or(messages::id.lt(before.0))),
            };
        }
        let order = (messages::sent.desc(), messages::id.desc());
        Ok(found
            .order(order)
            .limit(query.limit)
            .select((messages::id, messages::event, messages::sent))
            .load(c)?)
    }
}

/// A part of a list of threads.
#[derive(Clone, Debug, Default)]
pub struct ThreadPage {
    /// The threads, those that changed last first.
    pub threads: Vec<ThreadState>,
    /// Where the list goes on, if it may.
    pub next: Option<ThreadPlace>,
    /// Where the query asks for it, the last message of each thread, by what began the thread.
    /// Threads whose messages are all gone have none.
    pub last_messages: BTreeMap<MessageId, LastMessage>,
    /// The threads, by what began them, that the reader of the query has not read.
    pub unread: BTreeSet<MessageId>,
}

impl<C: Access> Threads<'_, C> {
    /// The threads of a flow that a query asks for, those that changed last first, of about so many
    /// bytes at most. A query by words or by status may not find what comes behind the
    /// 2,000 threads it reads: the page then is not full, and says where to go on.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn list(&mut self, room: RoomId, query: &ThreadQuery, bytes: usize) -> Result<ThreadPage> {
        let mut page = if query.is_filtered() {
            self.list_filtered(room, query, bytes)?
        } else {
            self.list_all(room, query, bytes)?
        };
        if query.last_message {
            let roots: Vec<MessageId> = page.threads.iter().map(|thread| thread.root).collect();
            page.last_messages = self.list_last(room, &roots)?;
            if let Some(user) = query.reader {
                page.unread =
                    Members(&mut *self.0).list_unread_threads(room, user, &page.last_messages)?;
            }
        }
        Ok(page)
    }

    /// Reads one part of the list after the other, and keeps what the query accepts.
    fn list_filtered(
        &mut self,
        room: RoomId,
        query: &ThreadQuery,
        bytes: usize,
    ) -> Result<ThreadPage> {
        let mut page = ThreadPage::default();
        if query.search.as_ref().is_some_and(SearchQuery::is_empty) {
            return Ok(page);
        }
        let mut left = bytes;
        let mut part = ThreadQuery {
            limit: PART,
            ..query.clone()
        };
        for _ in 0..LOOKED_AT / PART {
            let ThreadPage { threads, next, .. } = self.list_all(room, &part, PART_BYTES)?;
            page.next = next;
            for thread in threads {
                if query.accepts(&thread)
                    && let ControlFlow::Break(place) = page.take(thread, query.limit, &mut left)
                {
                    page.next = Some(place);
                    return Ok(page);
                }
            }
            let Some(place) = next else { break };
            part.until = Some(place.updated_at);
            part.before = Some(place.root);
        }
        Ok(page)
    }

    /// The threads that the query asks for but for its words and its status.
    fn list_all(&mut self, room: RoomId, query: &ThreadQuery, bytes: usize) -> Result<ThreadPage> {
        let mut found = self.newest_records(room, query)?;
        let limit = usize::try_from(query.limit).unwrap_or(0);
        found.truncate(limit);
        let count = found.len();
        self.cut(room, &mut found, bytes)?;
        let end = |(root, record): &(i64, ThreadRecord)| ThreadPlace {
            updated_at: record.counts.updated_at,
            root: MessageId(*root),
        };
        let more = count >= limit || found.len() < count;
        Ok(ThreadPage {
            next: found.last().filter(|_| more).map(end),
            threads: self.states(room, found)?,
            last_messages: BTreeMap::new(),
            unread: BTreeSet::new(),
        })
    }

    /// The threads, those that changed last first, without the states of their items.
    fn newest_records(
        &mut self,
        room: RoomId,
        query: &ThreadQuery,
    ) -> Result<Vec<(i64, ThreadRecord)>> {
        let ranges: &[Range] = match query.threads {
            model::ThreadSelection::All => &[Range::Origin(CHAT), Range::Origin(INBOX)],
            model::ThreadSelection::Chat => &[Range::Origin(CHAT)],
            model::ThreadSelection::Inbox => &[Range::Origin(INBOX)],
            model::ThreadSelection::Of(application) => &[Range::Application(application.0)],
        };
        let mut rows = Vec::new();
        for range in ranges {
            rows.extend(self.newest_rows(room, *range, query)?);
        }
        rows.sort_by_key(|row: &ThreadRow| std::cmp::Reverse((row.updated_at, row.root_id)));
        rows.truncate(usize::try_from(query.limit).unwrap_or(0));
        let mut found = self.records(rows)?;
        if query.empty
            && matches!(
                query.threads,
                model::ThreadSelection::All | model::ThreadSelection::Chat
            )
        {
            for (root, event, sent) in self.unanswered(room, query)? {
                let event = MessageKind::from_code(event).ok_or(Error::Corrupt("event"))?;
                found.push((
                    root,
                    ThreadRecord::chat(ThreadCounts::begun_by(event, Timestamp(sent))),
                ));
            }
        }
        found.sort_by_key(|(root, record)| std::cmp::Reverse((record.counts.updated_at, *root)));
        Ok(found)
    }

    /// Takes away the last threads whose items the budget has no room for.
    fn cut(
        &mut self,
        room: RoomId,
        found: &mut Vec<(i64, ThreadRecord)>,
        bytes: usize,
    ) -> Result<()> {
        let sizes =
            self.list_item_sizes(room, found.iter().filter_map(|(_, record)| record.item_id))?;
        let size = |record: &ThreadRecord| {
            let size = record.item_id.and_then(|id| sizes.get(&id));
            size.copied().unwrap_or_default()
        };
        PageBudget {
            bytes,
            sort: Sort::Ascending,
        }
        .cut(found, |(_, record)| size(record));
        Ok(())
    }

    /// The threads as they are shown.
    fn states(
        &mut self,
        room: RoomId,
        mut found: Vec<(i64, ThreadRecord)>,
    ) -> Result<Vec<ThreadState>> {
        let items = self.list_items(room, found.iter().filter_map(|(_, record)| record.item_id))?;
        for (_, record) in &mut found {
            *record = record.with_item(&items);
        }
        let titled: Vec<i64> = found
            .iter()
            .filter(|(_, r)| r.item.is_none())
            .map(|(root, _)| *root)
            .collect();
        let mut texts = self.list_referred(room, &titled)?;
        let states = found.into_iter().map(|(root, record)| {
            let text = || {
                texts
                    .remove(&root)
                    .map_or_else(String::new, |first| first.text())
            };
            record.state(MessageId(root), text)
        });
        Ok(states.collect())
    }
}

impl ThreadPage {
    /// Adds a thread, or says that the page is full and with which thread it ends. One thread finds
    /// room in any case.
    fn take(
        &mut self,
        thread: ThreadState,
        limit: i64,
        left: &mut usize,
    ) -> ControlFlow<ThreadPlace> {
        let weight = thread.item.as_ref().map_or(0, |item| item.weight());
        if let Some(last) = self.threads.last()
            && weight > *left
        {
            return ControlFlow::Break(ThreadPlace::of(last));
        }
        *left = left.saturating_sub(weight);
        let place = ThreadPlace::of(&thread);
        self.threads.push(thread);
        let is_full = i64::try_from(self.threads.len()).is_ok_and(|count| count >= limit);
        if is_full {
            ControlFlow::Break(place)
        } else {
            ControlFlow::Continue(())
        }
    }
}
