//! `eddyline backup`, `eddyline restore` and `eddyline check`.

use std::path::PathBuf;

use clap::Args;

use super::{BackupOptions, ConfigFile, Flags};

/// The name that stands for the standard input or output.
pub(crate) const STANDARD: &str = "-";

pub(super) const BACKUP_EXAMPLES: &str = "\
Examples:
  # Once: make a key pair, and keep key.txt away from the server
  eddyline backup --new-key key.txt

  eddyline backup --data-dir /var/lib/eddyline --recipient age1… --to /backup/monday.tar.age
  eddyline backup --recipient age1… --to s3://backups/chat --incremental
  eddyline backup --recipient age1… --to - | ssh elsewhere 'cat >eddyline.tar.age'";

pub(super) const RESTORE_EXAMPLES: &str = "\
Examples:
  eddyline restore --from /backup/monday.tar.age --identity key.txt --data-dir /var/lib/eddyline
  eddyline restore --from /backup/monday.tar.age --identity key.txt --verify
  eddyline restore --from s3://backups/chat --identity key.txt --data-dir /var/lib/eddyline

A backup of an SQLite file can be restored into PostgreSQL, and files of a folder into a store that
speaks S3, and back: the options say where the data goes.";

/// `eddyline backup`
#[derive(Args)]
pub(crate) struct Backup {
    #[command(flatten)]
    pub(crate) options: Flags<BackupOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Archive to write, where nothing is yet; - for the standard output. Or a folder or
    /// s3://BUCKET/PREFIX, where it gets a name; without it the place that backup_to names
    #[arg(long, value_name = "PLACE")]
    pub(crate) to: Option<String>,
    /// Write what the archives in the folder or bucket do not have already
    #[arg(long, requires = "to")]
    pub(crate) incremental: bool,
    /// Public key of age that the archive is encrypted for (age1…); give several so that each of
    /// their owners can read it. Without it those of backup_recipient
    #[arg(long, value_name = "KEY", requires = "to")]
    pub(crate) recipient: Vec<String>,
    /// Do not encrypt the archive. It holds all messages and the secret key in plain text
    #[arg(long, conflicts_with = "recipient", requires = "to")]
    pub(crate) unencrypted: bool,
    /// Write no backup, but make a key pair of age: write the private key to this file, and print
    /// the public key
    #[arg(long, value_name = "FILE", conflicts_with_all = ["to", "recipient", "unencrypted"])]
    pub(crate) new_key: Option<PathBuf>,
    /// Report progress and the result as lines of JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

/// `eddyline check`
#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) options: Flags<BackupOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Repair derived data: the index of words, and the numbers of members
    #[arg(long)]
    pub(crate) repair: bool,
    /// Do not read the files
    #[arg(long)]
    pub(crate) skip_files: bool,
    /// Report progress and the result as lines of JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

/// `eddyline restore`
#[derive(Args)]
pub(crate) struct Restore {
    #[command(flatten)]
    pub(crate) options: Flags<BackupOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Archive to read, also s3://BUCKET/PREFIX/NAME; the newest in a folder or bucket; - for the
    /// standard input
    #[arg(long, value_name = "PLACE")]
    pub(crate) from: String,
    /// File with the private key of age that the archive was encrypted for
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
    /// Read the archive to its end and write nothing
    #[arg(long)]
    pub(crate) verify: bool,
    /// Report progress and the result as lines of JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}
