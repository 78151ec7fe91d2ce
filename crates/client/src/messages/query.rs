//! Which messages a list holds.

use crate::request::RequestBuilder;

/// Which messages of a flow to list. The list is always in ascending order of the ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageQuery {
    /// Kinds of messages; all when empty.
    pub events: Vec<String>,
    /// How many, from 1 to 100; the server's default is 30.
    pub limit: Option<u32>,
    /// Whether the latest or the oldest matches are wanted.
    pub sort: Sort,
    /// How many matches to pass over first.
    pub skip: Option<u32>,
    /// Only messages after this id.
    pub since_id: Option<i64>,
    /// Only messages before this id.
    pub until_id: Option<i64>,
    /// Only messages with these tags.
    pub tags: Vec<String>,
    /// Whether all of the tags or one of them are wanted.
    pub tag_mode: TagMode,
    /// Only messages holding all these words. `since_id` and `until_id` are ignored then.
    pub search: Option<String>,
}

/// Which end of the matches a list is taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The latest.
    #[default]
    Latest,
    /// The oldest.
    Oldest,
}

/// How several tags combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagMode {
    /// A message must have all of them.
    #[default]
    And,
    /// A message must have one of them.
    Or,
}

impl MessageQuery {
    /// The latest messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only messages of this kind, beside those named before.
    #[must_use]
    pub fn event(mut self, event: &str) -> Self {
        self.events.push(event.to_owned());
        self
    }

    /// At most this many.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The oldest matches instead of the latest.
    #[must_use]
    pub fn oldest(mut self) -> Self {
        self.sort = Sort::Oldest;
        self
    }

    /// Passes over this many matches.
    #[must_use]
    pub fn skip(mut self, count: u32) -> Self {
        self.skip = Some(count);
        self
    }

    /// Only messages after this id.
    #[must_use]
    pub fn since(mut self, id: i64) -> Self {
        self.since_id = Some(id);
        self
    }

    /// Only messages before this id.
    #[must_use]
    pub fn until(mut self, id: i64) -> Self {
        self.until_id = Some(id);
        self
    }

    /// Only messages with this tag, and with those named before.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        self.tags.push(tag.to_owned());
        self
    }

    /// One of the tags suffices.
    #[must_use]
    pub fn any_tag(mut self) -> Self {
        self.tag_mode = TagMode::Or;
        self
    }

    /// Only messages holding all these words.
    #[must_use]
    pub fn search(mut self, words: &str) -> Self {
        self.search = Some(words.to_owned());
        self
    }

    pub(crate) fn apply(&self, mut request: RequestBuilder) -> RequestBuilder {
        let sort = (self.sort == Sort::Oldest).then(|| "asc".to_owned());
        let tag_mode = (self.tag_mode == TagMode::Or).then(|| "or".to_owned());
        let parameters = [
            ("event", joined(&self.events)),
            ("limit", self.limit.map(|n| n.to_string())),
            ("sort", sort),
            ("skip", self.skip.map(|n| n.to_string())),
            ("since_id", self.since_id.map(|n| n.to_string())),
            ("until_id", self.until_id.map(|n| n.to_string())),
            ("tags", joined(&self.tags)),
            ("tag_mode", tag_mode),
            ("search", self.search.clone()),
        ];
        for (name, value) in parameters {
            if let Some(value) = value {
                request = request.query(name, value);
            }
        }
        request
    }
}

fn joined(items: &[String]) -> Option<String> {
    (!items.is_empty()).then(|| items.join(","))
}
