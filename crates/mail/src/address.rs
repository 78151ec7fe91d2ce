//! Addresses as they are written on mails.

use std::net::{Ipv4Addr, Ipv6Addr};

use lettre::Address;

use crate::line::one_line;

/// Characters of a name in front of an address.
const NAME: usize = 100;

/// The longest address that mail servers must take (RFC 5321, section 4.5.3.1.3, without brackets).
const ADDRESS: usize = 254;

/// Reads an address; its domain comes out in ASCII.
pub(crate) fn parse(text: &str) -> Result<Address, &'static str> {
    let (local, domain) = text.rsplit_once('@').ok_or("it has no @")?;
    let domain = if domain.starts_with('[') {
        literal(domain)
            .ok_or("what is in brackets is no IP address")?
            .to_owned()
    } else {
        idna::domain_to_ascii_strict(domain).map_err(|_| "its domain cannot be one")?
    };
    let address =
        Address::new(local, &domain).map_err(|_| "what is in front of the @ cannot be there")?;
    if AsRef::<str>::as_ref(&address).len() > ADDRESS {
        return Err("it is too long");
    }
    Ok(address)
}

/// An IP address in the place of a domain (RFC 5321, section 4.1.3).
fn literal(domain: &str) -> Option<&str> {
    let inner = domain.strip_prefix('[')?.strip_suffix(']')?;
    let is_address = match inner.strip_prefix("IPv6:") {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => inner.parse::<Ipv4Addr>().is_ok(),
    };
    is_address.then_some(domain)
}

/// A name as it may stand in front of an address, if there is anything in it.
pub(crate) fn name(text: &str) -> Option<String> {
    Some(one_line(text, NAME)).filter(|name| !name.is_empty())
}

/// The mailbox that all our mails are from.
#[derive(Clone, Debug)]
pub(crate) struct FromMailbox {
    pub(crate) name: Option<String>,
    /// All ASCII.
    pub(crate) address: Address,
}

impl FromMailbox {
    /// Reads `Name <address>`, where the name may be in quotes, or an address alone.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        let (given, address) = match text.strip_suffix('>') {
            Some(rest) => rest.rsplit_once('<').ok_or("it has a > without a <")?,
            None => ("", text),
        };
        let address = parse(address.trim())?;
        if !address.user().is_ascii() {
            return Err("what is in front of the @ must be ASCII, for all mail servers to take it");
        }
        Ok(Self {
            name: name(&unquoted(given.trim())),
            address,
        })
    }
}

fn unquoted(name: &str) -> String {
    let Some(inner) = name
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    else {
        return name.to_owned();
    };
    inner.replace("\\\"", "\"").replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<String> {
        parse(text).ok().map(|address| address.to_string())
    }

    #[test]
    fn addresses_are_kept_and_their_domains_become_ascii() {
        for (text, expected) in [
            ("ada@example.org", "ada@example.org"),
            ("ada+flow@Example.ORG", "ada+flow@example.org"),
            ("ada@localhost", "ada@localhost"),
            ("ada@bücher.example", "ada@xn--bcher-kva.example"),
            ("жанна@пример.example", "жанна@xn--e1afmkfd.example"),
            ("ada@[192.0.2.1]", "ada@[192.0.2.1]"),
            ("ada@[IPv6:2001:db8::1]", "ada@[IPv6:2001:db8::1]"),
            (
                "\"ada lovelace\"@example.org",
                "\"ada lovelace\"@example.org",
            ),
        ] {
            assert_eq!(written(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long = format!("{}@example.org", "a".repeat(65));
        let far = format!("ada@{}example.org", "abcdefghi.".repeat(24));
        for text in [
            "",
            "ada",
            "@example.org",
            "ada@",
            "ada@example..org",
            "ada lovelace@example.org",
            "ada@exa mple.org",
            "ada@example.org\r\nBcc: eve@example.org",
            "ada\r\nRCPT TO:<eve@example.org>@example.org",
            "\"ada\r\nlovelace\"@example.org",
            "ada@example.org> NOTIFY=NEVER",
            "ada@[x>y<z]",
            "ada@[::1]",
            "<ada@example.org>",
            "ada@example.org, eve@example.org",
            &long,
            &far,
        ] {
            assert_eq!(written(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_sender_may_have_a_name_with_or_without_quotes() {
        for (text, name) in [
            ("eddyline@example.org", None),
            ("<eddyline@example.org>", None),
            ("Eddyline <eddyline@example.org>", Some("Eddyline")),
            (
                " Team Süd & Co., Talk  <eddyline@example.org> ",
                Some("Team Süd & Co., Talk"),
            ),
            (
                r#""Ed \"dy\" Line" <eddyline@example.org>"#,
                Some("Ed \"dy\" Line"),
            ),
        ] {
            let sender = FromMailbox::parse(text).unwrap();
            assert_eq!(
                (sender.name.as_deref(), sender.address.to_string()),
                (name, "eddyline@example.org".into())
            );
        }
    }

    #[test]
    fn the_sender_has_one_address_that_every_server_takes() {
        for text in [
            "",
            "Eddyline",
            "Eddyline <eddyline>",
            "eddyline@example.org>",
            "å@example.org",
        ] {
            assert!(FromMailbox::parse(text).is_err(), "{text:?}");
        }
        assert!(FromMailbox::parse("a@example.org, b@example.org").is_err());
    }
}
