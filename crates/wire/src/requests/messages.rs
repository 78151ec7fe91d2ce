//! Messages.

use std::convert::Infallible;

use eddyline_model::items::{Item, MAX_BODY_BYTES, MAX_EXTERNAL_ID_CHARS, MAX_TITLE_CHARS};
use eddyline_model::messages::{
    MAX_CONTENT_CHARS, MAX_EXTERNAL_NAME_CHARS, MAX_UUID_CHARS, MessageCursor, MessageKind, Sort,
};
use eddyline_model::names::check_external_name;
use eddyline_model::reading::ReadMarker;
use eddyline_model::tags::MAX_TAGS;
use eddyline_model::{MessageId, search};

use crate::author::Author;
use crate::request;
use crate::request::{
    Texts, author_object, boolean, choice, files, id, item_object, parsed, text, texts,
    unchecked_text, whole, words,
};

/// The most messages or threads that a list has.
pub(super) const MAX_LIST: i64 = 100;
/// How many messages or threads a list has unless the caller says so.
pub const DEFAULT_LIST: i64 = 30;
/// The most a search may say.
pub(crate) const MAX_SEARCH_CHARS: usize = 500;
/// The most words of a search. More are refused: leaving some out would find what was not asked
/// for.
const MAX_SEARCH_WORDS: usize = 20;
/// The most messages that a list passes over. Ids lead further.
const MAX_SKIP: i64 = 10_000;

/// The most characters of a cursor: three numbers.
const MAX_CURSOR_CHARS: usize = 60;

/// The kinds of message that are listed.
const LISTED: &[(&str, MessageKind)] = &[
    ("message", MessageKind::Message),
    ("comment", MessageKind::Comment),
    ("status", MessageKind::Status),
    ("file", MessageKind::File),
    ("activity", MessageKind::Activity),
    ("discussion", MessageKind::Discussion),
    ("action", MessageKind::Action),
    ("mail", MessageKind::Mail),
];

/// What is wrong with the name under which a message is sent that is none of a user's.
pub(super) fn wrong_name(name: &str) -> Option<String> {
    check_external_name(name)
        .err()
        .map(|wrong| wrong.to_string())
}

request! {
    /// Which kind of message is posted.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PostEvent {
        /// message, status or file; activity and discussion through an application.
        event: Option<String> =
            text(1..=100).required().of(&["message", "status", "file", "activity", "discussion"]),
    }
}

request! {
    /// What every message may have.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PostOptions {
        /// Tags, also as a comma-separated text.
        tags: Option<Vec<String>> = texts(),
        /// Your own id for it; repeating a post with it is safe.
        uuid: Option<String> = text(0..=MAX_UUID_CHARS).filled(),
        /// A sender's name; makes the message anonymous.
        external_user_name: Option<String> =
            text(0..=MAX_EXTERNAL_NAME_CHARS).filled().checked(wrong_name),
    }
}

request! {
    /// The thread that a message goes to.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PostThread {
        /// The thread it goes to.
        thread_id: Option<String> = text(0..=100).filled(),
        /// Your own id of the thread it goes to.
        external_thread_id: Option<String> = text(0..=MAX_EXTERNAL_ID_CHARS).filled(),
    }
}

request! {
    /// What a message of the chat says.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ChatContent {
        /// The text; of a file the file, or data, content_type and file_name; not of activity and
        /// discussion.
        content: String = unchecked_text(1..=MAX_CONTENT_CHARS),
    }
}

request! {
    /// What an activity or a discussion says.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct InboxEntry {
        /// Of activity and discussion: name and avatar of the person who did it.
        author: Option<Author> = author_object(),
        /// The new state of the thread; of activity and discussion only.
        thread: Option<Item> = item_object(),
        /// Of activity and discussion: what happened.
        title: Option<String> = text(0..=MAX_TITLE_CHARS),
        /// Of activity and discussion: what was said, in HTML.
        body: Option<String> = text(0..=MAX_BODY_BYTES),
        /// Files of activity and discussion, by the id that the body has for them, in a form with
        /// parts.
        attachments: Option<Infallible> = files(),
    }
}

request! {
    /// The flow of a message whose address names none.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ToFlow {
        /// The flow: its id, organization/flow or organization:flow; not with a flow token.
        flow: Option<String> = text(1..=300),
    }
}

request! {
    /// What a comment says of its kind.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CommentEvent {
        /// comment.
        event: Option<String> = text(0..=100)
            .of(&["comment"])
            .checked(|event| (event != MessageKind::Comment.as_str()).then(|| "must be comment".to_owned())),
    }
}

request! {
    /// The message that is commented on, where the address names none.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CommentParent {
        /// The message to comment on.
        message: MessageId = id::<MessageId>(),
    }
}

/// How several tags combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagMode {
    /// A message must have all of them.
    #[default]
    And,
    /// A message must have one of them.
    Or,
}

/// What is wrong with the text of a search that a page or a request has, if anything is.
#[must_use]
pub fn wrong_search(text: &str) -> Option<String> {
    if text.chars().nth(MAX_SEARCH_CHARS).is_some() {
        return Some(format!(
            "is too long (maximum is {MAX_SEARCH_CHARS} characters)"
        ));
    }
    let is_long = search::count_words(text) > MAX_SEARCH_WORDS;
    is_long.then(|| format!("can't have more than {MAX_SEARCH_WORDS} words"))
}

