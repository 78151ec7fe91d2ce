use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::*;

async fn found(cache: &LoadingCache<u8, u8>, value: u8) -> Option<u8> {
    let load = async { Ok::<_, Infallible>(Some(value)) };
    cache.find(true, 1, || load).await.unwrap()
}

/// A load that waits for its outcome, and the sender of that outcome.
fn waiting() -> (
    oneshot::Sender<Option<u8>>,
    impl Future<Output = Result<Option<u8>, ()>>,
) {
    let (tell, told) = oneshot::channel();
    (tell, async { told.await.map_err(|_| ()) })
}

#[tokio::test]
async fn what_was_loaded_is_remembered_until_it_is_forgotten() {
    let cache = LoadingCache::new(10);
    assert_eq!(found(&cache, 1).await, Some(1));
    assert_eq!(found(&cache, 2).await, Some(1));
    cache.invalidate(&1);
    assert_eq!(found(&cache, 3).await, Some(3));
    cache.retain(|_, value| *value != 3);
    assert_eq!(found(&cache, 4).await, Some(4));
    cache.invalidate_all();
    assert_eq!(found(&cache, 5).await, Some(5));
}

#[tokio::test]
async fn what_is_forgotten_while_it_is_loaded_is_not_remembered() {
    let forget: [fn(&LoadingCache<u8, u8>); 4] = [
        |all| all.invalidate(&1),
        |all| all.retain(|_, _| true),
        |all| all.retain_both(|_, _| true, |key| *key != 1),
        LoadingCache::invalidate_all,
    ];
    for forget in forget {
        let cache = LoadingCache::new(10);
        let load = async {
            forget(&cache);
            Ok::<_, Infallible>(Some(1))
        };
        assert_eq!(cache.find(true, 1, || load).await, Ok(Some(1)));
        assert_eq!(found(&cache, 2).await, Some(2));
    }
}

#[tokio::test]
async fn what_is_loaded_while_another_is_forgotten_is_remembered() {
    let cache = LoadingCache::new(10);
    let load = async {
        cache.invalidate(&2);
        cache.retain_both(|_, _| true, |key| *key != 2);
        Ok::<_, Infallible>(Some(1))
    };
    assert_eq!(cache.find(true, 1, || load).await, Ok(Some(1)));
    assert_eq!(found(&cache, 2).await, Some(1));
}

#[tokio::test]
async fn what_cannot_be_trusted_is_loaded_again() {
    let cache = LoadingCache::new(10);
    assert_eq!(found(&cache, 1).await, Some(1));
    let again = cache
        .find(false, 1, || async { Ok::<_, Infallible>(Some(2)) })
        .await;
    assert_eq!(again, Ok(Some(2)));
}

#[tokio::test]
async fn many_who_want_the_same_share_one_load() {
    let cache = Arc::new(LoadingCache::<u8, u8>::new(10));
    let (tell, load) = waiting();
    let mut first = Box::pin(cache.find(true, 1, || load));
    assert!(first.as_mut().now_or_never().is_none());
    let loads = AtomicUsize::new(0);
    let own = || async {
        loads.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ()>(Some(9))
    };
    let mut others: Vec<_> = (0..300)
        .map(|_| Box::pin(cache.find(true, 1, &own)))
        .collect();
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
    let cache = LoadingCache::<u8, u8>::new(10);
    let (tell, load) = waiting();
    let mut first = Box::pin(cache.find(true, 1, || load));
    assert!(first.as_mut().now_or_never().is_none());
    cache.invalidate(&1);
    assert_eq!(found(&cache, 2).await, Some(2), "loaded anew");
    tell.send(Some(1)).unwrap();
    assert_eq!(first.await, Ok(Some(1)));
    assert_eq!(
        found(&cache, 3).await,
        Some(2),
        "what was loaded before the change is not cached"
    );
}

#[tokio::test]
async fn no_load_is_joined_while_memory_cannot_be_trusted() {
    let cache = LoadingCache::<u8, u8>::new(10);
    let (_tell, load) = waiting();
    let mut first = Box::pin(cache.find(true, 1, || load));
    assert!(first.as_mut().now_or_never().is_none());
    let own = cache.find(false, 1, || async { Ok::<_, ()>(Some(2)) });
    assert_eq!(own.now_or_never(), Some(Ok(Some(2))));
}

