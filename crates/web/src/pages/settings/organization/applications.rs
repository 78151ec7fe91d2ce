//! What the people of an organization have allowed applications, and the applications that are
//! registered for it.

use askama::Template;
use axum::response::Response;
use eddyline_app::AuthorizedByMember;
use eddyline_model::applications::Application;

use super::{Subject, find, settings_of};
use crate::answer::{moved, see_other};
use crate::error::PageError;
use crate::field::FormView;
use crate::pages::settings::Frame;
use crate::pages::shell::Shell;
use crate::segments::OrganizationName;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "settings/organization/applications.html")]
struct Applications {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    /// What members have allowed, each with the form that takes it back.
    allowed: Vec<(AuthorizedByMember, FormView)>,
    /// Those of the organization.
    registered: Vec<Application>,
}

pub(in crate::pages) async fn show(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Applications.action()).await?;
    let (actor, oauth) = (visit.signed_in()?, visit.app().oauth());
    let allowed = oauth
        .authorized_by_members(actor, own.id)
        .await
        .map_err(PageError::not_allowed)?;
    let registered = oauth.applications(actor, own.id).await?;
    let here = own.path(Subject::Applications);
    let t = &visit.texts().allowed;
    let allowed = allowed.into_iter().map(|one| {
        let (what, by) = (
            &one.authorized.application.name,
            &one.authorized.organization_name,
        );
        let form = visit
            .form(&here, &t.revoke)
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
    let done = (visit.query("done") == "ended").then_some(t.revoked.as_str());
    let page = Applications {
        t: visit.texts(),
        shell: Shell::beside(&visit).await?,
        allowed: allowed.collect(),
        registered,
        frame: Frame {
            done,
            ..own.frame(&visit, Subject::Applications)
        },
    };
    visit.client_page(&page).await
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
    let own = find(visit, &name, Subject::Applications.action()).await?;
    let oauth = visit.app().oauth();
    oauth
        .unauthorize_member(actor, own.id, user, application)
        .await
        .map_err(PageError::not_allowed)?;
    let here = own.path(Subject::Applications);
    Ok(see_other(&format!("{here}?done=ended")))
}

/// Sends readers of the older address on.
pub(in crate::pages) async fn from_account(visit: Visit) -> Result<Response, PageError> {
    moved_from(&visit)
}

/// The same for a form of a page that was opened there: the browser sends it once more.
pub(in crate::pages) async fn form_from_account(sent: Submission) -> Result<Response, PageError> {
    sent.visit.signed_in()?;
    moved_from(&sent.visit)
}

fn moved_from(visit: &Visit) -> Result<Response, PageError> {
    let name = visit.path().strip_prefix("/account/organizations/");
    let name = name.ok_or_else(PageError::not_found)?;
    Ok(moved(&Subject::Applications.path(&settings_of(name))))
}
