//! Those who listen and those who publish, and what they know of each other.

use std::cell::{Ref, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::ledger::{Arrival, Ledger, PUBLISHERS};
use super::mark::{Finder, Mark};
use super::stream::Stream;
use crate::connection::read;
use crate::histogram::Histogram;
use crate::report::Faults;

/// What all tasks of one measurement share.
pub(super) struct Gathering {
    /// The beginning of time.
    began: Instant,
    state: RefCell<State>,
    /// Rung when a message has reached everybody, and at the end.
    changed: Notify,
}

#[derive(Default)]
struct State {
    ledgers: Vec<Ledger>,
    under_way: [UnderWay; PUBLISHERS],
    recording: bool,
    stopped: bool,
    times: Histogram,
    faults: Faults,
}

/// The messages of one publisher that not everybody has.
#[derive(Default)]
struct UnderWay {
    sent: usize,
    /// How many listeners do not have a message yet; the last is the one sent last.
    waiting: VecDeque<usize>,
}

impl UnderWay {
    /// Notes that one more has it; `true` when that was the last one.
    fn delivered(&mut self, sequence: usize) -> bool {
        let first = self.sent - self.waiting.len();
        let Some(waiting) = sequence
            .checked_sub(first)
            .and_then(|at| self.waiting.get_mut(at))
        else {
            return false;
        };
        *waiting -= 1;
        let everybody = *waiting == 0;
        while self.waiting.front() == Some(&0) {
            self.waiting.pop_front();
        }
        everybody
    }
}

impl State {
    fn outstanding(&self) -> usize {
        self.under_way
            .iter()
            .map(|under_way| {
                under_way
                    .waiting
                    .iter()
                    .filter(|waiting| **waiting > 0)
                    .count()
            })
            .sum()
    }

    fn arrived(&mut self, listener: usize, mark: Mark, now: Duration) -> bool {
        let known = self
            .under_way
            .get(mark.publisher)
            .is_some_and(|under_way| mark.sequence < under_way.sent);
        if !known {
            self.faults.errors += 1;
            return false;
        }
        match self.ledgers[listener].note(mark) {
            Arrival::Doubled => {
                self.faults.doubled += 1;
                return false;
            }
            Arrival::Late => self.faults.disordered += 1,
            Arrival::InOrder => {}
        }
        if self.recording {
            self.times.add(now.saturating_sub(mark.at));
        }
        self.under_way[mark.publisher].delivered(mark.sequence)
    }
}

impl Gathering {
    /// So many listeners, who have heard nothing.
    pub(super) fn of(listeners: usize) -> Self {
        let state = State {
            ledgers: vec![Ledger::default(); listeners],
            ..State::default()
        };
        Self {
            began: Instant::now(),
            state: RefCell::new(state),
            changed: Notify::new(),
        }
    }

    /// Forgets what was, for another measurement with the same listeners.
    pub(super) fn begin(&self) {
        let mut state = self.state.borrow_mut();
        let ledgers = vec![Ledger::default(); state.ledgers.len()];
        *state = State {
            ledgers,
            ..State::default()
        };
    }

    /// What time it is.
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn record(&self, on: bool) {
        self.state.borrow_mut().recording = on;
    }

    /// Tells the publishers to end.
    pub(super) fn stop(&self) {
        self.state.borrow_mut().stopped = true;
        self.changed.notify_waiters();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.state.borrow().stopped
    }

    /// Gives the next message of a publisher its number. Call it before the message is sent, since
    /// it may arrive before it is answered.
    pub(super) fn send(&self, publisher: usize) -> usize {
        let mut state = self.state.borrow_mut();
        let listeners = state.ledgers.len();
        let under_way = &mut state.under_way[publisher];
        under_way.waiting.push_back(listeners);
        under_way.sent += 1;
        under_way.sent - 1
    }

    /// Waits until fewer than so many messages are under way, or all is to end.
    pub(super) async fn room_for_one_of(&self, window: usize) {
        loop {
            let changed = self.changed.notified();
            if self.is_stopped() || self.state.borrow().outstanding() < window {
                return;
            }
            changed.await;
        }
    }

    /// Waits until everybody has every message.
    pub(super) async fn all_delivered(&self) {
        loop {
            let changed = self.changed.notified();
            if self.state.borrow().outstanding() == 0 {
                return;
            }
            changed.await;
        }
    }

    /// Notes that a post was not answered as it should.
    pub(super) fn note_refused(&self) {
        self.state.borrow_mut().faults.refused += 1;
    }

    /// Notes that something broke.
    pub(super) fn note_error(&self) {
        self.state.borrow_mut().faults.errors += 1;
    }

    /// From sending to hearing, of what was heard while recording.
    pub(super) fn times(&self) -> Ref<'_, Histogram> {
        Ref::map(self.state.borrow(), |state| &state.times)
    }

    /// All that went wrong. Messages still under way are missed.
    pub(super) fn faults(&self) -> Faults {
        let state = self.state.borrow();
        let sent = [0, 1].map(|publisher: usize| state.under_way[publisher].sent);
        let missed = state
            .ledgers
            .iter()
            .map(|ledger| ledger.missed(sent) as u64)
            .sum();
        Faults {
            missed,
            ..state.faults
        }
    }

    /// Listens until the stream ends, which it should not.
    pub(super) async fn listen(self: Rc<Self>, number: usize, mut stream: Stream) {
        let mut finder = Finder::default();
        let rest = std::mem::take(&mut stream.rest);
        self.heard(number, &mut finder, &rest);
        loop {
            let heard = read(&mut stream.socket, |bytes| {
                self.heard(number, &mut finder, bytes);
                bytes.len()
            });
            if !matches!(heard.await, Ok(1..)) {
                return self.note_error();
            }
        }
    }

    fn heard(&self, number: usize, finder: &mut Finder, bytes: &[u8]) {
        let now = self.now();
        let mut state = self.state.borrow_mut();
        let mut everybody = false;
        finder.look(bytes, |mark| everybody |= state.arrived(number, mark, now));
        drop(state);
        if everybody {
            self.changed.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(publisher: usize, sequence: usize) -> Mark {
        Mark {
            publisher,
            sequence,
            at: Duration::ZERO,
        }
    }

    fn arrive(gathering: &Gathering, listener: usize, mark: Mark) -> bool {
        gathering
            .state
            .borrow_mut()
            .arrived(listener, mark, Duration::from_millis(1))
    }

    #[test]
    fn a_message_is_under_way_until_everybody_has_it() {
        let gathering = Gathering::of(2);
        assert_eq!(
            (gathering.send(0), gathering.send(0), gathering.send(1)),
            (0, 1, 0)
        );
        assert!(!arrive(&gathering, 0, mark(0, 0)));
        assert!(!arrive(&gathering, 0, mark(0, 1)));
        assert!(!arrive(&gathering, 1, mark(1, 0)));
        assert!(arrive(&gathering, 1, mark(0, 0)));
        assert_eq!(gathering.state.borrow().outstanding(), 2);
        assert_eq!(
            gathering.faults(),
            Faults {
                missed: 2,
                ..Faults::default()
            }
        );
        assert!(arrive(&gathering, 1, mark(0, 1)) && arrive(&gathering, 0, mark(1, 0)));
        assert_eq!(gathering.faults(), Faults::default());
    }

    #[test]
    fn what_nobody_sent_is_an_error() {
        let gathering = Gathering::of(1);
        gathering.send(0);
        arrive(&gathering, 0, mark(0, 0));
        arrive(&gathering, 0, mark(0, 1));
        arrive(&gathering, 0, mark(7, 0));
        arrive(&gathering, 0, mark(0, 0));
        assert_eq!(
            gathering.faults(),
            Faults {
                errors: 2,
                doubled: 1,
                ..Faults::default()
            }
        );
    }
}
