//! Questions for messages.

use super::MessageKind;
use crate::search::SearchQuery;
use crate::{MessageId, Timestamp, UserId};

/// Which way [`MessageQuery`] looks for its matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The latest matches.
    #[default]
    Descending,
    /// The oldest matches.
    Ascending,
}

/// What the messages of a list stand around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// A message, which need not be there any more.
    Message(MessageId),
    /// The first message sent at this time or later, or else the end of the room.
    Time(Timestamp),
}

impl Around {
    /// How many of a list's `limit` messages come from before its middle and how many from there
    /// on, the message in the middle among them, where so many are to be had on each side. What
    /// one side lacks comes from the other.
    #[must_use]
    pub fn share(limit: usize, before: usize, onward: usize) -> (usize, usize) {
        let half = limit / 2;
        let before_share = before.min(half.max(limit.saturating_sub(onward)));
        (before_share, onward.min(limit - before_share))
    }
}

/// A question for messages of one room (specification, section 4, List).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageQuery {
    /// Kinds wanted; empty means every listed kind.
    pub events: Vec<MessageKind>,
    /// How many at most, 1 to 100.
    pub limit: i64,
    /// How many matches to pass over, counted from the end that `sort` chooses.
    pub skip: i64,
    /// Latest or oldest matches.
    pub sort: Sort,
    /// Only messages after this one; ignored in searches.
    pub since: Option<MessageId>,
    /// Only messages before this one; ignored in searches.
    pub until: Option<MessageId>,
    /// Only messages beyond this one in the order of `sort`: where a list goes on, also that of a
    /// search.
    pub beyond: Option<MessageId>,
    /// Tags in their stored form.
    pub tags: Vec<String>,
    /// Whether one of the tags is enough.
    pub any_tag: bool,
    /// Words and phrases that must all be there. An empty search finds nothing.
    pub search: Option<SearchQuery>,
    /// Whether the tags add to what a search finds, instead of narrowing it. What else narrows the
    /// query narrows both.
    pub tags_widen: bool,
    /// Only messages of the thread this message began.
    pub thread_root: Option<MessageId>,
    /// Only comments on this message.
    pub parent: Option<MessageId>,
    /// Only messages that this user wrote.
    pub by: Option<UserId>,
    /// Only messages that this user did not write.
    pub not_by: Option<UserId>,
    /// Only messages from the first one on that was sent at this time or later.
    pub since_time: Option<Timestamp>,
    /// Only messages before the first one that was sent at this time or later.
    pub until_time: Option<Timestamp>,
    /// Only messages with this number or a later one; also in searches.
    pub first: Option<MessageId>,
    /// Only messages with an earlier number than this; also in searches.
    pub end: Option<MessageId>,
    /// Messages on both sides of a place, instead of those at one end. Goes with neither `since`,
    /// `until`, `beyond`, `sort`, `skip` nor `search`.
    pub around: Option<Around>,
}

impl Default for MessageQuery {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            limit: 30,
            skip: 0,
            sort: Sort::Descending,
            since: None,
            until: None,
            beyond: None,
            tags: Vec::new(),
            any_tag: false,
            search: None,
            tags_widen: false,
            thread_root: None,
            parent: None,
            by: None,
            not_by: None,
            since_time: None,
            until_time: None,
            first: None,
            end: None,
            around: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_around_a_message_has_half_of_it_on_each_side_where_there_is_so_much() {
        for (limit, before, onward, shares) in [
            (10, 100, 100, (5, 5)),
            (5, 100, 100, (2, 3)),
            (1, 100, 100, (0, 1)),
            (1, 100, 0, (1, 0)),
            (10, 2, 100, (2, 8)),
            (10, 100, 2, (8, 2)),
            (10, 3, 4, (3, 4)),
            (10, 0, 0, (0, 0)),
        ] {
            let got = Around::share(limit, before, onward);
            assert_eq!(got, shares, "{limit} of {before} and {onward}");
        }
    }
}
