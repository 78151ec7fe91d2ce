//! Posting a message: the hot path. Everything that can be done before the writer's queue is done
//! here, and nothing here touches the database when the caller and the room are known.

use std::borrow::Cow;
use std::sync::Arc;

use eddyline_auth::TokenHash;
use eddyline_model::messages::{Author, Draft, MessageKind, MessageView, Placement, ThreadPost};
use eddyline_model::policy::MessageAction;
use eddyline_model::{MessageId, search};
use eddyline_storage::{AppendOutcome, Result as StoreResult, Tx};
use serde_json::json;

use super::posting_identity::PostingIdentity;
use super::prepared::Prepared;
use super::pushed::Pushed;
use super::{check_tags, check_text, tagging};
use crate::actor::Actor;
use crate::files::NewAttachment;
use crate::files::usage::{FilesOf, charged_bytes};
use crate::rooms::Room;
use crate::{Error, Messages, Result};

/// How often a post is checked again when rights change while it is on its way.
const ATTEMPTS: usize = 3;

/// A message as a caller wants it.
#[derive(Clone, Debug)]
pub struct NewPost {
    /// Its kind.
    pub event: MessageKind,
    /// Its text.
    pub content: String,
    /// Tags beside those in the text.
    pub tags: Vec<String>,
    /// A sender's name; makes it anonymous.
    pub external_user_name: Option<String>,
    /// The caller's own identifier.
    pub uuid: Option<String>,
    /// The message it is a comment on.
    pub parent: Option<MessageId>,
    /// The thread it goes to.
    pub thread_id: Option<String>,
    /// The same, by the id that the caller has for it.
    pub external_thread_id: Option<String>,
    /// Whether the thread stands in the address, and not among the parameters.
    pub by_address: bool,
    /// What it is, when it is no chat.
    pub pushed: Option<Pushed>,
    /// The files it brings along.
    pub files: Vec<NewAttachment>,
    /// Whether to wait for the whole message.
    pub wait: bool,
}

impl NewPost {
    /// A message that says this, and nothing else.
    #[must_use]
    pub fn of(event: MessageKind, content: String) -> Self {
        Self {
            event,
            content,
            tags: Vec::new(),
            external_user_name: None,
            uuid: None,
            parent: None,
            thread_id: None,
            by_address: false,
            external_thread_id: None,
            pushed: None,
            files: Vec::new(),
            wait: false,
        }
    }
}

/// What a post came to.
#[derive(Clone, Debug)]
pub enum Posted {
    /// It is on disk.
    Accepted,
    /// It is on disk, and this is the message.
    Message(Arc<MessageView>),
}

impl Messages {
    /// Posts a message into a room that the caller was admitted to for [`MessageAction::Post`]. The
    /// first one creates a private conversation. The answer comes when it is on disk.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`], [`Error::denied`], [`Error::file_quota`], [`Error::conflict`] for a uuid
    /// that was used for something else, [`Error::not_found`] when the message a comment answers is
    /// not there.
    pub async fn post(&self, actor: &Actor, room: impl Into<Room>, new: NewPost) -> Result<Posted> {
        let prepared = match &new.pushed {
            None => None,
            Some(pushed) => {
                // A post under another name is not shown as the user's.
                let user = actor
                    .user()
                    .ok()
                    .filter(|_| new.external_user_name.is_none());
                let attachments = new.files.iter().map(NewAttachment::describe).collect();
                let user = user.map(|caller| &caller.user);
                Some(Arc::new(self.prepare(pushed, user, attachments).await?))
            }
        };
        self.post_prepared(actor, room.into(), new, prepared).await
    }

    /// The same where what is pushed was prepared.
    pub(crate) async fn post_prepared(
        &self,
        actor: &Actor,
        mut room: Room,
        new: NewPost,
        prepared: Option<Arc<Prepared>>,
    ) -> Result<Posted> {
        check_owner(actor, &room)?;
        check_kind(&room, &new)?;
        if !new.files.is_empty() {
            self.files
                .check_file_quota(FilesOf::room(&room), charged_bytes(&new.files))
                .await?;
        }
        let mut checked = Checked {
            fingerprint: fingerprint(actor, &new),
            prepared,
            posting_identity: None,
        };
        let mut actor = Cow::Borrowed(actor);
        for _ in 0..ATTEMPTS {
            if let Room::Private(private) = &room
                && private.id().is_none()
            {
                // A refused message must not create the conversation.
                checked_content(&room, &new, checked.prepared.as_deref())?;
                let created =
                    self.rooms
                        .create_private(&actor, private.clone(), MessageAction::Post);
                room = created.await?.into();
            }
            checked.posting_identity = self.posting_identity_of(&actor, &room, &new).await?;
            let draft = self.draft(&actor, &room, &new, &checked)?;
            let outcome = if new.event == MessageKind::Status && draft.author.user.is_some() {
                self.post_status(&actor, draft).await?
            } else {
                self.core.store().post(&actor, draft).await?.outcome
            };
            if outcome != AppendOutcome::Stale {
                return self.posted(&new, &room, outcome).await;
            }
            // Who may post here may have changed, or the sender's credential may have ended.
            actor = Cow::Owned(self.authentication.reauthenticate(&actor).await?);
            room = self
                .rooms
                .readmit(&actor, &room, MessageAction::Post)
                .await?;
        }
        checked.posting_identity = self.posting_identity_of(&actor, &room, &new).await?;
        let outcome = self.post_in_one(&actor, &room, &new, checked).await?;
        self.posted(&new, &room, outcome).await
    }

