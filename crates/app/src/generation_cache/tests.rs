use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::*;

async fn found(remembered: &Remembered<u8, u8>, value: u8) -> Option<u8> {
    let load = async { Ok::<_, Infallible>(Some(value)) };
    remembered.find(true, 1, || load).await.unwrap()
}

/// A load that waits for its outcome, and the sender of that outcome.
fn waiting() -> (oneshot::Sender<Option<u8>>, impl Future<Output = Result<Option<u8>, ()>>) {
    let (tell, told) = oneshot::channel();
    (tell, async { told.await.map_err(|_| ()) })
}

#[tokio::test]
async fn what_was_loaded_is_remembered_until_it_is_forgotten() {
    let remembered = Remembered::new(10);
    assert_eq!(found(&remembered, 1).await, Some(1));
    assert_eq!(found(&remembered, 2).await, Some(1));
    remembered.forget(&1);
    assert_eq!(found(&remembered, 3).await, Some(3));
    remembered.retain(|_, value| *value != 3);
    assert_eq!(found(&remembered, 4).await, Some(4));
    remembered.forget_all();
    assert_eq!(found(&remembered, 5).await, Some(5));
}

#[tokio::test]
async fn what_is_forgotten_while_it_is_loaded_is_not_remembered() {
    let forget: [fn(&Remembered<u8, u8>); 4] = [
        |all| all.forget(&1),
        |all| all.retain(|_, _| true),
        |all| all.retain_both(|_, _| true, |key| *key != 1),
        Remembered::forget_all,
    ];
    for forget in forget {
        let remembered = Remembered::new(10);
        let load = async {
            forget(&remembered);
            Ok::<_, Infallible>(Some(1))
        };
        assert_eq!(remembered.find(true, 1, || load).await, Ok(Some(1)));
        assert_eq!(found(&remembered, 2).await, Some(2));
    }
}

#[tokio::test]
async fn what_is_loaded_while_another_is_forgotten_is_remembered() {
    let remembered = Remembered::new(10);
    let load = async {
        remembered.forget(&2);
        remembered.retain_both(|_, _| true, |key| *key != 2);
        Ok::<_, Infallible>(Some(1))
    };
    assert_eq!(remembered.find(true, 1, || load).await, Ok(Some(1)));
    assert_eq!(found(&remembered, 2).await, Some(1));
}

#[tokio::test]
async fn what_cannot_be_trusted_is_loaded_again() {
    let remembered = Remembered::new(10);
    assert_eq!(found(&remembered, 1).await, Some(1));
    let again = remembered.find(false, 1, || async { Ok::<_, Infallible>(Some(2)) }).await;
    assert_eq!(again, Ok(Some(2)));
}

#[tokio::test]
async fn many_who_want_the_same_share_one_load() {
    let remembered = Arc::new(Remembered::<u8, u8>::new(10));
    let (tell, load) = waiting();
    let mut first = Box::pin(remembered.find(true, 1, || load));
    assert!(first.as_mut().now_or_never().is_none());
    let loads = AtomicUsize::new(0);
    let own = || async {
        loads.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ()>(Some(9))
    };
    let mut others: Vec<_> = (0..300).map(|_| Box::pin(remembered.find(true, 1, &own))).collect();
    for other in &mut others {
        assert!(other.as_mut().now_or_never().is_none());
    }
    tell.send(Some(1)).unwrap();
    assert_eq!(first.await, Ok(Some(1)));
    for other in others {
        assert_eq!(other.await, Ok(Some(1)));
    }
    assert_eq!(loads.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn no_load_is_joined_that_began_before_it_was_forgotten() {
    let remembered = Remembered::<u8, u8>::new(10);
    let (tell, load) = waiting();
    let mut first = Box::pin(remembered.find(true, 1, || load));
    assert!(first.as_mut().now_or_never().is_none());
    remembered.forget(&1);
    assert_eq!(found(&remembered, 2).await, Some(2), "loaded anew");
    tell.send(Some(1)).unwrap();
    assert_eq!(first.await, Ok(Some(1)));
    assert_eq!(found(&remembered, 3).await, Some(2), "what was loaded before the change is not remembered");
}

#[tokio::test]
async fn no_load_is_joined_while_memory_cannot_be_trusted() {
    let remembered = Remembered::<u8, u8>::new(10);
    let (_tell, load) = waiting();
    let mut first = Box::pin(remembered.find(true, 1, || load));
    assert!(first.as_mut().now_or_never().is_none());
    let own = remembered.find(false, 1, || async { Ok::<_, ()>(Some(2)) });
    assert_eq!(own.now_or_never(), Some(Ok(Some(2))));
}

#[tokio::test]
async fn followers_load_for_themselves_when_a_load_fails_or_finds_nothing_to_keep() {
    for outcome in [None, Some(None), Some(Some(7))] {
        let remembered = Remembered::<u8, u8>::new(10);
        let (tell, load) = waiting();
        let mut first = Box::pin(remembered.find_if(true, 1, |value| *value != 7, || load));
        assert!(first.as_mut().now_or_never().is_none());
        let mut others: Vec<_> =
            (0..3).map(|_| Box::pin(remembered.find(true, 1, || async { Ok::<_, ()>(Some(2)) }))).collect();
        for other in &mut others {
            assert!(other.as_mut().now_or_never().is_none());
        }
        match outcome {
            Some(found) => tell.send(found).unwrap(),
            None => drop(tell),
        }
        assert_eq!(first.await, outcome.ok_or(()));
        for other in others {
            assert_eq!(other.await, Ok(Some(2)));
        }
    }
}

#[tokio::test]
async fn a_load_that_takes_long_is_not_waited_for() {
    let remembered = Remembered::<u8, u8>::new(10);
    let (_tell, load) = waiting();
    let mut first = Box::pin(remembered.find(true, 1, || load));
    assert!(first.as_mut().now_or_never().is_none());
    let loads = AtomicUsize::new(0);
    let own = || async {
        loads.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ()>(Some(2))
    };
    let others = (0..5).map(|_| remembered.find(true, 1, &own));
    for found in futures_util::future::join_all(others).await {
        assert_eq!(found, Ok(Some(2)));
    }
    assert_eq!(loads.load(Ordering::SeqCst), 1, "one of them loads for the others");
    assert_eq!(found(&remembered, 3).await, Some(2), "that load is remembered");
}

#[tokio::test]
async fn a_load_that_took_long_is_remembered_unless_it_was_forgotten() {
    for is_forgotten in [false, true] {
        let remembered = Remembered::<u8, u8>::new(10);
        let ((tell, slow), (_tell, never)) = (waiting(), waiting());
        let mut first = Box::pin(remembered.find(true, 1, || slow));
        assert!(first.as_mut().now_or_never().is_none());
        let second = timeout(FOLLOW_TIME * 3 / 2, remembered.find(true, 1, || never)).await;
        assert!(second.is_err(), "it leads a load of its own, which does not end");
        if is_forgotten {
            remembered.forget(&1);
        }
        tell.send(Some(1)).unwrap();
        assert_eq!(first.await, Ok(Some(1)));
        let expected = if is_forgotten { 2 } else { 1 };
        assert_eq!(found(&remembered, 2).await, Some(expected));
    }
}

/// Begins a load, which is registered unless the last one is slow and others are registered enough.
fn begun<'r>(remembered: &'r Remembered<u8, u8>, following: Following) -> Load<'r, u8, u8> {
    match remembered.enter(&1, following) {
        Way::Load(load) => load,
        Way::Follow(number, _) => panic!("it follows load {number}"),
    }
}

