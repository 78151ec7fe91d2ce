//! Private messages: posting, finding, changing.
//!
//! They bear no tags and are no files, but for the classic profile, where they are as a flow's
//! messages.

use std::borrow::Cow;
use std::sync::Arc;

use eddyline_model::messages::{Author, Draft, Message, MessageKind, MessageQuery, MessageView};
use eddyline_model::policy::{self, Deletion, PrivateAction};
use eddyline_model::tags::{self, Context, Extracted};
use eddyline_model::{MessageId, UserId, search};
use eddyline_storage::{MessagePage, Outcome, PrivateRoom, Tx};
use eddyline_wire::RoomRef;
use serde_json::json;

use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::files::NewAttachment;
use crate::files::usage::{FilesOf, charged_bytes};
use crate::messages::{
    Edit, LIST_BYTES, MessageList, check_tags, check_text, delete_in, digest, has_files, post_one,
    write_content, write_tags,
};
use crate::rooms::{Pair, pair_key};
use crate::{Error, Messages, Posted, Profile, Result};

/// How often a post is checked again when rights change while it is on its way.
const ATTEMPTS: usize = 3;
/// How many people a conversation has.
const PEOPLE: usize = 2;

/// A private message as a caller wants it.
#[derive(Clone, Debug)]
pub struct NewPrivateMessage {
    /// Its text; of a file nothing.
    pub content: String,
    /// The file that it is; for the classic profile only.
    pub file: Option<NewAttachment>,
    /// Tags beside those in the text; for the classic profile only.
    pub tags: Vec<String>,
    /// The caller's own identifier.
    pub uuid: Option<String>,
    /// Whether to wait for the whole message.
    pub wait: bool,
}

