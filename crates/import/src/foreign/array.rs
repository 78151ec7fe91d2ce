//! Records of a JSON array that is too long for memory, one by one.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, Read};

use serde::Deserializer as _;
use serde::de::{self, DeserializeOwned, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Error, ImportReport, LeftOutKind, Result};

/// The most bytes of a record.
const MAX_RECORD: u64 = 4 << 20;

/// Gives each record of an entry, which is an array, to a function. Those that cannot be read are
/// left out.
///
/// # Errors
///
/// [`Error::Unfit`] for an entry that is no array of records that are short enough, after the
/// records before that were given.
pub(crate) fn each_record<T: DeserializeOwned>(
    (name, entry): (&str, impl Read),
    report: &mut ImportReport,
    take: &mut dyn FnMut(&mut ImportReport, T) -> Result<()>,
) -> Result<()> {
    let mut place = 0_u64;
    each_element((name, entry), &mut |element| {
        place += 1;
        if let Ok(record) = serde_json::from_str(element.get()) {
            return take(report, record);
        }
        let which = format!("{name}, record {place}");
        report.leave_out(LeftOutKind::UnreadableRecord, which);
        Ok(())
    })
}

fn each_element(
    (name, entry): (&str, impl Read),
    take: &mut dyn FnMut(&RawValue) -> Result<()>,
) -> Result<()> {
    let left = Cell::new(MAX_RECORD);
    let bounded = Bounded {
        inner: BufReader::with_capacity(64 * 1024, entry),
        left: &left,
    };
    let mut failure = None;
    let elements = Elements {
        take: &mut |element| {
            left.set(MAX_RECORD);
            take(element).map_err(|error| failure = Some(error))
        },
    };
    let read = serde_json::Deserializer::from_reader(bounded).deserialize_seq(elements);
    match (failure, read) {
        (Some(failure), _) => Err(failure),
        (None, Err(_)) if left.get() == 0 => Err(Error::Unfit(format!(
            "{} has a record that is longer than {} MiB",
            name.escape_debug(),
            MAX_RECORD >> 20
        ))),
        (None, Err(error)) if error.is_io() => Err(Error::Io(error.into())),
        (None, Err(error)) => Err(Error::Unfit(format!(
            "{} is no list of records in JSON: {error}",
            name.escape_debug()
        ))),
        (None, Ok(())) => Ok(()),
    }
}

/// Bytes of which only so many are left for a record.
struct Bounded<'c, R> {
    inner: R,
    left: &'c Cell<u64>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let most = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let read = self.inner.read(&mut buffer[..most])?;
        self.left.set(left - read as u64);
        Ok(read)
    }
}

struct Elements<'t> {
    take: &'t mut dyn FnMut(&RawValue) -> std::result::Result<(), ()>,
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> std::result::Result<(), A::Error> {
        while let Some(element) = elements.next_element::<Box<RawValue>>()? {
            (self.take)(&element).map_err(|()| de::Error::custom("ended"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(array: &str) -> Result<Vec<String>> {
        let mut elements = Vec::new();
        each_element(("a.json", array.as_bytes()), &mut |element| {
            elements.push(element.get().to_owned());
            Ok(())
        })?;
        Ok(elements)
    }

    #[test]
    fn elements_come_one_by_one() {
        assert_eq!(
            elements(r#"[{"a": [1]}, "b"]"#).unwrap(),
            [r#"{"a": [1]}"#, r#""b""#]
        );
        assert!(elements("[]").unwrap().is_empty());
    }

    #[test]
    fn what_is_no_array_is_refused() {
        for bad in ["", "{}", "[1", "[1,]", "[1] 2 ["] {
            let outcome = elements(bad);
            assert!(outcome.is_err() || bad.starts_with("[1] "), "{bad}");
        }
    }

    #[test]
    fn records_that_cannot_be_read_are_left_out() {
        let (mut report, mut numbers) = (ImportReport::default(), Vec::<u8>::new());
        let array = &br#"[1, "two", 300, 4]"#[..];
        let mut take = |_: &mut ImportReport, number| {
            numbers.push(number);
            Ok(())
        };
        each_record(("days.json", array), &mut report, &mut take).unwrap();
        assert_eq!(numbers, [1, 4]);
        let left_out = &report.left_out[0];
        assert_eq!(
            (left_out.count, &*left_out.first),
            (2, "days.json, record 2")
        );
    }

    #[test]
    fn a_record_has_a_bound_and_the_array_has_none() {
        let long = format!("\"{}\"", "a".repeat(MAX_RECORD as usize - 3));
        let many = format!("[{long},{long},{long}]");
        assert_eq!(elements(&many).unwrap().len(), 3);
        let endless = io::Read::chain(&b"[\""[..], io::repeat(b'a'));
        let error = each_element(("a.json", endless), &mut |_| Ok(())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.json has a record that is longer than 4 MiB"
        );
    }

    #[test]
    fn the_name_of_an_entry_moves_no_cursor() {
        let long = b"[".repeat(MAX_RECORD as usize + 1);
        for array in [&b"[1"[..], &long] {
            let error = each_element(("\x1b]0;owned\x07.json", array), &mut |_| Ok(()));
            let said = error.unwrap_err().to_string();
            assert!(!said.contains(char::is_control), "{said:?}");
            assert!(said.starts_with("\\u{1b}]0;owned\\u{7}.json "), "{said}");
        }
    }

    #[test]
    fn a_failure_of_the_taker_ends_it() {
        let array = ("a.json", &b"[1,2]"[..]);
        let error = each_element(array, &mut |_| Err(Error::NoRoomForFiles)).unwrap_err();
        assert!(matches!(error, Error::NoRoomForFiles));
    }
}
