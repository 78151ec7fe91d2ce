//! Invitations (specification, section 4, Invitations).

use eddyline_model::InvitationId;
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope::Manage;
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Many, One};
use eddyline_openapi::response_headers::NEXT;
use eddyline_wire::requests::{
    AcceptInvitation, CreateInvitation, ImportInvitations, ListInvitations,
};
use http::header::LINK;
use http::{Method, StatusCode};

use crate::answer::{Answer, json, nothing};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;
use crate::response::with_header;

const ALL: &str = "/flows/{organization}/{flow}/invitations";
const ONE: &str = "/flows/{organization}/{flow}/invitations/{invitation}";
const TOO_MUCH_MAIL: &str = "Too much mail was sent to the address, by you, or by the organization";
const IMPORT: &str = "/flows/{organization}/{flow}/invitations/import";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let all = vec![
        Endpoint::new(
            Method::GET,
            ALL,
            "listInvitations",
            "The invitations that are pending",
            list,
        )
        .answers(
            200,
            "The invitations, oldest first",
            Some(Many("Invitation")),
        )
        .response_headers(&[NEXT]),
        Endpoint::new(
            Method::POST,
            ALL,
            "createInvitation",
            "Invite somebody, or send the invitation again",
            create,
        )
        .may_conflict()
        .answers(201, "The invitation", Some(One("Invitation")))
        .answers(429, TOO_MUCH_MAIL, Some(One("ErrorBody"))),
        Endpoint::new(
            Method::POST,
            IMPORT,
            "importInvitations",
            "Invite many at once",
            import,
        )
        .answers(
            200,
            "What became of each address",
            Some(One("ImportedInvitations")),
        )
        .answers(429, TOO_MUCH_MAIL, Some(One("ErrorBody"))),
        Endpoint::new(Method::GET, ONE, "getInvitation", "An invitation", get).answers(
            200,
            "The invitation, which may be accepted already",
            Some(One("Invitation")),
        ),
        Endpoint::new(
            Method::PUT,
            ONE,
            "acceptInvitation",
            "Accept an invitation to your address",
            accept,
        )
        .may_conflict()
        .answers(
            200,
            "The invitation; you are in the flow",
            Some(One("Invitation")),
        ),
        Endpoint::new(
            Method::DELETE,
            ONE,
            "deleteInvitation",
            "Cancel or decline a pending invitation",
            delete,
        )
        .may_conflict()
        .answers(204, "It is gone", None),
    ];
    all.into_iter()
        .map(|endpoint| endpoint.scopes(&[Manage]))
        .collect()
}

async fn list(ctx: RequestContext, request: UnparsedParams<ListInvitations>) -> Answer {
    let room = ctx.flow(FlowAction::Invite).await?;
    let ListInvitations { after, limit } = request.read()?;
    let found = ctx
        .app()
        .invitations()
        .list(&room, after.unwrap_or(InvitationId(0)), limit)
        .await?;
    let answer = json(StatusCode::OK, &found)?;
    match found.last() {
        Some(last) if found.len() as i64 == limit => {
            let all = ctx
                .app()
                .config()
                .addresses
                .invitations(&room.organization, &room.flow);
            let next = format!("<{all}?after={}&limit={limit}>; rel=\"next\"", last.id);
            Ok(with_header(answer, LINK, &next))
        }
        _ => Ok(answer),
    }
}

async fn get(ctx: RequestContext) -> Answer {
    let (organization, flow) = (ctx.segment("organization"), ctx.segment("flow"));
    let invitation = ctx
        .app()
        .invitations()
        .get(ctx.actor(), organization, flow, id(&ctx))
        .await?;
    json(StatusCode::OK, &invitation)
}

async fn create(ctx: RequestContext, request: UnparsedParams<CreateInvitation>) -> Answer {
    let room = ctx.flow(FlowAction::Invite).await?;
    let CreateInvitation { email, message } = request.read()?;
    let invitation = ctx
        .app()
        .invitations()
        .create(ctx.actor(), &room, email, words(message))
        .await?;
    json(StatusCode::CREATED, &invitation)
}

async fn import(ctx: RequestContext, request: UnparsedParams<ImportInvitations>) -> Answer {
    let room = ctx.flow(FlowAction::Invite).await?;
    let ImportInvitations { list, message } = request.read()?;
    let invited = ctx
        .app()
        .invitations()
        .import(ctx.actor(), &room, &list, words(message))
        .await?;
    json(StatusCode::OK, &invited.addresses)
}

async fn accept(ctx: RequestContext, request: UnparsedParams<AcceptInvitation>) -> Answer {
    let (organization, flow, id) = (ctx.segment("organization"), ctx.segment("flow"), id(&ctx));
    // Who may not know of the invitation hears nothing about parameters.
    ctx.app()
        .invitations()
        .get(ctx.actor(), organization, flow, id)
        .await?;
    let AcceptInvitation { state: () } = request.read()?;
    let invitation = ctx
        .app()
        .invitations()
        .accept(ctx.actor(), organization, flow, id)
        .await?;
    json(StatusCode::OK, &invitation)
}

async fn delete(ctx: RequestContext) -> Answer {
    let (organization, flow) = (ctx.segment("organization"), ctx.segment("flow"));
    ctx.app()
        .invitations()
        .delete(ctx.actor(), organization, flow, id(&ctx))
        .await?;
    Ok(nothing())
}

/// The invitation id of the path. A malformed id becomes 0, which no invitation has: access to the
/// flow is checked first, so that a stranger sees the same 404 for both.
fn id(ctx: &RequestContext) -> InvitationId {
    ctx.id("invitation").unwrap_or(InvitationId(0))
}

/// Words of nothing but blanks are none.
fn words(message: Option<String>) -> Option<String> {
    Some(message?.trim().to_owned()).filter(|text| !text.is_empty())
}
