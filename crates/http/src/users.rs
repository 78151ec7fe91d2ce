//! Users (specification, section 4, Users).

use std::fmt::Display;
use std::str::FromStr;

use eddyline_app::{Password, UserChanges};
use eddyline_model::UserId;
use eddyline_model::scopes::Scope::{Flow, Manage, Profile};
use http::{Method, StatusCode};

use crate::answer::{Answer, done, json};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::{Empty, Many, One};
use crate::error::Failure;
use crate::params::Reader;

/// Longer than any password that is taken, in characters.
const MAX_PASSWORD: usize = 2000;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let changes = |path, summary, handler: fn(RequestContext) -> Changing| {
        Endpoint::new(Method::PUT, path, summary, handler)
            .can_conflict()
            .scopes(&[Profile])
            .takes("nick", "string", "1 to 40 characters, unique in your organizations; mentions stay")
            .takes("email", "string", "Your address from now on; the old one gets a mail to undo it. With an API token current_password is needed")
            .takes("name", "string", "Your full name; 1 to 100 characters")
            .takes("website", "string", "Your page, with http:// or https://; empty for none")
            .takes("password", "string", "A new password; all sessions and streams end")
            .takes("current_password", "string", "Your present password; needed for a new one, and with an API token for a new address")
            .answers(200, "Done", Some(Empty))
    };
    vec![
        Endpoint::new(Method::GET, "/user", "You", me).answers(200, "You", Some(One("User"))),
        changes("/user", "Change your account", change_me),
        Endpoint::new(Method::GET, "/users", "The users you see", list).scopes(&[Flow, Manage]).answers(
            200,
            "All users of the organizations you administer, and those who share a flow with you",
            Some(Many("User")),
        ),
        Endpoint::new(Method::GET, "/users/{user}", "A user of your organization", get)
            .scopes(&[Flow, Manage, Profile])
            .answers(200, "The user", Some(One("User"))),
        changes("/users/{user}", "Change your account, named by its id", change),
    ]
}

type Changing = std::pin::Pin<Box<dyn Future<Output = Answer> + Send>>;

async fn me(ctx: RequestContext) -> Answer {
    json(StatusCode::OK, &ctx.app().me(ctx.actor()?)?)
}

async fn list(ctx: RequestContext) -> Answer {
    json(StatusCode::OK, &ctx.app().users(ctx.actor()?).await?)
}

async fn get(ctx: RequestContext) -> Answer {
    let user = ctx.app().user(ctx.actor()?, ctx.id("user")?).await?;
    json(StatusCode::OK, &user)
}

fn change(ctx: RequestContext) -> Changing {
    Box::pin(async move {
        ctx.app().own(ctx.actor()?, ctx.id::<UserId>("user")?).await?;
        change_own(&ctx).await
    })
}

fn change_me(ctx: RequestContext) -> Changing {
    Box::pin(async move { change_own(&ctx).await })
}

async fn change_own(ctx: &RequestContext) -> Answer {
    ctx.actor()?.user()?;
    let changes = read_changes(ctx)?;
    ctx.app().change_user(ctx.actor()?, changes, ctx.client_address()).await?;
    Ok(done())
}

fn read_changes(ctx: &RequestContext) -> Result<UserChanges, Failure> {
    let mut params = ctx.params.reader();
    let mut secret = |name| params.opt_text(name, 0..=MAX_PASSWORD).map(|text| Password::new(&text));
    let (new, present) = (secret("password"), secret("current_password"));
    if new.is_some() && present.is_none() {
        params.error("current_password", "is required");
    }
    let changes = UserChanges {
        nick: parsed(&mut params, "nick"),
        email: parsed(&mut params, "email"),
        name: params.opt_text("name", 1..=usize::MAX),
        website: parsed(&mut params, "website"),
        password: new,
        current_password: present,
    };
    params.finish()?;
    Ok(changes)
}

/// A text that must be of some form.
fn parsed<T>(params: &mut Reader<'_>, name: &str) -> Option<T>
where
    T: FromStr,
    T::Err: Display,
{
    let text = params.opt_text(name, 0..=usize::MAX)?;
    text.parse().map_err(|error: T::Err| params.error(name, error.to_string())).ok()
}
