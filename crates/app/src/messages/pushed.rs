//! What is made of messages that are documents before they are posted: their HTML made harmless,
//! once.

use eddyline_model::items::Item;
use eddyline_model::users::User;
use eddyline_wire::{Attachment, Author};
use serde_json::{Value, json};

use super::inbox::NewInbox;
use super::mail::PushedMail;
use super::prepared::Prepared;
use crate::{Error, Messages, Result};

/// About how many bytes are sanitised at once; more is done where it keeps nobody waiting.
const AT_ONCE_BYTES: usize = 8 * 1024;

/// What an integration pushes, beside chat.
#[derive(Clone, Debug)]
pub enum Pushed {
    /// An activity or a discussion.
    Inbox(NewInbox),
    /// A mail.
    Mail(PushedMail),
}

impl Pushed {
    /// What a repeat must agree in.
    pub(crate) fn fingerprint(&self) -> Value {
        match self {
            Self::Inbox(inbox) => json!([inbox.author, inbox.title, inbox.body, inbox.item]),
            // It comes without a uuid.
            Self::Mail(_) => Value::Null,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Inbox(inbox) => inbox.body.len() + inbox.item.as_ref().map_or(0, Item::weight),
            Self::Mail(mail) => mail.content.len(),
        }
    }

    fn prepare(&self, user: Option<Author>, attachments: Vec<Attachment>) -> Result<Prepared> {
        match self {
            Self::Inbox(inbox) => inbox.prepare(user, attachments),
            Self::Mail(mail) => mail.prepare(),
        }
    }
}

impl Messages {
    /// Checks what is pushed and makes its HTML harmless. `user` did it unless it names somebody
    /// else.
    pub(crate) async fn prepare(
        &self,
        pushed: &Pushed,
        user: Option<&User>,
        attachments: Vec<Attachment>,
    ) -> Result<Prepared> {
        let base = &self.core.config().addresses.base;
        let author = user.map(|user| {
            let avatar = eddyline_wire::User::of(user, base).avatar;
            Author {
                name: user.name.clone(),
                avatar: Some(avatar),
                avatar_path: None,
            }
        });
        if pushed.weight() <= AT_ONCE_BYTES {
            return pushed.prepare(author, attachments);
        }
        let pushed = pushed.clone();
        let prepared =
            tokio::task::spawn_blocking(move || pushed.prepare(author, attachments)).await;
        prepared.map_err(|error| Error::internal(error.to_string()))?
    }
}
