#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

use std::task::{Context, Wake, Waker};

use eddyline_model::{ApplicationId, OrganizationId, UserId};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use proptest::prelude::*;

use super::line::MAX_WAITING_PER_CALLER;
use super::*;
use crate::quota::QuotaSubject;

const ADA: QuotaKey = QuotaKey::User(UserId(1));
const BEN: QuotaKey = QuotaKey::User(UserId(2));
const MIA: QuotaKey = QuotaKey::User(UserId(4));
const VIC: QuotaKey = QuotaKey::User(UserId(3));
const ACME: QuotaKey = QuotaKey::Organization(OrganizationId(1));
const BETA: QuotaKey = QuotaKey::Organization(OrganizationId(2));

fn ada() -> QuotaKeys {
    QuotaKeys::of(ADA, ACME)
}

fn ben() -> QuotaKeys {
    QuotaKeys::of(BEN, ACME)
}

fn vic() -> QuotaKeys {
    QuotaKeys::of(VIC, BETA)
}

/// A semaphore with shares that are caps.
fn semaphore(total: u64, organization: u64, caller: u64) -> KeyedSemaphore {
    KeyedSemaphore::new(Quota::new(total, organization, caller).capped())
}

fn acquire(semaphore: &KeyedSemaphore, count: usize, keys: QuotaKeys) -> Vec<Permit> {
    (0..count)
        .map(|_| semaphore.acquire(keys, 1).expect("it is free"))
        .collect()
}

#[test]
fn a_lone_caller_has_all_but_the_reserve_and_others_start_at_once() {
    let semaphore = KeyedSemaphore::new(Quota::new(16, 8, 4));
    let mut of_ada = acquire(&semaphore, 12, ada());
    assert_eq!(
        semaphore.acquire(ada(), 1).err(),
        Some(QuotaExceeded::Share(ADA))
    );
    let of_ben = acquire(&semaphore, 2, ben());
    assert_eq!(
        semaphore.acquire(ben(), 1).err(),
        Some(QuotaExceeded::Share(ACME)),
        "half of the reserve is left to other organizations"
    );
    let of_vic = acquire(&semaphore, 2, vic());
    assert_eq!(
        semaphore.acquire(vic(), 1).err(),
        Some(QuotaExceeded::Total)
    );
    of_ada.truncate(4);
    assert_eq!(
        semaphore.acquire(ada(), 5).err(),
        Some(QuotaExceeded::Share(ADA)),
        "beyond the share it leaves the reserve"
    );
    assert!(semaphore.acquire(ada(), 4).is_ok());
    drop((of_ben, of_vic));
}

#[tokio::test]
async fn a_release_goes_to_whoever_is_within_its_share() {
    let semaphore = KeyedSemaphore::new(Quota::new(4, 2, 1));
    let mut of_ada = acquire(&semaphore, 3, ada());
    let mut of_vic = acquire(&semaphore, 1, vic());
    let mut more_of_ada = wait(&semaphore, ada());
    let mia = wait(&semaphore, QuotaKeys::of(MIA, BETA));
    of_ada.pop();
    assert!(mia.now_or_never().unwrap().is_ok());
    of_vic.pop();
    assert!((&mut more_of_ada).now_or_never().unwrap().is_ok());
}

#[test]
fn a_caller_acquires_its_share_and_no_more() {
    let semaphore = semaphore(9, 9, 2);
    let mut own = vec![semaphore.acquire(ada(), 1), semaphore.acquire(ada(), 1)];
    assert_eq!(
        semaphore.acquire(ada(), 1).err(),
        Some(QuotaExceeded::Share(ADA))
    );
    assert!(semaphore.acquire(ben(), 1).is_ok());
    own.pop();
    assert!(
        semaphore.acquire(ada(), 1).is_ok(),
        "what was released can be acquired again"
    );
}

#[test]
fn an_organization_acquires_its_share_and_no_more() {
    let semaphore = semaphore(9, 3, 2);
    let held = [ada(), ada(), ben()].map(|keys| semaphore.acquire(keys, 1));
    assert!(held.iter().all(Result::is_ok));
    assert_eq!(
        semaphore.acquire(ben(), 1).err(),
        Some(QuotaExceeded::Share(ACME))
    );
    assert!(semaphore.acquire(vic(), 1).is_ok());
    drop(held);
    assert!(semaphore.acquire(ben(), 1).is_ok());
}

