//! Sources (specification, section 4, Sources).

use eddyline_app::{NewSource, SourceChanges};
use eddyline_model::SourceId;
use eddyline_model::policy::FlowDeed;
use eddyline_model::scopes::Scope::Integration;
use eddyline_model::sources::{MAX_ERROR_CHARS, MAX_NAME_CHARS};
use http::{Method, StatusCode};

use crate::answer::{Answer, json, nothing};
use crate::call::Call;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::{Many, One};
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
            .answers(200, "The source", Some(One("Source")))
    };
    let all =
        vec![
            Endpoint::new(Method::GET, ALL, "The sources of a flow", list).answers(
                200,
                "The sources",
                Some(Many("Source")),
            ),
            Endpoint::new(Method::POST, ALL, "Make a source of your application", create)
                .needs("name", "string", "1 to 100 characters")
                .takes("external_url", "string", "Where what it mirrors is to be found")
                .answers(201, "The source, with the token that is shown this once", Some(One("Source"))),
            Endpoint::new(Method::GET, ONE, "A source", get).answers(200, "The source", Some(One("Source"))),
            changes(ONE, "Change a source"),
            Endpoint::new(Method::DELETE, ONE, "Remove a source", remove).answers(204, "It is gone", None),
            Endpoint::new(Method::GET, OWN, "All sources you can see; with a flow token, its own", visible)
                .answers(200, "The sources", Some(Many("Source"))),
            changes(OWN, "Change the source whose flow token you show"),
            Endpoint::new(Method::DELETE, OWN, "Remove the source whose flow token you show", remove)
                .answers(204, "It is gone", None),
        ];
    all.into_iter().map(|endpoint| endpoint.scopes(&[Integration])).collect()
}

async fn list(call: Call) -> Answer {
    let room = call.room(FlowDeed::ManageSources).await?;
    json(StatusCode::OK, &call.app().flow_sources(&room).await?)
}

async fn visible(call: Call) -> Answer {
    json(StatusCode::OK, &call.app().sources(call.actor()?).await?)
}

async fn create(call: Call) -> Answer {
    let room = call.room(FlowDeed::ManageSources).await?;
    let mut params = call.params.reader();
    let name = params.required_text("name", 1..=MAX_NAME_CHARS);
    let external_url = url(&mut params, "external_url").filter(|url| !url.is_empty());
    params.finish()?;
    let source = call.app().create_source(call.actor()?, &room, NewSource { name, external_url }).await?;
    json(StatusCode::CREATED, &source)
}

async fn get(call: Call) -> Answer {
    let room = call.room(FlowDeed::ManageSources).await?;
    json(StatusCode::OK, &call.app().source(&room, call.id("source")?).await?)
}

async fn change(call: Call) -> Answer {
    let wanted = target(&call).await?;
    let mut params = call.params.reader();
    let changes = SourceChanges {
        name: params.opt_text("name", 1..=MAX_NAME_CHARS),
        external_url: url(&mut params, "external_url"),
        configuration_url: url(&mut params, "configuration_url"),
        error_message: params.opt_text("error_message", 0..=MAX_ERROR_CHARS),
    };
    params.finish()?;
    json(StatusCode::OK, &call.app().change_source(call.actor()?, wanted, changes).await?)
}

async fn remove(call: Call) -> Answer {
    let wanted = target(&call).await?;
    call.app().remove_source(call.actor()?, wanted).await?;
    Ok(nothing())
}

/// The source that the path names, or the one whose token the caller shows.
async fn target(call: &Call) -> Result<(eddyline_model::RoomId, SourceId), crate::error::Failure> {
    if call.segment("flow").is_empty() {
        return Ok(call.app().own_source(call.actor()?)?);
    }
    let room = call.room(FlowDeed::ManageSources).await?;
    Ok((room.id(), call.id("source")?))
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
