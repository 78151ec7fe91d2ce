//! Charges requests. The reads of a request count for the accounts of its caller and of the
//! organization it asks about; its writes and other work count for the quota keys of its caller.
//!
//! A request begins as that of a stranger, who counts by network. Each way of finding out who asks
//! charges the caller from then on, and each admission to a room the organization of the room, so
//! no use case has to think of it.

use std::cell::Cell;
use std::future::Future;
use std::net::IpAddr;

use eddyline_model::{OrganizationId, RoomId, UserId};
use eddyline_storage::{BudgetKey, TaskBudget};

use crate::actor::{Actor, Caller};
use crate::quota::{QuotaKey, QuotaKeys, QuotaSubject};

/// The most reads of one caller that wait. Many clients of a caller may begin at once.
const CALLER_LINE: usize = 256;
/// The most reads of strangers of one network that wait: among them are all who come back at once
/// through a proxy, as long as nothing is cached of them.
const NETWORK_LINE: usize = 4096;

tokio::task_local! {
    /// The keys that other resources count for in this request.
    static KEYS: Cell<QuotaKeys>;
    /// Where this request came from.
    static ADDRESS: IpAddr;
}

/// All strangers together.
const STRANGERS: BudgetKey = BudgetKey::new(1, 0);
/// All users who belong to no organization, together: they are one group, as the members of an
/// organization are.
const OUTSIDERS: BudgetKey = BudgetKey::new(10, 0);
/// Streams that read the log, together.
const REPLAYS: BudgetKey = BudgetKey::new(2, 0);

/// Returns the key under which the store counts a quota key.
fn budget_key(key: QuotaKey) -> BudgetKey {
    let number = |id: i64| u128::from(id.unsigned_abs());
    match key {
        QuotaKey::User(id) => BudgetKey::new(3, number(id.0)),
        QuotaKey::Application(id) => BudgetKey::new(4, number(id.0)),
        QuotaKey::Organization(id) => BudgetKey::new(5, number(id.0)),
        QuotaKey::NetworkV4(network) => BudgetKey::new(6, network.into()),
        QuotaKey::NetworkV6(network) => BudgetKey::new(7, network.into()),
        QuotaKey::Outsiders => OUTSIDERS,
        QuotaKey::Tokens(id) => BudgetKey::new(11, number(id.0)),
    }
}

/// The budget of these keys: that of a caller and its organization. All callers of which only the
/// network is known are one group.
pub(crate) fn budget(keys: QuotaKeys) -> TaskBudget {
    let (group, line) = match keys.group() {
        QuotaKey::NetworkV4(_) | QuotaKey::NetworkV6(_) => (STRANGERS, NETWORK_LINE),
        organization => (budget_key(organization), CALLER_LINE),
    };
    TaskBudget {
        caller: budget_key(keys.caller()),
        group,
        line,
    }
}

/// Runs what handles a request from this address. Its reads count for a stranger from there until
/// it is known who asks.
pub fn as_client<F: Future>(address: IpAddr, handling: F) -> impl Future<Output = F::Output> {
    let keys = QuotaKeys::from(QuotaKey::network(address));
    let handling = KEYS.scope(Cell::new(keys), handling);
    budget(keys).scope(ADDRESS.scope(address, handling))
}

/// Runs what a request has left to do after its end. It counts for these keys, as the request did.
pub(crate) fn on_behalf_of<F: Future>(keys: QuotaKeys, work: F) -> impl Future<Output = F::Output> {
    budget(keys).scope(KEYS.scope(Cell::new(keys), work))
}

/// The keys of the caller of the request that this task handles, as far as it is known, or else of
/// its network. `None` outside requests.
pub(crate) fn current_keys() -> Option<QuotaKeys> {
    KEYS.try_with(Cell::get).ok()
}

/// Where the request that this task handles came from. `None` outside requests.
pub(crate) fn current_address() -> Option<IpAddr> {
    ADDRESS.try_with(|address| *address).ok()
}

/// Runs what reads the log for a stream of this user, or else of a token of this flow. All streams
/// together are one group, so that those that catch up leave readers for requests.
pub(crate) fn as_replay<F: Future>(
    caller: Option<UserId>,
    flow: Option<RoomId>,
    reading: F,
) -> impl Future<Output = F::Output> {
    // Counted apart from requests, so that a stream that catches up does not delay its caller's
    // requests.
    let caller = match (caller, flow) {
        (Some(user), _) => BudgetKey::new(8, user.0.unsigned_abs().into()),
        (None, Some(room)) => BudgetKey::new(9, room.0.unsigned_abs().into()),
        (None, None) => REPLAYS,
    };
    TaskBudget {
        caller,
        group: REPLAYS,
        line: usize::MAX,
    }
    .scope(reading)
}

/// The caller of the request that this task handles, as far as it is known; or else the background.
#[must_use]
pub fn current_caller() -> BudgetKey {
    TaskBudget::current().caller
}

/// Counts the further use of this request for its caller, and its reads for the organization of the
/// caller until another one is named.
pub(crate) fn charge(actor: &Actor) {
    charge_keys(actor.quota_keys());
}

/// The same for a user, whichever way the user has shown who it is.
pub(crate) fn charge_user(caller: &Caller) {
    charge_keys(caller.quota_subject().quota_keys());
}

/// The same for an identity provider, which is its organization.
pub(crate) fn charge_provider(id: OrganizationId) {
    charge_keys(QuotaSubject::organization(id).quota_keys());
}

/// Counts the further reads of this request for the organization that it asks about. What else it
/// uses counts for the caller's own: see [`QuotaSubject`].
pub(crate) fn charge_reads_to(id: OrganizationId) {
    TaskBudget::charge_group(budget_key(QuotaKey::Organization(id)));
}

/// Charges reads and all else, so that no way of finding out who asks leaves one of them to a
/// stranger.
fn charge_keys(keys: QuotaKeys) {
    budget(keys).charge();
    // Outside requests nothing is counted.
    let _ = KEYS.try_with(|current| current.set(keys));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::accounts::tests::{World, person};

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    /// The same user, removed from all organizations.
    fn removed(actor: Actor) -> Actor {
        let Actor::User {
            caller,
            scopes,
            credential,
            epoch,
        } = actor
        else {
            panic!("not a user")
        };
        let caller = Arc::new(Caller {
            user: caller.user.clone(),
            organizations: Vec::new(),
            closed: Vec::new(),
        });
        Actor::User {
            caller,
            scopes,
            credential,
            epoch,
        }
    }

    async fn budget_of(actor: &Actor) -> TaskBudget {
        let charging = async {
            charge(actor);
            TaskBudget::current()
        };
        as_client(HERE, charging).await
    }

    #[tokio::test]
    async fn users_without_an_organization_read_as_one_group() {
        let world = World::new().await;
        let ben = person(&world.app, "ben@acme.example", "ben").await;
        let member = budget_of(&ben).await;
        let (ada, ben) = (
            budget_of(&removed(world.ada)).await,
            budget_of(&removed(ben)).await,
        );
        assert_eq!(ada.group, ben.group);
        assert_ne!(ada.caller, ben.caller);
        assert_ne!(ben.group, member.group);
    }
}
