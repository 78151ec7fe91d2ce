//! E-mail addresses: which texts are one, and which of them are the same.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::{InvalidName, checked_text, fold, trimmed};

/// The longest e-mail address: in characters as it is typed, and in bytes as it is sent (RFC 5321,
/// section 4.5.3.1.3, without its angle brackets).
pub const MAX_EMAIL: usize = 254;

/// The longest part before the `@`, in bytes (RFC 5321, section 4.5.3.1.1).
const MAX_LOCAL: usize = 64;

/// An e-mail address that can be one. Only a delivered mail can prove more.
///
/// - Before its only `@` stand 1 to 64 bytes: letters and digits of any script, the signs
///   ``!#$%&'*+-/=?^_`{|}~``, and single dots between them. The quoted form (`"odd one"@x.org`)
///   is refused.
/// - After it stands the name of a host, which may be international (`bücher.example`, or
///   `xn--bcher-kva.example`) and may be a single word (`localhost`), but is not a number and not
///   an IP address.
/// - The whole is no longer than [`MAX_EMAIL`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Email(String);

checked_text!(Email);

impl Email {
    /// The key under which the address is unique and found; see [`email_key`].
    #[must_use]
    pub fn key(&self) -> String {
        email_key(&self.0)
    }
}

impl FromStr for Email {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let address = trimmed(trim_unseen(text), MAX_EMAIL)?;
        let (local, host) = address.split_once('@').ok_or(InvalidName::NotAnAddress)?;
        let ascii = ascii_host(host).ok_or(InvalidName::NotAnAddress)?;
        if !is_local(local) || local.len() + 1 + ascii.len() > MAX_EMAIL {
            return Err(InvalidName::NotAnAddress);
        }
        Ok(Self(address.to_owned()))
    }
}

/// What two e-mail addresses have in common that differ only in case, in white space around them,
/// or in how an international host is spelt (`bücher.example` is `xn--bcher-kva.example`).
///
/// Every text has a key; one that is no address has some key that no address has.
#[must_use]
pub fn email_key(address: &str) -> String {
    let address = trim_unseen(address);
    match address.rsplit_once('@') {
        // In ASCII, a host differs from its key only in case.
        Some((local, host)) if !host.is_ascii() => match ascii_host(host) {
            Some(host) => format!("{}@{host}", folded(local)),
            None => folded(address),
        },
        _ => folded(address),
    }
}

/// As mail servers tell addresses apart, all characters count.
fn folded(text: &str) -> String {
    let mut key = String::with_capacity(text.len());
    fold(text.chars(), &mut key);
    key
}

/// The text without white space and invisible characters (byte order marks, zero-width spaces,
/// marks of direction) around it, as they come along when text is pasted.
pub(crate) fn trim_unseen(text: &str) -> &str {
    text.trim_matches(is_unseen)
}

/// Whether nobody sees this character: white space, or one that only tells how to format others.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_whitespace() || is_format(c)
}

fn is_format(c: char) -> bool {
    !c.is_ascii() && c.general_category() == GeneralCategory::Format
}

/// Whether this can stand before the `@` (RFC 5321, section 4.1.2, `Dot-string`; RFC 6531).
fn is_local(local: &str) -> bool {
    local.len() <= MAX_LOCAL
        && local
            .split('.')
            .all(|atom| !atom.is_empty() && atom.chars().all(is_atom))
}

fn is_atom(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    }
    !(c.is_whitespace() || c.is_control() || is_format(c))
        && c.general_category() != GeneralCategory::PrivateUse
}

/// The host in lower-case ASCII; `None` when it is not the name of a host.
pub(super) fn ascii_host(host: &str) -> Option<Cow<'_, str>> {
    // Logins bring texts of any length here; no address has a longer host.
    if host.len() > MAX_EMAIL * 4 || host.chars().any(|c| is_format(c) && !is_joiner(c)) {
        return None;
    }
    let ascii = Uts46::new()
        .to_ascii(
            host.as_bytes(),
            AsciiDenyList::STD3,
            Hyphens::Check,
            DnsLength::Verify,
        )
        .ok()?;
    let last = ascii.rsplit('.').next()?;
    (!last.bytes().all(|b| b.is_ascii_digit())).then_some(ascii)
}

