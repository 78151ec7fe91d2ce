//! The numbers of the messages of a room. An archive's are kept, so they must leave numbers to the
//! messages that are posted afterwards.

use eddyline_model::MessageId;

/// The largest gap between the last record and the last number of a room, due to deleted messages.
const MAX_GAP: i64 = 1_000_000;
/// The highest last number: half of all stay free.
const MAX_LAST: i64 = MessageId::MAX.0 / 2;

/// Returns `true` if a room may be imported that states this last number, and whose last record has
/// that one. A room that may not is left out as a whole: with other numbers, everything that names
/// its messages would name other ones.
pub(super) fn fit(last: i64, last_record: i64) -> bool {
    (0..=MAX_LAST).contains(&last) && last - last_record.clamp(0, last) <= MAX_GAP
}

/// A count or a number of an archive, of something that a room has at most `last` of.
pub(super) fn bounded(number: i64, last: MessageId) -> i64 {
    number.clamp(0, last.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_keeps_numbers_for_new_messages() {
        for (last, last_record, fits) in [
            (0, 0, true),
            (5, 5, true),
            (MAX_GAP, 0, true),
            (MAX_GAP + 1, 0, false),
            (MAX_GAP + 1, 1, true),
            (MAX_LAST, MAX_LAST - MAX_GAP, true),
            (MAX_LAST, MAX_LAST - MAX_GAP - 1, false),
            (MAX_LAST, i64::MAX, true),
            (MAX_LAST + 1, MAX_LAST + 1, false),
            (i64::MAX, i64::MAX, false),
            (i64::MAX, i64::MIN, false),
            (MAX_GAP, i64::MIN, true),
            (-1, 0, false),
            (i64::MIN, i64::MIN, false),
        ] {
            assert_eq!(fit(last, last_record), fits, "{last} {last_record}");
        }
    }

    #[test]
    fn counts_are_those_of_what_a_room_may_have() {
        let last = MessageId(7);
        for (number, expected) in [(i64::MIN, 0), (-1, 0), (3, 3), (7, 7), (i64::MAX, 7)] {
            assert_eq!(bounded(number, last), expected);
        }
    }
}
