//! Lists: aligned columns for people, one JSON object for programs. They are written page by page
//! as they are read, so that none is in memory as a whole.

use std::io::{self, Write};

use serde::Serialize;

use crate::CommandError;
use crate::output::Causes;

/// How many entries are read at a time.
pub(crate) const PAGE: i64 = 500;

/// An entry of a list.
pub(crate) trait ListRow: Serialize {
    /// What programs find the entries under.
    const NAME: &'static str;
    /// The headings of the columns.
    const COLUMNS: &'static [&'static str];
    /// What is said to people of an empty list.
    const EMPTY: &'static str;

    /// The texts in the columns.
    fn cells(&self) -> Vec<String>;
}

/// The rest of a list could not be read. The object that programs read says so.
#[derive(Debug, thiserror::Error)]
#[error("the list ends early")]
pub(crate) struct EndsEarly(#[source] CommandError);

/// Reads a list and writes it to the standard output. `read` gives the page behind an entry, or the
/// first one.
pub(crate) async fn write<E: ListRow>(
    json: bool,
    mut read: impl AsyncFnMut(Option<&E>) -> Result<Vec<E>, CommandError>,
) -> Result<(), CommandError> {
    let mut page = read(None).await?;
    let mut list = List::begin(io::stdout(), json);
    loop {
        list.add(&page)?;
        if (page.len() as i64) < PAGE {
            return Ok(list.end::<E>()?);
        }
        page = match read(page.last()).await {
            Ok(page) => page,
            Err(error) => {
                list.break_off(&error)?;
                return Err(EndsEarly(error).into());
            }
        };
    }
}

/// The same of a list that is in memory, as it is short.
pub(crate) fn write_whole<E: ListRow>(json: bool, entries: &[E]) -> Result<(), CommandError> {
    let mut list = List::begin(io::stdout(), json);
    list.add(entries)?;
    Ok(list.end::<E>()?)
}

/// A list that is being written.
struct List<W> {
    output: W,
    json: bool,
    /// Of the columns, as wide as the first page needs them. Longer texts further on are written in
    /// full.
    widths: Vec<usize>,
    count: usize,
}

impl<W: Write> List<W> {
    fn begin(output: W, json: bool) -> Self {
        Self {
            output,
            json,
            widths: Vec::new(),
            count: 0,
        }
    }

    fn add<E: ListRow>(&mut self, entries: &[E]) -> io::Result<()> {
        let mut text = Vec::new();
        if self.json {
            for (number, entry) in (self.count..).zip(entries) {
                match number {
                    0 => write!(text, "{{\"{}\":[", E::NAME)?,
                    _ => text.push(b','),
                }
                serde_json::to_writer(&mut text, entry)?;
            }
        } else {
            let rows: Vec<Vec<String>> = entries.iter().map(|entry| clean(entry.cells())).collect();
            if self.count == 0 && !rows.is_empty() {
                let heading: Vec<String> =
                    E::COLUMNS.iter().map(|&column| column.to_owned()).collect();
                self.widths = widths(&heading, &rows);
                write_row(&mut text, &heading, &self.widths)?;
            }
            for row in &rows {
                write_row(&mut text, row, &self.widths)?;
            }
        }
        self.count += entries.len();
        self.output.write_all(&text)
    }

    fn end<E: ListRow>(mut self) -> io::Result<()> {
        match (self.json, self.count) {
            (true, 0) => writeln!(self.output, "{{\"{}\":[]}}", E::NAME)?,
            (true, _) => writeln!(self.output, "]}}")?,
            (false, 0) => writeln!(self.output, "{}", E::EMPTY)?,
            (false, _) => {}
        }
        self.output.flush()
    }

    /// Ends a list in its midst, after at least one entry.
    fn break_off(mut self, error: &CommandError) -> io::Result<()> {
        if self.json {
            write!(self.output, "],\"error\":")?;
            serde_json::to_writer(&mut self.output, &Causes(error.as_ref()).to_string())?;
            writeln!(self.output, "}}")?;
        }
        self.output.flush()
    }
}

/// Texts that leave the lines and columns as they are.
fn clean(cells: Vec<String>) -> Vec<String> {
    let clean = |cell: String| {
        if cell.contains(char::is_control) {
            cell.replace(char::is_control, "\u{fffd}")
        } else {
            cell
        }
    };
    cells.into_iter().map(clean).collect()
}

fn widths(heading: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(column))
            .chain(heading.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    (0..heading.len()).map(width).collect()
}

fn write_row(output: &mut impl Write, cells: &[String], widths: &[usize]) -> io::Result<()> {
    let last = cells.len().saturating_sub(1);
    for (number, cell) in cells.iter().enumerate() {
        if number == last {
            writeln!(output, "{cell}")?;
        } else {
            let width = widths.get(number).copied().unwrap_or_default();
            write!(output, "{cell:width$}  ")?;
        }
    }
    Ok(())
}

/// Facts for people: a name and a value on each line, aligned.
pub(crate) fn facts(f: &mut std::fmt::Formatter<'_>, facts: &[(&str, String)]) -> std::fmt::Result {
    let width = facts
        .iter()
        .map(|(name, _)| name.len() + 1)
        .max()
        .unwrap_or_default();
    for (number, (name, value)) in facts.iter().enumerate() {
        let end = if number == 0 { "" } else { "\n" };
        let value = value.replace(char::is_control, "\u{fffd}");
        write!(f, "{end}{:width$}  {value}", format!("{name}:"))?;
    }
    Ok(())
}

/// Whether the object that programs read says already that it failed.
pub(crate) fn is_reported(failure: &CommandError, json: bool) -> bool {
    json && failure.is::<EndsEarly>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Person {
        id: i64,
        name: &'static str,
    }

    impl ListRow for Person {
        const NAME: &'static str = "people";
        const COLUMNS: &'static [&'static str] = &["ID", "NAME", "END"];
        const EMPTY: &'static str = "No people";

        fn cells(&self) -> Vec<String> {
            vec![self.id.to_string(), self.name.to_owned(), "x".to_owned()]
        }
    }

    const PEOPLE: [Person; 2] = [
        Person {
            id: 7,
            name: "Zoë\n",
        },
        Person {
            id: 1234,
            name: "A",
        },
    ];

    fn written(json: bool, pages: &[&[Person]], error: Option<&str>) -> String {
        let mut output = Vec::new();
        let mut list = List::begin(&mut output, json);
        for page in pages {
            list.add(page).unwrap();
        }
        match error {
            Some(error) => list.break_off(&error.into()).unwrap(),
            None => list.end::<Person>().unwrap(),
        }
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn people_get_aligned_columns() {
        let expected = "ID    NAME  END\n7     Zoë\u{fffd}  x\n1234  A     x\n";
        assert_eq!(written(false, &[&PEOPLE], None), expected);
        assert_eq!(written(false, &[&[]], None), "No people\n");
    }

    #[test]
    fn programs_get_one_object_of_however_many_pages() {
        let expected =
            "{\"people\":[{\"id\":7,\"name\":\"Zoë\\n\"},{\"id\":1234,\"name\":\"A\"}]}\n";
        assert_eq!(written(true, &[&PEOPLE], None), expected);
        assert_eq!(
            written(true, &[&PEOPLE[..1], &PEOPLE[1..], &[]], None),
            expected
        );
        assert_eq!(written(true, &[&[]], None), "{\"people\":[]}\n");
    }

    #[test]
    fn a_list_that_breaks_off_is_an_object_that_says_so() {
        let text = written(true, &[&PEOPLE], Some("the database is gone"));
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (read["error"].as_str(), read["people"][1]["id"].as_i64()),
            (Some("the database is gone"), Some(1234))
        );
    }
}
