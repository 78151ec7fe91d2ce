//! What identity providers ask: SCIM (specification, section 4; RFC 7644).
//!
//! There are two response formats for the same users. A provider that says `application/scim+json` gets the shapes of RFC
//! 7643, and everybody else exactly those of the specification.

mod request;
mod response_format;

use axum::response::Response;
use eddyline_app::{ScimError, UsersWanted};
use eddyline_model::UserId;
use eddyline_scim::show::{etag, list, plain, resource};
use eddyline_scim::{Patch, Projection, Shown, Wanted, schema};
use http::header::{ETAG, IF_NONE_MATCH, LOCATION};
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use self::request::{Page, matching, object, projection};
pub(crate) use self::response_format::ResponseFormat;
use crate::answer::{Answer, nothing, with_header};
use crate::answer_bytes;
use crate::context::RequestContext;
use crate::endpoint::Shape::One;
use crate::endpoint::{self, Endpoint};
use crate::error::Failure;
use crate::params::Params;

/// The users of a page unless the provider says how many it takes.
const PAGE: i64 = 100;
const USERS: &str = "/scim/{uid}/Users";
const USER: &str = "/scim/{uid}/Users/{user}";

type Asking = std::pin::Pin<Box<dyn Future<Output = Answer> + Send>>;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut all = vec![
        on(Method::GET, "/scim/{uid}", "Whether the token is right", |ctx| Box::pin(check(ctx))).answers(
            200,
            "It is",
            Some(One("ScimMessage")),
        ),
    ];
    all.extend(finding());
    all.extend(changing());
    all.extend(described());
    all
}

fn on(
    method: Method,
    path: &'static str,
    summary: &'static str,
    handler: fn(RequestContext) -> Asking,
) -> Endpoint {
    Endpoint::new(method, path, summary, handler).for_provider()
}

fn finding() -> Vec<Endpoint> {
    let seen = |endpoint: Endpoint| {
        endpoint.takes("attributes", "string", "Only these attributes, comma-separated").takes(
            "excludedAttributes",
            "string",
            "All but these attributes, comma-separated",
        )
    };
    let finds = |endpoint: Endpoint| {
        seen(endpoint)
            .takes("filter", "string", "userName, emails or externalId eq \"value\", joined by and")
            .takes("startIndex", "integer", "The first to be listed, from 1")
            .takes("count", "integer", "How many at most, up to 1000")
            .answers(200, "The users, as Resources", Some(One("ScimUsers")))
    };
    let searches = |path, summary| finds(on(Method::POST, path, summary, |ctx| Box::pin(search(ctx))));
    vec![
        finds(on(Method::GET, USERS, "The users that the provider knows", |ctx| Box::pin(users(ctx)))),
        searches("/scim/{uid}/.search", "Search"),
        searches("/scim/{uid}/Users/.search", "Search for users"),
        seen(on(Method::GET, USER, "A user", |ctx| Box::pin(user(ctx))))
            .answers(200, "The user", Some(One("ScimUser")))
            .tells(&[endpoint::ETAG])
            .header("If-None-Match", "ETags that you have; 304 when the answer is one of them")
            .answers(304, "The version that If-None-Match names", None)
            .tells(&[endpoint::ETAG]),
    ]
}

