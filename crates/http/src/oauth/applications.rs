//! Registering applications, as clients of the original service do. Only the classic profile has
//! it; elsewhere people use the pages, and operators the command line.

use eddyline_app::{ApplicationChanges, NewApplication};
use eddyline_model::applications::RedirectUri;
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::One;
use eddyline_wire::oauth::RegisteredApplication;
use eddyline_wire::request::Registration;
use eddyline_wire::requests::RegisterApplication;
use http::{Method, StatusCode};

use super::wire::never_kept;
use crate::answer::{Answer, json};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        Method::POST,
        "/oauth/applications",
        "registerApplication",
        "Register an application",
        register,
    )
    .answers(
        201,
        "The application; no other answer shows its secret",
        Some(One("RegisteredApplication")),
    )
}

async fn register(ctx: RequestContext, request: UnparsedParams<RegisterApplication>) -> Answer {
    let actor = ctx.actor();
    let organization = ctx.app().oauth().registers_for(actor)?;
    let new = new_application(request.read()?.application);
    let (application, secret) = ctx
        .app()
        .oauth()
        .register_application(actor, organization, new)
        .await?;
    let uris: Vec<&str> = application
        .redirect_uris
        .iter()
        .map(RedirectUri::as_str)
        .collect();
    let registered = RegisteredApplication {
        name: application.name,
        redirect_uri: uris.join("\n"),
        client_id: application.client_id,
        client_secret: secret
            .map(|secret| secret.expose().to_owned())
            .unwrap_or_default(),
    };
    json(StatusCode::CREATED, &registered).map(never_kept)
}

fn new_application(
    Registration {
        name,
        redirect_uris,
    }: Registration,
) -> NewApplication {
    let about = ApplicationChanges {
        name,
        redirect_uris,
        configuration_uri: None,
        setup_uri: None,
        icon_url: None,
        password_grant: true,
        out_of_band: true,
    };
    NewApplication {
        public: false,
        about,
    }
}
