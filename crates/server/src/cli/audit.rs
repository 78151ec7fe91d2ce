//! The operator's command that shows the audit log.

use std::str::FromStr;

use clap::Args;
use eddyline_app::AuditAction;
use eddyline_model::{Day, Timestamp};

/// `admin audit`
#[derive(Args)]
pub(crate) struct AuditArgs {
    /// Only records of this organization, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: Option<String>,
    /// Only records from this time on: a day, or a time such as 2026-11-29T08:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<RecordTime>,
    /// Only records before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<RecordTime>,
    /// Only records of this action, such as token.create; may be repeated
    #[arg(long, value_name = "ACTION", value_parser = known_action)]
    pub(crate) action: Vec<AuditAction>,
    /// Only records about or by the user with this e-mail address
    #[arg(long, value_name = "EMAIL")]
    pub(crate) user: Option<String>,
    /// Only records of this actor: operator, server, user:7, scim:UID, source:7 or application:7
    #[arg(long, value_name = "ACTOR")]
    pub(crate) actor: Option<String>,
    /// Only what was recorded before this number
    #[arg(long, value_name = "ID", conflicts_with = "follow")]
    pub(crate) before: Option<i64>,
    /// How many records at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    /// Show the last records and then each new one, until it is stopped
    #[arg(long)]
    pub(crate) follow: bool,
}

/// A moment: the beginning of a day (UTC), or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordTime(pub(crate) Timestamp);

impl FromStr for RecordTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let whole = match text.parse::<Day>() {
            Ok(_) => format!("{text}T00:00:00Z"),
            Err(_) => text.to_owned(),
        };
        let time = Timestamp::parse_iso8601(&whole);
        time.map(Self).ok_or_else(|| {
            "it is no day such as 2026-11-29, and no time such as 2026-11-29T08:00:00Z".to_owned()
        })
    }
}

fn known_action(name: &str) -> Result<AuditAction, String> {
    AuditAction::named(name).ok_or_else(|| {
        let area = name.split('.').next().unwrap_or_default();
        let all = AuditAction::ALL.iter().map(|action| action.name());
        let near: Vec<_> = all
            .clone()
            .filter(|known| known.split('.').next() == Some(area))
            .collect();
        let known = if near.is_empty() { all.collect() } else { near };
        format!("there is no such action; known are {}", known.join(", "))
    })
}
