//! Names of groups.

use std::fmt;
use std::str::FromStr;

use super::{InvalidName, MAX_NICK, Nick, checked_text, is_ignorable, is_nick_char, nick_key};

/// The name of a group, written after an `@` to mention its members: a [`Nick`] with something in
/// it besides the digits 0 to 9, since a tag names users by their numbers and groups by their
/// names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupName(String);

checked_text!(GroupName);

impl GroupName {
    /// The key under which the name is unique, among names of groups and nicks alike; see
    /// [`nick_key`].
    #[must_use]
    pub fn key(&self) -> String {
        nick_key(&self.0)
    }

    /// The name for a group that is called this elsewhere, with spaces for instance: the label
    /// itself where it is a name, and otherwise what a name may hold of it, with `-` for the rest,
    /// and with `group-` before a word that names everyone and before a number.
    ///
    /// ```
    /// use eddyline_model::names::GroupName;
    ///
    /// let name = |label| GroupName::of_label(label).map(GroupName::into_string);
    /// assert_eq!(name("On Call: Europe").as_deref(), Ok("On-Call-Europe"));
    /// assert_eq!(name("Everyone").as_deref(), Ok("group-Everyone"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidName::Blank`] for a label of which nothing is left.
    pub fn of_label(label: &str) -> Result<Self, InvalidName> {
        if let Ok(name) = label.parse() {
            return Ok(name);
        }
        let words = label.split(|c| !is_nick_char(c)).map(|word| {
            let shown = word.chars().filter(|c| !is_ignorable(*c));
            shown.collect::<String>()
        });
        let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            return Err(InvalidName::Blank);
        }
        let name = words.join("-");
        let shortened = |name: &str| name.chars().take(MAX_NICK).collect::<String>().parse();
        shortened(&name).or_else(|_| shortened(&format!("group-{name}")))
    }
}

impl FromStr for GroupName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let name = text.parse::<Nick>()?;
        if name.key().bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidName::Number);
        }
        Ok(Self(name.into_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_called_as_people_are() {
        for good in [
            "team",
            " Ops ",
            "on-call",
            "4th",
            "v2.0",
            "チーム",
            "²",
            &"é".repeat(40),
        ] {
            let name: GroupName = good.parse().expect(good);
            assert_eq!(name.as_str(), good.trim());
        }
        assert_eq!(
            "Ops".parse::<GroupName>().map(|name| name.key()),
            Ok("ops".to_owned())
        );
        for (bad, why) in [
            ("", InvalidName::Blank),
            ("two words", InvalidName::NotMentionable),
            ("a@b", InvalidName::NotMentionable),
            ("a:b", InvalidName::NotMentionable),
            ("All", InvalidName::Reserved),
            ("everyone", InvalidName::Reserved),
            ("te\u{200b}am", InvalidName::Invisible),
        ] {
            assert_eq!(bad.parse::<GroupName>(), Err(why), "{bad:?}");
        }
        assert_eq!(
            "é".repeat(41).parse::<GroupName>(),
            Err(InvalidName::TooLong(40))
        );
    }

    #[test]
    fn a_group_is_not_called_by_a_number() {
        for number in ["7", "007", "99999999999999999999"] {
            assert_eq!(
                number.parse::<GroupName>(),
                Err(InvalidName::Number),
                "{number}"
            );
        }
    }

    #[test]
    fn a_label_makes_a_name() {
        let long = "Engineering ".repeat(9);
        for (label, name) in [
            ("team", "team"),
            (" Ops ", "Ops"),
            ("Engineering Team", "Engineering-Team"),
            ("a@b.example, c", "a-b.example-c"),
            ("R&D / Berlin", "R&D-/-Berlin"),
            ("All", "group-All"),
            ("@everyone", "group-everyone"),
            ("2026", "group-2026"),
            ("te\u{200b}am", "te-am"),
            ("Équipe été", "Équipe-été"),
            (&long, "Engineering-Engineering-Engineering-Engi"),
        ] {
            let made = GroupName::of_label(label).expect(label);
            assert_eq!(made.as_str(), name, "{label:?}");
            assert_eq!(GroupName::of_label(made.as_str()), Ok(made), "a name stays");
        }
        for label in ["", " ", "@@", ": ,", "\u{200b}"] {
            assert_eq!(
                GroupName::of_label(label),
                Err(InvalidName::Blank),
                "{label:?}"
            );
        }
    }
}
