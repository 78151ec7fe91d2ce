//! What a flow is called and is for, and one's own place in it.

use askama::Template;
use axum::response::Response;
use eddyline_app::FlowChanges;
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
#[template(path = "settings/general.html")]
struct General {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    flow: Flow,
    path: String,
    api: String,
    /// Changes name and description, for those who may.
    form: Option<FormView>,
    /// Comes into the flow, for those who may and are not in it.
    join: Option<FormView>,
    /// Brings an archived flow back.
    reopen: Option<FormView>,
}

pub(in crate::pages) async fn show(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    let room = find(&visit, &names, FlowAction::See).await?;
    let flow = describe(&visit, &room).await?;
    show_settings(&visit, flow).await
}

/// The settings of a flow, for all who may see it, members or not.
pub(in crate::pages) async fn show_settings(
    visit: &Visit,
    flow: Flow,
) -> Result<Response, PageError> {
    let form = naming(
        visit,
        &path_of(&flow),
        &flow.name,
        flow.description.as_deref().unwrap_or_default(),
    );
    shown(visit, flow, form).await
}

async fn shown(visit: &Visit, flow: Flow, form: FormView) -> Result<Response, PageError> {
    let path = path_of(&flow);
    let here = Subject::General.path(&path);
    let button = |label: &str, what: &str| visit.form(&here, label).hidden("do", what);
    let can_join = flow.access_mode == "organization"
        && !flow.joined
        && !flow.disabled
        && flow.organization.active;
    let status = match form.is_wrong() {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    let t = &visit.texts().general;
    let done = match visit.query("done") {
        "saved" => Some(t.saved.as_str()),
        "archived" => Some(t.archived.as_str()),
        "reopened" => Some(t.reopened.as_str()),
        _ => None,
    };
    let frame = Frame {
        done: done.filter(|_| !form.is_wrong()),
        wrong: form.is_wrong(),
        ..Frame::new(visit, &flow, Subject::General).headed(flow.name.clone())
    };
    let page = General {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame,
        api: visit.app().config().addresses.base.clone(),
        join: can_join.then(|| button(&t.join, "join")),
        reopen: (flow.flow_admin && flow.disabled).then(|| button(&t.reopen, "reopen")),
        form: flow.flow_admin.then_some(form),
        flow,
        path,
    };
    visit.client_page_with(status, &page).await
}

pub(in crate::pages) async fn change(
    names: FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    match sent.get("do") {
        "save" => save(&names, &sent).await,
        "join" => join(&names, &sent).await,
        "reopen" => reopen(&names, &sent).await,
        _ => {
            sent.visit.signed_in()?;
            Err(PageError::unreadable())
        }
    }
}

async fn save(names: &FlowNames, sent: &Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let room = find(visit, names, FlowAction::Configure).await?;
    let path = path_of_room(&room);
    let outcome = match sent.read::<UpdateFlow>() {
        Ok(UpdateFlow {
            name, description, ..
        }) => {
            let changes = FlowChanges {
                name,
                description,
                ..FlowChanges::default()
            };
            let flows = visit.app().flows();
            flows.update(visit.signed_in()?, &room, changes).await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(_) => Ok(see_other(&done(&path, "saved"))),
        Err(error) => {
            let form = naming(visit, &path, sent.get("name"), sent.get("description"));
            let form = form.with_error(error)?;
            shown(visit, describe(visit, &room).await?, form).await
        }
    }
}

async fn join(names: &FlowNames, sent: &Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let room = find(visit, names, FlowAction::Join).await?;
    let changes = FlowChanges {
        open: Some(true),
        ..FlowChanges::default()
    };
    let flows = visit.app().flows();
    flows.update(visit.signed_in()?, &room, changes).await?;
    Ok(see_other(&path_of_room(&room)))
}

async fn reopen(names: &FlowNames, sent: &Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let room = find(visit, names, FlowAction::Configure).await?;
    let changes = FlowChanges {
        disabled: Some(false),
        ..FlowChanges::default()
    };
    let flows = visit.app().flows();
    flows.update(visit.signed_in()?, &room, changes).await?;
    Ok(see_other(&done(&path_of_room(&room), "reopened")))
}

fn done(flow: &str, what: &str) -> String {
    format!("{}?done={what}", Subject::General.path(flow))
}

fn naming(visit: &Visit, flow: &str, name: &str, description: &str) -> FormView {
    let t = visit.texts();
    visit
        .form(Subject::General.path(flow), &t.field.save)
        .hidden("do", "save")
        .field(
            FormField::text("name", &t.field.name, "off")
                .value(name)
                .hint(&t.general.name_hint),
        )
        .field(
            FormField::lines("description", &t.general.description)
                .value(description)
                .hint(&t.general.description_hint)
                .optional(),
        )
}