#[test]
fn all_together_acquire_no_more_than_the_total() {
    let semaphore = semaphore(3, 2, 2);
    let mut held = Vec::from([ada(), ada(), vic()].map(|keys| {
        let permit = semaphore.acquire(keys, 1);
        permit.expect("it is within the bounds")
    }));
    assert_eq!(
        semaphore.acquire(vic(), 1).err(),
        Some(QuotaExceeded::Total)
    );
    held.pop();
    assert!(semaphore.acquire(vic(), 1).is_ok());
}

#[test]
fn amounts_add_up() {
    let semaphore = semaphore(100, 60, 40);
    let held = semaphore.acquire(ada(), 30);
    assert_eq!(
        semaphore.acquire(ada(), 11).err(),
        Some(QuotaExceeded::Share(ADA))
    );
    let more = semaphore.acquire(ada(), 10);
    assert_eq!(
        semaphore.acquire(ben(), 21).err(),
        Some(QuotaExceeded::Share(ACME))
    );
    assert!(held.is_ok() && more.is_ok());
}

#[test]
fn an_amount_larger_than_a_share_counts_as_the_whole_share() {
    let semaphore = semaphore(100, 60, 40);
    let held = semaphore.acquire(ada(), 1000);
    assert!(held.is_ok());
    assert_eq!(
        semaphore.acquire(ada(), 1).err(),
        Some(QuotaExceeded::Share(ADA))
    );
    assert_eq!(
        semaphore.acquire(QuotaKeys::of(BEN, BETA), 1).err(),
        Some(QuotaExceeded::Total)
    );
}

#[test]
fn a_key_that_uses_nothing_is_forgotten() {
    let semaphore = semaphore(3, 3, 2);
    drop((semaphore.acquire(ada(), 1), semaphore.acquire(ben(), 2)));
    assert_eq!(semaphore.acquire(ada(), 3).map(drop), Ok(()));
    let used = &lock(&semaphore.state.ledger).used;
    assert_eq!((used.total, used.by_key.len()), (0, 0));
}

#[test]
fn an_organization_has_its_cap_and_a_lone_caller_leaves_a_quarter_of_it() {
    let semaphore = KeyedSemaphore::new(Quota::new(32, 8, 2).capped_for_organizations(16));
    let mut held = acquire_each(&semaphore, ada());
    assert_eq!(held.len(), 12, "of an organization that may have 16");
    for (colleague, permits) in [(5, 2), (6, 2), (7, 0)] {
        let keys = QuotaKeys::of(QuotaKey::User(UserId(colleague)), ACME);
        let acquired = acquire_each(&semaphore, keys);
        assert_eq!(acquired.len(), permits, "{colleague}");
        held.extend(acquired);
    }
    assert_eq!(
        semaphore.acquire(ada(), 1).err(),
        Some(QuotaExceeded::Share(ACME))
    );
    assert_eq!(acquire_each(&semaphore, vic()).len(), 8);
}

/// Acquires one after the other, until there is no more.
fn acquire_each(semaphore: &KeyedSemaphore, keys: QuotaKeys) -> Vec<Permit> {
    std::iter::from_fn(|| semaphore.acquire(keys, 1).ok()).collect()
}

#[test]
fn a_third_key_counts_too() {
    let semaphore = KeyedSemaphore::new(Quota {
        application: 1,
        ..Quota::new(9, 9, 9).capped()
    });
    let tracker = QuotaKey::Application(ApplicationId(7));
    let held = semaphore.acquire(ada().and(tracker), 1);
    assert_eq!(
        semaphore.acquire(vic().and(tracker), 1).err(),
        Some(QuotaExceeded::Share(tracker))
    );
    drop(held);
    assert!(semaphore.acquire(vic().and(tracker), 1).is_ok());
}

#[test]
fn users_without_an_organization_have_the_share_of_one_together() {
    let semaphore = semaphore(9, 3, 2);
    let outsider = |user| {
        QuotaSubject {
            user: Some(UserId(user)),
            organization: None,
        }
        .quota_keys()
    };
    let held = [1, 1, 2].map(|user| semaphore.acquire(outsider(user), 1));
    assert!(held.iter().all(Result::is_ok));
    let refused = semaphore.acquire(outsider(3), 1).err();
    assert_eq!(refused, Some(QuotaExceeded::Share(QuotaKey::Outsiders)));
    assert!(semaphore.acquire(vic(), 1).is_ok());
}

#[tokio::test]
async fn a_wait_ends_with_a_release_and_with_its_deadline() {
    let semaphore = semaphore(1, 1, 1);
    let held = semaphore.acquire(ADA.into(), 1).expect("it is free");
    let refused = semaphore
        .acquire_within(BEN.into(), 1, Duration::ZERO)
        .await;
    assert_eq!(refused.err(), Some(QuotaExceeded::Total));
    let waiting = tokio::spawn({
        let semaphore = semaphore.clone();
        async move {
            semaphore
                .acquire_within(BEN.into(), 1, Duration::from_secs(3600))
                .await
                .map(drop)
        }
    });
    tokio::task::yield_now().await;
    drop(held);
    assert_eq!(waiting.await.expect("it does not panic"), Ok(()));
}

