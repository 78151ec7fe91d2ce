//! Mentions in texts: nicks of the archive become ids of its people, and these become nicks and names
//! of users.

use super::{GrowingText, MENTION, mention};
use crate::authority::Participant;

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

/// A text in which ids of people are replaced by the nicks of their users, or by their names. `find`
/// gives the person with an id.
pub(super) fn with_nicks<'p>(
    text: &str,
    find: impl Fn(&str) -> Option<&'p Participant>,
) -> GrowingText {
    let mut named = GrowingText::default();
    for (place, piece) in text.split(MENTION).enumerate() {
        if named.is_cut {
            break;
        }
        if place % 2 == 0 {
            named.push_str(piece);
            continue;
        }
        match find(piece) {
            Some(participant) if participant.user().is_some() => {
                named.push_str("@");
                named.push_str(participant.nick());
            }
            Some(participant) => named.push_str(participant.name()),
            None => named.push_str(piece),
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use eddyline_model::UserId;

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

    #[test]
    fn ids_of_people_become_nicks_and_names_up_to_a_bound() {
        let (user, named) = (
            Participant::of_test(Some(UserId(1))),
            Participant::of_test(None),
        );
        let find = |person: &str| match person {
            "u" => Some(&user),
            "n" => Some(&named),
            _ => None,
        };
        let [ada, bob, eve] = ["u", "n", "e"].map(mention);
        let text = with_nicks(&format!("a {ada}, {bob} and {eve}."), find);
        assert_eq!(text.text, "a @somebody, somebody and e.");
        assert!(!text.is_cut);
        // The text that names them is shorter than the bound.
        let many = ada.repeat(MAX_TEXT / ada.len());
        let text = with_nicks(&many, find);
        assert!(text.is_cut && text.text.len() <= MAX_TEXT);
    }
}
