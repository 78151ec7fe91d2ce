//! What light markdown there is within one line of chat text.

use eddyline_syntax::{CodeSpan, code_spans, link_at, other_address_at};

use super::addresses::named_link;
use super::delimiters::{is_in_word, is_visible, may_open, shared_length};
use super::words::{is_word_char, nick_length, tag_length};
use crate::{REL, push_escaped};

/// The most bytes of the name of an emoji; longer ones are not looked up.
const MAX_EMOJI_NAME: usize = 64;

/// Appends a line as HTML.
pub(super) fn write_line(html: &mut String, text: &str) {
    Line::new(html, text).write();
}

/// A delimiter that may begin an element, and has been written as text so far.
struct Opener {
    marker: char,
    /// How many of the marker are there, and not yet part of an element.
    left: usize,
    /// Where they are in the HTML.
    at: usize,
}

/// A line that is being rendered, from front to back. Delimiters are written as text; when a later
/// one closes an element, its start tag takes the place of the earlier one.
struct Line<'t, 'h> {
    text: &'t str,
    at: usize,
    html: &'h mut String,
    /// From the outermost to the innermost. No two are alike, so there are few of them, and the
    /// elements are not nested deeper.
    openers: Vec<Opener>,
    /// Whether links are made, which do not contain each other.
    has_links: bool,
    /// The code in it.
    spans: Vec<CodeSpan>,
}

