//! The header that says under which name a browser saves a file, and whether a browser
//! may show it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stands as it is in an extended value (RFC 8187, section 3.2.1).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Types that browsers show without running anything of it in the page's origin.
const SHOWN: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "text/plain",
    "application/pdf",
];

/// The value of `Content-Disposition` (RFC 6266) for a file of this name and type. Pictures, plain
/// text, PDF, audio and video are to be shown, everything else to be kept. It is ASCII without
/// control characters, whatever the name.
///
/// ```
/// use eddyline_wire::disposition;
///
/// assert_eq!(
///     disposition("grüße.html", "text/html"),
///     "attachment; filename=\"gr__e.html\"; filename*=UTF-8''gr%C3%BC%C3%9Fe.html"
/// );
/// assert_eq!(disposition("a.png", "image/png"), "inline; filename=\"a.png\"");
/// ```
#[must_use]
pub fn disposition(name: &str, content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let is_media = essence.starts_with("audio/") || essence.starts_with("video/");
    let kind = if is_media || SHOWN.contains(&essence) {
        "inline"
    } else {
        "attachment"
    };
    let is_plain = |c: char| matches!(c, ' '..='~') && !matches!(c, '"' | '\\' | '%');
    let plain: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect();
    if plain == name {
        return format!("{kind}; filename=\"{plain}\"");
    }
    format!(
        "{kind}; filename=\"{plain}\"; filename*=UTF-8''{}",
        utf8_percent_encode(name, ESCAPED)
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_name_leaves_its_place(name in "\\PC{0,40}|[\"\\\\;\r\n\0%']{0,10}", kind in "\\PC{0,20}") {
            let value = disposition(&name, &kind);
            prop_assert!(value.bytes().all(|b| (b' '..0x7f).contains(&b)), "{}", value);
            let quoted = value.matches('"').count();
            prop_assert_eq!(quoted, 2, "{}", value);
        }
    }
}
