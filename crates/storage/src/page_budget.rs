//! Lists of messages and threads end where they are long enough: at a number of entries or of
//! bytes.

use eddyline_model::messages::Sort;

/// How many bytes a list may have, and with which end of it the counting begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageBudget {
    pub(crate) bytes: usize,
    pub(crate) sort: Sort,
}

impl PageBudget {
    /// Takes away what the budget has no room for, given entries in ascending order and what each
    /// weighs. One entry stays.
    pub(crate) fn cut<T>(self, entries: &mut Vec<T>, weight: impl Fn(&T) -> usize) {
        let mut left = self.bytes;
        let mut fits = |entry: &T| {
            let fits = weight(entry) <= left;
            left = left.saturating_sub(weight(entry));
            fits
        };
        match self.sort {
            Sort::Ascending => {
                let kept = entries.iter().take_while(|entry| fits(entry)).count();
                entries.truncate(kept.max(1));
            }
            Sort::Descending => {
                let kept = entries.iter().rev().take_while(|entry| fits(entry)).count();
                entries.drain(..entries.len().saturating_sub(kept.max(1)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(bytes: usize, sort: Sort) -> Vec<usize> {
        let mut entries = vec![3, 4, 5];
        PageBudget { bytes, sort }.cut(&mut entries, |entry| *entry);
        entries
    }

    #[test]
    fn a_budget_has_room_for_what_it_says_and_for_one_entry_in_any_case() {
        assert_eq!(cut(12, Sort::Ascending), [3, 4, 5]);
        assert_eq!(cut(11, Sort::Ascending), [3, 4]);
        assert_eq!(cut(12, Sort::Descending), [3, 4, 5]);
        assert_eq!(cut(11, Sort::Descending), [4, 5]);
        assert_eq!(cut(8, Sort::Descending), [5]);
        assert_eq!(
            (cut(0, Sort::Ascending), cut(0, Sort::Descending)),
            (vec![3], vec![5])
        );
    }
}