/// As many loads as are registered at a time; the last has the number 3.
fn all_loads(remembered: &Remembered<u8, u8>) -> [Load<'_, u8, u8>; MOST_LOADS] {
    [Following::Anybody, Following::AnyBut(1), Following::AnyBut(2)].map(|one| begun(remembered, one))
}

#[tokio::test]
async fn a_load_that_nobody_follows_is_remembered_unless_it_was_forgotten() {
    for is_forgotten in [false, true] {
        let remembered = Remembered::<u8, u8>::new(10);
        let _slow = all_loads(&remembered);
        let alone = remembered.find(true, 1, || async {
            if is_forgotten {
                remembered.forget(&1);
            }
            Ok::<_, ()>(Some(2))
        });
        assert_eq!(alone.await, Ok(Some(2)));
        let expected = if is_forgotten { 3 } else { 2 };
        assert_eq!(found(&remembered, 3).await, Some(expected));
    }
}

#[test]
fn nobody_follows_a_slow_load_twice() {
    let remembered = Remembered::<u8, u8>::new(10);
    let _slow = all_loads(&remembered);
    assert!(matches!(remembered.enter(&1, Following::Anybody), Way::Follow(3, _)));
    assert_eq!(begun(&remembered, Following::AnyBut(3)).witness, 3);
}

#[tokio::test]
async fn an_older_load_does_not_replace_what_a_newer_one_found() {
    let remembered = Remembered::<u8, u8>::new(10);
    let [oldest, older, newest] = all_loads(&remembered);
    older.end(Some(&2));
    oldest.end(Some(&1));
    assert_eq!(found(&remembered, 9).await, Some(2));
    newest.end(Some(&3));
    assert_eq!(found(&remembered, 9).await, Some(3));
    assert!(remembered.loads().registered.is_empty());
}

#[tokio::test(start_paused = true)]
async fn loads_that_are_given_up_are_not_followed_for_ever() {
    let remembered = Remembered::<u8, u8>::new(10);
    let mut leader = begun(&remembered, Following::Anybody);
    let mut other = Box::pin(remembered.find(true, 1, || async { Ok::<_, ()>(Some(2)) }));
    for _ in 0..4 {
        assert!(other.as_mut().now_or_never().is_none());
        tokio::time::advance(FOLLOW_TIME * 3 / 4).await;
        drop(leader);
        leader = begun(&remembered, Following::Anybody);
    }
    assert_eq!(other.now_or_never(), Some(Ok(Some(2))));
}

#[tokio::test]
async fn when_the_one_who_loads_gives_up_another_takes_over() {
    let remembered = Remembered::<u8, u8>::new(10);
    let (_tell, load) = waiting();
    let mut first = Box::pin(remembered.find(true, 1, || load));
    assert!(first.as_mut().now_or_never().is_none());
    let loads = AtomicUsize::new(0);
    let own = || async {
        loads.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ()>(Some(2))
    };
    let mut others: Vec<_> = (0..5).map(|_| Box::pin(remembered.find(true, 1, &own))).collect();
    for other in &mut others {
        assert!(other.as_mut().now_or_never().is_none());
    }
    drop(first);
    for other in others {
        assert_eq!(other.await, Ok(Some(2)));
    }
    assert_eq!(loads.load(Ordering::SeqCst), 1);
}
