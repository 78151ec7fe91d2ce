//! What is made of messages that are documents before they are posted: their HTML made harmless, once.

use std::sync::Arc;

use eddyline_model::items::Item;
use eddyline_model::messages::ThreadPost;
use eddyline_model::users::User;
use eddyline_wire::{Attachment, Author, is_unseen};
use serde_json::{Value, json};

use super::inbox::NewInbox;
use super::mail::PushedMail;
use super::posting_identity::PostingIdentity;
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

/// What is pushed, as it is to be kept.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// The document.
    pub(crate) content: String,
    /// What a thread is called that begins with it; HTML. Empty where nothing can be read in it.
    pub(crate) title: String,
    /// The new state of the thread's item.
    pub(crate) item: Option<Arc<Item>>,
    /// A tag of our own.
    pub(crate) tag: Option<String>,
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

impl Prepared {
    /// What the post says of its thread, which the posting identity knows by this id.
    pub(crate) fn thread(&self, posting_identity: &PostingIdentity, external_id: Option<&str>) -> ThreadPost {
        let source = posting_identity.source.as_ref().map(|source| source.application.as_str());
        let title = match self.title.is_empty() {
            false => self.title.clone(),
            true => eddyline_markup::escape(external_id.or(source).unwrap_or("Inbox")),
        };
        ThreadPost {
            thread_owner: posting_identity.thread_owner,
            source: posting_identity.source.clone(),
            external_id: external_id.map(str::to_owned),
            begins: true,
            item: self.item.clone(),
            title,
        }
    }
}

impl Messages {
    /// Checks what is pushed and makes its HTML harmless. `user` did it unless it names somebody else.
    pub(crate) async fn prepare(
        &self,
        pushed: &Pushed,
        user: Option<&User>,
        attachments: Vec<Attachment>,
    ) -> Result<Prepared> {
        let base = &self.core.config().addresses.base;
        let author = user.map(|user| {
            let avatar = eddyline_wire::User::of(user, base).avatar;
            Author { name: user.name.clone(), avatar: Some(avatar) }
        });
        if pushed.weight() <= AT_ONCE_BYTES {
            return pushed.prepare(author, attachments);
        }
        let pushed = pushed.clone();
        let prepared = tokio::task::spawn_blocking(move || pushed.prepare(author, attachments)).await;
        prepared.map_err(|error| Error::Internal(error.to_string()))?
    }
}

/// Whether HTML of links only shows nothing.
pub(super) fn is_blank(html: &str) -> bool {
    eddyline_markup::text(html).chars().all(|c| c.is_whitespace() || is_unseen(c))
}
