//! Addresses in text.

use crate::characters::{ends_address, is_cjk};

/// The longest address that becomes a link, in bytes.
pub const MAX_ADDRESS: usize = 2_000;

const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];
const WWW: &str = "www.";

/// An address at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSpan {
    /// How many bytes belong to it.
    pub length: usize,
    /// Whether it is shown as a link. Others are of a scheme that no link has, or too long.
    pub is_link: bool,
    /// Whether it begins with `www.` and has no scheme.
    pub is_bare: bool,
}

/// Finds the address at the beginning of `text`: one with a scheme, or one that begins with `www.`.
/// `before` is the character before it: one within a word is no address.
///
/// It ends before a bracket that it does not open, before the punctuation of the sentence around it,
/// and where `is_open` says that a sign at its end closes emphasis.
#[must_use]
pub fn link_at(
    text: &str,
    before: Option<char>,
    is_open: impl Fn(char) -> bool,
) -> Option<LinkSpan> {
    if before.is_some_and(|c| c.is_ascii_alphanumeric()) {
        return None;
    }
    let is_bare = begins_with(text, WWW);
    // Such a name is a part of a longer one.
    if is_bare && before.is_some_and(|c| matches!(c, '.' | '-' | '@' | '/' | ':')) {
        return None;
    }
    let is_scheme = |scheme: &&&str| begins_with(text, scheme);
    let prefix = match is_bare {
        true => WWW.len(),
        false => SCHEMES.iter().find(is_scheme)?.len(),
    };
    if !begins_host(&text[prefix..]) {
        return None;
    }
    let length = prefix + length_of(&text[prefix..], is_open);
    // `www.example` alone is mostly a name of something else.
    let has_host = !is_bare || text[prefix..length].trim_end_matches('.').contains('.');
    has_host.then_some(LinkSpan {
        length,
        is_link: length <= MAX_ADDRESS,
        is_bare,
    })
}

/// Finds the address of any other scheme at the beginning of `text`, which is what follows the name
/// of the scheme, and returns how many bytes belong to it. `is_open` is that of [`link_at`].
#[must_use]
pub fn other_address_at(text: &str, is_open: impl Fn(char) -> bool) -> Option<usize> {
    let address = text.strip_prefix("://").filter(|host| begins_host(host))?;
    Some(3 + length_of(address, is_open))
}

fn begins_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
}

/// Returns `true` if a text begins with what a host may begin with.
#[must_use]
pub fn begins_host(text: &str) -> bool {
    text.starts_with(|c: char| {
        c.is_alphanumeric() || c == '[' || (!c.is_ascii() && !ends_address(c))
    })
}

fn length_of(text: &str, is_open: impl Fn(char) -> bool) -> usize {
    let (mut round, mut square) = (0_usize, 0_usize);
    let mut before = '/';
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        // A script without spaces goes on directly behind the address.
        if ends_address(c) || (is_cjk(c) && before.is_ascii_alphanumeric()) {
            end = at;
            break;
        }
        let depth = match c {
            '(' | ')' => Some(&mut round),
            '[' | ']' => Some(&mut square),
            _ => None,
        };
        if let Some(depth) = depth {
            match (c, *depth) {
                ('(' | '[', _) => *depth += 1,
                (_, 0) => {
                    end = at;
                    break;
                }
                _ => *depth -= 1,
            }
        }
        before = c;
    }
    let is_around = |c| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '\'') || is_open(c);
    text[..end].trim_end_matches(is_around).len()
}
