//! Code with its comments, strings, keywords, numbers and keys marked.

use super::languages::{CodeLanguage, KeySign, Quotes, Spans, SyntaxForm};

/// The HTML of a block with marks may have three times the bytes of the code, and these. Code that
/// needs more is left without marks, so that nothing a user writes makes pages many times as long.
const GROWTH: usize = 3;
const SPARE_BYTES: usize = 512;
/// What may stand right before the quotation marks of a string, in small or capital letters.
const STRING_PREFIXES: [&str; 9] = ["b", "br", "f", "fr", "l", "r", "rb", "rf", "u"];

/// What a piece of code is, as `class` of the element around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CodeKind {
    Comment,
    Keyword,
    Text,
    Number,
    Key,
    Added,
    Removed,
}

impl CodeKind {
    /// The start tag and the end tag. Without a style, keywords are still bold and comments italic.
    fn tags(self) -> (&'static str, &'static str) {
        match self {
            Self::Comment => ("<i class=\"c\">", "</i>"),
            Self::Keyword => ("<b class=\"k\">", "</b>"),
            Self::Text => ("<span class=\"s\">", "</span>"),
            Self::Number => ("<span class=\"n\">", "</span>"),
            Self::Key => ("<span class=\"a\">", "</span>"),
            Self::Added => ("<span class=\"add\">", "</span>"),
            Self::Removed => ("<span class=\"del\">", "</span>"),
        }
    }
}

/// Appends code as HTML, with marks where its language is known.
pub(super) fn write_highlighted(html: &mut String, language: Option<&str>, code: &str) {
    let Some(language) = language.and_then(CodeLanguage::named) else {
        push_code(html, code);
        return;
    };
    let begin = html.len();
    let marked = match language.syntax.form {
        SyntaxForm::Diff => write_diff(html, code),
        SyntaxForm::Words | SyntaxForm::Tags => Scanner::new(html, language, code).write(),
    };
    if marked.is_none() || html.len() - begin > GROWTH * code.len() + SPARE_BYTES {
        html.truncate(begin);
        push_code(html, code);
    }
}

/// Appends code as the text of an element. There quotation marks need no escape, and code has many.
fn push_code(html: &mut String, code: &str) {
    for char in code.chars() {
        match char {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            other => html.push(other),
        }
    }
}

/// What is left of the bytes that tags may have.
struct SpareBytes(usize);

impl SpareBytes {
    fn of(code: &str) -> Self {
        Self((GROWTH - 1) * code.len() + SPARE_BYTES)
    }

    /// Appends a piece as an element, or gives `None` when that would be too much.
    fn enclose(&mut self, html: &mut String, kind: CodeKind, piece: &str) -> Option<()> {
        let (start, end) = kind.tags();
        self.0 = self.0.checked_sub(start.len() + end.len())?;
        html.push_str(start);
        push_code(html, piece);
        html.push_str(end);
        Some(())
    }
}

fn write_diff(html: &mut String, code: &str) -> Option<()> {
    let mut spare = SpareBytes::of(code);
    for line in code.split_inclusive('\n') {
        let kind = match line.as_bytes().first() {
            Some(b'+') if !line.starts_with("+++") => Some(CodeKind::Added),
            Some(b'-') if !line.starts_with("---") => Some(CodeKind::Removed),
            Some(b'@') => Some(CodeKind::Comment),
            _ => None,
        };
        match kind {
            Some(kind) => spare.enclose(html, kind, line)?,
            None => push_code(html, line),
        }
    }
    Some(())
}

/// Code that is being written, from front to back.
struct Scanner<'c, 'h> {
    language: &'static CodeLanguage,
    code: &'c str,
    at: usize,
    html: &'h mut String,
    spare: SpareBytes,
    /// Up to where the quotation marks of each kind are known not to be closed, so that no byte is
    /// searched again and again.
    unclosed: Vec<usize>,
    /// Whether the block comment was found not to be closed.
    is_comment_unclosed: bool,
    /// Whether an element was begun, in languages that have them.
    is_in_tag: bool,
}

