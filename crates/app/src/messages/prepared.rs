//! What is made of a document that is posted.

use std::sync::Arc;

use eddyline_model::items::Item;
use eddyline_model::messages::ThreadPost;
use eddyline_wire::is_unseen;

use super::posting_identity::PostingIdentity;

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

impl Prepared {
    /// What the post says of its thread, which the posting identity knows by this id.
    pub(crate) fn thread(
        &self,
        posting_identity: &PostingIdentity,
        external_id: Option<&str>,
    ) -> ThreadPost {
        let source = posting_identity
            .source
            .as_ref()
            .map(|source| source.application.as_str());
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

/// Whether HTML of links only shows nothing.
pub(super) fn is_blank(html: &str) -> bool {
    eddyline_markup::text(html)
        .chars()
        .all(|c| c.is_whitespace() || is_unseen(c))
}
