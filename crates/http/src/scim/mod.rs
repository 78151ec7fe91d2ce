//! What identity providers ask: SCIM (specification, section 4; RFC 7644).
//!
//! There are two response formats for the same users. A provider that says `application/scim+json`
//! gets the shapes of RFC 7643, and everybody else exactly those of the specification. Groups
//! ([`groups`]) have the former alone.

mod groups;
mod request;
mod response_format;

use axum::response::Response;
use eddyline_app::{Error, ScimProvider, UsersWanted};
use eddyline_model::UserId;
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::One;
use eddyline_openapi::response_headers;
use eddyline_scim::show::{etag, list, plain, resource};
use eddyline_scim::{Filter, GroupFilter, Patch, Projection, RequestedUser, UserResource, schema};
use http::header::{ETAG, IF_NONE_MATCH, LOCATION};
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use self::request::{Attributes, Search, matching, object};
pub(crate) use self::response_format::ResponseFormat;
use crate::answer::{Answer, nothing};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;
use crate::response::with_header;
use crate::response_budget;

/// A request of an identity provider.
type ProviderContext = RequestContext<ScimProvider>;

const USERS: &str = "/scim/{uid}/Users";
const USER: &str = "/scim/{uid}/Users/{user}";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut all = vec![
        Endpoint::new(
            Method::GET,
            "/scim/{uid}",
            "checkProviderToken",
            "Whether the token is right",
            check,
        )
        .answers(200, "It is", Some(One("ScimMessage"))),
    ];
    all.extend(finding());
    all.extend(changing());
    all.extend(groups::endpoints());
    all.extend(described());
    all
}

fn finding() -> Vec<Endpoint> {
    let finds = |endpoint: Endpoint| {
        endpoint.answers(200, "The users, as Resources", Some(One("ScimUsers")))
    };
    vec![
        finds(Endpoint::new(
            Method::GET,
            USERS,
            "listProvidedUsers",
            "The users that the provider knows",
            users,
        )),
        Endpoint::new(
            Method::POST,
            "/scim/{uid}/.search",
            "searchProvisioning",
            "Search for users, and behind them groups; in plain JSON for users alone",
            search_all,
        )
        .answers(
            200,
            "What was found, as Resources",
            Some(One("ScimResources")),
        ),
        finds(Endpoint::new(
            Method::POST,
            "/scim/{uid}/Users/.search",
            "searchProvidedUsers",
            "Search for users",
            search,
        )),
        reads_one(
            Endpoint::new(Method::GET, USER, "getProvidedUser", "A user", user).answers(
                200,
                "The user",
                Some(One("ScimUser")),
            ),
        ),
    ]
}

/// An endpoint that shows one resource, which the provider may know already.
fn reads_one(endpoint: Endpoint) -> Endpoint {
    endpoint
        .response_headers(&[response_headers::ETAG])
        .header(
            "If-None-Match",
            "ETags that you have; 304 when the answer is one of them",
        )
        .answers(304, "The version that If-None-Match names", None)
        .response_headers(&[response_headers::ETAG])
}

/// An endpoint that changes a resource, of which the provider may know another version.
fn changes(endpoint: Endpoint) -> Endpoint {
    endpoint
        .header(
            "If-Match",
            "ETags of the version that you change; 412 when it is none of them",
        )
        .may_conflict()
        .answers(
            412,
            "Not a version that If-Match names",
            Some(One("ErrorBody")),
        )
}

