//! `eddyline status`: what the database tells of the servers, of mail, of the audit log, and of backups.

use std::fmt::{self, Display};

use eddyline_model::Timestamp;
use eddyline_storage::{Reader, SILENCE_MILLIS, ServingNode, Store};
use serde::Serialize;

use crate::archives::{BackupFailure, BackupState, LastBackup};
use crate::config::Settings;
use crate::{CommandError, admin, output, serve};

/// Prints the status.
pub(crate) async fn run(settings: Settings, json: bool) -> Result<(), CommandError> {
    admin::check_place(&settings).await?;
    let store = serve::open_current_store(&settings).await?;
    let answer = StatusAnswer::read(&settings, &store).await;
    store.close().await;
    Ok(output::answer(&answer?, json)?)
}

#[derive(Serialize)]
struct StatusAnswer {
    version: &'static str,
    database: String,
    servers: Vec<ServerStatus>,
    mails_waiting: i64,
    audit_exports: Vec<ExportStatus>,
    last_backup: Option<LastBackup>,
    backup_failure: Option<BackupFailure>,
    /// In milliseconds since 1970.
    next_backup_at: Option<i64>,
}

#[derive(Serialize)]
struct ServerStatus {
    id: String,
    /// In milliseconds since 1970.
    heartbeat_at: i64,
    log_position: i64,
}

/// A destination of the audit log.
#[derive(Serialize)]
struct ExportStatus {
    destination: String,
    records_waiting: i64,
    /// When it last took records, in milliseconds since 1970.
    last_success_at: i64,
}

/// The destinations that one of the servers sends to, and those of the configuration that servers have
/// begun to send to. Servers may have options that this command was not given.
fn audit_exports(
    reader: &mut Reader<'_>,
    servers: &[ServingNode],
    configured: &[&str],
) -> eddyline_storage::Result<Vec<ExportStatus>> {
    let mut found = Vec::new();
    for export in reader.audit_exports().list()? {
        let is_sent = servers.iter().any(|server| server.id == export.holder);
        if is_sent || configured.contains(&&*export.name) {
            found.push(ExportStatus {
                records_waiting: reader.audit().count_after(export.last_id)?,
                destination: export.name,
                last_success_at: export.updated_at.0,
            });
        }
    }
    Ok(found)
}

impl StatusAnswer {
    async fn read(settings: &Settings, store: &Store) -> Result<Self, CommandError> {
        let since = store.now().plus_millis(-SILENCE_MILLIS);
        let configured = [
            settings.audit_syslog.as_ref().map(|_| "syslog"),
            settings.audit_webhook.as_ref().map(|_| "webhook"),
        ];
        let read = store.read(move |reader| {
            let configured: Vec<_> = configured.into_iter().flatten().collect();
            let servers = reader.nodes().list(since)?;
            let exports = audit_exports(reader, &servers, &configured)?;
            Ok((servers, reader.mails().count()?, exports))
        });
        let (servers, mails_waiting, audit_exports) = read.await?;
        let backups = BackupState::read(store).await?;
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            database: settings.database_url().place(),
            servers: servers.into_iter().map(ServerStatus::of).collect(),
            mails_waiting,
            audit_exports,
            last_backup: backups.last,
            backup_failure: backups.failure,
            next_backup_at: backups.next_at,
        })
    }
}

impl ServerStatus {
    fn of(node: ServingNode) -> Self {
        Self {
            id: node.id,
            heartbeat_at: node.heartbeat.0,
            log_position: node.read.0,
        }
    }
}

impl Display for StatusAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Eddyline {}", self.version)?;
        writeln!(f, "  Database:       {}", self.database)?;
        match &self.servers[..] {
            [] => writeln!(f, "  Servers:        none run")?,
            servers => writeln!(f, "  Servers:        {}", servers.len())?,
        }
        for ServerStatus {
            id, log_position, ..
        } in &self.servers
        {
            writeln!(f, "    {id} has read the log to {log_position}")?;
        }
        writeln!(f, "  Mail waiting:   {}", self.mails_waiting)?;
        for export in &self.audit_exports {
            writeln!(
                f,
                "  Audit export:   {}, {} records wait, last taken {}",
                export.destination,
                export.records_waiting,
                Timestamp(export.last_success_at)
            )?;
        }
        match &self.last_backup {
            None => write!(f, "  Last backup:    none")?,
            Some(last) => write!(
                f,
                "  Last backup:    {}, {}",
                Timestamp(last.taken_at),
                last.archive
            )?,
        }
        if let Some(failure) = &self.backup_failure {
            let at = Timestamp(failure.at);
            write!(f, "\n  Failed backup:  {at}, {}", failure.reason)?;
        }
        match self.next_backup_at {
            None => Ok(()),
            Some(next) => write!(f, "\n  Next backup:    {}", Timestamp(next)),
        }
    }
}
