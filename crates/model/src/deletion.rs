//! Deletions of organizations and users that wait for their day.

use std::fmt;
use std::str::FromStr;

use crate::audit::actor;
use crate::{Day, OrganizationId, Timestamp, UserId};

/// The most days for which a deletion waits.
pub const MAX_GRACE_DAYS: u32 = 365;

const DAY_MILLIS: i64 = 24 * 3_600_000;

/// What is to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeletionTarget {
    /// An organization with everything that belongs to it.
    Organization(OrganizationId),
    /// A user, who is erased.
    User(UserId),
}

/// For how many days a deletion waits; with none it is due at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GracePeriod(u32);

/// The text is not a grace time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a number of days from 0d to {MAX_GRACE_DAYS}d, such as 30d")]
pub struct InvalidGracePeriod;

impl GracePeriod {
    /// The one that is used when none is named: 30 days.
    pub const DEFAULT: Self = Self(30);

    /// Whether the deletion does not wait.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The number of days.
    #[must_use]
    pub const fn days(self) -> u32 {
        self.0
    }

    /// When a deletion is due that is requested at this time.
    #[must_use]
    pub fn after(self, requested_at: Timestamp) -> Timestamp {
        requested_at.plus_millis(i64::from(self.0) * DAY_MILLIS)
    }
}

impl FromStr for GracePeriod {
    type Err = InvalidGracePeriod;

    fn from_str(text: &str) -> Result<Self, InvalidGracePeriod> {
        let days = text.strip_suffix('d').ok_or(InvalidGracePeriod)?;
        if !days.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidGracePeriod);
        }
        let days = days.parse().map_err(|_| InvalidGracePeriod)?;
        match days {
            0..=MAX_GRACE_DAYS => Ok(Self(days)),
            _ => Err(InvalidGracePeriod),
        }
    }
}

impl fmt::Display for GracePeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}d", self.0)
    }
}

/// A deletion that was requested and is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingDeletion {
    /// What is to be deleted.
    pub target: DeletionTarget,
    /// Who requested it, see [`crate::audit::actor`].
    pub requested_by: String,
    /// When it was requested.
    pub requested_at: Timestamp,
    /// From when on a server deletes.
    pub due_at: Timestamp,
    /// When a server began to delete; nothing can be restored from then on.
    pub begun_at: Option<Timestamp>,
    /// Whether the organization or the user was active before.
    pub was_active: bool,
}

impl PendingDeletion {
    /// Whether a server is to delete now.
    #[must_use]
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.begun_at.is_some() || self.due_at <= now
    }

    /// Whether it can still be cancelled.
    #[must_use]
    pub fn is_cancellable(&self) -> bool {
        self.begun_at.is_none()
    }

    /// The user who requested it; `None` where an operator did.
    #[must_use]
    pub fn requester(&self) -> Option<UserId> {
        actor::named_user(&self.requested_by)
    }
}

/// The text of the refusal for an organization that is closed, and will be deleted at this time.
#[must_use]
pub fn closed_text(due_at: Timestamp) -> String {
    match Day::of(due_at) {
        Some(day) => {
            format!(
                "This organization is closed. It will be deleted on {day} (UTC), unless its deletion is cancelled"
            )
        }
        None => "This organization is closed, and will be deleted".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grace_time_is_a_number_of_days() {
        assert_eq!("30d".parse(), Ok(GracePeriod::DEFAULT));
        assert!("0d".parse::<GracePeriod>().is_ok_and(GracePeriod::is_none));
        let week: GracePeriod = "7d".parse().unwrap();
        assert_eq!(week.after(Timestamp(5)), Timestamp(7 * DAY_MILLIS + 5));
        assert_eq!(week.to_string(), "7d");
        for wrong in [
            "",
            "d",
            "30",
            "-1d",
            "+1d",
            "366d",
            "1.5d",
            "30 d",
            "99999999999d",
        ] {
            assert_eq!(
                wrong.parse::<GracePeriod>(),
                Err(InvalidGracePeriod),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn a_deletion_is_due_from_its_time_on_and_stays_due_when_it_has_begun() {
        let waiting = PendingDeletion {
            target: DeletionTarget::Organization(OrganizationId(1)),
            requested_by: "operator".into(),
            requested_at: Timestamp(0),
            due_at: Timestamp(10),
            begun_at: None,
            was_active: true,
        };
        assert!(!waiting.is_due(Timestamp(9)));
        assert!(waiting.is_due(Timestamp(10)));
        assert!(waiting.is_cancellable());
        let begun = PendingDeletion {
            begun_at: Some(Timestamp(10)),
            ..waiting
        };
        // Another server may have a clock that is late.
        assert!(begun.is_due(Timestamp(9)));
        assert!(!begun.is_cancellable());
    }

    #[test]
    fn people_are_told_the_day() {
        let text = closed_text(Timestamp(1_700_000_000_000));
        assert!(text.contains("deleted on 2023-11-14 (UTC)"), "{text}");
        assert!(!closed_text(Timestamp(i64::MAX)).contains("deleted on"));
    }
}
