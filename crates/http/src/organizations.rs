//! Organizations (specification, section 4, Organizations), and who belongs to them.

use eddyline_model::OrganizationId;
use eddyline_model::policy::OrganizationDeed;
use eddyline_model::scopes::Scope::{Flow, Manage, Profile};
use http::{Method, StatusCode};

use crate::answer::{Answer, json, nothing};
use crate::call::Call;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::{Many, One};
use crate::error::Failure;

const ORGANIZATION: &str = "/organizations/{organization}";
const USER: &str = "/organizations/{organization}/users/{user}";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/organizations", "Your organizations", list)
            .scopes(&[Flow, Manage, Profile])
            .answers(200, "The organizations, with their users", Some(Many("Organization"))),
        Endpoint::new(Method::GET, "/organizations/find", "An organization by its id", find)
            .scopes(&[Flow, Manage])
            .needs("id", "integer", "The organization's persistent id")
            .answers(200, "The organization, with its users", Some(One("Organization"))),
        Endpoint::new(Method::GET, ORGANIZATION, "An organization", get).scopes(&[Flow, Manage]).answers(
            200,
            "The organization, with its users",
            Some(One("Organization")),
        ),
        Endpoint::new(Method::PUT, ORGANIZATION, "Rename an organization", rename)
            .scopes(&[Manage])
            .needs("name", "string", "1 to 100 characters; the addresses stay")
            .answers(200, "The organization, with its users", Some(One("Organization"))),
        Endpoint::new(
            Method::GET,
            "/organizations/{organization}/users",
            "The users of an organization",
            users,
        )
        .scopes(&[Flow, Manage])
        .answers(200, "The users, each with `admin`", Some(Many("User"))),
        Endpoint::new(Method::GET, USER, "A user of an organization", user).scopes(&[Flow, Manage]).answers(
            200,
            "The user, with `admin`",
            Some(One("User")),
        ),
        Endpoint::new(Method::DELETE, USER, "Remove a user from an organization", remove)
            .scopes(&[Manage])
            .answers(204, "The user is out, and out of its flows", None),
    ]
}

/// The organization that the path names, if the caller may do `deed` with it.
pub(crate) async fn named(call: &Call, deed: OrganizationDeed) -> Result<OrganizationId, Failure> {
    Ok(call.app().organization_named(call.actor()?, call.segment("organization"), deed).await?)
}

async fn list(call: Call) -> Answer {
    json(StatusCode::OK, &call.app().organizations(call.actor()?).await?)
}

async fn find(call: Call) -> Answer {
    let actor = call.actor()?;
    actor.user()?;
    let id = call.params.reader().required_id::<OrganizationId>("id")?;
    json(StatusCode::OK, &call.app().organization(actor, id).await?)
}

async fn get(call: Call) -> Answer {
    let id = named(&call, OrganizationDeed::See).await?;
    json(StatusCode::OK, &call.app().organization(call.actor()?, id).await?)
}

async fn rename(call: Call) -> Answer {
    let id = named(&call, OrganizationDeed::Administer).await?;
    let mut params = call.params.reader();
    let name = params.required_text("name", 1..=usize::MAX);
    params.finish()?;
    json(StatusCode::OK, &call.app().rename_organization(call.actor()?, id, &name).await?)
}

async fn users(call: Call) -> Answer {
    let id = named(&call, OrganizationDeed::See).await?;
    json(StatusCode::OK, &call.app().organization_users(call.actor()?, id).await?)
}

async fn user(call: Call) -> Answer {
    let id = named(&call, OrganizationDeed::See).await?;
    json(StatusCode::OK, &call.app().organization_user(call.actor()?, id, call.id("user")?).await?)
}

async fn remove(call: Call) -> Answer {
    let id = named(&call, OrganizationDeed::Administer).await?;
    call.app().remove_organization_user(call.actor()?, id, call.id("user")?).await?;
    Ok(nothing())
}
