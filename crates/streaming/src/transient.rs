//! What is told but not stored: presence and activity. It bears no event id, is heard by those
//! who listen now, and is lost on those who lag behind.

use std::collections::VecDeque;
use std::sync::Arc;

use eddyline_model::Seq;

use crate::entry::{Audience, Entry, SubscriptionFilter};

/// How many are kept for listeners who are about to read them, or until their time has come.
const KEPT: usize = 256;

/// Something to tell that has no place in the log.
#[derive(Clone, Debug)]
pub struct Transient {
    /// Whether all of the audience hear it.
    pub kind: TransientKind,
    /// Whom it is for.
    pub audience: Audience,
    /// The position of the log that it follows from. Nobody hears it before the entries up to
    /// there, also when it comes to this node faster than they do. 0 when there is none.
    pub after: Seq,
    /// One JSON object in compact form, without CR and LF.
    pub object: Vec<u8>,
}

/// The kinds of [`Transient`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransientKind {
    /// A user did something: `activity.user`. Everyone in the audience hears it.
    Activity,
    /// A user came or went: `presence`. Only those hear it who asked for it (`presence=1`).
    Presence,
}

/// The newest transients, numbered in the order in which they may be heard.
#[derive(Default)]
pub(crate) struct Transients {
    recent: VecDeque<EncodedTransient>,
    /// The number after the newest one.
    next: u64,
    /// What must not be heard yet.
    waiting: VecDeque<(Seq, EncodedTransient)>,
}

pub(crate) struct EncodedTransient {
    pub(crate) kind: TransientKind,
    pub(crate) entry: Arc<Entry>,
}

impl Transients {
    /// The number that the next one will have: where a new listener begins.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Takes one in; it is heard once [`Transients::release`] is told of its position.
    pub(crate) fn push(&mut self, transient: Transient) {
        let entry = Arc::new(Entry::without_id(transient.audience, &transient.object));
        if self.waiting.len() == KEPT {
            self.waiting.pop_front();
        }
        self.waiting.push_back((
            transient.after,
            EncodedTransient {
                kind: transient.kind,
                entry,
            },
        ));
    }

    /// Lets those be heard whose position the ring has reached, and gives them.
    pub(crate) fn release(&mut self, head: Seq) -> impl Iterator<Item = &EncodedTransient> {
        let mut released = 0;
        for (after, spoken) in std::mem::take(&mut self.waiting) {
            if after > head {
                self.waiting.push_back((after, spoken));
                continue;
            }
            if self.recent.len() == KEPT {
                self.recent.pop_front();
            }
            self.recent.push_back(spoken);
            self.next += 1;
            released += 1;
        }
        self.recent.iter().rev().take(released)
    }

    /// What stands from number `from` on for a listener.
    pub(crate) fn read(
        &self,
        from: u64,
        filter: &SubscriptionFilter,
        presence: bool,
    ) -> impl Iterator<Item = &Arc<Entry>> {
        let unread = usize::try_from(self.next.saturating_sub(from)).unwrap_or(usize::MAX);
        let start = self.recent.len().saturating_sub(unread);
        let heard = move |spoken: &&EncodedTransient| {
            (presence || spoken.kind == TransientKind::Activity)
                && filter.admits(spoken.entry.audience())
        };
        self.recent
            .range(start..)
            .filter(heard)
            .map(|spoken| &spoken.entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eddyline_model::RoomId;

    fn say(transients: &mut Transients, kind: TransientKind, after: i64, text: &str) {
        let audience = Audience::Room(RoomId(1));
        transients.push(Transient {
            kind,
            audience,
            after: Seq(after),
            object: text.into(),
        });
    }

    fn heard(transients: &Transients, from: u64, presence: bool) -> Vec<String> {
        let filter = SubscriptionFilter::new(vec![RoomId(1)], None);
        let text = |entry: &Arc<Entry>| String::from_utf8_lossy(entry.object()).into_owned();
        transients.read(from, &filter, presence).map(text).collect()
    }

    #[test]
    fn an_activity_waits_for_the_position_it_follows_from() {
        let mut all = Transients::default();
        say(&mut all, TransientKind::Activity, 7, r#"{"n":7}"#);
        say(&mut all, TransientKind::Activity, 0, r#"{"n":0}"#);
        assert_eq!(all.release(Seq(6)).count(), 1);
        assert_eq!(heard(&all, 0, false), [r#"{"n":0}"#]);
        assert_eq!(all.release(Seq(8)).count(), 1);
        assert_eq!(heard(&all, 1, false), [r#"{"n":7}"#]);
    }

    #[test]
    fn presence_is_for_those_who_asked_for_it() {
        let mut all = Transients::default();
        say(&mut all, TransientKind::Presence, 0, "{}");
        all.release(Seq(0)).count();
        assert_eq!(heard(&all, 0, true).len(), 1);
        assert_eq!(heard(&all, 0, false).len(), 0);
    }

    #[test]
    fn only_the_newest_are_kept() {
        let mut all = Transients::default();
        for n in 0..1000 {
            say(
                &mut all,
                TransientKind::Activity,
                0,
                &format!("{{\"n\":{n}}}"),
            );
            all.release(Seq(0)).count();
        }
        let heard = heard(&all, 3, false);
        assert_eq!(
            (heard.len(), heard.last().map(String::as_str)),
            (KEPT, Some(r#"{"n":999}"#))
        );
    }
}
