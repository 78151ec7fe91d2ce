//! `eddyline completions`, `eddyline man` and `eddyline healthcheck`: what packages and containers
//! need of the program; and what finds mistakes of an installation.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;
use http::Uri;

use super::flags::{CheckConfigOptions, MailOptions};
use super::{AdminOptions, ConfigFile, Flags, ServeOptions};
use crate::config::Layer;

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  eddyline completions bash >~/.local/share/bash-completion/completions/eddyline
  eddyline completions fish >~/.config/fish/completions/eddyline.fish

The Debian package brings those for bash, zsh and fish.";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  eddyline man | man --local-file -
  eddyline man /usr/local/share/man/man1";

pub(super) const HEALTHCHECK_EXAMPLES: &str = "\
Examples:
  eddyline healthcheck
  eddyline healthcheck http://10.0.0.5:8080
  eddyline healthcheck https://127.0.0.1:8443/healthz

The status is 0 when the answer is 200, and 1 otherwise or after ten seconds.";

/// `eddyline completions`
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// `eddyline man`
#[derive(Args)]
pub(crate) struct Man {
    /// Directory for the pages of all commands, one file each; it is made when missing. Without it
    /// the main page goes to the standard output
    #[arg(value_name = "DIRECTORY")]
    pub(crate) directory: Option<PathBuf>,
}

/// `eddyline healthcheck`
#[derive(Args)]
pub(crate) struct Healthcheck {
    #[command(flatten)]
    pub(crate) options: Flags<AdminOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Address of the server, by default the one that its configuration has as `listen`. Without a
    /// path it is asked for /readyz
    #[arg(value_name = "URL")]
    pub(crate) url: Option<Uri>,
}

pub(super) const DOCTOR_EXAMPLES: &str = "\
Examples:
  eddyline doctor --config /etc/eddyline/eddyline.toml
  eddyline doctor --data-dir /var/lib/eddyline --json

The status is 0 when nothing is wrong, also where something is to be looked at, and 1 otherwise.";

/// `eddyline doctor`
#[derive(Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) options: Flags<ServeOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Answer with one JSON object on a line for each finding, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

/// `eddyline admin check-config`
#[derive(Args)]
pub(crate) struct CheckConfigArgs {
    #[command(flatten)]
    pub(crate) options: Flags<CheckConfigOptions>,
}

/// Commands about mail.
#[derive(Subcommand)]
pub(crate) enum MailCommand {
    /// Send one mail at once, and show what the mail server answers
    Test(MailTestArgs),
}

impl MailCommand {
    /// What its flags say.
    pub(crate) fn take_flags(&mut self) -> Layer {
        let Self::Test(test) = self;
        std::mem::take(&mut test.options.layer)
    }
}

/// `eddyline admin mail test`
#[derive(Args)]
pub(crate) struct MailTestArgs {
    #[command(flatten)]
    pub(crate) options: Flags<MailOptions>,
    /// Address that the mail goes to
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
}
