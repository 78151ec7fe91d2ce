//! What identity providers ask: SCIM (specification, section 4; RFC 7644).
//!
//! There are two faces over the same users. Whoever says `application/scim+json` gets the shapes of RFC
//! 7643, and everybody else exactly those of the specification.

mod face;
mod request;

use axum::response::Response;
use eddyline_app::{ScimError, UsersWanted};
use eddyline_model::UserId;
use eddyline_scim::show::{etag, list, plain, resource};
use eddyline_scim::{Patch, Projection, Shown, Wanted, schema};
use http::header::{ETAG, IF_NONE_MATCH, LOCATION};
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

pub(crate) use self::face::Face;
use self::request::{Page, matching, object, projection};
use crate::answer::{Answer, nothing, with_header};
use crate::answer_bytes;
use crate::call::Call;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::{Empty, One};
use crate::error::Failure;
use crate::params::Params;

/// The users of a page unless the provider says how many it takes.
const PAGE: i64 = 100;
const USERS: &str = "/scim/{uid}/Users";
const USER: &str = "/scim/{uid}/Users/{user}";

type Asking = std::pin::Pin<Box<dyn Future<Output = Answer> + Send>>;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut all =
        vec![
            on(Method::GET, "/scim/{uid}", "Whether the token is right", |call| Box::pin(check(call)))
                .answers(200, "It is", Some(Empty)),
        ];
    all.extend(finding());
    all.extend(changing());
    all.extend(described());
    all
}

fn on(method: Method, path: &'static str, summary: &'static str, handler: fn(Call) -> Asking) -> Endpoint {
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
            .answers(200, "The users, as Resources", Some(Empty))
    };
    let searches = |path, summary| finds(on(Method::POST, path, summary, |call| Box::pin(search(call))));
    vec![
        finds(on(Method::GET, USERS, "The users that the provider knows", |call| Box::pin(users(call)))),
        searches("/scim/{uid}/.search", "Search"),
        searches("/scim/{uid}/Users/.search", "Search for users"),
        seen(on(Method::GET, USER, "A user", |call| Box::pin(user(call))))
            .answers(200, "The user", Some(Empty))
            .answers(304, "The version that If-None-Match names", None),
    ]
}

