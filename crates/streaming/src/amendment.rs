//! Amending what was published before: an entry that shows a text which has been edited away or
//! deleted since must not reach anyone any more.
//!
//! An amendment acts in every place that still holds the entry. The ring takes the entry as it is
//! now, or drops it. Pages of the log that may hold it are discarded, also those being read. A
//! listener that holds it in a batch gives the unwritten part of the batch back, and takes it again
//! from its new position. What a socket has accepted cannot be taken back.

use std::sync::Arc;

use eddyline_model::Seq;

use crate::entry::{Audience, Entry};
use crate::listeners::Call;
use crate::shared::State;

/// What has changed about entries that were published before.
#[derive(Debug)]
pub struct Amendment {
    /// To whom the entries went, or may go when they are read from the log.
    pub audience: Audience,
    /// Entries of the ring as they are now, by position; `None` for one that is gone. An entry
    /// keeps its position and its audience. Positions that the ring does not hold are passed over.
    pub entries: Vec<(Seq, Option<Arc<Entry>>)>,
    /// Through this position the ring must not be used for the audience: its listeners read the
    /// log, which knows the present texts. 0 where [`entries`](Self::entries) has everything that
    /// changed.
    pub log_through: Seq,
}

impl State {
    /// Amends the ring, and makes listeners give back what they have not written yet.
    pub(crate) fn amend(&mut self, amendment: Amendment) {
        self.ring
            .leave_to_log(&amendment.audience, amendment.log_through);
        for (seq, entry) in amendment.entries {
            self.ring.replace(seq, entry.as_ref());
        }
        let topics = amendment.audience.topics();
        for (_, signal) in topics.flat_map(|topic| self.listeners.of(topic)) {
            // Nobody is woken: a listener looks at this when it has something to write.
            let _ = signal.call(Call::Amended);
        }
    }
}
