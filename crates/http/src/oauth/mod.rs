//! What applications ask the server themselves: for tokens, to end them, and what they are worth
//! (RFC 6749, 7009, 7662, 8414; specification, section 5). The pages where users consent are not
//! the API's.

pub(crate) mod applications;
mod metadata;
mod request;
pub(crate) mod wire;

use eddyline_app::{Error, Secret, TokenRequest};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Empty, One, OneOrForm};
use http::{Method, StatusCode};

use crate::answer::{Answer, json};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::oauth::request::ClientRequest;
use crate::oauth::wire::{
    client_error, introspection_answer, never_kept, show_tokens, token_answer,
};
use crate::requester::Anybody;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let for_clients = |endpoint: Endpoint| {
        endpoint
            .raw_body()
            .optional_parameter(
                "client_id",
                "string",
                "Which application asks, unless HTTP Basic says so",
            )
            .optional_parameter(
                "client_secret",
                "string",
                "Its secret, if it has one, unless HTTP Basic says so",
            )
            .answers(400, "What is wrong", Some(One("ClientErrorAnswer")))
            .answers(
                401,
                "The application is not known, or its secret is wrong",
                Some(One("ClientErrorAnswer")),
            )
    };
    vec![
        for_clients(Endpoint::new(
            Method::POST,
            "/oauth/token",
            "issueToken",
            "Get an access token",
            token,
        ))
        .required_parameter(
            "grant_type",
            "string",
            "authorization_code, password or refresh_token",
        )
        .optional_parameter("code", "string", "With authorization_code: the code")
        .optional_parameter(
            "redirect_uri",
            "string",
            "With authorization_code: where the code was sent",
        )
        .optional_parameter(
            "code_verifier",
            "string",
            "With authorization_code: what the challenge was made of",
        )
        .optional_parameter(
            "username",
            "string",
            "With password: the user's e-mail address",
        )
        .optional_parameter("password", "string", "With password: the user's password")
        .optional_parameter(
            "refresh_token",
            "string",
            "With refresh_token: the last one received",
        )
        .optional_parameter(
            "scope",
            "string",
            "With password and refresh_token: what is wanted, between spaces",
        )
        .answers(
            200,
            "The tokens; as a form unless Accept names JSON",
            Some(OneOrForm("TokenAnswer")),
        ),
        for_clients(Endpoint::new(
            Method::POST,
            "/oauth/revoke",
            "revokeToken",
            "Revoke a token",
            revoke,
        ))
        .required_parameter(
            "token",
            "string",
            "An access token; or a refresh token, which ends its family",
        )
        .optional_parameter("token_type_hint", "string", "Not needed")
        .answers(200, "It has ended", Some(Empty)),
        for_clients(Endpoint::new(
            Method::POST,
            "/oauth/introspect",
            "introspectToken",
            "What a token is worth",
            introspect,
        ))
        .required_parameter(
            "token",
            "string",
            "A token that was given to this application",
        )
        .optional_parameter("token_type_hint", "string", "Not needed")
        .answers(200, "What is known of it", Some(One("IntrospectionAnswer"))),
        Endpoint::new(
            Method::GET,
            "/.well-known/oauth-authorization-server",
            "getAuthorizationServer",
            "How OAuth works here",
            metadata::show,
        )
        .answers(
            200,
            "Addresses, and what is supported",
            Some(One("AuthorizationServer")),
        ),
    ]
}

async fn token(ctx: RequestContext<Anybody>) -> Answer {
    let as_json = wire::wants_json(&ctx.headers);
    answer(async {
        let asked = ClientRequest::read(&ctx)?;
        let client = asked.client(&ctx).await?;
        let tokens = ctx
            .app()
            .oauth()
            .issue_tokens(&client, TokenRequest::read(&asked.body)?)
            .await?;
        Ok(show_tokens(&token_answer(&tokens), as_json))
    })
    .await
}

async fn revoke(ctx: RequestContext<Anybody>) -> Answer {
    answer(async {
        let asked = ClientRequest::read(&ctx)?;
        let client = asked.client(&ctx).await?;
        ctx.app()
            .oauth()
            .revoke_token(&client, &Secret::presented(asked.needed("token")?))
            .await?;
        Ok(json(StatusCode::OK, &serde_json::json!({})))
    })
    .await
}

async fn introspect(ctx: RequestContext<Anybody>) -> Answer {
    answer(async {
        let asked = ClientRequest::read(&ctx)?;
        let client = asked.client(&ctx).await?;
        let found = ctx
            .app()
            .oauth()
            .introspect(&client, &Secret::presented(asked.needed("token")?))
            .await?;
        Ok(json(
            StatusCode::OK,
            &introspection_answer(found, ctx.app().oauth().issuer()),
        ))
    })
    .await
}

/// The answer to a client. Nobody on the way keeps it (RFC 6749, section 5.1).
async fn answer(asking: impl Future<Output = Result<Answer, Error>>) -> Answer {
    let answer = match asking.await {
        Ok(answer) => answer?,
        Err(error) => client_error(&error),
    };
    Ok(never_kept(answer))
}
