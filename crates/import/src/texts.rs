//! Texts of strangers in the form that the store keeps.

use eddyline_model::Timestamp;
use eddyline_model::names::{self, Nick};

/// The most characters of a text of a message.
pub(crate) const MAX_TEXT_CHARS: usize = eddyline_model::messages::MAX_CONTENT_CHARS;
/// The most characters of the description of a flow, as the API takes it.
pub(crate) const MAX_DESCRIPTION: usize = 1000;
/// The most characters of the name of a file.
const MAX_FILE_NAME: usize = eddyline_model::files::MAX_NAME_CHARS;

/// A time of an archive, in milliseconds. Nothing in an archive happened after its import: a later
/// time would stand before all that is new, for as long as it lasts.
pub(crate) fn time(millis: i64, now: Timestamp) -> Timestamp {
    Timestamp(millis.clamp(0, now.0))
}

/// A name that is shown, as it is when it keeps the rules.
pub(crate) fn display_name(text: &str) -> String {
    if let Ok(name) = names::display_name(text) {
        return name;
    }
    let visible = |c: &char| !c.is_control() && !names::is_ignorable(*c);
    let shown: String = text
        .chars()
        .filter(visible)
        .take(names::MAX_FLOW_NAME)
        .collect();
    names::display_name(&shown).unwrap_or_else(|_| "unnamed".to_owned())
}

/// The name of an anonymous sender.
pub(crate) fn external_name(text: &str) -> String {
    match names::check_external_name(text) {
        Ok(()) if text.chars().count() <= names::MAX_FLOW_NAME => text.to_owned(),
        _ => display_name(text),
    }
}

/// Nicks to be tried, the wanted one first.
pub(crate) fn nicks(wanted: &str, name: &str) -> Vec<String> {
    let end = format!("-{}", eddyline_random::hex::<2>());
    let own = wanted.parse::<Nick>().ok();
    own.into_iter()
        .chain(names::nick_candidates(
            if wanted.is_empty() { name } else { wanted },
            &end,
        ))
        .chain(names::nick_candidates(name, &end))
        .map(Nick::into_string)
        .collect()
}

/// A text without what a database cannot keep.
pub(crate) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The beginning of a text, without what a database cannot keep.
pub(crate) fn short(text: &str, chars: usize) -> String {
    text.chars()
        .take(chars)
        .map(|c| if c == '\0' { '\u{fffd}' } else { c })
        .collect()
}

/// The name of a file, without folders.
pub(crate) fn file_name(text: &str) -> String {
    let last = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last
        .chars()
        .filter(|c| {
            !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}')
        })
        .take(MAX_FILE_NAME)
        .collect();
    match clean.trim() {
        "" | "." | ".." => "file".to_owned(),
        name => name.to_owned(),
    }
}

/// Where the first part of a text ends that one message may say, in bytes.
pub(crate) fn end_of_part(text: &str) -> usize {
    let mut places = text.char_indices();
    places
        .nth(MAX_TEXT_CHARS)
        .map_or(text.len(), |(end, _)| end)
}

/// A tag that can be kept.
pub(crate) fn is_tag(tag: &str) -> bool {
    !tag.is_empty() && tag.len() <= 1024 && !tag.contains(char::is_control)
}
