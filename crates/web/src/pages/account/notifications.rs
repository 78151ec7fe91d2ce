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
use crate::pages::shell::Shell;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

const PATH: &str = "/account/notifications";

#[derive(Template)]
#[template(path = "notifications.html")]
struct NotificationsPage {
    t: &'static Texts,
    shell: Shell,
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
pub(in crate::pages) fn level_choices(t: &Texts) -> Vec<(String, String)> {
    let choices = NotificationLevel::ALL.map(|level| (level.as_str().to_owned(), words(level, t)));
    choices.into()
}

fn words(level: NotificationLevel, t: &Texts) -> String {
    let text = match level {
        NotificationLevel::All => &t.notify.all,
        NotificationLevel::Mentions => &t.notify.mentions,
        NotificationLevel::Nothing => &t.notify.nothing,
    };
    text.clone()
}

pub(in crate::pages) async fn show(visit: Visit) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let settings = visit.app().notifications().settings(actor).await?;
    let saved = visit.texts().notify.saved.as_str();
    let done = (visit.query("done") == "saved").then_some(saved);
    let mut entered = Entered::of(settings);
    // The client names the zone of the browser, which nothing else tells the server.
    let zone = visit.query("zone");
    if !entered.is_quiet && time_zones().iter().any(|known| known == zone) {
        zone.clone_into(&mut entered.zone);
    }
    let page = NotificationsPage {
        t: visit.texts(),
        shell: Shell::beside(&visit).await?,
        done,
        form: form(&visit, &entered),
    };
    visit.client_page(&page).await
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
                t: visit.texts(),
                shell: Shell::beside(visit).await?,
                done: None,
                form: form(visit, &entered).with_error(error)?,
            };
            visit.client_page_with(StatusCode::BAD_REQUEST, &page).await
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
    let texts = visit.texts();
    let t = &texts.notify;
    visit
        .form(PATH, &texts.field.save)
        .field(
            FormField::choice("level", &t.level, level_choices(texts))
                .value(&entered.level)
                .hint(&t.level_hint),
        )
        .field(
            FormField::switch("shows_text", &t.shows_text, entered.shows_text)
                .hint(&t.shows_text_hint),
        )
        .field(FormField::switch("quiet", &t.quiet, entered.is_quiet))
        .field(FormField::time("from", &t.from).value(&entered.from))
        .field(
            FormField::time("until", &t.until)
                .value(&entered.until)
                .hint(&t.until_hint),
        )
        .field(FormField::choice("zone", &t.zone, zones.collect()).value(&entered.zone))
}
