//! The values of a form, as `application/x-www-form-urlencoded` has them.

use std::fmt;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The values that a form was sent with, or the query of an address.
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads values; `None` for what is not UTF-8, and for a NUL, which no value has and PostgreSQL
    /// does not take.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        eddyline_wire::forms::pairs(text).map(Self)
    }

    /// The first value of this name, empty when there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// All names and values, as they came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same, to keep.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().cloned()
    }

    /// All of it as the query of an address.
    pub(crate) fn encoded(&self) -> String {
        let encode = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
        let pairs = self
            .0
            .iter()
            .map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        pairs.collect::<Vec<_>>().join("&")
    }
}

impl FromIterator<(String, String)> for Form {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(pairs: T) -> Self {
        Self(pairs.into_iter().collect())
    }
}

/// Passwords are among the values.
impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded() {
        let form =
            Form::parse("email=ada%40acme.example&name=Ada+L%C3%B8v&empty=&flag&a=b=c".as_bytes())
                .unwrap();
        assert_eq!(form.get("email"), "ada@acme.example");
        assert_eq!(form.get("name"), "Ada Løv");
        assert_eq!(
            (form.get("empty"), form.get("flag"), form.get("none")),
            ("", "", "")
        );
        assert_eq!(form.get("a"), "b=c");
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for bad in [&b"a=%ff"[..], b"a=%00", b"\xff", b"a%00=1"] {
            assert!(Form::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn values_survive_being_written_as_a_query() {
        let text = "state=a%0Ab%0D%0A+%2B%26%3D%25%C3%B8&state=&%26=%23";
        let (form, odd) = (Form::parse(text.as_bytes()).unwrap(), "a\nb\r\n +&=%ø");
        let again = Form::parse(form.encoded().as_bytes()).unwrap();
        assert_eq!((form.get("state"), again.get("state")), (odd, odd));
        assert!(again.pairs().eq(form.pairs()));
        assert!(
            form.encoded().bytes().all(|byte| byte.is_ascii_graphic()),
            "{}",
            form.encoded()
        );
    }

    #[test]
    fn values_do_not_print() {
        let form = Form::parse(b"password=hunter2").unwrap();
        assert_eq!(format!("{form:?}"), "[\"password\"]");
    }
}
