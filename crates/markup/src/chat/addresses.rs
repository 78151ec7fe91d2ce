//! Links with a text of their own.

use eddyline_syntax::{MAX_ADDRESS, begins_host};

/// How deep brackets may be nested within those of a link. A search for the end of a bracket gives
/// up at a deeper one, so that no byte of a text is searched more often than this.
const MAX_NESTED: usize = 4;

const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// The parts of `[text](address)`, and its length in bytes.
pub(super) struct NamedLink<'a> {
    pub(super) text: &'a str,
    pub(super) address: &'a str,
    pub(super) length: usize,
}

/// The link with a text of its own at the beginning of `text`, if there is one. The address may
/// hold spaces, and may stand between angle brackets.
pub(super) fn named_link(text: &str) -> Option<NamedLink<'_>> {
    let inside = text.strip_prefix('[')?;
    let (name, rest) = inside.split_at(closing(inside, '[', ']', |_| false)?);
    let inside = rest.strip_prefix("](")?;
    // The limit keeps the search short; three more bytes have room for the brackets.
    let searched = &inside[..inside.floor_char_boundary(MAX_ADDRESS + 3)];
    let stops = |c: char| (c.is_whitespace() && c != ' ') || c.is_control() || c == '"';
    let end = closing(searched, '(', ')', stops)?;
    let target = &inside[..end];
    let address = target
        .strip_prefix('<')
        .and_then(|target| target.strip_suffix('>'))
        .unwrap_or(target);
    let is_address = begins_link(address)
        && !address.contains(['<', '>'])
        && !address.ends_with(' ')
        && address.len() <= MAX_ADDRESS;
    // A link with an empty text would not be visible.
    (is_address && !name.trim().is_empty()).then_some(NamedLink {
        text: name,
        address,
        length: "[](".len() + name.len() + target.len() + ")".len(),
    })
}

/// Whether `text` begins with a scheme that links may have, and with a host or an account.
fn begins_link(text: &str) -> bool {
    let is_scheme = |scheme: &&str| {
        let begin = text.get(..scheme.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
            && begins_host(&text[scheme.len()..])
    };
    SCHEMES.iter().any(is_scheme)
}

/// Where the bracket is closed that was opened before `text`. `None` when it is not closed, when
/// others are nested too deep, or when a character for which `stops` holds comes before.
fn closing(text: &str, open: char, close: char, stops: impl Fn(char) -> bool) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && depth == 0 {
            return Some(at);
        } else if c == close {
            depth -= 1;
        }
        if depth > MAX_NESTED || stops(c) {
            return None;
        }
    }
    None
}