fn changing() -> Vec<Endpoint> {
    let sets = |endpoint: Endpoint| {
        endpoint
            .optional_parameter(
                "name",
                "object",
                "givenName and familyName, which together are the full name",
            )
            .optional_parameter(
                "emails",
                "objects",
                "Objects with a value; only the first counts",
            )
            .optional_parameter(
                "nickName",
                "string",
                "The nick; made from the name unless given",
            )
            .optional_parameter(
                "externalId",
                "string",
                "What you call the user for yourself",
            )
            .optional_parameter(
                "active",
                "boolean",
                "Whether the user is let in; false ends all that lets them in",
            )
            .answers(400, "What is wrong", Some(One("ErrorBody")))
            .answers(
                409,
                "Somebody else has the userName, the address or the nick",
                Some(One("ErrorBody")),
            )
    };
    let create = Endpoint::new(
        Method::POST,
        USERS,
        "createProvidedUser",
        "Create a user",
        create,
    );
    let replace = Endpoint::new(
        Method::PUT,
        USER,
        "replaceProvidedUser",
        "Change a user; what is left out stays",
        replace,
    );
    let patch = Endpoint::new(
        Method::PATCH,
        USER,
        "patchProvidedUser",
        "Change parts of a user (RFC 7644, section 3.5.2)",
        patch,
    );
    let remove = Endpoint::new(
        Method::DELETE,
        USER,
        "deleteProvidedUser",
        "Remove a user from the organization",
        remove,
    );
    vec![
        sets(create)
            .required_parameter("userName", "string", "The subject name id")
            .answers(201, "The user", Some(One("ScimUser")))
            .response_headers(&[response_headers::ETAG, response_headers::LOCATION]),
        sets(changes(replace))
            .optional_parameter("userName", "string", "The subject name id")
            .answers(200, "The user", Some(One("ScimUser")))
            .response_headers(&[response_headers::ETAG]),
        changes(patch)
            .required_parameter("Operations", "objects", "What to add, replace or remove")
            .answers(200, "The user", Some(One("ScimUser")))
            .response_headers(&[response_headers::ETAG]),
        changes(remove).answers(204, "The user is out", None),
    ]
}

/// What the server says about itself (RFC 7644, section 4).
fn described() -> Vec<Endpoint> {
    let about =
        |endpoint: Endpoint, schema| endpoint.answers(200, "The description", Some(One(schema)));
    let config = "/scim/{uid}/ServiceProviderConfig";
    let (schemas, one_schema) = ("/scim/{uid}/Schemas", "/scim/{uid}/Schemas/{id}");
    let (types, one_type) = (
        "/scim/{uid}/ResourceTypes",
        "/scim/{uid}/ResourceTypes/{id}",
    );
    vec![
        about(
            Endpoint::new(
                Method::GET,
                config,
                "getServiceProviderConfig",
                "What of SCIM there is",
                provider_config,
            ),
            "ScimServiceProviderConfig",
        ),
        about(
            Endpoint::new(
                Method::GET,
                schemas,
                "listSchemas",
                "The schemas",
                |ctx: ProviderContext| several(ctx, schema::schemas),
            ),
            "ScimSchemas",
        ),
        about(
            Endpoint::new(
                Method::GET,
                one_schema,
                "getSchema",
                "A schema",
                |ctx: ProviderContext| one(ctx, schema::schemas),
            ),
            "ScimSchema",
        ),
        about(
            Endpoint::new(
                Method::GET,
                types,
                "listResourceTypes",
                "What resources there are",
                |ctx: ProviderContext| several(ctx, schema::resource_types),
            ),
            "ScimResourceTypes",
        ),
        about(
            Endpoint::new(
                Method::GET,
                one_type,
                "getResourceType",
                "A kind of resource",
                |ctx: ProviderContext| one(ctx, schema::resource_types),
            ),
            "ScimResourceType",
        ),
    ]
}

fn format(ctx: &ProviderContext) -> ResponseFormat {
    ResponseFormat::of(&ctx.headers)
}

/// The address under which the provider finds everything.
fn base(ctx: &ProviderContext) -> String {
    format!(
        "{}/scim/{}",
        ctx.app().config().addresses.base,
        ctx.segment("uid")
    )
}

async fn provider_config(ctx: ProviderContext) -> Answer {
    Ok(format(&ctx).answer(
        StatusCode::OK,
        &schema::service_provider_config(&base(&ctx)),
    ))
}

