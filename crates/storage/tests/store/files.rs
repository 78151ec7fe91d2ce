//! Files of messages, and the objects that hold their bytes.

use std::collections::BTreeSet;
use std::sync::Arc;

use eddyline_model::files::{Dimensions, File, FileId, NewFile, NewObject};
use eddyline_model::messages::{Draft, Placement};
use eddyline_model::{MessageId, Seq, Timestamp};
use eddyline_storage::{Error, PostResult, Tx};

use crate::home::{Home, on_every_database};
use crate::world::{World, added, chat};

on_every_database!(
    a_file_is_found_by_its_id,
    equal_bytes_are_kept_once,
    the_bytes_of_a_deleted_message_are_doomed_unless_another_file_has_them,
    an_upload_that_was_given_up_cannot_be_posted,
    what_is_kept_cannot_be_given_up,
    what_a_dead_process_was_writing_is_doomed,
    what_was_forgotten_while_it_was_written_is_doomed_again,
    bytes_are_kept_while_a_backup_runs,
    only_what_is_doomed_is_forgotten,
    a_repeated_post_keeps_nothing,
    the_bytes_of_an_organization_and_of_private_files_are_summed_up,
);

/// On the databases that several processes can share.
mod shared {
    use super::*;
    use crate::home::on_shared_databases;

    on_shared_databases!(equal_files_come_and_go_through_several_processes);
}

/// An object whose bytes are told by a number.
fn object(key: &str, bytes: u8) -> NewObject {
    NewObject {
        key: key.to_owned(),
        digest: [bytes; 32],
        size: 100 + i64::from(bytes),
    }
}

fn file(id: &str, object: NewObject) -> NewFile {
    NewFile {
        id: FileId(id.to_owned()),
        name: format!("{id}.txt"),
        content_type: "text/plain".to_owned(),
        object,
        picture: None,
        thumbnail: None,
    }
}

impl World {
    async fn transaction(
        &self,
        mut work: impl FnMut(&mut Tx<'_>) -> Result<(), Error> + Send + 'static,
    ) {
        self.store
            .write(move |tx| work(tx))
            .await
            .expect("the write is done");
    }

    async fn note(&self, keys: &'static [&'static str]) {
        self.transaction(move |tx| {
            keys.iter()
                .try_for_each(|key| tx.files().insert_object(key, "node", Timestamp(50)))
        })
        .await;
    }

    fn with(&self, files: Vec<NewFile>) -> Draft {
        Draft {
            files,
            ..chat(self.main, self.ann, "a file")
        }
    }

    /// Posts a file whose object was noted, and returns the number of the message.
    async fn share(&self, files: Vec<NewFile>) -> MessageId {
        added(self.post(self.with(files)).await).message.id
    }

    async fn file(&self, id: &str) -> Option<File> {
        let id = FileId(id.to_owned());
        self.read(move |reader| reader.files().find(&id)).await
    }

    async fn marked(&self) -> Vec<String> {
        let mut marked = self
            .read(|reader| {
                reader
                    .files()
                    .list_objects_marked_for_deletion(Timestamp(i64::MAX), 1_000)
            })
            .await;
        marked.sort();
        marked
    }

    async fn delete(&self, id: MessageId) {
        let room = self.main;
        self.transaction(move |tx| {
            tx.rooms().lock(room)?;
            match tx.messages().find(room, id)? {
                Some(message) => tx.messages().delete(&message),
                None => Ok(()),
            }
        })
        .await;
    }
}

async fn a_file_is_found_by_its_id(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.note(&["k1", "k2"]).await;
    let size = |width, height| Dimensions { width, height };
    let picture = NewFile {
        content_type: "image/png".to_owned(),
        picture: Some(size(640, 480)),
        thumbnail: Some((object("k2", 2), size(320, 240))),
        ..file("f1", object("k1", 1))
    };
    let message = world.share(vec![picture]).await;
    let expected = File {
        id: FileId("f1".to_owned()),
        room: world.main,
        message,
        name: "f1.txt".to_owned(),
        content_type: "image/png".to_owned(),
        size: 101,
        object: "k1".to_owned(),
        thumbnail: Some("k2".to_owned()),
    };
    assert_eq!(world.file("f1").await, Some(expected));
    assert_eq!(world.file("f2").await, None);
    assert!(world.marked().await.is_empty());
}