#[tokio::test]
async fn followers_load_for_themselves_when_a_load_fails_or_finds_nothing_to_keep() {
    for outcome in [None, Some(None), Some(Some(7))] {
        let cache = LoadingCache::<u8, u8>::new(10);
        let (tell, load) = waiting();
        let mut first = Box::pin(cache.find_if(true, 1, |value| *value != 7, || load));
        assert!(first.as_mut().now_or_never().is_none());
        let mut others: Vec<_> = (0..3)
            .map(|_| Box::pin(cache.find(true, 1, || async { Ok::<_, ()>(Some(2)) })))
            .collect();
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
    let cache = LoadingCache::<u8, u8>::new(10);
    let (_tell, load) = waiting();
    let mut first = Box::pin(cache.find(true, 1, || load));
    assert!(first.as_mut().now_or_never().is_none());
    let loads = AtomicUsize::new(0);
    let own = || async {
        loads.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ()>(Some(2))
    };
    let others = (0..5).map(|_| cache.find(true, 1, &own));
    for found in futures_util::future::join_all(others).await {
        assert_eq!(found, Ok(Some(2)));
    }
    assert_eq!(
        loads.load(Ordering::SeqCst),
        1,
        "one of them loads for the others"
    );
    assert_eq!(found(&cache, 3).await, Some(2), "that load is cached");
}

#[tokio::test]
async fn a_load_that_took_long_is_remembered_unless_it_was_forgotten() {
    for is_forgotten in [false, true] {
        let cache = LoadingCache::<u8, u8>::new(10);
        let ((tell, slow), (_tell, never)) = (waiting(), waiting());
        let mut first = Box::pin(cache.find(true, 1, || slow));
        assert!(first.as_mut().now_or_never().is_none());
        let second = timeout(FOLLOW_TIME * 3 / 2, cache.find(true, 1, || never)).await;
        assert!(
            second.is_err(),
            "it leads a load of its own, which does not end"
        );
        if is_forgotten {
            cache.invalidate(&1);
        }
        tell.send(Some(1)).unwrap();
        assert_eq!(first.await, Ok(Some(1)));
        let expected = if is_forgotten { 2 } else { 1 };
        assert_eq!(found(&cache, 2).await, Some(expected));
    }
}

/// Begins a load, which is registered unless the last one is slow and others are registered enough.
fn begun<'r>(cache: &'r LoadingCache<u8, u8>, following: Following) -> Load<'r, u8, u8> {
    match cache.enter(&1, following) {
        Way::Load(load) => load,
        Way::Follow(number, _) => panic!("it follows load {number}"),
    }
}

/// As many loads as are registered at a time; the last has the number 3.
fn all_loads(cache: &LoadingCache<u8, u8>) -> [Load<'_, u8, u8>; MOST_LOADS] {
    [
        Following::Anybody,
        Following::AnyBut(1),
        Following::AnyBut(2),
    ]
    .map(|one| begun(cache, one))
}

#[tokio::test]
async fn a_load_that_nobody_follows_is_remembered_unless_it_was_forgotten() {
    for is_forgotten in [false, true] {
        let cache = LoadingCache::<u8, u8>::new(10);
        let _slow = all_loads(&cache);
        let alone = cache.find(true, 1, || async {
            if is_forgotten {
                cache.invalidate(&1);
            }
            Ok::<_, ()>(Some(2))
        });
        assert_eq!(alone.await, Ok(Some(2)));
        let expected = if is_forgotten { 3 } else { 2 };
        assert_eq!(found(&cache, 3).await, Some(expected));
    }
}

#[test]
fn nobody_follows_a_slow_load_twice() {
    let cache = LoadingCache::<u8, u8>::new(10);
    let _slow = all_loads(&cache);
    assert!(matches!(
        cache.enter(&1, Following::Anybody),
        Way::Follow(3, _)
    ));
    assert_eq!(begun(&cache, Following::AnyBut(3)).witness, 3);
}

#[tokio::test]
async fn an_older_load_does_not_replace_what_a_newer_one_found() {
    let cache = LoadingCache::<u8, u8>::new(10);
    let [oldest, older, newest] = all_loads(&cache);
    older.end(Some(&2));
    oldest.end(Some(&1));
    assert_eq!(found(&cache, 9).await, Some(2));
    newest.end(Some(&3));
    assert_eq!(found(&cache, 9).await, Some(3));
    assert!(cache.loads().registered.is_empty());
}

#[tokio::test(start_paused = true)]
async fn loads_that_are_given_up_are_not_followed_for_ever() {
    let cache = LoadingCache::<u8, u8>::new(10);
    let mut leader = begun(&cache, Following::Anybody);
    let mut other = Box::pin(cache.find(true, 1, || async { Ok::<_, ()>(Some(2)) }));
    for _ in 0..4 {
        assert!(other.as_mut().now_or_never().is_none());
        tokio::time::advance(FOLLOW_TIME * 3 / 4).await;
        drop(leader);
        leader = begun(&cache, Following::Anybody);
    }
    assert_eq!(other.now_or_never(), Some(Ok(Some(2))));
}

#[tokio::test]
async fn when_the_one_who_loads_gives_up_another_takes_over() {
    let cache = LoadingCache::<u8, u8>::new(10);
    let (_tell, load) = waiting();
    let mut first = Box::pin(cache.find(true, 1, || load));
    assert!(first.as_mut().now_or_never().is_none());
    let loads = AtomicUsize::new(0);
    let own = || async {
        loads.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ()>(Some(2))
    };
    let mut others: Vec<_> = (0..5)
        .map(|_| Box::pin(cache.find(true, 1, &own)))
        .collect();
    for other in &mut others {
        assert!(other.as_mut().now_or_never().is_none());
    }
    drop(first);
    for other in others {
        assert_eq!(other.await, Ok(Some(2)));
    }
    assert_eq!(loads.load(Ordering::SeqCst), 1);
}
