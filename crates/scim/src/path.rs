//! Paths of attributes, as a PATCH has them (RFC 7644, section 3.5.2):
//! `name.givenName`, `emails[type eq "work"].value`, and both with the URN of a schema before them.

use std::fmt;
use std::str::FromStr;

use crate::scan::{Fault, Scanner};
use crate::values::boolean_of_text;
use crate::{ScimError, ScimType, shown};

/// The longest path, in bytes.
pub const MAX_PATH: usize = 500;

/// The path of an attribute.
///
/// Names are kept as they were written and compared without case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    schema: Option<String>,
    attribute: String,
    filter: Option<ValueFilter>,
    sub: Option<String>,
}

impl Path {
    /// The URN of the schema before the attribute.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// The attribute.
    #[must_use]
    pub fn attribute(&self) -> &str {
        &self.attribute
    }

    /// Which of the attribute's values are meant.
    #[must_use]
    pub fn filter(&self) -> Option<&ValueFilter> {
        self.filter.as_ref()
    }

    /// The part of the attribute.
    #[must_use]
    pub fn sub(&self) -> Option<&str> {
        self.sub.as_deref()
    }
}

/// The conditions in the brackets of a path, of which all must hold. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueFilter {
    conditions: Vec<Condition>,
}

impl ValueFilter {
    /// The conditions, in their order.
    #[must_use]
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Reads what stands behind an opening bracket, and the closing one.
    pub(crate) fn scan(scanner: &mut Scanner<'_>) -> Result<Self, Fault> {
        let mut conditions = Vec::new();
        loop {
            conditions.push(Condition::scan(scanner)?);
            let apart = scanner.blanks();
            if scanner.take(']') {
                return Ok(Self { conditions });
            }
            let word = scanner.word();
            if word.eq_ignore_ascii_case("or") {
                return Err("or is not supported, only and is".to_owned());
            }
            if !(apart && word.eq_ignore_ascii_case("and") && scanner.blanks()) {
                return Err("A condition in brackets must be followed by and or by ]".to_owned());
            }
        }
    }
}

/// One condition in brackets: that a part of the attribute equals a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    attribute: String,
    value: Literal,
}

impl Condition {
    /// Which part.
    #[must_use]
    pub fn attribute(&self) -> &str {
        &self.attribute
    }

    /// What it equals.
    #[must_use]
    pub fn value(&self) -> &Literal {
        &self.value
    }

    fn scan(scanner: &mut Scanner<'_>) -> Result<Self, Fault> {
        scanner.blanks();
        let attribute = scanner.word();
        if attribute.eq_ignore_ascii_case("not") {
            return Err("not is not supported".to_owned());
        }
        if !is_name(attribute) {
            return Err("The brackets must begin with an attribute".to_owned());
        }
        scanner.eq()?;
        Ok(Self { attribute: attribute.to_owned(), value: Literal::scan(scanner)? })
    }
}

/// What a condition compares with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// A text.
    Text(String),
    /// `true` or `false`, without quotes.
    Boolean(bool),
}

impl Literal {
    fn scan(scanner: &mut Scanner<'_>) -> Result<Self, Fault> {
        if scanner.is_at('"') {
            return scanner.string().map(Self::Text);
        }
        let flag = boolean_of_text(scanner.word());
        flag.map(Self::Boolean).ok_or_else(|| "A value must be a JSON string, true or false".to_owned())
    }
}

impl FromStr for Path {
    type Err = ScimError;

    /// Reads a path of at most [`MAX_PATH`] bytes.
    ///
    /// # Errors
    ///
    /// [`ScimType::InvalidPath`], or [`ScimType::InvalidFilter`] when it is the part in brackets.
    fn from_str(text: &str) -> Result<Self, ScimError> {
        let invalid = || {
            ScimError::invalid(
                ScimType::InvalidPath,
                "",
                format!("{:?} is no path of an attribute", shown(text)),
            )
        };
        if text.len() > MAX_PATH {
            return Err(invalid());
        }
        let mut scanner = Scanner::new(text);
        let (schema, names) = without_urn(scanner.word());
        let (attribute, mut sub) = match names.split_once('.') {
            Some((attribute, sub)) => (attribute, Some(sub)),
            None => (names, None),
        };
        let mut filter = None;
        if sub.is_none() && scanner.take('[') {
            let wrong = |fault| ScimError::invalid(ScimType::InvalidFilter, "", fault);
            filter = Some(ValueFilter::scan(&mut scanner).map_err(wrong)?);
            sub = match scanner.word() {
                "" => None,
                word => Some(word.strip_prefix('.').ok_or_else(invalid)?),
            };
        }
        let names_hold = is_name(attribute) && sub.is_none_or(is_name) && schema.is_none_or(is_urn);
        if !(scanner.is_done() && names_hold) {
            return Err(invalid());
        }
        let (schema, sub) = (schema.map(str::to_owned), sub.map(str::to_owned));
        Ok(Self { schema, attribute: attribute.to_owned(), filter, sub })
    }
}

/// A URN has colons and dots itself, so its end is the last colon.
fn without_urn(word: &str) -> (Option<&str>, &str) {
    match word.rsplit_once(':') {
        Some((urn, names)) if is_urn(urn) => (Some(urn), names),
        _ => (None, word),
    }
}

fn is_urn(text: &str) -> bool {
    let begins = text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("urn:"));
    begins && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether this is the name of an attribute (RFC 7643, section 2.1), or `$ref`.
fn is_name(text: &str) -> bool {
    let text = text.strip_prefix('$').unwrap_or(text);
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{schema}:")?;
        }
        f.write_str(&self.attribute)?;
        if let Some(filter) = &self.filter {
            write!(f, "[{filter}]")?;
        }
        match &self.sub {
            Some(sub) => write!(f, ".{sub}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ValueFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, condition) in self.conditions.iter().enumerate() {
            let joint = if at == 0 { "" } else { " and " };
            write!(f, "{joint}{} eq {}", condition.attribute, condition.value)?;
        }
        Ok(())
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A text is displayed as JSON.
            Self::Text(text) => serde_json::Value::from(text.as_str()).fmt(f),
            Self::Boolean(flag) => flag.fmt(f),
        }
    }
}
