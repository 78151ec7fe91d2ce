//! What users are notified of.

use eddyline_model::notifications::{NotificationLevel, NotificationSettings};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a user is notified of in all flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserNotifications {
    /// Of which messages: `all`, `mentions` (and private ones) or `nothing`.
    pub level: String,
    /// Whether notifications show what was written, and not only who wrote and where.
    pub shows_text: bool,
    /// Whether there are hours of each day in which nothing is shown.
    pub quiet: bool,
    /// When they begin, such as `22:00`; null without them.
    pub from: Option<String>,
    /// When they end.
    pub until: Option<String>,
    /// Their time zone in the database of the IANA, such as `Europe/Helsinki`.
    pub zone: Option<String>,
}

impl UserNotifications {
    /// What these settings say.
    #[must_use]
    pub fn of(settings: &NotificationSettings) -> Self {
        let quiet = settings.quiet.as_ref();
        Self {
            level: settings.level.as_str().to_owned(),
            shows_text: settings.shows_text,
            quiet: quiet.is_some(),
            from: quiet.map(|quiet| quiet.from.to_string()),
            until: quiet.map(|quiet| quiet.until.to_string()),
            zone: quiet.map(|quiet| quiet.zone.clone()),
        }
    }
}

/// What a user is notified of in a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FlowNotifications {
    /// `all`, `mentions` or `nothing`; `account` for what the user has chosen for all flows.
    pub level: String,
}

impl FlowNotifications {
    /// The name of the choice that leaves it to the account.
    pub const ACCOUNT: &'static str = "account";

    /// What this level says; `None` is what the user has chosen for all flows.
    #[must_use]
    pub fn of(level: Option<NotificationLevel>) -> Self {
        let level = level.map_or(Self::ACCOUNT, NotificationLevel::as_str);
        Self {
            level: level.to_owned(),
        }
    }
}