fn changing() -> Vec<Endpoint> {
    let changes = |endpoint: Endpoint| {
        endpoint
            .header("If-Match", "ETags of the version that you change; 412 when it is none of them")
            .can_conflict()
            .answers(412, "Not a version that If-Match names", Some(One("ErrorBody")))
    };
    let sets = |endpoint: Endpoint| {
        endpoint
            .takes("name", "object", "givenName and familyName, which together are the full name")
            .takes("emails", "objects", "Objects with a value; only the first counts")
            .takes("nickName", "string", "The nick; made from the name unless given")
            .takes("externalId", "string", "What you call the user for yourself")
            .takes("active", "boolean", "Whether the user is let in; false ends all that lets them in")
            .answers(400, "What is wrong", Some(One("ErrorBody")))
            .answers(409, "Somebody else has the userName, the address or the nick", Some(One("ErrorBody")))
    };
    let create = on(Method::POST, USERS, "Make a user", |ctx| Box::pin(create(ctx)));
    let replace =
        on(Method::PUT, USER, "Change a user; what is left out stays", |ctx| Box::pin(replace(ctx)));
    let patch = on(Method::PATCH, USER, "Change parts of a user (RFC 7644, section 3.5.2)", |ctx| {
        Box::pin(patch(ctx))
    });
    let remove = on(Method::DELETE, USER, "Take a user out of the organization", |ctx| Box::pin(remove(ctx)));
    vec![
        sets(create)
            .needs("userName", "string", "The subject name id")
            .answers(201, "The user", Some(One("ScimUser")))
            .tells(&[endpoint::ETAG, endpoint::LOCATION]),
        sets(changes(replace))
            .takes("userName", "string", "The subject name id")
            .answers(200, "The user", Some(One("ScimUser")))
            .tells(&[endpoint::ETAG]),
        changes(patch)
            .needs("Operations", "objects", "What to add, replace or remove")
            .answers(200, "The user", Some(One("ScimUser")))
            .tells(&[endpoint::ETAG]),
        changes(remove).answers(204, "The user is out", None),
    ]
}

/// What the server says about itself (RFC 7644, section 4).
fn described() -> Vec<Endpoint> {
    let about = |path, summary, schema, handler: fn(RequestContext) -> Asking| {
        on(Method::GET, path, summary, handler).answers(200, "The description", Some(One(schema)))
    };
    vec![
        about(
            "/scim/{uid}/ServiceProviderConfig",
            "What of SCIM there is",
            "ScimServiceProviderConfig",
            |ctx| {
                Box::pin(async move {
                    Ok(face(&ctx).answer(StatusCode::OK, &schema::service_provider_config(&base(&ctx))))
                })
            },
        ),
        about("/scim/{uid}/Schemas", "The schemas", "ScimSchemas", |ctx| {
            Box::pin(several(ctx, schema::schemas))
        }),
        about("/scim/{uid}/Schemas/{id}", "A schema", "ScimSchema", |ctx| {
            Box::pin(one(ctx, schema::schemas))
        }),
        about("/scim/{uid}/ResourceTypes", "What resources there are", "ScimResourceTypes", |ctx| {
            Box::pin(several(ctx, schema::resource_types))
        }),
        about("/scim/{uid}/ResourceTypes/{id}", "A kind of resource", "ScimResourceType", |ctx| {
            Box::pin(one(ctx, schema::resource_types))
        }),
    ]
}

fn face(ctx: &RequestContext) -> ResponseFormat {
    ResponseFormat::of(&ctx.headers)
}

/// The address under which the provider finds everything.
fn base(ctx: &RequestContext) -> String {
    format!("{}/scim/{}", ctx.app().config().addresses.base, ctx.segment("uid"))
}

async fn several(ctx: RequestContext, of: fn(&str) -> Vec<Value>) -> Answer {
    let all = of(&base(&ctx));
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    Ok(face(&ctx).answer(StatusCode::OK, &list(all, total, 1)))
}

async fn one(ctx: RequestContext, of: fn(&str) -> Vec<Value>) -> Answer {
    let id = ctx.segment("id");
    let found = of(&base(&ctx)).into_iter().find(|one| one["id"].as_str() == Some(id));
    match found {
        Some(found) => Ok(face(&ctx).answer(StatusCode::OK, &found)),
        None => Err(eddyline_app::Error::NotFound.into()),
    }
}

async fn check(ctx: RequestContext) -> Answer {
    let message = "You are authorized to provision users here";
    Ok(face(&ctx).answer(StatusCode::OK, &json!({"message": message})))
}

async fn users(ctx: RequestContext) -> Answer {
    find(&ctx, &ctx.params).await
}

async fn search(ctx: RequestContext) -> Answer {
    answer_bytes::reads_only();
    find(&ctx, &request::search(&ctx)?).await
}

