//! Messages: posting, finding, changing.

mod conversations;
pub(crate) mod delete;
mod edit;
mod everywhere;
mod find;
mod inbox;
mod latest;
mod list;
mod mail;
mod post;
mod posting_identity;
mod prepared;
mod push;
mod pushed;
mod reactions;
mod reading;
mod searches;
mod tagging;

use crate::authenticate::Authentication;
use crate::core::Core;
use crate::files::Files;
use crate::presence::PresenceTracker;
use crate::rooms::Rooms;
use eddyline_model::messages::{Author, Draft, MAX_CONTENT_CHARS, Message, Notice};
use eddyline_model::{MessageId, Timestamp, UserId, tags};
use eddyline_storage::Tx;
use std::sync::Arc;

pub use edit::{Edit, TagEdit};
pub use everywhere::{ROOMS_OF_LIST, RoomsList, RoomsMessages};
pub use inbox::NewInbox;
pub(crate) use latest::Latest;
pub use list::{LIST_BYTES, MessageList, MessageViews};
pub use mail::PushedMail;
pub use post::{NewPost, Posted};
pub use push::Pushing;
pub use pushed::Pushed;
pub use reactions::ReactionChange;
pub(crate) use searches::Searches;

use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::rooms::Room;
use crate::{Error, Result};
use eddyline_model::policy::MessageAction;

/// Checks the text of a chat message, comment or status: 1 to 8096 characters (specification,
/// section 8), counted as Unicode scalar values.
pub(crate) fn check_text(text: &str) -> Result<()> {
    let trouble = if text.trim().is_empty() {
        "can't be blank".to_owned()
    } else if text.contains('\0') {
        "can't contain NUL".to_owned()
    } else if text.len() > MAX_CONTENT_CHARS && text.chars().count() > MAX_CONTENT_CHARS {
        format!("is too long (maximum is {MAX_CONTENT_CHARS} characters)")
    } else {
        return Ok(());
    };
    Err(Error::invalid("content", trouble))
}

/// Checks the tags that a client gave for a message that can have so many.
pub(crate) fn check_tags(field: &str, given: &[String], most: usize) -> Result<()> {
    if given.len() > most {
        return Err(Error::invalid(field, tags::TagError::TooMany.to_string()));
    }
    tags::validate(given).map_err(|error| Error::invalid(field, error.to_string()))
}

/// The message that tells streams of a change to another by this user: never listed, and in no
/// thread.
pub(crate) fn notice(about: &Message, by: Option<UserId>, notice: Notice, now: Timestamp) -> Draft {
    let author = Author {
        user: by,
        external_name: None,
    };
    let to = recipient(about, by);
    let live = Some(Box::new(notice.live));
    Draft {
        to,
        live,
        ..Draft::bare(about.room, notice.event, author, notice.kept, now)
    }
}

/// The recipient of a notice about a private message: the other of its two users, whichever of them
/// made the change.
fn recipient(about: &Message, by: Option<UserId>) -> Option<UserId> {
    let to = about.to?;
    if by == Some(to) {
        about.author.user
    } else {
        Some(to)
    }
}

/// Messages of flows and of private conversations. See [`crate::App::messages`].
#[derive(Clone)]
pub struct Messages {
    core: Core,
    authentication: Authentication,
    rooms: Rooms,
    files: Files,
    presence: PresenceTracker,
    pub(crate) latest: Arc<Latest>,
    searches: Arc<Searches>,
}

crate::core::opaque_debug!(Messages);

impl Messages {
    pub(crate) fn new(
        core: Core,
        authentication: Authentication,
        rooms: Rooms,
        files: Files,
        presence: PresenceTracker,
    ) -> Self {
        let (latest, searches) = (Arc::default(), Arc::default());
        Self {
            core,
            authentication,
            rooms,
            files,
            presence,
            latest,
            searches,
        }
    }

    /// Changes one listed message in one transaction: loads room and message anew, checks that
    /// the caller may do `action` there, and lets `change` do the rest.
    async fn change_message<R, F>(
        &self,
        actor: &Actor,
        room: &Room,
        id: MessageId,
        action: MessageAction,
        change: F,
    ) -> Result<R>
    where
        R: Send + 'static,
        F: Fn(&mut Tx<'_>, &Actor, &Room, Message) -> TxResult<R> + Send + 'static,
    {
        let user = actor.user()?.user.id;
        let ((changed, room, at), event) = self
            .rooms
            .change(actor, room, action, move |tx, actor, room| {
                let number = room.id().ok_or_else(Error::not_found)?;
                match tx.messages().find(number, id)? {
                    Some(message) if message.event.is_listed() => {
                        Ok((change(tx, actor, room, message)?, number, tx.now()))
                    }
                    _ => Err(Error::not_found().into()),
                }
            })
            .await?;
        // The feed notes it too, but the caller may look before the feed has read of it.
        if event.is_some() {
            self.presence.note_activity(user, room, at);
        }
        Ok(changed)
    }
}
