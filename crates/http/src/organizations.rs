//! Organizations (specification, section 4, Organizations), and who belongs to them.

use eddyline_app::Error;
use eddyline_model::OrganizationId;
use eddyline_model::policy::OrganizationAction;
use eddyline_model::scopes::Scope::{Flow, Manage, Profile};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Many, One};
use eddyline_wire::requests::{DeleteOrganization, FindOrganization, RenameOrganization};
use http::{Method, StatusCode};

use crate::answer::{Answer, json, nothing};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;

const ORGANIZATION: &str = "/organizations/{organization}";
const DELETION: &str = "/organizations/{organization}/deletion";
const USER: &str = "/organizations/{organization}/users/{user}";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let shows = |endpoint: Endpoint| {
        endpoint.scopes(&[Flow, Manage]).answers(
            200,
            "The organization, with its users",
            Some(One("Organization")),
        )
    };
    vec![
        Endpoint::new(
            Method::GET,
            "/organizations",
            "listOrganizations",
            "Your organizations",
            list,
        )
        .scopes(&[Flow, Manage, Profile])
        .answers(
            200,
            "The organizations, with their users",
            Some(Many("Organization")),
        ),
        shows(Endpoint::new(
            Method::GET,
            "/organizations/find",
            "findOrganization",
            "An organization by its id",
            find,
        ))
        .may_be_not_found(),
        shows(Endpoint::new(
            Method::GET,
            ORGANIZATION,
            "getOrganization",
            "An organization",
            get,
        )),
        Endpoint::new(
            Method::PUT,
            ORGANIZATION,
            "renameOrganization",
            "Rename an organization",
            rename,
        )
        .may_conflict()
        .scopes(&[Manage])
        .answers(
            200,
            "The organization, with its users",
            Some(One("Organization")),
        ),
        Endpoint::new(
            Method::DELETE,
            ORGANIZATION,
            "deleteOrganization",
            "Request the deletion of an organization",
            request_deletion,
        )
        .may_conflict()
        .scopes(&[Manage])
        .answers(
            202,
            "The organization is closed, and will be deleted when the grace time of the server is over",
            Some(One("ScheduledDeletion")),
        ),
        Endpoint::new(
            Method::GET,
            DELETION,
            "getOrganizationDeletion",
            "The pending deletion of an organization",
            deletion,
        )
        .scopes(&[Manage])
        .answers(200, "The deletion", Some(One("ScheduledDeletion"))),
        Endpoint::new(
            Method::DELETE,
            DELETION,
            "cancelOrganizationDeletion",
            "Cancel the deletion of an organization",
            cancel_deletion,
        )
        .may_conflict()
        .scopes(&[Manage])
        .answers(204, "The organization is open again, as it was", None),
        Endpoint::new(
            Method::GET,
            "/organizations/{organization}/users",
            "listOrganizationUsers",
            "The users of an organization",
            users,
        )
        .scopes(&[Flow, Manage])
        .answers(200, "The users, each with `admin`", Some(Many("User"))),
        Endpoint::new(
            Method::GET,
            USER,
            "getOrganizationUser",
            "A user of an organization",
            user,
        )
        .scopes(&[Flow, Manage])
        .answers(200, "The user, with `admin`", Some(One("User"))),
        Endpoint::new(
            Method::DELETE,
            USER,
            "removeOrganizationUser",
            "Remove a user from an organization",
            remove,
        )
        .may_conflict()
        .scopes(&[Manage])
        .answers(204, "The user is out, and out of its flows", None),
    ]
}

/// The organization that the path names, if the caller may do `action` with it.
pub(crate) async fn named(
    ctx: &RequestContext,
    action: OrganizationAction,
) -> Result<OrganizationId, Error> {
    ctx.app()
        .organizations()
        .find(ctx.actor(), ctx.segment("organization"), action)
        .await
}

async fn list(ctx: RequestContext) -> Answer {
    json(
        StatusCode::OK,
        &ctx.app().organizations().list(ctx.actor()).await?,
    )
}

async fn find(ctx: RequestContext, request: UnparsedParams<FindOrganization>) -> Answer {
    ctx.actor().user()?;
    let FindOrganization { id } = request.read()?;
    json(
        StatusCode::OK,
        &ctx.app().organizations().get(ctx.actor(), id).await?,
    )
}

async fn get(ctx: RequestContext) -> Answer {
    let id = named(&ctx, OrganizationAction::See).await?;
    json(
        StatusCode::OK,
        &ctx.app().organizations().get(ctx.actor(), id).await?,
    )
}

async fn rename(ctx: RequestContext, request: UnparsedParams<RenameOrganization>) -> Answer {
    let id = named(&ctx, OrganizationAction::Administer).await?;
    let RenameOrganization { name } = request.read()?;
    json(
        StatusCode::OK,
        &ctx.app()
            .organizations()
            .rename(ctx.actor(), id, &name)
            .await?,
    )
}

async fn request_deletion(
    ctx: RequestContext,
    request: UnparsedParams<DeleteOrganization>,
) -> Answer {
    let id = named(&ctx, OrganizationAction::Administer).await?;
    let DeleteOrganization { name } = request.read()?;
    json(
        StatusCode::ACCEPTED,
        &ctx.app()
            .deletions()
            .request_own(ctx.actor(), id, &name, None)
            .await?,
    )
}

async fn deletion(ctx: RequestContext) -> Answer {
    let name = ctx.segment("organization");
    json(
        StatusCode::OK,
        &ctx.app().deletions().find_own(ctx.actor(), name).await?,
    )
}

async fn cancel_deletion(ctx: RequestContext) -> Answer {
    let name = ctx.segment("organization");
    ctx.app().deletions().cancel_own(ctx.actor(), name).await?;
    Ok(nothing())
}

async fn users(ctx: RequestContext) -> Answer {
    let id = named(&ctx, OrganizationAction::See).await?;
    json(
        StatusCode::OK,
        &ctx.app().organizations().users(ctx.actor(), id).await?,
    )
}

async fn user(ctx: RequestContext) -> Answer {
    let id = named(&ctx, OrganizationAction::See).await?;
    json(
        StatusCode::OK,
        &ctx.app()
            .organizations()
            .user(ctx.actor(), id, ctx.id("user")?)
            .await?,
    )
}

async fn remove(ctx: RequestContext) -> Answer {
    let id = named(&ctx, OrganizationAction::Administer).await?;
    ctx.app()
        .organizations()
        .remove_user(ctx.actor(), id, ctx.id("user")?)
        .await?;
    Ok(nothing())
}
