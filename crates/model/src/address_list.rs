//! Lists of e-mail addresses as people write or paste them.
//!
//! [`parse`] takes what comes out of a mail program, a spreadsheet or somebody's head, and accounts
//! for every bit of it: each [`AddressEntry`] is either an address or says what is wrong with it.
//! It follows RFC 5322 (section 3.4, mailboxes and groups) where that is what people write, and
//! never guesses which address was meant.
//!
//! - Commas, semicolons and line ends separate. Inside of quotation marks and of comments in
//!   parentheses, commas and semicolons do not; a line end always does, so that a forgotten
//!   quotation mark spoils one line at most.
//! - A tab separates addresses, too. Next to a single address it separates columns: the name may
//!   stand in the column before or after.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode_str;

use crate::names::{Email, InvalidName, is_unseen, trim_unseen};

use self::pieces::{Piece, pieces, split_outside};

mod pieces;
#[cfg(test)]
mod tests;

/// The longest item that is looked into, in characters: the longest line of a mail is not longer
/// (RFC 5322, section 2.1.1).
pub const MAX_ITEM: usize = 998;

/// The most that an item repeats of what was written, and the longest name, in characters.
pub const MAX_TEXT: usize = 320;

/// One entry of a list.
///
/// It prints as `"Name" <address>` or `address`, which is parsed to the same name and address; one
/// without an address prints its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressEntry {
    /// What was written, without white space and invisible characters around it, cut after
    /// [`MAX_TEXT`] characters. It is never empty.
    pub text: String,
    /// The name beside the address: in front of angle brackets, in a column of its own, or else in
    /// a comment. It has no control characters and is cut after [`MAX_TEXT`] characters.
    pub name: Option<String>,
    /// The address, or why there is none.
    pub address: Result<Email, AddressError>,
}

/// Why an entry of a list has no address. The text is fit to stand after what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// There is no `@`.
    #[error("has no e-mail address in it")]
    NoAddress,
    /// What should be the address is none.
    #[error(transparent)]
    Invalid(#[from] InvalidName),
    /// There are more addresses than one, with nothing that separates them.
    #[error("has several e-mail addresses; put a comma between them")]
    SeveralAddresses,
    /// Something follows the address in angle brackets.
    #[error("has something after the e-mail address that does not belong there")]
    Surplus,
    /// An address like `"odd one"@example.org`, which is rightful and hardly ever works.
    #[error("has quotation marks before the @, which is not supported")]
    QuotedLocalPart,
    /// A quotation mark without its counterpart on the line.
    #[error("has a quotation mark that is not closed")]
    UnclosedQuote,
    /// An opening parenthesis without its counterpart on the line.
    #[error("has a parenthesis that is not closed")]
    UnclosedComment,
    /// An angle bracket without its counterpart, or inside of another pair.
    #[error("has a missing or misplaced angle bracket")]
    Brackets,
    /// More than [`MAX_ITEM`] characters. Nobody has looked what they are.
    #[error("is too long to be an e-mail address (maximum is {MAX_ITEM} characters)")]
    TooLong,
}

impl fmt::Display for AddressEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.address, &self.name) {
            (Err(_), _) => f.write_str(&self.text),
            (Ok(address), None) => write!(f, "{address}"),
            (Ok(address), Some(name)) => {
                let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                write!(f, "\"{name}\" <{address}>")
            }
        }
    }
}

/// Reads a list, in the order in which it is written. Separators with nothing between them make no
/// item. The same address may come up repeatedly: [`Email::key`] tells.
///
/// Any text will do. The work and the memory grow with its length and not faster; a list of
/// separated single letters makes the most items for it, half as many as it has bytes.
#[must_use]
pub fn parse(list: &str) -> Vec<AddressEntry> {
    list.split(is_line_end)
        .flat_map(|line| split_outside(line, |c| matches!(c, ',' | ';')))
        .flat_map(items_of_row)
        .collect()
}