impl<'t, 'h> Line<'t, 'h> {
    fn new(html: &'h mut String, text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            html,
            openers: Vec::new(),
            has_links: true,
            spans: code_spans(text),
        }
    }

    fn write(mut self) {
        while let Some(c) = self.rest().chars().next() {
            match c {
                '`' => self.code(),
                '*' | '_' | '~' => self.emphasis(c),
                '[' => self.named_link(),
                ':' => self.colon(),
                'h' | 'H' | 'm' | 'M' | 'w' | 'W' => self.address(c),
                '@' | '＠' => self.mention(c),
                '#' | '＃' => self.tag(c),
                _ => self.copy(self.rest().find(is_special).unwrap_or(self.rest().len())),
            }
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn before(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    /// Writes so many bytes as text.
    fn copy(&mut self, length: usize) {
        push_escaped(self.html, &self.rest()[..length]);
        self.at += length;
    }

    /// Writes so many bytes as an element.
    fn enclose(&mut self, start: &str, length: usize, end: &str) {
        self.html.push_str(start);
        self.copy(length);
        self.html.push_str(end);
    }

    /// At a backtick: code, or the backticks as text.
    fn code(&mut self) {
        let place = self
            .spans
            .binary_search_by_key(&self.at, |span| span.range.start);
        let Ok(place) = place else {
            self.copy(run_length(self.rest(), '`'));
            return;
        };
        let CodeSpan { range, code } = self.spans[place].clone();
        self.html.push_str("<code>");
        push_escaped(self.html, &self.text[code]);
        self.html.push_str("</code>");
        self.at = range.end;
    }

    /// Whether a place of the text is in code.
    fn is_code(&self, at: usize) -> bool {
        let place = self.spans.partition_point(|span| span.range.end <= at);
        let span = self.spans.get(place);
        span.is_some_and(|span| span.range.start < at)
    }

    /// At a delimiter: closes elements, or may begin one.
    fn emphasis(&mut self, marker: char) {
        let count = run_length(self.rest(), marker);
        let after = self.rest()[count..].chars().next();
        let before = self.before();
        let is_delimiter = match marker {
            '*' => count <= 3,
            '_' => count == 1,
            _ => count == 2,
        };
        // Words may be struck out in part.
        let is_anywhere = marker == '~';
        let mut left = count;
        if is_delimiter && is_visible(before) && (is_anywhere || !is_in_word(after)) {
            left = self.close(marker, count);
        }
        if left == count
            && is_delimiter
            && is_visible(after)
            && (is_anywhere || may_open(before, after))
        {
            self.open(marker, count, self.html.len());
        }
        self.html.extend(std::iter::repeat_n(marker, left));
        self.at += count;
    }

    /// Remembers a delimiter. One of the same kind that is open becomes text, since an element
    /// within one of its kind shows nothing new.
    fn open(&mut self, marker: char, left: usize, at: usize) {
        self.openers
            .retain(|opener| opener.marker != marker || opener.left != left);
        self.openers.push(Opener { marker, left, at });
    }

    /// Ends the elements that a delimiter of so many markers closes, and gives how many of them are
    /// left. What was opened within them remains text.
    fn close(&mut self, marker: char, count: usize) -> usize {
        let mut left = count;
        while left > 0 {
            let found = self.openers.iter().rposition(|opener| {
                opener.marker == marker && shared_length(opener.left, left).is_some()
            });
            let Some(opener) = found.and_then(|at| self.openers.drain(at..).next()) else {
                break;
            };
            let Some(length) = shared_length(opener.left, left) else {
                break;
            };
            let (start, end) = match (marker, length) {
                ('~', _) => ("<s>", "</s>"),
                (_, 2) => ("<b>", "</b>"),
                _ => ("<i>", "</i>"),
            };
            let unused = opener.left - length;
            let at = opener.at + unused;
            self.html.replace_range(at..at + length, start);
            self.html.push_str(end);
            left -= length;
            if unused > 0 {
                self.open(marker, unused, opener.at);
            }
        }
        left
    }

    fn is_open(&self, marker: char) -> bool {
        self.openers.iter().any(|opener| opener.marker == marker)
    }

    /// At a bracket: a link with a text of its own, or the bracket as text.
    fn named_link(&mut self) {
        let link = self.has_links.then(|| named_link(self.rest())).flatten();
        // Code binds tighter than brackets.
        let is_cut = |text: usize, length: usize| {
            self.is_code(self.at + 1 + text) || self.is_code(self.at + length)
        };
        let link = link.filter(|link| !is_cut(link.text.len(), link.length));
        let Some(link) = link else {
            self.copy(1);
            return;
        };
        self.begin_link("", link.address);
        Line {
            has_links: false,
            ..Line::new(self.html, link.text)
        }
        .write();
        self.html.push_str("</a>");
        self.at += link.length;
    }

    /// At a colon: an emoji by its name, or what an address may be.
    fn colon(&mut self) {
        match emoji_name(self.rest(), self.before()) {
            Some((emoji, length)) => {
                self.html.push_str(emoji);
                self.at += length;
            }
            None => self.address(':'),
        }
    }

    /// At what an address may begin with: a link, the address as text, or the character alone.
    /// Nothing is looked for in an address that is no link, since it has no tags.
    fn address(&mut self, first: char) {
        let (rest, before) = (self.rest(), self.before());
        let is_open = |c| matches!(c, '*' | '_' | '~') && self.is_open(c);
        if first == ':' {
            let has_scheme = before.is_some_and(|c| c.is_ascii_alphanumeric());
            let other = has_scheme
                .then(|| other_address_at(rest, is_open))
                .flatten();
            self.copy(other.unwrap_or(1));
            return;
        }
        let Some(link) = link_at(rest, before, is_open) else {
            self.copy(1);
            return;
        };
        if !link.is_link || !self.has_links {
            self.copy(link.length);
            return;
        }
        let scheme = if link.is_bare { "http://" } else { "" };
        self.begin_link(scheme, &rest[..link.length]);
        self.copy(link.length);
        self.html.push_str("</a>");
    }

    fn begin_link(&mut self, scheme: &str, address: &str) {
        self.html.extend(["<a href=\"", scheme]);
        push_escaped(self.html, &address.replace(' ', "%20"));
        self.html
            .extend(["\" rel=\"", REL, "\" target=\"_blank\">"]);
    }

    /// At an `@`: a mention, or the sign as text.
    fn mention(&mut self, sign: char) {
        let sign = sign.len_utf8();
        let begins = !begins_in_word(&self.text[..self.at]);
        let nick = || nick_length(&self.rest()[sign..], self.is_open('_'));
        match begins.then(nick).flatten() {
            Some(nick) => self.enclose("<b class=\"at\">", sign + nick, "</b>"),
            None => self.copy(sign),
        }
    }

    /// At a `#`: a tag, or the sign as text.
    fn tag(&mut self, sign: char) {
        let sign = sign.len_utf8();
        // `&#39;` is an HTML entity, and `/#` a part of an address that was written in short.
        let is_joined = |c| is_word_char(c) || matches!(c, '&' | '/');
        let begins = !self.before().is_some_and(is_joined);
        let tag = || tag_length(&self.rest()[sign..]);
        match begins.then(tag).flatten() {
            Some(tag) => self.enclose("<b class=\"tag\">", sign + tag, "</b>"),
            None => self.copy(sign),
        }
    }
}

/// The emoji whose name a text begins with, between colons, and the length of the name with the
/// colons in bytes. A name beside a letter, a digit or another colon is text, as in a time.
fn emoji_name(rest: &str, before: Option<char>) -> Option<(&'static str, usize)> {
    if before.is_some_and(|c| is_word_char(c) || c == ':') {
        return None;
    }
    let inside = rest.strip_prefix(':')?;
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-');
    let end = inside
        .find(|c| !is_of_name(c))
        .filter(|end| *end <= MAX_EMOJI_NAME)?;
    let after = inside[end..].strip_prefix(':')?;
    if after.starts_with(|c| is_word_char(c) || c == ':') {
        return None;
    }
    let emoji = emojis::get_by_shortcode(&inside[..end].to_ascii_lowercase())?;
    Some((emoji.as_str(), end + 2))
}

/// Whether a character may begin something other than text.
fn is_special(c: char) -> bool {
    matches!(
        c,
        '`' | '*'
            | '_'
            | '~'
            | '['
            | ':'
            | 'h'
            | 'H'
            | 'm'
            | 'M'
            | 'w'
            | 'W'
            | '@'
            | '＠'
            | '#'
            | '＃'
    )
}

/// How many of a character of ASCII `text` begins with.
fn run_length(text: &str, marker: char) -> usize {
    text.len() - text.trim_start_matches(marker).len()
}

/// Whether an `@` behind this text is within a word, as in an address. One `_` before it, which
/// begins no word, is emphasis.
fn begins_in_word(before: &str) -> bool {
    let outside = before.strip_suffix('_').unwrap_or(before);
    let last = |text: &str| text.chars().next_back().is_some_and(is_word_char);
    last(outside)
}
