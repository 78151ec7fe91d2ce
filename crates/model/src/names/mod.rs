//! Names that people choose: of flows and organizations, nicks, and e-mail addresses.
//!
//! Each type here holds a name that has been checked once, at the edge. Names are compared by
//! keys ([`nick_key`], [`email_key`]), which are what a store keeps unique; they are shown as
//! they were typed.

use std::fmt;
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;

pub use self::domain::{Domain, domain_of};
pub use self::email::{Email, MAX_EMAIL, email_key};
pub(crate) use self::email::{is_unseen, trim_unseen};
pub use self::groups::GroupName;
pub use self::nicks::nick_candidates;
pub use self::parameterize::{MAX_PARAMETERIZED, parameterize, parameterized_candidates};
pub use self::unseen::is_ignorable;
pub use self::website::{MAX_WEBSITE, Website};

mod domain;
mod email;
mod groups;
mod nicks;
mod parameterize;
mod unseen;
mod website;

/// The longest name of a flow, in characters (specification, section 8).
pub const MAX_FLOW_NAME: usize = 100;
/// The longest nick, in characters.
pub const MAX_NICK: usize = 40;

/// The words that address everybody in a flow. Nobody can take one as a nick.
pub const EVERYONE: [&str; 5] = ["everyone", "everybody", "all", "anyone", "anybody"];

/// Why a name was refused. The text is fit to stand beside the field's name in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// Nothing but white space.
    #[error("can't be blank")]
    Blank,
    /// More characters (Unicode scalar values) than the limit.
    #[error("is too long (maximum is {0} characters)")]
    TooLong(
        /// The limit.
        usize,
    ),
    /// A NUL or another control character.
    #[error("can't contain control characters")]
    ControlCharacter,
    /// A character that is not seen and that the spelling of its neighbours does not need, or one
    /// that turns the direction of writing.
    #[error("can't contain invisible characters")]
    Invisible,
    /// A nick with a character that would keep others from writing it after an `@`.
    #[error("can't contain spaces, @, comma or colon")]
    NotMentionable,
    /// A nick that means everybody.
    #[error("is reserved")]
    Reserved,
    /// The name of a group that would be taken for the number of a user.
    #[error("can't be a number")]
    Number,
    /// Not the domain of e-mail addresses; see [`Domain`].
    #[error("is not a domain, such as example.com")]
    NotADomain,
    /// Not an e-mail address; see [`Email`].
    #[error("is not a valid e-mail address")]
    NotAnAddress,
    /// Not the address of a page; see [`Website`].
    #[error("must begin with http:// or https:// and name a host")]
    NotAPage,
}

macro_rules! checked_text {
    ($name:ident) => {
        impl $name {
            /// The text as it was typed, without white space around it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text, handed over.
            #[must_use]
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

use checked_text;

/// The name of a flow: 1 to [`MAX_FLOW_NAME`] characters of any script.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FlowName(String);

checked_text!(FlowName);

impl FromStr for FlowName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let name = trimmed(text, MAX_FLOW_NAME)?;
        check_visible(name)?;
        Ok(Self(name.to_owned()))
    }
}

/// The name of a user or an organization, without white space around it. It is only ever read, and
/// the rules are those of a [`FlowName`].
///
/// # Errors
///
/// What is wrong with it.
pub fn display_name(text: &str) -> Result<String, InvalidName> {
    text.parse::<FlowName>().map(FlowName::into_string)
}

/// A nick: 1 to [`MAX_NICK`] characters, written after an `@` to address its bearer.
///
/// White space, `@`, `,` and `:` are refused, and so are the words of [`EVERYONE`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nick(String);

checked_text!(Nick);

impl Nick {
    /// The key under which the nick is unique and found; see [`nick_key`].
    #[must_use]
    pub fn key(&self) -> String {
        nick_key(&self.0)
    }
}

impl FromStr for Nick {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let nick = trimmed(text, MAX_NICK)?;
        check_visible(nick)?;
        if !nick.chars().all(is_nick_char) {
            return Err(InvalidName::NotMentionable);
        }
        if EVERYONE.contains(&nick_key(nick).as_str()) {
            return Err(InvalidName::Reserved);
        }
        Ok(Self(nick.to_owned()))
    }
}

/// What two nicks have in common that differ only in case, in how their accents are encoded, or in
/// characters that are not seen.
#[must_use]
pub fn nick_key(nick: &str) -> String {
    let mut key = String::with_capacity(nick.len());
    write_key(nick, &mut key);
    key
}

