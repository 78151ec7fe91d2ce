//! `eddyline man`: the manual pages, made of the same definition as the help.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::CommandError;
use crate::cli::Cli;

/// Neither hyphens in names of variables nor lines stretched around them.
const LAYOUT: &[u8] = b".nh\n.ad l\n";

/// Writes the pages of all commands into a directory, or the main page to the standard output.
pub(crate) fn run(directory: Option<&Path>) -> Result<(), CommandError> {
    let Some(directory) = directory else {
        let mut output = io::stdout().lock();
        output.write_all(&page(&whole())?)?;
        return Ok(output.flush()?);
    };
    let cannot =
        |path: &Path, error: io::Error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(directory).map_err(|error| cannot(directory, error))?;
    for command in all(&whole()) {
        let path = directory.join(file_name(command));
        fs::write(&path, page(command)?).map_err(|error| cannot(&path, error))?;
    }
    Ok(())
}

/// The program, with what its commands inherit.
fn whole() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// A command and all below it.
fn all(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().flat_map(all);
    std::iter::once(command).chain(below).collect()
}

/// The name of a command's page, such as `eddyline-admin`.
fn title(command: &Command) -> &str {
    command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
}

fn file_name(command: &Command) -> String {
    format!("{}.1", title(command))
}

/// The page of a command. It has no date, so that the same source gives the same page.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone())
        .title(title(command).to_uppercase())
        .source(format!("Eddyline {version}"))
        .manual("Eddyline");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    page.extend_from_slice(LAYOUT);
    man.render_name_section(&mut page)?;
    let mut synopsis = Vec::new();
    man.render_synopsis_section(&mut synopsis)?;
    let synopsis = String::from_utf8(synopsis).map_err(io::Error::other)?;
    // Alternatives are longer than a line: it may break between them.
    page.extend_from_slice(synopsis.replace('|', "|\\:").as_bytes());
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(text) = command.get_after_help() {
        write_closing(&mut page, &text.to_string())?;
    }
    let page = String::from_utf8(page).map_err(io::Error::other)?;
    Ok(in_ascii(&page).into_bytes())
}

/// A page with the escapes of groff for what is not ASCII, which groff reads as Latin 1.
fn in_ascii(page: &str) -> String {
    let mut ascii = String::with_capacity(page.len());
    for letter in page.chars() {
        match letter.is_ascii() {
            true => ascii.push(letter),
            false => ascii.push_str(&format!("\\[u{:04X}]", u32::from(letter))),
        }
    }
    ascii
}

/// Writes what ends the help. The pages of `clap_mangen` would fill the lines of its examples like
/// those of prose.
fn write_closing(page: &mut Vec<u8>, text: &str) -> io::Result<()> {
    let mut is_code = false;
    for line in text.lines() {
        let heading = line
            .strip_suffix(':')
            .filter(|line| !line.starts_with([' ', '#']));
        let starts_code = line.starts_with("  ");
        if is_code != starts_code && !line.is_empty() {
            writeln!(page, "{}", if starts_code { ".nf" } else { ".fi" })?;
            is_code = starts_code;
        }
        match heading {
            Some(heading) => writeln!(page, ".SH {}", heading.to_uppercase())?,
            None if line.is_empty() => writeln!(page, ".PP")?,
            None => writeln!(page, "{}", escaped(line))?,
        }
    }
    if is_code {
        writeln!(page, ".fi")?;
    }
    Ok(())
}

/// A line of text, without what roff takes for requests and for typographic characters.
fn escaped(line: &str) -> String {
    let text = line
        .replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq");
    match text.starts_with('.') {
        true => format!("\\&{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_that_names_its_options() {
        let whole = whole();
        let commands = all(&whole);
        assert!(commands.len() > 50, "{}", commands.len());
        for command in commands {
            let page = String::from_utf8(page(command).unwrap()).unwrap();
            assert!(page.contains(".SH SYNOPSIS"), "{page}");
            for flag in command.get_arguments().filter_map(|arg| arg.get_long()) {
                let flag = flag.replace('-', "\\-");
                assert!(page.contains(&flag), "{}: {flag}", title(command));
            }
        }
    }

    #[test]
    fn the_names_of_pages_are_those_of_commands() {
        let whole = whole();
        let names: Vec<String> = all(&whole).into_iter().map(file_name).collect();
        for name in [
            "eddyline.1",
            "eddyline-serve.1",
            "eddyline-admin-user-create.1",
        ] {
            assert!(names.iter().any(|known| known == name), "{names:?}");
        }
    }

    #[test]
    fn a_page_is_in_ascii() {
        assert_eq!(in_ascii("age1…"), "age1\\[u2026]");
        for command in all(&whole()) {
            assert!(page(command).unwrap().is_ascii(), "{}", title(command));
        }
    }

    #[test]
    fn examples_keep_their_lines() {
        let mut page = Vec::new();
        write_closing(&mut page, "Examples:\n  a 'b' \\\n    --c\n\nThe end.").unwrap();
        assert_eq!(
            String::from_utf8(page).unwrap(),
            ".SH EXAMPLES\n.nf\n  a \\(aqb\\(aq \\e\n    \\-\\-c\n.PP\n.fi\nThe end.\n"
        );
    }
}
