//! Private conversations and their messages (specification, section 4).

use eddyline_app::{Edit, LIST_BYTES, NewPrivateMessage, Posted};
use eddyline_model::UserId;
use eddyline_model::messages::{Event, MAX_UUID_CHARS};
use eddyline_model::policy::Deletion;
use eddyline_model::scopes::Scope::Private;
use eddyline_wire::Place;
use http::{Method, StatusCode};

use crate::answer::{Answer, done, encoded, json, nothing};
use crate::answer_bytes::expect_answer;
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::{Empty, Many, One};
use crate::error::Failure;
use crate::messages::{listed, query};
use crate::uploads::{self, Described};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut all = conversation_endpoints();
    all.extend(message_endpoints());
    all
}

fn conversation_endpoints() -> Vec<Endpoint> {
    let conversation = "/private/{user}";
    vec![
        Endpoint::new(Method::GET, "/private", "Your private conversations", list)
            .scopes(&[Private])
            .answers(200, "The conversations", Some(Many("PrivateConversation"))),
        Endpoint::new(Method::GET, conversation, "Your private conversation with a user", get)
            .scopes(&[Private])
            .answers(200, "The conversation, made if there was none", Some(One("PrivateConversation"))),
        Endpoint::new(Method::PUT, conversation, "Show or hide the tab of a conversation", update)
            .scopes(&[Private])
            .needs("open", "boolean", "Whether your clients show a tab")
            .answers(200, "The conversation", Some(One("PrivateConversation"))),
    ]
}

fn message_endpoints() -> Vec<Endpoint> {
    let (messages, message) = ("/private/{user}/messages", "/private/{user}/messages/{message}");
    vec![
        Endpoint::new(Method::POST, messages, "Send a private message", send)
            .takes_old_uploads()
            .can_conflict()
            .scopes(&[Private])
            .needs("event", "string", "message; with --profile classic also file")
            .needs(
                "content",
                "string",
                "1 to 8096 characters; of a file the file, or data, content_type and file_name",
            )
            .takes("uuid", "string", "Your own id for it; repeating a post with it is safe")
            .answers(200, "It is on disk", Some(Empty))
            .unless_classic()
            .answers(201, "The message", Some(One("Message")))
            .in_classic(),
        Endpoint::new(Method::GET, messages, "List or search private messages", list_messages)
            .scopes(&[Private])
            .lists_messages(),
        Endpoint::new(Method::GET, message, "A private message", get_message).scopes(&[Private]).answers(
            200,
            "The message",
            Some(One("Message")),
        ),
        Endpoint::new(Method::PUT, message, "Edit your private message", edit)
            .scopes(&[Private])
            .takes("content", "string", "The new text")
            .answers(200, "Done", Some(Empty)),
        Endpoint::new(Method::DELETE, message, "Delete your private message", delete)
            .scopes(&[Private])
            .answers(204, "The message is gone", None)
            .answers(200, "It is empty now", Some(Empty)),
    ]
}

async fn list(ctx: RequestContext) -> Answer {
    json(StatusCode::OK, &ctx.app().private_conversations(ctx.actor()?).await?)
}

async fn get(ctx: RequestContext) -> Answer {
    let with = other(&ctx)?;
    json(StatusCode::OK, &ctx.app().private_conversation(ctx.actor()?, with).await?)
}

async fn update(ctx: RequestContext) -> Answer {
    let with = other(&ctx)?;
    let mut params = ctx.params.reader();
    let open = params.opt_bool("open");
    if open.is_none() && !ctx.params.has("open") {
        params.error("open", "is required");
    }
    params.finish()?;
    let open = open.unwrap_or_default();
    json(StatusCode::OK, &ctx.app().set_private_open(ctx.actor()?, with, open).await?)
}

async fn send(mut ctx: RequestContext) -> Answer {
    let to = other(&ctx)?;
    let files = std::mem::take(&mut ctx.files);
    let classic = ctx.shared.profile.classic;
    let mut params = ctx.params.reader();
    let event = params.required_text("event", 1..=100);
    let is_file = classic && event == Event::File.as_str();
    if !event.is_empty() && event != Event::Message.as_str() && !is_file {
        params.error("event", if classic { "must be message or file" } else { "must be message" });
    }
    let uuid = params.opt_text("uuid", 0..=MAX_UUID_CHARS).filter(|uuid| !uuid.trim().is_empty());
    let content = if is_file { String::new() } else { params.required_text("content", 0..=usize::MAX) };
    let tags = if classic { params.list_of_text("tags").unwrap_or_default() } else { Vec::new() };
    uploads::check_places(&files, is_file, false, &mut params);
    params.finish()?;
    // What was taken in is held until it is posted.
    let (mut file, mut _held) = (None, None);
    if is_file {
        ctx.app().may_send_file_to(ctx.actor()?, to).await?;
        let described = Described::read(&ctx.params, !files.is_empty(), ctx.shared.json_upload).await?;
        let (attachment, held) = uploads::content((ctx.app(), ctx.actor()?), files, described).await?;
        (file, _held) = (Some(attachment), Some(held));
    }
    ctx.drop_params();
    let new = NewPrivateMessage { content, file, tags, uuid, wait: classic };
    match ctx.app().post_private(ctx.actor()?, to, new).await? {
        Posted::Message(view) => {
            Ok(encoded(StatusCode::CREATED, ctx.app().encoder().message(&view, Place::Private)))
        }
        Posted::Accepted => Ok(done()),
    }
}

async fn list_messages(ctx: RequestContext) -> Answer {
    let with = other(&ctx)?;
    let query = query(&ctx)?;
    expect_answer(LIST_BYTES)?;
    let list = ctx.app().list_private_messages(ctx.actor()?, with, query.clone()).await?;
    let conversation = || ctx.app().config().addresses.private(with);
    Ok(listed(&ctx, list, &query, || format!("{}/messages", conversation())))
}

async fn get_message(ctx: RequestContext) -> Answer {
    let with = other(&ctx)?;
    let view = ctx.app().private_message(ctx.actor()?, with, ctx.id("message")?).await?;
    Ok(encoded(StatusCode::OK, ctx.app().encoder().message(&view, Place::Private)))
}

async fn edit(mut ctx: RequestContext) -> Answer {
    let (with, id) = (other(&ctx)?, ctx.id("message")?);
    let mut params = ctx.params.reader();
    let mut edit = Edit { content: params.opt_text("content", 0..=usize::MAX), tags: None };
    if ctx.shared.profile.classic {
        edit.tags = params.list_of_text("tags");
    }
    params.finish()?;
    ctx.drop_params();
    ctx.app().edit_private_message(ctx.actor()?, with, id, edit).await?;
    Ok(done())
}

async fn delete(ctx: RequestContext) -> Answer {
    let (with, id) = (other(&ctx)?, ctx.id("message")?);
    Ok(match ctx.app().delete_private_message(ctx.actor()?, with, id).await? {
        Deletion::Remove => nothing(),
        Deletion::Truncate => done(),
    })
}

/// The user whom the path names, for callers who are users themselves.
fn other(ctx: &RequestContext) -> Result<UserId, Failure> {
    ctx.actor()?.user()?;
    ctx.id("user")
}
