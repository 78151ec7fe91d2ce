//! Questions for messages.

use super::MessageKind;
use crate::MessageId;

/// Which way [`MessageQuery`] looks for its matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The latest matches.
    #[default]
    Descending,
    /// The oldest matches.
    Ascending,
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
    /// Words that must all be there. `Some` of nothing finds nothing.
    pub search: Option<Vec<String>>,
    /// Whether the tags add to what a search finds, instead of narrowing it. What else narrows the
    /// query narrows both.
    pub tags_widen: bool,
    /// Only messages of the thread this message began.
    pub thread_root: Option<MessageId>,
    /// Only comments on this message.
    pub parent: Option<MessageId>,
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
        }
    }
}
