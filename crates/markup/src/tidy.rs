//! Brings a text into order before it is parsed: only known tags, each closed where it must be, and
//! no more than a hundred of them open.
//!
//! A parser that recovers like a browser does can be made to build a tree far larger than its text,
//! or to look through all of it at every tag. Neither happens when elements are closed before their
//! parents, and when tables hold nothing but cells.

use crate::elements::{CELL, Element, ElementKind, Kept, ROW};
use crate::scan::{Piece, Scanner};

/// How deep elements may be nested; the tags of deeper ones are left out.
const MAX_DEPTH: usize = 100;

/// The longest value of an attribute; longer ones are left out.
const MAX_VALUE: usize = 8 * 1024;
/// After so many characters that it writes in another form, the serialiser gets a new piece of
/// text. It looks at what is left of the piece at each of them.
const SPECIALS_OF_A_PIECE: usize = 256;

/// The text with the tags that may be kept, and an order that a parser has little to do with.
pub(crate) fn tidy(html: &str, kept: Kept) -> String {
    let mut tidy = Tidy {
        kept,
        out: String::with_capacity(html.len()),
        open: Vec::new(),
        separate: false,
        after_pre: false,
        specials: 0,
    };
    for piece in Scanner::new(html) {
        match piece {
            Piece::Text(text) => tidy.text(text),
            Piece::Start(name, attributes) => tidy.start(name, &attributes),
            Piece::End(name) => tidy.end(name),
        }
    }
    tidy.close_to(0);
    tidy.out
}

struct Tidy {
    kept: Kept,
    out: String,
    open: Vec<&'static Element>,
    /// An element was left out that separates what stands before it from what follows.
    separate: bool,
    after_pre: bool,
    specials: usize,
}

impl Tidy {
    fn text(&mut self, text: &str) {
        // A parser drops the first line break of a `pre`, and would drop another each time.
        let text = if self.after_pre {
            text.trim_start_matches(['\r', '\n', '\0'])
        } else {
            text
        };
        if text.is_empty() {
            return;
        }
        if !text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            self.need_cell();
        }
        self.separate();
        self.after_pre = false;
        for char in text.chars() {
            if matches!(char, '&' | '<' | '>' | '\u{80}'..='\u{bf}') {
                self.specials += 1;
                if self.specials.is_multiple_of(SPECIALS_OF_A_PIECE) {
                    // A comment splits the text and goes away.
                    self.out.push_str("<!---->");
                }
            }
            match char {
                '\0' => {}
                '<' => self.out.push_str("&lt;"),
                other => self.out.push(other),
            }
        }
    }

    fn start(&mut self, name: &str, attributes: &[(&str, &str)]) {
        let Some(element) = Element::named(name) else {
            return;
        };
        if !self.kept.keeps(element) {
            self.separate |= element.separates();
            return;
        }
        let has_target = || {
            attributes
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case("href"))
        };
        if element.kind == ElementKind::Link && !has_target() {
            return;
        }
        if self.open.len() >= MAX_DEPTH || !self.make_room(element) {
            return;
        }
        self.separate();
        self.open(element, attributes);
    }

    /// Closes what the element ends by beginning, and opens what it needs around it. `false` when
    /// it has no place here.
    fn make_room(&mut self, element: &Element) -> bool {
        if element.is_tabular() && element.kind != ElementKind::Table {
            return self.make_room_in_table(element);
        }
        self.need_cell();
        if element.ends_paragraph() {
            self.close_last(
                |open| open.kind == ElementKind::Paragraph,
                Element::is_tabular,
            );
        }
        match element.kind {
            ElementKind::Heading => {
                self.close_last(
                    |open| open.kind == ElementKind::Heading,
                    |open| open.kind != ElementKind::Inline,
                );
            }
            ElementKind::Item => self.close_last(
                |open| open.kind == ElementKind::Item,
                |open| {
                    open.kind == ElementKind::List || open.is_tabular() || open.name == "blockquote"
                },
            ),
            ElementKind::Link => {
                self.close_last(|open| open.kind == ElementKind::Link, Element::is_tabular);
                return !self.open.iter().any(|open| open.kind == ElementKind::Link);
            }
            _ => {}
        }
        true
    }

    fn make_room_in_table(&mut self, element: &Element) -> bool {
        let Some(table) = self
            .open
            .iter()
            .rposition(|open| open.kind == ElementKind::Table)
        else {
            return false;
        };
        let is_cell = element.kind == ElementKind::Cell && element.name != "caption";
        let parent = self.open[table..].iter().rposition(|open| match open.kind {
            ElementKind::Row => is_cell,
            ElementKind::Section => is_cell || element.kind == ElementKind::Row,
            kind => kind == ElementKind::Table,
        });
        self.close_to(table + parent.unwrap_or(0) + 1);
        if is_cell
            && self
                .open
                .last()
                .is_some_and(|open| open.kind != ElementKind::Row)
        {
            self.open(ROW, &[]);
        }
        true
    }

    /// What stands in a table stands in a cell.
    fn need_cell(&mut self) {
        if self.open.last().is_some_and(|open| open.holds_cells()) {
            self.make_room_in_table(CELL);
            self.open(CELL, &[]);
        }
    }

    fn end(&mut self, name: &str) {
        let Some(element) = Element::named(name) else {
            return;
        };
        if !self.kept.keeps(element) {
            self.separate |= element.separates();
            return;
        }
        let same = |open: &Element| open.name == element.name;
        if element.is_tabular() {
            self.close_last(same, |open| open.kind == ElementKind::Table);
        } else {
            self.close_last(same, Element::is_tabular);
        }
    }

    /// Closes the innermost open element of this sort and all in it, unless another of the second
    /// sort lies between.
    fn close_last(&mut self, wanted: impl Fn(&Element) -> bool, hides: impl Fn(&Element) -> bool) {
        let found = self
            .open
            .iter()
            .rposition(|open| wanted(open) || hides(open));
        if let Some(at) = found.filter(|at| wanted(self.open[*at])) {
            self.close_to(at);
        }
    }

    fn close_to(&mut self, depth: usize) {
        for element in self.open.drain(depth..).rev() {
            self.out.push_str("</");
            self.out.push_str(element.name);
            self.out.push('>');
            self.after_pre = false;
        }
    }

    fn open(&mut self, element: &'static Element, attributes: &[(&str, &str)]) {
        self.out.push('<');
        self.out.push_str(element.name);
        for name in element.attributes {
            let given = attributes
                .iter()
                .find(|(given, _)| given.eq_ignore_ascii_case(name));
            if let Some((_, value)) = given.filter(|(_, value)| value.len() <= MAX_VALUE) {
                write_attribute(&mut self.out, name, value);
            }
        }
        self.out.push('>');
        self.after_pre = element.name == "pre";
        if element.kind != ElementKind::Void {
            self.open.push(element);
        }
    }

    fn separate(&mut self) {
        if std::mem::take(&mut self.separate) && !self.out.is_empty() {
            self.out.push(if self.kept == Kept::Nothing {
                '\n'
            } else {
                ' '
            });
        }
    }
}

/// Writes an attribute between quotation marks. The value is HTML already: its entities stay.
pub(crate) fn write_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    for char in value.chars() {
        match char {
            '\0' => {}
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out.push('"');
}
