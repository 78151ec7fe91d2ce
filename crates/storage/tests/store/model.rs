//! What a room should hold, told in the plainest way: a model to compare the store with.

use std::collections::{BTreeMap, BTreeSet};

use eddyline_model::messages::{
    Draft, Message, MessageKind, MessageQuery, MessageView, Placement, Sort, ThreadCounts,
    ThreadState,
};
use eddyline_model::reactions::Reactions;
use eddyline_model::search::SearchTokens;
use eddyline_model::tags::Tags;
use eddyline_model::{MessageId, Timestamp, UserId};

/// A message with what it is found by.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) message: Message,
    pub(crate) words: SearchTokens,
    /// Who is mentioned by name and has not dealt with it.
    by_name: BTreeSet<UserId>,
    /// The users who have dealt with it otherwise.
    seen: BTreeSet<UserId>,
}

#[derive(Default)]
pub(crate) struct Room {
    pub(crate) entries: BTreeMap<MessageId, Entry>,
    /// Every thread there ever was.
    pub(crate) threads: BTreeMap<MessageId, ThreadCounts>,
    /// How each message left its thread.
    left: BTreeMap<MessageId, ThreadCounts>,
    last: i64,
}

impl Room {
    pub(crate) fn post(&mut self, draft: &Draft) -> MessageId {
        self.last += 1;
        let id = MessageId(self.last);
        let (thread_root, parent) = match draft.placement {
            Placement::Unthreaded => (None, None),
            Placement::StartsThread | Placement::InMirror => (Some(id), None),
            Placement::InThread(root) => (Some(root), None),
            Placement::Answers(parent) => (self.entries[&parent].message.thread_root, Some(parent)),
        };
        let mut tags = draft.tags.clone();
        if let Some(parent) = parent {
            tags.put_first(format!(":influx:{parent}"));
        }
        if let Some(root) = thread_root {
            match self.threads.get_mut(&root) {
                Some(counts) => counts.add(draft.event, draft.sent),
                None => drop(
                    self.threads
                        .insert(root, ThreadCounts::begun_by(draft.event, draft.sent)),
                ),
            }
        }
        if let Some(root) = thread_root {
            self.left.insert(id, self.threads[&root]);
        }
        let message = Message {
            room: draft.room,
            id,
            event: draft.event,
            author: draft.author.clone(),
            content: draft.content.clone(),
            tags,
            explicit_tags: draft.explicit_tags.clone(),
            uuid: draft.uuid.clone(),
            sent: draft.sent,
            edited: None,
            thread_root,
            parent,
            to: draft.to,
        };
        let entry = Entry {
            message,
            words: draft.search_tokens.clone(),
            by_name: draft.tags.listed_unread().collect(),
            seen: BTreeSet::new(),
        };
        self.entries.insert(id, entry);
        id
    }

    /// Makes a message say something else; gives it as it was and as it is.
    pub(crate) fn edit(&mut self, id: MessageId, to: &Draft) -> (Message, Message) {
        let entry = self.entries.get_mut(&id).expect("there is such a message");
        let before = entry.message.clone();
        let after = &mut entry.message;
        after.content = to.content.clone();
        after.tags = to.tags.clone();
        if let Some(parent) = before.parent {
            after.tags.put_first(format!(":influx:{parent}"));
        }
        after.explicit_tags = to.explicit_tags.clone();
        after.edited = Some(Timestamp(77_000));
        let listed = |tags: &Tags| tags.listed_unread().collect::<BTreeSet<_>>();
        let (had, has) = (listed(&before.tags), listed(&to.tags));
        // A new mention by name is unread again.
        entry.by_name.retain(|user| has.contains(user));
        entry.by_name.extend(has.difference(&had));
        if before.tags.cohorts() != to.tags.cohorts() {
            entry.seen.clear();
        }
        if before.content != to.content {
            entry.words = to.search_tokens.clone();
        }
        (before, entry.message.clone())
    }

    pub(crate) fn see(&mut self, id: MessageId, user: UserId) {
        let entry = self.entries.get_mut(&id).expect("there is such a message");
        entry.by_name.remove(&user);
        entry.seen.insert(user);
    }

    /// Takes a message away, which its thread counts no more.
    pub(crate) fn delete(&mut self, id: MessageId) -> Entry {
        let gone = self.entries.remove(&id).expect("it was there");
        if let Some(counts) = gone
            .message
            .thread_root
            .and_then(|root| self.threads.get_mut(&root))
        {
            match gone.message.event {
                MessageKind::Activity | MessageKind::Mail => counts.activities -= 1,
                MessageKind::Discussion => counts.external_comments -= 1,
                _ => counts.internal_comments -= 1,
            }
        }
        gone
    }

