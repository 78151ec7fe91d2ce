//! Invitations (specification, section 4, Invitations).

use eddyline_model::InvitationId;
use eddyline_model::invitations::MAX_MESSAGE_CHARS;
use eddyline_model::names::Email;
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope::Manage;
use http::header::LINK;
use http::{Method, StatusCode};

use crate::answer::{Answer, json, nothing, with_header};
use crate::context::{RequestContext, invalid};
use crate::endpoint::Shape::{Many, One};
use crate::endpoint::{Endpoint, NEXT};
use crate::params::Reader;

const ALL: &str = "/flows/{organization}/{flow}/invitations";
const ONE: &str = "/flows/{organization}/{flow}/invitations/{invitation}";
/// How many invitations a list has at most, and unless the caller wants fewer: the specification knows no pages
/// here, so that a client that knows none either gets all that a flow may have by default.
const PAGE: i64 = 1000;
const TOO_MUCH_MAIL: &str = "Too much mail was sent to the address, by you, or by the organization";
const IMPORT: &str = "/flows/{organization}/{flow}/invitations/import";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let message = "What you add in your own words, up to 1000 characters";
    let all = vec![
        Endpoint::new(Method::GET, ALL, "The invitations that are pending", list)
            .takes("after", "integer", "Only those with higher numbers than this")
            .takes("limit", "integer", "1 to 1000, 1000 unless given")
            .answers(200, "The invitations, oldest first", Some(Many("Invitation")))
            .tells(&[NEXT]),
        Endpoint::new(Method::POST, ALL, "Invite somebody, or send the invitation again", create)
            .can_conflict()
            .needs("email", "string", "The address")
            .takes("message", "string", message)
            .answers(201, "The invitation", Some(One("Invitation")))
            .answers(429, TOO_MUCH_MAIL, Some(One("ErrorBody"))),
        Endpoint::new(Method::POST, IMPORT, "Invite many at once", import)
            .needs(
                "list",
                "string",
                "Addresses, with or without names, separated by commas, semicolons or line ends; up to 10,000",
            )
            .takes("message", "string", message)
            .answers(200, "What became of each address", Some(One("ImportedInvitations")))
            .answers(429, TOO_MUCH_MAIL, Some(One("ErrorBody"))),
        Endpoint::new(Method::GET, ONE, "An invitation", get).answers(
            200,
            "The invitation, which may be accepted already",
            Some(One("Invitation")),
        ),
        Endpoint::new(Method::PUT, ONE, "Accept an invitation to your address", accept)
            .can_conflict()
            .needs("state", "string", "accepted")
            .answers(200, "The invitation; you are in the flow", Some(One("Invitation"))),
        Endpoint::new(Method::DELETE, ONE, "Cancel or decline a pending invitation", delete)
            .can_conflict()
            .answers(204, "It is gone", None),
    ];
    all.into_iter().map(|endpoint| endpoint.scopes(&[Manage])).collect()
}

async fn list(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Invite).await?;
    let mut params = ctx.params.reader();
    let after = params.opt_id("after").unwrap_or(InvitationId(0));
    let limit = params.number_in("limit", 1..=PAGE, PAGE);
    params.finish()?;
    let found = ctx.app().invitations(&room, after, limit).await?;
    let answer = json(StatusCode::OK, &found)?;
    match found.last() {
        Some(last) if found.len() as i64 == limit => {
            let all = ctx.app().config().addresses.invitations(&room.organization, &room.flow);
            let next = format!("<{all}?after={}&limit={limit}>; rel=\"next\"", last.id);
            Ok(with_header(answer, LINK, &next))
        }
        _ => Ok(answer),
    }
}

async fn get(ctx: RequestContext) -> Answer {
    let (organization, flow) = (ctx.segment("organization"), ctx.segment("flow"));
    let invitation = ctx.app().invitation(ctx.actor()?, organization, flow, id(&ctx)).await?;
    json(StatusCode::OK, &invitation)
}

async fn create(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Invite).await?;
    let mut params = ctx.params.reader();
    let (email, message) = (email(&mut params), message(&mut params));
    params.finish()?;
    let Some(email) = email else { return Err(invalid("email", "is required")) };
    let invitation = ctx.app().invite(ctx.actor()?, &room, email, message).await?;
    json(StatusCode::CREATED, &invitation)
}

async fn import(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Invite).await?;
    let mut params = ctx.params.reader();
    let list = params.required_text("list", 1..=usize::MAX);
    let message = message(&mut params);
    params.finish()?;
    let imported = ctx.app().import_invitations(ctx.actor()?, &room, &list, message).await?;
    json(StatusCode::OK, &imported)
}

async fn accept(ctx: RequestContext) -> Answer {
    let (organization, flow, id) = (ctx.segment("organization"), ctx.segment("flow"), id(&ctx));
    // Who may not know of the invitation hears nothing about parameters.
    ctx.app().invitation(ctx.actor()?, organization, flow, id).await?;
    let mut params = ctx.params.reader();
    let accepted = params.opt_choice("state", &[("accepted", ())]);
    if accepted.is_none() && !ctx.params.has("state") {
        params.error("state", "is required");
    }
    params.finish()?;
    let invitation = ctx.app().accept_invitation(ctx.actor()?, organization, flow, id).await?;
    json(StatusCode::OK, &invitation)
}

async fn delete(ctx: RequestContext) -> Answer {
    let (organization, flow) = (ctx.segment("organization"), ctx.segment("flow"));
    ctx.app().delete_invitation(ctx.actor()?, organization, flow, id(&ctx)).await?;
    Ok(nothing())
}

/// The number in the path; one that cannot be is that of no invitation, which the flow's rules then
/// speak about.
fn id(ctx: &RequestContext) -> InvitationId {
    ctx.id("invitation").unwrap_or(InvitationId(0))
}

fn email(params: &mut Reader<'_>) -> Option<Email> {
    let text = params.required_text("email", 1..=usize::MAX);
    match text.parse() {
        Ok(email) => Some(email),
        Err(_) if text.is_empty() => None,
        Err(error) => {
            params.error("email", format!("{error}"));
            None
        }
    }
}

/// Words of nothing but blanks are none.
fn message(params: &mut Reader<'_>) -> Option<String> {
    let text = params.opt_text("message", 0..=MAX_MESSAGE_CHARS)?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
