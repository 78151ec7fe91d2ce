//! The letter that is shown for a name without a picture.

/// The first character of a name; empty for an empty name.
pub(crate) fn initial(name: &str) -> String {
    name.chars().next().map(String::from).unwrap_or_default()
}
