//! How long messages are kept, and what a legal hold keeps from being deleted.

use std::collections::BTreeSet;

use crate::{OrganizationId, RoomId, Timestamp, UserId};

/// The most days for which messages can be kept; more are for ever.
pub const MAX_RETENTION_DAYS: u32 = 36_500;

const DAY_MILLIS: i64 = 24 * 3_600_000;

/// For how long messages are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetentionPeriod {
    /// Until they are deleted by hand.
    Forever,
    /// So many days after they were sent.
    Days(u32),
}

/// A number of days that is none for a retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be from 1 to {MAX_RETENTION_DAYS} days")]
pub struct InvalidRetention;

impl RetentionPeriod {
    /// So many days, from 1 to [`MAX_RETENTION_DAYS`].
    ///
    /// # Errors
    ///
    /// [`InvalidRetention`].
    pub fn days(days: u32) -> Result<Self, InvalidRetention> {
        match days {
            1..=MAX_RETENTION_DAYS => Ok(Self::Days(days)),
            _ => Err(InvalidRetention),
        }
    }

    /// The number that the store keeps: 0 for ever.
    #[must_use]
    pub fn code(self) -> i64 {
        match self {
            Self::Forever => 0,
            Self::Days(days) => days.into(),
        }
    }

    /// Reads the number that the store keeps.
    #[must_use]
    pub fn from_code(code: i64) -> Option<Self> {
        match u32::try_from(code).ok()? {
            0 => Some(Self::Forever),
            days => Self::days(days).ok(),
        }
    }

    /// Whether a message that was sent then has expired now. At the limit itself it has not.
    #[must_use]
    pub fn has_expired(self, sent: Timestamp, now: Timestamp) -> bool {
        match self {
            Self::Forever => false,
            Self::Days(days) => sent < now.plus_millis(-i64::from(days) * DAY_MILLIS),
        }
    }
}

/// What a rule of retention is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RetentionScope {
    /// All flows of an organization that have no rule of their own.
    Organization(OrganizationId),
    /// A flow.
    Flow(RoomId),
    /// All private conversations of the server: they belong to no organization.
    Private,
}

/// The rules of retention. Where there is none, messages are kept for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionRules(pub Vec<(RetentionScope, RetentionPeriod)>);

impl RetentionRules {
    /// The rule that holds for exactly this.
    #[must_use]
    pub fn of(&self, scope: RetentionScope) -> Option<RetentionPeriod> {
        let mut rules = self.0.iter();
        rules.find(|(of, _)| *of == scope).map(|(_, rule)| *rule)
    }

    /// How long the messages of a flow are kept: its own rule goes before that of its organization.
    #[must_use]
    pub fn of_flow(&self, room: RoomId, organization: OrganizationId) -> RetentionPeriod {
        self.of(RetentionScope::Flow(room))
            .or_else(|| self.of(RetentionScope::Organization(organization)))
            .unwrap_or(RetentionPeriod::Forever)
    }

    /// How long private messages are kept.
    #[must_use]
    pub fn of_private(&self) -> RetentionPeriod {
        self.of(RetentionScope::Private)
            .unwrap_or(RetentionPeriod::Forever)
    }
}

/// What a legal hold is placed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HoldTarget {
    /// An organization: its flows, and the private conversations of its present and removed
    /// members.
    Organization(OrganizationId),
    /// A flow.
    Flow(RoomId),
    /// A user: what they wrote in flows, and their private conversations.
    User(UserId),
}

/// A room as legal holds cover it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoomUnderHold {
    /// A flow.
    Flow(RoomId, OrganizationId),
    /// A private conversation: its two users, and the organizations to which either belongs or
    /// belonged.
    Private([UserId; 2], BTreeSet<OrganizationId>),
}

/// The legal holds that are placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LegalHolds(pub BTreeSet<HoldTarget>);

impl LegalHolds {
    /// The hold that keeps the messages of this author in a room from being deleted by retention or
    /// by an erasure.
    #[must_use]
    pub fn covering(&self, room: &RoomUnderHold, author: Option<UserId>) -> Option<HoldTarget> {
        let candidates: Vec<HoldTarget> = match room {
            RoomUnderHold::Flow(room, organization) => {
                let place = [
                    HoldTarget::Organization(*organization),
                    HoldTarget::Flow(*room),
                ];
                place
                    .into_iter()
                    .chain(author.map(HoldTarget::User))
                    .collect()
            }
            RoomUnderHold::Private(users, organizations) => {
                let users = users.iter().map(|user| HoldTarget::User(*user));
                let organizations = organizations.iter().copied();
                users
                    .chain(organizations.map(HoldTarget::Organization))
                    .collect()
            }
        };
        candidates
            .into_iter()
            .find(|target| self.0.contains(target))
    }

