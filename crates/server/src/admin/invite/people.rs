//! Lists of people in files: an address, a name and flows on each line.

use eddyline_model::names::Email;

/// A person on a line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedPerson {
    /// The number of the line, from 1 on.
    pub(super) line: usize,
    pub(super) email: Email,
    /// The flows by their names in URLs; empty for those that the command names.
    pub(super) flows: Vec<String>,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadLine {
    /// The number of the line, from 1 on.
    pub(super) line: usize,
    pub(super) problem: String,
}

/// Reads lines of `address,name,flows`, of which the address alone is needed. Values are separated by
/// commas and may stand in quotation marks, flows by semicolons or blanks. Empty lines and those that
/// begin with # are passed over, and so is a first line with one of
/// [`HEADINGS`].
pub(super) fn read(text: &str) -> Vec<Result<ListedPerson, BadLine>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines());
    let mut found = Vec::new();
    for (line, text) in lines {
        let text = text.trim();
        let is_heading = line == 1 && is_heading(text);
        if text.is_empty() || text.starts_with('#') || is_heading {
            continue;
        }
        found.push(person(line, text).map_err(|problem| BadLine { line, problem }));
    }
    found
}

/// What the first column of a table of people is called. Any other first line is a person, so that a
/// mistaken address is not taken for a heading.
const HEADINGS: [&str; 5] = [
    "address",
    "email",
    "e-mail",
    "email address",
    "e-mail address",
];

fn is_heading(text: &str) -> bool {
    let first = text.split(',').next().unwrap_or_default();
    let first = first.trim().trim_matches('"').to_ascii_lowercase();
    HEADINGS.contains(&first.as_str())
}

fn person(line: usize, text: &str) -> Result<ListedPerson, String> {
    let mut values = values(text)?.into_iter();
    let address = values.next().unwrap_or_default();
    let email = address
        .parse()
        .map_err(|error| format!("{address:?} {error}"))?;
    let _name = values.next();
    let flows = values.next().unwrap_or_default();
    if values.any(|value| !value.is_empty()) {
        return Err("has more than an address, a name and flows".to_owned());
    }
    let flows = flows.split([';', ' ']).filter(|flow| !flow.is_empty());
    Ok(ListedPerson {
        line,
        email,
        flows: flows.map(str::to_owned).collect(),
    })
}

/// The values of a line. Within quotation marks a comma is none that separates, and two quotation
/// marks are one.
fn values(text: &str) -> Result<Vec<String>, String> {
    let (mut values, mut value) = (Vec::new(), String::new());
    let mut is_quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                value.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => values.push(std::mem::take(&mut value).trim().to_owned()),
            other => value.push(other),
        }
    }
    if is_quoted {
        return Err("has a quotation mark that does not end".to_owned());
    }
    values.push(value.trim().to_owned());
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_an_address_and_perhaps_a_name_and_flows() {
        let text = "\u{feff}email,name,flows\n\nada@example.org\n# not yet\n\
                    ben@example.org,\"Ben, the \"\"second\"\"\",main; dev\r\neve@example.org,,\n";
        let read: Vec<_> = read(text).into_iter().map(Result::unwrap).collect();
        let told: Vec<_> = read
            .iter()
            .map(|person| (person.line, person.email.as_str(), person.flows.join("+")))
            .collect();
        assert_eq!(
            told,
            [
                (3, "ada@example.org", String::new()),
                (5, "ben@example.org", "main+dev".to_owned()),
                (6, "eve@example.org", String::new()),
            ]
        );
    }

    #[test]
    fn a_mistaken_first_address_is_no_heading() {
        let bad = |text| read(text).into_iter().filter_map(Result::err).count();
        assert_eq!(bad("ada.example.org\nben@example.org\n"), 1);
        assert_eq!(bad("\"E-mail address\",Name\nben@example.org\n"), 0);
        assert_eq!(bad("ben@example.org\nemail,name\n"), 1);
    }

    #[test]
    fn a_bad_line_is_named() {
        let text =
            "ada@example.org\nno address\nben@example.org,\"Ben\neve@example.org,Eve,main,more\n";
        let bad: Vec<_> = read(text).into_iter().filter_map(Result::err).collect();
        let lines: Vec<_> = bad.iter().map(|bad| bad.line).collect();
        assert_eq!(lines, [2, 3, 4], "{bad:?}");
        assert!(bad[0].problem.starts_with("\"no address\""), "{bad:?}");
    }
}