    async fn posted(&self, new: &NewPost, room: &Room, outcome: AppendOutcome) -> Result<Posted> {
        match outcome {
            AppendOutcome::Added(view) => {
                self.presence.note_post(&view.message);
                if !new.files.is_empty() {
                    self.files
                        .note_files(FilesOf::room(room), charged_bytes(&new.files));
                }
                Ok(if new.wait {
                    Posted::Message(view)
                } else {
                    Posted::Accepted
                })
            }
            AppendOutcome::Repeated(id) if new.wait => self.repeated(room, id).await,
            AppendOutcome::Repeated(_) => Ok(Posted::Accepted),
            AppendOutcome::UuidTaken => Err(Error::conflict(match room {
                Room::Flow(_) => "The uuid was used for another message in this flow",
                Room::Private(_) => "The uuid was used for another message in this conversation",
            })),
            AppendOutcome::NoParent if new.parent.is_some() => Err(Error::not_found()),
            AppendOutcome::NoParent if new.by_address => Err(Error::not_found()),
            AppendOutcome::NoParent if new.thread_id.is_some() => {
                Err(Error::invalid("thread_id", "is not a thread of this flow"))
            }
            AppendOutcome::NoParent => Err(Error::invalid(
                "external_thread_id",
                "is not a thread of this source",
            )),
            AppendOutcome::ParentIsComment => {
                Err(Error::invalid("message", "can't be a comment itself"))
            }
            AppendOutcome::ForeignThread => Err(Error::denied()),
            AppendOutcome::NoRoom => Err(Error::not_found()),
            AppendOutcome::Stale => Err(Error::unavailable("who may post here keeps changing")),
        }
    }

    /// Checks and posts in one transaction, which is dearer but cannot be overtaken by a change of
    /// rights: for rooms whose people keep coming and going.
    async fn post_in_one(
        &self,
        actor: &Actor,
        room: &Room,
        new: &NewPost,
        checked: Checked,
    ) -> Result<AppendOutcome> {
        let (messages, new) = (self.clone(), new.clone());
        let (outcome, _) = self
            .rooms
            .change(actor, room, MessageAction::Post, move |tx, actor, room| {
                let draft = messages.draft(actor, room, &new, &checked)?;
                Ok(post_one(tx, &draft)?)
            })
            .await?;
        Ok(outcome)
    }

    /// For whom a caller posts, where that matters.
    async fn posting_identity_of(
        &self,
        actor: &Actor,
        room: &Room,
        new: &NewPost,
    ) -> Result<Option<PostingIdentity>> {
        let Room::Flow(room) = room else {
            return Ok(None);
        };
        match (&new.pushed, &new.external_thread_id) {
            (None, None) => Ok(None),
            (None, Some(_)) if !actor.may_integrate() => {
                let text = "is known to applications only; name the thread_id";
                Err(Error::invalid("external_thread_id", text))
            }
            (_, own) => self
                .posting_identity(actor, room, own.is_some())
                .await
                .map(Some),
        }
    }

    fn draft(&self, actor: &Actor, room: &Room, new: &NewPost, checked: &Checked) -> Result<Draft> {
        let prepared = checked.prepared.as_deref();
        let content = checked_content(room, new, prepared)?;
        room.check_writable()?;
        let author = match (actor.user_id(), &new.external_user_name) {
            (Some(user), None) => Author::user(user),
            (_, name) => Author::anonymous(name.clone()),
        };
        let placement = self.placement(room, new)?;
        let own = prepared.and_then(|prepared| prepared.tag.clone());
        let given: Vec<String> = new.tags.iter().cloned().chain(own).collect();
        let text = search::text_of_message(new.event, &content);
        let extracted = tagging::of_new(room, author.user, &given, &text, !new.files.is_empty());
        let number = room.id().ok_or_else(Error::not_found)?;
        Ok(Draft {
            access_version: room.access_version(),
            search_tokens: search::of_message(new.event, &content),
            tags: extracted.tags,
            explicit_tags: extracted.explicit,
            uuid: new.uuid.clone(),
            fingerprint: checked.fingerprint,
            placement,
            thread: checked
                .posting_identity
                .as_ref()
                .map(|posting_identity| Box::new(thread_post(new, prepared, posting_identity))),
            files: new
                .files
                .iter()
                .map(|attachment| attachment.file.clone())
                .collect(),
            to: room.recipient(),
            ..Draft::bare(number, new.event, author, content, self.core.now())
        })
    }

