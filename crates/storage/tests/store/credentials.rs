//! API tokens and sessions: what opens an account beside its password.

use std::sync::Arc;

use eddyline_model::Timestamp;
use eddyline_storage::{ApiToken, BrowserSession, Error};

use crate::home::{Home, on_every_database};
use crate::world::World;

on_every_database!(
    an_api_token_opens_its_owners_account,
    api_tokens_are_listed_renamed_and_ended,
    a_session_holds_while_it_is_used,
    sessions_are_listed_the_last_used_first,
    sessions_end_one_by_one_or_together,
);

async fn an_api_token_opens_its_owners_account(home: Arc<Home>) {
    let world = World::new(&home).await;
    let ann = world.ann;
    world
        .store
        .write(move |tx| tx.api_tokens().insert(b"1", ann, "one", Timestamp(1)))
        .await
        .expect("a token");
    let found = world
        .read(|reader| reader.api_tokens().find_user(b"1"))
        .await;
    assert_eq!(found.map(|user| user.id), Some(ann));
    assert_eq!(
        world
            .read(|reader| reader.api_tokens().find_user(b"2"))
            .await,
        None
    );
    let again = world
        .store
        .write(move |tx| tx.api_tokens().insert(b"1", ann, "two", Timestamp(1)))
        .await;
    assert!(matches!(again, Err(Error::Exists(_))), "{again:?}");
}

async fn names_of(world: &World) -> Vec<String> {
    let ann = world.ann;
    let tokens = world
        .read(move |reader| reader.api_tokens().list_of_user(ann))
        .await;
    tokens.into_iter().map(|token| token.name).collect()
}

async fn api_tokens_are_listed_renamed_and_ended(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob) = (world.ann, world.bob);
    world
        .store
        .write(move |tx| {
            tx.api_tokens().insert(b"2", ann, "new", Timestamp(20))?;
            tx.api_tokens().insert(b"9", ann, "old", Timestamp(10))?;
            tx.api_tokens().insert(b"3", bob, "bob's", Timestamp(5))
        })
        .await
        .expect("tokens");
    let old = ApiToken {
        hash: b"9".to_vec(),
        name: "old".to_owned(),
        created_at: Timestamp(10),
    };
    assert_eq!(
        world
            .read(move |reader| reader.api_tokens().list_of_user(ann))
            .await
            .first(),
        Some(&old)
    );
    assert_eq!(names_of(&world).await, ["old", "new"]);
    let ended = world.store.write(|tx| {
        tx.api_tokens().set_name(b"2", "renamed")?;
        Ok((tx.api_tokens().delete(b"9")?, tx.api_tokens().delete(b"9")?))
    });
    assert_eq!(ended.await.expect("a write").0, (true, false));
    assert_eq!(names_of(&world).await, ["renamed"]);
    world
        .store
        .write(move |tx| tx.api_tokens().delete_of_user(ann))
        .await
        .expect("a write");
    assert_eq!(names_of(&world).await, [""; 0]);
    assert!(
        world
            .read(|reader| reader.api_tokens().find_user(b"3"))
            .await
            .is_some()
    );
}

/// Ann's sessions `1` to `3`, which began in this order, and Bob's `4`.
async fn begin(world: &World) {
    let (ann, bob) = (world.ann, world.bob);
    let begun = world.store.write(move |tx| {
        tx.sessions().insert(b"1", ann, Timestamp(10))?;
        tx.sessions().insert(b"2", ann, Timestamp(20))?;
        tx.sessions().insert(b"3", ann, Timestamp(30))?;
        tx.sessions().insert(b"4", bob, Timestamp(40))
    });
    begun.await.expect("sessions begin");
}

async fn hashes(world: &World, since: i64) -> Vec<Vec<u8>> {
    let ann = world.ann;
    let found = world
        .read(move |reader| reader.sessions().list_of_user(ann, Timestamp(since)))
        .await;
    found.into_iter().map(|session| session.hash).collect()
}

async fn a_session_holds_while_it_is_used(home: Arc<Home>) {
    let world = World::new(&home).await;
    begin(&world).await;
    let user = async |since| {
        world
            .read(move |reader| reader.sessions().find_user(b"1", Timestamp(since)))
            .await
    };
    assert_eq!(user(9).await, Some((world.ann, Timestamp(10))));
    assert_eq!(user(10).await, None);
    world
        .store
        .write(|tx| tx.sessions().touch(b"1", Timestamp(50)))
        .await
        .expect("a write");
    assert_eq!(user(49).await, Some((world.ann, Timestamp(50))));
}

async fn sessions_are_listed_the_last_used_first(home: Arc<Home>) {
    let world = World::new(&home).await;
    begin(&world).await;
    let named = world.store.write(|tx| {
        tx.sessions().touch(b"1", Timestamp(50))?;
        tx.sessions().set_agent(b"1", "Firéfox")
    });
    named.await.expect("a write");
    assert_eq!(hashes(&world, 0).await, [b"1", b"3", b"2"]);
    assert_eq!(hashes(&world, 20).await, [b"1", b"3"]);
    let ann = world.ann;
    let first = world
        .read(move |reader| reader.sessions().list_of_user(ann, Timestamp(30)))
        .await;
    let whole = BrowserSession {
        hash: b"1".to_vec(),
        agent: "Firéfox".to_owned(),
        created_at: Timestamp(10),
        seen_at: Timestamp(50),
    };
    assert_eq!(first, [whole]);
    let second = world
        .read(move |reader| reader.sessions().list_of_user(ann, Timestamp(0)))
        .await;
    assert_eq!(second[1].agent, "", "that of a browser which does not say");
}

async fn sessions_end_one_by_one_or_together(home: Arc<Home>) {
    let world = World::new(&home).await;
    begin(&world).await;
    let ann = world.ann;
    world
        .store
        .write(|tx| tx.sessions().delete(b"2"))
        .await
        .expect("a write");
    assert_eq!(hashes(&world, 0).await, [b"3", b"1"]);
    world
        .store
        .write(move |tx| tx.sessions().delete_of_user(ann, Some(b"1")))
        .await
        .expect("a write");
    assert_eq!(hashes(&world, 0).await, [b"1"]);
    world
        .store
        .write(|tx| tx.sessions().delete_idle(Timestamp(9)))
        .await
        .expect("a write");
    assert_eq!(hashes(&world, 0).await, [b"1"]);
    world
        .store
        .write(|tx| tx.sessions().delete_idle(Timestamp(10)))
        .await
        .expect("a write");
    assert_eq!(hashes(&world, 0).await, [b""; 0]);
    begin_again(&world).await;
    world
        .store
        .write(move |tx| tx.sessions().delete_of_user(ann, None))
        .await
        .expect("a write");
    assert_eq!(hashes(&world, 0).await, [b""; 0]);
    assert!(
        world
            .read(|reader| reader.sessions().find_user(b"4", Timestamp(0)))
            .await
            .is_some(),
        "it is Bob's"
    );
}

async fn begin_again(world: &World) {
    let ann = world.ann;
    world
        .store
        .write(move |tx| tx.sessions().insert(b"5", ann, Timestamp(60)))
        .await
        .expect("a session");
}
