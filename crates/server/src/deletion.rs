//! `admin delete`: deleting organizations and users after a grace time.

use std::fmt::{self, Display};
use std::path::Path;

use eddyline_app::{App, CompletedDeletions, DeletionItem, DeletionName, DeletionProgress};
use eddyline_export::ExportSubject;
use eddyline_model::Day;
use eddyline_model::deletion::{GracePeriod, PendingDeletion};
use eddyline_model::names::Email;
use eddyline_storage::Store;
use serde::Serialize;

use crate::admin::list::{self, ListRow};
use crate::admin::{ScrubProgress, check_place, explain, named, print};
use crate::cli::{CancelCommand, DeletionArgs, DeletionCommand, HowToDelete, OrganizationDeletion};
use crate::config::Settings;
use crate::output::Reporter;
use crate::signals::StopSignals;
use crate::{CommandError, backup, export, files, prompt, serve};

/// Carries out one command and prints its answer.
pub(crate) async fn run(
    settings: Settings,
    command: DeletionArgs,
    json: bool,
) -> Result<(), CommandError> {
    let settings = &settings;
    check_place(settings).await?;
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
    let work = DeletionWork {
        settings,
        store,
        app,
        json,
    };
    let outcome = work.carry_out(command.command).await;
    work.app.close().await;
    outcome
}

/// Where the command works.
struct DeletionWork<'s> {
    settings: &'s Settings,
    store: Store,
    app: App,
    json: bool,
}

impl DeletionWork<'_> {
    async fn carry_out(&self, command: DeletionCommand) -> Result<(), CommandError> {
        match command {
            DeletionCommand::Organization(OrganizationDeletion { org, private, how }) => {
                let subject = ExportSubject::Organization {
                    name: org.clone(),
                    with_private_conversations: private,
                };
                self.request(DeletionName::Organization(org), subject, how)
                    .await
            }
            DeletionCommand::User(user) => {
                let email: Email = address(&user.email)?;
                let subject = ExportSubject::Person {
                    email: email.clone(),
                };
                self.request(DeletionName::User(email), subject, user.how)
                    .await
            }
            DeletionCommand::List => {
                let found = self.app.deletions().list().await?;
                let found: Vec<Deletion> = found.into_iter().map(Deletion::of).collect();
                list::write_whole(self.json, &found)
            }
            DeletionCommand::Cancel(command) => self.cancel(command).await,
            DeletionCommand::Run => self.delete_due().await,
        }
    }

    async fn request(
        &self,
        name: DeletionName,
        subject: ExportSubject,
        how: HowToDelete,
    ) -> Result<(), CommandError> {
        let what = name.to_string();
        let grace = how.grace.unwrap_or(self.settings.deletion_grace.0);
        if !how.yes {
            confirm(&what, grace).await?;
        }
        if let Some(to) = &how.archive.export {
            self.export(subject, to).await?;
        }
        let requested = self
            .app
            .deletions()
            .request(name, grace)
            .await
            .map_err(|error| explain(error, &what))?;
        if grace.is_none() {
            return self.delete_due().await;
        }
        print(&Requested::new(what, &requested), self.json)
    }

    /// Writes the archive. With files that could not be read nothing is deleted.
    async fn export(&self, subject: ExportSubject, to: &Path) -> Result<(), CommandError> {
        let stop = StopSignals::catch()?;
        let reporter = Reporter::new(self.json, false);
        let work = export::write_archive(self.settings, &self.store, subject, to, &reporter);
        let answer = backup::until_stopped(stop, Box::pin(work)).await??;
        reporter.end(&answer)?;
        match answer.complaint() {
            None => Ok(()),
            Some(complaint) => Err(format!(
                "{complaint}; nothing is deleted: name another file and say --no-export to delete without these files"
            )
            .into()),
        }
    }

    async fn cancel(&self, command: CancelCommand) -> Result<(), CommandError> {
        let name = match command {
            CancelCommand::Organization { org } => DeletionName::Organization(org),
            CancelCommand::User { email } => DeletionName::User(address(&email)?),
        };
        let what = name.to_string();
        self.app
            .deletions()
            .cancel(name)
            .await
            .map_err(|error| explain(error, &format!("a deletion of {what}")))?;
        let cancelled = true;
        print(&Cancelled { what, cancelled }, self.json)
    }

    /// Deletes what is due, and then what files and database still keep of it.
    async fn delete_due(&self) -> Result<(), CommandError> {
        let reporter = Reporter::new(self.json, false);
        let shown = reporter.clone();
        let done = self
            .app
            .deletions()
            .carry_out(move |progress| {
                shown.report_line(&match progress {
                    DeletionProgress::Messages(messages) => Progress::Messages { messages },
                    DeletionProgress::Held(what, why) => Progress::Held { what, why },
                });
            })
            .await?;
        let files_left = self.app.files().remove_deleted().await?;
        let shown = reporter.clone();
        let scrubbed = self
            .store
            .scrub(move |step| shown.report_line(&ScrubProgress::of(step)))
            .await
            .map_err(|error| {
                format!(
                    "the rows are deleted, but the database still keeps some of them: {error}; \
                     say `delete run` again"
                )
            })?;
        let CompletedDeletions {
            organizations,
            users,
            messages,
            held,
        } = done;
        reporter.end(&Completed {
            organizations,
            users,
            messages,
            held,
            files_left,
            blocked_millis: scrubbed.blocked_millis,
        })?;
        match held {
            0 => Ok(()),
            1 => Err("1 deletion waits for a legal hold".into()),
            held => Err(format!("{held} deletions wait for a legal hold").into()),
        }
    }
}

