//! Groups of users within organizations.

use eddyline_app::{Error, GroupChanges, NewGroup};
use eddyline_model::names::{GroupName, InvalidName};
use eddyline_model::policy::OrganizationAction::{Administer, See};
use eddyline_model::scopes::Scope::{Flow, Manage};
use eddyline_model::{GroupId, UserId};
use http::{Method, StatusCode};

use crate::answer::{Answer, done, json, nothing};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::{Empty, Many, One};
use crate::error::Failure;
use crate::organizations::named;
use crate::params::Reader;

const GROUPS: &str = "/organizations/{organization}/groups";
const GROUP: &str = "/organizations/{organization}/groups/{group}";
const USERS: &str = "/organizations/{organization}/groups/{group}/users";
const USER: &str = "/organizations/{organization}/groups/{group}/users/{user}";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let name =
        "1 to 40 characters as in nicks, at least one of which is no digit; no nick of the organization";
    let users = "Ids of all members, as an array or comma-separated; 1000 at most";
    vec![
        Endpoint::new(Method::GET, GROUPS, "The groups of an organization", list)
            .scopes(&[Flow, Manage])
            .answers(200, "The groups, ordered by name", Some(Many("Group"))),
        Endpoint::new(Method::POST, GROUPS, "Make a group of users", create)
            .can_conflict()
            .scopes(&[Manage])
            .needs("name", "string", name)
            .takes("users", "integers", users)
            .answers(201, "The group", Some(One("Group"))),
        Endpoint::new(Method::GET, GROUP, "A group of users", get).scopes(&[Flow, Manage]).answers(
            200,
            "The group",
            Some(One("Group")),
        ),
        Endpoint::new(Method::PUT, GROUP, "Rename a group, or set its members", change)
            .can_conflict()
            .scopes(&[Manage])
            .takes("name", "string", name)
            .takes("users", "integers", users)
            .answers(200, "The group", Some(One("Group"))),
        Endpoint::new(Method::DELETE, GROUP, "Remove a group", remove).scopes(&[Manage]).answers(
            204,
            "The group is gone; messages keep its tag",
            None,
        ),
        Endpoint::new(Method::POST, USERS, "Add a user of the organization to a group", add)
            .can_conflict()
            .scopes(&[Manage])
            .needs("id", "integer", "The user's id")
            .answers(200, "The user is in the group", Some(Empty)),
        Endpoint::new(Method::DELETE, USER, "Take a user out of a group", leave).scopes(&[Manage]).answers(
            204,
            "The user is not in the group",
            None,
        ),
    ]
}

async fn list(ctx: RequestContext) -> Answer {
    let organization = named(&ctx, See).await?;
    json(StatusCode::OK, &ctx.app().groups(ctx.actor()?, organization).await?)
}

async fn get(ctx: RequestContext) -> Answer {
    let organization = named(&ctx, See).await?;
    json(StatusCode::OK, &ctx.app().group(ctx.actor()?, organization, id(&ctx)?).await?)
}

async fn create(ctx: RequestContext) -> Answer {
    let organization = named(&ctx, Administer).await?;
    let mut params = ctx.params.reader();
    let name = params.required_text("name", 1..=usize::MAX);
    let users = user_ids(&mut params).unwrap_or_default();
    params.finish()?;
    let name = name.parse::<GroupName>().map_err(wrong_name)?;
    let made = ctx.app().create_group(ctx.actor()?, organization, NewGroup { name, users }).await?;
    json(StatusCode::CREATED, &made)
}

async fn change(ctx: RequestContext) -> Answer {
    let (organization, id) = (named(&ctx, Administer).await?, id(&ctx)?);
    let mut params = ctx.params.reader();
    let name = params.opt_text("name", 1..=usize::MAX);
    let users = user_ids(&mut params);
    params.finish()?;
    let name = name.map(|name| name.parse::<GroupName>()).transpose().map_err(wrong_name)?;
    let changes = GroupChanges { name, users };
    json(StatusCode::OK, &ctx.app().change_group(ctx.actor()?, organization, id, changes).await?)
}

async fn remove(ctx: RequestContext) -> Answer {
    let organization = named(&ctx, Administer).await?;
    ctx.app().remove_group(ctx.actor()?, organization, id(&ctx)?).await?;
    Ok(nothing())
}

async fn add(ctx: RequestContext) -> Answer {
    let (organization, group) = (named(&ctx, Administer).await?, id(&ctx)?);
    let user = ctx.params.reader().required_id::<UserId>("id")?;
    ctx.app().set_group_member(ctx.actor()?, organization, group, user, true).await?;
    Ok(done())
}

async fn leave(ctx: RequestContext) -> Answer {
    let (organization, group) = (named(&ctx, Administer).await?, id(&ctx)?);
    ctx.app().set_group_member(ctx.actor()?, organization, group, ctx.id("user")?, false).await?;
    Ok(nothing())
}

fn id(ctx: &RequestContext) -> Result<GroupId, Failure> {
    ctx.id("group")
}

fn wrong_name(wrong: InvalidName) -> Error {
    Error::field("name", wrong.to_string())
}

/// The numbers of users in the parameter `users`.
fn user_ids(params: &mut Reader<'_>) -> Option<Vec<UserId>> {
    let texts = params.list_of_text("users")?;
    let users: Option<Vec<UserId>> = texts.iter().map(|text| text.parse().ok()).collect();
    if users.is_none() {
        params.error("users", "must be ids of users");
    }
    users
}
