//! The filters that users are searched with (RFC 7644, section 3.4.2.2), as far as providers use
//! them: some attributes that equal some values.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::path::{Literal, ValueFilter};
use crate::scan::{Fault, Scanner};
use crate::{ScimError, ScimType, USER_SCHEMA, shown, without_schema};

/// The longest filter, in bytes.
pub const MAX_FILTER: usize = 2_000;
/// The most terms of a filter.
pub const MAX_TERMS: usize = 10;
/// How deep parentheses may be nested.
const MAX_DEPTH: usize = 10;

/// What users can be searched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterAttribute {
    /// `userName`, to be compared without case.
    UserName,
    /// `externalId`, to be compared with case.
    ExternalId,
    /// The one address that is kept, to be compared without case: `emails`, `emails.value`, and the
    /// address for work.
    Email,
}

impl FilterAttribute {
    /// The shortest way to write it.
    fn as_str(self) -> &'static str {
        match self {
            Self::UserName => "userName",
            Self::ExternalId => "externalId",
            Self::Email => "emails",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("emails.value") {
            return Some(Self::Email);
        }
        [Self::UserName, Self::ExternalId, Self::Email]
            .into_iter()
            .find(|known| is(known.as_str()))
    }
}

/// An attribute and the value it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The attribute.
    pub attribute: FilterAttribute,
    /// The value, without NUL.
    pub value: String,
}

/// A filter: terms that must all hold, at least one.
///
/// It is written in its shortest form:
///
/// ```
/// use eddyline_scim::Filter;
///
/// let filter: Filter = r#"Emails[type EQ "work"].value eq "a@b" AND userName eq "ada""#.parse()?;
/// assert_eq!(filter.to_string(), r#"emails eq "a@b" and userName eq "ada""#);
/// # Ok::<(), eddyline_scim::ScimError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    terms: Vec<Term>,
}

impl Filter {
    /// The terms in their order, 1 to [`MAX_TERMS`].
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }
}

impl FromStr for Filter {
    type Err = ScimError;

    /// Reads a filter of at most [`MAX_FILTER`] bytes: `userName`, `externalId`, `emails`,
    /// `emails.value`, `emails[type eq "work"].value` with `eq` and a JSON string, or
    /// `emails[type eq "work" and value eq "…"]`; joined by `and`, with or without parentheses and
    /// the URN of the schema of users before attributes. Case counts only in values.
    ///
    /// # Errors
    ///
    /// [`ScimType::InvalidFilter`] says what is not supported.
    fn from_str(text: &str) -> Result<Self, ScimError> {
        match terms(text, Term::scan) {
            Ok(terms) => Ok(Self { terms }),
            Err(fault) => Err(ScimError::invalid(ScimType::InvalidFilter, "", fault)),
        }
    }
}

/// The terms of a filter, of which `scan` reads one.
pub(crate) fn terms<T>(
    text: &str,
    scan: fn(&mut Scanner<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    if text.len() > MAX_FILTER {
        return Err(format!(
            "A filter must not be longer than {MAX_FILTER} bytes"
        ));
    }
    let mut reading = Reading {
        scanner: Scanner::new(text),
        scan,
        terms: Vec::new(),
    };
    reading.conjunction(0)?;
    if !reading.scanner.is_done() {
        return Err("A parenthesis is closed that was not opened".to_owned());
    }
    Ok(reading.terms)
}

struct Reading<'a, T> {
    scanner: Scanner<'a>,
    scan: fn(&mut Scanner<'_>) -> Result<T, Fault>,
    terms: Vec<T>,
}

impl<T> Reading<'_, T> {
    /// Terms joined by `and`, up to the end or a closing parenthesis, with blanks around.
    fn conjunction(&mut self, depth: usize) -> Result<(), Fault> {
        loop {
            self.scanner.blanks();
            if self.scanner.take('(') {
                self.parenthesis(depth + 1)?;
            } else {
                self.term()?;
            }
            let apart = self.scanner.blanks();
            if self.scanner.is_done() || self.scanner.is_at(')') {
                return Ok(());
            }
            let word = self.scanner.word();
            if word.eq_ignore_ascii_case("or") {
                return Err("or is not supported, only and is".to_owned());
            }
            if !(apart && word.eq_ignore_ascii_case("and")) {
                return Err("A term must be followed by and or by nothing".to_owned());
            }
            if !self.scanner.blanks() {
                return Err("and must be followed by a blank and another term".to_owned());
            }
        }
    }

    fn parenthesis(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(format!(
                "Parentheses must not be nested more than {MAX_DEPTH} deep"
            ));
        }
        self.conjunction(depth)?;
        if self.scanner.take(')') {
            Ok(())
        } else {
            Err("A parenthesis is not closed".to_owned())
        }
    }

    fn term(&mut self) -> Result<(), Fault> {
        if self.terms.len() == MAX_TERMS {
            return Err(format!(
                "A filter must not have more than {MAX_TERMS} terms"
            ));
        }
        match self.scanner.clone().word() {
            "" => return Err("A filter must begin with an attribute".to_owned()),
            word if word.eq_ignore_ascii_case("not") => {
                return Err("not is not supported".to_owned());
            }
            _ => {}
        }
        let term = (self.scan)(&mut self.scanner)?;
        self.terms.push(term);
        Ok(())
    }
}

impl Term {
    /// Reads an attribute, `eq` and a value.
    fn scan(scanner: &mut Scanner<'_>) -> Result<Self, Fault> {
        let word = scanner.word();
        let name = without_schema(USER_SCHEMA, word);
        if name.eq_ignore_ascii_case("emails") && scanner.take('[') {
            return Self::email(scanner);
        }
        let attribute = FilterAttribute::of_name(name).ok_or_else(|| unsupported(word))?;
        scanner.eq()?;
        Ok(Self {
            attribute,
            value: scanner.string()?,
        })
    }

    /// What stands behind `emails[`, where the value is either in the brackets or behind them.
    fn email(scanner: &mut Scanner<'_>) -> Result<Self, Fault> {
        let mut value = None;
        for condition in ValueFilter::scan(scanner)?.conditions() {
            let Literal::Text(text) = condition.value() else {
                return Err(format!(
                    "emails.{} is not supported in a filter",
                    shown(condition.attribute())
                ));
            };
            match condition.attribute().to_ascii_lowercase().as_str() {
                "type" if text.eq_ignore_ascii_case("work") => {}
                "type" => return Err("Only addresses of the type work are kept".to_owned()),
                "value" if value.is_none() => value = Some(text.clone()),
                "value" => return Err("An address is asked for by one value".to_owned()),
                other => return Err(unsupported(&format!("emails.{other}"))),
            }
        }
        let behind = scanner.word();
        let value = match value {
            Some(value) if behind.is_empty() => value,
            None if behind.eq_ignore_ascii_case(".value") => {
                scanner.eq()?;
                scanner.string()?
            }
            _ => return Err("An address is asked for by one value".to_owned()),
        };
        Ok(Self {
            attribute: FilterAttribute::Email,
            value,
        })
    }
}

fn unsupported(attribute: &str) -> Fault {
    format!(
        "{} is not supported in a filter, only userName, externalId and emails are",
        shown(attribute)
    )
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.terms.iter().enumerate() {
            let joint = if at == 0 { "" } else { " and " };
            let value = serde_json::Value::from(term.value.as_str());
            write!(f, "{joint}{} eq {value}", term.attribute.as_str())?;
        }
        Ok(())
    }
}
