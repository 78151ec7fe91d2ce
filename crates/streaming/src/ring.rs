//! The newest entries of the log, in order, and filed by topic.
//!
//! Reading is by topic, so that a listener pays only for what it gets. For every topic the ring
//! remembers the newest entry it had to let go: a listener of a quiet room whose position the
//! ring has long left behind has missed nothing as long as nothing of its own topics was let go,
//! and need not ask the log.

use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap, VecDeque, vec_deque};
use std::sync::Arc;

use eddyline_model::{EventId, Seq};

use crate::entry::{Audience, Entry, SubscriptionFilter, Topic};

/// How many topics without entries and listeners are remembered for listeners that come back.
const REMEMBERED_TOPICS: usize = 16 * 1024;

pub(crate) struct Ring {
    head: EventId,
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
    topics: HashMap<Topic, Record>,
    /// Topics in the order in which they fell silent, with what they had let go by then.
    silent: VecDeque<(Topic, Seq)>,
    /// Of a topic without a record, nothing after this position was let go.
    horizon: Seq,
}

/// What the ring knows of one topic.
#[derive(Default)]
struct Record {
    entries: VecDeque<Arc<Entry>>,
    /// The newest position let go: up to it, only the log is complete.
    evicted: Seq,
    listeners: usize,
}

/// What a listener finds after its position.
pub(crate) enum RingRead {
    /// Entries of the ring, and the position they lead to.
    Entries {
        entries: Vec<Arc<Entry>>,
        cursor: Seq,
        complete: bool,
    },
    /// Something may be missing: the log has to be read up to this position.
    Below(Seq),
}

impl Ring {
    pub(crate) fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            head: EventId::default(),
            entries: VecDeque::new(),
            bytes: 0,
            max_entries,
            max_bytes,
            topics: HashMap::new(),
            silent: VecDeque::new(),
            horizon: Seq::default(),
        }
    }

    pub(crate) fn head(&self) -> EventId {
        self.head
    }

    /// The position of the oldest entry; beyond the head when there is none.
    pub(crate) fn start(&self) -> Seq {
        self.entries
            .front()
            .map_or(Seq(self.head.seq.0 + 1), |entry| entry.seq())
    }

    /// Forgets all entries and begins after `head`; up to it, listeners read the log.
    pub(crate) fn start_at(&mut self, head: EventId) {
        self.head = head;
        self.horizon = head.seq;
        self.entries.clear();
        self.bytes = 0;
        self.silent.clear();
        self.topics.retain(|_, record| record.listeners > 0);
        for record in self.topics.values_mut() {
            record.entries = VecDeque::new();
            record.evicted = head.seq;
        }
    }

    /// Appends an entry. It must stand after all others.
    pub(crate) fn push(&mut self, entry: Arc<Entry>) {
        for topic in entry.audience().topics() {
            self.record(topic).entries.push_back(Arc::clone(&entry));
        }
        self.bytes += entry.size();
        self.entries.push_back(entry);
    }

    /// Everything up to `head` has been pushed: lets the oldest go that are too many.
    pub(crate) fn advance(&mut self, head: EventId) {
        self.head = head;
        while self.entries.len() > self.max_entries || self.bytes > self.max_bytes {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.bytes -= oldest.size();
            for topic in oldest.audience().topics() {
                let record = self.record(topic);
                record.entries.pop_front();
                record.evicted = record.evicted.max(oldest.seq());
                if record.entries.is_empty() {
                    // Also gives the memory of a once busy room back.
                    record.entries = VecDeque::new();
                    self.fell_silent(topic);
                }
            }
        }
    }

    /// Puts another entry in the place of the one at this position, or takes it out. Both are for
    /// the same audience. A position that the ring does not hold is passed over.
    pub(crate) fn replace(&mut self, seq: Seq, with: Option<&Arc<Entry>>) {
        let Some(old) = put(&mut self.entries, seq, with) else {
            return;
        };
        debug_assert!(with.is_none_or(|with| with.audience() == old.audience()));
        self.bytes = self.bytes + with.map_or(0, |with| with.size()) - old.size();
        for topic in old.audience().topics() {
            let Some(record) = self.topics.get_mut(&topic) else {
                continue;
            };
            put(&mut record.entries, seq, with);
            if record.entries.is_empty() {
                self.fell_silent(topic);
            }
        }
    }

    /// Sends the listeners of an audience to the log for everything through this position.
    pub(crate) fn leave_to_log(&mut self, audience: &Audience, through: Seq) {
        if through == Seq::default() {
            return;
        }
        for topic in audience.topics() {
            let record = self.record(topic);
            record.evicted = record.evicted.max(through);
            // A record that nobody listens to is remembered with its new position.
            self.fell_silent(topic);
        }
    }

    pub(crate) fn add_listener(&mut self, filter: &SubscriptionFilter) {
        for topic in filter.topics() {
            self.add_listener_of(topic);
        }
    }

    pub(crate) fn add_listener_of(&mut self, topic: Topic) {
        self.record(topic).listeners += 1;
    }

    pub(crate) fn remove_listener(&mut self, topic: Topic) {
        self.record(topic).listeners -= 1;
        self.fell_silent(topic);
    }

    /// Whether `id` is one of this log. `None` when only the log itself can tell.
    pub(crate) fn verify(&self, id: EventId) -> Option<bool> {
        if id.seq <= Seq(0) {
            return Some(id == EventId::default());
        }
        if id.seq == self.head.seq {
            return Some(id == self.head);
        }
        let index = self
            .entries
            .binary_search_by_key(&id.seq, |entry| entry.seq())
            .ok()?;
        Some(self.entries[index].id() == Some(id))
    }

    /// What stands after `cursor` for `filter`, about `max_bytes` of it, but one entry at least.
    pub(crate) fn read(
        &self,
        filter: &SubscriptionFilter,
        cursor: Seq,
        max_bytes: usize,
    ) -> RingRead {
        let mut evicted = cursor;
        let mut tails = BinaryHeap::new();
        for topic in filter.topics() {
            let Some(record) = self.topics.get(&topic) else {
                continue;
            };
            let after = cursor.max(filter.since(topic));
            if record.evicted > after {
                evicted = evicted.max(record.evicted);
            }
            let start = record.entries.partition_point(|entry| entry.seq() <= after);
            tails.extend(Tail::new(record.entries.range(start..)));
        }
        if evicted > cursor {
            return RingRead::Below(evicted);
        }
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let mut bytes = 0;
        while let Some(mut tail) = tails.peek_mut() {
            // An entry that is for several of the filter's topics comes from each in turn.
            if entries
                .last()
                .is_none_or(|last| last.seq() < tail.first.seq())
            {
                if bytes >= max_bytes {
                    let cursor = entries.last().map_or(cursor, |last| last.seq());
                    return RingRead::Entries {
                        entries,
                        cursor,
                        complete: false,
                    };
                }
                bytes += tail.first.size();
                entries.push(Arc::clone(tail.first));
            }
            match tail.rest.next() {
                Some(next) => tail.first = next,
                None => drop(PeekMut::pop(tail)),
            }
        }
        // A listener may know more than this node does: its position never goes back.
        RingRead::Entries {
            entries,
            cursor: cursor.max(self.head.seq),
            complete: true,
        }
    }

    fn record(&mut self, topic: Topic) -> &mut Record {
        let evicted = self.horizon;
        self.topics.entry(topic).or_insert_with(|| Record {
            evicted,
            ..Record::default()
        })
    }

    /// Remembers a topic that has neither entries nor listeners, and forgets the one that has
    /// been silent for longest when there are too many.
    fn fell_silent(&mut self, topic: Topic) {
        let Some(record) = self.topics.get(&topic).filter(|record| record.is_silent()) else {
            return;
        };
        self.silent.push_back((topic, record.evicted));
        if self.silent.len() <= REMEMBERED_TOPICS {
            return;
        }
        if let Some((oldest, evicted)) = self.silent.pop_front()
            && self
                .topics
                .get(&oldest)
                .is_some_and(|r| r.is_silent() && r.evicted == evicted)
        {
            self.topics.remove(&oldest);
            self.horizon = self.horizon.max(evicted);
        }
    }
}