async fn equal_bytes_are_kept_once(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.note(&["k1", "k2", "k3", "k4"]).await;
    world
        .share(vec![
            file("f1", object("k1", 1)),
            file("f2", object("k2", 1)),
        ])
        .await;
    world
        .share(vec![
            file("f3", object("k3", 1)),
            file("f4", object("k4", 2)),
        ])
        .await;
    let mut keys = Vec::new();
    for id in ["f1", "f2", "f3", "f4"] {
        keys.push(world.file(id).await.expect("it is there").object);
    }
    assert_eq!(keys, ["k1", "k1", "k1", "k4"]);
    assert_eq!(world.marked().await, ["k2", "k3"]);
}

async fn the_bytes_of_an_organization_and_of_private_files_are_summed_up(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, main) = (world.ann, world.bob, world.main);
    let organization = world
        .read(move |reader| reader.flows().find(main))
        .await
        .expect("a flow")
        .organization;
    let sums = || {
        world.read(move |reader| {
            let all = reader.files().count_bytes_of_organization(organization)?;
            Ok((
                all,
                reader.files().count_private_bytes_of_user(ann)?,
                reader.files().count_private_bytes_of_user(bob)?,
            ))
        })
    };
    assert_eq!(sums().await, (0, 0, 0));
    world.note(&["k1", "k2", "k3", "k4"]).await;
    let in_flow = world
        .share(vec![
            file("f1", object("k1", 1)),
            file("f2", object("k2", 1)),
        ])
        .await;
    let (room, _) = world
        .store
        .write(move |tx| tx.rooms().insert_private(ann, bob))
        .await
        .expect("a room");
    let private = |from, files| {
        let to = Some(if from == ann { bob } else { ann });
        Draft {
            to,
            placement: Placement::Unthreaded,
            files,
            ..chat(room, from, "")
        }
    };
    added(
        world
            .post(private(ann, vec![file("f3", object("k3", 3))]))
            .await,
    );
    added(
        world
            .post(private(
                bob,
                vec![file(
                    "f4",
                    NewObject {
                        size: 10_000,
                        ..object("k4", 4)
                    },
                )],
            ))
            .await,
    );
    assert_eq!(
        sums().await,
        (2 * 4096, 4096, 10_000),
        "equal files count each time, and small ones for 4 KiB"
    );
    world.delete(in_flow).await;
    assert_eq!(sums().await, (0, 4096, 10_000));
}

async fn the_bytes_of_a_deleted_message_are_doomed_unless_another_file_has_them(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.note(&["k1", "k2", "k3"]).await;
    let small = Dimensions {
        width: 1,
        height: 1,
    };
    let first = NewFile {
        thumbnail: Some((object("k2", 2), small)),
        ..file("f1", object("k1", 1))
    };
    let first = world.share(vec![first]).await;
    // What is a thumbnail here is a file there.
    let second = world.share(vec![file("f2", object("k3", 2))]).await;
    assert_eq!(world.marked().await, ["k3"]);

    world.delete(first).await;
    assert_eq!(
        (world.file("f1").await, world.marked().await),
        (None, vec!["k1".to_owned(), "k3".to_owned()])
    );
    world.delete(second).await;
    assert_eq!(world.marked().await, ["k1", "k2", "k3"]);

    // What is marked never comes back.
    world.note(&["k4"]).await;
    world.share(vec![file("f4", object("k4", 1))]).await;
    assert_eq!(world.file("f4").await.expect("it is there").object, "k4");
}