fn address(text: &str) -> Result<Email, CommandError> {
    named("email", text).map_err(|error| {
        let text = error.to_string();
        text.replacen("--email", "EMAIL", 1).into()
    })
}

/// Asks whether to go on. What is deleted at once needs a confirmation also where there is nobody to
/// ask.
async fn confirm(what: &str, grace: GracePeriod) -> Result<(), CommandError> {
    let question = match grace.is_none() {
        true if !prompt::is_terminal() => {
            return Err("--grace 0d deletes at once; confirm it with --yes".into());
        }
        true => format!("Delete {what} at once? This cannot be undone."),
        false => format!("Close {what} now, and delete it in {grace}?"),
    };
    match tokio::task::spawn_blocking(move || prompt::confirms(&question)).await?? {
        true => Ok(()),
        false => Err("nothing was changed".into()),
    }
}

/// A deletion was requested.
#[derive(Serialize)]
struct Requested {
    what: String,
    due_at: String,
    #[serde(skip)]
    day: String,
}

impl Requested {
    fn new(what: String, requested: &PendingDeletion) -> Self {
        let due_at = requested.due_at;
        Self {
            what,
            due_at: due_at.to_string(),
            day: Day::of(due_at).map_or_else(|| due_at.to_string(), |day| day.to_string()),
        }
    }
}

impl Display for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, day, .. } = self;
        write!(
            f,
            "The {what} is shut out from now on, and will be deleted on {day} (UTC)\n  \
             `eddyline admin delete cancel {what}` restores it until then"
        )
    }
}

/// A deletion was cancelled.
#[derive(Serialize)]
struct Cancelled {
    what: String,
    cancelled: bool,
}

impl Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The deletion of {} is cancelled", self.what)
    }
}

/// How far it is.
#[derive(Serialize)]
#[serde(tag = "progress", rename_all = "snake_case")]
enum Progress {
    /// So many messages are deleted.
    Messages { messages: u64 },
    /// This is due, but held.
    Held { what: String, why: String },
}

impl Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Messages { messages } => write!(f, "{messages} messages deleted"),
            Self::Held { what, why } => write!(f, "The {what} is not deleted: {why}"),
        }
    }
}

/// What was due has been deleted.
#[derive(Serialize)]
struct Completed {
    organizations: u64,
    users: u64,
    messages: u64,
    held: u64,
    files_left: i64,
    blocked_millis: u64,
}

impl Display for Completed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            organizations,
            users,
            messages,
            files_left,
            blocked_millis,
            ..
        } = self;
        write!(
            f,
            "Deleted: {}, {}, {}",
            counted(*organizations, "organization"),
            counted(*users, "user"),
            counted(*messages, "message")
        )?;
        if *blocked_millis > 0 {
            write!(f, "; posts waited for {blocked_millis} ms")?;
        }
        if *files_left > 0 {
            write!(
                f,
                "\n  {files_left} deleted files cannot be removed yet; the server removes them when it can"
            )?;
        }
        if *organizations + *users > 0 {
            write!(
                f,
                "\n  Backups and exports of before still have what was deleted"
            )?;
        }
        Ok(())
    }
}

/// A number of things, in words.
fn counted(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

/// A deletion in the list.
#[derive(Serialize)]
struct Deletion {
    what: String,
    due_at: String,
    requested_at: String,
    requested_by: String,
    begun: bool,
    held_by: Option<String>,
}

impl Deletion {
    fn of(item: DeletionItem) -> Self {
        Self {
            what: item.what,
            due_at: item.due_at.to_string(),
            requested_at: item.requested_at.to_string(),
            requested_by: item.requested_by,
            begun: item.begun,
            held_by: item.held_by,
        }
    }

    fn state(&self) -> String {
        match &self.held_by {
            Some(held) => format!("waits for the legal hold on {held}"),
            None if self.begun => "begun".to_owned(),
            None => "waits for its day".to_owned(),
        }
    }
}

impl ListRow for Deletion {
    const NAME: &'static str = "deletions";
    const COLUMNS: &'static [&'static str] = &["WHAT", "DUE", "REQUESTED BY", "STATE"];
    const EMPTY: &'static str = "Nothing is to be deleted";

    fn cells(&self) -> Vec<String> {
        vec![
            self.what.clone(),
            self.due_at.clone(),
            self.requested_by.clone(),
            self.state(),
        ]
    }
}
