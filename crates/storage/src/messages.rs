//! Reading messages, and the changes that can be made to one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use diesel::prelude::*;
use eddyline_model::messages::{
    Author, Message, MessageKind, MessageQuery, MessageView, Sort, ThreadCounts, present_content,
    subject_of,
};
use eddyline_model::search::SearchTokens;
use eddyline_model::tags::Tags;
use eddyline_model::{MessageId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::{Files, Messages, Reactions, Threads};
use crate::backlog::Backlog;
use crate::find;
use crate::page_budget::PageBudget;
use crate::reader::{Access, dialect};
use crate::rows::{MentionRow, MessageRow};
use crate::schema::{mentions, mentions_seen, message_tags, messages};
use crate::threads::{Referred, ThreadRecord, ThreadSnapshot};
use crate::transaction::Tx;
use crate::{Error, Result};

/// Tags are kept as one text: none of them holds a line feed.
pub(crate) fn join_tags(tags: &[String]) -> String {
    tags.join("\n")
}

pub(crate) fn split_tags(text: &str) -> Vec<String> {
    text.split('\n')
        .filter(|tag| !tag.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The message of a row, with its tags.
pub(crate) fn to_message(row: MessageRow, tags: Tags) -> Result<Message> {
    Ok(Message {
        room: RoomId(row.room_id),
        id: MessageId(row.id),
        event: MessageKind::from_code(row.event).ok_or(Error::Corrupt("event"))?,
        author: Author {
            user: row.user_id.map(UserId),
            external_name: row.external_user_name,
        },
        content: row.content,
        tags,
        explicit_tags: split_tags(&row.explicit_tags),
        uuid: row.uuid,
        sent: Timestamp(row.sent),
        edited: row.edited.map(Timestamp),
        thread_root: row.thread_root.map(MessageId),
        parent: row.parent_id.map(MessageId),
        to: row.to_user_id.map(UserId),
    })
}

#[portable]
impl<C: Access> Messages<'_, C> {
    /// Messages of one room by number, ascending. Numbers of no message are passed over.
    pub(crate) fn list_rows(
        c: &mut Connection,
        room: RoomId,
        ids: &[i64],
    ) -> Result<Vec<MessageRow>> {
        Ok(messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.eq_any(ids))
            .order(messages::id)
            .load(c)?)
    }

    pub(crate) fn list_plain(
        c: &mut Connection,
        room: RoomId,
        query: &MessageQuery,
    ) -> Result<Vec<MessageRow>> {
        let mut found = messages::table
            .filter(messages::room_id.eq(room.0))
            .into_boxed();
        if query.events.is_empty() {
            found = found.filter(messages::event.lt(MessageKind::MessageEdit.code()));
        } else {
            found =
                found.filter(messages::event.eq_any(query.events.iter().map(|event| event.code())));
        }
        if let Some(since) = query.since {
            found = found.filter(messages::id.gt(since.0));
        }
        if let Some(until) = query.until {
            found = found.filter(messages::id.lt(until.0));
        }
        found = match (query.beyond, query.sort) {
            (Some(beyond), Sort::Descending) => found.filter(messages::id.lt(beyond.0)),
            (Some(beyond), Sort::Ascending) => found.filter(messages::id.gt(beyond.0)),
            (None, _) => found,
        };
        if let Some(first) = query.first {
            found = found.filter(messages::id.ge(first.0));
        }
        if let Some(end) = query.end {
            found = found.filter(messages::id.lt(end.0));
        }
        if let Some(user) = query.not_by {
            found = found.filter(messages::user_id.is_null().or(messages::user_id.ne(user.0)));
        }
        found = match query.sort {
            Sort::Descending => found.order(messages::id.desc()),
            Sort::Ascending => found.order(messages::id.asc()),
        };
        Ok(found.limit(query.limit).offset(query.skip).load(c)?)
    }
}

#[portable]
impl Messages<'_, Tx<'_>> {
    fn update_row(c: &mut Connection, changed: &Message, tags: &str) -> Result<()> {
        diesel::update(messages::table.find((changed.room.0, changed.id.0)))
            .set((
                messages::content.eq(&changed.content),
                messages::tags.eq(tags),
                messages::explicit_tags.eq(join_tags(&changed.explicit_tags)),
                messages::edited.eq(changed.edited.map(|at| at.0)),
            ))
            .execute(c)?;
        Ok(())
    }

    fn delete_row(c: &mut Connection, room: RoomId, id: MessageId) -> Result<()> {
        diesel::delete(messages::table.find((room.0, id.0))).execute(c)?;
        Ok(())
    }

    fn delete_tags(c: &mut Connection, room: RoomId, id: MessageId, tags: &[&str]) -> Result<()> {
        diesel::delete(
            message_tags::table
                .filter(message_tags::room_id.eq(room.0))
                .filter(message_tags::tag.eq_any(tags))
                .filter(message_tags::message_id.eq(id.0)),
        )
        .execute(c)?;
        Ok(())
    }

    fn insert_tags(
        c: &mut Connection,
        room: RoomId,
        id: MessageId,
        tags: &[&String],
    ) -> Result<()> {
        for tag in tags {
            diesel::insert_into(message_tags::table)
                .values((
                    message_tags::room_id.eq(room.0),
                    message_tags::tag.eq(*tag),
                    message_tags::message_id.eq(id.0),
                ))
                .on_conflict_do_nothing()
                .execute(c)?;
        }
        Ok(())
    }

    /// Deletes the mentions with these keys of a message.
    pub(crate) fn delete_mentions(
        c: &mut Connection,
        room: RoomId,
        id: MessageId,
        ids: &[i64],
    ) -> Result<()> {
        diesel::delete(
            mentions::table
                .filter(mentions::room_id.eq(room.0))
                .filter(mentions::user_id.eq_any(ids))
                .filter(mentions::message_id.eq(id.0)),
        )
        .execute(c)?;
        Ok(())
    }

    /// Deletes the records of users who have dealt with a mention of a cohort that is gone: a new
    /// mention is unread for all of its users.
    pub(crate) fn delete_seen_mentions(
        c: &mut Connection,
        room: RoomId,
        id: MessageId,
    ) -> Result<()> {
        let of_message = mentions_seen::table
            .filter(mentions_seen::room_id.eq(room.0))
            .filter(mentions_seen::message_id.eq(id.0));
        diesel::delete(of_message).execute(c)?;
        Ok(())
    }

    pub(crate) fn insert_seen_mention(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        id: MessageId,
    ) -> Result<()> {
        diesel::insert_into(mentions_seen::table)
            .values((
                mentions_seen::room_id.eq(room.0),
                mentions_seen::user_id.eq(user.0),
                mentions_seen::message_id.eq(id.0),
            ))
            .on_conflict_do_nothing()
            .execute(c)?;
        Ok(())
    }
}

/// Whether a tag has a row of its own. Unread marks do not: mentions hold them, in one row for
/// a cohort instead of one for each.
pub(crate) fn is_indexed(tag: &str) -> bool {
    !tag.starts_with(find::UNREAD)
}

impl<C: Access> Messages<'_, C> {
    /// Messages of one room by number, ascending. Numbers of no message are passed over.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn list_by_id(&mut self, room: RoomId, ids: &[i64]) -> Result<Vec<Message>> {
        let rows = self.list_rows(room, ids)?;
        self.load_messages(rows)
    }

    /// The message with this number, also where it is a notice.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn find(&mut self, room: RoomId, id: MessageId) -> Result<Option<Message>> {
        Ok(self.list_by_id(room, &[id.0])?.pop())
    }

    /// Whether messages of a room cannot be found by their words yet; [`crate::Store::list`] looks
    /// after that.
    pub(crate) fn is_search_behind(&mut self, room: RoomId) -> Result<bool> {
        dialect!(self, is_behind, room)
    }

    /// The messages with what is needed to show them: what comments answer, the reactions, and the
    /// threads as they are now. All are of one room.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn list_views(&mut self, room: RoomId, found: Vec<Message>) -> Result<Vec<MessageView>> {
        self.views_with(room, found, None, None)
    }

    /// The same with the counts of threads as each message left them, which makes a story that is
    /// told later the same as it was when it happened; and with notices as they may be delivered
    /// now. Every text is the present one: what was edited away or deleted is not told again.
    pub(crate) fn list_views_as_left(
        &mut self,
        room: RoomId,
        rows: Vec<MessageRow>,
    ) -> Result<Vec<MessageView>> {
        let mut left = HashMap::new();
        for row in &rows {
            if let Some(text) = &row.thread_left {
                left.insert(row.id, text.parse::<ThreadSnapshot>()?);
            }
        }
        let found = self.load_messages(rows)?;
        let mut views = self.views_with(room, found, Some(&left), None)?;
        self.fill_notices(room, &mut views)?;
        Ok(views)
    }

    /// Gives notices the texts of their subjects.
    fn fill_notices(&mut self, room: RoomId, views: &mut [MessageView]) -> Result<()> {
        let subject = |view: &MessageView| subject_of(view.message.event, &view.message.content);
        let ids: BTreeSet<i64> = views.iter().filter_map(subject).map(|id| id.0).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let ids: Vec<i64> = ids.into_iter().collect();
        let found = self.list_by_id(room, &ids)?.into_iter();
        let subjects: HashMap<MessageId, Arc<Message>> = found
            .map(|message| (message.id, Arc::new(message)))
            .collect();
        for view in views {
            view.subject = subject(view).and_then(|id| subjects.get(&id).cloned());
            if let Some(subject) = &view.subject
                && let Some(content) =
                    present_content(view.message.event, &view.message.content, subject)
            {
                view.message.content = content;
            }
        }
        Ok(())
    }

    /// The first of these messages, in the order of the budget, that it has room for; one at least.
    /// States of items, which each message of a thread bears, are loaded for those only.
    pub(crate) fn list_views_within(
        &mut self,
        room: RoomId,
        found: Vec<Message>,
        budget: PageBudget,
    ) -> Result<Vec<MessageView>> {
        self.views_with(room, found, None, Some(budget))
    }

    fn views_with(
        &mut self,
        room: RoomId,
        mut found: Vec<Message>,
        left: Option<&HashMap<i64, ThreadSnapshot>>,
        budget: Option<PageBudget>,
    ) -> Result<Vec<MessageView>> {
        let roots: BTreeSet<i64> = found
            .iter()
            .filter_map(|m| m.thread_root)
            .map(|id| id.0)
            .collect();
        let records = Threads(self.0)
            .list_records_without_items(room, &roots.iter().copied().collect::<Vec<_>>())?;
        let item_id = |message: &Message| records.get(&message.thread_root?.0)?.item_id;
        if let Some(budget) = budget {
            let sizes = Threads(self.0).list_item_sizes(room, found.iter().filter_map(item_id))?;
            let item_size =
                |message: &Message| item_id(message).and_then(|id| sizes.get(&id)).copied();
            budget.cut(&mut found, |message| {
                let own = message.content.len() + message.tags.shown_len();
                own + item_size(message).unwrap_or_default()
            });
        }
        let items = Threads(self.0).list_items(room, found.iter().filter_map(item_id))?;
        let here: BTreeMap<i64, Referred> = found.iter().map(|m| (m.id.0, refer(m))).collect();
        let referred: BTreeSet<i64> = found
            .iter()
            .filter_map(|m| m.parent)
            .map(|id| id.0)
            .collect();
        let missing: Vec<i64> = roots
            .union(&referred)
            .copied()
            .filter(|id| !here.contains_key(id))
            .collect();
        let elsewhere = if missing.is_empty() {
            HashMap::new()
        } else {
            Threads(self.0).list_referred(room, &missing)?
        };
        let listed = found.iter().filter(|message| message.event.is_listed());
        let listed: Vec<i64> = listed.map(|message| message.id.0).collect();
        let mut reactions = match listed.is_empty() {
            true => HashMap::new(),
            false => Reactions(self.0).list(room, &listed)?,
        };
        let other = |id: MessageId| here.get(&id.0).or_else(|| elsewhere.get(&id.0));
        let state = |message: &Message, root: MessageId| {
            let first = other(root);
            let record = match (records.get(&root.0), left) {
                (Some(record), None) => record.with_item(&items),
                (Some(record), Some(left)) => match left.get(&message.id.0) {
                    Some(left) => record.with_item(&items).as_left(*left),
                    None => begun(first, message),
                },
                (None, _) => begun(first, message),
            };
            record.state(root, || first.map_or_else(String::new, Referred::text))
        };
        let parent_text = |id: MessageId| other(id).map_or_else(String::new, Referred::text);
        let views = found.into_iter().map(|message| MessageView {
            parent_text: message.parent.map(parent_text),
            thread: message.thread_root.map(|root| state(&message, root)),
            reactions: reactions.remove(&message.id).unwrap_or_default(),
            message,
            subject: None,
        });
        Ok(views.collect())
    }
}