/// The two invisible characters that may stand in a host, in scripts that need them.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_refused(text: &str) -> bool {
        text.parse::<Email>() == Err(InvalidName::NotAnAddress)
    }

    #[test]
    fn an_address_has_one_at_sign_with_something_on_both_sides() {
        let address: Email = " Bob@Example.org ".parse().expect("an address");
        assert_eq!(address.as_str(), "Bob@Example.org");
        assert_eq!(address.key(), "bob@example.org");
        for bad in [
            "bob",
            "@example.org",
            "bob@",
            "a@b@c",
            "bob @example.org",
            "b\u{2003}ob@example.org",
        ] {
            assert!(is_refused(bad), "{bad:?}");
        }
        assert_eq!(
            format!("a@{}", "b".repeat(253)).parse::<Email>(),
            Err(InvalidName::TooLong(254))
        );
        assert_eq!("a\0@b".parse::<Email>(), Err(InvalidName::ControlCharacter));
        assert_eq!("\u{feff}\u{200b}".parse::<Email>(), Err(InvalidName::Blank));
    }

    #[test]
    fn many_signs_may_stand_before_the_at_sign() {
        for good in [
            "bob+flows@x.org",
            "o'neil_a-b@x.org",
            "first.middle.last@x.org",
            "user=list/dept@x.org",
            "!#$%&'*+-/=?^_`{|}~@x.org",
            "josé@x.org",
            "用户@例子.广告",
            "root@localhost",
            "bob@x--y.example",
            "bob@3com.com",
        ] {
            assert_eq!(good.parse::<Email>().expect(good).as_str(), good);
        }
    }

    #[test]
    fn what_could_be_mistaken_for_something_else_is_no_address() {
        for bad in [
            ".a@b",
            "a.@b",
            "a..b@c",
            "a@b..c",
            "a@.b",
            "a@b.",
            "a@-b.org",
            "a@b-.org",
            "a@b_c.org",
            "<a@b>",
            "a@b>",
            "\"a\"@b",
            "a(b)@c",
            "a@b(c)",
            "a,b@c",
            "a@b,c",
            "a;b@c",
            "a@b;c",
            "a\\b@c",
            "a:b@c",
            "a[b]@c",
            "a@[127.0.0.1]",
            "a@127.0.0.1",
            "a@b.7",
            "a@xn--a",
            "a@\u{2100}.org",
            "a\u{200b}b@c",
            "a@b\u{ad}c.org",
            "a@b\u{202e}c",
        ] {
            assert!(is_refused(bad), "{bad:?}");
        }
    }

    #[test]
    fn each_part_has_its_longest_length() {
        let local = "l".repeat(64);
        let label = "a".repeat(63);
        assert!(format!("{local}@x.org").parse::<Email>().is_ok());
        assert!(is_refused(&format!("{local}l@x.org")));
        assert!(
            format!("é{}@x.org", "l".repeat(62))
                .parse::<Email>()
                .is_ok()
        );
        assert!(
            is_refused(&format!("é{}@x.org", "l".repeat(63))),
            "bytes count"
        );
        assert!(format!("a@{label}.org").parse::<Email>().is_ok());
        assert!(is_refused(&format!("a@{label}a.org")));

        let host = format!("{label}.{label}.{label}");
        assert!(
            format!("{}@{host}", "l".repeat(62))
                .parse::<Email>()
                .is_ok(),
            "254 characters"
        );
        let host = format!("{host}.{}", "ü".repeat(20));
        assert!(
            is_refused(&format!("{}@{host}", "l".repeat(40))),
            "it is longer in ASCII"
        );
    }

    #[test]
    fn both_spellings_of_an_international_host_are_one_person() {
        let key = "bob@xn--bcher-kva.example";
        for spelling in [
            "bob@bücher.example",
            "Bob@BÜCHER.Example",
            "bob@bu\u{308}cher.example",
            "bob@xn--bcher-kva.example",
            "BOB@XN--BCHER-KVA.EXAMPLE",
            "\u{feff}bob@bücher。example\u{a0}",
        ] {
            let email: Email = spelling.parse().expect(spelling);
            assert_eq!(email.key(), key, "{spelling}");
        }
        assert_ne!(email_key("bob@bucher.example"), key);
        assert_ne!(
            email_key("bob@faß.example"),
            email_key("bob@fass.example"),
            "these are two hosts"
        );
    }

    #[test]
    fn every_text_has_a_key() {
        for text in [
            "", "@", "é@", "@é", "a@é@ü", "a@\u{ad}", "a@ü..ü", "bob", " BOB ",
        ] {
            assert_eq!(email_key(&email_key(text)), email_key(text), "{text:?}");
        }
        assert_eq!(email_key(" BOB "), "bob");
        let long = format!("a@{}", "ü".repeat(1 << 16));
        assert_eq!(email_key(&long), long);
    }

    proptest! {
        #[test]
        fn any_text_has_a_key_and_the_key_is_its_own(
            text in prop_oneof![any::<String>(), "[aB.@ßüΣ\u{200d}\u{feff} -]{0,20}", "[a-z]{1,5}@\\PC{0,20}"],
        ) {
            let key = email_key(&text);
            if let Ok(email) = text.parse::<Email>() {
                prop_assert_eq!(email.as_str().parse(), Ok(email.clone()));
                prop_assert_eq!(email.key(), key.clone());
                prop_assert_eq!(email_key(&key), key);
            }
        }

        #[test]
        fn no_address_holds_what_separates_addresses(text in "[a-z]\\PC{0,4}@[a-z]\\PC{0,4}") {
            if let Ok(email) = text.parse::<Email>() {
                let signs = ['<', '>', '(', ')', '"', ',', ';', ':', '\\', ' '];
                prop_assert!(!email.as_str().contains(signs), "{}", email);
            }
        }
    }
}