impl Messages {
    /// Sends a private message. The first one begins the conversation. The answer comes when it is
    /// on disk.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`], [`Error::file_quota`], [`Error::not_found`] for strangers,
    /// [`Error::denied`] for those who have left and where all common organizations are inactive,
    /// [`Error::conflict`] for a uuid that was used for something else.
    pub async fn post_private(
        &self,
        actor: &Actor,
        to: UserId,
        new: NewPrivateMessage,
    ) -> Result<Posted> {
        let own = actor.user()?.user.id;
        match &new.file {
            None => check_text(&new.content)?,
            Some(_) => {
                self.files
                    .check_file_quota(FilesOf::Private(own), charged_bytes(&new.file))
                    .await?;
            }
        }
        let mut actor = Cow::Borrowed(actor);
        for _ in 0..ATTEMPTS {
            let (pair, room) = self
                .rooms
                .private_room(&actor, to, PrivateAction::Write)
                .await?;
            let draft = self.private_draft(own, to, &pair, room, &new)?;
            let outcome = self.core.store().post(&actor, draft).await?.outcome;
            if outcome != Outcome::Stale {
                return self.posted_in_private(own, &new, room, outcome).await;
            }
            // Who may write to whom may have changed, or the sender's credential may have ended.
            actor = Cow::Owned(self.authentication.reauthenticate(&actor).await?);
            self.rooms.cache.private.invalidate(pair_key(own, to));
        }
        let (messages, wanted) = (self.clone(), new.clone());
        let post = move |tx: &mut Tx<'_>, _: &Actor, pair: &Pair, room: PrivateRoom| {
            let draft = messages.private_draft(own, to, pair, room, &wanted)?;
            Ok((room, post_one(tx, &draft)?))
        };
        let (room, outcome) = self
            .rooms
            .change_private(&actor, to, PrivateAction::Write, post)
            .await?;
        self.posted_in_private(own, &new, room, outcome).await
    }

    async fn posted_in_private(
        &self,
        own: UserId,
        new: &NewPrivateMessage,
        room: PrivateRoom,
        outcome: Outcome,
    ) -> Result<Posted> {
        if new.file.is_some() && matches!(outcome, Outcome::Added(_)) {
            self.files
                .note_files(FilesOf::Private(own), charged_bytes(&new.file));
        }
        match outcome {
            Outcome::Added(view) if new.wait => Ok(Posted::Message(view)),
            Outcome::Repeated(id) if new.wait => {
                let view = self.load_view(room.id, id).await?;
                Ok(view.map_or(Posted::Accepted, |view| Posted::Message(Arc::new(view))))
            }
            Outcome::Added(_) | Outcome::Repeated(_) => Ok(Posted::Accepted),
            Outcome::UuidTaken => {
                let text = "The uuid was used for another message in this conversation";
                Err(Error::conflict(text))
            }
            Outcome::Stale => Err(Error::unavailable("who may write to whom keeps changing")),
            Outcome::NoParent
            | Outcome::ParentIsComment
            | Outcome::ForeignThread
            | Outcome::NoRoom => Err(Error::not_found()),
        }
    }

    /// Checks that the caller may send a file to a user, before its bytes are taken.
    ///
    /// # Errors
    ///
    /// As [`Messages::post_private`].
    pub async fn may_send_file_to(&self, actor: &Actor, to: UserId) -> Result<()> {
        self.rooms
            .admit_private(actor, to, PrivateAction::Write)
            .await?;
        self.files
            .check_file_quota(FilesOf::Private(actor.user()?.user.id), 0)
            .await
    }

    fn private_draft(
        &self,
        own: UserId,
        to: UserId,
        pair: &Pair,
        room: PrivateRoom,
        new: &NewPrivateMessage,
    ) -> Result<Draft> {
        let (event, content) = match &new.file {
            None => (MessageKind::Message, new.content.clone()),
            Some(file) => {
                let document = serde_json::to_string(&file.describe());
                (
                    MessageKind::File,
                    document.map_err(|error| Error::internal(error.to_string()))?,
                )
            }
        };
        let extracted = if self.tags_private_messages() {
            check_tags(&new.tags, tags::most_tags(PEOPLE, 0))?;
            let context = Context {
                roster: pair,
                sender: Some(own),
                has_attachments: new.file.is_some(),
            };
            let text = search::text_of_message(event, &content);
            let mut extracted = tags::extract(&new.tags, &text, &context);
            if to != own {
                tags::set_unread(&mut extracted, to, true);
            }
            extracted
        } else {
            Extracted::default()
        };
        let fingerprint = match (&new.uuid, &new.file) {
            (None, _) => 0,
            (Some(_), None) => digest(&format!("{own}\n{}", new.content)),
            // The id of a file is another each time.
            (Some(_), Some(NewAttachment { file, .. })) => {
                digest(&json!([own.0, file.name, &file.object.digest[..]]).to_string())
            }
        };
        Ok(Draft {
            access_version: Some(room.access_version),
            search_tokens: search::of_message(event, &content),
            tags: extracted.tags,
            explicit_tags: extracted.explicit,
            mentions: extracted.mentions,
            uuid: new.uuid.clone(),
            fingerprint,
            files: new
                .file
                .iter()
                .map(|attachment| attachment.file.clone())
                .collect(),
            to: Some(to),
            ..Draft::bare(room.id, event, Author::user(own), content, self.core.now())
        })
    }

    /// Whether private messages bear tags.
    fn tags_private_messages(&self) -> bool {
        self.core.config().profile == Profile::Classic
    }

    /// The matches of a query in the conversation with a user.
    /// Tags count in the classic profile only, where they add to what a search finds.
    ///
    /// # Errors
    ///
    /// As [`Messages::conversation`].
    pub async fn list_private(
        &self,
        actor: &Actor,
        with: UserId,
        mut query: MessageQuery,
    ) -> Result<MessageList> {
        let pair = self
            .rooms
            .admit_private(actor, with, PrivateAction::Read)
            .await?;
        if !self.tags_private_messages() {
            query.tags.clear();
        }
        let encoder = self.core.encoder().clone();
        let (Some(room), Some(query)) = (pair.conversation(), self.resolve_query(query, &*pair))
        else {
            return Ok(MessageList::empty());
        };
        let wanted = query.clone();
        let show = move |page: MessagePage| {
            MessageList::encode(&encoder, &page, &wanted, RoomRef::Private)
        };
        let _permit = self.search_permit(&query).await?;
        Ok(self
            .core
            .store()
            .list(room.id, query, LIST_BYTES, show)
            .await?)
    }

    /// One message of the conversation with a user.
    ///
    /// # Errors
    ///
    /// As [`Messages::conversation`]; [`Error::not_found`] when the message is not there.
    pub async fn get_private(
        &self,
        actor: &Actor,
        with: UserId,
        id: MessageId,
    ) -> Result<MessageView> {
        let pair = self
            .rooms
            .admit_private(actor, with, PrivateAction::Read)
            .await?;
        let room = pair.conversation().ok_or_else(Error::not_found)?;
        self.load_view(room.id, id)
            .await?
            .ok_or_else(Error::not_found)
    }

    /// Edits a private message and tells the streams of both: its text, if it is the caller's own,
    /// and in the classic profile its tags.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`], [`Error::denied`], [`Error::not_found`].
    pub async fn edit_private(
        &self,
        actor: &Actor,
        with: UserId,
        id: MessageId,
        mut edit: Edit,
    ) -> Result<()> {
        if let Some(content) = &edit.content {
            check_text(content)?;
        }
        let tagged = self.tags_private_messages();
        edit.tags = edit.tags.filter(|_| tagged);
        if let Some(wanted) = &edit.tags {
            check_tags(wanted, tags::most_tags(PEOPLE, 0))?;
        }
        let words = edit
            .content
            .as_deref()
            .map(search::tokens)
            .unwrap_or_default();
        self.change_private_message(actor, with, id, move |tx, actor, pair, mut message| {
            let user = actor.user_id().ok_or_else(Error::denied)?;
            if edit.content.is_some() {
                policy::edit_content(user, &message).map_err(Error::from)?;
            }
            if let Some(content) = edit
                .content
                .as_ref()
                .filter(|content| **content != message.content)
            {
                let extracted = match tagged {
                    true => tags_of_text(&message, content, pair),
                    false => Extracted::default(),
                };
                message = write_content(tx, actor, &message, content, extracted, &words)?;
            }
            if let Some(wanted) = &edit.tags {
                let changes = write_tags(
                    tx,
                    actor,
                    &message,
                    tags_as_wanted(&message, wanted, user, pair),
                )?;
                // A user who takes off their own mark has read the message.
                if changes
                    .remove
                    .iter()
                    .any(|tag| tags::parse_unread(tag) == Some(user))
                {
                    tx.messages()
                        .set_mention_seen(message.room, user, message.id)?;
                }
            }
            Ok(())
        })
        .await
    }

    /// Deletes a private message, which stays as an empty place, and tells the streams of both.
    /// Says what the deletion came to.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for the other's messages, [`Error::not_found`].
    pub async fn delete_private(
        &self,
        actor: &Actor,
        with: UserId,
        id: MessageId,
    ) -> Result<Deletion> {
        let work = |tx: &mut Tx<'_>, actor: &Actor, _: &Pair, message: Message| {
            delete_in(tx, actor, &message)
        };
        let deletion = self.change_private_message(actor, with, id, work).await?;
        if deletion == Deletion::Remove {
            self.files
                .sums
                .invalidate(FilesOf::Private(actor.user()?.user.id));
        }
        Ok(deletion)
    }

    async fn change_private_message<R, F>(
        &self,
        actor: &Actor,
        with: UserId,
        id: MessageId,
        change: F,
    ) -> Result<R>
    where
        R: Send + 'static,
        F: Fn(&mut Tx<'_>, &Actor, &Pair, Message) -> TxResult<R> + Send + 'static,
    {
        self.rooms
            .change_private(
                actor,
                with,
                PrivateAction::Write,
                move |tx, actor, pair, room| match tx.messages().find(room.id, id)? {
                    Some(message) if message.event.is_listed() => change(tx, actor, pair, message),
                    _ => Err(Error::not_found().into()),
                },
            )
            .await
    }
}

