//! What one is notified of, in all flows.

use askama::Template;
use axum::response::Response;
use eddyline_app::{Error, FieldErrors, Result as AppResult, time_zones};
use eddyline_model::notifications::{NotificationLevel, NotificationSettings, QuietHours};
use http::StatusCode;

use super::parsed;
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::submission::Submission;
use crate::visit::{Inside, Visit};

const PATH: &str = "/account/notifications";

#[derive(Template)]
#[template(path = "notifications.html")]
struct NotificationsPage {
    inside: Inside,
    done: Option<&'static str>,
    form: FormView,
}

/// What stands in the form.
struct Entered {
    level: String,
    shows_text: bool,
    is_quiet: bool,
    from: String,
    until: String,
    zone: String,
}

/// What the levels are called.
pub(in crate::pages) fn level_choices() -> Vec<(String, String)> {
    let choices = NotificationLevel::ALL.map(|level| (level.as_str().to_owned(), words(level)));
    choices.into()
}

fn words(level: NotificationLevel) -> String {
    let text = match level {
        NotificationLevel::All => "All messages",
        NotificationLevel::Mentions => "Mentions and private messages",
        NotificationLevel::Nothing => "Nothing",
    };
    text.to_owned()
}

pub(in crate::pages) async fn show(visit: Visit) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let settings = visit.app().notifications().settings(actor).await?;
    let done = (visit.query("done") == "saved").then_some("Your notifications have been saved.");
    let mut entered = Entered::of(settings);
    // The client names the zone of the browser, which nothing else tells the server.
    let zone = visit.query("zone");
    if !entered.is_quiet && time_zones().iter().any(|known| known == zone) {
        zone.clone_into(&mut entered.zone);
    }
    let page = NotificationsPage {
        inside: visit.inside(),
        done,
        form: form(&visit, &entered),
    };
    Ok(visit.page(&page))
}

pub(in crate::pages) async fn change(sent: Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let entered = Entered::sent(&sent);
    let outcome = match entered.settings() {
        Ok(settings) => {
            let notifications = visit.app().notifications();
            notifications.set_settings(actor, settings).await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => Ok(see_other(&format!("{PATH}?done=saved"))),
        Err(error) => {
            let page = NotificationsPage {
                inside: visit.inside(),
                done: None,
                form: form(visit, &entered).with_error(error)?,
            };
            Ok(visit.page_with(StatusCode::BAD_REQUEST, &page))
        }
    }
}

impl Entered {
    fn of(settings: NotificationSettings) -> Self {
        let is_quiet = settings.quiet.is_some();
        let (from, until, zone) = match settings.quiet {
            Some(quiet) => (quiet.from.to_string(), quiet.until.to_string(), quiet.zone),
            None => ("22:00".to_owned(), "07:00".to_owned(), "UTC".to_owned()),
        };
        Self {
            level: settings.level.as_str().to_owned(),
            shows_text: settings.shows_text,
            is_quiet,
            from,
            until,
            zone,
        }
    }

    fn sent(sent: &Submission) -> Self {
        let text = |name| sent.get(name).to_owned();
        Self {
            level: text("level"),
            shows_text: sent.get("shows_text") == "1",
            is_quiet: sent.get("quiet") == "1",
            from: text("from"),
            until: text("until"),
            zone: text("zone"),
        }
    }

    fn settings(&self) -> AppResult<NotificationSettings> {
        let mut errors = FieldErrors::new();
        let level = parsed("level", &self.level, &mut errors);
        let mut quiet = None;
        if self.is_quiet {
            let from = parsed("from", &self.from, &mut errors);
            let until = parsed("until", &self.until, &mut errors);
            quiet = from.zip(until).map(|(from, until)| QuietHours {
                from,
                until,
                zone: self.zone.clone(),
            });
        }
        match level {
            Some(level) if errors.is_empty() => Ok(NotificationSettings {
                level,
                shows_text: self.shows_text,
                quiet,
            }),
            _ => Err(Error::invalid_fields(errors)),
        }
    }
}

fn form(visit: &Visit, entered: &Entered) -> FormView {
    let zones = time_zones()
        .into_iter()
        .map(|zone| (zone.clone(), zone.replace('_', " ")));
    FormView::new(PATH, visit.csrf(), "Save")
        .field(
            FormField::choice("level", "Notify me of", level_choices())
                .value(&entered.level)
                .hint("You can choose something else for a flow in its settings."),
        )
        .field(
            FormField::switch("shows_text", "Show what was written", entered.shows_text)
                .hint("Otherwise a notification shows who wrote, and where."),
        )
        .field(FormField::switch("quiet", "Quiet hours", entered.is_quiet))
        .field(FormField::time("from", "From").value(&entered.from))
        .field(
            FormField::time("until", "Until")
                .value(&entered.until)
                .hint("What is said meanwhile waits in your list of mentions."),
        )
        .field(FormField::choice("zone", "Time zone", zones.collect()).value(&entered.zone))
}
