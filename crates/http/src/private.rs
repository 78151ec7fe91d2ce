//! Private conversations and their messages (specification, section 4).

use eddyline_app::{Edit, Error, LIST_BYTES, NewPrivateMessage, Posted};
use eddyline_model::UserId;
use eddyline_model::messages::MessageKind;
use eddyline_model::policy::Deletion;
use eddyline_model::scopes::Scope::Private;
use eddyline_wire::requests::{
    EditPrivateMessage, ListMessages, PrivateContent, PrivateEvent, PrivateTags,
    UpdatePrivateConversation,
};
use eddyline_wire::{Request, RoomRef};
use http::{Method, StatusCode};

use crate::answer::{Answer, done, encoded, json, nothing};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::{Empty, Many, One};
use crate::handler::UnparsedParams;
use crate::messages::{listed, query};
use crate::response_budget::expect_response_bytes;
use crate::uploads::{self, FileParameters};

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
        Endpoint::new(
            Method::GET,
            conversation,
            "Your private conversation with a user",
            get,
        )
        .scopes(&[Private])
        .answers(
            200,
            "The conversation, made if there was none",
            Some(One("PrivateConversation")),
        ),
        Endpoint::new(
            Method::PUT,
            conversation,
            "Show or hide the tab of a conversation",
            update,
        )
        .scopes(&[Private])
        .answers(200, "The conversation", Some(One("PrivateConversation"))),
    ]
}

fn message_endpoints() -> Vec<Endpoint> {
    let (messages, message) = (
        "/private/{user}/messages",
        "/private/{user}/messages/{message}",
    );
    vec![
        Endpoint::new(Method::POST, messages, "Send a private message", send)
            .takes_old_uploads()
            .may_conflict()
            .scopes(&[Private])
            .answers(200, "It is on disk", Some(Empty))
            .unless_classic()
            .answers(201, "The message", Some(One("Message")))
            .in_classic(),
        Endpoint::new(
            Method::GET,
            messages,
            "List or search private messages",
            list_messages,
        )
        .scopes(&[Private])
        .answers_messages(),
        Endpoint::new(Method::GET, message, "A private message", get_message)
            .scopes(&[Private])
            .answers(200, "The message", Some(One("Message"))),
        Endpoint::new(Method::PUT, message, "Edit your private message", edit)
            .scopes(&[Private])
            .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::DELETE,
            message,
            "Delete your private message",
            delete,
        )
        .scopes(&[Private])
        .answers(204, "The message is gone", None)
        .answers(200, "It is empty now", Some(Empty)),
    ]
}

async fn list(ctx: RequestContext) -> Answer {
    json(
        StatusCode::OK,
        &ctx.app().messages().conversations(ctx.actor()).await?,
    )
}

async fn get(ctx: RequestContext) -> Answer {
    let with = other(&ctx)?;
    json(
        StatusCode::OK,
        &ctx.app().messages().conversation(ctx.actor(), with).await?,
    )
}

async fn update(ctx: RequestContext, request: UnparsedParams<UpdatePrivateConversation>) -> Answer {
    let with = other(&ctx)?;
    let UpdatePrivateConversation { open } = request.read()?;
    json(
        StatusCode::OK,
        &ctx.app()
            .messages()
            .set_conversation_open(ctx.actor(), with, open)
            .await?,
    )
}

async fn send(
    mut ctx: RequestContext,
    request: UnparsedParams<(PrivateEvent, PrivateContent, PrivateTags)>,
) -> Answer {
    let to = other(&ctx)?;
    let files = std::mem::take(&mut ctx.files);
    let classic = ctx.shared.profile.classic;
    let params = request.into_params();
    let mut reader = params.reader();
    let PrivateEvent { event, uuid } = PrivateEvent::read(&mut reader).unwrap_or_default();
    let is_file = classic && event.as_deref() == Some(MessageKind::File.as_str());
    if event.is_some_and(|event| event != MessageKind::Message.as_str()) && !is_file {
        reader.error(
            "event",
            if classic {
                "must be message or file"
            } else {
                "must be message"
            },
        );
    }
    let content = if is_file {
        None
    } else {
        PrivateContent::read(&mut reader)
    };
    let tags = if classic {
        PrivateTags::read(&mut reader)
    } else {
        None
    };
    uploads::check_places(&files, is_file, false, &mut reader);
    reader.finish()?;
    // What was taken in is held until it is posted.
    let (mut file, mut _held) = (None, None);
    if is_file {
        ctx.app()
            .messages()
            .may_send_file_to(ctx.actor(), to)
            .await?;
        let described =
            FileParameters::read(&params, !files.is_empty(), ctx.shared.json_upload).await?;
        let (attachment, held) =
            uploads::content((ctx.app(), ctx.actor()), files, described).await?;
        (file, _held) = (Some(attachment), Some(held));
    }
    drop(params);
    let content = content.unwrap_or_default().content;
    let tags = tags.unwrap_or_default().tags.unwrap_or_default();
    let new = NewPrivateMessage {
        content,
        file,
        tags,
        uuid,
        wait: classic,
    };
    match ctx
        .app()
        .messages()
        .post_private(ctx.actor(), to, new)
        .await?
    {
        Posted::Message(view) => Ok(encoded(
            StatusCode::CREATED,
            ctx.app().encoder().message(&view, RoomRef::Private),
        )),
        Posted::Accepted => Ok(done()),
    }
}

async fn list_messages(ctx: RequestContext, request: UnparsedParams<ListMessages>) -> Answer {
    let with = other(&ctx)?;
    let wanted = request.read()?;
    let query = query(&ctx, &wanted);
    expect_response_bytes(LIST_BYTES)?;
    let list = ctx
        .app()
        .messages()
        .list_private(ctx.actor(), with, query.clone())
        .await?;
    let conversation = || ctx.app().config().addresses.private(with);
    Ok(listed(list, &wanted, &query, || {
        format!("{}/messages", conversation())
    }))
}

async fn get_message(ctx: RequestContext) -> Answer {
    let with = other(&ctx)?;
    let view = ctx
        .app()
        .messages()
        .get_private(ctx.actor(), with, ctx.id("message")?)
        .await?;
    Ok(encoded(
        StatusCode::OK,
        ctx.app().encoder().message(&view, RoomRef::Private),
    ))
}

async fn edit(
    ctx: RequestContext,
    request: UnparsedParams<(EditPrivateMessage, PrivateTags)>,
) -> Answer {
    let (with, id) = (other(&ctx)?, ctx.id("message")?);
    let edit = {
        let params = request.into_params();
        let mut reader = params.reader();
        let EditPrivateMessage { content } =
            EditPrivateMessage::read(&mut reader).unwrap_or_default();
        let tags = if ctx.shared.profile.classic {
            PrivateTags::read(&mut reader)
        } else {
            None
        };
        reader.finish()?;
        Edit {
            content,
            tags: tags.unwrap_or_default().tags,
        }
    };
    ctx.app()
        .messages()
        .edit_private(ctx.actor(), with, id, edit)
        .await?;
    Ok(done())
}

async fn delete(ctx: RequestContext) -> Answer {
    let (with, id) = (other(&ctx)?, ctx.id("message")?);
    Ok(
        match ctx
            .app()
            .messages()
            .delete_private(ctx.actor(), with, id)
            .await?
        {
            Deletion::Remove => nothing(),
            Deletion::Truncate => done(),
        },
    )
}

/// The user whom the path names, for callers who are users themselves.
fn other(ctx: &RequestContext) -> Result<UserId, Error> {
    ctx.actor().user()?;
    ctx.id("user")
}
