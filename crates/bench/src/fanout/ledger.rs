//! What one listener has heard, and whether that was everything once and in order.

use super::mark::Mark;

/// How many publishers there may be.
pub(super) const PUBLISHERS: usize = 2;

/// What became of a message when it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It came after those before it.
    InOrder,
    /// A later one of the same publisher came before it.
    Late,
    /// It was there already.
    Doubled,
}

/// The messages of one listener, by publisher: only for messages of one and the same is there an
/// order to speak of, since each waits for an answer before the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    next: [usize; PUBLISHERS],
    /// Messages that later ones have overtaken, as publisher and sequence.
    holes: Vec<(usize, usize)>,
}

impl Ledger {
    /// Notes a message. Its publisher is below [`PUBLISHERS`].
    pub(super) fn note(&mut self, mark: Mark) -> Arrival {
        let Mark {
            publisher,
            sequence,
            ..
        } = mark;
        let next = self.next[publisher];
        if sequence >= next {
            self.holes
                .extend((next..sequence).map(|missing| (publisher, missing)));
            self.next[publisher] = sequence + 1;
            return Arrival::InOrder;
        }
        match self
            .holes
            .iter()
            .position(|hole| *hole == (publisher, sequence))
        {
            Some(at) => {
                self.holes.swap_remove(at);
                Arrival::Late
            }
            None => Arrival::Doubled,
        }
    }

    /// How many messages have not come, when each publisher has sent so many.
    pub(super) fn missed(&self, sent: [usize; PUBLISHERS]) -> usize {
        let not_yet: usize = sent
            .iter()
            .zip(self.next)
            .map(|(sent, next)| sent.saturating_sub(next))
            .sum();
        self.holes.len() + not_yet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn note(ledger: &mut Ledger, publisher: usize, sequence: usize) -> Arrival {
        ledger.note(Mark {
            publisher,
            sequence,
            at: Duration::ZERO,
        })
    }

    #[test]
    fn publishers_do_not_get_in_each_others_order() {
        let mut ledger = Ledger::default();
        for (publisher, sequence) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
            assert_eq!(note(&mut ledger, publisher, sequence), Arrival::InOrder);
        }
        assert_eq!(ledger.missed([2, 2]), 0);
    }

    #[test]
    fn what_is_overtaken_is_late_and_what_comes_again_is_doubled() {
        let mut ledger = Ledger::default();
        assert_eq!(note(&mut ledger, 0, 1), Arrival::InOrder);
        assert_eq!(ledger.missed([2, 0]), 1);
        assert_eq!(note(&mut ledger, 0, 0), Arrival::Late);
        assert_eq!(note(&mut ledger, 0, 0), Arrival::Doubled);
        assert_eq!(ledger.missed([2, 0]), 0);
    }

    #[test]
    fn what_never_comes_is_missed() {
        let mut ledger = Ledger::default();
        note(&mut ledger, 0, 2);
        assert_eq!(ledger.missed([4, 1]), 4);
    }
}