fn changing() -> Vec<Endpoint> {
    let changes = |endpoint: Endpoint| {
        endpoint.answers(412, "Not a version that If-Match names", Some(One("ErrorBody")))
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
    let create = on(Method::POST, USERS, "Make a user", |call| Box::pin(create(call)));
    let replace =
        on(Method::PUT, USER, "Change a user; what is left out stays", |call| Box::pin(replace(call)));
    let patch = on(Method::PATCH, USER, "Change parts of a user (RFC 7644, section 3.5.2)", |call| {
        Box::pin(patch(call))
    });
    let remove =
        on(Method::DELETE, USER, "Take a user out of the organization", |call| Box::pin(remove(call)));
    vec![
        sets(create).needs("userName", "string", "The subject name id").answers(201, "The user", Some(Empty)),
        sets(changes(replace)).takes("userName", "string", "The subject name id").answers(
            200,
            "The user",
            Some(Empty),
        ),
        changes(patch).needs("Operations", "objects", "What to add, replace or remove").answers(
            200,
            "The user",
            Some(Empty),
        ),
        changes(remove).answers(204, "The user is out", None),
    ]
}

/// What the server says about itself (RFC 7644, section 4).
fn described() -> Vec<Endpoint> {
    let about = |path, summary, handler: fn(Call) -> Asking| {
        on(Method::GET, path, summary, handler).answers(200, "The description", Some(Empty))
    };
    vec![
        about("/scim/{uid}/ServiceProviderConfig", "What of SCIM there is", |call| {
            Box::pin(async move {
                Ok(face(&call).answer(StatusCode::OK, &schema::service_provider_config(&base(&call))))
            })
        }),
        about("/scim/{uid}/Schemas", "The schemas", |call| Box::pin(several(call, schema::schemas))),
        about("/scim/{uid}/Schemas/{id}", "A schema", |call| Box::pin(one(call, schema::schemas))),
        about("/scim/{uid}/ResourceTypes", "What resources there are", |call| {
            Box::pin(several(call, schema::resource_types))
        }),
        about("/scim/{uid}/ResourceTypes/{id}", "A kind of resource", |call| {
            Box::pin(one(call, schema::resource_types))
        }),
    ]
}

fn face(call: &Call) -> Face {
    Face::of(&call.headers)
}

/// The address under which the provider finds everything.
fn base(call: &Call) -> String {
    format!("{}/scim/{}", call.app().config().addresses.base, call.segment("uid"))
}

async fn several(call: Call, of: fn(&str) -> Vec<Value>) -> Answer {
    let all = of(&base(&call));
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    Ok(face(&call).answer(StatusCode::OK, &list(all, total, 1)))
}

async fn one(call: Call, of: fn(&str) -> Vec<Value>) -> Answer {
    let id = call.segment("id");
    let found = of(&base(&call)).into_iter().find(|one| one["id"].as_str() == Some(id));
    match found {
        Some(found) => Ok(face(&call).answer(StatusCode::OK, &found)),
        None => Err(eddyline_app::Error::NotFound.into()),
    }
}

async fn check(call: Call) -> Answer {
    let message = "You are authorized to provision users here";
    Ok(face(&call).answer(StatusCode::OK, &json!({"message": message})))
}

async fn users(call: Call) -> Answer {
    find(&call, &call.params).await
}

async fn search(call: Call) -> Answer {
    answer_bytes::reads_only();
    find(&call, &request::search(&call)?).await
}

async fn find(call: &Call, asked: &Params) -> Answer {
    let (face, page) = (face(call), Page::read(asked)?);
    let projection = projection(asked)?;
    let limit = match face {
        Face::Scim => Some(page.count.unwrap_or(PAGE).min(schema::MAX_RESULTS)),
        Face::Plain => page.count,
    };
    let wanted = UsersWanted {
        filter: page.filter,
        skip: page.start - 1,
        limit,
        external_is_subject: face == Face::Plain,
    };
    let (found, total) = call.app().scim_users(call.provider()?, wanted).await?;
    let resources: Vec<Value> =
        found.iter().map(|user| Value::Object(projection.apply(shape(face, user)))).collect();
    Ok(match face {
        Face::Scim => face.answer(StatusCode::OK, &list(resources, total, page.start)),
        Face::Plain => face.answer(StatusCode::OK, &json!({"Resources": resources})),
    })
}

async fn user(call: Call) -> Answer {
    let projection = projection(&call.params)?;
    let found = call.app().scim_user(call.provider()?, id(&call)?).await?;
    let known = call.headers.contains_key(IF_NONE_MATCH);
    if known && matching(&call.headers, &IF_NONE_MATCH)(found.version) {
        let mut response = nothing();
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(with_header(response, ETAG, &etag(found.version)));
    }
    Ok(show(&call, StatusCode::OK, &found, &projection))
}

async fn create(call: Call) -> Answer {
    let projection = projection(&call.params)?;
    let wanted = read(&call)?;
    let made = call.app().scim_create(call.provider()?, wanted).await?;
    Ok(with_header(show(&call, StatusCode::CREATED, &made, &projection), LOCATION, &made.location))
}

async fn replace(call: Call) -> Answer {
    let projection = projection(&call.params)?;
    let wanted = read(&call)?;
    let matches = matching(&call.headers, &http::header::IF_MATCH);
    let changed = call.app().scim_replace(call.provider()?, id(&call)?, wanted, matches).await?;
    Ok(show(&call, StatusCode::OK, &changed, &projection))
}

async fn patch(call: Call) -> Answer {
    let projection = projection(&call.params)?;
    let patch = Patch::read(&object(&call)?).map_err(failed)?;
    let matches = matching(&call.headers, &http::header::IF_MATCH);
    let changed = call.app().scim_patch(call.provider()?, id(&call)?, patch, matches).await?;
    Ok(show(&call, StatusCode::OK, &changed, &projection))
}

async fn remove(call: Call) -> Answer {
    let matches = matching(&call.headers, &http::header::IF_MATCH);
    call.app().scim_remove(call.provider()?, id(&call)?, matches).await?;
    Ok(nothing())
}

/// What a whole resource says. In the plain shape the `externalId` is the `userName` once more, which whoever
/// sends back what they read does not mean to set.
fn read(call: &Call) -> Result<Wanted, Failure> {
    let mut wanted = Wanted::read(&object(call)?).map_err(failed)?;
    if face(call) == Face::Plain && wanted.external_id == wanted.user_name {
        wanted.external_id = None;
    }
    Ok(wanted)
}

fn id(call: &Call) -> Result<UserId, Failure> {
    call.id("user")
}

fn failed(error: ScimError) -> Failure {
    Failure::App(error.into())
}

fn shape(face: Face, user: &Shown) -> Map<String, Value> {
    match face {
        Face::Plain => plain(user),
        Face::Scim => resource(user),
    }
}

fn show(call: &Call, status: StatusCode, user: &Shown, projection: &Projection) -> Response {
    let face = face(call);
    let shown = projection.apply(shape(face, user));
    let response = face.answer(status, &Value::Object(shown));
    with_header(response, ETAG, &etag(user.version))
}