impl Messages<'_, Tx<'_>> {
    /// Brings the index of words up to date.
    pub(crate) fn update_search(&mut self, backlog: &Backlog) -> Result<()> {
        dialect!(self, catch_up, backlog)
    }

    /// Writes a message's changed content and tags, with everything it is found by. One that is
    /// emptied loses its reactions. The room must be locked.
    ///
    /// `before` is the message as it was; `words` belong to the new one.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn update(
        &mut self,
        before: &Message,
        after: &Message,
        words: &SearchTokens,
    ) -> Result<()> {
        self.update_tags(before, after)?;
        if before.content != after.content {
            dialect!(self, reindex, after.room, after.id, words)?;
        }
        if after.is_emptied() {
            Reactions(self.0).delete_of_message(after.room, after.id)?;
        }
        Ok(())
    }

    /// Writes the row of a changed message, its tags and its mentions.
    pub(crate) fn update_tags(&mut self, before: &Message, after: &Message) -> Result<()> {
        let (room, id) = (after.room, after.id);
        let cohorts = self.find_cohorts_for_edit(before, after)?;
        self.insert_cohorts(room, &cohorts, &cohorts.mention_keys(&after.tags))?;
        self.update_row(after, &cohorts.text(&after.tags))?;
        let indexed = |message: &'_ Message| -> BTreeSet<String> {
            let tags = message.tags.listed().iter();
            tags.filter(|tag| is_indexed(tag)).cloned().collect()
        };
        let (had, has) = (indexed(before), indexed(after));
        let gone: Vec<&str> = had.difference(&has).map(String::as_str).collect();
        self.delete_tags(room, id, &gone)?;
        self.insert_tags(room, id, &has.difference(&had).collect::<Vec<_>>())?;
        self.update_mentions(before, after, &cohorts)
    }

    /// Inserts rows of mentions.
    pub(crate) fn insert_mentions(&mut self, rows: &[MentionRow]) -> Result<()> {
        match rows.is_empty() {
            true => Ok(()),
            false => dialect!(self, insert_mentions, rows),
        }
    }

    /// Notes that a user has dealt with one message that mentions them.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn set_mention_seen(&mut self, room: RoomId, user: UserId, id: MessageId) -> Result<()> {
        self.insert_seen_mention(room, user, id)?;
        self.delete_mentions(room, id, &[user.0])
    }

    /// Removes a message and everything it is found by. Its log row stays. The room must be locked.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn delete(&mut self, gone: &Message) -> Result<()> {
        let (room, id) = (gone.room, gone.id);
        self.delete_row(room, id)?;
        Threads(self.0).delete_message(gone)?;
        let listed = gone.tags.listed().iter().map(String::as_str);
        let tags: Vec<&str> = listed.chain(find::kind_tag(gone.event)).collect();
        self.delete_tags(room, id, &tags)?;
        self.delete_all_mentions(gone)?;
        Reactions(self.0).delete_of_message(room, id)?;
        Files(self.0).delete_of_message(room, id)?;
        dialect!(self, unindex, room, id)
    }
}

/// The thread of a message that has no row: one of the chat that nobody answered.
fn begun(first: Option<&Referred>, message: &Message) -> ThreadRecord {
    ThreadRecord::chat(match first {
        Some(first) => ThreadCounts::begun_by(first.event, first.sent),
        None => ThreadCounts::begun_by(message.event, message.sent),
    })
}

fn refer(message: &Message) -> Referred {
    Referred {
        event: message.event,
        content: message.content.clone(),
        sent: message.sent,
        thread_root: message.thread_root,
    }
}
