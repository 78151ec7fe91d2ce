//! `eddyline completions`, `eddyline man` and `eddyline healthcheck`: what packages and containers
//! need of the program.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use http::Uri;

use super::{AdminOptions, ConfigFile, Flags};

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
