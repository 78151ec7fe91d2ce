//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measure a server: durable posts, lists, search, fan-out and memory.
///
/// The server is started on this machine with data of its own. Results go to the standard output as
/// a table and to a file as JSON. The status is 1 when an operation was lost, repeated or refused.
#[derive(Parser)]
#[command(name = "eddyline-bench", version, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// A minute instead of ten: fewer messages, listeners and rounds, shorter measurements
    #[arg(long)]
    pub(crate) quick: bool,
    /// Where the results go as JSON
    #[arg(long, value_name = "FILE", default_value = "bench.json")]
    pub(crate) json: PathBuf,
    /// How often everything is measured; the table shows medians [default: 3, or 1 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: Option<u32>,
    /// Measure these parts only; `neighbour` is measured only when it is named here
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub(crate) only: Vec<Part>,
    /// The server [default: `eddyline` beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) server: Option<PathBuf>,
    /// Where data is kept while measuring; its disk is what durable posts are measured on
    /// [default: beside this program]
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// Attack for so many seconds in the part `neighbour` [default: 15, or 3 with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attack_seconds: Option<u32>,
    /// Attack in these ways only, such as `searches`; the table names them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) attacks: Vec<String>,
    /// Measure nchan as well, which must be installed
    #[arg(long)]
    pub(crate) peers: bool,
    /// What the program does when it is its own child.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Arguments {
    /// Whether a part is to be measured. The attacks take longer than all the rest, so they are
    /// measured only when they are named.
    pub(crate) fn wants(&self, part: Part) -> bool {
        if self.only.is_empty() {
            part != Part::Neighbour
        } else {
            self.only.contains(&part)
        }
    }

    /// Whether a way of attacking is to be measured.
    pub(crate) fn wants_attack(&self, name: &str) -> bool {
        self.attacks.is_empty() || self.attacks.iter().any(|wanted| wanted == name)
    }
}

/// What can be measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Durable posts
    Posts,
    /// The latest 30 messages
    List,
    /// The page of a flow, beside the same messages as a list
    Pages,
    /// From a post to the row in a browser, beside the stream; needs chromium
    Screen,
    /// Search, by how frequent the words are
    Search,
    /// Deliveries to listeners
    Fanout,
    /// Start-up and memory
    Idle,
    /// Posts with an access token, beside those with an API token
    Credentials,
    /// Users made by an identity provider
    Provisioning,
    /// The work of one organization while a member of another attacks
    Neighbour,
}

/// What else the program can be.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Serve as something to compare with
    #[command(hide = true)]
    Reference(Reference),
}

/// `reference`
#[derive(Args)]
pub(crate) struct Reference {
    /// Which one.
    pub(crate) kind: ReferenceKind,
    /// The database of the one that commits.
    #[arg(required_if_eq("kind", "commit"))]
    pub(crate) database: Option<PathBuf>,
}

/// The servers to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReferenceKind {
    /// Reads a request and says hello.
    Hello,
    /// Keeps the request's body in SQLite before it answers.
    Commit,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn parts_are_named_in_a_list() {
        let arguments = Arguments::try_parse_from(["bench", "--only", "posts,fanout"]).unwrap();
        assert!(arguments.wants(Part::Posts) && arguments.wants(Part::Fanout));
        assert!(!arguments.wants(Part::Search));
        let all = Arguments::try_parse_from(["bench"]).unwrap();
        assert!(all.wants(Part::Search) && !all.wants(Part::Neighbour));
    }
}
