//! What a list of addresses is made of: quotation marks, comments, angle brackets and the text
//! between them (RFC 5322, section 3.2).

use super::AddressError;

/// A part of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text without meaning of its own.
    Plain(&'a str),
    /// What stands in quotation marks, without them and their backslashes.
    Quoted(String),
    /// What stands in parentheses; those inside are kept.
    Comment(String),
    /// `<`
    Open,
    /// `>`
    Close,
}

impl Piece<'_> {
    /// Whether the piece is more than white space or a comment.
    pub(super) fn is_solid(&self) -> bool {
        match self {
            Self::Plain(text) => !super::trim_unseen(text).is_empty(),
            Self::Comment(_) => false,
            Self::Quoted(_) | Self::Open | Self::Close => true,
        }
    }

    /// The text that the piece stands for. A comment separates as a space does.
    pub(super) fn written(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Quoted(text) => text,
            Self::Comment(_) => " ",
            Self::Open => "<",
            Self::Close => ">",
        }
    }
}

/// Takes a text to pieces. Quotation marks and parentheses must be closed.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, AddressError> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let piece;
        (piece, rest) = match first {
            '"' => enclosed(rest)
                .map(|(text, rest)| (Piece::Quoted(text), rest))
                .ok_or(AddressError::UnclosedQuote)?,
            '(' => enclosed(rest)
                .map(|(text, rest)| (Piece::Comment(text), rest))
                .ok_or(AddressError::UnclosedComment)?,
            '<' => (Piece::Open, &rest[1..]),
            '>' => (Piece::Close, &rest[1..]),
            _ => {
                let (plain, rest) =
                    rest.split_at(rest.find(['"', '(', '<', '>']).unwrap_or(rest.len()));
                (Piece::Plain(plain), rest)
            }
        };
        pieces.push(piece);
    }
    Ok(pieces)
}

/// What the text's first quotation mark or parenthesis encloses, and what follows.
fn enclosed(text: &str) -> Option<(String, &str)> {
    let mut nesting = Nesting::default();
    let mut inside = String::new();
    for (at, c) in text.char_indices() {
        let was_escape = nesting.escaped;
        nesting.enter(c);
        if nesting.is_outside() {
            return Some((inside, &text[at + 1..]));
        }
        if at > 0 && (was_escape || !nesting.escaped) {
            inside.push(c);
        }
    }
    None
}

/// Cuts the text at the separators that stand outside of quotation marks and comments.
pub(super) fn split_outside<F: Fn(char) -> bool>(
    text: &str,
    is_separator: F,
) -> impl Iterator<Item = &str> {
    let mut nesting = Nesting::default();
    // `split` asks about each character once, in their order.
    text.split(move |c| {
        let separates = nesting.is_outside() && is_separator(c);
        nesting.enter(c);
        separates
    })
}

/// How deep a text is in quotation marks or comments, character by character.
#[derive(Clone, Copy, Default)]
struct Nesting {
    quoted: bool,
    comments: usize,
    escaped: bool,
}

impl Nesting {
    fn is_outside(self) -> bool {
        !self.quoted && self.comments == 0
    }

    fn enter(&mut self, c: char) {
        if self.escaped {
            self.escaped = false;
            return;
        }
        match c {
            '\\' => self.escaped = !self.is_outside(),
            '"' => self.quoted = !self.quoted && self.comments == 0,
            '(' if !self.quoted => self.comments += 1,
            ')' if !self.quoted => self.comments = self.comments.saturating_sub(1),
            _ => {}
        }
    }
}
