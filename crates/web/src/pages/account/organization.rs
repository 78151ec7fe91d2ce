//! What the people of an organization have allowed applications, for its administrators.

use askama::Template;
use axum::response::Response;
use eddyline_app::AuthorizedByMember;
use eddyline_model::applications::Application;
use eddyline_model::policy::OrganizationAction;

use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::segments::OrganizationName;
use crate::submission::Submission;
use crate::visit::{Inside, Visit};

#[derive(Template)]
#[template(path = "administered.html")]
struct Administered {
    inside: Inside,
    name: String,
    done: Option<&'static str>,
    allowed: Vec<(AuthorizedByMember, FormView)>,
    own: Vec<Application>,
}

pub(in crate::pages) async fn show(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let app = visit.app();
    let id = app
        .organizations()
        .find(actor, &name, OrganizationAction::Administer)
        .await
        .map_err(PageError::not_allowed)?;
    let organizations = app.organizations().list_own(actor).await?;
    let organization = organizations
        .into_iter()
        .find(|own| own.id == id)
        .ok_or_else(PageError::not_found)?;
    let allowed = app
        .oauth()
        .authorized_by_members(actor, id)
        .await
        .map_err(PageError::not_allowed)?;
    let own = app.oauth().applications(actor, id).await?;
    let t = &visit.texts().allowed;
    let allowed = allowed.into_iter().map(|one| {
        let (what, by) = (
            &one.authorized.application.name,
            &one.authorized.organization_name,
        );
        let form = visit
            .form(visit.path(), &t.revoke)
            .hidden("user", &one.user.id.to_string())
            .hidden("application", &one.authorized.application.id.to_string())
            .about(
                t.by_from
                    .with("application", what)
                    .with("organization", by)
                    .with("user", format!("{} @{}", one.user.name, one.user.nick)),
            )
            .quiet();
        (one, form)
    });
    let allowed = allowed.collect();
    let done = (visit.query("done") == "ended").then_some(t.revoked.as_str());
    let page = Administered {
        inside: visit.inside(),
        name: organization.name,
        done,
        allowed,
        own,
    };
    Ok(visit.page(&page))
}

pub(in crate::pages) async fn take_back(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let (Ok(user), Ok(application)) = (sent.get("user").parse(), sent.get("application").parse())
    else {
        return Err(PageError::unreadable());
    };
    let app = visit.app();
    let id = app
        .organizations()
        .find(actor, &name, OrganizationAction::Administer)
        .await
        .map_err(PageError::not_allowed)?;
    app.oauth()
        .unauthorize_member(actor, id, user, application)
        .await
        .map_err(PageError::not_allowed)?;
    Ok(see_other(&format!("{}?done=ended", visit.path())))
}
