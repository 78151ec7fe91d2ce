//! Mentions in texts that name people by a nick.

use super::mention;

/// The text with mentions of people by what the archive calls them. `known` gives what stands for a
/// nick, or `None` where no person has it.
pub(crate) fn with_mentions(text: &str, known: impl Fn(&str) -> Option<Mentioned>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('@') {
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
                out.push('@');
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
