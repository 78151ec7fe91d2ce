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
            Self::Links => element.kind == ElementKind::Link,
            Self::Nothing => false,
        }
    }
}

/// What an element is to those around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementKind {
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
    pub(crate) kind: ElementKind,
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
            ElementKind::Inline | ElementKind::Link => false,
            ElementKind::Void => self.name != "img",
            _ => true,
        }
    }

    /// Whether it ends a paragraph that is open (HTML, section 13.1.2.4).
    pub(crate) fn ends_paragraph(&self) -> bool {
        !matches!(
            self.kind,
            ElementKind::Inline | ElementKind::Link | ElementKind::Void
        ) || self.name == "hr"
    }

    /// Whether it is made of parts, so that text belongs into its cells only.
    pub(crate) fn holds_cells(&self) -> bool {
        matches!(
            self.kind,
            ElementKind::Table | ElementKind::Section | ElementKind::Row
        )
    }

    /// Whether it is a table or a part of one.
    pub(crate) fn is_tabular(&self) -> bool {
        self.holds_cells() || self.kind == ElementKind::Cell
    }
}

const fn element(
    name: &'static str,
    kind: ElementKind,
    attributes: &'static [&'static str],
) -> Element {
    Element {
        name,
        kind,
        attributes,
    }
}

pub(crate) const ROW: &Element = &element("tr", ElementKind::Row, &[]);
pub(crate) const CELL: &Element = &element("td", ElementKind::Cell, SPANS);
const SPANS: &[&str] = &["colspan", "rowspan"];

pub(crate) const ELEMENTS: &[Element] = &[
    element("a", ElementKind::Link, &["href", "title"]),
    element("abbr", ElementKind::Inline, &["title"]),
    element("b", ElementKind::Inline, &[]),
    element("blockquote", ElementKind::Block, &[]),
    element("br", ElementKind::Void, &[]),
    element("caption", ElementKind::Cell, &[]),
    element("cite", ElementKind::Inline, &[]),
    element("code", ElementKind::Inline, &[]),
    element("dd", ElementKind::Item, &[]),
    element("del", ElementKind::Inline, &[]),
    element("div", ElementKind::Block, &[]),
    element("dl", ElementKind::List, &[]),
    element("dt", ElementKind::Item, &[]),
    element("em", ElementKind::Inline, &[]),
    element("h1", ElementKind::Heading, &[]),
    element("h2", ElementKind::Heading, &[]),
    element("h3", ElementKind::Heading, &[]),
    element("h4", ElementKind::Heading, &[]),
    element("h5", ElementKind::Heading, &[]),
    element("h6", ElementKind::Heading, &[]),
    element("hr", ElementKind::Void, &[]),
    element("i", ElementKind::Inline, &[]),
    element(
        "img",
        ElementKind::Void,
        &["src", "alt", "title", "width", "height"],
    ),
    element("ins", ElementKind::Inline, &[]),
    element("kbd", ElementKind::Inline, &[]),
    element("li", ElementKind::Item, &[]),
    element("ol", ElementKind::List, &["start"]),
    element("p", ElementKind::Paragraph, &[]),
    element("pre", ElementKind::Block, &[]),
    element("q", ElementKind::Inline, &[]),
    element("s", ElementKind::Inline, &[]),
    element("samp", ElementKind::Inline, &[]),
    element("small", ElementKind::Inline, &[]),
    element("span", ElementKind::Inline, &[]),
    element("strong", ElementKind::Inline, &[]),
    element("sub", ElementKind::Inline, &[]),
    element("sup", ElementKind::Inline, &[]),
    element("table", ElementKind::Table, &[]),
    element("tbody", ElementKind::Section, &[]),
    element("td", ElementKind::Cell, SPANS),
    element("tfoot", ElementKind::Section, &[]),
    element("th", ElementKind::Cell, SPANS),
    element("thead", ElementKind::Section, &[]),
    element("tr", ElementKind::Row, &[]),
    element("u", ElementKind::Inline, &[]),
    element("ul", ElementKind::List, &[]),
    element("var", ElementKind::Inline, &[]),
];
