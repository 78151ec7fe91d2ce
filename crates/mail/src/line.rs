//! Text of strangers, brought to one line.

/// The text on one line of at most `limit` characters. Control characters and line breaks of any
/// kind become spaces, runs of spaces become one, marks that turn the direction of writing are left
/// out, and what is too long ends with `…`.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let plain: String = text
        .chars()
        .filter(|c| !turns_direction(*c))
        .map(printable)
        .collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let mut short: String = line.chars().take(limit.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

fn printable(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// With these a name could make the text after it read backwards.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_of_any_kind_become_spaces() {
        for text in [
            "a\r\nb",
            "a\nb",
            "a\rb",
            "a\u{85}b",
            "a\u{2028}b",
            "a\u{2029}b",
            " a\t\0\x0b b ",
        ] {
            assert_eq!(one_line(text, 100), "a b", "{text:?}");
        }
    }

    #[test]
    fn direction_marks_are_left_out() {
        assert_eq!(one_line("a\u{202e}b\u{2066}c", 100), "abc");
    }

    #[test]
    fn a_long_line_is_cut_where_one_sees_it() {
        assert_eq!(one_line("four", 4), "four");
        assert_eq!(one_line("five!", 4), "fiv…");
        assert_eq!(one_line("züm Rhein", 5), "züm…");
    }
}
