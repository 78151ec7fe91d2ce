//! Sources (specification, section 4, Sources).

use eddyline_app::{NewSource, SourceChanges};
use eddyline_model::SourceId;
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope::Integration;
use eddyline_model::sources::{MAX_ERROR_CHARS, MAX_NAME_CHARS};
use http::{Method, StatusCode};

use crate::answer::{Answer, json, nothing};
use crate::context::RequestContext;
use crate::endpoint::Shape::{Many, One};
use crate::endpoint::{Callers, Endpoint};
use crate::params::Reader;

const ALL: &str = "/flows/{organization}/{flow}/sources";
const ONE: &str = "/flows/{organization}/{flow}/sources/{source}";
const OWN: &str = "/sources";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let changes = |path, summary| {
        Endpoint::new(Method::PUT, path, summary, change)
            .takes("name", "string", "1 to 100 characters")
            .takes("external_url", "string", "Where what it mirrors is to be found")
            .takes("configuration_url", "string", "Where it is configured, if not where its application says")
            .takes("error_message", "string", "What is wrong with it; an empty text takes it away")
            .can_miss()
            .answers(200, "The source", Some(One("Source")))
    };
    let all = vec![
        Endpoint::new(Method::GET, ALL, "The sources of a flow", list).answers(
            200,
            "The sources",
            Some(Many("Source")),
        ),
        Endpoint::new(Method::POST, ALL, "Make a source of your application", create)
            .callers(Callers::Applications)
            .can_conflict()
            .needs("name", "string", "1 to 100 characters")
            .takes("external_url", "string", "Where what it mirrors is to be found")
            .answers(201, "The source, with the token that is shown this once", Some(One("Source"))),
        Endpoint::new(Method::GET, ONE, "A source", get).answers(200, "The source", Some(One("Source"))),
        changes(ONE, "Change a source"),
        Endpoint::new(Method::DELETE, ONE, "Remove a source", remove).answers(204, "It is gone", None),
        Endpoint::new(Method::GET, OWN, "All sources you can see; with a flow token, its own", visible)
            .can_miss()
            .callers(Callers::UsersAndFlowTokens)
            .answers(200, "The sources", Some(Many("Source"))),
        changes(OWN, "Change the source whose flow token you show").callers(Callers::Sources),
        Endpoint::new(Method::DELETE, OWN, "Remove the source whose flow token you show", remove)
            .can_miss()
            .callers(Callers::Sources)
            .answers(204, "It is gone", None),
    ];
    // An access token is not what says which source it is.
    let scoped = |endpoint: Endpoint| match endpoint.callers.applications() {
        true => endpoint.scopes(&[Integration]),
        false => endpoint,
    };
    all.into_iter().map(scoped).collect()
}

async fn list(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::ManageSources).await?;
    json(StatusCode::OK, &ctx.app().flow_sources(&room).await?)
}

async fn visible(ctx: RequestContext) -> Answer {
    json(StatusCode::OK, &ctx.app().sources(ctx.actor()?).await?)
}

async fn create(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::ManageSources).await?;
    let mut params = ctx.params.reader();
    let name = params.required_text("name", 1..=MAX_NAME_CHARS);
    let external_url = url(&mut params, "external_url").filter(|url| !url.is_empty());
    params.finish()?;
    let source = ctx.app().create_source(ctx.actor()?, &room, NewSource { name, external_url }).await?;
    json(StatusCode::CREATED, &source)
}

async fn get(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::ManageSources).await?;
    json(StatusCode::OK, &ctx.app().source(&room, ctx.id("source")?).await?)
}

async fn change(ctx: RequestContext) -> Answer {
    let wanted = target(&ctx).await?;
    let mut params = ctx.params.reader();
    let changes = SourceChanges {
        name: params.opt_text("name", 1..=MAX_NAME_CHARS),
        external_url: url(&mut params, "external_url"),
        configuration_url: url(&mut params, "configuration_url"),
        error_message: params.opt_text("error_message", 0..=MAX_ERROR_CHARS),
    };
    params.finish()?;
    json(StatusCode::OK, &ctx.app().change_source(ctx.actor()?, wanted, changes).await?)
}

async fn remove(ctx: RequestContext) -> Answer {
    let wanted = target(&ctx).await?;
    ctx.app().remove_source(ctx.actor()?, wanted).await?;
    Ok(nothing())
}

/// The source that the path names, or the one whose token the caller shows.
async fn target(ctx: &RequestContext) -> Result<(eddyline_model::RoomId, SourceId), crate::error::Failure> {
    if ctx.segment("flow").is_empty() {
        return Ok(ctx.app().own_source(ctx.actor()?)?);
    }
    let room = ctx.room(FlowAction::ManageSources).await?;
    Ok((room.id(), ctx.id("source")?))
}

fn url(params: &mut Reader<'_>, name: &str) -> Option<String> {
    // How long it may be is a part of the check.
    let text = params.opt_text(name, 0..=usize::MAX)?;
    match eddyline_wire::check_url(&text) {
        Err(wrong) if !text.is_empty() => {
            params.error(name, wrong);
            None
        }
        _ => Some(text),
    }
}