#[expect(clippy::unused_async, reason = "endpoints take futures")]
async fn several(ctx: ProviderContext, of: fn(&str) -> Vec<Value>) -> Answer {
    let all = of(&base(&ctx));
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    Ok(format(&ctx).answer(StatusCode::OK, &list(all, total, 1)))
}

#[expect(clippy::unused_async, reason = "endpoints take futures")]
async fn one(ctx: ProviderContext, of: fn(&str) -> Vec<Value>) -> Answer {
    let id = ctx.segment("id");
    let found = of(&base(&ctx))
        .into_iter()
        .find(|one| one["id"].as_str() == Some(id));
    match found {
        Some(found) => Ok(format(&ctx).answer(StatusCode::OK, &found)),
        None => Err(eddyline_app::Error::not_found()),
    }
}

async fn check(ctx: ProviderContext) -> Answer {
    let message = "You are authorized to provision users here";
    Ok(format(&ctx).answer(StatusCode::OK, &json!({"message": message})))
}

async fn users(ctx: ProviderContext, request: UnparsedParams<(Attributes, Search)>) -> Answer {
    find(&ctx, request.read()?).await
}

async fn search(ctx: ProviderContext, request: UnparsedParams<(Attributes, Search)>) -> Answer {
    response_budget::reads_only();
    // The body has other media types than those of parameters, so it comes as it is.
    find(&ctx, request.replaced(request::search(&ctx)?).read()?).await
}

/// The users who match, and behind them the groups. An attribute that only one kind has finds none
/// of the other.
async fn search_all(ctx: ProviderContext, request: UnparsedParams<(Attributes, Search)>) -> Answer {
    response_budget::reads_only();
    let (attributes, search) = request.replaced(request::search(&ctx)?).read()?;
    if format(&ctx) == ResponseFormat::Plain {
        return find(&ctx, (attributes, search)).await;
    }
    let projection = attributes.projection()?;
    let (start, limit) = (search.start(), search.limit());
    let (of_users, of_groups) = match (search.filter::<Filter>(), search.filter::<GroupFilter>()) {
        (Err(error), Err(_)) => return Err(error),
        (of_users, of_groups) => (of_users.ok(), of_groups.ok()),
    };
    let (mut found, mut total) = (Vec::new(), 0);
    if let Some(filter) = of_users {
        let part = (start - 1, Some(limit));
        (found, total) = list_users(&ctx, filter, part, &projection).await?;
    }
    if let Some(filter) = of_groups {
        let there = i64::try_from(found.len()).unwrap_or(limit);
        let part = ((start - 1 - total).max(0), limit - there);
        let (groups, count) = groups::list_groups(&ctx, filter, part, &projection).await?;
        found.extend(groups);
        total += count;
    }
    Ok(format(&ctx).answer(StatusCode::OK, &list(found, total, start)))
}

async fn find(ctx: &ProviderContext, (attributes, search): (Attributes, Search)) -> Answer {
    let format = format(ctx);
    let (filter, start, projection) = (search.filter()?, search.start(), attributes.projection()?);
    let limit = match format {
        ResponseFormat::Scim => Some(search.limit()),
        ResponseFormat::Plain => search.count.map(|count| count.max(0)),
    };
    let (resources, total) = list_users(ctx, filter, (start - 1, limit), &projection).await?;
    Ok(match format {
        ResponseFormat::Scim => format.answer(StatusCode::OK, &list(resources, total, start)),
        ResponseFormat::Plain => format.answer(StatusCode::OK, &json!({"Resources": resources})),
    })
}

/// A part of the users who match, as they are shown, and how many there are in all.
async fn list_users(
    ctx: &ProviderContext,
    filter: Option<Filter>,
    (skip, limit): (i64, Option<i64>),
    projection: &Projection,
) -> Result<(Vec<Value>, i64), Error> {
    let format = format(ctx);
    let wanted = UsersWanted {
        filter,
        skip,
        limit,
        external_is_subject: format == ResponseFormat::Plain,
        with_groups: format == ResponseFormat::Scim,
    };
    let (found, total) = ctx.app().scim().users(ctx.provider(), wanted).await?;
    let shown = found
        .iter()
        .map(|user| Value::Object(projection.apply(shape(format, user))));
    Ok((shown.collect(), total))
}

