use std::net::IpAddr;

use eddyline_model::messages::MessageKind;
use eddyline_model::policy::FlowAction;
use eddyline_model::{OrganizationId, UserId};

use futures_util::FutureExt as _;

use crate::accounts::tests::{World, person};
use crate::core::transaction::NoCaller;
use crate::quota::{QuotaKey, QuotaSubject};
use crate::{Actor, Error, ErrorKind, NewPost, as_client};

async fn post(world: &World, actor: &Actor) -> Option<Error> {
    let room = world
        .app
        .rooms()
        .find(&world.ada, "acme", "main", FlowAction::Post)
        .await
        .unwrap();
    world
        .app
        .messages()
        .post(
            actor,
            room,
            NewPost::of(MessageKind::Message, "hello".to_owned()),
        )
        .await
        .err()
}

async fn make_token(world: &World, actor: &Actor) -> Option<Error> {
    world
        .app
        .accounts()
        .make_api_token(actor, "another")
        .await
        .err()
}

#[tokio::test]
async fn a_caller_has_a_bounded_number_of_writes_that_wait() {
    let world = World::new().await;
    let ben = person(&world.app, "ben@acme.example", "ben").await;
    world
        .app
        .operator()
        .add_flow_user("acme", "main", &"ben@acme.example".parse().unwrap())
        .await
        .unwrap();
    let mut waiting: Vec<_> = (0..512)
        .map(|_| {
            world
                .app
                .core()
                .store()
                .write_permit(world.ada.quota_keys())
                .unwrap()
        })
        .collect();
    assert_eq!(
        post(&world, &world.ada).await.as_ref().map(Error::kind),
        Some(ErrorKind::TooManyRequests)
    );
    assert_eq!(
        make_token(&world, &world.ada)
            .await
            .as_ref()
            .map(Error::kind),
        Some(ErrorKind::TooManyRequests)
    );
    assert!(post(&world, &ben).await.is_none() && make_token(&world, &ben).await.is_none());
    waiting.pop();
    assert!(
        post(&world, &world.ada).await.is_none() && make_token(&world, &world.ada).await.is_none()
    );
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
