//! Private conversations, and posting and editing there, whose parameters differ from those of
//! flows (specification, section 4).

use eddyline_app::{Edit, Error, NewPost, Posted, TagEdit};
use eddyline_model::UserId;
use eddyline_model::messages::MessageKind;
use eddyline_model::policy::MessageAction;
use eddyline_model::scopes::Scope::Private;
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Empty, Many, One};
use eddyline_wire::Request;
use eddyline_wire::params::{ParamReader, Params};
use eddyline_wire::requests::{
    EditPrivateMessage, PrivateContent, PrivateEvent, PrivateTags, UpdatePrivateConversation,
};
use http::{Method, StatusCode};

use crate::answer::{Answer, done, encoded, json};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;
use crate::messages::{self, file_of};
use crate::uploads::{self, Received};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut all = conversation_endpoints();
    all.extend(message_endpoints());
    all
}

fn conversation_endpoints() -> Vec<Endpoint> {
    let conversation = "/private/{user}";
    vec![
        Endpoint::new(
            Method::GET,
            "/private",
            "listPrivateConversations",
            "Your private conversations",
            list,
        )
        .scopes(&[Private])
        .answers(200, "The conversations", Some(Many("PrivateConversation"))),
        Endpoint::new(
            Method::GET,
            conversation,
            "getPrivateConversation",
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
            "updatePrivateConversation",
            "Show or hide the tab of a conversation",
            update,
        )
        .scopes(&[Private])
        .answers(200, "The conversation", Some(One("PrivateConversation"))),
    ]
}

fn message_endpoints() -> Vec<Endpoint> {
    let (all, one) = (
        "/private/{user}/messages",
        "/private/{user}/messages/{message}",
    );
    vec![
        Endpoint::new(
            Method::POST,
            all,
            "postPrivateMessage",
            "Send a private message",
            send,
        )
        .takes_old_uploads()
        .may_conflict()
        .scopes(&[Private])
        .answers(200, "It is on disk", Some(Empty))
        .unless_classic()
        .answers(201, "The message", Some(One("Message")))
        .in_classic(),
        Endpoint::new(
            Method::GET,
            all,
            "listPrivateMessages",
            "List or search private messages",
            messages::list,
        )
        .scopes(&[Private])
        .answers_messages(),
        Endpoint::new(
            Method::GET,
            one,
            "getPrivateMessage",
            "A private message",
            messages::get,
        )
        .scopes(&[Private])
        .answers(200, "The message", Some(One("Message"))),
        Endpoint::new(
            Method::PUT,
            one,
            "editPrivateMessage",
            "Edit your private message",
            edit,
        )
        .scopes(&[Private])
        .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::DELETE,
            one,
            "deletePrivateMessage",
            "Delete your private message",
            messages::delete,
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
    // Strangers are not found, whatever the parameters are.
    ctx.room(MessageAction::Read).await?;
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
    let room = ctx.room(MessageAction::Post).await?;
    let files = std::mem::take(&mut ctx.files);
    let params = request.into_params();
    let mut new = new_post(&ctx, &params, &files)?;
    // What was taken in is held until it is posted.
    let mut _held = Vec::new();
    if new.event == MessageKind::File {
        (new.files, _held) = file_of(&ctx, &room, files, &params).await?;
    }
    drop(params);
    let posted = ctx.app().messages().post(ctx.actor(), room.clone(), new);
    match posted.await? {
        Posted::Message(view) => Ok(encoded(
            StatusCode::CREATED,
            ctx.app().encoder().message(&view, room.reference()),
        )),
        Posted::Accepted => Ok(done()),
    }
}

/// The message that the parameters ask for, without its file.
fn new_post(ctx: &RequestContext, params: &Params, files: &[Received]) -> Result<NewPost, Error> {
    let classic = ctx.shared.profile.classic;
    let mut reader = params.reader();
    let PrivateEvent { event, uuid } = PrivateEvent::read(&mut reader).unwrap_or_default();
    let is_file = classic && event.as_deref() == Some(MessageKind::File.as_str());
    if event.is_some_and(|event| event != MessageKind::Message.as_str()) && !is_file {
        let text = match classic {
            true => "must be message or file",
            false => "must be message",
        };
        reader.error("event", text);
    }
    let (kind, content) = match is_file {
        true => (MessageKind::File, None),
        false => (MessageKind::Message, PrivateContent::read(&mut reader)),
    };
    let tags = read_tags(ctx, &mut reader);
    uploads::check_places(files, is_file, false, &mut reader);
    reader.finish()?;
    Ok(NewPost {
        tags: tags.unwrap_or_default(),
        uuid,
        wait: classic,
        ..NewPost::of(kind, content.unwrap_or_default().content)
    })
}

async fn edit(
    ctx: RequestContext,
    request: UnparsedParams<(EditPrivateMessage, PrivateTags)>,
) -> Answer {
    let room = ctx.room(MessageAction::Read).await?;
    let id = ctx.id("message")?;
    let edit = {
        let params = request.into_params();
        let mut reader = params.reader();
        let content = EditPrivateMessage::read(&mut reader).unwrap_or_default();
        let tags = read_tags(&ctx, &mut reader);
        reader.finish()?;
        Edit {
            content: content.content,
            tags: tags.map(TagEdit::Replace),
        }
    };
    ctx.app()
        .messages()
        .edit(ctx.actor(), &room, id, edit)
        .await?;
    Ok(done())
}

/// The tags that a private message is given. Only the classic profile has them.
fn read_tags(ctx: &RequestContext, reader: &mut ParamReader<'_>) -> Option<Vec<String>> {
    let profile = &ctx.shared.profile;
    let given = profile.classic.then(|| PrivateTags::read(reader)).flatten();
    given?.tags.map(|tags| profile.tags(tags))
}

/// The user whom the path names, for callers who are users themselves.
fn other(ctx: &RequestContext) -> Result<UserId, Error> {
    ctx.actor().user()?;
    ctx.id("user")
}