#[tokio::test]
async fn what_is_released_goes_to_the_first_who_waits_for_it() {
    let semaphore = semaphore(9, 2, 1);
    let (ada, vic) = (
        semaphore.acquire(ada(), 1).unwrap(),
        semaphore.acquire(vic(), 1).unwrap(),
    );
    let wait =
        |keys: QuotaKeys| Box::pin(semaphore.acquire_within(keys, 1, Duration::from_secs(3600)));
    let (mut first, mut second, mut other) =
        (wait(self::ada()), wait(self::ada()), wait(self::vic()));
    for waiting in [&mut first, &mut second, &mut other] {
        assert!(waiting.now_or_never().is_none());
    }
    drop(ada);
    assert!(
        (&mut other).now_or_never().is_none(),
        "another caller's share is still in use"
    );
    // The first does not wait any more, so it is the second's turn.
    drop(first);
    let own = (&mut second).now_or_never().unwrap().unwrap();
    drop(vic);
    assert!((&mut other).now_or_never().unwrap().is_ok());
    drop(own);
    assert!(lock(&semaphore.state.ledger).lines.is_empty());
}

#[tokio::test]
async fn many_who_have_gone_are_passed_over() {
    let semaphore = semaphore(9, 9, 1);
    let held = semaphore.acquire(ada(), 1).unwrap();
    let wait = || Box::pin(semaphore.acquire_within(ada(), 1, Duration::from_secs(3600)));
    let mut waiting: Vec<_> = (0..MAX_WAITING_PER_CALLER).map(|_| wait()).collect();
    for waiter in &mut waiting {
        assert!(waiter.now_or_never().is_none());
    }
    let refused = wait().now_or_never().unwrap();
    assert_eq!(
        refused.err(),
        Some(QuotaExceeded::Share(ADA)),
        "no more of a caller wait"
    );
    assert!(
        semaphore
            .acquire_within(vic(), 1, Duration::ZERO)
            .await
            .is_ok()
    );
    let mut last = waiting.pop().unwrap();
    drop(waiting);
    drop(held);
    assert!((&mut last).now_or_never().unwrap().is_ok());
}

type Waiting = BoxFuture<'static, Result<Permit, QuotaExceeded>>;

fn wait(semaphore: &KeyedSemaphore, keys: QuotaKeys) -> Waiting {
    let semaphore = semaphore.clone();
    let mut waiting: Waiting = Box::pin(async move {
        semaphore
            .acquire_within(keys, 1, Duration::from_secs(3600))
            .await
    });
    assert!((&mut waiting).now_or_never().is_none());
    waiting
}

/// Releases a permit, and then each that is granted for it. Gives the callers in the order of the
/// grants.
fn order_of_grants(
    semaphore: &KeyedSemaphore,
    held: Permit,
    callers: &[QuotaKeys],
) -> Vec<QuotaKey> {
    let mut waiting: Vec<_> = callers
        .iter()
        .map(|keys| (keys.caller(), wait(semaphore, *keys)))
        .collect();
    let (mut released, mut order) = (Some(held), Vec::new());
    while let Some(permit) = released.take() {
        drop(permit);
        waiting.retain_mut(|(caller, waiting)| {
            let Some(granted) = waiting.now_or_never() else {
                return true;
            };
            order.push(*caller);
            released = granted.ok();
            false
        });
    }
    order
}

#[tokio::test]
async fn callers_of_an_organization_take_turns() {
    let semaphore = semaphore(9, 1, 1);
    let held = semaphore.acquire(ada(), 1).unwrap();
    let mia = QuotaKeys::of(MIA, ACME);
    let order = order_of_grants(&semaphore, held, &[ada(), ada(), ada(), ben(), ben(), mia]);
    assert_eq!(order, [ADA, BEN, MIA, ADA, BEN, ADA]);
    assert!(lock(&semaphore.state.ledger).lines.is_empty());
}

#[tokio::test]
async fn a_caller_who_asks_for_less_is_not_held_up_by_one_who_asks_for_much() {
    let semaphore = semaphore(10, 10, 10);
    let held = [
        semaphore.acquire(vic(), 6).unwrap(),
        semaphore.acquire(vic(), 4).unwrap(),
    ];
    let mut much = Box::pin(semaphore.acquire_within(ada(), 8, Duration::from_secs(3600)));
    let mut little = Box::pin(semaphore.acquire_within(ben(), 3, Duration::from_secs(3600)));
    assert!(much.as_mut().now_or_never().is_none() && little.as_mut().now_or_never().is_none());
    let [first, _second] = held;
    drop(first);
    assert!(little.now_or_never().unwrap().is_ok());
    assert!(much.as_mut().now_or_never().is_none());
}

