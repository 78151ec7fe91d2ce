//! HTML as a sequence of tags and text, after the tokenizer of the HTML standard (section 13.2.5),
//! without its errors and without entities. Every byte is looked at a bounded number of times.

/// A part of a text. What it borrows is as it was written: entities are not decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// May be any text, a lone `<` included.
    Text(&'a str),
    /// A start tag, with its attributes in their order, repeated ones included.
    Start(&'a str, Vec<(&'a str, &'a str)>),
    End(&'a str),
}

/// Elements that show nothing of their content, and whose content is not made of tags.
const RAW: &[&str] = &[
    "script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp",
];

/// The pieces of a text. Comments, declarations and the content of scripts and the like are passed
/// over, and so is a tag that does not end.
pub(crate) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(html: &'a str) -> Self {
        Self { rest: html }
    }

    /// Takes all up to the first character of these, or everything.
    fn take_until(&mut self, ends: impl Fn(u8) -> bool) -> &'a str {
        let at = self.rest.bytes().position(ends).unwrap_or(self.rest.len());
        self.take(at)
    }

    fn take(&mut self, at: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(at);
        self.rest = rest;
        taken
    }

    fn skip(&mut self, prefix: &str) -> bool {
        let skipped = self.rest.strip_prefix(prefix);
        self.rest = skipped.unwrap_or(self.rest);
        skipped.is_some()
    }

    fn skip_space(&mut self) {
        self.take_until(|byte| !is_space(byte));
    }

    /// Behind `<!--`: to the end of the comment.
    fn skip_comment(&mut self) {
        if self.skip(">") || self.skip("->") {
            return;
        }
        while let Some(at) = self.rest.find("--") {
            self.take(at + 1);
            let behind = &self.rest[1..];
            if let Some(rest) = behind
                .strip_prefix('>')
                .or_else(|| behind.strip_prefix("!>"))
            {
                self.rest = rest;
                return;
            }
        }
        self.rest = "";
    }

    /// To the end of a declaration, or of what only begins like a tag.
    fn skip_bogus(&mut self) {
        self.take_until(|byte| byte == b'>');
        self.skip(">");
    }

    /// Behind the start tag of such an element: to its end tag.
    fn skip_raw(&mut self, name: &str) {
        while let Some(at) = self.rest.find("</") {
            self.take(at + 2);
            let Some((found, behind)) = self.rest.split_at_checked(name.len()) else {
                continue;
            };
            if found.eq_ignore_ascii_case(name) && behind.bytes().next().is_none_or(ends_name) {
                self.skip_bogus();
                return;
            }
        }
        self.rest = "";
    }

    /// Behind the name of a tag: its attributes, or `None` when the text ends before the tag does.
    fn attributes(&mut self) -> Option<Vec<(&'a str, &'a str)>> {
        let mut attributes = Vec::new();
        loop {
            self.take_until(|byte| !is_space(byte) && byte != b'/');
            if self.skip(">") {
                return Some(attributes);
            }
            // An equals sign at the very beginning is part of the name.
            let begin = usize::from(self.rest.starts_with('='));
            let length = self
                .rest
                .bytes()
                .skip(begin)
                .position(|byte| ends_name(byte) || byte == b'=')?;
            let name = self.take(begin + length);
            self.skip_space();
            let value = if self.skip("=") { self.value()? } else { "" };
            attributes.push((name, value));
        }
    }

    fn value(&mut self) -> Option<&'a str> {
        self.skip_space();
        for quote in ['"', '\''] {
            if let Some(rest) = self.rest.strip_prefix(quote) {
                let (value, rest) = rest.split_once(quote)?;
                self.rest = rest;
                return Some(value);
            }
        }
        Some(self.take_until(|byte| is_space(byte) || byte == b'>'))
    }

    /// What begins with `<`; `None` for what is passed over.
    fn markup(&mut self) -> Option<Piece<'a>> {
        let text = self.take(1);
        let letter = |rest: &str| rest.starts_with(|first: char| first.is_ascii_alphabetic());
        if self.skip("!--") {
            self.skip_comment();
        } else if letter(self.rest) {
            let name = self.take_until(ends_name);
            let attributes = self.attributes().or_else(|| self.give_up())?;
            if let Some(raw) = RAW.iter().find(|raw| raw.eq_ignore_ascii_case(name)) {
                self.skip_raw(raw);
            } else {
                return Some(Piece::Start(name, attributes));
            }
        } else if self.rest.strip_prefix('/').is_some_and(letter) {
            self.take(1);
            let name = self.take_until(ends_name);
            self.attributes().or_else(|| self.give_up())?;
            return Some(Piece::End(name));
        } else if self.rest.starts_with(['!', '?', '/']) {
            self.skip_bogus();
        } else {
            return Some(Piece::Text(text));
        }
        None
    }

    /// A tag that does not end swallows the rest.
    fn give_up<T>(&mut self) -> Option<T> {
        self.rest = "";
        None
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        while !self.rest.is_empty() {
            if !self.rest.starts_with('<') {
                return Some(Piece::Text(self.take_until(|byte| byte == b'<')));
            }
            if let Some(piece) = self.markup() {
                return Some(piece);
            }
        }
        None
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

fn ends_name(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'/' | b'>')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(html: &str) -> Vec<Piece<'_>> {
        Scanner::new(html).collect()
    }

    #[test]
    fn tags_have_names_and_attributes_as_they_were_written() {
        assert_eq!(
            pieces("a<B Href='x\"y' b=\"1>2\" c=d/ e =  f =g>h</B i>"),
            [
                Piece::Text("a"),
                Piece::Start(
                    "B",
                    vec![
                        ("Href", "x\"y"),
                        ("b", "1>2"),
                        ("c", "d/"),
                        ("e", "f"),
                        ("=g", "")
                    ]
                ),
                Piece::Text("h"),
                Piece::End("B"),
            ]
        );
    }

    #[test]
    fn comments_declarations_and_scripts_are_passed_over() {
        for html in [
            "<!-- a -- > <b> -->",
            "<!--><!---><!-- --!>",
            "<!doctype html><?xml version='1'?></ b><!b>",
            "<![CDATA[ a ]]>",
            "<script>if (a < b) '</scripty>'</SCRIPT x>",
            "<style></styl</style/>",
            "<title><!--</title>",
            "<!-- never ends <b>",
            "<script>never ends <b>",
            "<b never=\"ends>",
            "</b",
        ] {
            assert_eq!(pieces(html), [], "{html}");
        }
    }

    #[test]
    fn a_lone_angle_bracket_is_text() {
        let texts: String = pieces("1 < 2 <3 <<")
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(texts, "1 < 2 <3 <<");
    }
}
