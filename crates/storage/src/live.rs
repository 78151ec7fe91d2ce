//! The full text of changes of tags that this process has just committed.
//!
//! The log does not name the tags that a change removed, but live streams do. The process that
//! commits the change hands the full event to its feed after the commit. The feed may have read the
//! log before that; it then takes the full event from here.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use eddyline_model::log::{LogBody, LogItem, Seq};
use eddyline_model::messages::MessageKind;

/// How many notices are kept. Of older ones streams get what the log has, without the removed tags.
const MOST: usize = 256;

/// The last notices that say more than the log, in the order in which they were written.
#[derive(Default)]
pub(crate) struct LiveNotices {
    notices: Mutex<VecDeque<LogItem>>,
}

impl LiveNotices {
    /// Keeps those of `items` that say more than the log. Some of them may never be committed:
    /// their ids are in no log then.
    pub(crate) fn note(&self, items: &[LogItem]) {
        let mut new = items
            .iter()
            .filter(|item| says_more_than_the_log(item))
            .peekable();
        if new.peek().is_none() {
            return;
        }
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        notices.extend(new.cloned());
        let surplus = notices.len().saturating_sub(MOST);
        notices.drain(..surplus);
    }

    /// Puts the kept notices in the places of those of `items` with the same ids, and forgets those
    /// at or before `after`.
    pub(crate) fn restore(&self, after: Seq, items: &mut [LogItem]) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        notices.retain(|notice| notice.id.seq > after);
        for notice in &*notices {
            if let Some(item) = items.iter_mut().find(|item| item.id == notice.id) {
                item.body = notice.body.clone();
            }
        }
    }
}

fn says_more_than_the_log(item: &LogItem) -> bool {
    matches!(&item.body, LogBody::Message(Some(view)) if view.message.event == MessageKind::TagChange)
}
