use std::net::IpAddr;
use std::sync::{Mutex, mpsc};

use eddyline_model::{OrganizationId, UserId};
use futures_util::FutureExt as _;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::accounts::tests::{World, person};
use crate::charging::budget;
use crate::core::transaction::NoCaller;
use crate::quota::{QuotaKey, QuotaSubject};
use crate::{Actor, Error, ErrorKind, as_client};

/// Keeps the writer busy until the sender is dropped.
#[expect(clippy::disallowed_methods, reason = "the task of a test ends with it")]
async fn hold(world: &World) -> (mpsc::Sender<()>, JoinHandle<()>) {
    let (release, held) = mpsc::channel::<()>();
    let (begun, is_held) = oneshot::channel();
    let (mut begun, held) = (Some(begun), Mutex::new(held));
    let store = world.app.core().store().clone();
    let holding = tokio::spawn(async move {
        let write = store.write(NoCaller::Process, move |_| {
            begun.take().map(|begun| begun.send(()));
            let _ = held.lock().unwrap().recv();
            Ok(())
        });
        write.await.unwrap();
    });
    is_held.await.unwrap();
    (release, holding)
}

#[tokio::test]
async fn a_caller_leaves_room_for_writes_of_others_to_wait() {
    let world = World::new().await;
    let ben = person(&world.app, "ben@acme.example", "ben").await;
    let (release, holding) = hold(&world).await;
    let store = world.app.core().store();
    let write = |actor: &Actor| {
        let (author, budget) = (NoCaller::Process.author(), budget(actor.quota_keys()));
        Box::pin(store.run::<_, Error, _>(author, budget, |_| Ok(())))
    };
    let mut waiting = Vec::new();
    let refused = loop {
        let mut one = write(&world.ada);
        match (&mut one).now_or_never() {
            None => waiting.push(one),
            Some(answer) => break Error::from(answer.unwrap_err()),
        }
    };
    assert_eq!(waiting.len(), 256, "a quarter of 65,536 rows, 64 for each");
    assert_eq!(refused.kind(), ErrorKind::TooManyRequests);
    assert_eq!(refused.retry_after(), Some(1));
    let mut of_ben = write(&ben);
    assert!((&mut of_ben).now_or_never().is_none());
    drop(release);
    holding.await.unwrap();
    of_ben.await.unwrap();
    for one in waiting {
        one.await.unwrap();
    }
    write(&world.ada).await.unwrap();
}

#[tokio::test]
async fn writes_of_strangers_count_for_their_network() {
    let world = World::new().await;
    let try_link = |address: [u8; 4]| {
        let app = world.app.clone();
        let trying = async move {
            app.core()
                .transaction(NoCaller::Link, |_| Ok(()))
                .await
                .map(drop)
        };
        Box::pin(as_client(IpAddr::from(address), trying))
    };
    let network = QuotaKey::network(IpAddr::from([192, 0, 2, 1]));
    let mut counted = Vec::new();
    for _ in 0..2 {
        counted.push(
            world
                .app
                .core()
                .store()
                .transaction_permit(network.into())
                .await
                .unwrap(),
        );
    }
    let mut waiting = try_link([192, 0, 2, 1]);
    assert!((&mut waiting).now_or_never().is_none());
    assert!(
        try_link([192, 0, 2, 2]).await.is_ok(),
        "another network does not wait"
    );
    counted.pop();
    assert!(waiting.await.is_ok());
}

#[tokio::test]
async fn few_transactions_of_a_caller_stand_in_the_queue_and_the_others_wait() {
    let world = World::new().await;
    let (ada, zoe) = (world.ada.quota_keys(), QuotaKey::User(UserId(99)).into());
    let mut counted = Vec::new();
    for _ in 0..2 {
        counted.push(
            world
                .app
                .core()
                .store()
                .transaction_permit(ada)
                .await
                .unwrap(),
        );
    }
    let mut third = Box::pin(world.app.core().store().transaction_permit(ada));
    assert!((&mut third).now_or_never().is_none());
    world
        .app
        .core()
        .store()
        .transaction_permit(zoe)
        .await
        .unwrap();
    counted.pop();
    third.await.unwrap();
}

#[tokio::test]
async fn transactions_that_wait_leave_the_share_of_their_organization_to_others() {
    let world = World::new().await;
    let of = |user| {
        QuotaSubject {
            user: Some(UserId(user)),
            organization: Some(OrganizationId(1)),
        }
        .quota_keys()
    };
    let count = |user| Box::pin(world.app.core().store().transaction_permit(of(user)));
    let mut counted = Vec::new();
    let mut waiting = Vec::new();
    for user in 1..=4 {
        counted.extend([count(user).await.unwrap(), count(user).await.unwrap()]);
        waiting.extend((0..512).map(|_| count(user)));
    }
    for transaction in &mut waiting {
        assert!(transaction.now_or_never().is_none());
    }
    assert!(
        count(1).now_or_never().unwrap().is_err(),
        "no more of a caller wait"
    );
    let mut other = count(5);
    assert!((&mut other).now_or_never().is_none());
    counted.drain(..2);
    let _first = (&mut waiting[0]).now_or_never().unwrap().unwrap();
    assert!((&mut waiting[1]).now_or_never().is_none());
    assert!(other.now_or_never().unwrap().is_ok());
}
