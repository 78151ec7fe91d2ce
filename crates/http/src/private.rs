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
use crate::call::Call;
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
            .scopes(&[Private])
            .needs("event", "string", "message; with --profile classic also file")
            .needs(
                "content",
                "string",
                "1 to 8096 characters; of a file the file, or data, content_type and file_name",
            )
            .takes("uuid", "string", "Your own id for it; repeating a post with it is safe")
            .answers(200, "It is on disk", Some(Empty)),
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
            .answers(200, "It is empty now", Some(Empty)),
    ]
}

async fn list(call: Call) -> Answer {
    json(StatusCode::OK, &call.app().private_conversations(call.actor()?).await?)
}

async fn get(call: Call) -> Answer {
    let with = other(&call)?;
    json(StatusCode::OK, &call.app().private_conversation(call.actor()?, with).await?)
}

async fn update(call: Call) -> Answer {
    let with = other(&call)?;
    let mut params = call.params.reader();
    let open = params.opt_bool("open");
    if open.is_none() && !call.params.has("open") {
        params.error("open", "is required");
    }
    params.finish()?;
    let open = open.unwrap_or_default();
    json(StatusCode::OK, &call.app().set_private_open(call.actor()?, with, open).await?)
}

async fn send(mut call: Call) -> Answer {
    let to = other(&call)?;
    let files = std::mem::take(&mut call.files);
    let classic = call.shared.names.classic;
    let mut params = call.params.reader();
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
        call.app().may_send_file_to(call.actor()?, to).await?;
        let described = Described::read(&call.params, !files.is_empty(), call.shared.json_upload).await?;
        let (attachment, held) = uploads::content((call.app(), call.actor()?), files, described).await?;
        (file, _held) = (Some(attachment), Some(held));
    }
    call.drop_params();
    let new = NewPrivateMessage { content, file, tags, uuid, wait: classic };
    match call.app().post_private(call.actor()?, to, new).await? {
        Posted::Message(view) => {
            Ok(encoded(StatusCode::CREATED, call.app().encoder().message(&view, Place::Private)))
        }
        Posted::Accepted => Ok(done()),
    }
}

async fn list_messages(call: Call) -> Answer {
    let with = other(&call)?;
    let query = query(&call)?;
    expect_answer(LIST_BYTES)?;
    let list = call.app().list_private_messages(call.actor()?, with, query.clone()).await?;
    let conversation = || call.app().config().addresses.private(with);
    Ok(listed(&call, list, &query, || format!("{}/messages", conversation())))
}

async fn get_message(call: Call) -> Answer {
    let with = other(&call)?;
    let view = call.app().private_message(call.actor()?, with, call.id("message")?).await?;
    Ok(encoded(StatusCode::OK, call.app().encoder().message(&view, Place::Private)))
}

async fn edit(mut call: Call) -> Answer {
    let (with, id) = (other(&call)?, call.id("message")?);
    let mut params = call.params.reader();
    let mut edit = Edit { content: params.opt_text("content", 0..=usize::MAX), tags: None };
    if call.shared.names.classic {
        edit.tags = params.list_of_text("tags");
    }
    params.finish()?;
    call.drop_params();
    call.app().edit_private_message(call.actor()?, with, id, edit).await?;
    Ok(done())
}

async fn delete(call: Call) -> Answer {
    let (with, id) = (other(&call)?, call.id("message")?);
    Ok(match call.app().delete_private_message(call.actor()?, with, id).await? {
        Deletion::Remove => nothing(),
        Deletion::Truncate => done(),
    })
}

/// The user whom the path names, for callers who are users themselves.
fn other(call: &Call) -> Result<UserId, Failure> {
    call.actor()?.user()?;
    call.id("user")
}
