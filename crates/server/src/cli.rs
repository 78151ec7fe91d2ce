//! The command line.

mod admin;
mod audit;
mod backup;
mod deletion;
mod erasure;
mod export;
mod flags;
mod flows;
mod groups;
mod import;
mod installation;
mod invite;
mod moving;
pub(crate) mod passwords;
mod retention;
mod scim;
mod status;
#[cfg(test)]
mod tests;
mod users;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use self::admin::{
    AdminCommand, ApplicationCommand, BatchLine, BillingDate, CreateApplicationArgs,
    CreateOrganizationArgs, CreateSourceArgs, DomainCommand, OneCommand, OrgCommand,
    OrganizationDomain, OrganizationUpdate, SecretKeyCommand, SourceCommand,
};
pub(crate) use self::audit::AuditArgs;
pub(crate) use self::backup::{Backup, Check, Restore, STANDARD};
pub(crate) use self::deletion::{
    CancelCommand, DeletionArgs, DeletionCommand, HowToDelete, OrganizationDeletion,
};
pub(crate) use self::erasure::EraseArgs;
pub(crate) use self::export::{Export, ExportKind, Verify};
pub(crate) use self::flags::{AdminOptions, BackupOptions, DemoOptions, Flags, ServeOptions};
pub(crate) use self::flows::{FlowCommand, FlowPath, FlowUser};
pub(crate) use self::groups::{GroupCommand, GroupMember, NamedGroup, NewGroup};
pub(crate) use self::import::Import;
pub(crate) use self::installation::{Completions, DoctorArgs, Healthcheck, MailCommand, Man};
pub(crate) use self::invite::InviteArgs;
pub(crate) use self::moving::MoveArgs;
pub(crate) use self::passwords::PasswordFrom;
pub(crate) use self::retention::{
    HoldCommand, HoldTargetArgs, PeriodArgs, RetentionCommand, RetentionScopeArgs,
};
pub(crate) use self::scim::ScimCommand;
pub(crate) use self::status::StatusArgs;

pub(crate) use self::users::{CreateUserArgs, TokenCommand, TokenHolder, UserCommand};
use crate::config::{CONFIG_VARIABLE, DEFAULT_FILE};

/// The name of the program.
pub(crate) const NAME: &str = "eddyline";

/// Team messaging that you host yourself: flows, threads, search and a live stream. It speaks the
/// API of Flowdock.
#[derive(Parser)]
#[command(
    name = NAME,
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
    /// Run a server with sample data, to try things out
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Demo),
    /// Create, list and change organizations, users, flows and tokens; also while the server runs
    #[command(after_help = admin_help())]
    Admin(Admin),
    /// Write everything into one encrypted archive; also while the server runs
    #[command(after_help = backup::BACKUP_EXAMPLES)]
    Backup(Backup),
    /// Fill an empty place from a backup, or verify one
    #[command(after_help = backup::RESTORE_EXAMPLES)]
    Restore(Restore),
    /// Read everything and look whether it goes together; also while the server runs
    Check(Check),
    /// Write an organization, a flow or the data of one person into a signed archive that any program
    /// can read; also while the server runs
    #[command(after_help = export::EXPORT_EXAMPLES)]
    Export(Export),
    /// Look whether an export is as it was written, without a server
    #[command(after_help = export::VERIFY_EXAMPLES)]
    Verify(Verify),
    /// Bring in an archive of Eddyline, Flowdock, Slack or Mattermost; also while the server runs
    #[command(after_help = import::EXAMPLES)]
    Import(Import),
    /// Move everything into another database, of either kind; while the server runs
    #[command(after_help = moving::EXAMPLES)]
    Move(MoveArgs),
    /// Show which servers run, what waits, and how the last backup went
    Status(StatusArgs),
    /// Look for what is wrong with an installation: database, files, mail, proxy, clocks, limits
    #[command(after_help = installation::DOCTOR_EXAMPLES)]
    Doctor(DoctorArgs),
    /// Ask a running server whether it is ready, for containers and scripts
    #[command(after_help = installation::HEALTHCHECK_EXAMPLES)]
    Healthcheck(Healthcheck),
    /// Print a script with which a shell completes commands and options
    #[command(after_help = installation::COMPLETIONS_EXAMPLES)]
    Completions(Completions),
    /// Write the manual pages of all commands
    #[command(after_help = installation::MAN_EXAMPLES)]
    Man(Man),
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
Examples:
  eddyline admin org create --name Acme --user-limit 50
  eddyline admin user create --org acme --email ada@example.org --name 'Ada Lovelace' --nick Ada \\
      --admin --password-stdin
  eddyline admin user token --email ada@example.org --json
  eddyline admin user list --org acme
  eddyline admin flow token --flow acme/main";

/// The help behind that of the options: every command in full, and examples.
fn admin_help() -> String {
    let tree = <AdminCommand as Subcommand>::augment_subcommands(clap::Command::new("admin"));
    let mut commands = Vec::new();
    leaves(&tree, "", &mut commands);
    let width = commands
        .iter()
        .map(|(path, _)| path.len())
        .max()
        .unwrap_or_default();
    let mut help = String::from("Commands in full:\n");
    for (path, about) in &commands {
        help.push_str(&format!("  {path:width$}  {about}\n"));
    }
    help + "\n" + ADMIN_EXAMPLES
}

/// The commands below another, without those that only have further ones, each with what it does.
fn leaves(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
    for below in command.get_subcommands() {
        let path = format!("{path} {}", below.get_name());
        if below.has_subcommands() {
            leaves(below, &path, found);
        } else {
            let about = below
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            // Its own help says the rest.
            let first = about.split([';', ':', ',']).next().unwrap_or_default();
            found.push((path.trim().to_owned(), first.to_owned()));
        }
    }
}

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
    /// Answer with one JSON object on a line, for scripts
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,
    /// What to do.
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
