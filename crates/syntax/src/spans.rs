//! Code within a line.

use std::collections::HashMap;
use std::ops::Range;

/// Code between two runs of as many backticks (CommonMark, section 6.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSpan {
    /// The bytes of the line from the first backtick to the last.
    pub range: Range<usize>,
    /// The bytes of the code. A space at both ends is left out, so that code can begin and end with
    /// a backtick.
    pub code: Range<usize>,
}

/// A run of backticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    pub(crate) at: usize,
    pub(crate) length: usize,
}

impl Ticks {
    pub(crate) fn end(self) -> usize {
        self.at + self.length
    }
}

/// The runs of backticks of a line, in order.
pub(crate) fn ticks(line: &str) -> Vec<Ticks> {
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(offset) = line[at..].find('`') {
        at += offset;
        let rest = &line[at..];
        let length = rest.len() - rest.trim_start_matches('`').len();
        runs.push(Ticks { at, length });
        at += length;
    }
    runs
}

/// Finds the code within a line. A run of backticks that no later one of the same length closes is
/// text.
#[must_use]
pub fn code_spans(line: &str) -> Vec<CodeSpan> {
    if !line.contains('`') {
        return Vec::new();
    }
    let runs = ticks(line);
    // The next run of the same length, for each.
    let mut closing = vec![None; runs.len()];
    let mut later: HashMap<usize, usize> = HashMap::new();
    for (index, run) in runs.iter().enumerate().rev() {
        closing[index] = later.insert(run.length, index);
    }
    let mut spans = Vec::new();
    let mut index = 0;
    while index < runs.len() {
        let Some(end) = closing[index] else {
            index += 1;
            continue;
        };
        let range = runs[index].at..runs[end].end();
        let inside = runs[index].end()..runs[end].at;
        let code = &line[inside.clone()];
        let is_padded = code.starts_with(' ') && code.ends_with(' ') && !code.trim().is_empty();
        let code = match is_padded {
            true => inside.start + 1..inside.end - 1,
            false => inside,
        };
        spans.push(CodeSpan { range, code });
        index = end + 1;
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(line: &str) -> Vec<&str> {
        let spans = code_spans(line);
        spans.into_iter().map(|span| &line[span.code]).collect()
    }

    #[test]
    fn code_is_between_runs_of_the_same_length() {
        for (line, expected) in [
            ("a", &[][..]),
            ("a `b` c", &["b"]),
            ("`a` `b`", &["a", "b"]),
            ("``a`b``", &["a`b"]),
            ("`` ` ``", &["`"]),
            ("run ```make *all*``` twice", &["make *all*"]),
            ("````a```b````", &["a```b"]),
            ("`a``b`", &["a``b"]),
            ("``a` b`", &[" b"]),
            ("a ` b", &[]),
            ("`  `", &["  "]),
            ("` a `", &["a"]),
        ] {
            assert_eq!(codes(line), expected, "{line}");
        }
    }
}
