//! Threads and their actions.

use eddyline_model::Timestamp;
use eddyline_model::items::MAX_SHORT_CHARS;

use super::messages::{DEFAULT_LIST, MAX_LIST, MAX_SEARCH_CHARS, wrong_search};
use crate::request;
use crate::request::{boolean, text, time, whole};

request! {
    /// Which threads are listed.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ListThreads {
        /// Only threads that changed after this time, ISO 8601.
        since: Option<Timestamp> = time(),
        /// Only threads that changed before this time, ISO 8601.
        until: Option<Timestamp> = time(),
        /// With until, of threads of that very time: only those before this one.
        before: Option<String> = text(1..=100),
        /// chat, inbox, or an application's id.
        application: Option<String> = text(0..=200),
        /// 1 adds threads that nobody answered.
        empty: Option<bool> = boolean().or(false),
        /// Only threads whose title has words that begin with all of these.
        search: Option<String> = text(0..=MAX_SEARCH_CHARS).checked(wrong_search),
        /// Only threads whose outside item has this status, in any case.
        status: Option<String> = text(0..=MAX_SHORT_CHARS),
        /// 1 adds the last message of each thread.
        last_message: Option<bool> = boolean().or(false),
        /// 1 adds the title as plain text where it has markdown.
        html: Option<bool> = boolean().or(false),
        /// How many.
        limit: Option<i64> = whole(1..=MAX_LIST).or(DEFAULT_LIST),
    }
}

request! {
    /// Which action of a thread is meant.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TriggerAction {
        /// The action's name; with another it is not done.
        name: Option<String> = text(0..=MAX_SHORT_CHARS),
    }
}
