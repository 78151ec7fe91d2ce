//! Users (specification, section 4, Users).

use eddyline_app::{Password, UserChanges};
use eddyline_model::UserId;
use eddyline_model::scopes::Scope::{Flow, Manage, Profile};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Empty, Many, One};
use eddyline_wire::request::SecretText;
use eddyline_wire::requests::UpdateUser;
use http::{Method, StatusCode};

use crate::answer::{Answer, done, json};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/user", "getSelf", "You", me).answers(
            200,
            "You",
            Some(One("User")),
        ),
        Endpoint::new(
            Method::PUT,
            "/user",
            "updateSelf",
            "Change your account",
            change_me,
        )
        .may_conflict()
        .scopes(&[Profile])
        .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::GET,
            "/users",
            "listUsers",
            "The users you see",
            list,
        )
        .scopes(&[Flow, Manage])
        .answers(
            200,
            "All users of the organizations you administer, and those who share a flow with you",
            Some(Many("User")),
        ),
        Endpoint::new(
            Method::GET,
            "/users/{user}",
            "getUser",
            "A user of your organization",
            get,
        )
        .scopes(&[Flow, Manage, Profile])
        .answers(200, "The user", Some(One("User"))),
        Endpoint::new(
            Method::PUT,
            "/users/{user}",
            "updateSelfById",
            "Change your account, named by its id",
            change,
        )
        .may_conflict()
        .scopes(&[Profile])
        .answers(200, "Done", Some(Empty)),
    ]
}

async fn me(ctx: RequestContext) -> Answer {
    json(StatusCode::OK, &ctx.app().users().me(ctx.actor())?)
}

async fn list(ctx: RequestContext) -> Answer {
    json(StatusCode::OK, &ctx.app().users().list(ctx.actor()).await?)
}

async fn get(ctx: RequestContext) -> Answer {
    let user = ctx.app().users().get(ctx.actor(), ctx.id("user")?).await?;
    json(StatusCode::OK, &user)
}

async fn change(ctx: RequestContext, request: UnparsedParams<UpdateUser>) -> Answer {
    ctx.app()
        .users()
        .own(ctx.actor(), ctx.id::<UserId>("user")?)
        .await?;
    change_me(ctx, request).await
}

async fn change_me(ctx: RequestContext, request: UnparsedParams<UpdateUser>) -> Answer {
    ctx.actor().user()?;
    let UpdateUser {
        nick,
        email,
        name,
        website,
        password,
        current_password,
    } = request.read_checked(|request, reader| {
        if request.password.is_some() && request.current_password.is_none() {
            reader.error("current_password", "is required");
        }
    })?;
    let secret = |text: Option<SecretText>| text.map(|SecretText(text)| Password::new(&text));
    let (password, current_password) = (secret(password), secret(current_password));
    let changes = UserChanges {
        nick,
        email,
        name,
        website,
        password,
        current_password,
    };
    ctx.app()
        .users()
        .update(ctx.actor(), changes, ctx.client_address())
        .await?;
    Ok(done())
}
