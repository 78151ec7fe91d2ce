//! Groups of users within organizations.

use eddyline_app::{Error, GroupChanges, NewGroup};
use eddyline_model::GroupId;
use eddyline_model::groups::GroupLabels;
use eddyline_model::policy::OrganizationAction::{Administer, See};
use eddyline_model::scopes::Scope::{Flow, Manage};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Empty, Many, One};
use eddyline_wire::requests::{AddGroupMember, CreateGroup, UpdateGroup};
use http::{Method, StatusCode};

use crate::answer::{Answer, done, json, nothing};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;
use crate::organizations::named;

const GROUPS: &str = "/organizations/{organization}/groups";
const GROUP: &str = "/organizations/{organization}/groups/{group}";
const USERS: &str = "/organizations/{organization}/groups/{group}/users";
const USER: &str = "/organizations/{organization}/groups/{group}/users/{user}";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::GET,
            GROUPS,
            "listGroups",
            "The groups of an organization",
            list,
        )
        .scopes(&[Flow, Manage])
        .answers(200, "The groups, ordered by name", Some(Many("Group"))),
        Endpoint::new(
            Method::POST,
            GROUPS,
            "createGroup",
            "Create a group of users",
            create,
        )
        .may_conflict()
        .scopes(&[Manage])
        .answers(201, "The group", Some(One("Group"))),
        Endpoint::new(Method::GET, GROUP, "getGroup", "A group of users", get)
            .scopes(&[Flow, Manage])
            .answers(200, "The group", Some(One("Group"))),
        Endpoint::new(
            Method::PUT,
            GROUP,
            "updateGroup",
            "Rename a group, or set its members",
            change,
        )
        .may_conflict()
        .scopes(&[Manage])
        .answers(200, "The group", Some(One("Group"))),
        Endpoint::new(
            Method::DELETE,
            GROUP,
            "deleteGroup",
            "Remove a group",
            remove,
        )
        .scopes(&[Manage])
        .answers(204, "The group is gone; messages keep its tag", None),
        Endpoint::new(
            Method::POST,
            USERS,
            "addGroupMember",
            "Add a user of the organization to a group",
            add,
        )
        .may_conflict()
        .scopes(&[Manage])
        .answers(200, "The user is in the group", Some(Empty)),
        Endpoint::new(
            Method::DELETE,
            USER,
            "removeGroupMember",
            "Remove a user from a group",
            leave,
        )
        .scopes(&[Manage])
        .answers(204, "The user is not in the group", None),
    ]
}

async fn list(ctx: RequestContext) -> Answer {
    let organization = named(&ctx, See).await?;
    json(
        StatusCode::OK,
        &ctx.app().groups().list(ctx.actor(), organization).await?,
    )
}

async fn get(ctx: RequestContext) -> Answer {
    let organization = named(&ctx, See).await?;
    json(
        StatusCode::OK,
        &ctx.app()
            .groups()
            .get(ctx.actor(), organization, id(&ctx)?)
            .await?,
    )
}

async fn create(ctx: RequestContext, request: UnparsedParams<CreateGroup>) -> Answer {
    let organization = named(&ctx, Administer).await?;
    let CreateGroup { name, users } = request.read()?;
    let new = NewGroup {
        name,
        labels: GroupLabels::default(),
        users: users.unwrap_or_default(),
    };
    let made = ctx
        .app()
        .groups()
        .create(ctx.actor(), organization, new)
        .await?;
    json(StatusCode::CREATED, &made)
}

async fn change(ctx: RequestContext, request: UnparsedParams<UpdateGroup>) -> Answer {
    let (organization, id) = (named(&ctx, Administer).await?, id(&ctx)?);
    let UpdateGroup { name, users } = request.read()?;
    let labels = None;
    let changes = GroupChanges {
        name,
        labels,
        users,
    };
    json(
        StatusCode::OK,
        &ctx.app()
            .groups()
            .update(ctx.actor(), organization, id, changes)
            .await?,
    )
}

async fn remove(ctx: RequestContext) -> Answer {
    let organization = named(&ctx, Administer).await?;
    ctx.app()
        .groups()
        .remove(ctx.actor(), organization, id(&ctx)?)
        .await?;
    Ok(nothing())
}

async fn add(ctx: RequestContext, request: UnparsedParams<AddGroupMember>) -> Answer {
    let (organization, group) = (named(&ctx, Administer).await?, id(&ctx)?);
    let AddGroupMember { id } = request.read()?;
    ctx.app()
        .groups()
        .set_member(ctx.actor(), organization, group, id, true)
        .await?;
    Ok(done())
}

async fn leave(ctx: RequestContext) -> Answer {
    let (organization, group) = (named(&ctx, Administer).await?, id(&ctx)?);
    ctx.app()
        .groups()
        .set_member(ctx.actor(), organization, group, ctx.id("user")?, false)
        .await?;
    Ok(nothing())
}

fn id(ctx: &RequestContext) -> Result<GroupId, Error> {
    ctx.id("group")
}
