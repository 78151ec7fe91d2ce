//! The older push addresses, with the flow token in the path (docs/protocol.md, Pushing).

use eddyline_app::{NewPost, PushedMail};
use eddyline_model::MessageId;
use eddyline_model::messages::{Event, MAX_EXTERNAL_NAME_CHARS};
use http::Method;

use crate::answer::{Answer, done};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::Empty;
use crate::messages::check_external;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let inbox = |path| {
        Endpoint::new(Method::POST, path, "Push a mail into the inbox of one or several flows", mail)
            .tokens_in_path()
            .needs("source", "string", "What pushes it")
            .needs("from_address", "string", "The address it is from")
            .needs("subject", "string", "What it is about")
            .needs("content", "string", "What it says, in HTML")
            .takes("from_name", "string", "The name of the sender")
            .takes("reply_to", "string", "Where an answer would go")
            .takes("project", "string", "What it belongs to")
            .takes("tags", "array", "Tags, also as a comma-separated text")
            .takes("link", "string", "Where more is to be read")
            .answers(200, "It is on disk", Some(Empty))
    };
    vec![
        Endpoint::new(Method::POST, "/messages/chat/{token}", "Push chat into one or several flows", chat)
            .tokens_in_path()
            .needs("content", "string", "1 to 8096 characters")
            .needs("external_user_name", "string", "A sender's name")
            .takes("tags", "array", "Tags, also as a comma-separated text")
            .takes("message_id", "integer", "The message to comment on")
            .answers(200, "It is on disk", Some(Empty)),
        inbox("/messages/team_inbox/{token}"),
        inbox("/messages/influx/{token}"),
    ]
}

async fn chat(ctx: RequestContext) -> Answer {
    let to = ctx.app().messages().pushing(ctx.segment("token")).await?;
    let mut params = ctx.params.reader();
    let mut new = NewPost::of(Event::Message, params.required_text("content", 0..=usize::MAX));
    let name = params.opt_text("external_user_name", 1..=MAX_EXTERNAL_NAME_CHARS);
    params.require("external_user_name");
    new.external_user_name = check_external(name, &mut params);
    new.tags = ctx.shared.profile.tags(params.list_of_text("tags").unwrap_or_default());
    let parent = params.opt_id::<MessageId>("message_id");
    params.finish()?;
    ctx.app().messages().push_chat(&to, new, parent).await?;
    Ok(done())
}

async fn mail(ctx: RequestContext) -> Answer {
    let to = ctx.app().messages().pushing(ctx.segment("token")).await?;
    let mut params = ctx.params.reader();
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let any = 0..=usize::MAX;
    let tags = ctx.shared.profile.tags(params.list_of_text("tags").unwrap_or_default());
    let mail = PushedMail {
        source: params.required_text("source", any.clone()),
        from_address: params.required_text("from_address", any.clone()),
        subject: params.required_text("subject", any.clone()),
        content: params.required_text("content", any.clone()),
        from_name: filled(params.opt_text("from_name", any.clone())),
        reply_to: filled(params.opt_text("reply_to", any.clone())),
        project: filled(params.opt_text("project", any.clone())),
        link: filled(params.opt_text("link", any)),
    };
    params.finish()?;
    ctx.app().messages().push_mail(&to, mail, tags).await?;
    Ok(done())
}
