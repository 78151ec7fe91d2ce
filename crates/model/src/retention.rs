//! How long messages are kept, and what a legal hold keeps from being deleted.

use std::collections::{BTreeMap, BTreeSet};

use crate::deletion::GracePeriod;
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

    /// Whether messages are kept for as long as by the other period, or longer.
    #[must_use]
    pub fn keeps_as_long_as(self, other: Self) -> bool {
        match (self, other) {
            (Self::Forever, _) => true,
            (Self::Days(_), Self::Forever) => false,
            (Self::Days(days), Self::Days(others)) => days >= others,
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

/// What administrators set for their organization or a flow of it, which applies from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdministratorRule {
    /// For how long messages are kept; `None` where there is no rule from then on.
    pub period: Option<RetentionPeriod>,
    /// Who set it.
    pub set_by: UserId,
    /// When it was set.
    pub set_at: Timestamp,
    /// From when on it applies.
    pub applies_at: Timestamp,
}

/// The rules of retention. Where there is none, messages are kept for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionRules {
    /// Those of operators. They apply at once, and go before those of administrators.
    pub of_operators: BTreeMap<RetentionScope, RetentionPeriod>,
    /// Those of administrators, in the order in which they apply: one that is in force, and one that
    /// is pending. There are none for private conversations.
    pub of_administrators: BTreeMap<RetentionScope, Vec<AdministratorRule>>,
}

