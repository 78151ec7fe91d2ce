//! Texts of words that are used once, and the words that answers and events have.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes words that nothing else says.
#[derive(Default)]
pub(super) struct Words(AtomicUsize);

impl Words {
    /// A new word.
    pub(super) fn new_word(&self) -> String {
        format!("wq{}z", self.0.fetch_add(1, Ordering::Relaxed))
    }

    /// The number of the next word.
    pub(super) fn next(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// The words of a text, by their numbers.
pub(super) fn words_in(text: &str) -> BTreeSet<usize> {
    let pieces = text
        .split("wq")
        .skip(1)
        .filter_map(|rest| rest.split_once('z'));
    pieces
        .filter_map(|(number, _)| number.parse().ok())
        .collect()
}

#[test]
fn words_are_found_again() {
    let words = Words::default();
    let text = format!("a {}, #{}; b", words.new_word(), words.new_word());
    assert_eq!(words_in(&text), BTreeSet::from([0, 1]));
    assert_eq!((words.next(), words_in("wq wqz wq5")), (2, BTreeSet::new()));
}