/// Appends the key of `text`, so that a caller with many texts can keep one buffer.
pub(crate) fn write_key(text: &str, key: &mut String) {
    if text.is_ascii() {
        let start = key.len();
        key.push_str(text);
        key[start..].make_ascii_lowercase();
    } else {
        fold(text.chars().filter(|c| !is_ignorable(*c)), key);
    }
}

/// Appends what texts have in common that differ only in case or in how their accents are encoded.
fn fold(text: impl Iterator<Item = char>, key: &mut String) {
    // A capital sigma does not tell which of the two small ones it stands for.
    let lower = text
        .nfc()
        .flat_map(char::to_lowercase)
        .map(|c| if c == 'ς' { 'σ' } else { c });
    key.extend(lower.nfc());
}

/// Whether a nick may hold this character.
pub(crate) fn is_nick_char(c: char) -> bool {
    // Joiners belong to the spelling of some scripts.
    let joiner = matches!(c, '\u{200c}' | '\u{200d}');
    !(c.is_control() || (is_unseen(c) && !joiner) || matches!(c, '@' | '＠' | ',' | ':'))
}

/// [`is_nick_char`] for a byte of ASCII.
pub(crate) fn is_ascii_nick_char(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'@' | b',' | b':')
}

/// Checks that a name shows what it holds.
fn check_visible(name: &str) -> Result<(), InvalidName> {
    if unseen::has_misplaced(name) {
        return Err(InvalidName::Invisible);
    }
    if unseen::shows_anything(name) {
        Ok(())
    } else {
        Err(InvalidName::Blank)
    }
}

/// A name under which a message is sent that is none of a user's.
///
/// # Errors
///
/// What is wrong with it.
pub fn check_external_name(name: &str) -> Result<(), InvalidName> {
    if name.chars().any(char::is_control) {
        return Err(InvalidName::ControlCharacter);
    }
    check_visible(name)
}