async fn an_upload_that_was_given_up_cannot_be_posted(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.note(&["k1", "k2"]).await;
    world
        .transaction(|tx| {
            tx.files()
                .mark_pending_objects(&["k1".to_owned()], Timestamp(60))
        })
        .await;
    for key in ["k1", "never noted"] {
        let posts = [
            world.with(vec![file("f1", object(key, 1))]),
            chat(world.main, world.bob, "hello"),
        ];
        let [refused, kept] = posts.map(|draft| world.store.post(draft));
        let (refused, kept): (_, Result<PostResult, Error>) =
            futures_util::future::join(refused, kept).await;
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
        added(kept.expect("the other message is not to blame"));
    }
    assert_eq!(world.file("f1").await, None);

    // Unless equal bytes are kept.
    world.share(vec![file("f2", object("k2", 1))]).await;
    world.share(vec![file("f1", object("k1", 1))]).await;
    assert_eq!(world.file("f1").await.expect("it is there").object, "k2");
}

async fn what_is_kept_cannot_be_given_up(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.note(&["k1", "k2"]).await;
    world.share(vec![file("f1", object("k1", 1))]).await;
    let keys = ["k1".to_owned(), "k2".to_owned(), "k3".to_owned()];
    world
        .transaction(move |tx| tx.files().mark_pending_objects(&keys, Timestamp(60)))
        .await;
    assert_eq!(world.marked().await, ["k2"]);
}

async fn what_a_dead_process_was_writing_is_doomed(home: Arc<Home>) {
    let world = World::new(&home).await;
    world
        .transaction(|tx| {
            tx.nodes()
                .upsert_heartbeat("living", Timestamp(1_000), Seq(0))?;
            tx.nodes()
                .upsert_heartbeat("silent", Timestamp(899), Seq(0))?;
            for (key, node) in [
                ("k1", "living"),
                ("k2", "silent"),
                ("k3", "gone"),
                ("k4", "gone"),
            ] {
                tx.files().insert_object(key, node, Timestamp(100))?;
            }
            // Of one that has not shown yet that it lives.
            tx.files().insert_object("k5", "new", Timestamp(950))
        })
        .await;
    world.share(vec![file("f4", object("k4", 4))]).await;
    let marked = world
        .store
        .write(|tx| {
            tx.files()
                .mark_abandoned_objects(Timestamp(900), Timestamp(1_001))
        })
        .await;
    assert_eq!(marked.expect("the write is done").0, 2);
    assert_eq!(world.marked().await, ["k2", "k3"]);
}

async fn what_was_forgotten_while_it_was_written_is_doomed_again(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.note(&["k1", "k2", "k3", "k4"]).await;
    world.share(vec![file("f1", object("k1", 1))]).await;
    // Another process takes this one for dead, removes what there is of three, and forgets two.
    let dead = ["k2", "k3", "k4"].map(str::to_owned);
    let gone = ["k2".to_owned(), "k3".to_owned()];
    world
        .transaction(move |tx| tx.files().mark_pending_objects(&dead, Timestamp(60)))
        .await;
    world
        .transaction(move |tx| tx.files().delete_objects(&gone, Timestamp(61)))
        .await;
    assert_eq!(world.marked().await, ["k4"]);

    let keys = ["k1", "k2", "k4"].map(str::to_owned);
    world
        .transaction(move |tx| {
            tx.files()
                .mark_abandoned_uploads(&keys, "node", Timestamp(70))
        })
        .await;
    assert_eq!(
        world.marked().await,
        ["k2", "k4"],
        "what is kept stays so, and others' keys are not touched"
    );
    let due = world
        .read(|reader| {
            reader
                .files()
                .list_objects_marked_for_deletion(Timestamp(70), 1_000)
        })
        .await;
    assert!(due.is_empty(), "their bytes may come until then: {due:?}");
}

async fn bytes_are_kept_while_a_backup_runs(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.note(&["k1"]).await;
    world
        .transaction(|tx| {
            tx.files()
                .mark_pending_objects(&["k1".to_owned()], Timestamp(10))
        })
        .await;
    for until in [50, 70] {
        world
            .transaction(move |tx| tx.files().postpone_deletions(Timestamp(until)))
            .await;
    }
    let due = |now| {
        world.read(move |reader| {
            reader
                .files()
                .list_objects_marked_for_deletion(Timestamp(now), 1_000)
        })
    };
    assert_eq!(due(69).await, [""; 0]);
    assert_eq!(due(70).await, ["k1"]);
}

