//! The push messages that are sent at the same time.
//!
//! The address of a push service is untrusted input: its host may answer late, or never, and a
//! request under way cannot be taken back. So users and organizations leave room for others
//! ([`leaves_room`]), whatever hosts they name. A host has no share of its own while it answers,
//! because most browsers of all organizations use one of a few push services. A host that does not
//! answer gets one message of each organization at a time, up to half of all; the other messages
//! for it are put off.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eddyline_model::shares::{InUse, leaves_room};
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::DuePush;
use tokio::sync::Notify;
use url::Url;

/// The most push messages under way at the same time.
pub(super) const SENDERS: u64 = 64;
/// The number of messages in a row without an answer after which a host gets one message of each
/// organization at a time.
const SLOW_AFTER: u32 = 3;
/// The most messages under way to a host that does not answer.
const MAX_TO_SLOW_HOST: u64 = SENDERS / 2;
/// The most hosts that are known not to answer.
const MAX_HOSTS: usize = 1024;

/// The decision on a push message that is due.
#[derive(Debug)]
pub(super) enum Admission {
    /// It is sent now.
    Send(Sender),
    /// It waits until another one has been sent.
    Wait,
    /// It is put off, since its host does not answer.
    Postpone,
}

/// The push messages under way. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Senders(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when a push message is not under way any more.
    released: Notify,
}

#[derive(Debug, Default)]
struct State {
    all: u64,
    by_organization: BTreeMap<Option<OrganizationId>, u64>,
    by_user: BTreeMap<UserId, u64>,
    by_host: BTreeMap<(String, Option<OrganizationId>), u64>,
    /// The number of messages in a row that a host did not answer.
    unanswered: BTreeMap<String, u32>,
}

impl State {
    /// Returns the number of messages under way to a host.
    fn to_host(&self, host: &str) -> u64 {
        let from = (host.to_owned(), None);
        let of_host = self.by_host.range(from..);
        of_host
            .take_while(|((other, _), _)| other == host)
            .map(|(_, number)| number)
            .sum()
    }
}

/// A push message under way, until it is dropped.
#[derive(Debug)]
pub(super) struct Sender {
    organization: Option<OrganizationId>,
    user: UserId,
    host: String,
    shared: Arc<Shared>,
}

impl Senders {
    /// Decides on a push message.
    pub(super) fn admit(&self, due: &DuePush) -> Admission {
        let host = host(&due.endpoint);
        let mut state = self.0.lock();
        let is_slow = state
            .unanswered
            .get(&host)
            .is_some_and(|number| *number >= SLOW_AFTER);
        let organization = &due.organization;
        let to_host = (host.clone(), *organization);
        if is_slow
            && (state.by_host.contains_key(&to_host) || state.to_host(&host) >= MAX_TO_SLOW_HOST)
        {
            return Admission::Postpone;
        }
        let in_use = InUse {
            all: state.all,
            group: *state.by_organization.get(organization).unwrap_or(&0),
            caller: *state.by_user.get(&due.user).unwrap_or(&0),
        };
        if leaves_room(SENDERS, in_use, 1).is_err() {
            return Admission::Wait;
        }
        state.all += 1;
        *state.by_organization.entry(*organization).or_default() += 1;
        *state.by_user.entry(due.user).or_default() += 1;
        *state.by_host.entry(to_host).or_default() += 1;
        Admission::Send(Sender {
            organization: *organization,
            user: due.user,
            host,
            shared: Arc::clone(&self.0),
        })
    }

    /// Waits until a push message is not under way any more; at once if that happened since this was
    /// called last.
    pub(super) async fn released(&self) {
        self.0.released.notified().await;
    }
}