    pub(crate) fn view(&self, id: MessageId) -> MessageView {
        let text = |id: MessageId| match self.entries.get(&id) {
            Some(entry) if entry.message.event.has_text() => entry.message.content.clone(),
            _ => String::new(),
        };
        let message = self.entries[&id].message.clone();
        let thread = message.thread_root.map(|root| ThreadState {
            root,
            root_text: text(root),
            counts: self.threads[&root],
            item: None,
            source: None,
        });
        MessageView {
            parent_text: message.parent.map(text),
            thread,
            message,
            reactions: Reactions::default(),
            subject: None,
        }
    }

    /// The message as the log tells of it: with its thread as it left that.
    pub(crate) fn told(&self, id: MessageId) -> MessageView {
        let mut view = self.view(id);
        if let Some(thread) = &mut view.thread {
            thread.counts = self.left[&id];
        }
        view
    }

    pub(crate) fn unread_mentions(&self, user: UserId, read_up_to: MessageId) -> i64 {
        let later = self
            .entries
            .values()
            .filter(|entry| entry.message.id > read_up_to);
        later.filter(|entry| entry.is_unread(user)).count() as i64
    }

    pub(crate) fn find(&self, query: &MessageQuery) -> Vec<MessageId> {
        let matching = self
            .entries
            .values()
            .filter(|entry| entry.matches(query))
            .map(|entry| entry.message.id);
        let mut found: Vec<MessageId> = matching.collect();
        if query.sort == Sort::Descending {
            found.reverse();
        }
        let mut page: Vec<_> = found
            .into_iter()
            .skip(query.skip as usize)
            .take(query.limit as usize)
            .collect();
        page.sort();
        page
    }
}

impl Entry {
    fn is_unread(&self, user: UserId) -> bool {
        let is_addressed = |tags: &Tags| tags.cohorts().iter().any(|a| a.users().contains(&user));
        self.message.author.user != Some(user)
            && (self.by_name.contains(&user)
                || (is_addressed(&self.message.tags) && !self.seen.contains(&user)))
    }

    fn has_tag(&self, tag: &str) -> bool {
        match tag.strip_prefix(":unread:") {
            Some(user) => self.is_unread(user.parse().expect("a user")),
            None => self.message.tags.contains(tag),
        }
    }

    fn matches(&self, query: &MessageQuery) -> bool {
        let message = &self.message;
        let of_kind = match (&query.events[..], &query.search) {
            ([], None) => message.event.is_listed(),
            ([], Some(_)) => true,
            (events, _) => events.contains(&message.event),
        };
        let tagged = match &query.tags[..] {
            [] => true,
            tags if query.any_tag => tags.iter().any(|tag| self.has_tag(tag)),
            tags => tags.iter().all(|tag| self.has_tag(tag)),
        };
        let found = match &query.search {
            None => {
                query.since.is_none_or(|since| message.id > since)
                    && query.until.is_none_or(|until| message.id < until)
            }
            Some(search) => {
                !search.is_empty()
                    // Beside tags that add to a search, its phrases are words.
                    && (query.tags_widen && !query.tags.is_empty()
                        || search.accepts_phrases(&self.message.content))
                    && search
                        .words()
                        .iter()
                        .all(|word| self.words.iter().any(|own| word.accepts(own)))
            }
        };
        let chosen = match &query.search {
            Some(words) if query.tags_widen && !query.tags.is_empty() => {
                !words.is_empty() && (tagged || found)
            }
            _ => tagged && found,
        };
        let beyond = query.beyond.is_none_or(|beyond| match query.sort {
            Sort::Descending => message.id < beyond,
            Sort::Ascending => message.id > beyond,
        });
        of_kind
            && chosen
            && beyond
            && query
                .thread_root
                .is_none_or(|root| message.thread_root == Some(root))
            && query
                .parent
                .is_none_or(|parent| message.parent == Some(parent))
            && query
                .by
                .is_none_or(|user| message.author.user == Some(user))
            && query
                .not_by
                .is_none_or(|user| message.author.user != Some(user))
    }
}

/// Kinds that are told apart in the lists of this model.
pub(crate) const KINDS: [MessageKind; 6] = [
    MessageKind::Message,
    MessageKind::Status,
    MessageKind::File,
    MessageKind::Activity,
    MessageKind::Action,
    MessageKind::TagChange,
];
