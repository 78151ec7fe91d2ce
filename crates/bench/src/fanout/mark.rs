//! What a message bears so that it is known again: who published it, as which of theirs, and when.

use std::sync::LazyLock;
use std::time::Duration;

use memchr::memmem;

/// A mark, written as `~P.SSSSSSSSS.NNNNNNNNNNNNNNNN~`, which is always of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Number of the publisher, one digit.
    pub(crate) publisher: usize,
    /// How many messages the publisher sent before.
    pub(crate) sequence: usize,
    /// When it was sent, since the beginning of this program's time.
    pub(crate) at: Duration,
}

/// What stands before a mark in a message. The thread of a message repeats its text under another
/// name, and that is not another message.
const BEFORE: &[u8] = br#""content":""#;
const LENGTH: usize = 30;
const SEQUENCE: std::ops::Range<usize> = 3..12;
const AT: std::ops::Range<usize> = 13..29;

impl Mark {
    /// Where a mark will stand.
    pub(crate) const PLACE: &str = "~0.000000000.0000000000000000~";

    /// Writes the mark over [`Mark::PLACE`] or an earlier mark.
    pub(crate) fn write(&self, place: &mut [u8]) {
        write_digits(&mut place[1..2], self.publisher as u64);
        write_digits(&mut place[SEQUENCE], self.sequence as u64);
        write_digits(&mut place[AT], self.at.as_nanos() as u64);
    }

    fn read(text: &[u8]) -> Option<Self> {
        if [text[0], text[2], text[12], text[29]] != *b"~..~" {
            return None;
        }
        Some(Self {
            publisher: digits(&text[1..2])? as usize,
            sequence: digits(&text[SEQUENCE])? as usize,
            at: Duration::from_nanos(digits(&text[AT])?),
        })
    }
}

fn write_digits(place: &mut [u8], mut number: u64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

fn digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0, |sum: u64, digit| {
        digit
            .is_ascii_digit()
            .then(|| sum * 10 + u64::from(digit - b'0'))
    })
}

/// Finds marks in bytes that come in pieces.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    /// The end of the last piece, where a mark may have begun.
    begun: Vec<u8>,
}

impl Finder {
    /// Calls `found` with the marks that end in this piece, in their order.
    pub(crate) fn look(&mut self, piece: &[u8], mut found: impl FnMut(Mark)) {
        if self.begun.is_empty() {
            let looked = find_whole(piece, &mut found);
            self.begun.extend_from_slice(&piece[looked..]);
        } else {
            self.begun.extend_from_slice(piece);
            let looked = find_whole(&self.begun, &mut found);
            self.begun.drain(..looked);
        }
    }
}

/// Finds the marks that are whole. Gives where to go on when there is more.
fn find_whole(text: &[u8], found: &mut impl FnMut(Mark)) -> usize {
    static FINDER: LazyLock<memmem::Finder<'static>> =
        LazyLock::new(|| memmem::Finder::new(BEFORE));
    let mut from = 0;
    while let Some(at) = FINDER.find(&text[from..]) {
        let start = from + at + BEFORE.len();
        let Some(mark) = text.get(start..start + LENGTH) else {
            return from + at;
        };
        match Mark::read(mark) {
            Some(mark) => {
                found(mark);
                from = start + LENGTH;
            }
            None => from = start,
        }
    }
    let longest = (BEFORE.len() - 1).min(text.len() - from);
    let begun = (1..=longest)
        .rev()
        .find(|&length| text.ends_with(&BEFORE[..length]));
    text.len() - begun.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(publisher: usize, sequence: usize, at: u64) -> Mark {
        Mark {
            publisher,
            sequence,
            at: Duration::from_nanos(at),
        }
    }

    fn frame(mark: Mark) -> String {
        let mut place = Mark::PLACE.as_bytes().to_vec();
        mark.write(&mut place);
        let text = String::from_utf8(place).unwrap();
        format!("id: 1\ndata: {{\"content\":\"{text} and more\",\"title\":\"{text}\"}}\n\n")
    }

    #[test]
    fn a_place_and_a_mark_are_of_one_length() {
        assert_eq!(Mark::PLACE.len(), LENGTH);
        assert_eq!(Mark::read(Mark::PLACE.as_bytes()), Some(mark(0, 0, 0)));
    }

    #[test]
    fn marks_are_found_once_each_however_the_bytes_are_split() {
        let marks = [
            mark(0, 7, 123_456_789),
            mark(1, 999_999_999, 1),
            mark(0, 8, 9_876_543_210_123),
        ];
        let text = marks
            .map(frame)
            .concat()
            .replace("id: 1", "data: {\"content\":\"none\"}\n\nid: 1");
        for piece in 1..=text.len() {
            let (mut finder, mut found) = (Finder::default(), Vec::new());
            text.as_bytes()
                .chunks(piece)
                .for_each(|bytes| finder.look(bytes, |mark| found.push(mark)));
            assert_eq!(found, marks, "in pieces of {piece}");
        }
    }
}
