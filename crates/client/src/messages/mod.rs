//! Messages of a room (specification, section 4): post, list, edit, delete, comment.

mod everywhere;
mod query;

use eddyline_model::MessageId;
use eddyline_model::reading::ReadMarker;
use eddyline_wire::requests::{EditMessage, MarkFlowRead, MarkRead};
use eddyline_wire::{Author, Flow, Message};
use http::{Method, StatusCode};
use serde::Serialize;

use crate::client::Client;
use crate::error::Error;
use crate::request::{RequestBuilder, encode};
use crate::response::Json;
use crate::room::{FlowClient, RoomClient};

pub use self::everywhere::FoundMessages;
pub use self::query::MessageQuery;

/// Asks the server to answer with the finished message.
const WAIT_HEADER: &str = "x-service-wait-for-message";

/// A message to be posted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NewMessage {
    /// The kind of message: `message`, `status`, `comment`, ...
    #[serde(skip_serializing_if = "String::is_empty")]
    pub event: String,
    /// Text for chat; other events have their own forms.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub content: Json,
    /// Tags beside those found in the content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// An id made by the caller. The same message posted again under it is stored once, which
    /// makes a repeated call safe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The flow, by id or as `organization/flow`, when the address of the call does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The message a comment answers, when the address of the call does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<i64>,
    /// A sender's name; it makes the message anonymous.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_user_name: Option<String>,
    /// The thread to post into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The thread to post into, by the source's own id for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_thread_id: Option<String>,
    /// The new state of the thread, of activity and discussion only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<Json>,
    /// Of activity and discussion: who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// Of activity and discussion: what happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Of activity and discussion: what was said, in HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Whether to wait for the finished message; see [`NewMessage::wait`].
    #[serde(skip)]
    pub wait: bool,
}

impl NewMessage {
    /// A message of this kind.
    pub fn new(event: &str, content: impl Into<Json>) -> Self {
        Self {
            event: event.to_owned(),
            content: content.into(),
            ..Self::default()
        }
    }

    /// A chat message of at most [`MAX_CONTENT_CHARS`](eddyline_model::messages::MAX_CONTENT_CHARS)
    /// characters.
    pub fn chat(text: &str) -> Self {
        Self::new("message", text)
    }

    /// Something that happened to an outside item, which has a thread of this id with the source.
    pub fn activity(external_thread_id: &str, title: &str) -> Self {
        let (thread, title) = (Some(external_thread_id.to_owned()), Some(title.to_owned()));
        Self {
            external_thread_id: thread,
            title,
            ..Self::new("activity", Json::Null)
        }
    }

    /// Something that was said of an outside item, in HTML.
    pub fn discussion(external_thread_id: &str, body: &str) -> Self {
        let (thread, body) = (Some(external_thread_id.to_owned()), Some(body.to_owned()));
        Self {
            external_thread_id: thread,
            body,
            ..Self::new("discussion", Json::Null)
        }
    }

    /// Gives the thread a new state: an object with a `title`, as the specification shapes it.
    #[must_use]
    pub fn thread_state(mut self, state: Json) -> Self {
        self.thread = Some(state);
        self
    }

    /// Adds a tag.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        self.tags.push(tag.to_owned());
        self
    }

    /// Sets the caller's own id for the message.
    #[must_use]
    pub fn uuid(mut self, uuid: &str) -> Self {
        self.uuid = Some(uuid.to_owned());
        self
    }

    /// Names the flow to post to.
    #[must_use]
    pub fn to_flow(mut self, flow: &str) -> Self {
        self.flow = Some(flow.to_owned());
        self
    }

    /// Makes the message anonymous under this name.
    #[must_use]
    pub fn external_user_name(mut self, name: &str) -> Self {
        self.external_user_name = Some(name.to_owned());
        self
    }

    /// Posts into this thread.
    #[must_use]
    pub fn thread_id(mut self, id: &str) -> Self {
        self.thread_id = Some(id.to_owned());
        self
    }

    /// Asks for the finished message as the answer. The server may still answer with
    /// [`Posted::Accepted`] when that takes long.
    #[must_use]
    pub fn wait(mut self) -> Self {
        self.wait = true;
        self
    }
}

/// The server's answer to a post. Either way the message is on its disk.
#[derive(Clone, Debug, PartialEq)]
pub enum Posted {
    /// Accepted; the answer holds no message.
    Accepted,
    /// The message as it was stored.
    Message(Box<Message>),
}

impl Posted {
    /// The message, when the answer holds it.
    pub fn into_message(self) -> Option<Message> {
        match self {
            Self::Accepted => None,
            Self::Message(message) => Some(*message),
        }
    }
}

impl Client {
    /// Posts to the flow that the message or the client's flow token names.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn post(&self, message: &NewMessage) -> Result<Posted, Error> {
        send_message(self.request(Method::POST, "/messages"), message).await
    }

    /// Posts a comment, whose flow and parent the message names.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn comment(&self, comment: &NewMessage) -> Result<Posted, Error> {
        send_message(self.request(Method::POST, "/comments"), comment).await
    }
}

