//! The operator's command that shows the audit log, and the records of commands that work on the
//! store itself.

use std::fmt::{self, Display};
use std::io;
use std::time::Duration;

use eddyline_app::{App, AuditAction, AuditFilter, AuditRange, ErrorKind};
use eddyline_model::audit::{AuditEntry, actor};
use eddyline_model::names::Email;
use eddyline_storage::Store;
use eddyline_wire::NamedRecord;
use serde::Serialize;
use serde_json::Value;

use super::{explain, named, print};
use crate::cli::AuditArgs;
use crate::signals::StopSignals;
use crate::{CommandError, output};

/// How often `--follow` looks for new records.
const PAUSE: Duration = Duration::from_millis(500);
/// How many records `--follow` reads at a time.
const PAGE: i64 = 500;

/// Records what an operator did to the whole server. `detail` is an object without secrets.
pub(crate) async fn note(
    store: &Store,
    action: AuditAction,
    detail: &Value,
) -> Result<(), CommandError> {
    let entry = AuditEntry::new(action, None)
        .by(actor::OPERATOR)
        .with(detail);
    store.write(move |tx| tx.audit().insert(&entry)).await?;
    Ok(())
}

/// Shows the records that are asked for.
pub(super) async fn run(app: &App, command: AuditArgs, json: bool) -> Result<(), CommandError> {
    let filter = filter(app, &command).await?;
    let org = command.org.as_deref();
    let range = AuditRange::newest(command.before, i64::from(command.limit));
    let newest = app.operator().audit(org, filter.clone(), range);
    let newest = newest.await.map_err(of_organization(org))?;
    if !command.follow {
        let records = newest.into_iter().map(AuditLine::of).collect();
        return print(&AuditList { records }, json);
    }
    follow(app, org, filter, newest, json).await
}

async fn filter(app: &App, command: &AuditArgs) -> Result<AuditFilter, CommandError> {
    let concerning = match &command.user {
        Some(email) => {
            let email: Email = named("user", email)?;
            let found = app.operator().user(&email).await;
            let found = found.map_err(|error| explain(error, "a user with this address"))?;
            Some(found.user.id)
        }
        None => None,
    };
    Ok(AuditFilter {
        organization: None,
        actions: command.action.iter().map(ToString::to_string).collect(),
        actor: command.actor.clone(),
        user: None,
        concerning,
        since: command.since.map(|time| time.0),
        until: command.until.map(|time| time.0),
    })
}

/// Writes the records, the oldest first, and then each that comes.
async fn follow(
    app: &App,
    org: Option<&str>,
    filter: AuditFilter,
    newest: Vec<NamedRecord>,
    json: bool,
) -> Result<(), CommandError> {
    let stop = StopSignals::catch()?;
    let mut last = newest.first().map_or(0, |newest| newest.id);
    write(newest.into_iter().rev(), json)?;
    let following = async {
        loop {
            let range = AuditRange::following(last, PAGE);
            let next = app.operator().audit(org, filter.clone(), range);
            let next = match next.await {
                Ok(next) => next,
                // The database is away for a moment.
                Err(error) if error.kind() == ErrorKind::Unavailable => Vec::new(),
                Err(error) => return Err::<(), CommandError>(error.into()),
            };
            if let Some(newest) = next.last() {
                last = newest.id;
            }
            let is_full = next.len() as i64 >= PAGE;
            write(next.into_iter(), json)?;
            if !is_full {
                pause().await;
            }
        }
    };
    tokio::select! {
        ended = following => ended,
        _ = stop.requested() => Ok(()),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the pace of a command that polls"
)]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

fn write(records: impl Iterator<Item = NamedRecord>, json: bool) -> io::Result<()> {
    for record in records {
        output::answer(&AuditLine::of(record), json)?;
    }
    Ok(())
}

fn of_organization(org: Option<&str>) -> impl FnOnce(eddyline_app::Error) -> CommandError {
    let what = org.map_or_else(String::new, |org| format!("organization {org}"));
    move |error| explain(error, &what)
}

/// What `admin audit` shows.
#[derive(Serialize)]
struct AuditList {
    records: Vec<AuditLine>,
}

impl Display for AuditList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, record) in self.records.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(f, "{end}{record}")?;
        }
        match self.records.is_empty() {
            true => f.write_str("Nothing is recorded"),
            false => Ok(()),
        }
    }
}

/// A record as it is shown: the same members as in the API.
#[derive(Serialize)]
#[serde(transparent)]
struct AuditLine(NamedRecord);

impl AuditLine {
    fn of(record: NamedRecord) -> Self {
        Self(record)
    }
}

impl Display for AuditLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = &self.0;
        write!(f, "{} {} {}", record.id, record.at, record.actor)?;
        if let Some(name) = &record.actor_name {
            write!(f, " ({name})")?;
        }
        if let Some(application) = record.application {
            write!(f, " by application {application}")?;
        }
        if let Some(address) = &record.address {
            write!(f, " from {address}")?;
        }
        write!(f, " {}", record.action)?;
        if let Some(user) = record.user {
            write!(f, " user {user}")?;
        }
        if let Some(name) = &record.user_name {
            write!(f, " ({name})")?;
        }
        if let Some(target) = &record.target {
            write!(f, " {} {}", target.kind, target.id)?;
            if !target.name.is_empty() {
                write!(f, " ({})", target.name)?;
            }
        }
        if record
            .detail
            .as_object()
            .is_some_and(|detail| !detail.is_empty())
        {
            write!(f, " {}", record.detail)?;
        }
        Ok(())
    }
}
