//! The people of an organization, and removing one of them.

use askama::Template;
use axum::response::Response;
use eddyline_model::UserId;
use eddyline_model::policy::OrganizationAction;
use eddyline_wire::User;
use http::StatusCode;

use super::{Own, Subject, find, token_warning};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::pages::settings::Frame;
use crate::pages::settings::ask::Ask;
use crate::pages::shell::Shell;
use crate::segments::{OrganizationName, OrganizationUser};
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "settings/organization/people.html")]
struct People {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    people: Vec<Person>,
}

/// A row of the list.
struct Person {
    user: User,
    picture: String,
    /// What the person is, beside a member.
    marks: Vec<&'static str>,
    /// The page that makes the person an administrator or takes that back, and what it does, for
    /// those who may.
    role: Option<(String, &'static str)>,
    /// The page that removes the person, for those who may.
    removal: Option<String>,
}

impl Person {
    /// The person by both names.
    fn who(&self) -> String {
        format!("{} @{}", self.user.name, self.user.nick)
    }
}

pub(in crate::pages) async fn list(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::People.action()).await?;
    let actor = visit.signed_in()?;
    let mut users = visit.app().organizations().users(actor, own.id).await?;
    users.sort_by_cached_key(|user| (user.name.to_lowercase(), user.id));
    let me = actor.user_id().map(|id| id.0);
    let base = &visit.app().config().addresses.base;
    let t = visit.texts();
    let here = own.path(Subject::People);
    let people = users.into_iter().map(|user| {
        let administers = user.admin == Some(true);
        let is_me = me == Some(user.id);
        let marks = [
            (is_me, t.settings.you.as_str()),
            (administers, &t.settings.administrator),
        ];
        // A right is given in an active organization only, and taken back in any.
        let role = match administers {
            true if is_me => own.administered.then_some(&t.organization.resign),
            true => own.administered.then_some(&t.organization.dismiss),
            false => own.takes_changes().then_some(&t.organization.appoint),
        };
        Person {
            // Pages are served beside the API.
            picture: user.avatar.replacen(base, "", 1),
            marks: marks
                .into_iter()
                .filter_map(|(is, mark)| is.then_some(mark))
                .collect(),
            role: role.map(|label| (format!("{here}/{}/administrator", user.id), label.as_str())),
            removal: own.administered.then(|| format!("{here}/{}", user.id)),
            user,
        }
    });
    let done = match visit.query("done") {
        "removed" => Some(t.people.removed.as_str()),
        "appointed" => Some(t.organization.appointed.as_str()),
        "dismissed" => Some(t.organization.dismissed.as_str()),
        "resigned" => Some(t.organization.resigned.as_str()),
        _ => None,
    };
    let page = People {
        t: visit.texts(),
        shell: Shell::beside(&visit).await?,
        frame: Frame {
            done,
            ..own.frame(&visit, Subject::People)
        },
        people: people.collect(),
    };
    visit.client_page(&page).await
}

pub(in crate::pages) async fn ask(
    visit: Visit,
    OrganizationUser(name, user): OrganizationUser,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, OrganizationAction::Administer).await?;
    let form = visit.form(visit.path(), &visit.texts().people.remove);
    asked(&visit, &own, user, form).await
}

async fn asked(
    visit: &Visit,
    own: &Own,
    user: UserId,
    form: FormView,
) -> Result<Response, PageError> {
    let organizations = visit.app().organizations();
    let user = organizations.user(visit.signed_in()?, own.id, user).await?;
    let status = match form.is_wrong() {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    let t = &visit.texts().people;
    let removal = t.removal.with("name", &user.name);
    let heading = removal.with("organization", &own.summary.name).to_string();
    let frame = Frame {
        wrong: form.is_wrong(),
        ..own.frame(visit, Subject::People).headed(heading)
    };
    let text = t.removal_text.with("nick", &user.nick);
    let text = text.with("organization", &own.summary.name).to_string();
    let page = Ask {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame,
        text: text + &token_warning(visit, own, UserId(user.id)).await?,
        form,
        back: own.path(Subject::People),
    };
    visit.client_page_with(status, &page).await
}

pub(in crate::pages) async fn remove(
    OrganizationUser(name, user): OrganizationUser,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let own = find(visit, &name, OrganizationAction::Administer).await?;
    let actor = visit.signed_in()?;
    let organizations = visit.app().organizations();
    match organizations.remove_user(actor, own.id, user).await {
        Ok(()) if actor.user_id() == Some(user) => Ok(see_other("/app")),
        Ok(()) => Ok(see_other(&format!(
            "{}?done=removed",
            own.path(Subject::People)
        ))),
        Err(error) => {
            let form = visit
                .form(visit.path(), &visit.texts().people.remove)
                .with_error(error)?;
            asked(visit, &own, user, form).await
        }
    }
}
