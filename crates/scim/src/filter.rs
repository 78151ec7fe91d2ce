//! The filters that users are searched with (RFC 7644, section 3.4.2.2), as far as providers use
//! them: some attributes that equal some values.

use std::fmt;
use std::str::FromStr;

use crate::path::{Literal, ValueFilter};
use crate::scan::{Fault, Scanner};
use crate::{ScimError, ScimType, shown, without_user_schema};

/// The longest filter, in bytes.
pub const MAX_FILTER: usize = 2_000;
/// The most terms of a filter.
pub const MAX_TERMS: usize = 10;
/// How deep parentheses may be nested.
const MAX_DEPTH: usize = 10;

/// What users can be searched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// `userName`, which differs not by case.
    UserName,
    /// `externalId`, which differs by case.
    ExternalId,
    /// The one address that is kept: `emails`, `emails.value`, and the address for work.
    Email,
}

impl Attribute {
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
        [Self::UserName, Self::ExternalId, Self::Email].into_iter().find(|known| is(known.as_str()))
    }
}

/// An attribute and the value it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The attribute.
    pub attribute: Attribute,
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
        parse(text).map_err(|fault| ScimError::invalid(ScimType::InvalidFilter, "", fault))
    }
}

fn parse(text: &str) -> Result<Filter, Fault> {
    if text.len() > MAX_FILTER {
        return Err(format!("A filter must not be longer than {MAX_FILTER} bytes"));
    }
    let mut reading = Reading { scanner: Scanner::new(text), terms: Vec::new() };
    reading.conjunction(0)?;
    if !reading.scanner.is_done() {
        return Err("A parenthesis is closed that was not opened".to_owned());
    }
    Ok(Filter { terms: reading.terms })
}

struct Reading<'a> {
    scanner: Scanner<'a>,
    terms: Vec<Term>,
}

impl Reading<'_> {
    /// Terms joined by `and`, up to the end or a closing parenthesis, with blanks around.
    fn conjunction(&mut self, depth: usize) -> Result<(), Fault> {
        loop {
            self.scanner.blanks();
            if self.scanner.take('(') {
                self.parenthesis(depth + 1)?;
            } else {
                let term = self.term()?;
                self.push(term)?;
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
            return Err(format!("Parentheses must not be nested more than {MAX_DEPTH} deep"));
        }
        self.conjunction(depth)?;
        if self.scanner.take(')') { Ok(()) } else { Err("A parenthesis is not closed".to_owned()) }
    }

    fn push(&mut self, term: Term) -> Result<(), Fault> {
        if self.terms.len() == MAX_TERMS {
            return Err(format!("A filter must not have more than {MAX_TERMS} terms"));
        }
        self.terms.push(term);
        Ok(())
    }

    fn term(&mut self) -> Result<Term, Fault> {
        let word = self.scanner.word();
        if word.is_empty() {
            return Err("A filter must begin with an attribute".to_owned());
        }
        if word.eq_ignore_ascii_case("not") {
            return Err("not is not supported".to_owned());
        }
        let attribute = Attribute::of_name(without_user_schema(word));
        if attribute == Some(Attribute::Email) && self.scanner.take('[') {
            return self.email();
        }
        let attribute = attribute.ok_or_else(|| unsupported(word))?;
        self.scanner.eq()?;
        Ok(Term { attribute, value: self.scanner.string()? })
    }

    /// What stands behind `emails[`, where the value is either in the brackets or behind them.
    fn email(&mut self) -> Result<Term, Fault> {
        let mut value = None;
        for condition in ValueFilter::scan(&mut self.scanner)?.conditions() {
            let Literal::Text(text) = condition.value() else {
                return Err(format!("emails.{} is not supported in a filter", shown(condition.attribute())));
            };
            match condition.attribute().to_ascii_lowercase().as_str() {
                "type" if text.eq_ignore_ascii_case("work") => {}
                "type" => return Err("Only addresses of the type work are kept".to_owned()),
                "value" if value.is_none() => value = Some(text.clone()),
                "value" => return Err("An address is asked for by one value".to_owned()),
                other => return Err(unsupported(&format!("emails.{other}"))),
            }
        }
        let behind = self.scanner.word();
        let value = match value {
            Some(value) if behind.is_empty() => value,
            None if behind.eq_ignore_ascii_case(".value") => {
                self.scanner.eq()?;
                self.scanner.string()?
            }
            _ => return Err("emails must be asked for by one value".to_owned()),
        };
        Ok(Term { attribute: Attribute::Email, value })
    }
}