async fn only_what_is_doomed_is_forgotten(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.note(&["k1", "k2", "k3", "k4"]).await;
    world.share(vec![file("f1", object("k1", 1))]).await;
    world
        .transaction(|tx| {
            tx.files()
                .mark_pending_objects(&["k3".to_owned()], Timestamp(60))
        })
        .await;
    world
        .transaction(|tx| {
            tx.files()
                .mark_pending_objects(&["k4".to_owned()], Timestamp(70))
        })
        .await;
    let earlier = world
        .read(|reader| {
            reader
                .files()
                .list_objects_marked_for_deletion(Timestamp(70), 1_000)
        })
        .await;
    assert_eq!(earlier, ["k3"]);
    assert_eq!(
        world
            .read(|reader| reader
                .files()
                .list_objects_marked_for_deletion(Timestamp(71), 1))
            .await,
        ["k3"]
    );

    let all = ["k1", "k2", "k3", "k4"].map(str::to_owned);
    let again = all.clone();
    world
        .transaction(move |tx| tx.files().delete_objects(&again, Timestamp(70)))
        .await;
    assert_eq!(world.marked().await, ["k4"], "its bytes may still come");
    world
        .transaction(move |tx| tx.files().delete_objects(&all, Timestamp(71)))
        .await;
    assert!(world.marked().await.is_empty());
    world.share(vec![file("f2", object("k2", 2))]).await;
    let again = world
        .store
        .write(|tx| tx.files().insert_object("k1", "node", Timestamp(80)))
        .await;
    assert!(matches!(again, Err(Error::Exists(_))), "{again:?}");
}

async fn a_repeated_post_keeps_nothing(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.note(&["k1", "k2"]).await;
    for (id, object) in [("f1", object("k1", 1)), ("f2", object("k2", 2))] {
        let draft = Draft {
            uuid: Some("once".to_owned()),
            ..world.with(vec![file(id, object)])
        };
        world.post(draft).await;
    }
    assert!(world.file("f1").await.is_some());
    assert_eq!(world.file("f2").await, None);
    world
        .transaction(|tx| {
            tx.files()
                .mark_pending_objects(&["k2".to_owned()], Timestamp(60))
        })
        .await;
    assert_eq!(world.marked().await, ["k2"]);
}

const WRITERS: usize = 3;
const EACH: usize = 40;

/// Two contents are shared and deleted all the time; each message has both, in either order.
async fn equal_files_come_and_go_through_several_processes(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mut posts = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let store = if writer == 0 {
            world.store.clone()
        } else {
            home.open()
        };
        for n in 0..EACH {
            // Rooms of their own, so that only the objects are shared.
            let room = if writer % 2 == 0 {
                world.main
            } else {
                world.side
            };
            let world = World {
                store: store.clone(),
                main: room,
                ..world.clone()
            };
            posts.spawn(async move {
                let name = |part: usize| format!("{writer}-{n}-{part}");
                let keys = [name(0), name(1)];
                world
                    .transaction(move |tx| {
                        keys.iter().try_for_each(|key| {
                            tx.files().insert_object(key, "node", Timestamp(50))
                        })
                    })
                    .await;
                let contents: [u8; 2] = if n % 2 == 0 { [1, 2] } else { [2, 1] };
                let files =
                    [0, 1].map(|part| file(&name(part), object(&name(part), contents[part])));
                let message = world.share(files.to_vec()).await;
                if n % 4 != 3 {
                    world.delete(message).await;
                }
            });
        }
    }
    posts.join_all().await;
    let (mut used, mut files) = (BTreeSet::new(), 0);
    for writer in 0..WRITERS {
        for n in 0..EACH {
            for part in 0..2 {
                if let Some(file) = world.file(&format!("{writer}-{n}-{part}")).await {
                    files += 1;
                    used.insert(file.object);
                }
            }
        }
    }
    assert_eq!((files, used.len()), (WRITERS * EACH / 2, 2));
    // Everything else may go.
    let marked = world.marked().await;
    assert_eq!(marked.len(), WRITERS * EACH * 2 - 2);
    assert!(marked.iter().all(|key| !used.contains(key)));
}
