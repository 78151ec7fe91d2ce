//! Tables (GitHub Flavored Markdown, section 4.10).

use crate::spans::code_spans;

/// The most columns of a table.
const MAX_COLUMNS: usize = 64;

/// The side at which the cells of a column begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// `---`, `:--`
    Start,
    /// `:-:`
    Center,
    /// `--:`
    End,
}

/// A table. No row has more cells than there are columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<'t> {
    /// The alignment of each column.
    pub columns: Vec<Alignment>,
    /// The cells of the first row.
    pub header: Vec<&'t str>,
    /// The cells of the other rows.
    pub rows: Vec<Vec<&'t str>>,
}

/// The table that begins in the first of these lines, and how many lines it takes.
pub(crate) fn table<'t>(lines: &[&'t str]) -> Option<(Table<'t>, usize)> {
    let [first, second, following @ ..] = lines else {
        return None;
    };
    if !first.contains('|') || !second.contains('-') {
        return None;
    }
    let columns = columns(second)?;
    let header = cells(first, usize::MAX);
    if header.len() != columns.len() || columns.len() > MAX_COLUMNS {
        return None;
    }
    let is_row = |line: &&&str| line.contains('|');
    let rows = following.iter().take_while(is_row);
    let rows: Vec<_> = rows.map(|line| cells(line, columns.len())).collect();
    let taken = 2 + rows.len();
    let table = Table {
        columns,
        header,
        rows,
    };
    Some((table, taken))
}

/// The columns that the line below the header declares.
fn columns(line: &str) -> Option<Vec<Alignment>> {
    let is_declared = line.contains('|') || line.contains(':');
    let column = |cell: &str| {
        let dashes = cell.strip_prefix(':').unwrap_or(cell);
        let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
        let is_column = !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-');
        is_column.then(|| match (cell.starts_with(':'), cell.ends_with(':')) {
            (true, true) => Alignment::Center,
            (false, true) => Alignment::End,
            _ => Alignment::Start,
        })
    };
    let columns: Option<Vec<_>> = cells(line, usize::MAX).into_iter().map(column).collect();
    columns.filter(|columns| is_declared && !columns.is_empty())
}

/// The cells of a row, between its bars, at most `max`: the last one has the rest. A bar behind a
/// backslash or in code is text.
fn cells(line: &str, max: usize) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let spans = code_spans(line);
    let is_bar = |at: usize| {
        let place = spans.partition_point(|span| span.range.end <= at);
        let is_code = spans.get(place).is_some_and(|span| span.range.start < at);
        !is_code && !line[..at].ends_with('\\')
    };
    let bars: Vec<usize> = line.match_indices('|').map(|(at, _)| at).collect();
    let bars: Vec<usize> = bars.into_iter().filter(|at| is_bar(*at)).collect();
    // A bar at the end begins no cell.
    let end = match bars.last() {
        Some(at) if at + 1 == line.len() => *at,
        _ => line.len(),
    };
    let mut cells = Vec::new();
    let mut begin = 0;
    for at in bars.into_iter().filter(|at| *at < end) {
        if cells.len() + 1 == max {
            break;
        }
        cells.push(line[begin..at].trim());
        begin = at + 1;
    }
    cells.push(line[begin..end].trim());
    cells
}