/// Replaces the entry at a position of a list, or takes it out; gives the one that stood there.
fn put(
    entries: &mut VecDeque<Arc<Entry>>,
    seq: Seq,
    with: Option<&Arc<Entry>>,
) -> Option<Arc<Entry>> {
    let index = entries
        .binary_search_by_key(&seq, |entry| entry.seq())
        .ok()?;
    match with {
        Some(with) => Some(std::mem::replace(&mut entries[index], Arc::clone(with))),
        None => entries.remove(index),
    }
}

impl Record {
    fn is_silent(&self) -> bool {
        self.entries.is_empty() && self.listeners == 0
    }
}

/// The unread entries of one topic; the one with the earliest entry is the greatest in a heap.
struct Tail<'a> {
    first: &'a Arc<Entry>,
    rest: vec_deque::Iter<'a, Arc<Entry>>,
}

impl<'a> Tail<'a> {
    fn new(mut rest: vec_deque::Iter<'a, Arc<Entry>>) -> Option<Self> {
        Some(Self {
            first: rest.next()?,
            rest,
        })
    }
}

impl Ord for Tail<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.first.seq().cmp(&self.first.seq())
    }
}

impl PartialOrd for Tail<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Tail<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Tail<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use eddyline_model::{RoomId, UserId};

    const PLENTY: usize = 1 << 20;

    fn id(seq: i64) -> EventId {
        EventId {
            seq: Seq(seq),
            check: seq as u32,
        }
    }

    fn ring_of(max_entries: usize, rooms: &[i64]) -> Ring {
        let mut ring = Ring::new(max_entries, PLENTY);
        for (seq, room) in (1..).zip(rooms) {
            ring.push(Arc::new(Entry::new(
                id(seq),
                Audience::Room(RoomId(*room)),
                b"{}",
            )));
            ring.advance(id(seq));
        }
        ring
    }

    fn rooms(rooms: &[i64]) -> SubscriptionFilter {
        SubscriptionFilter::new(rooms.iter().copied().map(RoomId).collect(), None)
    }

    fn read(ring: &Ring, filter: &SubscriptionFilter, cursor: i64) -> Result<(Vec<i64>, i64), i64> {
        match ring.read(filter, Seq(cursor), PLENTY) {
            RingRead::Entries {
                entries, cursor, ..
            } => Ok((entries.iter().map(|e| e.seq().0).collect(), cursor.0)),
            RingRead::Below(Seq(through)) => Err(through),
        }
    }

    #[test]
    fn the_entries_of_several_rooms_come_in_the_order_of_the_log() {
        let ring = ring_of(10, &[1, 2, 3, 1, 2]);
        assert_eq!(read(&ring, &rooms(&[1, 2]), 0), Ok((vec![1, 2, 4, 5], 5)));
        assert_eq!(read(&ring, &rooms(&[1, 2]), 4), Ok((vec![5], 5)));
        assert_eq!(read(&ring, &rooms(&[9]), 0), Ok((vec![], 5)));
    }

    #[test]
    fn an_entry_for_several_topics_of_a_listener_comes_once() {
        let mut ring = ring_of(10, &[1]);
        let audience = Audience::Many {
            rooms: [RoomId(1), RoomId(2), RoomId(1)].into(),
            users: [UserId(1)].into(),
        };
        ring.push(Arc::new(Entry::new(id(2), audience, b"{}")));
        ring.advance(id(2));
        assert_eq!(
            read(
                &ring,
                &SubscriptionFilter::new(vec![RoomId(1), RoomId(2)], Some(UserId(1))),
                0
            ),
            Ok((vec![1, 2], 2))
        );
    }

    #[test]
    fn only_a_listener_who_missed_something_of_its_own_is_sent_to_the_log() {
        let ring = ring_of(2, &[1, 2, 2, 3, 3]);
        assert_eq!(read(&ring, &rooms(&[1]), 0), Err(1));
        assert_eq!(read(&ring, &rooms(&[1]), 1), Ok((vec![], 5)));
        assert_eq!(read(&ring, &rooms(&[1, 2]), 1), Err(3));
        assert_eq!(read(&ring, &rooms(&[3]), 0), Ok((vec![4, 5], 5)));
    }

    #[test]
    fn what_was_before_the_start_is_in_the_log_only() {
        let mut ring = Ring::new(10, PLENTY);
        ring.add_listener(&rooms(&[1]));
        ring.start_at(id(7));
        assert_eq!(read(&ring, &rooms(&[1]), 6), Err(7));
        ring.add_listener(&rooms(&[2]));
        assert_eq!(read(&ring, &rooms(&[2]), 6), Err(7));
        assert_eq!(read(&ring, &rooms(&[2]), 7), Ok((vec![], 7)));
    }

    #[test]
    fn a_ring_of_few_bytes_lets_go_by_size() {
        let mut ring = Ring::new(10, 100);
        for seq in 1..=5 {
            ring.push(Arc::new(Entry::new(
                id(seq),
                Audience::Room(RoomId(1)),
                b"{}",
            )));
        }
        ring.advance(id(5));
        assert_eq!(read(&ring, &rooms(&[1]), 0), Err(3));
        assert_eq!(ring.bytes, 2 * 44);
    }

    #[test]
    fn forgotten_topics_are_taken_to_have_let_go_up_to_the_horizon() {
        let topics = REMEMBERED_TOPICS as i64;
        let all: Vec<i64> = (1..=topics + 10).collect();
        let ring = ring_of(1, &all);
        assert_eq!(ring.silent.len(), REMEMBERED_TOPICS);
        assert_eq!(ring.topics.len(), REMEMBERED_TOPICS + 1);
        let mut ring = ring;
        ring.add_listener(&rooms(&[1]));
        assert_eq!(
            read(&ring, &rooms(&[1]), 0),
            Err(ring.horizon.0),
            "nobody remembers"
        );
        assert_eq!(
            read(&ring, &rooms(&[topics]), topics),
            Ok((vec![], topics + 10)),
            "remembered"
        );
    }

    #[test]
    fn the_ring_vouches_for_ids_that_it_holds() {
        let ring = ring_of(2, &[1, 1, 1]);
        let with_check = |seq, check| EventId {
            seq: Seq(seq),
            check,
        };
        assert_eq!(ring.verify(with_check(0, 0)), Some(true), "the beginning");
        assert_eq!(ring.verify(with_check(0, 1)), Some(false));
        assert_eq!(ring.verify(with_check(2, 2)), Some(true));
        assert_eq!(ring.verify(with_check(2, 3)), Some(false));
        assert_eq!(ring.verify(with_check(3, 3)), Some(true));
        assert_eq!(ring.verify(with_check(1, 1)), None, "let go");
        assert_eq!(
            ring.verify(with_check(9, 9)),
            None,
            "perhaps known to another node"
        );
    }
}
