//! Domains of e-mail addresses.

use std::fmt;
use std::str::FromStr;

use super::email::ascii_host;
use super::{InvalidName, MAX_EMAIL, checked_text, trim_unseen, trimmed};

/// The domain of e-mail addresses: the name of a host, in the form in which it stands in the key of
/// an address ([`super::email_key`]). International names may be written in either spelling.
///
/// It stands for itself only, not for domains below it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Domain(String);

checked_text!(Domain);

impl FromStr for Domain {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let host = trimmed(trim_unseen(text), MAX_EMAIL)?;
        ascii_host(host)
            .map(|ascii| Self(ascii.into_owned()))
            .ok_or(InvalidName::NotADomain)
    }
}

/// The domain in the key of an address; empty where the text is the key of no address.
#[must_use]
pub fn domain_of(email_key: &str) -> &str {
    email_key.rsplit_once('@').map_or("", |(_, domain)| domain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::names::Email;

    #[test]
    fn both_spellings_of_an_international_domain_are_one() {
        for spelling in [
            "bücher.example",
            "BÜCHER.Example",
            " xn--bcher-kva.example\u{200b}",
            "XN--BCHER-KVA.EXAMPLE",
        ] {
            assert_eq!(
                spelling.parse::<Domain>().expect(spelling).as_str(),
                "xn--bcher-kva.example"
            );
        }
        assert_eq!(
            "localhost".parse::<Domain>().expect("one label").as_str(),
            "localhost"
        );
    }

    #[test]
    fn what_is_no_host_is_no_domain() {
        for bad in [
            "@acme.example",
            "bob@acme.example",
            "acme..example",
            ".acme",
            "acme.",
            "a_b.example",
            "10.0.0.1",
        ] {
            assert_eq!(
                bad.parse::<Domain>(),
                Err(InvalidName::NotADomain),
                "{bad:?}"
            );
        }
        assert_eq!(" ".parse::<Domain>(), Err(InvalidName::Blank));
        assert_eq!(
            "a".repeat(255).parse::<Domain>(),
            Err(InvalidName::TooLong(MAX_EMAIL))
        );
    }

    proptest! {
        #[test]
        fn the_domain_of_an_address_is_the_domain_in_its_key(text in "[a-z]{1,5}@\\PC{0,20}") {
            if let Ok(email) = text.parse::<Email>() {
                let (_, host) = email.as_str().rsplit_once('@').unwrap();
                let domain: Domain = host.parse().unwrap();
                let key = email.key();
                prop_assert_eq!(domain.as_str(), domain_of(&key));
            }
        }
    }
}