fn unsupported(attribute: &str) -> Fault {
    format!("{} is not supported in a filter, only userName, externalId and emails are", shown(attribute))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The terms as they are written, or what is wrong.
    fn read(text: &str) -> Result<String, String> {
        let filter = text.parse::<Filter>().map_err(|error| {
            assert_eq!((error.status, error.scim_type), (400, Some(ScimType::InvalidFilter)), "{text}");
            error.detail
        })?;
        Ok(filter.to_string())
    }

    #[test]
    fn the_filters_of_the_specification_and_their_relatives_are_read() {
        let urn = "urn:ietf:params:scim:schemas:core:2.0:User:";
        for (text, expected) in [
            (r#"userName eq "a@b""#, r#"userName eq "a@b""#),
            (r#"emails eq "a@b""#, r#"emails eq "a@b""#),
            (r#"externalId eq "00u1""#, r#"externalId eq "00u1""#),
            (r#"emails.value eq "a@b""#, r#"emails eq "a@b""#),
            (r#"emails[type eq "work"].value eq "a@b""#, r#"emails eq "a@b""#),
            (r#"emails[type eq "work" and value eq "a@b"]"#, r#"emails eq "a@b""#),
            (r#"emails[value eq "a@b" and type eq "work"]"#, r#"emails eq "a@b""#),
            (r#"emails[value eq "a@b"]"#, r#"emails eq "a@b""#),
            (r#"USERNAME EQ "A""#, r#"userName eq "A""#),
            (r#"Emails[Type Eq "Work"].VALUE eQ "a@b""#, r#"emails eq "a@b""#),
            (r#"userName eq """#, r#"userName eq """#),
            ("  userName \t eq   \"a\"  ", r#"userName eq "a""#),
            (r#"emails[ type  eq  "work" ].value eq "a@b""#, r#"emails eq "a@b""#),
            (r#"(userName eq "a")"#, r#"userName eq "a""#),
            (r#"( ( userName eq "a" ) and (emails eq "b") )"#, r#"userName eq "a" and emails eq "b""#),
            (
                r#"userName eq "a" AND externalId eq "b" and emails eq "c""#,
                r#"userName eq "a" and externalId eq "b" and emails eq "c""#,
            ),
            (r#"userName eq "and or ( [ ] )""#, r#"userName eq "and or ( [ ] )""#),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
            if text.starts_with(|first: char| first.is_alphabetic()) {
                let prefixed = format!("{urn}{text}");
                assert_eq!(read(&prefixed).as_deref(), Ok(expected), "{prefixed}");
                let prefixed = format!("{}{text}", urn.to_uppercase());
                assert_eq!(read(&prefixed).as_deref(), Ok(expected), "{prefixed}");
            }
        }
    }

    #[test]
    fn a_value_is_a_json_string_with_all_its_escapes() {
        let filter: Filter =
            r#"userName eq "\"\\\/\b\f\n\r\t\u00e9\uD83E\udda9 é🦩" and emails eq "x\\""#.parse().unwrap();
        let values: Vec<_> = filter.terms().iter().map(|term| term.value.as_str()).collect();
        assert_eq!(values, ["\"\\/\u{8}\u{c}\n\r\té🦩 é🦩", "x\\"]);
        for value in [
            "7",
            "true",
            "null",
            "'a'",
            "a",
            "",
            "\"",
            "\"a",
            "\"\\\"",
            "\"\\x\"",
            "\"\\uD83E\"",
            "\"\n\"",
            "[\"a\"]",
            "“a”",
        ] {
            let detail = read(&format!("userName eq {value}")).unwrap_err();
            let expected = "A value must be a JSON string in double quotes";
            if !value.is_empty() {
                assert_eq!(detail, expected, "{value}");
            }
        }
        for nul in ["\\u0000", "\0"] {
            assert!(read(&format!("userName eq \"a{nul}b\"")).is_err(), "{nul:?}");
        }
    }

    #[test]
    fn everything_else_is_refused_in_plain_words() {
        for (text, words) in [
            ("", "must begin with an attribute"),
            ("  ", "must begin with an attribute"),
            (r#"eq "a""#, "is not supported in a filter"),
            (r#"displayName eq "a""#, "displayName is not supported in a filter"),
            (r#"userName.value eq "a""#, "userName.value is not supported"),
            (r#"emails.type eq "work""#, "emails.type is not supported"),
            (r#"id eq "1""#, "id is not supported"),
            (r#"meta.created gt "2026""#, "meta.created is not supported"),
            ("userName", "followed by eq"),
            ("userName eq", "followed by eq"),
            (r#"userName"a""#, "followed by eq"),
            (r#"userName eq"a""#, "followed by eq"),
            (r#"userName == "a""#, "followed by eq"),
            ("userName pr", "The operator pr is not supported"),
            (r#"userName co "a""#, "The operator co is not supported"),
            (r#"userName SW "a""#, "The operator SW is not supported"),
            (r#"userName eq "a" or userName eq "b""#, "or is not supported"),
            (r#"not (userName eq "a")"#, "not is not supported"),
            (r#"not(userName eq "a")"#, "not is not supported"),
            (r#"userName eq "a" x"#, "followed by and"),
            (r#"userName eq "a" "b""#, "followed by and"),
            (r#"userName eq "a"and userName eq "b""#, "followed by and"),
            (r#"userName eq "a" and"#, "and must be followed"),
            (r#"userName eq "a" and "#, "must begin with an attribute"),
            (r#"(userName eq "a""#, "A parenthesis is not closed"),
            (r#"userName eq "a")"#, "closed that was not opened"),
            ("()", "must begin with an attribute"),
            (r#"emails[type eq "home"].value eq "a""#, "Only addresses of the type work"),
            (r#"emails[type eq "home" and value eq "a"]"#, "Only addresses of the type work"),
            (r#"emails[type eq "work"]"#, "by one value"),
            (r#"emails[type eq "work"].display eq "a""#, "by one value"),
            (r#"emails[type eq "work" and value eq "a" and value eq "b"]"#, "by one value"),
            (r#"emails[value eq "a"].value eq "b""#, "by one value"),
            (r#"emails[type eq "work" or value eq "a"]"#, "or is not supported"),
            (r#"emails[not (type eq "work")]"#, "not is not supported"),
            (r#"emails[type ne "work"].value eq "a""#, "The operator ne is not supported"),
            (r#"emails[primary eq true].value eq "a""#, "emails.primary is not supported"),
            (r#"emails[display eq "x"].value eq "a""#, "emails.display is not supported"),
            (r#"emails[type eq "work".value eq "a""#, "followed by and or by ]"),
            (r#"emails[].value eq "a""#, "must begin with an attribute"),
            (r#"emails.value[type eq "work"] eq "a""#, "by one value"),
            (r#"userName[type eq "work"] eq "a""#, "followed by eq"),
            (
                r#"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:userName eq "a""#,
                "is not supported",
            ),
            (r#"urn:ietf:params:scim:schemas:core:2.0:UseruserName eq "a""#, "is not supported"),
        ] {
            let detail = read(text).expect_err(text);
            assert!(detail.contains(words), "{text}: {detail}");
        }
    }

    #[test]
    fn the_bounds_hold() {
        let terms = |count: usize| vec![r#"userName eq "a""#; count].join(" and ");
        assert_eq!(terms(MAX_TERMS).parse::<Filter>().unwrap().terms().len(), MAX_TERMS);
        assert!(read(&terms(MAX_TERMS + 1)).unwrap_err().contains("10 terms"));

        let long = |bytes: usize| format!(r#"userName eq "{}""#, "x".repeat(bytes - 14));
        assert!(read(&long(MAX_FILTER)).is_ok());
        assert!(read(&long(MAX_FILTER + 1)).unwrap_err().contains("2000 bytes"));

        let deep = |depth| format!(r#"{}userName eq "a"{}"#, "(".repeat(depth), ")".repeat(depth));
        assert!(read(&deep(MAX_DEPTH)).is_ok());
        assert!(read(&deep(MAX_DEPTH + 1)).unwrap_err().contains("10 deep"));
        assert!(read(&deep(900)).is_err());
    }

    #[test]
    fn a_long_name_is_not_repeated_whole() {
        let detail = read(&format!(r#"{} eq "a""#, "é".repeat(900))).unwrap_err();
        assert!(detail.chars().count() < 200, "{detail}");
    }

    fn a_term() -> impl Strategy<Value = String> {
        let attribute = prop::sample::select(vec![
            "userName",
            "externalId",
            "emails",
            "Emails.Value",
            "emails[ type eq \"work\"].value",
            "urn:ietf:params:scim:schemas:core:2.0:User:userName",
        ]);
        (attribute, "[^\0]{0,20}", "[ \t]{1,3}").prop_map(|(attribute, value, blanks)| {
            format!("{attribute}{blanks}eq{blanks}{}", serde_json::Value::from(value))
        })
    }

    proptest! {
        #[test]
        fn a_filter_is_read_again_as_it_was_written(
            terms in prop::collection::vec(a_term(), 1..=MAX_TERMS),
            joint in "[ ]{1,2}(and|AND)[ ]{1,2}",
        ) {
            let text = terms.join(&joint);
            prop_assume!(text.len() <= MAX_FILTER);
            let filter: Filter = text.parse().unwrap();
            prop_assert_eq!(filter.terms().len(), terms.len());
            let written = filter.to_string();
            prop_assert!(written.len() <= text.len());
            prop_assert_eq!(written.parse::<Filter>().unwrap(), filter);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "([a-zA-Z:.]{1,9}|[ \\[\\]()\"\\\\]|eq|and|\"work\"|\\PC){0,30}") {
            if let Ok(filter) = text.parse::<Filter>() {
                prop_assert_eq!(filter.to_string().parse::<Filter>(), Ok(filter));
            }
        }
    }
}
