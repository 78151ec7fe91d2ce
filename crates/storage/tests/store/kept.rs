//! Credentials that do not end before the transaction that relies on them is committed.

use std::sync::Arc;
use std::sync::mpsc;

use eddyline_model::{MessageId, Timestamp};
use eddyline_storage::Tx;

use crate::home::{Home, on_shared_databases};
use crate::world::{World, chat};

on_shared_databases!(a_credential_ends_after_what_was_done_with_it);

async fn a_credential_ends_after_what_was_done_with_it(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (other, room, ann) = (home.open(), world.main, world.ann);
    let insert = move |tx: &mut Tx<'_>| {
        tx.sessions().insert(b"s", ann, Timestamp(1))?;
        tx.api_tokens().insert(b"t", ann, "one", Timestamp(1))?;
        tx.passwords().set(ann, "hash")?;
        tx.sources().insert_token(b"f", room, None, Timestamp(1))
    };
    world.store.write(insert).await.expect("credentials");
    let (kept, heard) = mpsc::channel();
    let keeping = world.store.write(move |tx| {
        let holds = [
            tx.sessions().lock(b"s")?,
            tx.api_tokens().lock(b"t")?,
            tx.sources().lock_token(b"f")?,
            tx.passwords().lock(ann)?.as_deref() == Some("hash"),
        ];
        let _ = kept.send(());
        tx.messages().append(&[chat(room, ann, "done")])?;
        Ok(holds)
    });
    let ending = async {
        tokio::task::spawn_blocking(move || heard.recv())
            .await
            .expect("a wait")
            .expect("they are kept");
        let end = other.write(move |tx| {
            tx.sessions().delete(b"s")?;
            tx.api_tokens().delete(b"t")?;
            tx.passwords().clear(ann)?;
            Ok(tx.messages().find(room, MessageId(1))?.is_some())
        });
        end.await.map(|(done, _)| done)
    };
    let (held, done) = tokio::join!(keeping, ending);
    assert_eq!(held.expect("they hold").0, [true; 4]);
    assert!(
        done.expect("they end"),
        "what was done was committed before"
    );
    let ended = world
        .store
        .write(move |tx| Ok((tx.passwords().lock(ann)?, tx.passwords().find(ann)?)));
    assert_eq!(ended.await.expect("a write").0, (None, None));
}
