//! What users are notified of.

use eddyline_model::notifications::{NotificationLevel, TimeOfDay};

use crate::notifications::FlowNotifications;
use crate::request;
use crate::request::{boolean, choice, parsed, text};

const MAX_ZONE: usize = 100;
/// As browsers write it, with seconds.
const MAX_TIME: usize = 8;

/// What a user chooses for a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowLevel {
    /// What holds for all flows.
    Account,
    /// A level of its own.
    Own(NotificationLevel),
}

impl FlowLevel {
    /// The level; `None` for what holds for all flows.
    #[must_use]
    pub fn own(self) -> Option<NotificationLevel> {
        match self {
            Self::Account => None,
            Self::Own(level) => Some(level),
        }
    }
}

request! {
    /// What you are notified of in all flows; what is `None` stays as it is.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct UpdateNotifications {
        /// Of which messages.
        level: Option<NotificationLevel> = choice(&[
            ("all", NotificationLevel::All),
            ("mentions", NotificationLevel::Mentions),
            ("nothing", NotificationLevel::Nothing),
        ]),
        /// Whether notifications show what was written.
        shows_text: Option<bool> = boolean(),
        /// Whether there are hours in which nothing is shown; true with from, until and zone.
        quiet: Option<bool> = boolean(),
        /// When the quiet hours begin, such as 22:00.
        from: Option<TimeOfDay> = parsed::<TimeOfDay>(1..=MAX_TIME),
        /// When they end.
        until: Option<TimeOfDay> = parsed::<TimeOfDay>(1..=MAX_TIME),
        /// Their time zone, such as Europe/Helsinki.
        zone: Option<String> = text(1..=MAX_ZONE),
    }
}

request! {
    /// What you are notified of in a flow.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct UpdateFlowNotifications {
        /// Of which messages; account for what holds for all flows.
        level: FlowLevel = choice(&[
            ("all", FlowLevel::Own(NotificationLevel::All)),
            ("mentions", FlowLevel::Own(NotificationLevel::Mentions)),
            ("nothing", FlowLevel::Own(NotificationLevel::Nothing)),
            (FlowNotifications::ACCOUNT, FlowLevel::Account),
        ]),
    }
}