/// The recipient for whom a private message is unread: none in a conversation with oneself.
fn reader(message: &Message) -> Option<UserId> {
    message.to.filter(|to| message.author.user != Some(*to))
}

/// The tags of a private message whose text becomes `content`.
fn tags_of_text(message: &Message, content: &str, pair: &Pair) -> Extracted {
    let context = Context {
        roster: pair,
        sender: message.author.user,
        has_attachments: false,
    };
    let mut extracted = tags::reparse(&message.tags, &message.explicit_tags, content, &context);
    if let Some(reader) = reader(message) {
        let unread = message.tags.contains(&tags::unread_tag(reader));
        tags::set_unread(&mut extracted, reader, unread);
    }
    extracted
}

/// The tags of a private message that a user sets to `wanted`.
fn tags_as_wanted(message: &Message, wanted: &[String], user: UserId, pair: &Pair) -> Extracted {
    let context = Context {
        roster: pair,
        sender: Some(user),
        has_attachments: has_files(message),
    };
    let mut extracted = tags::replace(&message.tags, &message.explicit_tags, wanted, &context);
    if let Some(reader) = reader(message) {
        let unread = tags::keeps_unread(&message.tags, wanted, reader);
        tags::set_unread(&mut extracted, reader, unread);
    }
    extracted
}
