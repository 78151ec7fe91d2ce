//! Turns by weight: of several lines, the one that was served least is next.

use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, Entry};

/// An item that is served for as much as it weighs.
pub(crate) trait Weighted {
    /// The cost of serving it.
    fn weight(&self) -> u64;
}

/// A source of items, from which the next one can be taken.
pub(crate) trait Line {
    type Item: Weighted;

    /// Takes out what is next; `None` when nothing waits.
    fn take_next(&mut self) -> Option<Self::Item>;
}

impl<T: Weighted> Line for VecDeque<T> {
    type Item = T;

    fn take_next(&mut self) -> Option<T> {
        self.pop_front()
    }
}

/// Lines by their keys, which take turns. Each has been served up to a mark, and the line with the
/// lowest mark is next (start-time fair queueing). A new line begins at the mark of the line that
/// was served last, so it waits for no more than one turn of each other. A line that has nothing
/// more keeps its mark until the others have come as far, so that asking for one thing after the
/// other gives no more than asking for all at once.
#[derive(Debug)]
pub(crate) struct Turns<K, L> {
    by_key: BTreeMap<K, (Mark, L)>,
    order: BTreeMap<Mark, K>,
    /// The weight at which the last turn began.
    now: u64,
    marks: u64,
}

/// The weight that a line has been served, and a number that tells apart lines that were served
/// alike.
type Mark = (u64, u64);

impl<K, L> Default for Turns<K, L> {
    fn default() -> Self {
        Self {
            by_key: BTreeMap::new(),
            order: BTreeMap::new(),
            now: 0,
            marks: 0,
        }
    }
}

impl<K: Copy + Ord, L: Default> Turns<K, L> {
    /// The line of a key.
    pub(crate) fn line(&mut self, key: K) -> &mut L {
        let (_, line) = match self.by_key.entry(key) {
            Entry::Occupied(present) => present.into_mut(),
            Entry::Vacant(place) => {
                self.marks += 1;
                let mark = (self.now, self.marks);
                self.order.insert(mark, key);
                place.insert((mark, L::default()))
            }
        };
        line
    }

    /// Counts this weight as served for a key, if the key is not forgotten. Returns its line.
    pub(crate) fn charge(&mut self, key: K, weight: u64) -> Option<&mut L> {
        let (mark, line) = self.by_key.get_mut(&key)?;
        self.order.remove(mark);
        self.marks += 1;
        *mark = (mark.0.saturating_add(weight), self.marks);
        self.order.insert(*mark, key);
        Some(line)
    }

    fn remove(&mut self, key: K) {
        if let Some((mark, _)) = self.by_key.remove(&key) {
            self.order.remove(&mark);
        }
    }
}

impl<K: Copy + Ord, L: Line + Default> Turns<K, L> {
    /// Takes out what is next in the line of a key, which is served for it.
    pub(crate) fn take_of(&mut self, key: K) -> Option<L::Item> {
        let (_, line) = self.by_key.get_mut(&key)?;
        let item = line.take_next()?;
        self.charge(key, item.weight());
        Some(item)
    }
}

impl<K: Copy + Ord, L: Line + Default> Line for Turns<K, L> {
    type Item = L::Item;

    fn take_next(&mut self) -> Option<L::Item> {
        while let Some((mark, key)) = self.order.first_key_value() {
            let key = *key;
            self.now = mark.0;
            let item = self.take_of(key);
            if item.is_some() {
                return item;
            }
            self.remove(key);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq)]
    struct Item(char, u64);

    impl Weighted for Item {
        fn weight(&self) -> u64 {
            self.1
        }
    }

    type Lines = Turns<char, VecDeque<Item>>;

    fn add(turns: &mut Lines, key: char, weights: &[u64]) {
        let items = weights.iter().map(|weight| Item(key, *weight));
        turns.line(key).extend(items);
    }

    fn order(turns: &mut Lines, count: usize) -> String {
        std::iter::from_fn(|| turns.take_next())
            .take(count)
            .map(|item| item.0)
            .collect()
    }

    #[test]
    fn lines_take_turns() {
        let mut turns = Lines::default();
        add(&mut turns, 'a', &[1; 3]);
        add(&mut turns, 'b', &[1; 2]);
        assert_eq!(order(&mut turns, 9), "ababa");
    }

    #[test]
    fn what_is_heavy_counts_for_as_many_turns() {
        let mut turns = Lines::default();
        add(&mut turns, 'a', &[4; 3]);
        add(&mut turns, 'b', &[1; 9]);
        assert_eq!(order(&mut turns, 12), "abbbbabbbbab");
    }

    #[test]
    fn who_comes_later_waits_for_one_turn_and_has_nothing_saved_up() {
        let mut turns = Lines::default();
        add(&mut turns, 'a', &[1; 100]);
        assert_eq!(order(&mut turns, 50).len(), 50);
        add(&mut turns, 'b', &[1; 3]);
        assert_eq!(order(&mut turns, 8), "bababaaa");
    }

    #[test]
    fn who_asks_for_one_thing_after_the_other_has_no_more_than_its_turns() {
        let mut turns = Lines::default();
        add(&mut turns, 'b', &[1; 9]);
        let mut served = String::new();
        for _ in 0..3 {
            add(&mut turns, 'a', &[3]);
            served += &order(&mut turns, 3);
        }
        assert_eq!(served, "babbabbba");
    }

    #[test]
    fn what_a_turn_cost_may_be_known_later() {
        let mut turns = Lines::default();
        add(&mut turns, 'a', &[1; 2]);
        add(&mut turns, 'b', &[1; 4]);
        assert_eq!(order(&mut turns, 1), "a");
        turns.charge('a', 2);
        assert_eq!(order(&mut turns, 9), "bbbab");
        assert!(turns.charge('a', 1).is_none(), "nothing is kept of it");
    }

    #[test]
    fn lines_are_forgotten_when_the_others_have_come_as_far() {
        let mut turns = Lines::default();
        for key in 'a'..='z' {
            add(&mut turns, key, &[5]);
        }
        assert_eq!(order(&mut turns, 99).len(), 26);
        assert!(turns.by_key.is_empty() && turns.order.is_empty());
    }
}
