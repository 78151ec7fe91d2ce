//! The older push addresses, with the flow token in the path (docs/protocol.md, Pushing).

use eddyline_app::{NewPost, PushedMail};
use eddyline_model::messages::MessageKind;
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::Empty;
use eddyline_wire::requests::{PushChat, PushMail};
use http::Method;

use crate::answer::{Answer, done};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;
use crate::requester::TokensInPath;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let inbox = |path, id| {
        Endpoint::new(
            Method::POST,
            path,
            id,
            "Push a mail into the inbox of one or several flows",
            mail,
        )
        .answers(200, "It is on disk", Some(Empty))
    };
    vec![
        Endpoint::new(
            Method::POST,
            "/messages/chat/{token}",
            "pushChat",
            "Push chat into one or several flows",
            chat,
        )
        .answers(200, "It is on disk", Some(Empty)),
        inbox("/messages/team_inbox/{token}", "pushMail"),
        inbox("/messages/influx/{token}", "pushInfluxMail"),
    ]
}

async fn chat(ctx: RequestContext<TokensInPath>, request: UnparsedParams<PushChat>) -> Answer {
    let to = ctx.app().messages().pushing(ctx.segment("token")).await?;
    let PushChat {
        content,
        external_user_name,
        tags,
        message_id,
    } = request.read()?;
    let new = NewPost {
        external_user_name: Some(external_user_name),
        tags: ctx.shared.profile.tags(tags.unwrap_or_default()),
        ..NewPost::of(MessageKind::Message, content)
    };
    ctx.app().messages().push_chat(&to, new, message_id).await?;
    Ok(done())
}

async fn mail(ctx: RequestContext<TokensInPath>, request: UnparsedParams<PushMail>) -> Answer {
    let to = ctx.app().messages().pushing(ctx.segment("token")).await?;
    let PushMail {
        source,
        from_address,
        subject,
        content,
        from_name,
        reply_to,
        project,
        tags,
        link,
    } = request.read()?;
    let tags = ctx.shared.profile.tags(tags.unwrap_or_default());
    let mail = PushedMail {
        source,
        from_address,
        subject,
        content,
        from_name,
        reply_to,
        project,
        link,
    };
    ctx.app().messages().push_mail(&to, mail, tags).await?;
    Ok(done())
}