impl<R> RoomClient<R> {
    /// Posts a message. The first one to another user begins the conversation.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn post(&self, message: &NewMessage) -> Result<Posted, Error> {
        send_message(self.request(Method::POST, "/messages"), message).await
    }

    /// Lists or searches the messages.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn messages(&self, query: &MessageQuery) -> Result<Vec<Message>, Error> {
        query
            .apply(self.request(Method::GET, "/messages"))
            .call()
            .await
    }

    /// One message.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn message(&self, id: i64) -> Result<Message, Error> {
        self.request(Method::GET, &format!("/messages/{id}"))
            .call()
            .await
    }

    /// Edits a message.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn edit(&self, id: i64, change: &EditMessage) -> Result<(), Error> {
        self.request(Method::PUT, &format!("/messages/{id}"))
            .json_of(change)
            .done()
            .await
    }

    /// Deletes a message. In a flow, chat is emptied; inbox and file messages are removed.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delete(&self, id: i64) -> Result<(), Error> {
        self.request(Method::DELETE, &format!("/messages/{id}"))
            .done()
            .await
    }

    /// Reacts to a message: with an emoji, or by its shortcode such as `thumbsup`. Doing it twice does
    /// nothing.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn react(&self, id: i64, emoji: &str) -> Result<(), Error> {
        self.request(Method::PUT, &reaction_path(id, emoji))
            .done()
            .await
    }

    /// Takes the caller's reaction to a message back, if there is one.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn unreact(&self, id: i64, emoji: &str) -> Result<(), Error> {
        self.request(Method::DELETE, &reaction_path(id, emoji))
            .done()
            .await
    }

    /// Notes that the caller has read everything through this message.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn mark_read(&self, message: i64) -> Result<(), Error> {
        self.request(Method::PUT, "/read")
            .json_of(&MarkRead {
                message: MessageId(message),
            })
            .done()
            .await
    }
}

impl FlowClient {
    /// Notes that the caller has read the chat, or the inbox, through this message. The other one
    /// stays as it is.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn mark_read_of(&self, marker: ReadMarker, message: i64) -> Result<(), Error> {
        self.request(Method::PUT, "/read")
            .json_of(&MarkFlowRead {
                message: MessageId(message),
                marker: Some(marker),
            })
            .done()
            .await
    }

    /// Notes that the caller has read a thread through this message. The flow says what is unread
    /// then.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn mark_thread_read(&self, id: &str, message: i64) -> Result<Flow, Error> {
        self.request(Method::PUT, &format!("/threads/{}/read", encode(id)))
            .json_of(&MarkRead {
                message: MessageId(message),
            })
            .call()
            .await
    }

    /// Posts a message into a thread.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn post_to_thread(&self, id: &str, message: &NewMessage) -> Result<Posted, Error> {
        let path = format!("/threads/{}/messages", encode(id));
        send_message(self.request(Method::POST, &path), message).await
    }

    /// Posts a comment on the message `parent`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn comment(&self, parent: i64, comment: &NewMessage) -> Result<Posted, Error> {
        let path = format!("/messages/{parent}/comments");
        send_message(self.request(Method::POST, &path), comment).await
    }

    /// The comments on the message `parent`, oldest first.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn comments(&self, parent: i64) -> Result<Vec<Message>, Error> {
        self.request(Method::GET, &format!("/messages/{parent}/comments"))
            .call()
            .await
    }

    /// Lists or searches the messages of a thread.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn thread_messages(
        &self,
        id: &str,
        query: &MessageQuery,
    ) -> Result<Vec<Message>, Error> {
        let path = format!("/threads/{}/messages", encode(id));
        query.apply(self.request(Method::GET, &path)).call().await
    }
}

fn reaction_path(id: i64, emoji: &str) -> String {
    format!("/messages/{id}/reactions/{}", encode(emoji))
}

pub(crate) async fn send_message(
    request: RequestBuilder,
    message: &NewMessage,
) -> Result<Posted, Error> {
    let request = request.json(message);
    if message.wait {
        wait_for_message(request).await
    } else {
        posted(request).await
    }
}

/// Sends what posts a message, and asks for the finished message as the answer.
pub(crate) async fn wait_for_message(request: RequestBuilder) -> Result<Posted, Error> {
    posted(request.header(WAIT_HEADER, "true")).await
}

async fn posted(request: RequestBuilder) -> Result<Posted, Error> {
    let answer = request.send().await?.success()?;
    // Posts to private conversations are answered by 200 and an empty object.
    if answer.status == StatusCode::ACCEPTED || answer.body == b"{}"[..] {
        return Ok(Posted::Accepted);
    }
    Ok(Posted::Message(Box::new(answer.decode()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_sent() {
        let message = NewMessage::chat("hello").tag("coffee").wait();
        assert_eq!(
            serde_json::to_value(message).unwrap(),
            serde_json::json!({"event": "message", "content": "hello", "tags": ["coffee"]})
        );
    }
}
