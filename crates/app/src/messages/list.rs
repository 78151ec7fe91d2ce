//! Lists of messages as they are answered: encoded, and no longer than a bound.

use bytes::Bytes;
use eddyline_model::MessageId;
use eddyline_model::messages::{MessageQuery, Sort};
use eddyline_storage::MessagePage;
use eddyline_wire::{Encoder, RoomRef};

use crate::html::add_html_to_list;

/// About how many bytes a list of messages or threads has at most. One entry may be larger.
pub const LIST_BYTES: usize = 2 * 1024 * 1024;

/// A part of a list of messages, encoded.
#[derive(Clone, Debug)]
pub struct MessageList {
    /// A JSON array, ascending by number.
    pub json: Bytes,
    /// Beyond which message the list goes on, in its order. `None` at its end; there may turn out
    /// to be nothing more.
    pub next: Option<MessageId>,
}

impl MessageList {
    /// The list of nothing.
    pub(crate) fn empty() -> Self {
        Self {
            json: Bytes::from_static(b"[]"),
            next: None,
        }
    }

    /// The same list, with the text of each message as HTML.
    #[must_use]
    pub fn with_html(self) -> Self {
        Self {
            json: add_html_to_list(&self.json).into(),
            ..self
        }
    }

    pub(crate) fn encode(
        encoder: &Encoder,
        page: &MessagePage,
        query: &MessageQuery,
        place: RoomRef<'_>,
    ) -> Self {
        let oldest = query.sort == Sort::Ascending;
        let (json, kept) = encoder.messages_within(&page.messages, place, LIST_BYTES, oldest);
        let count = page.messages.len();
        let next = match (kept < count, oldest) {
            (false, _) => page.next,
            (true, true) => page.messages.get(kept - 1).map(|view| view.message.id),
            (true, false) => page.messages.get(count - kept).map(|view| view.message.id),
        };
        Self {
            json: json.into(),
            next,
        }
    }
}
