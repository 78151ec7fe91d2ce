//! Who may come into a flow, and its join link.

use std::sync::Arc;

use askama::Template;
use axum::response::Response;
use eddyline_app::{FlowChanges, FlowRoom};
use eddyline_model::flows::AccessMode;
use eddyline_model::policy::FlowAction;
use eddyline_wire::Flow;
use eddyline_wire::requests::UpdateFlow;
use http::StatusCode;

use super::{Frame, Subject, describe, find, path_of, path_of_room};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::pages::shell::Shell;
use crate::segments::FlowNames;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "settings/joining.html")]
struct Joining {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    flow: Flow,
    /// Who may join, as text.
    words: String,
    /// Changes that, for those who may.
    form: Option<FormView>,
    /// Replaces the join link, for those who may.
    replace: Option<FormView>,
}

/// Describes who may join.
fn words(t: &Texts, mode: AccessMode, organization: &str) -> String {
    let t = &t.joining;
    match mode {
        AccessMode::Invitation => t.by_invitation.clone(),
        AccessMode::Link => t.by_link.clone(),
        AccessMode::Organization => {
            let everyone = t.by_organization.with("organization", organization);
            everyone.to_string()
        }
    }
}

pub(in crate::pages) async fn show(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    let room = find(&visit, &names, FlowAction::See).await?;
    let form = choosing(&visit, &room, room.flow.access_mode.as_str());
    shown(&visit, &room, form).await
}

async fn shown(visit: &Visit, room: &Arc<FlowRoom>, form: FormView) -> Result<Response, PageError> {
    let flow = describe(visit, room).await?;
    let texts = visit.texts();
    let t = &texts.joining;
    let replace = (flow.join_url.is_some() && flow.flow_admin).then(|| {
        let here = Subject::Joining.path(&path_of(&flow));
        visit.form(here, &t.replace).hidden("do", "replace").quiet()
    });
    let done = match visit.query("done") {
        "changed" => Some(t.changed.as_str()),
        "replaced" => Some(t.replaced.as_str()),
        _ => None,
    };
    let wrong = form.is_wrong();
    let mode = AccessMode::parse(&flow.access_mode).unwrap_or(room.flow.access_mode);
    let page = Joining {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame {
            done: done.filter(|_| !wrong),
            wrong,
            title: t.title.with("flow", &flow.name).to_string(),
            ..Frame::new(visit, &flow, Subject::Joining)
        },
        words: words(texts, mode, &flow.organization.name),
        form: flow.flow_admin.then_some(form),
        replace,
        flow,
    };
    let status = match wrong {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    visit.client_page_with(status, &page).await
}

pub(in crate::pages) async fn change(
    names: FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let what = sent.get("do");
    if !matches!(what, "choose" | "replace") {
        visit.signed_in()?;
        return Err(PageError::unreadable());
    }
    let room = find(visit, &names, FlowAction::Configure).await?;
    let actor = visit.signed_in()?;
    let flows = visit.app().flows();
    let here = Subject::Joining.path(&path_of_room(&room));
    if what == "replace" {
        flows.replace_join_link(actor, &room).await?;
        return Ok(see_other(&format!("{here}?done=replaced")));
    }
    let outcome = match sent.read::<UpdateFlow>() {
        Ok(UpdateFlow { access_mode, .. }) => {
            let changes = FlowChanges {
                access_mode,
                ..FlowChanges::default()
            };
            flows.update(actor, &room, changes).await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(_) => Ok(see_other(&format!("{here}?done=changed"))),
        Err(error) => {
            let form = choosing(visit, &room, sent.get("access_mode")).with_error(error)?;
            shown(visit, &room, form).await
        }
    }
}

fn choosing(visit: &Visit, room: &FlowRoom, chosen: &str) -> FormView {
    let t = visit.texts();
    let choices = AccessMode::WORDS.map(|(word, mode)| {
        let text = words(t, mode, &room.organization.name);
        (word.to_owned(), text)
    });
    visit
        .form(Subject::Joining.path(&path_of_room(room)), &t.field.save)
        .hidden("do", "choose")
        .field(
            FormField::choice("access_mode", &t.settings.joining, choices.into())
                .value(chosen)
                .hint(&t.joining.choice_hint),
        )
}
