//! Charges requests. The reads of a request count for the accounts of its caller and of the
//! organization it asks about; its writes and other work count for the quota keys of its caller.
//!
//! A request begins as that of a stranger, who counts by network. Each way of finding out who asks
//! charges the caller from then on, and each admission to a room the organization of the room, so
//! no use case has to think of it.

use std::cell::Cell;
use std::future::Future;
use std::net::IpAddr;

use eddyline_auth::network_of;
use eddyline_model::{OrganizationId, RoomId, UserId};
use eddyline_storage::{ReadBudget, ReadBudgetKey};

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
const STRANGERS: ReadBudgetKey = ReadBudgetKey::new(1, 0);
/// All users who belong to no organization, together: they are one group, as the members of an
/// organization are.
const OUTSIDERS: ReadBudgetKey = ReadBudgetKey::new(10, 0);
/// Streams that read the log, together.
const REPLAYS: ReadBudgetKey = ReadBudgetKey::new(2, 0);

fn user(id: UserId) -> ReadBudgetKey {
    ReadBudgetKey::new(3, id.0.unsigned_abs().into())
}

fn flow(room: RoomId) -> ReadBudgetKey {
    ReadBudgetKey::new(4, room.0.unsigned_abs().into())
}

fn organization(id: OrganizationId) -> ReadBudgetKey {
    ReadBudgetKey::new(5, id.0.unsigned_abs().into())
}

fn network(address: IpAddr) -> ReadBudgetKey {
    match network_of(address) {
        IpAddr::V4(address) => ReadBudgetKey::new(6, address.to_bits().into()),
        IpAddr::V6(address) => ReadBudgetKey::new(7, address.to_bits()),
    }
}

/// Runs what handles a request from this address. Its reads count for a stranger from there until
/// it is known who asks.
pub fn as_client<F: Future>(address: IpAddr, handling: F) -> impl Future<Output = F::Output> {
    let handling = KEYS.scope(Cell::new(QuotaKey::network(address).into()), handling);
    let handling = ADDRESS.scope(address, handling);
    ReadBudget {
        caller: network(address),
        group: STRANGERS,
        line: NETWORK_LINE,
    }
    .scope(handling)
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
        (Some(user), _) => ReadBudgetKey::new(8, user.0.unsigned_abs().into()),
        (None, Some(room)) => ReadBudgetKey::new(9, room.0.unsigned_abs().into()),
        (None, None) => REPLAYS,
    };
    ReadBudget {
        caller,
        group: REPLAYS,
        line: usize::MAX,
    }
    .scope(reading)
}

/// The caller of the request that this task handles, as far as it is known; or else the background.
#[must_use]
pub fn current_caller() -> ReadBudgetKey {
    ReadBudget::current().caller
}

/// Counts the further use of this request for its caller, and its reads for the organization of the
/// caller until another one is named.
pub(crate) fn charge(actor: &Actor) {
    match actor {
        Actor::User { caller, .. } => charge_user(caller),
        Actor::FlowToken {
            room,
            quota_subject,
            ..
        } => {
            charge_both(flow(*room), flow(*room), quota_subject.quota_keys());
        }
    }
}

/// The same for a user, whichever way the user has shown who it is.
pub(crate) fn charge_user(caller: &Caller) {
    let quota_subject = caller.quota_subject();
    let group = quota_subject.organization.map_or(OUTSIDERS, organization);
    charge_both(user(caller.user.id), group, quota_subject.quota_keys());
}

/// The same for an identity provider, which is its organization.
pub(crate) fn charge_provider(id: OrganizationId) {
    charge_both(
        organization(id),
        organization(id),
        QuotaSubject::organization(id).quota_keys(),
    );
}

/// Counts the further reads of this request for the organization that it asks about. What else it
/// uses counts for the caller's own: see [`QuotaSubject`].
pub(crate) fn charge_reads_to(id: OrganizationId) {
    ReadBudget::charge_group(organization(id));
}

/// Charges reads and all else, so that no way of finding out who asks leaves one of them to a
/// stranger.
fn charge_both(caller: ReadBudgetKey, group: ReadBudgetKey, keys: QuotaKeys) {
    ReadBudget {
        caller,
        group,
        line: CALLER_LINE,
    }
    .charge();
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

    async fn budget_of(actor: &Actor) -> ReadBudget {
        let charging = async {
            charge(actor);
            ReadBudget::current()
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
