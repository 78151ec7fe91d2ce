//! Sources (specification, section 4, Sources).

use eddyline_app::{NewSource, SourceChanges};
use eddyline_model::SourceId;
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope::Integration;
use eddyline_openapi::AllowedCallers;
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Many, One};
use eddyline_wire::requests::{CreateSource, UpdateSource};
use http::{Method, StatusCode};

use crate::answer::{Answer, json, nothing};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;

const ALL: &str = "/flows/{organization}/{flow}/sources";
const ONE: &str = "/flows/{organization}/{flow}/sources/{source}";
const OWN: &str = "/sources";
const APPLICATIONS: &str = "/flows/{organization}/{flow}/applications";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let changes = |path, id, summary| {
        Endpoint::new(Method::PUT, path, id, summary, change)
            .may_be_not_found()
            .answers(200, "The source", Some(One("Source")))
    };
    let all = vec![
        Endpoint::new(
            Method::GET,
            ALL,
            "listFlowSources",
            "The sources of a flow",
            list,
        )
        .answers(200, "The sources", Some(Many("Source"))),
        Endpoint::new(
            Method::POST,
            ALL,
            "createSource",
            "Create a source of your application",
            create,
        )
        .callers(AllowedCallers::Applications)
        .may_conflict()
        .answers(
            201,
            "The source, with the token that is shown this once",
            Some(One("Source")),
        ),
        Endpoint::new(Method::GET, ONE, "getSource", "A source", get).answers(
            200,
            "The source",
            Some(One("Source")),
        ),
        changes(ONE, "updateSource", "Change a source"),
        Endpoint::new(
            Method::DELETE,
            ONE,
            "deleteSource",
            "Remove a source",
            remove,
        )
        .answers(204, "It is gone", None),
        Endpoint::new(
            Method::GET,
            APPLICATIONS,
            "listFlowApplications",
            "The applications that can be set up for a flow",
            applications,
        )
        .answers(
            200,
            "Those that say where they are set up",
            Some(Many("SetupApplication")),
        ),
        Endpoint::new(
            Method::GET,
            OWN,
            "listSources",
            "All sources you can see; with a flow token, its own",
            visible,
        )
        .may_be_not_found()
        .callers(AllowedCallers::UsersAndFlowTokens)
        .answers(200, "The sources", Some(Many("Source"))),
        changes(
            OWN,
            "updateOwnSource",
            "Change the source whose flow token you show",
        )
        .callers(AllowedCallers::Sources),
        Endpoint::new(
            Method::DELETE,
            OWN,
            "deleteOwnSource",
            "Remove the source whose flow token you show",
            remove,
        )
        .may_be_not_found()
        .callers(AllowedCallers::Sources)
        .answers(204, "It is gone", None),
    ];
    // An access token is not what says which source it is.
    let scoped = |endpoint: Endpoint| match endpoint.operation.callers.applications() {
        true => endpoint.scopes(&[Integration]),
        false => endpoint,
    };
    all.into_iter().map(scoped).collect()
}

async fn list(ctx: RequestContext) -> Answer {
    let room = ctx.flow(FlowAction::ManageSources).await?;
    json(
        StatusCode::OK,
        &ctx.app().sources().list_of_flow(&room).await?,
    )
}

async fn applications(ctx: RequestContext) -> Answer {
    let room = ctx.flow(FlowAction::ManageSources).await?;
    let found = ctx.app().oauth().set_up_in(ctx.actor(), &room).await?;
    json(StatusCode::OK, &found)
}

async fn visible(ctx: RequestContext) -> Answer {
    json(
        StatusCode::OK,
        &ctx.app().sources().list(ctx.actor()).await?,
    )
}

async fn create(ctx: RequestContext, request: UnparsedParams<CreateSource>) -> Answer {
    let room = ctx.flow(FlowAction::ManageSources).await?;
    let CreateSource { name, external_url } = request.read()?;
    let external_url = external_url.filter(|url| !url.is_empty());
    let source = ctx
        .app()
        .sources()
        .create(ctx.actor(), &room, NewSource { name, external_url })
        .await?;
    json(StatusCode::CREATED, &source)
}

async fn get(ctx: RequestContext) -> Answer {
    let room = ctx.flow(FlowAction::ManageSources).await?;
    json(
        StatusCode::OK,
        &ctx.app().sources().get(&room, ctx.id("source")?).await?,
    )
}

async fn change(ctx: RequestContext, request: UnparsedParams<UpdateSource>) -> Answer {
    let wanted = target(&ctx).await?;
    let UpdateSource {
        name,
        external_url,
        configuration_url,
        error_message,
    } = request.read()?;
    let changes = SourceChanges {
        name,
        external_url,
        configuration_url,
        error_message,
    };
    json(
        StatusCode::OK,
        &ctx.app()
            .sources()
            .update(ctx.actor(), wanted, changes)
            .await?,
    )
}

async fn remove(ctx: RequestContext) -> Answer {
    let wanted = target(&ctx).await?;
    ctx.app().sources().remove(ctx.actor(), wanted).await?;
    Ok(nothing())
}

/// The source that the path names, or the one whose token the caller shows.
async fn target(
    ctx: &RequestContext,
) -> Result<(eddyline_model::RoomId, SourceId), eddyline_app::Error> {
    if ctx.segment("flow").is_empty() {
        return ctx.app().sources().own(ctx.actor());
    }
    let room = ctx.flow(FlowAction::ManageSources).await?;
    Ok((room.id(), ctx.id("source")?))
}
