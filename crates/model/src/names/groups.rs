//! Names of groups.

use std::fmt;
use std::str::FromStr;

use super::{InvalidName, Nick, checked_text, nick_key};

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
}