/// Whatever some system ends its lines with. CR LF ends an empty line as well, which is no item.
fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Reads what stands between two separators: mostly one item, several if there are tabs.
fn items_of_row(row: &str) -> Vec<AddressEntry> {
    let cells: Vec<&str> = split_outside(row, |c| c == '\t')
        .map(trim_unseen)
        .filter(|cell| !cell.is_empty())
        .collect();
    let mut addressed = (0..cells.len()).filter(|&cell| cells[cell].contains('@'));
    match (addressed.next(), addressed.next()) {
        (Some(cell), None) if cells.len() > 1 => {
            vec![AddressEntry::from_columns(trim_unseen(row), &cells, cell)]
        }
        (None, _) if cells.len() > 1 => vec![AddressEntry::read(trim_unseen(row))],
        _ => cells.into_iter().map(AddressEntry::read).collect(),
    }
}

impl AddressEntry {
    fn read(text: &str) -> Self {
        let (name, address) = match mailbox(text) {
            Ok((name, address)) => (name, Ok(address)),
            Err(problem) => (None, Err(problem)),
        };
        Self {
            text: text.chars().take(MAX_TEXT).collect(),
            name,
            address,
        }
    }

    /// Reads a row of which one cell has an address.
    fn from_columns(row: &str, cells: &[&str], addressed: usize) -> Self {
        // In a name in front of brackets, a tab is nothing but white space.
        let whole = Self::read(row);
        if matches!(whole.address, Ok(_) | Err(AddressError::TooLong)) {
            return whole;
        }
        let mut item = Self {
            text: whole.text,
            ..Self::read(cells[addressed])
        };
        if item.name.is_none() {
            let before = cells[..addressed].join(" ");
            let named = [before.as_str()]
                .into_iter()
                .chain(cells.get(addressed + 1).copied());
            item.name = named.filter_map(|cell| phrase(&pieces(cell).ok()?)).next();
        }
        item
    }
}

fn is_too_long(text: &str) -> bool {
    text.chars().nth(MAX_ITEM).is_some()
}

/// Reads `Name <address>`, `<address>` or `address`.
fn mailbox(text: &str) -> Result<(Option<String>, Email), AddressError> {
    if is_too_long(text) {
        return Err(AddressError::TooLong);
    }
    let pieces = without_group(pieces(text)?);
    let Some((open, close)) = brackets(&pieces)? else {
        return Ok((remarks(&pieces), address(&pieces)?));
    };
    let (before, inside, after) = (
        &pieces[..open],
        &pieces[open + 1..close],
        &pieces[close + 1..],
    );
    if after.iter().any(Piece::is_solid) {
        let several = after.iter().any(|piece| piece.written().contains('@'));
        return Err(if several {
            AddressError::SeveralAddresses
        } else {
            AddressError::Surplus
        });
    }
    let address = address(inside)?;
    if names_another(before, &address) {
        return Err(AddressError::SeveralAddresses);
    }
    // Some programs put the address in the place of a name that they do not know.
    let name = phrase(before).filter(|name| bare(name).map(|bare| bare.key()) != Ok(address.key()));
    Ok((name.or_else(|| remarks(&pieces)), address))
}

/// Leaves out the name of a group (`Friends: bob@x.org, …;`), or of a header pasted along.
fn without_group(mut pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    for at in 0..pieces.len() {
        match pieces[at] {
            Piece::Plain(text) if text.contains(['@', ':']) => {
                let (label, rest) = text.split_once(':').unwrap_or(("@", ""));
                if !label.contains('@') && !ends_with_ignoring_case(label, "mailto") {
                    pieces[at] = Piece::Plain(rest);
                    pieces.drain(..at);
                }
                break;
            }
            Piece::Open | Piece::Close => break,
            _ => {}
        }
    }
    pieces
}