fn wanted_tags() -> Texts {
    texts().at_most(MAX_TAGS, |most| format!("can't be more than {most}"))
}

request! {
    /// Which messages are listed. A list is always in ascending order of the ids.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ListMessages {
        /// Kinds of message.
        event: Option<Vec<MessageKind>> = words(LISTED, "is not a kind of message that is listed"),
        /// How many.
        limit: Option<i64> = whole(1..=MAX_LIST).or(DEFAULT_LIST),
        /// desc for the latest matches, asc for the oldest.
        sort: Option<Sort> = choice(&[("asc", Sort::Ascending), ("desc", Sort::Descending)]),
        /// Matches to pass over.
        skip: Option<i64> = whole(0..=MAX_SKIP).or(0),
        /// Only messages after this one; not in searches.
        since_id: Option<i64> = whole(0..=i64::MAX),
        /// Only messages before this one; not in searches.
        until_id: Option<i64> = whole(0..=i64::MAX),
        /// Only messages beyond this one in the order of sort; also in searches.
        beyond_id: Option<i64> = whole(0..=i64::MAX),
        /// Only messages that this user wrote; also in searches.
        user: Option<i64> = whole(1..=i64::MAX),
        /// Only messages from the first one on that was sent at this time or later, in milliseconds;
        /// also in searches.
        since_time: Option<i64> = whole(0..=i64::MAX),
        /// Only messages before the first one that was sent at this time or later; also in searches.
        until_time: Option<i64> = whole(0..=i64::MAX),
        /// Messages around this one, half of them before it; not with sort, skip, search or another
        /// id or time.
        around_id: Option<i64> = whole(0..=i64::MAX),
        /// The same around the first message sent at this time or later, in milliseconds, or else
        /// the latest.
        around_time: Option<i64> = whole(0..=i64::MAX),
        /// Words that must all be there, 20 at most.
        search: Option<String> = text(0..=MAX_SEARCH_CHARS).checked(wrong_search),
        /// Tags.
        tags: Option<Vec<String>> = wanted_tags(),
        /// Whether all of the tags must be there, or one of them.
        tag_mode: Option<TagMode> = choice(&[("and", TagMode::And), ("or", TagMode::Or)]),
        /// 1 adds the text as HTML, with light markdown.
        html: Option<bool> = boolean(),
    }
}

request! {
    /// Which messages of all rooms are listed. A list begins with the newest.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SearchEverywhere {
        /// Words that must all be there, 20 at most; required without tags.
        search: Option<String> = text(0..=MAX_SEARCH_CHARS).checked(wrong_search),
        /// Tags.
        tags: Option<Vec<String>> = wanted_tags(),
        /// Whether all of the tags must be there, or one of them.
        tag_mode: Option<TagMode> = choice(&[("and", TagMode::And), ("or", TagMode::Or)]),
        /// Kinds of message.
        event: Option<Vec<MessageKind>> = words(LISTED, "is not a kind of message that is listed"),
        /// Only messages that this user wrote.
        user: Option<i64> = whole(1..=i64::MAX),
        /// Only messages from the first one on that was sent at this time or later, in milliseconds.
        since_time: Option<i64> = whole(0..=i64::MAX),
        /// Only messages before the first one that was sent at this time or later.
        until_time: Option<i64> = whole(0..=i64::MAX),
        /// How many.
        limit: Option<i64> = whole(1..=MAX_LIST).or(DEFAULT_LIST),
        /// Where a list goes on, from its header Link.
        before: Option<MessageCursor> = parsed::<MessageCursor>(1..=MAX_CURSOR_CHARS),
        /// 1 adds the text as HTML, with light markdown.
        html: Option<bool> = boolean(),
    }
}

request! {
    /// Which messages that mention the caller are listed. A list begins with the newest.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ListMentions {
        /// How many.
        limit: Option<i64> = whole(1..=MAX_LIST).or(DEFAULT_LIST),
        /// Where a list goes on, from its header Link.
        before: Option<MessageCursor> = parsed::<MessageCursor>(1..=MAX_CURSOR_CHARS),
        /// 1 adds the text as HTML, with light markdown.
        html: Option<bool> = boolean(),
    }
}

request! {
    /// A change of a message; what is `None` stays as it is.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct EditMessage {
        /// The new text, of your own chat message or comment.
        content: Option<String> = unchecked_text(1..=MAX_CONTENT_CHARS),
        /// All tags it is to have.
        tags: Option<Vec<String>> = texts(),
        /// Tags to add; the others stay. Not together with tags.
        add_tags: Option<Vec<String>> = texts(),
        /// Tags to remove; the others stay. Not together with tags.
        remove_tags: Option<Vec<String>> = texts(),
    }
}

request! {
    /// Up to where messages were read.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MarkRead {
        /// The last message read; an earlier one changes nothing.
        message: MessageId = id::<MessageId>(),
    }
}

request! {
    /// Up to where messages of a flow were read.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MarkFlowRead {
        /// The last message read; an earlier one changes nothing.
        message: MessageId = id::<MessageId>(),
        /// chat or inbox moves that marker only.
        marker: Option<ReadMarker> = choice(&[
            ("chat", ReadMarker::Chat),
            ("inbox", ReadMarker::Inbox),
        ]),
    }
}