impl RetentionRules {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of_operators.is_empty() && self.of_administrators.is_empty()
    }

    /// What administrators set for exactly this, as it is in force at this time.
    #[must_use]
    pub fn in_force(&self, scope: RetentionScope, at: Timestamp) -> Option<AdministratorRule> {
        let mut rules = self.of_administrators.get(&scope)?.iter();
        let latest = rules.rfind(|rule| rule.applies_at <= at)?;
        latest.period.is_some().then_some(*latest)
    }

    /// What administrators set for exactly this, and applies later.
    #[must_use]
    pub fn pending(&self, scope: RetentionScope, at: Timestamp) -> Option<AdministratorRule> {
        let mut rules = self.of_administrators.get(&scope)?.iter();
        rules.rfind(|rule| rule.applies_at > at).copied()
    }

    /// The rule of an operator that goes before what administrators set for this: a rule for an
    /// organization goes before those of its administrators for its flows.
    #[must_use]
    pub fn of_operator(
        &self,
        scope: RetentionScope,
        organization: OrganizationId,
    ) -> Option<RetentionPeriod> {
        let of_organization = RetentionScope::Organization(organization);
        let found = self.of_operators.get(&scope);
        found
            .or_else(|| self.of_operators.get(&of_organization))
            .copied()
    }

    /// How long the messages of a flow are kept at this time: its own rule goes before that of its
    /// organization, and rules of operators go before those of administrators.
    #[must_use]
    pub fn of_flow(
        &self,
        room: RoomId,
        organization: OrganizationId,
        at: Timestamp,
    ) -> RetentionPeriod {
        let flow = RetentionScope::Flow(room);
        self.of_operator(flow, organization)
            .unwrap_or_else(|| self.by_administrators(flow, organization, at))
    }

    fn by_administrators(
        &self,
        scope: RetentionScope,
        organization: OrganizationId,
        at: Timestamp,
    ) -> RetentionPeriod {
        let of_organization = RetentionScope::Organization(organization);
        self.in_force(scope, at)
            .or_else(|| self.in_force(of_organization, at))
            .and_then(|rule| rule.period)
            .unwrap_or(RetentionPeriod::Forever)
    }

    /// How long private messages are kept.
    #[must_use]
    pub fn of_private(&self) -> RetentionPeriod {
        let rule = self.of_operators.get(&RetentionScope::Private);
        rule.copied().unwrap_or(RetentionPeriod::Forever)
    }

    /// From when on a rule applies that administrators set now for their organization or a flow of
    /// it: at once where messages are kept as long as without it, else after the grace time. A rule
    /// for a flow applies as soon as a pending one of the organization would keep less.
    ///
    /// What is pending for the same does not count, since the new rule takes its place.
    #[must_use]
    pub fn applies_at(
        &self,
        scope: RetentionScope,
        organization: OrganizationId,
        period: Option<RetentionPeriod>,
        (now, grace): (Timestamp, GracePeriod),
    ) -> Timestamp {
        let mut before = self.clone();
        if let Some(rules) = before.of_administrators.get_mut(&scope) {
            rules.retain(|rule| rule.applies_at <= now);
        }
        let whole = RetentionScope::Organization(organization);
        let keeps_less = |at: Timestamp| {
            let without = before.by_administrators(scope, organization, at);
            let with = period.unwrap_or_else(|| match scope == whole {
                true => RetentionPeriod::Forever,
                false => before.by_administrators(whole, organization, at),
            });
            !with.keeps_as_long_as(without)
        };
        let end = grace.after(now);
        let change = before.pending(whole, now).map(|rule| rule.applies_at);
        let change = change.filter(|at| *at < end);
        match (change, keeps_less(now)) {
            (Some(at), _) if keeps_less(at) => end,
            (_, false) => now,
            (Some(at), true) => at,
            (None, true) => end,
        }
    }

    /// The rules for this after administrators have set one now: the one that is in force until the
    /// new one applies, and the new one.
    #[must_use]
    pub fn with(
        &self,
        scope: RetentionScope,
        rule: AdministratorRule,
        now: Timestamp,
    ) -> Vec<AdministratorRule> {
        let before = self.in_force(scope, now);
        let kept = before.filter(|_| rule.applies_at > now);
        let new = (kept.is_some() || rule.period.is_some()).then_some(rule);
        kept.into_iter().chain(new).collect()
    }

    /// The pending rules for flows after that of their organization has changed: one that applied
    /// early, since the organization would have kept less, waits for the whole grace time.
    #[must_use]
    pub fn postponed(
        &self,
        flows: &[RoomId],
        (now, grace): (Timestamp, GracePeriod),
    ) -> Vec<(RetentionScope, Vec<AdministratorRule>)> {
        let early = |rule: &AdministratorRule| {
            rule.applies_at > now && rule.applies_at < grace.after(rule.set_at)
        };
        let scopes = flows.iter().map(|room| RetentionScope::Flow(*room));
        let found = scopes.filter_map(|scope| Some((scope, self.of_administrators.get(&scope)?)));
        let found = found.filter(|(_, rules)| rules.iter().any(early));
        let later = |rule: &AdministratorRule| match early(rule) {
            true => AdministratorRule {
                applies_at: grace.after(rule.set_at),
                ..*rule
            },
            false => *rule,
        };
        found
            .map(|(scope, rules)| (scope, rules.iter().map(later).collect()))
            .collect()
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

    const WHOLE: RetentionScope = RetentionScope::Organization(ACME);
    const FLOW: RetentionScope = RetentionScope::Flow(MAIN);
    const ADA: UserId = UserId(7);
    const GRACE: GracePeriod = GracePeriod::DEFAULT;

    fn days(days: u32) -> Option<RetentionPeriod> {
        Some(RetentionPeriod::Days(days))
    }

    fn in_days(days: i64) -> Timestamp {
        NOW.plus_millis(days * DAY_MILLIS)
    }

    fn rule(period: Option<RetentionPeriod>, applies_at: Timestamp) -> AdministratorRule {
        AdministratorRule {
            period,
            set_by: ADA,
            set_at: NOW,
            applies_at,
        }
    }

    fn rules(of: &[(RetentionScope, AdministratorRule)]) -> RetentionRules {
        let mut rules = RetentionRules::default();
        for (scope, rule) in of {
            let of_scope = rules.of_administrators.entry(*scope).or_default();
            of_scope.push(*rule);
        }
        rules
    }

    #[test]
    fn the_rule_of_a_flow_goes_before_that_of_its_organization() {
        let organization = (WHOLE, RetentionPeriod::Days(30));
        let flow = (FLOW, RetentionPeriod::Forever);
        let of = |of_operators: &[_]| {
            let of_operators = of_operators.iter().copied().collect();
            let rules = RetentionRules {
                of_operators,
                ..RetentionRules::default()
            };
            assert_eq!(rules.of_private(), RetentionPeriod::Forever);
            rules.of_flow(MAIN, ACME, NOW)
        };
        assert_eq!(of(&[]), RetentionPeriod::Forever);
        assert_eq!(of(&[organization]), RetentionPeriod::Days(30));
        assert_eq!(of(&[organization, flow]), RetentionPeriod::Forever);
    }

    #[test]
    fn a_pending_rule_takes_the_place_of_the_one_before_at_its_time() {
        let rules = rules(&[
            (WHOLE, rule(days(90), NOW)),
            (WHOLE, rule(days(7), in_days(30))),
            (FLOW, rule(days(365), NOW)),
            (FLOW, rule(None, in_days(40))),
        ]);
        let other = RoomId(9);
        for (at, main, others) in [
            (
                NOW.plus_millis(-1),
                RetentionPeriod::Forever,
                RetentionPeriod::Forever,
            ),
            (NOW, RetentionPeriod::Days(365), RetentionPeriod::Days(90)),
            (
                in_days(30).plus_millis(-1),
                RetentionPeriod::Days(365),
                RetentionPeriod::Days(90),
            ),
            (
                in_days(30),
                RetentionPeriod::Days(365),
                RetentionPeriod::Days(7),
            ),
            (
                in_days(40),
                RetentionPeriod::Days(7),
                RetentionPeriod::Days(7),
            ),
        ] {
            let found = [MAIN, other].map(|room| rules.of_flow(room, ACME, at));
            assert_eq!(found, [main, others], "{at}");
        }
        assert_eq!(rules.pending(FLOW, NOW), Some(rule(None, in_days(40))));
        assert_eq!(rules.pending(FLOW, in_days(40)), None);
        assert_eq!(rules.in_force(FLOW, in_days(40)), None);
    }

    #[test]
    fn rules_of_operators_go_before_those_of_administrators() {
        let mut rules = rules(&[(FLOW, rule(days(1), NOW)), (WHOLE, rule(days(2), NOW))]);
        assert_eq!(rules.of_operator(FLOW, ACME), None);
        rules.of_operators.insert(WHOLE, RetentionPeriod::Days(90));
        assert_eq!(rules.of_operator(FLOW, ACME), days(90));
        assert_eq!(rules.of_flow(MAIN, ACME, NOW), RetentionPeriod::Days(90));
        rules.of_operators = [(FLOW, RetentionPeriod::Forever)].into();
        assert_eq!(rules.of_operator(WHOLE, ACME), None);
        assert_eq!(rules.of_flow(MAIN, ACME, NOW), RetentionPeriod::Forever);
        assert_eq!(
            rules.of_flow(RoomId(9), ACME, NOW),
            RetentionPeriod::Days(2)
        );
    }

    #[test]
    fn only_what_keeps_less_waits_for_the_grace_time() {
        let after = GRACE.after(NOW);
        let applies =
            |of: &[_], scope, period| rules(of).applies_at(scope, ACME, period, (NOW, GRACE));
        let forever = Some(RetentionPeriod::Forever);
        let kept = (WHOLE, rule(days(90), NOW));
        for (period, expected) in [
            (days(89), after),
            (days(90), NOW),
            (days(91), NOW),
            (forever, NOW),
            (None, NOW),
        ] {
            assert_eq!(applies(&[kept], WHOLE, period), expected, "{period:?}");
            let of_flow = match period {
                None => NOW,
                _ => expected,
            };
            assert_eq!(applies(&[kept], FLOW, period), of_flow, "{period:?}");
        }
        assert_eq!(applies(&[], WHOLE, days(MAX_RETENTION_DAYS)), after);
        // An exception that ends keeps less.
        let exception = (FLOW, rule(forever, NOW));
        assert_eq!(applies(&[kept, exception], FLOW, None), after);
        // What is pending does not shorten the time of what takes its place.
        let pending = (WHOLE, rule(days(7), in_days(1)));
        assert_eq!(applies(&[pending], WHOLE, days(8)), after);
    }

    #[test]
    fn a_rule_for_a_flow_is_there_before_the_organization_keeps_less() {
        let pending = (WHOLE, rule(days(7), in_days(10)));
        let applies = |of: &[_], period| rules(of).applies_at(FLOW, ACME, period, (NOW, GRACE));
        assert_eq!(applies(&[pending], days(60)), in_days(10));
        assert_eq!(applies(&[pending], days(7)), in_days(10));
        assert_eq!(applies(&[pending], days(6)), GRACE.after(NOW));
        assert_eq!(applies(&[pending], Some(RetentionPeriod::Forever)), NOW);
        let exception = (FLOW, rule(Some(RetentionPeriod::Forever), NOW));
        assert_eq!(applies(&[pending, exception], None), GRACE.after(NOW));

        // When the organization keeps more again, the flow has the whole grace time.
        let early = rules(&[(FLOW, rule(days(60), in_days(10)))]);
        let whole = vec![rule(days(60), GRACE.after(NOW))];
        let now = (NOW, GRACE);
        assert_eq!(early.postponed(&[MAIN], now), [(FLOW, whole)]);
        assert_eq!(early.postponed(&[RoomId(9)], now), []);
        assert_eq!(early.postponed(&[MAIN], (in_days(10), GRACE)), []);
    }

    #[test]
    fn a_rule_takes_the_place_of_what_is_pending() {
        let known = rules(&[
            (WHOLE, rule(days(90), NOW)),
            (WHOLE, rule(days(7), in_days(30))),
        ]);
        let (at_once, later) = (rule(days(91), NOW), rule(days(8), in_days(31)));
        assert_eq!(known.with(WHOLE, at_once, NOW), [at_once]);
        let both = [rule(days(90), NOW), later];
        assert_eq!(known.with(WHOLE, later, NOW), both);
        assert_eq!(known.with(WHOLE, rule(None, NOW), NOW), []);
        assert_eq!(known.with(FLOW, rule(None, NOW), NOW), []);
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

    fn period() -> impl Strategy<Value = Option<RetentionPeriod>> {
        let choices = [
            None,
            Some(RetentionPeriod::Forever),
            days(1),
            days(2),
            days(3),
        ];
        proptest::sample::select(choices.to_vec())
    }

    proptest! {
        /// Whatever is set, no message is deleted sooner than without it until the grace time is over.
        #[test]
        fn no_rule_of_administrators_deletes_before_its_grace_time(
            whole in period(), later in period(), own in period(), new in period(), at in 0..60_i64,
            is_flow: bool,
        ) {
            let before = rules(&[
                (WHOLE, rule(whole, NOW)),
                (WHOLE, rule(later, in_days(at))),
                (FLOW, rule(own, NOW)),
            ]);
            let scope = if is_flow { FLOW } else { WHOLE };
            let applies_at = before.applies_at(scope, ACME, new, (NOW, GRACE));
            let mut after = before.clone();
            let changed = before.with(scope, rule(new, applies_at), NOW);
            after.of_administrators.insert(scope, changed);
            // What was pending for the same ends.
            let mut without = before;
            let of_scope = without.of_administrators.get_mut(&scope).unwrap();
            of_scope.retain(|rule| rule.applies_at <= NOW);
            for day in 0..30 {
                let at = in_days(day);
                let kept = after.of_flow(MAIN, ACME, at);
                prop_assert!(kept.keeps_as_long_as(without.of_flow(MAIN, ACME, at)), "{day}");
            }
        }

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
