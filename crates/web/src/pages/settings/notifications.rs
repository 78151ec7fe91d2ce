//! What one is notified of in a flow.

use std::sync::Arc;

use askama::Template;
use axum::response::Response;
use eddyline_app::{Error, FieldErrors, FlowRoom};
use eddyline_model::notifications::NotificationLevel;
use eddyline_model::policy::FlowAction;
use http::StatusCode;

use super::{Frame, Subject, describe, find, path_of_room};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::pages::account::notifications::level_choices;
use crate::pages::shell::Shell;
use crate::segments::FlowNames;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

/// The choice that leaves it to the account.
const AS_ACCOUNT: &str = "account";

#[derive(Template)]
#[template(path = "settings/notifications.html")]
struct NotificationsPage {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    form: FormView,
}

pub(in crate::pages) async fn show(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    let room = find(&visit, &names, FlowAction::Read).await?;
    let actor = visit.signed_in()?;
    let notifications = visit.app().notifications();
    let chosen = notifications.level(actor, &room).await?;
    let chosen = chosen.map_or(AS_ACCOUNT, NotificationLevel::as_str);
    let form = choosing(&visit, &room, chosen);
    shown(&visit, &room, form).await
}

pub(in crate::pages) async fn change(
    names: FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let room = find(visit, &names, FlowAction::Read).await?;
    let actor = visit.signed_in()?;
    let outcome = match level(sent.get("level"), visit.texts()) {
        Ok(level) => {
            let notifications = visit.app().notifications();
            notifications.set_level(actor, &room, level).await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => {
            let here = Subject::Notifications.path(&path_of_room(&room));
            Ok(see_other(&format!("{here}?done=saved")))
        }
        Err(error) => {
            let form = choosing(visit, &room, sent.get("level")).with_error(error)?;
            shown(visit, &room, form).await
        }
    }
}

fn level(text: &str, t: &Texts) -> Result<Option<NotificationLevel>, Error> {
    if text == AS_ACCOUNT {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        let wrong = t.own_level.unknown.clone();
        Error::invalid_fields(FieldErrors::from([("level".to_owned(), vec![wrong])]))
    })
}

async fn shown(visit: &Visit, room: &Arc<FlowRoom>, form: FormView) -> Result<Response, PageError> {
    let flow = describe(visit, room).await?;
    let is_saved = visit.query("done") == "saved";
    let wrong = form.is_wrong();
    let page = NotificationsPage {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame {
            done: (is_saved && !wrong).then_some(visit.texts().notify.saved.as_str()),
            wrong,
            ..Frame::new(visit, &flow, Subject::Notifications)
        },
        form,
    };
    let status = match wrong {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    visit.client_page_with(status, &page).await
}

fn choosing(visit: &Visit, room: &FlowRoom, chosen: &str) -> FormView {
    let t = visit.texts();
    let account = (AS_ACCOUNT.to_owned(), t.own_level.as_account.clone());
    let choices = [account].into_iter().chain(level_choices(t)).collect();
    let here = Subject::Notifications.path(&path_of_room(room));
    visit
        .form(here, &t.field.save)
        .field(FormField::choice("level", &t.notify.level, choices).value(chosen))
}
