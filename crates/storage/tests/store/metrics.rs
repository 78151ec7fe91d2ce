//! What the store counts.

use std::sync::{Arc, mpsc};

use eddyline_storage::{Abort, Error, Reader};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::home::{Home, on_every_database};
use crate::world::{World, chat};

on_every_database!(
    writes_that_wait_are_counted,
    transactions_that_fail_are_counted,
    messages_are_counted_once,
    connections_in_use_and_reads_that_wait_are_told,
    connections_of_the_writer_are_counted,
);

/// The value of a sample of the store's metrics.
fn value(world: &World, sample: &str) -> f64 {
    let mut registry = Registry::default();
    world.store.register_metrics(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).expect("the metrics");
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    rest.expect("a sample").parse().expect("a number")
}

async fn writes_that_wait_are_counted(home: Arc<Home>) {
    let world = World::new(&home).await;
    let waiting = || value(&world, "store_writes_waiting");
    assert_eq!(waiting(), 0.0);
    let (began, begun) = mpsc::channel();
    let (let_go, held) = mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let store = world.store.clone();
    let holding = tokio::spawn(async move {
        let held = store.write(move |_| {
            let _ = began.send(());
            let _ = held.lock().expect("one holds it").recv();
            Ok(())
        });
        held.await.map(|_| ())
    });
    tokio::task::spawn_blocking(move || begun.recv())
        .await
        .expect("a thread")
        .expect("the writer is held");
    let posts = [
        world.store.post(chat(world.main, world.ann, "one")),
        world.store.post(chat(world.main, world.ann, "two")),
    ];
    let mut posts = Box::pin(futures_util::future::join_all(posts));
    assert!(futures_util::poll!(posts.as_mut()).is_pending());
    assert_eq!(waiting(), 2.0);
    drop(let_go);
    holding.await.expect("a task").expect("it is written");
    for post in posts.await {
        post.expect("it is posted");
    }
    assert_eq!(waiting(), 0.0);
}

async fn transactions_that_fail_are_counted(home: Arc<Home>) {
    let world = World::new(&home).await;
    let failed = || value(&world, "store_failed_transactions_total");
    let rejected = world
        .store
        .transaction(|_| Err::<(), _>(Abort::Rejected("no")));
    assert!(rejected.await.is_err());
    let conflict = world.store.write(|_| Err::<(), _>(Error::Refused("full")));
    assert!(conflict.await.is_err());
    assert_eq!(failed(), 0.0, "nothing is wrong with the database");
    let mistake = world.store.write(|_| Err::<(), _>(Error::Corrupt("a row")));
    assert!(mistake.await.is_err());
    assert_eq!(failed(), 1.0);
}

async fn messages_are_counted_once(home: Arc<Home>) {
    let world = World::new(&home).await;
    let before = value(&world, "store_batch_messages_sum");
    for _ in 0..3 {
        world.say(chat(world.main, world.ann, "hello")).await;
    }
    assert_eq!(value(&world, "store_batch_messages_sum") - before, 3.0);
}

async fn connections_in_use_and_reads_that_wait_are_told(home: Arc<Home>) {
    let world = World::new(&home).await;
    let number = |sample: &str| value(&world, sample);
    let in_use = || number("store_pool_connections{state=\"in_use\"}");
    let waiting = || number("store_reads_waiting");
    let most = number("store_pool_max_connections");
    assert!(number("store_pool_connections{state=\"idle\"}") <= most);

    // One more than there are connections, each until its sender is dropped.
    let mut held = Vec::new();
    let mut reads = Vec::new();
    while held.len() as f64 <= most {
        let (let_go, release) = mpsc::channel::<()>();
        held.push(let_go);
        let store = world.store.clone();
        let work = move |_: &mut Reader<'_>| {
            let _ = release.recv();
            Ok(())
        };
        reads.push(tokio::spawn(async move { store.read(work).await }));
    }
    while in_use() + waiting() != held.len() as f64 {
        tokio::task::yield_now().await;
    }
    assert!(in_use() >= 1.0 && waiting() >= 1.0);

    drop(held);
    for read in reads {
        read.await.expect("a task").expect("it reads");
    }
    while in_use() + waiting() != 0.0 {
        tokio::task::yield_now().await;
    }
}

async fn connections_of_the_writer_are_counted(home: Arc<Home>) {
    let world = World::new(&home).await;
    let opened = || value(&world, "store_writer_connections_total");
    let before = opened();
    assert!(before <= 1.0, "a database in memory lends its own");
    world.say(chat(world.main, world.ann, "hello")).await;
    assert_eq!(opened(), before, "the writer keeps its connection");
}
