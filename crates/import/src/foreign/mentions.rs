//! Mentions in texts that name people by a nick.

use super::{GrowingText, mention};

/// The text with mentions of people by what the archive calls them. `known` gives what stands for a
/// nick, or `None` where no person has it.
pub(crate) fn with_mentions(text: &str, known: impl Fn(&str) -> Option<Mentioned>) -> GrowingText {
    let mut out = GrowingText::default();
    let mut rest = text;
    while let Some(at) = rest.find('@').filter(|_| !out.is_cut) {
        let is_word = rest[..at]
            .chars()
            .next_back()
            .is_some_and(char::is_alphanumeric);
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let end = rest.find(|c: char| !fits(c)).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('.');
        match known(name).filter(|_| !is_word) {
            Some(Mentioned::Everyone) => out.push_str("@everyone"),
            Some(Mentioned::Person(id)) => out.push_str(&mention(&id)),
            None => {
                out.push_str("@");
                out.push_str(name);
            }
        }
        rest = &rest[name.len()..];
    }
    out.push_str(rest);
    out
}

/// What a nick stands for.
pub(crate) enum Mentioned {
    Everyone,
    /// A person, by what the archive calls them.
    Person(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::bounds::MAX_TEXT;

    #[test]
    fn mentions_of_a_long_name_have_a_bound() {
        let long = "n".repeat(200);
        let person = |nick: &str| (nick == "u").then(|| Mentioned::Person(long.clone()));
        let named = with_mentions("a@u @u. @you", person);
        let ada = mention(&long);
        assert_eq!(named.text, format!("a@u {ada}. @you"));
        let named = with_mentions(&"@u ".repeat(100_000), person);
        assert!(named.is_cut && named.text.len() <= MAX_TEXT);
    }
}
