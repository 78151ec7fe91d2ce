//! Where the archives of backups are, and the backups that servers take by themselves.

mod metrics;
mod place;
mod schedule;
mod state;

pub(crate) use self::metrics::BackupMetrics;
pub(crate) use self::place::{BackupTarget, folder_of, open_place, source};
pub(crate) use self::schedule::BackupTaker;
pub(crate) use self::state::{BackupFailure, BackupState, LastBackup};
