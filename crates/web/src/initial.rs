//! The letter that stands where a name has no picture.

/// The first character of a name; nothing of an empty one.
pub(crate) fn initial(name: &str) -> String {
    name.chars().next().map(String::from).unwrap_or_default()
}
