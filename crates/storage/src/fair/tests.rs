use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::*;

const LIMITS: PermitLimits = PermitLimits {
    permits: 8,
    caller: Share { fair: 2, most: 4 },
    group: Share { fair: 4, most: 6 },
};
const LINE: usize = 100;

type Waiting<'a> = Pin<Box<dyn Future<Output = Result<Permit<u32>, LineFull>> + 'a>>;

fn key(caller: u32, group: u32) -> FairnessKey<u32> {
    FairnessKey {
        caller,
        group: 1000 + group,
    }
}

fn poll(waiting: &mut Waiting<'_>) -> Poll<Result<Permit<u32>, LineFull>> {
    waiting
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

fn ask(semaphore: &FairSemaphore<u32>, key: FairnessKey<u32>) -> Waiting<'_> {
    let mut waiting: Waiting<'_> = Box::pin(semaphore.acquire(key, LINE));
    assert!(poll(&mut waiting).is_pending(), "{key:?} has to wait");
    waiting
}

fn take(semaphore: &FairSemaphore<u32>, key: FairnessKey<u32>) -> Permit<u32> {
    match poll(&mut (Box::pin(semaphore.acquire(key, LINE)) as Waiting<'_>)) {
        Poll::Ready(Ok(permit)) => permit,
        other => panic!("{key:?} gets no permit: {other:?}"),
    }
}

fn granted(waiting: &mut Waiting<'_>) -> Option<Permit<u32>> {
    match poll(waiting) {
        Poll::Ready(permit) => Some(permit.unwrap()),
        Poll::Pending => None,
    }
}

#[test]
fn a_caller_alone_borrows_up_to_the_maximum_and_leaves_permits_for_others() {
    let semaphore = FairSemaphore::new(LIMITS);
    let own: Vec<_> = (0..4).map(|_| take(&semaphore, key(1, 1))).collect();
    let mut fifth = ask(&semaphore, key(1, 1));
    let others: Vec<_> = (2..6)
        .map(|caller| take(&semaphore, key(caller, caller)))
        .collect();
    assert!(granted(&mut fifth).is_none());
    drop((own, others, fifth));
    assert!(semaphore.is_idle());
}

#[test]
fn a_group_alone_leaves_permits_for_other_groups() {
    let semaphore = FairSemaphore::new(LIMITS);
    let group: Vec<_> = (0..6)
        .map(|caller| take(&semaphore, key(caller, 1)))
        .collect();
    let mut seventh = ask(&semaphore, key(6, 1));
    let other = take(&semaphore, key(7, 2));
    assert!(granted(&mut seventh).is_none());
    drop(group);
    assert!(granted(&mut seventh).is_some());
    drop((other, seventh));
    assert!(semaphore.is_idle());
}

#[test]
fn a_caller_over_its_share_waits_behind_its_own_while_others_go_ahead() {
    let semaphore = FairSemaphore::new(LIMITS);
    let mut own: Vec<_> = (0..4).map(|_| take(&semaphore, key(1, 1))).collect();
    let mut others: Vec<_> = (0..4)
        .map(|caller| take(&semaphore, key(10 + caller, 2)))
        .collect();
    let mut line: Vec<_> = (0..50).map(|_| ask(&semaphore, key(1, 1))).collect();
    let mut late = ask(&semaphore, key(2, 3));
    // Fifty wait before the late one. It gets the first permit all the same.
    own.pop();
    let late = granted(&mut late).expect("a caller within its share goes ahead");
    assert!(line.iter_mut().all(|waiting| granted(waiting).is_none()));
    // Nobody else waits now, so it may borrow.
    drop((own.pop(), own.pop()));
    assert!(granted(&mut line[0]).is_some());
    assert!(granted(&mut line[49]).is_none());
    drop((own, others.pop(), others, line, late));
    assert!(semaphore.is_idle());
}

#[test]
fn callers_take_turns_and_so_do_groups() {
    let semaphore = FairSemaphore::new(PermitLimits {
        permits: 1,
        caller: Share { fair: 1, most: 1 },
        group: Share { fair: 1, most: 1 },
    });
    let mut held = Some(take(&semaphore, key(0, 0)));
    let mut line: Vec<_> = [(1, 1), (1, 1), (1, 1), (2, 1), (3, 2), (3, 2)]
        .into_iter()
        .map(|(caller, group)| (caller, ask(&semaphore, key(caller, group))))
        .collect();
    let mut order = Vec::new();
    while !line.is_empty() {
        drop(held.take());
        let at = line.iter_mut().position(|(_, waiting)| {
            held = granted(waiting);
            held.is_some()
        });
        let (caller, _) = line.remove(at.expect("somebody is next"));
        order.push(caller);
    }
    assert_eq!(order, [1, 3, 2, 3, 1, 1]);
}

#[test]
fn a_line_has_a_bound_of_its_own() {
    let semaphore = FairSemaphore::new(LIMITS);
    let held: Vec<_> = (0..4).map(|_| take(&semaphore, key(1, 1))).collect();
    let mut line: Vec<_> = (0..LINE).map(|_| ask(&semaphore, key(1, 1))).collect();
    let mut more: Waiting<'_> = Box::pin(semaphore.acquire(key(1, 2), LINE));
    assert!(
        matches!(poll(&mut more), Poll::Ready(Err(LineFull))),
        "also when it names another group"
    );
    line.pop();
    line.push(ask(&semaphore, key(1, 1)));
    drop(take(&semaphore, key(2, 1)));
    drop((line, more, held));
    assert!(semaphore.is_idle());
}

#[test]
fn whatever_stops_waiting_leaves_the_line_at_once() {
    let semaphore = FairSemaphore::new(LIMITS);
    let mut held: Vec<_> = (0..4).map(|_| take(&semaphore, key(1, 1))).collect();
    let (first, mut second) = (ask(&semaphore, key(1, 1)), ask(&semaphore, key(1, 1)));
    drop(first);
    assert_eq!(semaphore.waiting(), 1);
    held.pop();
    let permit = granted(&mut second);
    assert!(permit.is_some());
    // Granted, and dropped before it was received: the permit goes on to the next.
    let (third, mut fourth) = (ask(&semaphore, key(1, 1)), ask(&semaphore, key(1, 1)));
    held.pop();
    drop(third);
    assert!(granted(&mut fourth).is_some());
    drop((held, permit, second, fourth));
    assert!(semaphore.is_idle());
}
