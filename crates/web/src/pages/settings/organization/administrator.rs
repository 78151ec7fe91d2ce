//! Making a member of an organization an administrator, and taking that back, after a question.

use axum::response::Response;
use eddyline_model::UserId;
use eddyline_model::organizations::OrganizationRole;
use eddyline_model::policy::OrganizationAction;
use eddyline_wire::User;
use http::StatusCode;

use super::{Own, Subject, confirmation, find, token_warning, with_confirmation};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::pages::settings::Frame;
use crate::pages::settings::ask::Ask;
use crate::pages::shell::Shell;
use crate::segments::OrganizationUser;
use crate::submission::Submission;
use crate::visit::Visit;

pub(in crate::pages) async fn ask(
    visit: Visit,
    OrganizationUser(name, user): OrganizationUser,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, OrganizationAction::Administer).await?;
    let organizations = visit.app().organizations();
    let user = organizations.user(visit.signed_in()?, own.id, user).await?;
    let role = match user.admin {
        Some(true) => OrganizationRole::Member,
        _ => OrganizationRole::Administrator,
    };
    let question = Question::new(&visit, &own, &user, role).await?;
    let form = question.form(&visit).await?;
    question.page(&visit, &own, form).await
}

pub(in crate::pages) async fn change(
    OrganizationUser(name, user): OrganizationUser,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let role = match sent.get("role") {
        ADMINISTRATOR => OrganizationRole::Administrator,
        MEMBER => OrganizationRole::Member,
        _ => return Err(PageError::unreadable()),
    };
    let own = find(visit, &name, OrganizationAction::Administer).await?;
    let organizations = visit.app().organizations();
    let shown = confirmation(&sent);
    let changed = organizations.set_role(actor, own.id, user, role, &shown);
    let Err(error) = changed.await else {
        let done = match role {
            OrganizationRole::Administrator => "appointed",
            OrganizationRole::Member if actor.user_id() == Some(user) => "resigned",
            OrganizationRole::Member => "dismissed",
        };
        let people = own.path(Subject::People);
        return Ok(see_other(&format!("{people}?done={done}")));
    };
    let user = organizations.user(actor, own.id, user).await?;
    let question = Question::new(visit, &own, &user, role).await?;
    let form = question.form(visit).await?.with_error(error);
    let form = form.map_err(PageError::not_allowed)?;
    question.page(visit, &own, form).await
}

/// How the form names what the person is to be.
const ADMINISTRATOR: &str = "administrator";
const MEMBER: &str = "member";

/// What is asked about a person.
struct Question {
    role: &'static str,
    heading: String,
    text: String,
    button: &'static str,
}

impl Question {
    async fn new(
        visit: &Visit,
        own: &Own,
        user: &User,
        role: OrganizationRole,
    ) -> Result<Self, PageError> {
        let (name, nick, of) = (&user.name, &user.nick, &own.summary.name);
        let is_me = visit.signed_in()?.user_id().map(|id| id.0) == Some(user.id);
        let t = &visit.texts().organization;
        let (role, heading, text, button) = match role {
            OrganizationRole::Administrator => (
                ADMINISTRATOR,
                t.appoint_to
                    .with("name", name)
                    .with("organization", of)
                    .to_string(),
                t.appoint_text
                    .with("nick", nick)
                    .with("organization", of)
                    .to_string(),
                &t.appoint,
            ),
            OrganizationRole::Member if is_me => (
                MEMBER,
                t.resign_from.with("organization", of).to_string(),
                t.resign_text.with("organization", of).to_string(),
                &t.resign,
            ),
            OrganizationRole::Member => (
                MEMBER,
                t.dismiss_from
                    .with("name", name)
                    .with("organization", of)
                    .to_string(),
                t.dismiss_text
                    .with("nick", nick)
                    .with("organization", of)
                    .to_string(),
                &t.dismiss,
            ),
        };
        let text = match role {
            MEMBER => text + &token_warning(visit, own, UserId(user.id)).await?,
            _ => text,
        };
        Ok(Self {
            role,
            heading,
            text,
            button,
        })
    }

    async fn form(&self, visit: &Visit) -> Result<FormView, PageError> {
        let form = visit.form(visit.path(), self.button);
        let form = form.hidden("role", self.role);
        match self.role {
            ADMINISTRATOR => with_confirmation(visit, form).await,
            _ => Ok(form),
        }
    }

    async fn page(self, visit: &Visit, own: &Own, form: FormView) -> Result<Response, PageError> {
        let status = match form.is_wrong() {
            true => StatusCode::BAD_REQUEST,
            false => StatusCode::OK,
        };
        let frame = Frame {
            wrong: form.is_wrong(),
            ..own.frame(visit, Subject::People).headed(self.heading)
        };
        let page = Ask {
            t: visit.texts(),
            shell: Shell::beside(visit).await?,
            frame,
            text: self.text,
            form,
            back: own.path(Subject::People),
        };
        visit.client_page_with(status, &page).await
    }
}
