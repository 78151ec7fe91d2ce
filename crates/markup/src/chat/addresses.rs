//! Where addresses in chat text begin and end.

/// The longest address that becomes a link, in bytes.
pub(super) const MAX_ADDRESS: usize = 2_000;

/// How deep brackets may be nested within those of a link. A search for the end of a bracket gives
/// up at a deeper one, so that no byte of a text is searched more often than this.
const MAX_NESTED: usize = 4;

const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// Whether `text` begins with a scheme that links may have, and with a host or an account.
pub(super) fn begins_link(text: &str) -> bool {
    SCHEMES
        .iter()
        .any(|scheme| begins_with(text, scheme) && begins_host(&text[scheme.len()..]))
}

/// Whether `text` begins with `www.` and the rest of a host.
pub(super) fn begins_www(text: &str) -> bool {
    begins_with(text, "www.") && begins_host(&text[4..])
}

fn begins_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
}

/// Whether `text` begins with what a host may begin with.
pub(super) fn begins_host(text: &str) -> bool {
    text.starts_with(|c: char| {
        c.is_alphanumeric() || c == '[' || (!c.is_ascii() && !ends_address(c))
    })
}

/// The length in bytes of the address at the beginning of `text`. It ends before a bracket that it
/// does not open, and before the punctuation of the sentence around it. `is_open` says which
/// delimiters of markdown are open, and therefore closed by those at its end.
pub(super) fn address_length(text: &str, is_open: impl Fn(char) -> bool) -> usize {
    let (mut round, mut square) = (0_usize, 0_usize);
    let end = text
        .find(|c| {
            let depth = match c {
                '(' | ')' => &mut round,
                '[' | ']' => &mut square,
                _ => return ends_address(c),
            };
            match (c, *depth) {
                ('(' | '[', _) => *depth += 1,
                (_, 0) => return true,
                _ => *depth -= 1,
            }
            false
        })
        .unwrap_or(text.len());
    let is_around = |c| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '"') || is_open(c);
    text[..end].trim_end_matches(is_around).len()
}

/// White space, quotes and brackets that stand around addresses, and East Asian punctuation,
/// which follows them without a space. These are the characters at which the model ends an address.
fn ends_address(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '`' | '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}')
}

/// The parts of `[text](address)`, and its length in bytes.
pub(super) struct NamedLink<'a> {
    pub(super) text: &'a str,
    pub(super) address: &'a str,
    pub(super) length: usize,
}

/// The link with a text of its own at the beginning of `text`, if there is one.
pub(super) fn named_link(text: &str) -> Option<NamedLink<'_>> {
    let inside = text.strip_prefix('[')?;
    let (name, rest) = inside.split_at(closing(inside, '[', ']', |_| false)?);
    let inside = rest.strip_prefix("](").filter(|rest| begins_link(rest))?;
    // The limit keeps the search short; one more byte has room for the bracket.
    let searched = &inside[..inside.floor_char_boundary(MAX_ADDRESS + 1)];
    let address = &inside[..closing(searched, '(', ')', |c| {
        c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"')
    })?];
    // A link with an empty text would not be visible.
    (!name.trim().is_empty()).then_some(NamedLink {
        text: name,
        address,
        length: "[](".len() + name.len() + address.len() + ")".len(),
    })
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
