//! The elements and attributes that a body may have, and how elements contain each other.

/// Which elements a text may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    All,
    Links,
    Nothing,
}

impl Kept {
    pub(crate) fn keeps(self, element: &Element) -> bool {
        match self {
            Self::All => true,
            Self::Links => element.kind == Kind::Link,
            Self::Nothing => false,
        }
    }
}

/// What an element is to those around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Inline,
    Link,
    /// Has no content: `br`, `hr`, `img`.
    Void,
    Paragraph,
    Block,
    Heading,
    List,
    /// `li`, `dt`, `dd`: ended by the next of them.
    Item,
    Table,
    Section,
    Row,
    /// A cell or the caption: what is in a table and may contain anything.
    Cell,
}

#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) attributes: &'static [&'static str],
}

impl Element {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        ELEMENTS
            .iter()
            .find(|element| element.name.eq_ignore_ascii_case(name))
    }

    /// Whether it begins and ends a line, so that the words around it are not one.
    pub(crate) fn separates(&self) -> bool {
        match self.kind {
            Kind::Inline | Kind::Link => false,
            Kind::Void => self.name != "img",
            _ => true,
        }
    }

    /// Whether it ends a paragraph that is open (HTML, section 13.1.2.4).
    pub(crate) fn ends_paragraph(&self) -> bool {
        !matches!(self.kind, Kind::Inline | Kind::Link | Kind::Void) || self.name == "hr"
    }

    /// Whether it is made of parts, so that text belongs into its cells only.
    pub(crate) fn holds_cells(&self) -> bool {
        matches!(self.kind, Kind::Table | Kind::Section | Kind::Row)
    }

    /// Whether it is a table or a part of one.
    pub(crate) fn is_tabular(&self) -> bool {
        self.holds_cells() || self.kind == Kind::Cell
    }
}

const fn element(name: &'static str, kind: Kind, attributes: &'static [&'static str]) -> Element {
    Element {
        name,
        kind,
        attributes,
    }
}

pub(crate) const ROW: &Element = &element("tr", Kind::Row, &[]);
pub(crate) const CELL: &Element = &element("td", Kind::Cell, SPANS);
const SPANS: &[&str] = &["colspan", "rowspan"];

pub(crate) const ELEMENTS: &[Element] = &[
    element("a", Kind::Link, &["href", "title"]),
    element("abbr", Kind::Inline, &["title"]),
    element("b", Kind::Inline, &[]),
    element("blockquote", Kind::Block, &[]),
    element("br", Kind::Void, &[]),
    element("caption", Kind::Cell, &[]),
    element("cite", Kind::Inline, &[]),
    element("code", Kind::Inline, &[]),
    element("dd", Kind::Item, &[]),
    element("del", Kind::Inline, &[]),
    element("div", Kind::Block, &[]),
    element("dl", Kind::List, &[]),
    element("dt", Kind::Item, &[]),
    element("em", Kind::Inline, &[]),
    element("h1", Kind::Heading, &[]),
    element("h2", Kind::Heading, &[]),
    element("h3", Kind::Heading, &[]),
    element("h4", Kind::Heading, &[]),
    element("h5", Kind::Heading, &[]),
    element("h6", Kind::Heading, &[]),
    element("hr", Kind::Void, &[]),
    element("i", Kind::Inline, &[]),
    element(
        "img",
        Kind::Void,
        &["src", "alt", "title", "width", "height"],
    ),
    element("ins", Kind::Inline, &[]),
    element("kbd", Kind::Inline, &[]),
    element("li", Kind::Item, &[]),
    element("ol", Kind::List, &["start"]),
    element("p", Kind::Paragraph, &[]),
    element("pre", Kind::Block, &[]),
    element("q", Kind::Inline, &[]),
    element("s", Kind::Inline, &[]),
    element("samp", Kind::Inline, &[]),
    element("small", Kind::Inline, &[]),
    element("span", Kind::Inline, &[]),
    element("strong", Kind::Inline, &[]),
    element("sub", Kind::Inline, &[]),
    element("sup", Kind::Inline, &[]),
    element("table", Kind::Table, &[]),
    element("tbody", Kind::Section, &[]),
    element("td", Kind::Cell, SPANS),
    element("tfoot", Kind::Section, &[]),
    element("th", Kind::Cell, SPANS),
    element("thead", Kind::Section, &[]),
    element("tr", Kind::Row, &[]),
    element("u", Kind::Inline, &[]),
    element("ul", Kind::List, &[]),
    element("var", Kind::Inline, &[]),
];