    /// The hold that keeps a person from being erased. `users` are the person and those of their
    /// private conversations, `rooms` the flows in which the person is or was, and `organizations`
    /// those to which one of the users belongs or belonged.
    #[must_use]
    pub fn covering_person(
        &self,
        users: &BTreeSet<UserId>,
        rooms: &BTreeSet<RoomId>,
        organizations: &BTreeSet<OrganizationId>,
    ) -> Option<HoldTarget> {
        self.0.iter().copied().find(|target| match target {
            HoldTarget::Organization(organization) => organizations.contains(organization),
            HoldTarget::Flow(room) => rooms.contains(room),
            HoldTarget::User(user) => users.contains(user),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);
    const ACME: OrganizationId = OrganizationId(1);
    const MAIN: RoomId = RoomId(2);

    #[test]
    fn a_message_expires_a_millisecond_after_the_limit() {
        let limit = NOW.plus_millis(-DAY_MILLIS);
        let day = RetentionPeriod::Days(1);
        assert!(!day.has_expired(limit, NOW));
        assert!(day.has_expired(limit.plus_millis(-1), NOW));
        assert!(!day.has_expired(NOW.plus_millis(1), NOW));
        assert!(!RetentionPeriod::Forever.has_expired(Timestamp(0), NOW));
    }

    #[test]
    fn days_have_bounds() {
        assert_eq!(RetentionPeriod::days(0), Err(InvalidRetention));
        assert_eq!(RetentionPeriod::days(1), Ok(RetentionPeriod::Days(1)));
        assert!(RetentionPeriod::days(MAX_RETENTION_DAYS).is_ok());
        assert!(RetentionPeriod::days(MAX_RETENTION_DAYS + 1).is_err());
        assert!(RetentionPeriod::days(u32::MAX).is_err());
    }

    #[test]
    fn the_rule_of_a_flow_goes_before_that_of_its_organization() {
        let organization = (
            RetentionScope::Organization(ACME),
            RetentionPeriod::Days(30),
        );
        let flow = (RetentionScope::Flow(MAIN), RetentionPeriod::Forever);
        let of = |rules: &[_]| RetentionRules(rules.to_vec()).of_flow(MAIN, ACME);
        assert_eq!(of(&[]), RetentionPeriod::Forever);
        assert_eq!(of(&[organization]), RetentionPeriod::Days(30));
        assert_eq!(of(&[organization, flow]), RetentionPeriod::Forever);
        let rules = RetentionRules(vec![organization]);
        assert_eq!(rules.of_private(), RetentionPeriod::Forever);
    }

    #[test]
    fn a_hold_covers_its_organization_its_flow_or_its_user() {
        let flow = RoomUnderHold::Flow(MAIN, ACME);
        let private = RoomUnderHold::Private([UserId(7), UserId(8)], [ACME].into());
        let (eve, ada) = (Some(UserId(7)), Some(UserId(9)));
        let covering = |target: HoldTarget, room, author| {
            LegalHolds([target].into()).covering(room, author).is_some()
        };
        for (target, expected) in [
            (HoldTarget::Organization(ACME), [true, true, true]),
            (HoldTarget::Organization(OrganizationId(2)), [false; 3]),
            (HoldTarget::Flow(MAIN), [true, true, false]),
            (HoldTarget::Flow(RoomId(3)), [false; 3]),
            (HoldTarget::User(UserId(7)), [true, false, true]),
            (HoldTarget::User(UserId(8)), [false, false, true]),
        ] {
            let found = [
                covering(target, &flow, eve),
                covering(target, &flow, ada),
                covering(target, &private, eve),
            ];
            assert_eq!(found, expected, "{target:?}");
        }
        assert_eq!(LegalHolds::default().covering(&flow, eve), None);
    }

    #[test]
    fn a_person_is_held_with_everything_that_they_may_have_written_to() {
        let (users, rooms) = ([UserId(7), UserId(8)].into(), [MAIN].into());
        let covering = |target: HoldTarget| {
            let holds = LegalHolds([target].into());
            holds.covering_person(&users, &rooms, &[ACME].into())
        };
        for target in [
            HoldTarget::Organization(ACME),
            HoldTarget::Flow(MAIN),
            HoldTarget::User(UserId(7)),
            HoldTarget::User(UserId(8)),
        ] {
            assert_eq!(covering(target), Some(target));
        }
        for target in [
            HoldTarget::Organization(OrganizationId(2)),
            HoldTarget::Flow(RoomId(3)),
            HoldTarget::User(UserId(9)),
        ] {
            assert_eq!(covering(target), None);
        }
    }

    proptest! {
        #[test]
        fn a_retention_survives_its_number(days in 1..=MAX_RETENTION_DAYS) {
            let days = RetentionPeriod::Days(days);
            prop_assert_eq!(RetentionPeriod::from_code(days.code()), Some(days));
            prop_assert_eq!(RetentionPeriod::from_code(0), Some(RetentionPeriod::Forever));
        }

        #[test]
        fn no_number_of_the_store_makes_a_retention_out_of_bounds(code: i64) {
            if let Some(RetentionPeriod::Days(days)) = RetentionPeriod::from_code(code) {
                prop_assert!((1..=MAX_RETENTION_DAYS).contains(&days));
            }
        }

        #[test]
        fn what_has_expired_stays_so(sent in 0..2_000_000_000_000_i64, days in 1..=MAX_RETENTION_DAYS, later in 0..1_000_000_000_i64) {
            let rule = RetentionPeriod::Days(days);
            if rule.has_expired(Timestamp(sent), NOW) {
                prop_assert!(rule.has_expired(Timestamp(sent), NOW.plus_millis(later)));
            }
        }
    }
}
