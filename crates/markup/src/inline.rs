//! References from a body to what came with it (`cid:`, RFC 2392).

use percent_encoding::percent_decode_str;

use crate::scan::{Piece, Scanner};
use crate::tidy::write_attribute;
use crate::{escape, unescaped};

/// Puts addresses in the place of `cid:` references in HTML that was cleaned. What refers to
/// nothing loses the attribute, and a link with it all there is to it.
pub(crate) fn resolve(html: &str, cid: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(html.len());
    // Links do not contain each other in HTML that was cleaned.
    let mut skip_end_of_link = false;
    for piece in Scanner::new(html) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Start(name, attributes) => {
                let (written, lost) = resolved(&attributes, cid);
                if lost && name == "a" {
                    skip_end_of_link = true;
                } else {
                    out.extend(["<", name, &written, ">"]);
                }
            }
            Piece::End("a") if skip_end_of_link => skip_end_of_link = false,
            Piece::End(name) => out.extend(["</", name, ">"]),
        }
    }
    out
}
/// The attributes as they are written, and whether one of them got lost.
fn resolved(attributes: &[(&str, &str)], cid: &dyn Fn(&str) -> Option<String>) -> (String, bool) {
    let mut written = String::new();
    let mut lost = false;
    for (name, value) in attributes {
        match reference(name, value) {
            None => write_attribute(&mut written, name, value),
            Some(id) => match cid(&id).or_else(|| cid(&decoded(&id)?)) {
                Some(address) => write_attribute(&mut written, name, &as_written(&address)),
                None => lost = true,
            },
        }
    }
    (written, lost)
}

/// An address as the serialiser writes it, so that cleaning what comes out changes nothing.
fn as_written(address: &str) -> String {
    escape(address)
        .replace("&#39;", "'")
        .replace('\u{a0}', "&nbsp;")
}

/// The id that an attribute refers to.
fn reference(name: &str, value: &str) -> Option<String> {
    if !matches!(name, "href" | "src") {
        return None;
    }
    // A browser passes over the same characters around and inside of an address.
    let value = unescaped(value);
    let value = value.trim_matches(|char: char| char <= ' ');
    let value: String = value
        .chars()
        .filter(|char| !matches!(char, '\t' | '\n' | '\r'))
        .collect();
    let (scheme, id) = value.split_at_checked(4)?;
    scheme.eq_ignore_ascii_case("cid:").then(|| id.to_owned())
}

fn decoded(id: &str) -> Option<String> {
    percent_decode_str(id)
        .decode_utf8()
        .ok()
        .map(std::borrow::Cow::into_owned)
        .filter(|decoded| decoded != id)
}