    fn placement(&self, room: &Room, new: &NewPost) -> Result<Placement> {
        let Room::Flow(room) = room else {
            return Ok(Placement::Unthreaded);
        };
        if let Some(parent) = new.parent {
            return Ok(Placement::Answers(parent));
        }
        match &new.thread_id {
            None if new.external_thread_id.is_some() => Ok(Placement::InMirror),
            None => Ok(Placement::StartsThread),
            Some(id) => match self.core.thread_ids.decode(id) {
                Some((of, root)) if of == room.id() => Ok(Placement::InThread(root)),
                _ => Err(Error::invalid("thread_id", "is not a thread of this flow")),
            },
        }
    }

    /// A status is a message and the user's state in one.
    async fn post_status(&self, actor: &Actor, draft: Draft) -> Result<AppendOutcome> {
        let (outcome, _) = self
            .core
            .transaction_as(actor, move |tx, _| Ok(post_one(tx, &draft)?))
            .await?;
        Ok(outcome)
    }

    async fn repeated(&self, room: &Room, id: MessageId) -> Result<Posted> {
        let room = room.id().ok_or_else(Error::not_found)?;
        let view = self.load_view(room, id).await?;
        Ok(view.map_or(Posted::Accepted, |view| Posted::Message(Arc::new(view))))
    }
}

/// Checks the text and the tags of a message against their limits, and gives its content.
fn checked_content(room: &Room, new: &NewPost, prepared: Option<&Prepared>) -> Result<String> {
    let content = content(new, prepared)?;
    check_tags("tags", &new.tags, room.most_tags())?;
    Ok(content)
}

/// Checks that the actor is the user for whom a private conversation was looked up.
fn check_owner(actor: &Actor, room: &Room) -> Result<()> {
    match room {
        Room::Private(private) if actor.user()?.user.id != private.own() => Err(Error::denied()),
        Room::Private(_) | Room::Flow(_) => Ok(()),
    }
}

/// Checks that a room takes a message of this kind: private conversations have chat and files only,
/// no threads and no external user names.
fn check_kind(room: &Room, new: &NewPost) -> Result<()> {
    if matches!(room, Room::Flow(_)) {
        return Ok(());
    }
    let wrong = [
        (
            "event",
            !matches!(new.event, MessageKind::Message | MessageKind::File),
        ),
        ("message", new.parent.is_some()),
        ("thread_id", new.thread_id.is_some()),
        ("external_thread_id", new.external_thread_id.is_some()),
        ("external_user_name", new.external_user_name.is_some()),
    ];
    match wrong.into_iter().find(|(_, is_wrong)| *is_wrong) {
        Some((name, _)) => Err(Error::invalid(
            name,
            "can't be used in a private conversation",
        )),
        None => Ok(()),
    }
}

/// What is known of a post before it is drafted, which does not depend on the room.
struct Checked {
    fingerprint: i64,
    prepared: Option<Arc<Prepared>>,
    posting_identity: Option<PostingIdentity>,
}

/// What is kept as the content: a text as it came, or the document of something else.
fn content(new: &NewPost, prepared: Option<&Prepared>) -> Result<String> {
    match (prepared, new.event) {
        (Some(prepared), _) => Ok(prepared.content.clone()),
        (None, MessageKind::File) => match new.files.as_slice() {
            [file] => {
                serde_json::to_string(&file.describe()).map_err(|e| Error::internal(e.to_string()))
            }
            _ => Err(Error::invalid("content", "must be one file")),
        },
        (None, _) => check_text(&new.content).map(|()| new.content.clone()),
    }
}

/// Posts one draft, and makes a status the state of its author.
fn post_one(tx: &mut Tx<'_>, draft: &Draft) -> StoreResult<AppendOutcome> {
    let outcome = tx
        .messages()
        .append(std::slice::from_ref(draft))?
        .pop()
        .unwrap_or(AppendOutcome::NoRoom);
    if let (AppendOutcome::Added(_), MessageKind::Status, Some(user)) =
        (&outcome, draft.event, draft.author.user)
    {
        tx.users().set_status(user, Some(&draft.content))?;
    }
    Ok(outcome)
}

