#![doc = include_str!("../README.md")]
//!
//! [`title`] and [`body`] keep a list of elements and attributes and drop the rest, [`text`] keeps
//! only the words. All take any text of any author. Their work and their output grow no faster than
//! the text does, but tags come out closed and links with `rel`, so the output can be several times
//! as long as what came in.
//!
//! Two layers stand one behind the other. `tidy` scans the text, bounds the nesting and closes what
//! is open, so that the parser behind it never sees a pathological tree; nothing relies on it for
//! safety. ammonia parses what is left like a browser, keeps what is allowed, and writes it anew.
//! Both are repeated until nothing changes any more, so a browser that parses the output sees what
//! was judged.
//!
//! [`chat`] has nothing to do with these layers: what it reads is no HTML, and it writes no text
//! that it has not escaped. [`chat_text`] gives the words of the same text.
//!
//! The crate knows no other crate of ours, and nothing of threads or attachments: a look-up of
//! `cid:` references is handed in.

mod chat;
mod elements;
mod inline;
mod scan;
mod tidy;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, Url, UrlRelative};

pub use crate::chat::{chat, chat_text};
use crate::elements::{ELEMENTS, Kept};
use crate::tidy::tidy;

/// What every link says of the page it leads to.
const REL: &str = "nofollow noopener noreferrer";

/// How often a text is cleaned until it stays as it is. Two are the rule: one that changes it, and
/// one that does not.
const ROUNDS: usize = 5;

static TITLE: LazyLock<Builder<'static>> = LazyLock::new(|| builder(Kept::Links));
static BODY: LazyLock<Builder<'static>> = LazyLock::new(|| builder(Kept::All));
static TEXT: LazyLock<Builder<'static>> = LazyLock::new(|| builder(Kept::Nothing));

/// A title or the value of a field: text with links, and nothing else.
///
/// Links lead to `http:`, `https:` or `mailto:`. Elements that would begin a new line leave a
/// space. Cleaning a title twice changes nothing.
#[must_use]
pub fn title(html: &str) -> String {
    settled(&TITLE, Kept::Links, html)
}

/// A body, with the elements that a mail program would show.
///
/// Links lead to `http:`, `https:` or `mailto:`, images come from `http:` or `https:`; classes,
/// styles and ids are dropped, and so is any attribute of more than 8 KiB. `cid` is asked for the
/// address that stands for a `cid:` reference in a link or an image: first as it is written, then
/// percent-decoded (RFC 2392). What it answers is trusted; when it answers nothing, the attribute
/// goes.
///
/// Cleaning a body twice changes nothing, except that addresses which `cid` has put in are relative
/// as a rule, and those are not allowed to authors. A link without an address is no link, and is
/// dropped around its text.
#[must_use]
pub fn body(html: &str, cid: impl Fn(&str) -> Option<String>) -> String {
    inline::resolve(&settled(&BODY, Kept::All, html), &cid)
}

/// The words of a title or a body: no tags, no entities, and white space as single spaces, or as a
/// single line break where a block begins or ends. The result is no HTML: [`escape`] it before it
/// becomes some.
#[must_use]
pub fn text(html: &str) -> String {
    // A title is mostly a plain text, which a page with many of them must not parse.
    if html.contains(['<', '&', '\0', '\r', '\u{feff}']) {
        words(&unescaped(&once(&TEXT, Kept::Nothing, html)))
    } else {
        words(html)
    }
}

fn words(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.is_empty() {
            lines.push(words.join(" "));
        }
    }
    lines.join("\n")
}

/// A plain text as HTML that shows it, good as content and between quotation marks.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    push_escaped(&mut html, text);
    html
}

/// Appends what [`escape`] gives.
fn push_escaped(html: &mut String, text: &str) {
    for char in text.chars() {
        match char {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
}

/// Undoes what the serialiser does to text, and to the values of attributes.
fn unescaped(html: &str) -> String {
    let html = html
        .replace("&nbsp;", "\u{a0}")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    html.replace("&quot;", "\"").replace("&amp;", "&")
}

/// Cleans until nothing changes. What does not come to rest is shown as text.
fn settled(builder: &Builder<'_>, kept: Kept, html: &str) -> String {
    let mut html = Cow::Borrowed(html);
    for _ in 0..ROUNDS {
        let cleaned = once(builder, kept, &html);
        if *html == cleaned {
            return cleaned;
        }
        html = Cow::Owned(cleaned);
    }
    once(builder, kept, &escape(&text(&html)))
}

fn once(builder: &Builder<'_>, kept: Kept, html: &str) -> String {
    builder.clean(&tidy(html, kept)).to_string()
}

fn builder(kept: Kept) -> Builder<'static> {
    let elements = || ELEMENTS.iter().filter(move |element| kept.keeps(element));
    let mut tags: HashSet<&str> = elements().map(|element| element.name).collect();
    // The parser puts these in.
    if tags.contains("table") {
        tags.insert("tbody");
    }
    let attributes: HashMap<&str, HashSet<&str>> = elements()
        .map(|element| (element.name, element.attributes.iter().copied().collect()))
        .collect();
    let mut builder = Builder::empty();
    builder
        .tags(tags)
        .tag_attributes(attributes)
        .generic_attributes(HashSet::new())
        .url_schemes(HashSet::from(["http", "https", "mailto", "cid"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some(REL))
        .attribute_filter(move |element, attribute, value| {
            let allowed: &[&str] = match (kept, element, attribute) {
                (Kept::All, "img", "src") => &["http", "https", "cid"],
                (Kept::Links, "a", "href") => &["http", "https", "mailto"],
                _ => return Some(value.into()),
            };
            let url = Url::parse(value).ok()?;
            allowed.contains(&url.scheme()).then(|| value.into())
        });
    builder
}
