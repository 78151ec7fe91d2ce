//! Records as a file: CSV for spreadsheets, JSON lines for programs.

use eddyline_wire::NamedRecord;

/// How many records a file has at most.
pub(super) const MAX_RECORDS: usize = 10_000;
/// How many bytes a file has at most. It is in memory until it is sent.
pub(super) const MAX_BYTES: usize = 8 << 20;

/// A file that records are added to.
pub(super) struct GrowingFile {
    format: RecordFile,
    content: String,
    records: usize,
}

impl GrowingFile {
    /// A file without a record.
    pub(super) fn new(format: RecordFile) -> Self {
        Self {
            format,
            content: format.begin(),
            records: 0,
        }
    }

    /// How many further records it takes.
    pub(super) fn room(&self) -> usize {
        MAX_RECORDS - self.records
    }

    /// Adds a record. Gives whether there was room for it.
    ///
    /// # Errors
    ///
    /// Those of [`RecordFile::line`].
    pub(super) fn push(&mut self, record: &NamedRecord) -> serde_json::Result<bool> {
        let line = self.format.line(record)?;
        let fits = self.room() > 0 && self.content.len() + line.len() <= MAX_BYTES;
        if fits {
            self.content.push_str(&line);
            self.records += 1;
        }
        Ok(fits)
    }

    /// The file as a whole.
    pub(super) fn finish(self) -> String {
        self.content
    }
}

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
/// Spreadsheets take a cell that begins so for a formula; those of East Asia also with the full-width
/// forms. A tab or the end of a line before it does not change that.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
/// What also ends a cell for spreadsheets, which in many countries separate cells by semicolons.
const SEPARATORS: [char; 4] = [';', '\t', '\r', '\n'];

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
    fn begin(self) -> String {
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
    fn line(self, record: &NamedRecord) -> serde_json::Result<String> {
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
    let guarded = guarded(text);
    match guarded.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{}\"", guarded.replace('"', "\"\"")),
        false => guarded,
    }
}

/// The text with an apostrophe before each character that could begin a formula.
fn guarded(text: &str) -> String {
    let mut guarded = String::with_capacity(text.len() + 1);
    let mut begins = true;
    for character in text.chars() {
        if begins && FORMULA.contains(&character) {
            guarded.push('\'');
        }
        guarded.push(character);
        let is_before_text = character == '"' || character.is_whitespace();
        begins = SEPARATORS.contains(&character) || begins && is_before_text;
    }
    guarded
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn record(detail: &Value) -> NamedRecord {
        serde_json::from_value(json!({
            "id": 1, "at": "2026-11-29T08:00:00.000Z", "organization": 1, "actor": "user:7",
            "actor_name": "Ada", "application": null, "address": "::1", "action": "flow.change",
            "user": null, "user_name": null, "target": null, "detail": detail,
        }))
        .unwrap()
    }

    #[test]
    fn a_file_ends_at_its_records_and_at_its_bytes() {
        let mut file = GrowingFile::new(RecordFile::Csv);
        let small = record(&json!({}));
        while file.room() > 0 {
            assert!(file.push(&small).unwrap());
        }
        assert!(!file.push(&small).unwrap());
        assert_eq!(file.finish().matches("\r\n").count(), MAX_RECORDS + 1);

        let frame = RecordFile::Lines.line(&record(&json!(""))).unwrap().len();
        let mut file = GrowingFile::new(RecordFile::Lines);
        let half = record(&json!("x".repeat(MAX_BYTES / 2 - frame)));
        assert_eq!(
            [(); 3].map(|()| file.push(&half).unwrap()),
            [true, true, false]
        );
        assert_eq!(file.finish().len(), MAX_BYTES);
    }

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
            ("＝1+1", "'＝1+1"),
            ("＋1", "'＋1"),
            ("－1", "'－1"),
            ("＠SUM(A1)", "'＠SUM(A1)"),
            ("Ada;＝1", "Ada;'＝1"),
            ("\u{3000}＝1", "\u{3000}'＝1"),
            ("\t=1", "\t'=1"),
            ("\r=1", "\"\r'=1\""),
            ("two\n=1", "\"two\n'=1\""),
            ("Ada;=1+1", "Ada;'=1+1"),
            ("Ada; \"=1", "\"Ada; \"\"'=1\""),
            ("[1,-2]", "\"[1,-2]\""),
            ("=A1,\"x\"", "\"'=A1,\"\"x\"\"\""),
            ("1=1", "1=1"),
        ] {
            assert_eq!(cell(text), written, "{text:?}");
        }
    }
}