fn trimmed(text: &str, limit: usize) -> Result<&str, InvalidName> {
    let text = trim_unseen(text);
    if text.is_empty() {
        return Err(InvalidName::Blank);
    }
    if text.chars().nth(limit).is_some() {
        return Err(InvalidName::TooLong(limit));
    }
    if text.chars().any(char::is_control) {
        return Err(InvalidName::ControlCharacter);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_byte_is_judged_as_its_character() {
        for byte in 0..=127 {
            assert_eq!(
                is_ascii_nick_char(byte),
                is_nick_char(byte.into()),
                "{byte}"
            );
        }
    }

    /// Shows: 2.5
    #[test]
    fn a_flow_name_has_1_to_100_characters_of_any_script() {
        for good in [
            "a",
            "  Main flow ",
            "日本語のフロー",
            "🚀",
            &"é".repeat(100),
            "../<b>'\"%",
        ] {
            let name: FlowName = good.parse().expect(good);
            assert_eq!(name.as_str(), good.trim());
        }
        assert_eq!("".parse::<FlowName>(), Err(InvalidName::Blank));
        assert_eq!(" \u{2003}\t".parse::<FlowName>(), Err(InvalidName::Blank));
        assert_eq!(
            "é".repeat(101).parse::<FlowName>(),
            Err(InvalidName::TooLong(100))
        );
        assert_eq!(
            "a\0b".parse::<FlowName>(),
            Err(InvalidName::ControlCharacter)
        );
        assert_eq!(
            "a\nb".parse::<FlowName>(),
            Err(InvalidName::ControlCharacter)
        );
    }

    #[test]
    fn users_and_organizations_are_named_as_flows_are() {
        assert_eq!(
            display_name("  Ada Lovelace "),
            Ok("Ada Lovelace".to_owned())
        );
        assert_eq!(display_name(" \u{200b} "), Err(InvalidName::Blank));
        assert_eq!(
            display_name(&"é".repeat(101)),
            Err(InvalidName::TooLong(100))
        );
    }

    #[test]
    fn an_error_reads_well_after_a_field_name() {
        assert_eq!(InvalidName::Blank.to_string(), "can't be blank");
        assert_eq!(
            InvalidName::TooLong(100).to_string(),
            "is too long (maximum is 100 characters)"
        );
    }

    #[test]
    fn a_nick_can_be_written_after_an_at_sign() {
        for good in [
            "bob",
            "J.R",
            "foo-bar",
            "O'Neil",
            "田中",
            "12345",
            "[bot]",
            " trimmed ",
        ] {
            assert!(good.parse::<Nick>().is_ok(), "{good:?}");
        }
        for bad in ["two words", "a@b", "a,b", "a:b", "a\u{a0}b"] {
            assert_eq!(
                bad.parse::<Nick>(),
                Err(InvalidName::NotMentionable),
                "{bad:?}"
            );
        }
        assert_eq!(
            "a\u{7}b".parse::<Nick>(),
            Err(InvalidName::ControlCharacter)
        );
        assert_eq!(
            "n".repeat(41).parse::<Nick>(),
            Err(InvalidName::TooLong(40))
        );
        assert_eq!("".parse::<Nick>(), Err(InvalidName::Blank));
    }

    #[test]
    fn what_nobody_sees_makes_no_name() {
        assert_eq!("\u{200b}\u{feff} ".parse::<Nick>(), Err(InvalidName::Blank));
        assert_eq!("\u{2067}".parse::<FlowName>(), Err(InvalidName::Blank));
        assert_eq!(
            "\u{2067}ada\u{200b}"
                .parse::<Nick>()
                .map(|nick| nick.to_string()),
            Ok("ada".to_owned())
        );
        assert_eq!("a\u{200b}da".parse::<Nick>(), Err(InvalidName::Invisible));
        assert_eq!("\u{3164}".parse::<Nick>(), Err(InvalidName::Invisible));
        assert_eq!(
            "\u{115f}\u{1160}".parse::<FlowName>(),
            Err(InvalidName::Invisible)
        );
        assert_eq!("\u{2800}".parse::<FlowName>(), Err(InvalidName::Blank));
        assert!(
            "می\u{200c}خواهم".parse::<Nick>().is_ok(),
            "a joiner is part of the spelling"
        );
    }

    #[test]
    fn nothing_in_a_name_turns_the_direction_of_writing_or_hides() {
        for bad in [
            "Ada\u{202e}ecalevoL",
            "\u{2066}Ada\u{2069} L",
            "A\u{200b}da",
            "Ada\u{2028}Lovelace",
        ] {
            assert_eq!(display_name(bad), Err(InvalidName::Invisible), "{bad:?}");
            assert_eq!(
                check_external_name(bad),
                Err(InvalidName::Invisible),
                "{bad:?}"
            );
        }
        assert_eq!(
            check_external_name("Ada\nLovelace"),
            Err(InvalidName::ControlCharacter)
        );
        assert_eq!(check_external_name("\u{2800} "), Err(InvalidName::Blank));
        for good in [
            "Ada Lovelace",
            "می\u{200c}خواهم",
            "\u{5d3}\u{5d5}\u{5d3} Cohen",
            "👩🏽\u{200d}🚀 Ada",
        ] {
            assert_eq!(display_name(good).as_deref(), Ok(good));
            assert_eq!(check_external_name(good), Ok(()));
        }
    }

    #[test]
    fn nobody_is_called_everyone() {
        for word in ["everyone", "Everybody", "ALL", "anyone", "anybody"] {
            assert_eq!(word.parse::<Nick>(), Err(InvalidName::Reserved), "{word}");
        }
        assert!("allan".parse::<Nick>().is_ok());
    }

    #[test]
    fn nicks_are_equal_in_any_case_and_encoding() {
        assert_eq!(nick_key("BoB"), "bob");
        assert_eq!(nick_key("Zoe\u{308}"), nick_key("ZOË"));
        assert_eq!(nick_key("ΟΔΟΣ"), nick_key("οδος"));
        assert_ne!(
            nick_key("zoe"),
            nick_key("zoë"),
            "an accent makes another name"
        );
    }

    #[test]
    fn nicks_are_equal_whatever_they_hold_that_is_not_seen() {
        for same in [
            "a\u{200d}da",
            "ad\u{200c}a",
            "ada\u{34f}",
            "ada\u{fe0f}",
            "ada\u{115f}",
            "ada\u{3164}",
            "\u{2066}ada\u{200b}",
        ] {
            assert_eq!(nick_key(same), "ada", "{same:?}");
        }
        assert_eq!(
            nick_key("zoe\u{34f}\u{308}"),
            nick_key("zoë"),
            "accents are composed without them"
        );
        assert_eq!(nick_key("می\u{200c}خواهم"), nick_key("میخواهم"));
    }

    proptest! {
        #[test]
        fn the_key_of_a_key_is_the_key(nick: String) {
            let key = nick_key(&nick);
            prop_assert_eq!(nick_key(&key), key);
        }

        #[test]
        fn a_parsed_name_parses_to_itself(text in "\\PC{0,120}") {
            if let Ok(name) = text.parse::<FlowName>() {
                prop_assert_eq!(name.as_str().parse(), Ok(name.clone()));
            }
            if let Ok(nick) = text.parse::<Nick>() {
                prop_assert_eq!(nick.as_str().parse(), Ok(nick.clone()));
            }
        }
    }
}
