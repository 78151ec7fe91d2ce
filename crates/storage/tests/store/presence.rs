//! Who is present at each of several servers.

use std::sync::Arc;

use eddyline_model::{Seq, Timestamp, UserId};
use eddyline_storage::{OtherNode, PresenceRow, Store};

use crate::home::{Home, on_every_database};

on_every_database!(
    a_server_reads_what_others_published_since,
    rows_of_those_who_left_are_removed_in_time,
    a_server_that_was_forgotten_begins_anew,
);

const ALWAYS: Timestamp = Timestamp(0);

fn at(millis: i64) -> Timestamp {
    Timestamp(millis)
}

fn row(user: i64, places: &[u8]) -> PresenceRow {
    PresenceRow {
        user: UserId(user),
        present: !places.is_empty(),
        places: places.to_vec(),
    }
}

async fn record_heartbeat(store: &Store, node: &'static str, now: i64) {
    store
        .write(move |tx| tx.nodes().upsert_heartbeat(node, at(now), Seq(0)))
        .await
        .expect("a sign of life");
}

/// Begins with these rows, or moves on from earlier ones.
async fn publish(store: &Store, from: Option<i64>, to: i64, rows: Vec<PresenceRow>) -> bool {
    let published = store.write(move |tx| {
        let is_listed = match from {
            Some(from) => tx.nodes().advance_presence("one", at(from), at(to))?,
            None => tx.nodes().set_presence_start("one", at(to))?,
        };
        if is_listed {
            tx.nodes().upsert_presence("one", at(to), &rows)?;
        }
        Ok(is_listed)
    });
    published.await.expect("presence is written").0
}

async fn since(store: &Store, after: i64) -> Vec<PresenceRow> {
    store
        .read(move |reader| {
            reader
                .nodes()
                .list_presence_since("one", at(after), UserId(0), 100)
        })
        .await
        .expect("presence is read")
}

async fn others(store: &Store, since: Timestamp) -> Vec<OtherNode> {
    store
        .read(move |reader| reader.nodes().list_others("two", since))
        .await
        .expect("servers are read")
}

async fn a_server_reads_what_others_published_since(home: Arc<Home>) {
    let store = home.open();
    record_heartbeat(&store, "two", 2_000).await;
    assert_eq!(others(&store, ALWAYS).await, []);
    record_heartbeat(&store, "one", 1_000).await;
    let has_others =
        |node, since| store.read(move |reader| reader.nodes().has_others(node, at(since)));
    assert!(has_others("one", 2_000).await.expect("servers are read"));
    assert!(
        !has_others("two", 1_001).await.expect("servers are read"),
        "the other one is silent"
    );

    assert!(publish(&store, None, 10, vec![row(1, b"a"), row(2, b"b")]).await);
    assert!(publish(&store, Some(10), 20, vec![row(3, b"c"), row(1, b"d")]).await);
    assert_eq!(
        since(&store, 0).await,
        [row(1, b"d"), row(2, b"b"), row(3, b"c")]
    );
    assert_eq!(since(&store, 10).await, [row(1, b"d"), row(3, b"c")]);
    assert_eq!(since(&store, 20).await, []);
    let one = OtherNode {
        id: "one".into(),
        heartbeat: at(1_000),
        presence_at: at(20),
        presence_from: at(10),
    };
    assert_eq!(others(&store, at(1_000)).await, [one]);
    record_heartbeat(&store, "one", 1_500).await;
    assert_eq!(
        others(&store, at(1_500)).await[0].presence_at,
        at(20),
        "a sign of life leaves them"
    );
    store
        .write(|tx| tx.nodes().delete_presence("one"))
        .await
        .expect("presence is removed");
    assert_eq!(
        (
            since(&store, 0).await,
            others(&store, ALWAYS).await[0].presence_at
        ),
        (vec![], at(0))
    );
}

async fn rows_of_those_who_left_are_removed_in_time(home: Arc<Home>) {
    let store = home.open();
    record_heartbeat(&store, "one", 1_000).await;
    publish(&store, None, 10, vec![row(1, b"a"), row(2, b"")]).await;
    publish(&store, Some(10), 20, vec![row(3, b"")]).await;
    let from = async || others(&store, ALWAYS).await[0].presence_from;
    for (until, rest, removed) in [(5, 3, 10), (15, 2, 15), (20, 1, 20)] {
        store
            .write(move |tx| tx.nodes().delete_absent("one", at(until)))
            .await
            .expect("rows are removed");
        assert_eq!(
            (since(&store, 0).await.len(), from().await),
            (rest, at(removed)),
            "{until}"
        );
    }
    assert_eq!(since(&store, 0).await, [row(1, b"a")]);
}

async fn a_server_that_was_forgotten_begins_anew(home: Arc<Home>) {
    let store = home.open();
    assert!(
        !publish(&store, None, 5, vec![row(1, b"a")]).await,
        "it is not on the list"
    );
    record_heartbeat(&store, "one", 1_000).await;
    record_heartbeat(&store, "two", 2_000).await;
    assert!(publish(&store, None, 10, vec![row(1, b"a")]).await);
    assert!(
        !publish(&store, Some(9), 20, vec![]).await,
        "that was never written"
    );
    store
        .write(|tx| tx.nodes().delete_silent(at(2_000)))
        .await
        .expect("servers are forgotten");
    assert_eq!(
        (since(&store, 0).await, others(&store, ALWAYS).await),
        (vec![], vec![])
    );
    record_heartbeat(&store, "one", 3_000).await;
    assert!(
        !publish(&store, Some(10), 20, vec![]).await,
        "its rows went with it"
    );
    assert!(publish(&store, None, 30, vec![row(2, b"b")]).await);
    assert_eq!(since(&store, 0).await, [row(2, b"b")]);
    store
        .write(|tx| tx.nodes().delete("one", at(0)))
        .await
        .expect("a server leaves");
    assert_eq!(since(&store, 0).await, []);
}