impl Sender {
    /// Notes whether the host answered in time.
    pub(super) fn note_answer(&self, is_answered: bool) {
        let mut state = self.shared.lock();
        if is_answered {
            state.unanswered.remove(&self.host);
            return;
        }
        *state.unanswered.entry(self.host.clone()).or_default() += 1;
        // Browsers may name any number of hosts. It does not matter which one is forgotten: it is
        // noted again if it still does not answer.
        if state.unanswered.len() > MAX_HOSTS {
            state.unanswered.pop_first();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.all -= 1;
        release(&mut state.by_organization, self.organization);
        release(&mut state.by_user, self.user);
        let to_host = (std::mem::take(&mut self.host), self.organization);
        release(&mut state.by_host, to_host);
        drop(state);
        self.shared.released.notify_one();
    }
}

fn release<K: Ord>(under_way: &mut BTreeMap<K, u64>, key: K) {
    if let Entry::Occupied(mut number) = under_way.entry(key) {
        *number.get_mut() -= 1;
        if *number.get() == 0 {
            number.remove();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The host and the port of an address.
fn host(endpoint: &str) -> String {
    let url = Url::parse(endpoint).ok();
    let host = url.as_ref().and_then(|url| {
        let host = url.host_str()?;
        Some(format!("{host}:{}", url.port_or_known_default()?))
    });
    host.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(user: i64, organization: i64, host: &str) -> DuePush {
        DuePush {
            id: 1,
            session: Vec::new(),
            user: UserId(user),
            organization: Some(OrganizationId(organization)),
            endpoint: format!("https://{host}/{user}"),
        }
    }

    fn send(senders: &Senders, due: &DuePush) -> Option<Sender> {
        match senders.admit(due) {
            Admission::Send(sender) => Some(sender),
            Admission::Wait | Admission::Postpone => None,
        }
    }

    /// Sends as many as may be sent, each to another host.
    fn fill(senders: &Senders, user: i64, organization: i64) -> Vec<Sender> {
        let hosts = (0..).map(|number| format!("{number}.push.example"));
        hosts
            .map_while(|host| send(senders, &due(user, organization, &host)))
            .collect()
    }

    #[test]
    fn users_and_organizations_leave_room_for_others_whatever_hosts_they_name() {
        let senders = Senders::default();
        let alone = fill(&senders, 1, 1);
        assert_eq!(alone.len(), 16, "a quarter");
        let organization: Vec<_> = (2..9).map(|user| fill(&senders, user, 1)).collect();
        assert!(organization.iter().flatten().count() < 20);
        for (user, other) in [(10, 2), (20, 3), (30, 4)] {
            assert!(!fill(&senders, user, other).is_empty(), "{other}");
        }
        drop(alone);
        assert_eq!(fill(&senders, 40, 5).len(), 16, "a quarter again");
    }

    #[test]
    fn a_host_that_answers_is_asked_by_all_at_once() {
        let senders = Senders::default();
        let of = |number| due(number, number % 8, "push.example");
        let under_way: Vec<_> = (0..24).map(|number| send(&senders, &of(number))).collect();
        assert!(under_way.iter().all(Option::is_some));
    }

    #[test]
    fn a_host_that_does_not_answer_is_asked_by_one_of_an_organization_at_a_time_until_it_does() {
        let senders = Senders::default();
        let slow = |user| due(user, 1, "slow.example");
        for user in 1..=3 {
            let (one, other) = (
                send(&senders, &slow(user)).expect("it is sent"),
                send(&senders, &slow(user + 10)).expect("it is sent as well"),
            );
            other.note_answer(user != 3);
            for _ in 0..2 {
                one.note_answer(false);
            }
        }
        let probe = send(&senders, &slow(1)).expect("one is sent");
        assert!(matches!(senders.admit(&slow(2)), Admission::Postpone));
        let elsewhere = send(&senders, &due(2, 1, "push.example"));
        assert!(elsewhere.is_some(), "other hosts are asked");
        let others: Vec<_> = (2..50)
            .map_while(|number| send(&senders, &due(number, number, "slow.example")))
            .collect();
        assert_eq!(others.len(), 31, "half of all, with the first");
        drop(others);
        probe.note_answer(true);
        assert!(send(&senders, &slow(2)).is_some());
    }

    #[test]
    fn so_many_hosts_are_known_not_to_answer() {
        let senders = Senders::default();
        for number in 0..=MAX_HOSTS {
            let due = due(1, 1, &format!("{number}.example"));
            let sender = send(&senders, &due).expect("it is sent");
            sender.note_answer(false);
        }
        assert_eq!(senders.0.lock().unanswered.len(), MAX_HOSTS);
    }

    #[tokio::test]
    async fn the_end_of_a_message_is_told_to_those_who_wait() {
        let senders = Senders::default();
        let under_way = fill(&senders, 1, 1);
        assert!(matches!(
            senders.admit(&due(1, 1, "x.example")),
            Admission::Wait
        ));
        drop(under_way);
        senders.released().await;
        assert!(send(&senders, &due(1, 1, "x.example")).is_some());
    }
}
