//! Bounds on the requests that a caller makes in a minute: by one credential, and by all of its
//! kind.
//!
//! Each credential has a rate of its own, so that an application or a source does not use up that
//! of another. All credentials of a kind together have five times as much: those of a user in
//! person, those of the user's applications, and the tokens of a flow. A request that is refused
//! for a lack of rights counts for the credential alone.

use eddyline_auth::{FailureLimiter, TokenHash};
use eddyline_model::{ApplicationId, RoomId, Timestamp, UserId};

use crate::actor::{Actor, Credential};
use crate::{Error, Limit, Result};

/// The bound on the requests of all credentials of a kind together, as a multiple of that of one.
const TOGETHER: u32 = 5;

/// The most callers that are counted at a time.
const MAX_KEYS: usize = 50_000;

/// The credential by which a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CredentialKey {
    Password(UserId),
    /// A session, or a token of a user or a flow.
    Token(TokenHash),
    /// All access tokens of an application for a user.
    Application(UserId, ApplicationId),
}

/// The group of credentials that have a rate together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum GroupKey {
    User(UserId),
    ApplicationsOf(UserId),
    Flow(RoomId),
}

/// A request that was counted.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CountedRequest(Option<GroupKey>);

/// The requests of the last minute.
#[derive(Debug)]
pub(crate) struct RequestRates {
    is_bounded: bool,
    by_credential: FailureLimiter,
    by_group: FailureLimiter,
}

impl RequestRates {
    /// Rates of so many requests a minute for each credential; 0 for any number.
    pub(crate) fn new(per_minute: u32) -> Self {
        let together = per_minute.saturating_mul(TOGETHER);
        Self {
            is_bounded: per_minute > 0,
            by_credential: FailureLimiter::with_max_keys(per_minute, MAX_KEYS),
            by_group: FailureLimiter::with_max_keys(together, MAX_KEYS),
        }
    }

    /// Counts a request.
    ///
    /// # Errors
    ///
    /// [`Error::too_many_requests`].
    pub(crate) fn count(&self, actor: &Actor, now: Timestamp) -> Result<CountedRequest> {
        if !self.is_bounded {
            return Ok(CountedRequest(None));
        }
        let (credential, group) = keys(actor);
        self.by_credential
            .check(&credential, now)
            .and_then(|()| self.by_group.check(&group, now))
            .map_err(|wait| Error::too_many_requests(Limit::Requests, wait.seconds))?;
        self.by_credential.failed(&credential, now);
        self.by_group.failed(&group, now);
        Ok(CountedRequest(Some(group)))
    }

    /// Notes that a request was refused for a lack of rights: it counts for its credential alone.
    pub(crate) fn refused(&self, CountedRequest(group): CountedRequest) {
        if let Some(group) = group {
            self.by_group.forgive(&group);
        }
    }
}

fn keys(actor: &Actor) -> (CredentialKey, GroupKey) {
    match actor {
        Actor::FlowToken { room, token, .. } => {
            (CredentialKey::Token(*token), GroupKey::Flow(*room))
        }
        Actor::User {
            caller, credential, ..
        } => {
            let user = caller.user.id;
            match credential {
                Credential::Password(_) => (CredentialKey::Password(user), GroupKey::User(user)),
                Credential::Session(hash) | Credential::ApiToken(hash) => {
                    (CredentialKey::Token(*hash), GroupKey::User(user))
                }
                Credential::AccessToken(access) => (
                    CredentialKey::Application(user, access.application),
                    GroupKey::ApplicationsOf(user),
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use eddyline_model::sources::ThreadOwner;

    use super::*;
    use crate::quota::QuotaSubject;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    /// The token of a flow.
    fn token(room: i64, number: u8) -> Actor {
        Actor::FlowToken {
            room: RoomId(room),
            source: None,
            thread_owner: ThreadOwner::FLOW,
            token: TokenHash([number; 32]),
            epoch: None,
            quota_subject: QuotaSubject {
                user: None,
                organization: None,
            },
        }
    }

    /// Returns the number of requests, out of `count`, that are taken.
    fn taken(rates: &RequestRates, actor: &Actor, count: usize) -> usize {
        let requests = (0..count).filter(|_| rates.count(actor, NOW).is_ok());
        requests.count()
    }

    #[test]
    fn each_token_has_its_requests_and_all_of_a_flow_five_times_as_many() {
        let rates = RequestRates::new(2);
        for number in 0..5 {
            assert_eq!(taken(&rates, &token(1, number), 3), 2);
        }
        assert_eq!(taken(&rates, &token(1, 5), 1), 0);
        assert_eq!(taken(&rates, &token(2, 6), 3), 2, "of another flow");
    }

    #[test]
    fn a_refused_request_counts_for_its_credential_alone() {
        let rates = RequestRates::new(2);
        for number in 0..10 {
            for _ in 0..2 {
                rates.refused(rates.count(&token(1, number), NOW).unwrap());
            }
            assert_eq!(taken(&rates, &token(1, number), 1), 0);
        }
        assert_eq!(taken(&rates, &token(1, 10), 2), 2);
    }

    #[test]
    fn without_a_bound_nothing_is_counted() {
        assert_eq!(taken(&RequestRates::new(0), &token(1, 1), 100), 100);
    }
}
