//! The people of an organization, and taking one of them out.

use askama::Template;
use axum::response::Response;
use eddyline_model::policy::{OrganizationAction, organization as allowed};
use eddyline_model::{OrganizationId, UserId};
use eddyline_wire::User;
use http::StatusCode;

use super::Frame;
use super::ask::Ask;
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::segments::{OrganizationName, OrganizationUser};
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::{Inside, Visit};

#[derive(Template)]
#[template(path = "settings/people.html")]
struct People {
    inside: Inside,
    frame: Frame,
    people: Vec<Person>,
}

/// A row of the list.
struct Person {
    user: User,
    picture: String,
    /// What the person is, beside a member.
    marks: Vec<&'static str>,
    /// The page that removes the person, for those who may, and what the link to it says.
    removal: Option<(String, String)>,
}

/// An organization that the visitor belongs to.
struct Own {
    id: OrganizationId,
    name: String,
    path: String,
    administered: bool,
}

async fn find(visit: &Visit, name: &str, action: OrganizationAction) -> Result<Own, PageError> {
    let actor = visit.signed_in()?;
    let organizations = visit.app().organizations();
    let id = organizations
        .find(actor, name, action)
        .await
        .map_err(PageError::not_allowed)?;
    let own = organizations.list_own(actor).await?;
    let own = own.into_iter().find(|own| own.id == id);
    let own = own.ok_or_else(PageError::not_found)?;
    let role = actor.user()?.role_in(id);
    Ok(Own {
        id,
        administered: allowed(role, OrganizationAction::Administer).is_ok(),
        path: own.parameterized_name,
        name: own.name,
    })
}

impl Own {
    fn people(&self) -> String {
        format!("/app/{}/settings/people", self.path)
    }

    /// The page that removes a person, and what the link to it says.
    fn removal(&self, t: &Texts, user: &User) -> (String, String) {
        let who = format!("{} @{}", user.name, user.nick);
        let label = t.people.remove_one.with("who", who).to_string();
        (format!("{}/{}", self.people(), user.id), label)
    }

    /// What stands around its pages. What applications may do there is for administrators.
    fn frame(&self, visit: &Visit) -> Frame {
        let t = visit.texts();
        let here = self.people();
        let current = match visit.path() == here {
            true => "page",
            false => "true",
        };
        let applications = format!("/account/organizations/{}", self.path);
        let mut pages = vec![(here, t.people.title.as_str(), Some(current))];
        if self.administered {
            pages.push((applications, t.menu.applications.as_str(), None));
        }
        Frame {
            title: t
                .people
                .people_of
                .with("organization", &self.name)
                .to_string(),
            heading: t.people.title.clone(),
            done: None,
            wrong: false,
            of: self.name.clone(),
            back: Some(("/app".to_owned(), t.own_flows.title.clone())),
            pages,
        }
    }
}

pub(in crate::pages) async fn list(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, OrganizationAction::See).await?;
    let actor = visit.signed_in()?;
    let mut users = visit.app().organizations().users(actor, own.id).await?;
    users.sort_by_cached_key(|user| (user.name.to_lowercase(), user.id));
    let me = actor.user_id().map(|id| id.0);
    let base = &visit.app().config().addresses.base;
    let t = visit.texts();
    let people = users.into_iter().map(|user| {
        let marks = [
            (me == Some(user.id), t.settings.you.as_str()),
            (user.admin == Some(true), &t.settings.administrator),
        ];
        Person {
            // Pages are served beside the API.
            picture: user.avatar.replacen(base, "", 1),
            marks: marks
                .into_iter()
                .filter_map(|(is, mark)| is.then_some(mark))
                .collect(),
            removal: own.administered.then(|| own.removal(t, &user)),
            user,
        }
    });
    let done = (visit.query("done") == "removed").then_some(t.people.removed.as_str());
    Ok(visit.page(&People {
        inside: visit.inside(),
        frame: Frame {
            done,
            ..own.frame(&visit)
        },
        people: people.collect(),
    }))
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
    let heading = removal.with("organization", &own.name).to_string();
    let frame = Frame {
        wrong: form.is_wrong(),
        ..own.frame(visit).headed(heading)
    };
    let text = t.removal_text.with("nick", &user.nick);
    let text = text.with("organization", &own.name).to_string();
    let page = Ask {
        inside: visit.inside(),
        frame,
        text,
        form,
        back: own.people(),
    };
    Ok(visit.page_with(status, &page))
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
        Ok(()) => Ok(see_other(&format!("{}?done=removed", own.people()))),
        Err(error) => {
            let form = visit
                .form(visit.path(), &visit.texts().people.remove)
                .with_error(error)?;
            asked(visit, &own, user, form).await
        }
    }
}