async fn find(ctx: &RequestContext, asked: &Params) -> Answer {
    let (face, page) = (face(ctx), Page::read(asked)?);
    let projection = projection(asked)?;
    let limit = match face {
        ResponseFormat::Scim => Some(page.count.unwrap_or(PAGE).min(schema::MAX_RESULTS)),
        ResponseFormat::Plain => page.count,
    };
    let wanted = UsersWanted {
        filter: page.filter,
        skip: page.start - 1,
        limit,
        external_is_subject: face == ResponseFormat::Plain,
    };
    let (found, total) = ctx.app().scim_users(ctx.provider()?, wanted).await?;
    let resources: Vec<Value> =
        found.iter().map(|user| Value::Object(projection.apply(shape(face, user)))).collect();
    Ok(match face {
        ResponseFormat::Scim => face.answer(StatusCode::OK, &list(resources, total, page.start)),
        ResponseFormat::Plain => face.answer(StatusCode::OK, &json!({"Resources": resources})),
    })
}

async fn user(ctx: RequestContext) -> Answer {
    let projection = projection(&ctx.params)?;
    let found = ctx.app().scim_user(ctx.provider()?, id(&ctx)?).await?;
    let known = ctx.headers.contains_key(IF_NONE_MATCH);
    if known && matching(&ctx.headers, &IF_NONE_MATCH)(found.version) {
        let mut response = nothing();
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(with_header(response, ETAG, &etag(found.version)));
    }
    Ok(show(&ctx, StatusCode::OK, &found, &projection))
}

async fn create(ctx: RequestContext) -> Answer {
    let projection = projection(&ctx.params)?;
    let wanted = read(&ctx)?;
    let made = ctx.app().scim_create(ctx.provider()?, wanted).await?;
    Ok(with_header(show(&ctx, StatusCode::CREATED, &made, &projection), LOCATION, &made.location))
}

async fn replace(ctx: RequestContext) -> Answer {
    let projection = projection(&ctx.params)?;
    let wanted = read(&ctx)?;
    let matches = matching(&ctx.headers, &http::header::IF_MATCH);
    let changed = ctx.app().scim_replace(ctx.provider()?, id(&ctx)?, wanted, matches).await?;
    Ok(show(&ctx, StatusCode::OK, &changed, &projection))
}

async fn patch(ctx: RequestContext) -> Answer {
    let projection = projection(&ctx.params)?;
    let patch = Patch::read(&object(&ctx)?).map_err(failed)?;
    let matches = matching(&ctx.headers, &http::header::IF_MATCH);
    let changed = ctx.app().scim_patch(ctx.provider()?, id(&ctx)?, patch, matches).await?;
    Ok(show(&ctx, StatusCode::OK, &changed, &projection))
}

async fn remove(ctx: RequestContext) -> Answer {
    let matches = matching(&ctx.headers, &http::header::IF_MATCH);
    ctx.app().scim_remove(ctx.provider()?, id(&ctx)?, matches).await?;
    Ok(nothing())
}

/// What a whole resource says. In the plain shape the `externalId` is the `userName` once more, which a provider that
/// sends back what they read does not mean to set.
fn read(ctx: &RequestContext) -> Result<Wanted, Failure> {
    let mut wanted = Wanted::read(&object(ctx)?).map_err(failed)?;
    if face(ctx) == ResponseFormat::Plain && wanted.external_id == wanted.user_name {
        wanted.external_id = None;
    }
    Ok(wanted)
}

fn id(ctx: &RequestContext) -> Result<UserId, Failure> {
    ctx.id("user")
}

fn failed(error: ScimError) -> Failure {
    Failure::App(error.into())
}

fn shape(face: ResponseFormat, user: &Shown) -> Map<String, Value> {
    match face {
        ResponseFormat::Plain => plain(user),
        ResponseFormat::Scim => resource(user),
    }
}

fn show(ctx: &RequestContext, status: StatusCode, user: &Shown, projection: &Projection) -> Response {
    let face = face(ctx);
    let shown = projection.apply(shape(face, user));
    let response = face.answer(status, &Value::Object(shown));
    with_header(response, ETAG, &etag(user.version))
}
