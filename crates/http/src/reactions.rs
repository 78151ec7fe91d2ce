//! Reactions to messages (docs/protocol.md, Reactions).

use eddyline_app::{Error, ReactionChange};
use eddyline_model::policy::MessageAction;
use eddyline_model::reactions::Emoji;
use eddyline_model::scopes::Scope::{Flow, Private};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::Empty;
use eddyline_openapi::tags;
use http::Method;

use crate::answer::{Answer, done, nothing};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;

const IN_FLOW: &str = "/flows/{organization}/{flow}/messages/{message}/reactions/{emoji}";
const IN_PRIVATE: &str = "/private/{user}/messages/{message}/reactions/{emoji}";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::PUT,
            IN_FLOW,
            "addReaction",
            "React to a message with an emoji",
            add,
        )
        .may_conflict()
        .scopes(&[Flow])
        .answers(200, "You react with it", Some(Empty)),
        Endpoint::new(
            Method::DELETE,
            IN_FLOW,
            "removeReaction",
            "Take your reaction to a message back",
            remove,
        )
        .scopes(&[Flow])
        .answers(204, "You do not react with it", None),
        Endpoint::new(
            Method::PUT,
            IN_PRIVATE,
            "addPrivateReaction",
            "React to a private message with an emoji",
            add,
        )
        .tag(tags::PRIVATE_CONVERSATIONS)
        .may_conflict()
        .scopes(&[Private])
        .answers(200, "You react with it", Some(Empty)),
        Endpoint::new(
            Method::DELETE,
            IN_PRIVATE,
            "removePrivateReaction",
            "Take your reaction to a private message back",
            remove,
        )
        .tag(tags::PRIVATE_CONVERSATIONS)
        .scopes(&[Private])
        .answers(204, "You do not react with it", None),
    ]
}

async fn add(ctx: RequestContext) -> Answer {
    change(&ctx, ReactionChange::Add).await?;
    Ok(done())
}

async fn remove(ctx: RequestContext) -> Answer {
    change(&ctx, ReactionChange::Remove).await?;
    Ok(nothing())
}

async fn change(ctx: &RequestContext, change: ReactionChange) -> Result<(), Error> {
    let room = ctx.room(MessageAction::Read).await?;
    let id = ctx.id("message")?;
    let emoji: Emoji = ctx
        .segment("emoji")
        .parse()
        .map_err(|wrong| Error::invalid("emoji", format!("{wrong}")))?;
    ctx.app()
        .messages()
        .react(ctx.actor(), &room, id, emoji, change)
        .await
}
