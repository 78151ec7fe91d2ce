//! Blocks of code between fences.

use std::collections::HashSet;

use crate::spans::{code_spans, ticks};

/// The fewest characters of a fence.
const MIN_FENCE: usize = 3;
/// The deepest indent of a fence, in spaces.
const MAX_INDENT: usize = 3;
/// The most bytes of the name of a language behind a fence.
const MAX_LANGUAGE: usize = 20;

/// A block of code and what follows it.
pub(crate) struct Fenced<'t> {
    /// Text before the code, in the line that opens it.
    pub(crate) before: Option<&'t str>,
    pub(crate) language: Option<&'t str>,
    pub(crate) code: Vec<&'t str>,
    /// How many lines the block takes.
    pub(crate) lines: usize,
    /// Text behind the code, in the line that closes it.
    pub(crate) after: Option<&'t str>,
}

/// The fence that a line begins with.
struct Fence<'t> {
    sign: char,
    length: usize,
    /// What follows it.
    rest: &'t str,
}

impl<'t> Fence<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let unindented = without_indent(line)?;
        let sign = unindented
            .chars()
            .next()
            .filter(|c| matches!(c, '`' | '~'))?;
        let rest = unindented.trim_start_matches(sign);
        let length = unindented.len() - rest.len();
        (length >= MIN_FENCE).then_some(Self { sign, length, rest })
    }

    /// The text before this fence where it closes at the end of a line. A line with nothing else may
    /// have a longer one.
    fn closed_by<'l>(&self, line: &'l str) -> Option<&'l str> {
        let line = line.trim_end();
        let before = line.trim_end_matches(self.sign);
        let length = line.len() - before.len();
        let is_alone = without_indent(line).is_some_and(|line| line.len() == length);
        let is_closed = match is_alone {
            true => length >= self.length,
            // Tildes behind text strike it out.
            false => length == self.length && self.sign == '`',
        };
        is_closed.then_some(before)
    }

    /// The text behind this fence where it begins a line.
    fn closed_before<'l>(&self, line: &'l str) -> Option<&'l str> {
        let fence = Fence::of(line)?;
        let is_same = (fence.sign, fence.length) == (self.sign, self.length);
        (is_same && fence.rest.starts_with(' ')).then_some(fence.rest)
    }
}

fn without_indent(line: &str) -> Option<&str> {
    let unindented = line.trim_start_matches(' ');
    (line.len() - unindented.len() <= MAX_INDENT).then_some(unindented)
}

fn language(text: &str) -> Option<&str> {
    let word = text.trim();
    let is_of_name =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'#' | b'-' | b'.' | b'_');
    let is_language = (1..=MAX_LANGUAGE).contains(&word.len()) && word.bytes().all(is_of_name);
    is_language.then_some(word)
}

/// Finds blocks of code in lines, from the first to the last. It remembers which fences no line
/// closes, so that the lines are not searched for them again and again.
#[derive(Default)]
pub(crate) struct Fences {
    /// Signs and lengths of fences with code behind them.
    unclosed: HashSet<(char, usize)>,
    /// Lengths of runs of backticks behind text.
    unclosed_runs: HashSet<usize>,
}

impl Fences {
    /// The block of code that begins in the first of these lines, which are all that are left.
    pub(crate) fn next<'t>(&mut self, lines: &[&'t str]) -> Option<Fenced<'t>> {
        let (first, following) = lines.split_first()?;
        match Fence::of(first) {
            Some(fence) => one_line(first, &fence).or_else(|| self.block(&fence, following)),
            None => self.begun_behind_text(first, following),
        }
    }

    /// The block that a line with nothing before the fence opens.
    fn block<'t>(&mut self, fence: &Fence<'t>, following: &[&'t str]) -> Option<Fenced<'t>> {
        // Such a line is code within a sentence, and would take the rest of the message with it.
        if fence.sign == '`' && fence.rest.contains('`') {
            return None;
        }
        let language = language(fence.rest);
        // Many put the first line of the code directly behind the fence.
        let has_code = language.is_none() && !fence.rest.trim().is_empty();
        let kind = (fence.sign, fence.length);
        if has_code && (fence.sign == '~' || self.unclosed.contains(&kind)) {
            return None;
        }
        let first = has_code.then_some(fence.rest);
        let with = |inside: &[&'t str],
                    last: Option<&'t str>,
                    lines: usize,
                    after: Option<&'t str>| Fenced {
            before: None,
            language,
            code: first
                .into_iter()
                .chain(inside.iter().copied())
                .chain(last)
                .collect(),
            lines,
            after,
        };
        for (index, line) in following.iter().enumerate() {
            if let Some(before) = fence.closed_by(line) {
                let last = (!before.trim().is_empty()).then_some(before);
                return Some(with(&following[..index], last, index + 2, None));
            }
        }
        for (index, line) in following.iter().enumerate() {
            if let Some(after) = fence.closed_before(line) {
                let after = Some(after.trim_start());
                return Some(with(&following[..index], None, index + 2, after));
            }
        }
        // Many forget to close a block at the end. One with a sentence behind the fence is a sentence,
        // and one that encloses nothing shows what was typed.
        if has_code {
            self.unclosed.insert(kind);
            return None;
        }
        let is_empty = following.iter().all(|line| line.trim().is_empty());
        (!is_empty).then(|| with(following, None, following.len() + 1, None))
    }

    /// The block that begins behind text and ends in a later line.
    fn begun_behind_text<'t>(
        &mut self,
        line: &'t str,
        following: &[&'t str],
    ) -> Option<Fenced<'t>> {
        if !line.contains("```") {
            return None;
        }
        let spans = code_spans(line);
        let is_open = |at: usize| {
            let place = spans.partition_point(|span| span.range.end <= at);
            spans.get(place).is_none_or(|span| span.range.start > at)
        };
        let mut runs = ticks(line).into_iter();
        let run = runs.find(|run| run.length >= MIN_FENCE && is_open(run.at))?;
        if self.unclosed_runs.contains(&run.length) {
            return None;
        }
        let rest = &line[run.end()..];
        let close = |line: &str| {
            ticks(line)
                .into_iter()
                .find(|other| other.length == run.length)
        };
        let mut lines = following.iter().enumerate();
        let Some((index, end)) = lines.find_map(|(index, line)| Some((index, close(line)?))) else {
            self.unclosed_runs.insert(run.length);
            return None;
        };
        let last = following[index];
        let first = (!rest.trim().is_empty() && language(rest).is_none()).then_some(rest);
        let (inside, after) = (&last[..end.at], &last[end.end()..]);
        let inside = (!inside.trim().is_empty()).then_some(inside);
        Some(Fenced {
            before: Some(line[..run.at].trim_end()),
            language: language(rest),
            code: first
                .into_iter()
                .chain(following[..index].iter().copied())
                .chain(inside)
                .collect(),
            lines: index + 2,
            after: (!after.trim().is_empty()).then(|| after.trim_start()),
        })
    }
}

/// The code of a line that begins and ends with a fence.
fn one_line<'t>(line: &'t str, fence: &Fence<'t>) -> Option<Fenced<'t>> {
    if fence.sign != '`' {
        return None;
    }
    let span = code_spans(line).into_iter().next()?;
    let is_whole = line[..span.range.start].trim().is_empty()
        && line[span.range.end..].trim().is_empty()
        && !line[span.code.clone()].trim().is_empty();
    is_whole.then(|| Fenced {
        before: None,
        language: None,
        code: vec![line[span.code].trim()],
        lines: 1,
        after: None,
    })
}
