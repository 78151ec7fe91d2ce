//! The address of a user's own page.

use std::fmt;
use std::str::FromStr;

use super::{InvalidName, checked_text};

/// The longest address of a page, in characters.
pub const MAX_WEBSITE: usize = 500;

/// The address of a user's own page, of at most [`MAX_WEBSITE`] characters, or nothing.
///
/// It begins with `http://` or `https://`, since clients make a link of it: `javascript:` and the
/// like would run in their readers' browsers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Website(String);

checked_text!(Website);

impl FromStr for Website {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let address = text.trim();
        if address.is_empty() {
            return Ok(Self(String::new()));
        }
        if address.chars().any(char::is_control) {
            return Err(InvalidName::ControlCharacter);
        }
        let (scheme, rest) = address.split_once("://").ok_or(InvalidName::NotAPage)?;
        let known = ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known));
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let odd = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '\\' | '`');
        if !known || host.is_empty() || address.chars().any(odd) {
            return Err(InvalidName::NotAPage);
        }
        // Told last: a picture that is written as an address is too long as well.
        if address.chars().nth(MAX_WEBSITE).is_some() {
            return Err(InvalidName::TooLong(MAX_WEBSITE));
        }
        Ok(Self(address.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_on_the_web_or_nowhere() {
        for good in [
            "",
            "  ",
            "https://example.org",
            "HTTP://münchen.example/~ada?a=b#c",
            "http://[::1]:80/",
        ] {
            assert_eq!(
                good.parse::<Website>().map(Website::into_string),
                Ok(good.trim().to_owned())
            );
        }
        for bad in [
            "example.org",
            "javascript://x",
            "https://",
            "http:///x",
            "ftp://x",
            "https://a b",
            "http://<b>",
        ] {
            assert_eq!(
                bad.parse::<Website>(),
                Err(InvalidName::NotAPage),
                "{bad:?}"
            );
        }
        let picture = format!("data:image/png;base64,{}", "A".repeat(500));
        assert_eq!(picture.parse::<Website>(), Err(InvalidName::NotAPage));
        let long = format!("https://{}", "x".repeat(500));
        assert_eq!(long.parse::<Website>(), Err(InvalidName::TooLong(500)));
        assert_eq!(
            "https://a\0".parse::<Website>(),
            Err(InvalidName::ControlCharacter)
        );
    }
}