impl<'c, 'h> Scanner<'c, 'h> {
    fn new(html: &'h mut String, language: &'static CodeLanguage, code: &'c str) -> Self {
        Self {
            language,
            code,
            at: 0,
            html,
            spare: SpareBytes::of(code),
            unclosed: vec![0; language.syntax.strings.len()],
            is_comment_unclosed: false,
            is_in_tag: false,
        }
    }

    fn write(mut self) -> Option<()> {
        while let Some(c) = self.rest().chars().next() {
            if let Some(length) = self.comment() {
                self.mark(CodeKind::Comment, length)?;
            } else if let Some(length) = self.string() {
                let is_key = self.is_key(length);
                self.mark(
                    if is_key {
                        CodeKind::Key
                    } else {
                        CodeKind::Text
                    },
                    length,
                )?;
            } else if self.language.syntax.form == SyntaxForm::Tags {
                self.tag(c)?;
            } else if is_word_char(c) {
                self.word(c)?;
            } else {
                self.copy(c.len_utf8());
            }
        }
        Some(())
    }

    fn rest(&self) -> &'c str {
        &self.code[self.at..]
    }

    fn before(&self) -> Option<char> {
        self.code[..self.at].chars().next_back()
    }

    fn copy(&mut self, length: usize) {
        push_code(self.html, &self.rest()[..length]);
        self.at += length;
    }

    fn mark(&mut self, kind: CodeKind, length: usize) -> Option<()> {
        let piece = &self.rest()[..length];
        self.at += length;
        self.spare.enclose(self.html, kind, piece)
    }

    /// The length of the comment that begins here.
    fn comment(&mut self) -> Option<usize> {
        let rest = self.rest();
        let syntax = &self.language.syntax;
        if let Some((open, close)) = syntax.block_comment
            && !self.is_comment_unclosed
            && let Some(inside) = rest.strip_prefix(open)
        {
            match inside.find(close) {
                Some(end) => return Some(open.len() + end + close.len()),
                None => self.is_comment_unclosed = true,
            }
        }
        let begins = |mark: &&&str| rest.starts_with(**mark);
        let mark = syntax.line_comment.iter().find(begins)?;
        // `$#`, `a#b` and `http://` are no comments.
        let is_apart = match *mark {
            "//" => self.before() != Some(':'),
            "#" | ";" => self.before().is_none_or(char::is_whitespace),
            _ => true,
        };
        is_apart.then(|| line_length(rest))
    }

    /// The length of the string that begins here.
    fn string(&mut self) -> Option<usize> {
        let rest = self.rest();
        let strings = self.language.syntax.strings;
        let is_text = self.language.syntax.form == SyntaxForm::Tags && !self.is_in_tag;
        let begins = |quotes: &Quotes| rest.starts_with(quotes.open);
        let nth = strings.iter().position(begins).filter(|_| !is_text)?;
        let quotes = strings[nth];
        let is_apostrophe = quotes.open.starts_with('\'') && self.is_in_word();
        if self.at < self.unclosed[nth] || is_apostrophe {
            return None;
        }
        let inside = &rest[quotes.open.len()..];
        let searched = match quotes.spans {
            Spans::Lines => inside,
            Spans::Line => &inside[..line_length(inside)],
            Spans::Char => &inside[..char_length(inside)],
        };
        let length = closing(searched, quotes.close);
        if length.is_none() && quotes.spans != Spans::Char {
            self.unclosed[nth] = self.at + quotes.open.len() + searched.len();
        }
        Some(quotes.open.len() + length?)
    }

    /// Whether an apostrophe here belongs to a word. Behind the prefix of a string it begins one, as
    /// in `f'a'`.
    fn is_in_word(&self) -> bool {
        let before = self.code[..self.at].rsplit(|c| !is_word_char(c)).next();
        let word = before.unwrap_or_default();
        let is_prefix = |prefix: &str| prefix.eq_ignore_ascii_case(word);
        !word.is_empty() && !STRING_PREFIXES.into_iter().any(is_prefix)
    }

    /// At a word or a number.
    fn word(&mut self, first: char) -> Option<()> {
        let rest = self.rest();
        // A word that begins with a digit is short, since what is behind the number is read again.
        let is_long = self.language.syntax.keys != KeySign::None && !first.is_ascii_digit();
        let is_part = |c: char| is_word_char(c) || (is_long && matches!(c, '-' | '.'));
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        if self.is_key(length) {
            return self.mark(CodeKind::Key, length);
        }
        if first.is_ascii_digit() {
            return self.mark(CodeKind::Number, number_length(rest));
        }
        if self.language.has_keyword(word) {
            return self.mark(CodeKind::Keyword, length);
        }
        self.copy(length);
        Some(())
    }

    /// Whether so many bytes are the name of what follows, as `key` in `key: 1`.
    fn is_key(&self, length: usize) -> bool {
        let behind = self.rest()[length..].trim_start_matches([' ', '\t']);
        match self.language.syntax.keys {
            KeySign::None => false,
            KeySign::Equals => behind.starts_with('='),
            KeySign::Colon => behind
                .strip_prefix(':')
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)),
        }
    }

    /// In a language of elements, where there is neither a comment nor a string.
    fn tag(&mut self, first: char) -> Option<()> {
        let rest = self.rest();
        if first == '<' {
            let sign = if rest.starts_with("</") { 2 } else { 1 };
            self.copy(sign);
            let length = name_length(&rest[sign..]);
            self.is_in_tag = true;
            return match length {
                0 => Some(()),
                _ => self.mark(CodeKind::Keyword, length),
            };
        }
        if first == '>' {
            self.is_in_tag = false;
        }
        match name_length(rest) {
            0 => self.copy(first.len_utf8()),
            length if self.is_in_tag => self.mark(CodeKind::Key, length)?,
            length => self.copy(length),
        }
        Some(())
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a line without its end.
fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The length of one character, or of an escape, with the quotation mark behind it.
fn char_length(text: &str) -> usize {
    let mut chars = text.chars();
    let first = chars.next().map_or(0, char::len_utf8);
    let inside = if text.starts_with('\\') {
        let escaped = chars.next().map_or(0, char::len_utf8);
        // `\u{10ffff}` is the longest.
        let code = chars.as_str().find('\'').filter(|at| *at <= 8);
        first + escaped + code.unwrap_or_default()
    } else {
        first
    };
    let end = (inside + 1).min(text.len());
    if text.is_char_boundary(end) { end } else { 0 }
}

/// Where a string that was begun before `text` is closed: the length with the closing mark.
fn closing(text: &str, close: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(next) = text[at..].find(['\\', close.chars().next()?]) {
        at += next;
        if text[at..].starts_with(close) {
            return Some(at + close.len());
        }
        let mut skipped = text[at..].chars();
        if skipped.next() == Some('\\') {
            skipped.next();
        }
        at = text.len() - skipped.as_str().len();
    }
    None
}

/// The length of a number, with its fraction and its unit.
fn number_length(text: &str) -> usize {
    let whole = text.find(|c| !is_word_char(c)).unwrap_or(text.len());
    let fraction = text[whole..]
        .strip_prefix('.')
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let fraction = fraction.map_or(0, |rest| {
        1 + rest.find(|c| !is_word_char(c)).unwrap_or(rest.len())
    });
    whole + fraction
}

/// The length of the name of an element or an attribute.
fn name_length(text: &str) -> usize {
    let is_part = |c: char| is_word_char(c) || matches!(c, '-' | ':');
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code with short marks: `k(fn) main`.
    fn marked(language: &str, code: &str) -> String {
        let mut html = String::new();
        write_highlighted(&mut html, Some(language), code);
        for kind in [
            CodeKind::Comment,
            CodeKind::Keyword,
            CodeKind::Text,
            CodeKind::Number,
            CodeKind::Key,
            CodeKind::Added,
            CodeKind::Removed,
        ] {
            let (start, _) = kind.tags();
            let class = start.split('"').nth(1).unwrap();
            html = html.replace(start, &format!("{class}("));
        }
        for end in ["</b>", "</i>", "</span>"] {
            html = html.replace(end, ")");
        }
        html
    }

    #[test]
    fn words_of_a_program_are_told_apart() {
        for (language, code, html) in [
            (
                "rust",
                "fn a<'a>(x: &'a str) -> char { 'x' } // ok",
                "k(fn) a&lt;'a&gt;(x: &amp;'a str) -&gt; char { s('x') } c(// ok)",
            ),
            (
                "rs",
                "let s = r#\"a \"b\"#; '\\'' '\\u{1F600}' 1_000.5f64 0..2",
                "k(let) s = s(r#\"a \"b\"#); s('\\'') s('\\u{1F600}') n(1_000.5f64) n(0)..n(2)",
            ),
            (
                "js",
                "const a = `x\n${y}`; /* b\n */ it's",
                "k(const) a = s(`x\n${y}`); c(/* b\n */) it's",
            ),
            (
                "Python",
                "def f(): # why\n  \"\"\"doc\n  \"\"\"\n  return 'a\\'b'",
                "k(def) f(): c(# why)\n  s(\"\"\"doc\n  \"\"\")\n  k(return) s('a\\'b')",
            ),
            (
                "py",
                "print(f\"if {x}!\", end=\"\", rb'b', don't)",
                "print(fs(\"if {x}!\"), end=s(\"\"), rbs('b'), don't)",
            ),
            ("rust", "b\"a b!\" br\"if\"", "bs(\"a b!\") brs(\"if\")"),
            (
                "sh",
                "curl http://a.b/#c # fetch\necho \"$#\"",
                "curl http://a.b/#c c(# fetch)\nk(echo) s(\"$#\")",
            ),
            (
                "sql",
                "SELECT count(*) from t -- all",
                "k(SELECT) count(*) k(from) t c(-- all)",
            ),
        ] {
            assert_eq!(marked(language, code), html);
        }
    }

    #[test]
    fn keys_of_data_are_told_from_values() {
        for (language, code, html) in [
            (
                "json",
                "{\"a b\": \"c\", \"d\": [1, true]}",
                "{a(\"a b\"): s(\"c\"), a(\"d\"): [n(1), k(true)]}",
            ),
            (
                "yaml",
                "on-push: # now\n  - a:b\n  n: 1",
                "a(on-push): c(# now)\n  - a:b\n  a(n): n(1)",
            ),
            ("toml", "[a]\nb.c = \"d\"", "[a]\na(b.c) = s(\"d\")"),
            (
                "css",
                "a:hover { max-width: 4px; }",
                "a:hover { a(max-width): n(4px); }",
            ),
            (
                "html",
                "<p id=\"x\">it's <!-- no --></p>",
                "&lt;k(p) a(id)=s(\"x\")&gt;it's c(&lt;!-- no --&gt;)&lt;/k(p)&gt;",
            ),
            (
                "diff",
                "--- a\n+++ b\n@@ 1 @@\n-old\n+new\n same",
                "--- a\n+++ b\nc(@@ 1 @@\n)del(-old\n)add(+new\n) same",
            ),
        ] {
            assert_eq!(marked(language, code), html);
        }
    }

    #[test]
    fn code_of_an_unknown_language_and_code_that_would_grow_too_long_stay_plain() {
        assert_eq!(marked("klingon", "fn 1"), "fn 1");
        let dense = "1 ".repeat(1_000);
        assert_eq!(marked("rust", &dense), dense);
        assert_eq!(marked("rust", "1 1"), "n(1) n(1)");
        // Tags and escapes count together.
        let escaped = "<a<".repeat(500) + " \"b\"";
        assert!(marked("rust", &escaped).ends_with("s(\"b\")"));
        let escaped = "1<<".repeat(500);
        assert!(!marked("rust", &escaped).contains("n(1)"));
    }
}
