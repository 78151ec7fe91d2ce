//! Making a flow in an organization.

use axum::response::Response;
use eddyline_app::Error;
use eddyline_model::policy::OrganizationAction;
use eddyline_wire::requests::CreateFlow;

use super::{Own, Subject, find};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::pages::settings::ask::Ask;
use crate::pages::settings::{Frame, path_of};
use crate::pages::shell::Shell;
use crate::segments::OrganizationName;
use crate::submission::Submission;
use crate::visit::Visit;

pub(in crate::pages) async fn show(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, OrganizationAction::See).await?;
    if !own.summary.active {
        return Err(PageError::not_allowed(Error::denied()));
    }
    let form = naming(&visit, "");
    page(&visit, &own, form).await
}

pub(in crate::pages) async fn create(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let own = find(visit, &name, OrganizationAction::See).await?;
    let made = match sent.read::<CreateFlow>() {
        Ok(CreateFlow { name }) => {
            let organization = &own.summary.parameterized_name;
            let flows = visit.app().flows();
            flows.create(visit.signed_in()?, organization, name).await
        }
        Err(error) => Err(error),
    };
    match made {
        Ok(flow) => Ok(see_other(&path_of(&flow))),
        Err(error) => {
            let form = naming(visit, sent.get("name")).with_error(error);
            let form = form.map_err(PageError::not_allowed)?;
            page(visit, &own, form).await
        }
    }
}

fn naming(visit: &Visit, name: &str) -> FormView {
    let t = visit.texts();
    let field = FormField::text("name", &t.field.name, "off").value(name);
    visit
        .form(visit.path(), &t.organization.make_flow)
        .field(field.hint(&t.organization.new_flow_hint))
}

async fn page(visit: &Visit, own: &Own, form: FormView) -> Result<Response, PageError> {
    let t = &visit.texts().organization;
    let wrong = form.is_wrong();
    let heading = t.new_flow_in.with("organization", &own.summary.name);
    Ask {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame {
            wrong,
            ..own
                .frame(visit, Subject::General)
                .headed(heading.to_string())
        },
        text: t.new_flow_text.clone(),
        form,
        back: own.path(Subject::General),
    }
    .answer(visit)
    .await
}
