//! The words of filters and paths, one after the other.

/// What is wrong with a text, in plain words.
pub(crate) type Fault = String;

/// The operators that RFC 7644 has beside `eq`.
const OTHER_OPERATORS: &[&str] = &["ne", "co", "sw", "ew", "pr", "gt", "ge", "lt", "le"];

/// What is left of a text.
#[derive(Clone)]
pub(crate) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn is_at(&self, sign: char) -> bool {
        self.rest.starts_with(sign)
    }

    /// Passes over blanks, and tells whether there were any.
    pub(crate) fn blanks(&mut self) -> bool {
        let rest = self.rest.trim_start_matches([' ', '\t']);
        let any = rest.len() < self.rest.len();
        self.rest = rest;
        any
    }

    /// Passes over this sign, if it comes next.
    pub(crate) fn take(&mut self, sign: char) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// What comes before the next blank, bracket or quote; it may be empty.
    pub(crate) fn word(&mut self) -> &'a str {
        let end = self
            .rest
            .find([' ', '\t', '[', ']', '(', ')', '"'])
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// ` eq ` with the blanks around it.
    pub(crate) fn eq(&mut self) -> Result<(), Fault> {
        let apart = self.blanks();
        let operator = self.word();
        if OTHER_OPERATORS
            .iter()
            .any(|other| operator.eq_ignore_ascii_case(other))
        {
            return Err(format!(
                "The operator {operator} is not supported, only eq is"
            ));
        }
        if !(apart && operator.eq_ignore_ascii_case("eq") && self.blanks()) {
            return Err(
                "An attribute must be followed by eq and a value, with blanks between".to_owned(),
            );
        }
        Ok(())
    }

    /// A JSON string.
    pub(crate) fn string(&mut self) -> Result<String, Fault> {
        let fault = || "A value must be a JSON string in double quotes".to_owned();
        let end = end_of_string(self.rest).ok_or_else(fault)?;
        let (string, rest) = self.rest.split_at(end);
        let value: String = serde_json::from_str(string).map_err(|_| fault())?;
        if value.contains('\0') {
            return Err("A value must not contain a NUL character".to_owned());
        }
        self.rest = rest;
        Ok(value)
    }
}

/// The length of the JSON string that the text begins with, with both quotes.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.strip_prefix('"')?.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 2),
            _ => {}
        }
    }
    None
}
