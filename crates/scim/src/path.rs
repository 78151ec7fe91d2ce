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
        Ok(Self {
            attribute: attribute.to_owned(),
            value: Literal::scan(scanner)?,
        })
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
        flag.map(Self::Boolean)
            .ok_or_else(|| "A value must be a JSON string, true or false".to_owned())
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
        Ok(Self {
            schema,
            attribute: attribute.to_owned(),
            filter,
            sub,
        })
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
    let begins = text
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("urn:"));
    begins && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether this is the name of an attribute (RFC 7643, section 2.1), or `$ref`.
fn is_name(text: &str) -> bool {
    let text = text.strip_prefix('$').unwrap_or(text);
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ENTERPRISE: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

    fn path(text: &str) -> Path {
        text.parse().expect(text)
    }

    #[test]
    fn attributes_stand_alone_and_with_their_parts() {
        let plain = path("userName");
        assert_eq!(
            (plain.schema(), plain.attribute(), plain.sub()),
            (None, "userName", None)
        );
        assert_eq!(plain.filter(), None);
        let part = path("name.givenName");
        assert_eq!((part.attribute(), part.sub()), ("name", Some("givenName")));
        assert_eq!(path("manager.$ref").sub(), Some("$ref"));
    }

    #[test]
    fn the_dots_and_colons_of_a_urn_belong_to_it() {
        let department = path(&format!("{ENTERPRISE}:department"));
        assert_eq!(department.schema(), Some(ENTERPRISE));
        assert_eq!(
            (department.attribute(), department.sub()),
            ("department", None)
        );

        let manager = path(&format!("{ENTERPRISE}:manager.value"));
        assert_eq!(
            (manager.schema(), manager.attribute()),
            (Some(ENTERPRISE), "manager")
        );
        assert_eq!(manager.sub(), Some("value"));

        let email = path(
            r#"URN:ietf:params:scim:schemas:core:2.0:User:emails[value eq "urn:a:b.c"].value"#,
        );
        assert_eq!(
            email.schema(),
            Some("URN:ietf:params:scim:schemas:core:2.0:User")
        );
        assert_eq!((email.attribute(), email.sub()), ("emails", Some("value")));
    }

    #[test]
    fn brackets_hold_conditions() {
        let email =
            path(r#"emails[Type EQ "work" AND primary eq True and value eq "a\"]@b"].value"#);
        let conditions: Vec<_> = email.filter().unwrap().conditions().iter().collect();
        assert_eq!(conditions.len(), 3);
        assert_eq!(conditions[0].value(), &Literal::Text("work".to_owned()));
        assert_eq!(conditions[1].value(), &Literal::Boolean(true));
        assert_eq!(conditions[2].value(), &Literal::Text("a\"]@b".to_owned()));
        assert_eq!(
            email.to_string(),
            r#"emails[Type eq "work" and primary eq true and value eq "a\"]@b"].value"#
        );
        let text = path(r#"roles[primary eq "True"]"#);
        let literal = text.filter().unwrap().conditions()[0].value();
        assert_eq!(
            (literal, text.sub()),
            (&Literal::Text("True".to_owned()), None)
        );
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in [
            "",
            " ",
            " userName",
            "userName ",
            "user name",
            "a.b.c",
            ".a",
            "a.",
            "1a",
            "é",
            "a:b",
            "urn:",
            "urn:a:",
            "urn:a:.b",
            "(a)",
            "a\"b\"",
            "a]",
            "a\0",
            "name.givenName[value eq \"a\"]",
            "emails[value eq \"a\"]value",
            "emails[value eq \"a\"].",
            "emails[value eq \"a\"].a.b",
            "emails[value eq \"a\"] ",
            "emails[value eq \"a\"][value eq \"a\"]",
            "urn:é:a",
        ] {
            let error = text.parse::<Path>().expect_err(text);
            assert_eq!(error.scim_type, ScimType::InvalidPath, "{text:?}");
        }
        let long = |bytes| "a".repeat(bytes);
        assert!(long(MAX_PATH).parse::<Path>().is_ok());
        let error = long(MAX_PATH + 1).parse::<Path>().unwrap_err();
        assert!(error.detail.chars().count() < 200);
    }

    #[test]
    fn what_brackets_cannot_hold_is_refused_as_a_filter() {
        for text in [
            "emails[]",
            "emails[",
            "emails[type]",
            "emails[type eq work]",
            "emails[type eq 7]",
            "emails[type eq null]",
            "emails[type eq \"work\"",
            "emails[type eq \"work\" value eq \"a\"]",
            "emails[type eq \"work\"and value eq \"a\"]",
            "emails[type eq \"work\" or type eq \"home\"]",
            "emails[not (type eq \"work\")]",
            "emails[type pr]",
            "emails[type ne \"work\"]",
            "emails[type.a eq \"work\"]",
            "emails[(type eq \"work\")]",
            "emails[value eq \"\\u0000\"]",
        ] {
            let error = text.parse::<Path>().expect_err(text);
            assert_eq!(error.scim_type, ScimType::InvalidFilter, "{text}");
        }
    }

    fn a_literal() -> impl Strategy<Value = String> {
        prop_oneof![
            "[^\0]{0,12}".prop_map(|text| serde_json::Value::from(text).to_string()),
            "true|FALSE|True".prop_map(String::from),
        ]
    }

    fn a_path() -> impl Strategy<Value = String> {
        let name = "[a-zA-Z][a-zA-Z0-9_-]{0,8}";
        let urn = "([uU][rR][nN]:([a-z0-9.]{1,9}:){1,3})?";
        let condition = (name, "[ ]{1,2}(eq|EQ)[ \t]{1,2}", a_literal());
        let condition = condition.prop_map(|(name, eq, literal)| format!("{name}{eq}{literal}"));
        let conditions = prop::collection::vec(condition, 0..3);
        (urn, name, conditions, prop::option::of(name)).prop_map(|(urn, name, conditions, sub)| {
            let sub = sub.map(|sub| format!(".{sub}")).unwrap_or_default();
            if conditions.is_empty() {
                return format!("{urn}{name}{sub}");
            }
            format!("{urn}{name}[{}]{sub}", conditions.join(" AND "))
        })
    }

    proptest! {
        #[test]
        fn a_path_is_read_again_as_it_was_written(text in a_path()) {
            let path: Path = text.parse().unwrap();
            prop_assert_eq!(path.to_string().parse::<Path>().unwrap(), path);
        }

        #[test]
        fn any_text_is_a_path_or_none(text in "([a-z:.$]{1,5}|[ \\[\\]()\"\\\\]| eq |urn:|\"a\"|\\PC){0,20}") {
            if let Ok(path) = text.parse::<Path>() {
                prop_assert_eq!(path.to_string().parse::<Path>(), Ok(path));
            }
        }
    }
}
