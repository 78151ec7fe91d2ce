//! Parses HTML like a browser and says what in it is not allowed. Written without a look at the
//! sanitiser's own lists. The fuzz target uses it, too.

use html5ever::tendril::TendrilSink;
use html5ever::{Attribute, ParseOpts, QualName, local_name, ns, parse_fragment};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

const BODY: &[&str] = &[
    "a",
    "abbr",
    "b",
    "blockquote",
    "br",
    "caption",
    "cite",
    "code",
    "dd",
    "del",
    "div",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
    "var",
];

/// What is wrong with the HTML of a body.
pub(crate) fn faults_of_body(html: &str) -> Vec<String> {
    faults(html, BODY)
}

/// What is wrong with the HTML of a title.
pub(crate) fn faults_of_title(html: &str) -> Vec<String> {
    faults(html, &["a"])
}

fn faults(html: &str, elements: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    for context in [
        local_name!("div"),
        local_name!("body"),
        local_name!("td"),
        local_name!("a"),
    ] {
        for scripting in [false, true] {
            let context = QualName::new(None, ns!(html), context.clone());
            let dom = parse_fragment(
                RcDom::default(),
                ParseOpts::default(),
                context,
                vec![],
                scripting,
            );
            let dom = dom.one(html);
            let root = dom.document.children.borrow()[0].clone();
            let mut nodes: Vec<Handle> = root.children.borrow().clone();
            while let Some(node) = nodes.pop() {
                look(&node, elements, &mut faults);
                nodes.extend(node.children.borrow().iter().cloned());
            }
        }
    }
    faults
}

fn look(node: &Handle, elements: &[&str], faults: &mut Vec<String>) {
    match &node.data {
        NodeData::Text { .. } => {}
        NodeData::Element { name, attrs, .. } => {
            let element: &str = &name.local;
            if name.ns != ns!(html) || !elements.contains(&element) {
                faults.push(format!("the element {element} of {}", &*name.ns));
            }
            let attributes = attrs.borrow();
            faults.extend(
                attributes
                    .iter()
                    .filter_map(|attribute| fault_of(element, attribute)),
            );
            let rel = attributes
                .iter()
                .find(|attribute| &*attribute.name.local == "rel");
            if element == "a" && rel.is_none_or(|rel| &*rel.value != "nofollow noopener noreferrer")
            {
                faults.push("a link without rel".to_owned());
            }
        }
        other => faults.push(format!("a node {other:?}")),
    }
}

fn fault_of(element: &str, attribute: &Attribute) -> Option<String> {
    let name: &str = &attribute.name.local;
    let schemes: &[&str] = match (element, name) {
        ("a", "href") => &["http", "https", "mailto"],
        ("img", "src") => &["http", "https"],
        ("a", "rel" | "title") | ("abbr", "title") | ("ol", "start") => return None,
        ("img", "alt" | "title" | "width" | "height") | ("td" | "th", "colspan" | "rowspan") => {
            return None;
        }
        _ => return Some(format!("the attribute {name} of {element}")),
    };
    // What a browser would take for the scheme: it passes over these characters.
    let address: String = attribute
        .value
        .chars()
        .filter(|char| !matches!(char, '\t' | '\n' | '\r'))
        .collect();
    let address = address
        .trim_start_matches(|char: char| char <= ' ')
        .to_ascii_lowercase();
    let scheme = address.split_once(':').map_or("", |(scheme, _)| scheme);
    (!schemes.contains(&scheme)).then(|| format!("the address {address} of {element}"))
}
