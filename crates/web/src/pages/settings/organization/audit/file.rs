//! Records as a file: CSV for spreadsheets, JSON lines for programs.

use eddyline_wire::NamedRecord;

/// How a file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordFile {
    /// RFC 4180, with a line of headings.
    Csv,
    /// A JSON object on each line, as the API has it.
    Lines,
}

/// The columns of a CSV file, named as the members in the API.
const COLUMNS: [&str; 13] = [
    "id",
    "at",
    "action",
    "actor",
    "actor_name",
    "application",
    "address",
    "user",
    "user_name",
    "target_kind",
    "target_id",
    "target_name",
    "detail",
];
/// Spreadsheets take a cell that begins so for a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

impl RecordFile {
    /// Each.
    pub(super) const ALL: [Self; 2] = [Self::Csv, Self::Lines];

    /// The format with this name, if there is one.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The name in forms, which is also the end of the file's name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Lines => "jsonl",
        }
    }

    /// The media type.
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Lines => "application/jsonl; charset=utf-8",
        }
    }

    /// What stands before the first record.
    pub(super) fn begin(self) -> String {
        match self {
            Self::Csv => COLUMNS.join(",") + "\r\n",
            Self::Lines => String::new(),
        }
    }

    /// A record with the end of its line.
    ///
    /// # Errors
    ///
    /// Those of [`serde_json`], which a record gives no cause for.
    pub(super) fn line(self, record: &NamedRecord) -> serde_json::Result<String> {
        Ok(match self {
            Self::Csv => csv_line(record),
            Self::Lines => serde_json::to_string(record)? + "\n",
        })
    }
}

fn csv_line(record: &NamedRecord) -> String {
    let number = |number: Option<i64>| number.map_or_else(String::new, |id| id.to_string());
    let text = |text: &Option<String>| text.as_deref().map_or_else(String::new, cell);
    let target = record.target.as_ref();
    let cells: [String; COLUMNS.len()] = [
        record.id.to_string(),
        cell(&record.at),
        cell(&record.action),
        cell(&record.actor),
        text(&record.actor_name),
        number(record.application),
        text(&record.address),
        number(record.user),
        text(&record.user_name),
        target.map_or_else(String::new, |target| cell(&target.kind)),
        target.map_or_else(String::new, |target| cell(&target.id)),
        target.map_or_else(String::new, |target| cell(&target.name)),
        cell(&record.detail.to_string()),
    ];
    cells.join(",") + "\r\n"
}

/// A cell with this text, which is no formula to any spreadsheet.
fn cell(text: &str) -> String {
    let guard = match text.starts_with(FORMULA) {
        true => "'",
        false => "",
    };
    match text.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{guard}{}\"", text.replace('"', "\"\"")),
        false => format!("{guard}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_where_it_must_be_and_never_a_formula() {
        for (text, written) in [
            ("", ""),
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("=A1,\"x\"", "\"'=A1,\"\"x\"\"\""),
            ("1=1", "1=1"),
        ] {
            assert_eq!(cell(text), written, "{text:?}");
        }
    }
}
