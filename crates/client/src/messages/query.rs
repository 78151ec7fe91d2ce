//! Which messages a list holds.

use eddyline_model::messages::{MessageKind, Sort};
use eddyline_wire::requests::{ListMessages, TagMode};

use crate::request::RequestBuilder;

/// Which messages of a flow to list: the latest, unless it says more. The list is always in
/// ascending order of the ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageQuery(
    /// The parameters.
    pub ListMessages,
);

impl MessageQuery {
    /// The latest messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only messages of this kind, beside those named before.
    #[must_use]
    pub fn event(mut self, event: MessageKind) -> Self {
        self.0.event.get_or_insert_default().push(event);
        self
    }

    /// At most this many.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.0.limit = Some(limit.into());
        self
    }

    /// The oldest matches instead of the latest.
    #[must_use]
    pub fn oldest(mut self) -> Self {
        self.0.sort = Some(Sort::Ascending);
        self
    }

    /// Passes over this many matches.
    #[must_use]
    pub fn skip(mut self, count: u32) -> Self {
        self.0.skip = Some(count.into());
        self
    }

    /// Only messages after this id.
    #[must_use]
    pub fn since(mut self, id: i64) -> Self {
        self.0.since_id = Some(id);
        self
    }

    /// Only messages before this id.
    #[must_use]
    pub fn until(mut self, id: i64) -> Self {
        self.0.until_id = Some(id);
        self
    }

    /// Messages around this one, half of them before it. Goes with neither `oldest`, `skip`,
    /// `since`, `until` nor `search`.
    #[must_use]
    pub fn around(mut self, id: i64) -> Self {
        self.0.around_id = Some(id);
        self
    }

    /// The same around the first message sent at this time or later, in milliseconds since 1970,
    /// or else the latest messages.
    #[must_use]
    pub fn around_time(mut self, at: i64) -> Self {
        self.0.around_time = Some(at);
        self
    }

    /// Only messages that this user wrote.
    #[must_use]
    pub fn by(mut self, user: i64) -> Self {
        self.0.user = Some(user);
        self
    }

    /// Only messages from the first one on that was sent at this time or later, in milliseconds
    /// since 1970.
    #[must_use]
    pub fn since_time(mut self, at: i64) -> Self {
        self.0.since_time = Some(at);
        self
    }

    /// Only messages before the first one that was sent at this time or later, in milliseconds
    /// since 1970.
    #[must_use]
    pub fn until_time(mut self, at: i64) -> Self {
        self.0.until_time = Some(at);
        self
    }

    /// Only messages with this tag, and with those named before.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        self.0.tags.get_or_insert_default().push(tag.to_owned());
        self
    }

    /// One of the tags suffices.
    #[must_use]
    pub fn any_tag(mut self) -> Self {
        self.0.tag_mode = Some(TagMode::Or);
        self
    }

    /// Only messages holding all these words. `since` and `until` are ignored then.
    #[must_use]
    pub fn search(mut self, words: &str) -> Self {
        self.0.search = Some(words.to_owned());
        self
    }

    /// Wants the texts as HTML, too.
    #[must_use]
    pub fn html(mut self) -> Self {
        self.0.html = Some(true);
        self
    }

    pub(crate) fn apply(&self, request: RequestBuilder) -> RequestBuilder {
        request.query_of(&self.0)
    }
}
