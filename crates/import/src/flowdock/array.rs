//! Elements of a JSON array that is too long for memory, one by one.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, Read};

use serde::Deserializer as _;
use serde::de::{self, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Error, Result};

/// The most bytes of an element.
const MAX_ELEMENT: u64 = 8 << 20;

/// Gives each element of an array to a function.
pub(super) fn each_element(
    array: impl Read,
    take: &mut dyn FnMut(&RawValue) -> Result<()>,
) -> Result<()> {
    let left = Cell::new(MAX_ELEMENT);
    let bounded = Bounded {
        inner: BufReader::with_capacity(64 * 1024, array),
        left: &left,
    };
    let mut failure = None;
    let elements = Elements {
        take: &mut |element| {
            left.set(MAX_ELEMENT);
            take(element).map_err(|error| failure = Some(error))
        },
    };
    let read = serde_json::Deserializer::from_reader(bounded).deserialize_seq(elements);
    match (failure, read) {
        (Some(failure), _) => Err(failure),
        (None, Err(error)) if error.is_io() => Err(Error::Io(error.into())),
        (None, Err(error)) => Err(Error::Unfit(format!(
            "messages.json is no list of messages in JSON: {error}"
        ))),
        (None, Ok(())) => Ok(()),
    }
}

/// Bytes of which only so many are left for an element.
struct Bounded<'c, R> {
    inner: R,
    left: &'c Cell<u64>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            let text = format!("a message is longer than {} MiB", MAX_ELEMENT >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
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
        let mut found = Vec::new();
        each_element(array.as_bytes(), &mut |element| {
            found.push(element.get().to_owned());
            Ok(())
        })?;
        Ok(found)
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
    fn an_element_has_a_bound_and_the_array_has_none() {
        let long = format!("\"{}\"", "a".repeat(6 << 20));
        let many = format!("[{long},{long},{long}]");
        assert_eq!(elements(&many).unwrap().len(), 3);
        let endless = io::Read::chain(&b"[\""[..], io::repeat(b'a'));
        let error = each_element(endless, &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "a message is longer than 8 MiB");
    }

    #[test]
    fn a_failure_of_the_taker_ends_it() {
        let error = each_element(&b"[1,2]"[..], &mut |_| Err(Error::NoRoomForFiles)).unwrap_err();
        assert!(matches!(error, Error::NoRoomForFiles));
    }
}
