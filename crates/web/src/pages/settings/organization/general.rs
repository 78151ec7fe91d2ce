//! What an organization is called, where it is, how many people it has, and its flows.

use askama::Template;
use axum::response::Response;
use eddyline_model::policy::OrganizationAction;
use eddyline_wire::requests::RenameOrganization;
use eddyline_wire::{Flow, OrganizationSummary};
use http::StatusCode;

use super::{Own, Subject, find, new_flow_in};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::local_path::deletion_of;
use crate::pages::settings::Frame;
use crate::pages::shell::Shell;
use crate::segments::OrganizationName;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "settings/organization/general.html")]
struct General {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    organization: OrganizationSummary,
    people: String,
    /// Changes the name, for those who may.
    form: Option<FormView>,
    /// Those that the visitor is in or could join, by their names.
    flows: Vec<Flow>,
    /// The page that makes one, where something can be written.
    new_flow: Option<String>,
    /// The page that deletes the organization, for those who may.
    deletion: Option<String>,
}

impl General {
    fn people_count(&self) -> usize {
        usize::try_from(self.organization.user_count).unwrap_or_default()
    }
}

pub(in crate::pages) async fn show(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::General.action()).await?;
    let form = naming(&visit, &own, &own.summary.name);
    shown(&visit, own, form).await
}

async fn shown(visit: &Visit, own: Own, form: FormView) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let mut flows = visit.app().flows().of_organization(actor, own.id).await?;
    flows.sort_by_cached_key(|flow| (flow.disabled, flow.name.to_lowercase()));
    let status = match form.is_wrong() {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    let t = visit.texts();
    let done = match visit.query("done") {
        "saved" => Some(t.organization.saved.as_str()),
        "restored" => Some(t.closing.restored.as_str()),
        _ => None,
    };
    let frame = Frame {
        done: done.filter(|_| !form.is_wrong()),
        wrong: form.is_wrong(),
        ..own
            .frame(visit, Subject::General)
            .headed(own.summary.name.clone())
    };
    let page = General {
        t,
        shell: Shell::beside(visit).await?,
        frame,
        deletion: own
            .administered
            .then(|| deletion_of(&own.summary.parameterized_name)),
        people: own.path(Subject::People),
        new_flow: own
            .summary
            .active
            .then(|| new_flow_in(&own.summary.parameterized_name)),
        form: own.takes_changes().then_some(form),
        organization: own.summary,
        flows,
    };
    visit.client_page_with(status, &page).await
}

pub(in crate::pages) async fn rename(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let own = find(visit, &name, OrganizationAction::Administer).await?;
    let outcome = match sent.read::<RenameOrganization>() {
        Ok(RenameOrganization { name }) => {
            let organizations = visit.app().organizations();
            organizations
                .rename(visit.signed_in()?, own.id, &name)
                .await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(_) => Ok(see_other(&format!(
            "{}?done=saved",
            own.path(Subject::General)
        ))),
        Err(error) => {
            let form = naming(visit, &own, sent.get("name"));
            let form = form.with_error(error).map_err(PageError::not_allowed)?;
            shown(visit, own, form).await
        }
    }
}

fn naming(visit: &Visit, own: &Own, name: &str) -> FormView {
    let t = visit.texts();
    visit.form(own.path(Subject::General), &t.field.save).field(
        FormField::text("name", &t.field.name, "off")
            .value(name)
            .hint(&t.general.name_hint),
    )
}
