//! Posts whose sender's credential ends meanwhile.

use std::sync::Arc;

use eddyline_model::Timestamp;
use eddyline_model::messages::Draft;
use eddyline_storage::AppendOutcome;

use crate::home::{Home, on_every_database};
use crate::world::{World, chat};

on_every_database!(
    a_post_of_an_earlier_epoch_is_stale,
    a_post_is_stale_where_it_is_not_known_which_credentials_hold,
);

async fn is_added(world: &World, epoch: Option<u64>) -> bool {
    let draft = Draft {
        credential_epoch: epoch,
        ..chat(world.main, world.ann, "hello")
    };
    match world.store.post(draft).await.expect("an answer").outcome {
        AppendOutcome::Added(_) => true,
        AppendOutcome::Stale => false,
        other => panic!("{other:?}"),
    }
}

async fn a_post_of_an_earlier_epoch_is_stale(home: Arc<Home>) {
    let world = World::new(&home).await;
    let credential_epoch = world.store.credential_epoch().clone();
    credential_epoch.rely_until(Timestamp(i64::MAX));
    let before = credential_epoch.epoch();
    assert!(is_added(&world, Some(before)).await);
    credential_epoch.advance();
    credential_epoch.drained().await;
    assert!(!is_added(&world, Some(before)).await);
    assert!(is_added(&world, Some(credential_epoch.epoch())).await);
    assert!(
        is_added(&world, None).await,
        "what the server posts has no credential"
    );
}

async fn a_post_is_stale_where_it_is_not_known_which_credentials_hold(home: Arc<Home>) {
    let world = World::new(&home).await;
    let credential_epoch = world.store.credential_epoch();
    assert!(
        !is_added(&world, Some(credential_epoch.epoch())).await,
        "nothing is known at first"
    );
    credential_epoch.rely_until(world.store.now());
    assert!(
        !is_added(&world, Some(credential_epoch.epoch())).await,
        "that time has passed"
    );
    credential_epoch.rely_until(world.store.now().plus_millis(60_000));
    assert!(is_added(&world, Some(credential_epoch.epoch())).await);
}
