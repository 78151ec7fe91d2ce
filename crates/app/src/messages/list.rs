//! Lists of messages as they are answered: encoded, and no longer than a bound.

use bytes::Bytes;
use eddyline_model::MessageId;
use eddyline_model::messages::{MessageQuery, MessageView, Sort};
use eddyline_storage::MessagePage;
use eddyline_wire::{Encoder, RoomRef};

use crate::html::add_html_to_list;

/// About how many bytes a list of messages or threads has at most. One entry may be larger.
pub const LIST_BYTES: usize = 2 * 1024 * 1024;

/// A part of a list of messages.
#[derive(Clone, Debug, Default)]
pub struct MessageViews {
    /// The messages, ascending by number.
    pub messages: Vec<MessageView>,
    /// As [`MessageList::next`].
    pub next: Option<MessageId>,
    /// As [`MessageList::previous`].
    pub previous: Option<MessageId>,
}

impl MessageViews {
    pub(crate) fn of(page: MessagePage) -> Self {
        Self {
            messages: page.messages,
            next: page.next,
            previous: page.previous,
        }
    }
}

/// A part of a list of messages, encoded.
#[derive(Clone, Debug)]
pub struct MessageList {
    /// A JSON array, ascending by number.
    pub json: Bytes,
    /// Beyond which message the list goes on, in its order. `None` at its end; there may turn out
    /// to be nothing more.
    pub next: Option<MessageId>,
    /// Of a list around a place: before which message there are earlier ones. There may turn out to
    /// be none.
    pub previous: Option<MessageId>,
}

impl MessageList {
    /// The list of nothing.
    pub(crate) fn empty() -> Self {
        Self {
            json: Bytes::from_static(b"[]"),
            next: None,
            previous: None,
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
        if query.around.is_some() {
            return Self::encode_around(encoder, page, place);
        }
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
            previous: None,
        }
    }

    /// Each side of the place has half of the bytes, so that what is nearest to it is there.
    fn encode_around(encoder: &Encoder, page: &MessagePage, place: RoomRef<'_>) -> Self {
        let (before, onward) = page.messages.split_at(page.before);
        let side = |views, oldest| encoder.messages_within(views, place, LIST_BYTES / 2, oldest);
        let ((earlier, first), (later, last)) = (side(before, false), side(onward, true));
        let id_of = |view: Option<&MessageView>| view.map(|view| view.message.id);
        let previous = match first < before.len() {
            true => id_of(before.get(before.len() - first)),
            false => page.previous,
        };
        let next = match last < onward.len() {
            true => id_of(onward.get(last.saturating_sub(1))),
            false => page.next,
        };
        let inner = [&earlier[1..earlier.len() - 1], &later[1..later.len() - 1]];
        let separator: &[u8] = if inner.iter().any(|side| side.is_empty()) {
            b""
        } else {
            b","
        };
        let json = [b"[", inner[0], separator, inner[1], b"]"].concat();
        Self {
            json: json.into(),
            next,
            previous,
        }
    }
}
