//! The table of what was tried.

use std::fmt;
use std::io::Write as _;
use std::sync::Once;
use std::time::Duration;

use super::checker::Verdict;

/// One line of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// What was tried, and on which database.
    pub(crate) name: String,
    /// How often the fault came.
    pub(crate) rounds: usize,
    /// Posts, comments and edits that were granted.
    pub(crate) answers: usize,
    /// Posts of which nobody knows, and need not.
    pub(crate) unclear: usize,
    /// Requests answered 503.
    pub(crate) unavailable: usize,
    /// Requests answered 507.
    pub(crate) full: usize,
    /// Requests without an answer.
    pub(crate) broken: usize,
    /// Lists read.
    pub(crate) reads: usize,
    /// Listeners.
    pub(crate) listeners: usize,
    /// What all of them heard.
    pub(crate) heard: usize,
    /// How often one of them came back.
    pub(crate) returns: usize,
    /// What the checker found.
    pub(crate) verdict: Verdict,
    /// How long it took.
    pub(crate) time: Duration,
    /// What else there is to tell.
    pub(crate) remark: String,
}

const HEAD: [&str; 16] = [
    "fault", "rounds", "answers", "unclear", "503", "507", "broken", "reads", "listen", "heard",
    "returns", "lost", "doubled", "reord", "gapped", "seconds",
];

fn line(f: &mut fmt::Formatter<'_>, name: &str, cells: &[String]) -> fmt::Result {
    write!(f, "{name:38}")?;
    cells.iter().try_for_each(|cell| write!(f, " {cell:>8}"))
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cells: Vec<String> = [
            self.rounds,
            self.answers,
            self.unclear,
            self.unavailable,
            self.full,
            self.broken,
            self.reads,
            self.listeners,
            self.heard,
            self.returns,
        ]
        .iter()
        .map(ToString::to_string)
        .collect();
        cells.extend(
            self.verdict
                .counts()
                .iter()
                .map(|(_, count)| count.number.to_string()),
        );
        cells.push(format!("{:.1}", self.time.as_secs_f64()));
        line(f, &self.name, &cells)?;
        write!(f, "  {}", self.remark)
    }
}

struct Head;

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(
            f,
            HEAD[0],
            &HEAD[1..]
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
        )
    }
}

/// Prints a line of the table, past the test harness, which would show it for failed tests only.
pub(crate) fn print(row: &Row) {
    static HEADING: Once = Once::new();
    let mut out = std::io::stderr().lock();
    HEADING.call_once(|| {
        let _ = writeln!(out, "{Head}");
    });
    let _ = writeln!(out, "{row}");
}
