//! Registering applications, as clients of the original service do. Only the classic profile has it; elsewhere people
//! use the pages, and operators the command line.

use eddyline_app::{ApplicationChanges, NewApplication};
use eddyline_model::applications::{MAX_REDIRECT_URIS, RedirectUri};
use eddyline_model::names::display_name;
use http::{Method, StatusCode};

use super::wire::{RegisteredApplication, never_kept};
use crate::answer::{Answer, json};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::One;
use crate::error::Failure;
use eddyline_wire::params::Reader;

const APPLICATION: &str = "application";

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Method::POST, "/oauth/applications", "Register an application", register)
        .needs(APPLICATION, "object", "name, and redirect_uri: one or more addresses, one on each line")
        .answers(201, "The application; no other answer shows its secret", Some(One("RegisteredApplication")))
}

async fn register(ctx: RequestContext) -> Answer {
    let actor = ctx.actor()?;
    let organization = ctx.app().registers_for(actor)?;
    let new = read(&ctx)?;
    let (application, secret) = ctx.app().register_application(actor, organization, new).await?;
    let uris: Vec<&str> = application.redirect_uris.iter().map(RedirectUri::as_str).collect();
    let registered = RegisteredApplication {
        name: application.name,
        redirect_uri: uris.join("\n"),
        client_id: application.client_id,
        client_secret: secret.map(|secret| secret.expose().to_owned()).unwrap_or_default(),
    };
    json(StatusCode::CREATED, &registered).map(never_kept)
}

fn read(ctx: &RequestContext) -> Result<NewApplication, Failure> {
    let mut params = ctx.params.reader();
    params.require(APPLICATION);
    let (mut name, mut redirect_uris) = (String::new(), Vec::new());
    if let Some(object) = params.object(APPLICATION, "must be an object with name and redirect_uri") {
        let mut text = |within: &str| {
            let text = params.opt_text_in(object, APPLICATION, within);
            if text.is_none() && !params.is_wrong(&named(within)) {
                params.error(&named(within), "is required");
            }
            text
        };
        let (told, uris) = (text("name"), text("redirect_uri"));
        name = told.unwrap_or_default();
        if !params.is_wrong(&named("name"))
            && let Err(wrong) = display_name(&name)
        {
            params.error(&named("name"), wrong.to_string());
        }
        redirect_uris = uris.map(|uris| read_uris(&uris, &mut params)).unwrap_or_default();
    }
    params.finish()?;
    let about = ApplicationChanges {
        name,
        redirect_uris,
        configuration_uri: None,
        setup_uri: None,
        icon_url: None,
        password_grant: true,
        out_of_band: true,
    };
    Ok(NewApplication { public: false, about })
}

/// Addresses on lines of their own, or between spaces.
fn read_uris(text: &str, params: &mut Reader<'_>) -> Vec<RedirectUri> {
    let field = named("redirect_uri");
    let mut uris = Vec::new();
    for part in text.split_whitespace() {
        match part.parse::<RedirectUri>() {
            Ok(uri) => uris.push(uri),
            Err(wrong) => params.error(&field, wrong.to_string()),
        }
    }
    if uris.len() > MAX_REDIRECT_URIS {
        params.error(&field, format!("can't be more than {MAX_REDIRECT_URIS} addresses"));
    } else if uris.is_empty() && !params.is_wrong(&field) {
        params.error(&field, "can't be blank");
    }
    uris
}

fn named(within: &str) -> String {
    format!("{APPLICATION}[{within}]")
}