/// The places of the only pair of angle brackets, if there is one.
fn brackets(pieces: &[Piece<'_>]) -> Result<Option<(usize, usize)>, AddressError> {
    let mut found = pieces
        .iter()
        .enumerate()
        .filter(|(_, p)| matches!(p, Piece::Open | Piece::Close));
    let (Some((open, first)), second) = (found.next(), found.next()) else {
        return Ok(None);
    };
    match (first, second) {
        (Piece::Open, Some((close, Piece::Close))) => match found.next() {
            None => Ok(Some((open, close))),
            Some((_, Piece::Open)) => Err(AddressError::SeveralAddresses),
            Some(_) => Err(AddressError::Brackets),
        },
        _ => Err(AddressError::Brackets),
    }
}

/// Whether the words in front of an address have another one among them: then a separator is
/// missing. In quotation marks they may say what they want.
fn names_another(before: &[Piece<'_>], address: &Email) -> bool {
    let plain = before.iter().filter_map(|piece| {
        if let Piece::Plain(text) = piece {
            Some(*text)
        } else {
            None
        }
    });
    plain
        .flat_map(|text| text.split(is_unseen))
        .filter(|word| word.contains('@'))
        .any(|word| bare(word).is_ok_and(|other| other.key() != address.key()))
}

/// Reads the pieces that should be an address and nothing else.
fn address(pieces: &[Piece<'_>]) -> Result<Email, AddressError> {
    let mut solid = pieces.iter().filter(|piece| piece.is_solid());
    match (solid.next(), solid.next()) {
        (None, _) => Err(AddressError::NoAddress),
        // Spreadsheets put quotation marks around whole cells.
        (Some(Piece::Quoted(text)), None) => bare(text),
        (Some(Piece::Quoted(_)), Some(Piece::Plain(rest))) if rest.starts_with('@') => {
            Err(AddressError::QuotedLocalPart)
        }
        _ => bare(&pieces.iter().map(Piece::written).collect::<String>()),
    }
}

/// Reads an address without anything around it but `mailto:` or apostrophes.
fn bare(text: &str) -> Result<Email, AddressError> {
    let text = trim_unseen(text);
    // A host cannot end in an apostrophe.
    let text = text
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
        .unwrap_or(text);
    without_scheme(text).parse().map_err(|problem| {
        match text
            .split_whitespace()
            .filter(|word| word.contains('@'))
            .count()
        {
            0 => AddressError::NoAddress,
            1 => AddressError::Invalid(problem),
            _ => AddressError::SeveralAddresses,
        }
    })
}

/// The address of a link (RFC 6068), which writes some signs as `%2B` and may go on with a subject.
fn without_scheme(text: &str) -> Cow<'_, str> {
    match text.split_once(':') {
        Some((scheme, link)) if scheme.eq_ignore_ascii_case("mailto") => {
            let address = link.split('?').next().unwrap_or(link);
            percent_decode_str(address)
                .decode_utf8()
                .unwrap_or(Cow::Borrowed(text))
        }
        _ => Cow::Borrowed(text),
    }
}

/// The name that the pieces make, comments left out.
fn phrase(pieces: &[Piece<'_>]) -> Option<String> {
    tidy(&pieces.iter().map(Piece::written).collect::<String>())
}

/// What the comments say.
fn remarks(pieces: &[Piece<'_>]) -> Option<String> {
    let comments = pieces.iter().filter_map(|piece| match piece {
        Piece::Comment(text) => Some(text.as_str()),
        _ => None,
    });
    tidy(&comments.collect::<Vec<_>>().join(" "))
}

fn tidy(name: &str) -> Option<String> {
    let words = name
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    let name: String = words
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(MAX_TEXT)
        .collect();
    Some(trim_unseen(&name).to_owned()).filter(|name| !name.is_empty())
}

fn ends_with_ignoring_case(text: &str, end: &str) -> bool {
    let text = text.trim_end();
    text.len()
        .checked_sub(end.len())
        .and_then(|at| text.get(at..))
        .is_some_and(|t| t.eq_ignore_ascii_case(end))
}
