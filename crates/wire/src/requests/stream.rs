//! The stream.

use crate::request;
use crate::request::{boolean, choice, text, texts};

/// The most flows that one stream names.
const MAX_FLOWS: usize = 1000;

/// How a listener is shown to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Present and active.
    Active,
    /// Present, and doing something else.
    Idle,
    /// Not at all.
    Offline,
}

/// Flows that a stream brings without naming them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowSelection {
    /// Those that the caller is in, at each time.
    Joined,
}

request! {
    /// What a stream brings, and how.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Listen {
        /// 1 adds what is sent to you.
        user: bool = boolean().or(false),
        /// application/json or text/event-stream.
        accept: Option<String> = text(0..=200),
        /// How others see you.
        active: Option<Presence> = choice(&[
            ("true", Presence::Active),
            ("1", Presence::Active),
            ("idle", Presence::Idle),
            ("false", Presence::Offline),
            ("0", Presence::Offline),
        ]),
        /// 1 tells who comes and goes.
        presence: bool = boolean().or(false),
        /// The event you had last, also as the header Last-Event-ID.
        last_event_id: Option<String> = text(0..=200),
        /// 1 adds texts as HTML, with light markdown; only with text/event-stream.
        html: bool = boolean().or(false),
    }
}

request! {
    /// What an open stream shows of you.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ShowPresence {
        /// How others see you from now on.
        active: Presence = choice(&[
            ("true", Presence::Active),
            ("1", Presence::Active),
            ("idle", Presence::Idle),
            ("false", Presence::Offline),
            ("0", Presence::Offline),
        ]),
    }
}

request! {
    /// Which flows a stream brings.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct StreamFilter {
        /// joined adds the flows you are in, and each that you come into while the stream is open.
        flows: Option<FlowSelection> = choice(&[("joined", FlowSelection::Joined)]),
        /// Flows by id or organization/flow; required unless user=1 or flows=joined.
        filter: Option<Vec<String>> =
            texts().at_most(MAX_FLOWS, |most| format!("can't name more than {most} flows")),
    }
}