#[tokio::test]
async fn organizations_take_turns() {
    let semaphore = semaphore(1, 1, 1);
    let held = semaphore.acquire(vic(), 1).unwrap();
    let mia = QuotaKeys::of(MIA, ACME);
    let order = order_of_grants(&semaphore, held, &[ada(), ben(), mia, vic(), vic()]);
    assert_eq!(order, [ADA, VIC, BEN, VIC, MIA]);
}

#[tokio::test]
async fn a_release_is_heard_wherever_its_caller_waits() {
    let semaphore = semaphore(u64::MAX, 9, 1);
    let held = semaphore
        .acquire(QuotaKeys::of(ADA, QuotaKey::Outsiders), 1)
        .unwrap();
    let order = order_of_grants(&semaphore, held, &[ada(), ADA.into()]);
    assert_eq!(order, [ADA, ADA]);
    assert!(lock(&semaphore.state.ledger).lines.is_empty());
}

#[tokio::test]
async fn a_release_is_heard_by_those_who_share_another_key() {
    let tracker = QuotaKey::Application(ApplicationId(7));
    let semaphore = KeyedSemaphore::new(Quota {
        application: 1,
        ..Quota::new(u64::MAX, u64::MAX, u64::MAX)
    });
    let held = semaphore.acquire(ada().and(tracker), 1).unwrap();
    assert_eq!(
        order_of_grants(&semaphore, held, &[vic().and(tracker)]),
        [VIC]
    );
}

/// Drops a future when it is woken.
struct DropWhenWoken(Mutex<Option<Waiting>>);

impl Wake for DropWhenWoken {
    fn wake(self: Arc<Self>) {
        self.0.lock().unwrap().take();
    }
}

#[tokio::test]
async fn a_permit_that_comes_too_late_goes_to_the_next() {
    let semaphore = semaphore(2, 2, 2);
    let held = semaphore.acquire(vic(), 2).unwrap();
    let (mut first, second, third) = (
        wait(&semaphore, ada()),
        wait(&semaphore, ben()),
        wait(&semaphore, ben()),
    );
    // The first waiter receives its permit before the second one does, and its waker drops the
    // second.
    let waker = Waker::from(Arc::new(DropWhenWoken(Mutex::new(Some(second)))));
    assert!(
        first
            .poll_unpin(&mut Context::from_waker(&waker))
            .is_pending()
    );
    drop(held);
    assert!(third.now_or_never().unwrap().is_ok());
    assert!(first.now_or_never().unwrap().is_ok());
    let used = &lock(&semaphore.state.ledger).used;
    assert_eq!((used.total, used.by_key.len()), (0, 0));
}

proptest! {
    /// Acquires and releases in any order.
    #[test]
    fn the_total_holds_and_a_caller_within_its_shares_is_refused_for_the_total_only(
        steps in prop::collection::vec((0..5_i64, 0..3_i64, 1..6_u64, prop::bool::ANY), 1..200),
    ) {
        let quota = Quota::new(32, 16, 8);
        let semaphore = KeyedSemaphore::new(quota);
        let mut held: Vec<(i64, i64, u64, Permit)> = Vec::new();
        for (user, organization, amount, releases) in steps {
            if releases {
                held.pop();
                continue;
            }
            let sum = |of: &dyn Fn(i64, i64) -> bool| {
                let amounts = held.iter().filter(|(user, organization, ..)| of(*user, *organization));
                amounts.map(|(_, _, amount, _)| amount).sum::<u64>()
            };
            let total = sum(&|_, _| true) + amount;
            let of_organization = sum(&|_, of| of == organization) + amount;
            let of_caller = sum(&|by, of| (by, of) == (user, organization)) + amount;
            let keys = QuotaKeys::of(
                QuotaKey::User(UserId(10 * organization + user)),
                QuotaKey::Organization(OrganizationId(organization)),
            );
            let expected = total <= quota.total
                && (of_caller <= quota.caller || total + quota.reserve <= quota.total)
                && (of_organization <= quota.organization
                    || total + quota.reserve / 2 <= quota.total);
            match semaphore.acquire(keys, amount) {
                Ok(permit) => {
                    prop_assert!(expected);
                    held.push((user, organization, amount, permit));
                }
                Err(_) => prop_assert!(!expected),
            }
        }
    }
}
