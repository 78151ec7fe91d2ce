//! The command line.

mod admin;
mod flags;
mod groups;
mod passwords;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use self::admin::{
    AdminCommand, ApplicationCommand, BatchLine, BillingDate, DomainCommand, FlowCommand, NewApplication,
    NewOrganization, NewSource, OneCommand, OrgCommand, OrganizationDomain, OrganizationUpdate, ScimCommand,
    SourceCommand, UserCommand,
};
pub(crate) use self::flags::{AdminOptions, DemoOptions, Flags, ServeOptions};
pub(crate) use self::groups::{GroupCommand, GroupMember, NamedGroup, NewGroup};
use crate::config::{CONFIG_VARIABLE, DEFAULT_FILE};

/// Team messaging that you host yourself: flows, threads, search and a live stream. It speaks the API of
/// Flowdock.
#[derive(Parser)]
#[command(
    name = "eddyline",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  eddyline demo                       Try it: a small organization, gone when you stop it
  eddyline serve --data-dir ./data    Run a server that keeps its data in ./data

  # Fill it, also while it runs
  eddyline admin --data-dir ./data org create --name Acme
  eddyline admin --data-dir ./data user create --org acme \\
      --email ada@example.org --name 'Ada Lovelace' --nick Ada
  eddyline admin --data-dir ./data flow create --org acme --name Main
  eddyline admin --data-dir ./data flow add-user --flow acme/main --email ada@example.org

'eddyline COMMAND --help' explains the options of a command. Each can also be set by the
environment variable shown there, or in a TOML file under the name of the flag with
underscores: data_dir = \"/var/lib/eddyline\".";

/// What the program is asked to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the server until it is told to stop
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Serve),
    /// Run a server with a small, lively organization to try things on
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Demo),
    /// Make organizations, people, flows and tokens; also while the server runs
    #[command(after_help = ADMIN_EXAMPLES)]
    Admin(Admin),
}

const SERVE_EXAMPLES: &str = "\
Examples:
  eddyline serve
  eddyline serve --data-dir /var/lib/eddyline --listen 0.0.0.0:443 --stream-listen 0.0.0.0:8443 \\
      --tls-cert chain.pem --tls-key key.pem --base-url https://chat.example.org
  EDDYLINE_DATABASE=postgres://eddyline@db/eddyline eddyline serve --trusted-proxy 10.0.0.0/8

SIGTERM or Ctrl-C ends the server in order; a second one ends it at once.";

const DEMO_EXAMPLES: &str = "\
Examples:
  eddyline demo
  eddyline demo --data-dir ./demo     Keep the data for the next time";

const ADMIN_EXAMPLES: &str = "\
Commands in full:
  eddyline admin org create         eddyline admin flow create
  eddyline admin user create        eddyline admin flow add-user
  eddyline admin user token         eddyline admin flow token
  eddyline admin user set-password

  eddyline admin batch              Many commands at once, from the standard input

Examples:
  eddyline admin org create --name Acme --user-limit 50
  eddyline admin user create --org acme --email ada@example.org --name 'Ada Lovelace' --nick Ada \\
      --admin --password-stdin < password.txt
  eddyline admin user token --email ada@example.org --json
  eddyline admin flow token --flow acme/main";

/// `eddyline serve`
#[derive(Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) options: Flags<ServeOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
}

/// `eddyline demo`
#[derive(Args)]
pub(crate) struct Demo {
    #[command(flatten)]
    pub(crate) options: Flags<DemoOptions>,
}

impl Demo {
    /// Whether the data shall stay, in a directory that was named.
    pub(crate) fn names_directory(&self) -> bool {
        self.options.layer.text("data_dir").is_some()
    }
}

/// `eddyline admin`
#[derive(Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Admin {
    #[command(flatten)]
    pub(crate) options: Flags<AdminOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Answer with one JSON object, for scripts
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,
    /// What to make.
    #[command(subcommand)]
    pub(crate) command: AdminCommand,
}

fn config_help() -> String {
    format!(
        "Configuration file in TOML, with any of the options\n\
         [env: {CONFIG_VARIABLE}] [default: {DEFAULT_FILE} in the data directory, if there is one]"
    )
}

/// Which configuration file is read.
#[derive(Args)]
pub(crate) struct ConfigFile {
    #[arg(id = "config", long, value_name = "FILE", global = true, help_heading = "Data", help = config_help())]
    pub(crate) path: Option<PathBuf>,
}
