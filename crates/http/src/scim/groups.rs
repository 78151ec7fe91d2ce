//! What identity providers ask about groups (RFC 7643, section 4.2). They have one shape, in plain
//! JSON too.

use axum::response::Response;
use eddyline_app::{Error, GroupsWanted};
use eddyline_model::GroupId;
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::One;
use eddyline_openapi::response_headers;
use eddyline_scim::groups::show::group_resource;
use eddyline_scim::show::{etag, list};
use eddyline_scim::{GroupFilter, GroupPatch, GroupResource, Projection, RequestedGroup};
use http::header::{ETAG, IF_MATCH, LOCATION};
use http::{Method, StatusCode};
use serde_json::Value;

use super::request::{Attributes, Search, matching, object, search};
use super::{ProviderContext, changes, format, is_known, not_modified, projection, reads_one};
use crate::answer::{Answer, nothing};
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;
use crate::response::with_header;
use crate::response_budget;

const GROUPS: &str = "/scim/{uid}/Groups";
const GROUP: &str = "/scim/{uid}/Groups/{group}";

pub(super) fn endpoints() -> Vec<Endpoint> {
    let finds = |endpoint: Endpoint| {
        endpoint.answers(200, "The groups, as Resources", Some(One("ScimGroups")))
    };
    let sets = |endpoint: Endpoint| {
        endpoint
            .optional_parameter(
                "externalId",
                "string",
                "What you call the group for yourself",
            )
            .optional_parameter(
                "members",
                "objects",
                "Objects with the id of a user as value",
            )
            .answers(400, "What is wrong", Some(One("ErrorBody")))
            .answers(
                409,
                "A user or another group of the organization has the name",
                Some(One("ErrorBody")),
            )
    };
    let name = "The name, from which the one is made that messages mention";
    let mut all = vec![
        finds(Endpoint::new(
            Method::GET,
            GROUPS,
            "listProvidedGroups",
            "The groups of the organization",
            groups,
        )),
        finds(Endpoint::new(
            Method::POST,
            "/scim/{uid}/Groups/.search",
            "searchProvidedGroups",
            "Search for groups",
            search_groups,
        )),
        reads_one(
            Endpoint::new(Method::GET, GROUP, "getProvidedGroup", "A group", group).answers(
                200,
                "The group",
                Some(One("ScimGroup")),
            ),
        ),
    ];
    let (create, replace, patch, remove) = (
        Endpoint::new(
            Method::POST,
            GROUPS,
            "createProvidedGroup",
            "Create a group",
            create,
        ),
        Endpoint::new(
            Method::PUT,
            GROUP,
            "replaceProvidedGroup",
            "Change a group; what is left out stays",
            replace,
        ),
        Endpoint::new(
            Method::PATCH,
            GROUP,
            "patchProvidedGroup",
            "Change parts of a group (RFC 7644, section 3.5.2)",
            patch,
        ),
        Endpoint::new(
            Method::DELETE,
            GROUP,
            "deleteProvidedGroup",
            "Remove a group",
            remove,
        ),
    );
    all.extend([
        sets(create)
            .required_parameter("displayName", "string", name)
            .answers(201, "The group", Some(One("ScimGroup")))
            .response_headers(&[response_headers::ETAG, response_headers::LOCATION]),
        sets(changes(replace))
            .optional_parameter("displayName", "string", name)
            .answers(200, "The group", Some(One("ScimGroup")))
            .response_headers(&[response_headers::ETAG]),
        changes(patch)
            .required_parameter("Operations", "objects", "What to add, replace or remove")
            .answers(200, "The group", Some(One("ScimGroup")))
            .response_headers(&[response_headers::ETAG]),
        changes(remove).answers(204, "The group is gone", None),
    ]);
    all
}

async fn groups(ctx: ProviderContext, request: UnparsedParams<(Attributes, Search)>) -> Answer {
    find(&ctx, request.read()?).await
}

async fn search_groups(
    ctx: ProviderContext,
    request: UnparsedParams<(Attributes, Search)>,
) -> Answer {
    response_budget::reads_only();
    find(&ctx, request.replaced(search(&ctx)?).read()?).await
}

async fn find(ctx: &ProviderContext, (attributes, search): (Attributes, Search)) -> Answer {
    let (filter, start, projection) = (search.filter()?, search.start(), attributes.projection()?);
    let part = (start - 1, search.limit());
    let (resources, total) = list_groups(ctx, filter, part, &projection).await?;
    Ok(format(ctx).answer(StatusCode::OK, &list(resources, total, start)))
}

/// A part of the groups that match, as they are shown, and how many there are in all.
pub(super) async fn list_groups(
    ctx: &ProviderContext,
    filter: Option<GroupFilter>,
    (skip, limit): (i64, i64),
    projection: &Projection,
) -> Result<(Vec<Value>, i64), Error> {
    let wanted = GroupsWanted {
        filter,
        skip,
        limit,
    };
    let (found, total) = ctx.app().scim().groups(ctx.provider(), wanted).await?;
    let shown = found.iter().map(group_resource);
    let shown = shown.map(|group| Value::Object(projection.apply(group)));
    Ok((shown.collect(), total))
}

async fn group(ctx: ProviderContext, request: UnparsedParams<Attributes>) -> Answer {
    let projection = request.read()?.projection()?;
    let found = ctx.app().scim().group(ctx.provider(), id(&ctx)?).await?;
    match is_known(&ctx, found.version) {
        true => Ok(not_modified(found.version)),
        false => Ok(show(&ctx, StatusCode::OK, &found, &projection)),
    }
}

async fn create(ctx: ProviderContext, request: UnparsedParams<()>) -> Answer {
    let projection = projection(request)?;
    let wanted = RequestedGroup::read(&object(&ctx)?)?;
    let made = ctx
        .app()
        .scim()
        .create_group(ctx.provider(), wanted)
        .await?;
    Ok(with_header(
        show(&ctx, StatusCode::CREATED, &made, &projection),
        LOCATION,
        &made.location(),
    ))
}

async fn replace(ctx: ProviderContext, request: UnparsedParams<()>) -> Answer {
    let projection = projection(request)?;
    let wanted = RequestedGroup::read(&object(&ctx)?)?;
    let matches = matching(&ctx.headers, &IF_MATCH);
    let changed = ctx
        .app()
        .scim()
        .replace_group(ctx.provider(), id(&ctx)?, wanted, matches)
        .await?;
    Ok(show(&ctx, StatusCode::OK, &changed, &projection))
}

async fn patch(ctx: ProviderContext, request: UnparsedParams<()>) -> Answer {
    let projection = projection(request)?;
    let patch = GroupPatch::read(&object(&ctx)?)?;
    let matches = matching(&ctx.headers, &IF_MATCH);
    let changed = ctx
        .app()
        .scim()
        .patch_group(ctx.provider(), id(&ctx)?, patch, matches)
        .await?;
    Ok(show(&ctx, StatusCode::OK, &changed, &projection))
}

async fn remove(ctx: ProviderContext) -> Answer {
    let matches = matching(&ctx.headers, &IF_MATCH);
    ctx.app()
        .scim()
        .remove_group(ctx.provider(), id(&ctx)?, matches)
        .await?;
    Ok(nothing())
}

fn id(ctx: &ProviderContext) -> Result<GroupId, Error> {
    ctx.id("group")
}

fn show(
    ctx: &ProviderContext,
    status: StatusCode,
    group: &GroupResource,
    projection: &Projection,
) -> Response {
    let shown = projection.apply(group_resource(group));
    let response = format(ctx).answer(status, &Value::Object(shown));
    with_header(response, ETAG, &etag(group.version))
}
