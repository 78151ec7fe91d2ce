//! `eddyline import`: the archive of an organization of Eddyline, Flowdock, Slack or Mattermost, into an
//! organization here.

mod invite;

use std::fmt::{self, Display};

use eddyline_import::{ImportPlan, ImportProgress, ImportReport, ImportTarget, import};
use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_model::policy::PersonRelation;
use eddyline_storage::Store;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::Import;
use crate::config::Settings;
use crate::output::{self, ProgressLine, Reporter};
use crate::signals::StopSignals;
use crate::{CommandError, admin, backup, serve};

/// Imports the archive.
pub(crate) async fn run(settings: Settings, command: Import) -> Result<(), CommandError> {
    admin::check_place(&settings).await?;
    let stop = StopSignals::catch()?;
    let reporter = Reporter::new(command.json, false);
    let store = serve::open_current_store(&settings).await?;
    let work = async {
        let target = ImportTarget {
            store: store.clone(),
            files: backup::place_for_files(&settings)?,
            organization: command.org.clone(),
            max_file_bytes: settings.max_file_bytes_per_organization,
            parent: command.parent.clone(),
            invites: command.invite.then_some(settings.mail_per_organization_day),
            is_dry_run: command.dry_run,
        };
        let progress = reporter.clone();
        let format = command.format.map(Into::into);
        let work = import(
            target,
            command.archive.clone(),
            format,
            move |now| match now {
                ImportProgress::Plan(plan) => progress.say(&PlanLine::of(plan)),
                ImportProgress::Messages { room, messages } => {
                    let room = &room;
                    progress.report(ProgressLine::Messages { room, messages });
                }
            },
        );
        let archive = command.archive.display();
        if !command.dry_run {
            note(&store, &command.org, &json!({"state": "begun"})).await?;
        }
        let done = work.await.map_err(|error| format!("{archive}: {error}"));
        if !command.dry_run {
            let detail = match &done {
                Ok(report) => {
                    json!({"state": "ended", "messages": report.messages, "people": report.new_people})
                }
                Err(_) => json!({"state": "failed"}),
            };
            note(&store, &command.org, &detail).await?;
        }
        Ok::<_, CommandError>(done?)
    };
    let done = backup::until_stopped(stop, Box::pin(work)).await;
    store.close().await;
    let mut report = done??;
    if command.invite && !command.dry_run && !report.invitations.is_empty() {
        report.invited += invite::run(&settings, &command.org, &report.invitations).await?;
    }
    let answer = ImportAnswer {
        archive: command.archive.display().to_string(),
        organization: command.org,
        dry_run: command.dry_run,
        report,
    };
    reporter.end(&answer)?;
    Ok(())
}

/// Records in the audit log that an import began, and how it ended: one that is stopped ends
/// without a record.
async fn note(store: &Store, organization: &str, detail: &Value) -> Result<(), CommandError> {
    let (name, detail) = (organization.to_owned(), detail.clone());
    let work = store.write(move |tx| {
        // The import makes it, which is recorded, or fails before.
        let Some(found) = tx.organizations().find_id_by_name(&name)? else {
            return Ok(());
        };
        let entry = AuditEntry::new(AuditAction::DataImport, Some(found));
        tx.audit().insert(&entry.by(actor::OPERATOR).with(&detail))
    });
    work.await?;
    Ok(())
}

/// The people whom an import concerns.
#[derive(Serialize)]
struct PlanLine {
    progress: &'static str,
    #[serde(flatten)]
    plan: ImportPlan,
}

impl PlanLine {
    fn of(plan: ImportPlan) -> Self {
        Self {
            progress: "people",
            plan,
        }
    }
}

impl Display for PlanLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "People of the archive:")?;
        for people in &self.plan.people {
            let mut first: Vec<String> = people.first.iter().map(|name| escaped(name)).collect();
            if people.count > first.len() as u64 {
                first.push("…".to_owned());
            }
            let (count, what) = (people.count, relation(people.relation));
            write!(f, "\n  {count} {what}: {}", first.join(", "))?;
        }
        Ok(())
    }
}

fn escaped(text: &str) -> String {
    text.escape_debug().to_string()
}

fn relation(relation: PersonRelation) -> &'static str {
    match relation {
        PersonRelation::Member => "belong to the organization",
        PersonRelation::Imported => "have an account that an import has made",
        PersonRelation::New => "get an account",
        PersonRelation::Elsewhere => "have an account elsewhere; their messages bear their names",
        PersonRelation::AnotherDomain => {
            "have an address in the domain of another organization; their messages bear their names"
        }
        PersonRelation::Unproved => {
            "have the address of an account that has not proved it; their messages bear their names"
        }
        PersonRelation::KeptOut => "are kept out; their messages bear their names",
        PersonRelation::WithoutAddress => "have no address; their messages bear their names",
    }
}

/// An archive was imported.
#[derive(Serialize)]
struct ImportAnswer {
    archive: String,
    organization: String,
    dry_run: bool,
    #[serde(flatten)]
    report: ImportReport,
}

impl Display for ImportAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = &self.report;
        match self.dry_run {
            true => writeln!(f, "Would import {}, and has written nothing", self.archive)?,
            false => writeln!(f, "Imported {}", self.archive)?,
        }
        writeln!(f, "  Into:          organization {}", self.organization)?;
        let invited = match report.invited {
            0 => String::new(),
            count => format!(", {count} of them invited"),
        };
        writeln!(
            f,
            "  People:        {} known, {} new{invited}",
            report.known_people, report.new_people
        )?;
        let waiting = report.invitations.iter();
        let waiting: usize = waiting.map(|into| into.addresses.len()).sum();
        if waiting > 0 {
            writeln!(f, "  To be invited: {waiting}, mailed with --invite")?;
        }
        writeln!(f, "  Flows:         {}", report.flows)?;
        writeln!(f, "  Conversations: {}", report.conversations)?;
        let known = match report.known_messages {
            0 => String::new(),
            count => format!(", and {count} that were here already"),
        };
        writeln!(f, "  Messages:      {}{known}", report.messages)?;
        writeln!(f, "  Reactions:     {}", report.reactions)?;
        let size = output::size(report.file_bytes);
        write!(f, "  Files:         {} ({size})", report.files)?;
        if !report.left_out.is_empty() {
            write!(f, "\nLeft out or changed:")?;
        }
        for left_out in &report.left_out {
            write!(
                f,
                "\n  {} {}\n    first: {}",
                left_out.count,
                left_out.kind.what(),
                left_out.first.escape_debug()
            )?;
        }
        Ok(())
    }
}
