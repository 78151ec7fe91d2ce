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
    /// The page that removes the person, for those who may.
    removal: Option<String>,
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

    /// What stands around its pages. What applications may do there is for administrators.
    fn frame(&self, visit: &Visit) -> Frame {
        let here = self.people();
        let current = match visit.path() == here {
            true => "page",
            false => "true",
        };
        let applications = format!("/account/organizations/{}", self.path);
        let mut pages = vec![(here, "People", Some(current))];
        if self.administered {
            pages.push((applications, "Applications", None));
        }
        Frame {
            title: format!("People of {}", self.name),
            heading: "People".to_owned(),
            done: None,
            wrong: false,
            of: self.name.clone(),
            back: Some(("/app".to_owned(), "Your flows".to_owned())),
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
    let people = users.into_iter().map(|user| {
        let marks = [
            (me == Some(user.id), "You"),
            (user.admin == Some(true), "Administrator"),
        ];
        Person {
            // Pages are served beside the API.
            picture: user.avatar.replacen(base, "", 1),
            marks: marks
                .into_iter()
                .filter_map(|(is, mark)| is.then_some(mark))
                .collect(),
            removal: own
                .administered
                .then(|| format!("{}/{}", own.people(), user.id)),
            user,
        }
    });
    let done = (visit.query("done") == "removed")
        .then_some("The person is out of the organization and all of its flows.");
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
    let form = visit.form(visit.path(), "Remove");
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
    let frame = Frame {
        wrong: form.is_wrong(),
        ..own
            .frame(visit)
            .headed(format!("Remove {} from {}", user.name, own.name))
    };
    let text = format!(
        "@{} loses all access to {} and its flows at once. What they wrote stays. The join links of all \
         flows, and the invitations that they sent, end.",
        user.nick, own.name
    );
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
            let form = visit.form(visit.path(), "Remove").with_error(error)?;
            asked(visit, &own, user, form).await
        }
    }
}
