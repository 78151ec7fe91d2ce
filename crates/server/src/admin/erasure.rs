//! `user erase`: erases a person, then what the files and the database still keep of them.

use std::fmt::{self, Display};

use eddyline_app::{App, ErasedUser};
use eddyline_model::erasure::ErasedProfile;
use eddyline_model::names::Email;
use eddyline_storage::{ScrubStep, Store};
use serde::Serialize;

use super::{explain, named, place};
use crate::cli::EraseArgs;
use crate::config::Settings;
use crate::output::Reporter;
use crate::{CommandError, files, prompt, serve};

/// Erases a person and prints what was erased.
pub(super) async fn run(
    settings: &Settings,
    command: EraseArgs,
    json: bool,
) -> Result<(), CommandError> {
    let address: Email = named("email", &command.email)?;
    place::check(settings, false).await?;
    if !command.yes {
        let question = format!(
            "Erase {} and everything this user wrote? This cannot be undone.",
            command.email
        );
        if !tokio::task::spawn_blocking(move || prompt::confirms(&question)).await?? {
            return Err("nothing was changed".into());
        }
    }
    let store = serve::open_current_store(settings).await?;
    let app = serve::open_app(
        settings,
        store.clone(),
        serve::configured_addresses(settings),
        None,
        files::open(settings)?,
        None,
        Vec::new(),
    )
    .await?;
    let erased = erase(
        &app,
        &store,
        &address,
        &command.email,
        Reporter::new(json, false),
    )
    .await;
    app.close().await;
    erased
}

async fn erase(
    app: &App,
    store: &Store,
    address: &Email,
    email: &str,
    reporter: Reporter,
) -> Result<(), CommandError> {
    let shown = reporter.clone();
    let erased = app
        .operator()
        .erase_user(address, move |messages| {
            shown.report_line(&ErasureProgress::Messages { messages });
        })
        .await
        .map_err(|error| explain(error, email))?;
    let ErasedUser { id, messages } = erased;
    let files_left = app.files().remove_deleted().await?;
    let shown = reporter.clone();
    let scrubbed = store
        .scrub(move |step| shown.report_line(&ScrubProgress::of(step)))
        .await
        .map_err(|error| {
            format!(
                "the messages are erased, but the database still keeps deleted rows: {error}; \
                 complete the erasure with --email {}",
                ErasedProfile::of(id).email
            )
        })?;
    reporter.end(&Erased {
        id: id.0,
        messages,
        files_left,
        blocked_millis: scrubbed.blocked_millis,
    })?;
    Ok(())
}

/// How far an erasure is.
#[derive(Serialize)]
#[serde(tag = "progress", rename_all = "snake_case")]
enum ErasureProgress {
    /// So many messages are erased.
    Messages { messages: u64 },
}

impl Display for ErasureProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Messages { messages } = self;
        write!(f, "{messages} messages erased")
    }
}

/// How far the removal of deleted rows from the database is.
#[derive(Serialize)]
#[serde(tag = "progress", rename_all = "snake_case")]
pub(crate) enum ScrubProgress {
    /// The index of words is merged.
    SearchIndex,
    /// The database file is written anew.
    DatabaseFile,
    /// Its write-ahead log is emptied.
    WriteAheadLog,
    /// A table is vacuumed.
    Table { table: &'static str },
}

impl ScrubProgress {
    pub(crate) fn of(step: ScrubStep) -> Self {
        match step {
            ScrubStep::SearchIndex => Self::SearchIndex,
            ScrubStep::File => Self::DatabaseFile,
            ScrubStep::WriteAheadLog => Self::WriteAheadLog,
            ScrubStep::Table(table) => Self::Table { table },
        }
    }
}

impl Display for ScrubProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SearchIndex => f.write_str("merging the index of words"),
            Self::DatabaseFile => f.write_str("writing the database file anew; posts wait"),
            Self::WriteAheadLog => f.write_str("emptying the write-ahead log"),
            Self::Table { table } => write!(f, "vacuuming {table}"),
        }
    }
}

/// `user erase` has been done. It does not repeat the address.
#[derive(Serialize)]
struct Erased {
    id: i64,
    messages: u64,
    files_left: i64,
    blocked_millis: u64,
}

impl Display for Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            messages,
            files_left,
            blocked_millis,
        } = self;
        write!(f, "User {id} and {messages} messages are erased")?;
        if *blocked_millis > 0 {
            write!(f, "; posts waited for {blocked_millis} ms")?;
        }
        if *files_left > 0 {
            write!(
                f,
                "\n  {files_left} deleted files cannot be removed yet; the server removes them when it can"
            )?;
        }
        write!(
            f,
            "\n  Backups and exports of before still have what was erased; see \"Erasing a person\" in docs/records.md"
        )
    }
}
