//! The picture of somebody who has not uploaded one.

use std::fmt::Write as _;

use crate::{colour, initials, side_near};

/// Draws a picture of a user without one: the first letters of the first and the last word of
/// `name` in white on a colour chosen by `key`, as a square SVG of less than 1 KB.
///
/// `name` may be anything; when it has no letters, a `?` is drawn. `key` is what stays the same
/// about the user, so that renaming keeps the colour. The picture says nothing else of either.
///
/// With `side` the picture says how many pixels it is wide and high (within [`crate::SIDES`]);
/// without, it fills what place it is given. It holds no scripts, styles, or references to anything
/// outside it.
#[must_use]
pub fn draw(name: &str, key: &str, side: Option<u32>) -> String {
    let initials = initials::of(name);
    let font_size = if initials.len() > 1 { 40 } else { 50 };
    let text = escaped(&joined(&initials));
    let fill = colour::of(key);
    let mut size = String::new();
    if let Some(side) = side.map(side_near) {
        let _ = write!(size, r#" width="{side}" height="{side}""#);
    }
    format!(
        concat!(
            r##"<svg xmlns="http://www.w3.org/2000/svg"{} viewBox="0 0 100 100" role="img" aria-label="{}">"##,
            r##"<rect width="100" height="100" fill="#{:06x}"/>"##,
            r##"<text x="50" y="50" dy=".35em" text-anchor="middle" font-family="sans-serif" "##,
            r##"font-size="{}" fill="#fff">{}</text></svg>"##,
        ),
        size, text, fill, font_size, text
    )
}

fn joined(initials: &[String]) -> String {
    match initials {
        [] => "?".to_owned(),
        // Side by side, letters of a joined script would become one word.
        [first, last] if first.starts_with(|c| ('\u{600}'..='\u{8ff}').contains(&c)) => {
            format!("{first}\u{200c}{last}")
        }
        initials => initials.concat(),
    }
}

/// A letter's cluster can hold any character, for some scripts have signs that go before a letter.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, c| {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
        escaped
    })
}
