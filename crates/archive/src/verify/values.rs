//! Counting the values of a text in JSON, which takes no memory.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Returns `true` for a text with so many values at most, a list and an object among them.
///
/// # Errors
///
/// That of a text that cannot be read to its end, so that nothing is known of it.
pub(super) fn has_at_most(values: u64, json: &[u8]) -> serde_json::Result<bool> {
    let left = Cell::new(values);
    let mut read = serde_json::Deserializer::from_slice(json);
    match (Values { left: &left }).deserialize(&mut read) {
        Ok(()) => Ok(true),
        Err(_) if left.get() == 0 => Ok(false),
        Err(error) => Err(error),
    }
}

#[derive(Clone, Copy)]
struct Values<'c> {
    left: &'c Cell<u64>,
}

impl Values<'_> {
    fn one<E: Error>(self) -> Result<(), E> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(E::custom("there are too many values")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        self.one()?;
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while fields.next_key::<serde::de::IgnoredAny>()?.is_some() {
            fields.next_value_seed(self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_objects_and_what_they_have_are_counted() {
        for (json, count) in [
            ("7", 1),
            ("[]", 1),
            (r#"["", null, true, -1, 1.5]"#, 6),
            (r#"{"a": {"b": ["c"]}, "d": 1}"#, 5),
        ] {
            assert!(has_at_most(count, json.as_bytes()).unwrap(), "{json}");
            assert!(!has_at_most(count - 1, json.as_bytes()).unwrap(), "{json}");
        }
    }

    #[test]
    fn what_hides_values_is_refused() {
        let deep = format!(
            r#"{{"x":{}{},"y":[0,0]}}"#,
            "[".repeat(1000),
            "]".repeat(1000)
        );
        for json in ["[1, 2", &*deep] {
            assert!(has_at_most(10_000, json.as_bytes()).is_err(), "{json}");
        }
    }
}
