//! What an operation answers, as the document describes it.

use crate::response_headers::AnswerHeader;

/// The profiles in which a response occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profiles {
    All,
    Classic,
    Others,
}

/// What an endpoint answers when all goes well.
#[derive(Debug)]
pub struct ResponseSpec {
    pub(crate) profiles: Profiles,
    /// The status.
    pub status: u16,
    /// When it is answered so, or what it says.
    pub text: &'static str,
    /// The shape of its body. `None` where it has no body.
    pub schema: Option<Shape>,
    /// The headers it has beside those of every answer.
    pub headers: &'static [AnswerHeader],
}

impl ResponseSpec {
    /// A response of every profile.
    #[must_use]
    pub fn new(status: u16, text: &'static str, schema: Option<Shape>) -> Self {
        Self {
            profiles: Profiles::All,
            status,
            text,
            schema,
            headers: &[],
        }
    }

    /// Whether the response occurs in this profile.
    #[must_use]
    pub fn is_in(&self, is_classic: bool) -> bool {
        match self.profiles {
            Profiles::All => true,
            Profiles::Classic => is_classic,
            Profiles::Others => !is_classic,
        }
    }
}

/// The shape of an answer's JSON.
#[derive(Debug)]
pub enum Shape {
    /// One of them.
    One(&'static str),
    /// One of them, as a form unless JSON is asked for.
    OneOrForm(&'static str),
    /// An array of them.
    Many(&'static str),
    /// The empty object.
    Empty,
    /// Any number of them, one after the other, as JSON or as server-sent events.
    Stream(&'static str),
    /// No JSON, but one of these content types.
    Media(&'static [&'static str]),
}