async fn user(ctx: ProviderContext, request: UnparsedParams<Attributes>) -> Answer {
    let projection = request.read()?.projection()?;
    let found = ctx.app().scim().user(ctx.provider(), id(&ctx)?).await?;
    match is_known(&ctx, found.version) {
        true => Ok(not_modified(found.version)),
        false => Ok(show(&ctx, StatusCode::OK, &found, &projection)),
    }
}

/// Whether the provider has this version already.
fn is_known(ctx: &ProviderContext, version: i64) -> bool {
    ctx.headers.contains_key(IF_NONE_MATCH) && matching(&ctx.headers, &IF_NONE_MATCH)(version)
}

fn not_modified(version: i64) -> Response {
    let mut response = nothing();
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    with_header(response, ETAG, &etag(version))
}

async fn create(ctx: ProviderContext, request: UnparsedParams<()>) -> Answer {
    let projection = projection(request)?;
    let wanted = read(&ctx)?;
    let made = ctx.app().scim().create(ctx.provider(), wanted).await?;
    Ok(with_header(
        show(&ctx, StatusCode::CREATED, &made, &projection),
        LOCATION,
        &made.location,
    ))
}

async fn replace(ctx: ProviderContext, request: UnparsedParams<()>) -> Answer {
    let projection = projection(request)?;
    let wanted = read(&ctx)?;
    let matches = matching(&ctx.headers, &http::header::IF_MATCH);
    let changed = ctx
        .app()
        .scim()
        .replace(ctx.provider(), id(&ctx)?, wanted, matches)
        .await?;
    Ok(show(&ctx, StatusCode::OK, &changed, &projection))
}

async fn patch(ctx: ProviderContext, request: UnparsedParams<()>) -> Answer {
    let projection = projection(request)?;
    let patch = Patch::read(&object(&ctx)?)?;
    let matches = matching(&ctx.headers, &http::header::IF_MATCH);
    let changed = ctx
        .app()
        .scim()
        .patch(ctx.provider(), id(&ctx)?, patch, matches)
        .await?;
    Ok(show(&ctx, StatusCode::OK, &changed, &projection))
}

async fn remove(ctx: ProviderContext) -> Answer {
    let matches = matching(&ctx.headers, &http::header::IF_MATCH);
    ctx.app()
        .scim()
        .remove(ctx.provider(), id(&ctx)?, matches)
        .await?;
    Ok(nothing())
}

/// What a whole resource says. In the plain shape the `externalId` is the `userName` once more,
/// which a provider that sends back what they read does not mean to set.
fn read(ctx: &ProviderContext) -> Result<RequestedUser, Error> {
    let mut wanted = RequestedUser::read(&object(ctx)?)?;
    if format(ctx) == ResponseFormat::Plain && wanted.external_id == wanted.user_name {
        wanted.external_id = None;
    }
    Ok(wanted)
}

/// The attributes to be shown of what a request changes, whose body says nothing of them.
fn projection(request: UnparsedParams<()>) -> Result<Projection, Error> {
    request.reparse_as::<Attributes>().read()?.projection()
}

fn id(ctx: &ProviderContext) -> Result<UserId, Error> {
    ctx.id("user")
}

fn shape(format: ResponseFormat, user: &UserResource) -> Map<String, Value> {
    match format {
        ResponseFormat::Plain => plain(user),
        ResponseFormat::Scim => resource(user),
    }
}

fn show(
    ctx: &ProviderContext,
    status: StatusCode,
    user: &UserResource,
    projection: &Projection,
) -> Response {
    let format = format(ctx);
    let shown = projection.apply(shape(format, user));
    let response = format.answer(status, &Value::Object(shown));
    with_header(response, ETAG, &etag(user.version))
}
