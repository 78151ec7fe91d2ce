//! Commands from the standard input, a line each.

use std::io::{self, stdin};

use clap::Parser as _;
use serde_json::json;

use super::Operator;
use super::list::is_reported;
use crate::cli::{BatchLine, OneCommand};
use crate::{CommandError, output};

const NO_INPUT: &str = "a batch has its commands on the standard input: use --password, which other users of this \
                        machine cannot see here";

/// Runs the commands until the input ends. Fails in the end when one of them failed.
pub(super) async fn run(operator: &mut Operator) -> Result<(), CommandError> {
    let json = operator.json;
    let (mut number, mut failed) = (0_usize, 0_usize);
    // One line at a time: a script may read an answer before it writes the next command.
    while let Some(line) = tokio::task::spawn_blocking(read_line).await?? {
        number += 1;
        let done = match parse(&line) {
            Ok(None) => continue,
            Ok(Some(command)) => operator.carry_out(command).await,
            Err(problem) => Err(problem.into()),
        };
        let Err(source) = done else { continue };
        if output::is_closed_pipe(&source) {
            // The answers are not read, but the commands are carried out.
            continue;
        }
        failed += 1;
        if is_reported(&source, json) {
            continue;
        }
        match report(&LineFailed { number, source }, json) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
            _ => {}
        }
    }
    match failed {
        0 => Ok(()),
        1 => Err("a command failed".into()),
        _ => Err(format!("{failed} commands failed").into()),
    }
}

fn read_line() -> io::Result<Option<String>> {
    let mut line = String::new();
    Ok((stdin().read_line(&mut line)? > 0).then_some(line))
}

/// The command in a line; `None` for an empty line or a comment.
fn parse(line: &str) -> Result<Option<OneCommand>, String> {
    let words = shlex::split(line.trim()).ok_or("a quotation mark is not closed")?;
    if words.is_empty() {
        return Ok(None);
    }
    let command = BatchLine::try_parse_from(words)
        .map_err(|error| first_paragraph(&error))?
        .command;
    if command.reads_input() {
        // The next line is a command.
        return Err(NO_INPUT.to_owned());
    }
    Ok(Some(command))
}

/// What is wrong, in one line and without the usage.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph
        .trim_start_matches("error:")
        .split_whitespace()
        .collect();
    words.join(" ")
}

/// A line whose command was not carried out.
#[derive(Debug, thiserror::Error)]
#[error("line {number}")]
struct LineFailed {
    number: usize,
    source: CommandError,
}

fn report(failed: &LineFailed, json: bool) -> io::Result<()> {
    if json {
        let error = output::Causes(failed.source.as_ref()).to_string();
        output::json_line(
            io::stdout().lock(),
            &json!({"error": error, "line": failed.number}),
        )
    } else {
        output::failure(failed, false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{FlowCommand, OrgCommand};

    #[test]
    fn a_line_is_quoted_as_in_a_shell() {
        let line = parse("flow create --org acme --name 'Big \"Plans\"' # for spring\n");
        let Ok(Some(OneCommand::Flow(FlowCommand::Create(flow)))) = line else {
            panic!()
        };
        assert_eq!(flow.name, "Big \"Plans\"");
        let Ok(Some(OneCommand::Org(OrgCommand::Create(org)))) = parse("org create --name Caf\\ é")
        else {
            panic!()
        };
        assert_eq!(org.name, "Caf é");
    }

    #[test]
    fn empty_lines_and_comments_are_no_commands() {
        for line in ["", "\n", "  \t\r\n", "# org create --name Acme"] {
            assert!(matches!(parse(line), Ok(None)), "{line:?}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said_in_one() {
        for (line, problem) in [
            ("org create --name 'Acme", "a quotation mark is not closed"),
            ("org crate", "unrecognized subcommand 'crate'"),
            (
                "flow token",
                "the following required arguments were not provided: --flow <ORG/FLOW>",
            ),
            ("batch", "unrecognized subcommand 'batch'"),
            (
                "org create --name A --data-dir /",
                "unexpected argument '--data-dir' found",
            ),
            (
                "user set-password --email a@x.org --password-stdin",
                NO_INPUT,
            ),
        ] {
            assert_eq!(parse(line).err().as_deref(), Some(problem), "{line}");
        }
    }
}