/// What a post says of the thread it goes to.
fn thread_post(
    new: &NewPost,
    prepared: Option<&Prepared>,
    posting_identity: &PostingIdentity,
) -> ThreadPost {
    let external_id = new.external_thread_id.as_deref();
    match prepared {
        Some(prepared) => prepared.thread(posting_identity, external_id),
        // Chat goes into threads that are there.
        None => ThreadPost {
            thread_owner: posting_identity.thread_owner,
            source: posting_identity.source.clone(),
            external_id: external_id.map(str::to_owned),
            begins: false,
            item: None,
            title: String::new(),
        },
    }
}

/// Digest of the request as sent. A retry with the same uuid must have the same digest.
fn fingerprint(actor: &Actor, new: &NewPost) -> i64 {
    if new.uuid.is_none() {
        return 0;
    }
    // The caller, since two who post under one outside name are still two.
    let caller = match actor {
        Actor::User { caller, .. } => format!("user {}", caller.user.id),
        Actor::FlowToken { thread_owner, .. } => {
            format!(
                "source {}",
                thread_owner.source.map_or(0, |source| source.0)
            )
        }
    };
    let pushed = new.pushed.as_ref().map(Pushed::fingerprint);
    // Ids of files are others each time.
    let files = new.files.iter().map(|attachment| {
        json!([
            attachment.content_id,
            attachment.file.name,
            &attachment.file.object.digest[..]
        ])
    });
    let all = json!([
        caller,
        new.event.as_str(),
        new.parent.map(|parent| parent.0),
        new.thread_id,
        new.external_thread_id,
        new.content,
        pushed,
        files.collect::<Vec<_>>(),
    ]);
    digest(&all.to_string())
}

/// A number that no other text has.
fn digest(text: &str) -> i64 {
    let TokenHash(hash) = TokenHash::of(text);
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    i64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::accounts::tests::{World, person};

    #[tokio::test]
    async fn a_private_conversation_has_chat_only_and_no_threads() {
        let world = World::new().await;
        let own = world.ada.user_id().unwrap();
        let rooms = world.app.rooms();
        let room = rooms
            .private(&world.ada, own, MessageAction::Post)
            .await
            .unwrap();
        let chat = || NewPost::of(MessageKind::Message, "tea".to_owned());
        let wrong = [
            ("content", NewPost::of(MessageKind::Message, " ".to_owned())),
            ("event", NewPost::of(MessageKind::Status, "tea".to_owned())),
            (
                "message",
                NewPost {
                    parent: Some(MessageId(1)),
                    ..chat()
                },
            ),
            (
                "thread_id",
                NewPost {
                    thread_id: Some("x".to_owned()),
                    ..chat()
                },
            ),
            (
                "external_thread_id",
                NewPost {
                    external_thread_id: Some("x".to_owned()),
                    ..chat()
                },
            ),
            (
                "external_user_name",
                NewPost {
                    external_user_name: Some("Bot".to_owned()),
                    ..chat()
                },
            ),
        ];
        for (field, new) in wrong {
            let posted = world.app.messages().post(&world.ada, room.clone(), new);
            let error = posted.await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{field}");
            let fields: Vec<&str> = error.fields().keys().map(String::as_str).collect();
            assert_eq!(fields, [field]);
        }
        let after = rooms.private(&world.ada, own, MessageAction::Read).await;
        assert_eq!(
            after.unwrap().id(),
            None,
            "a refused message creates no conversation"
        );
        let posted = world.app.messages().post(&world.ada, room, chat()).await;
        assert!(matches!(posted, Ok(Posted::Accepted)));
        let room = rooms
            .private(&world.ada, own, MessageAction::Read)
            .await
            .unwrap();
        let list = world
            .app
            .messages()
            .list(
                &room.into(),
                eddyline_model::messages::MessageQuery::default(),
            )
            .await
            .unwrap();
        let list: serde_json::Value = serde_json::from_slice(&list.json).unwrap();
        assert_eq!(list[0]["content"], "tea");
    }
    #[tokio::test]
    async fn a_private_conversation_of_another_user_takes_no_message() {
        let world = World::new().await;
        let ben = person(&world.app, "ben@acme.example", "ben").await;
        let ada = world.ada.user_id().unwrap();
        let rooms = world.app.rooms();
        let room = rooms.private(&world.ada, ada, MessageAction::Post).await;
        let chat = NewPost::of(MessageKind::Message, "tea".to_owned());
        let posted = world.app.messages().post(&ben, room.unwrap(), chat).await;
        assert_eq!(posted.unwrap_err().kind(), ErrorKind::Denied);
        let after = rooms.private(&world.ada, ada, MessageAction::Read).await;
        assert_eq!(after.unwrap().id(), None);
    }
}
