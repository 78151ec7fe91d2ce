//! Taking in, handing out and removing.

use bytes::Bytes;
use eddyline_files::{Error, FileKey};
use ring::digest::{SHA256, digest};

use crate::{Store, bytes};

#[tokio::test]
async fn what_was_uploaded_is_read_back() {
    for store in Store::all() {
        for length in [0, 1, 256 * 1024, 256 * 1024 + 1, 3_000_000] {
            let (key, content) = (FileKey::random(), bytes(length));
            let stored = store.upload(&key, content.clone()).await.unwrap();
            assert_eq!(stored.size, length as u64);
            assert_eq!(stored.digest, digest(&SHA256, &content).as_ref());
            assert_eq!((stored.content_type, stored.picture), (None, None));
            assert!(
                store.read(&key, None).await.unwrap() == content,
                "{length} in {:?}",
                store.files
            );
        }
    }
}

#[tokio::test]
async fn bytes_may_come_in_pieces_of_any_size() {
    for store in Store::all() {
        let (key, content) = (FileKey::random(), bytes(1_000_000));
        let mut upload = store.files.begin(&key, 1_000_000).await.unwrap();
        let mut rest = Bytes::from(content.clone());
        for length in [0, 1, 100, 0, 262_143, 262_144, 262_145, 1] {
            upload.write(rest.split_to(length)).await.unwrap();
        }
        upload.write(rest).await.unwrap();
        let stored = upload.finish(async |_| Some(())).await.unwrap();
        assert_eq!(stored.digest, digest(&SHA256, &content).as_ref());
        assert!(store.read(&key, None).await.unwrap() == content);
    }
}

#[tokio::test]
async fn a_range_is_read_alone() {
    for store in Store::all() {
        let (key, content) = (FileKey::random(), bytes(600_000));
        store.upload(&key, content.clone()).await.unwrap();
        for range in [
            0..1,
            0..600_000,
            5..300_000,
            300_000..600_000,
            599_999..600_000,
        ] {
            let found = store.read(&key, Some(range.clone())).await.unwrap();
            assert!(
                found == content[range.start as usize..range.end as usize],
                "{range:?}"
            );
        }
        assert!(store.read(&key, Some(599_990..u64::MAX)).await.unwrap() == content[599_990..]);
        let content = store.files.open(&key, Some(5..9)).await.unwrap();
        assert_eq!(content.file_size(), 600_000);
    }
}

#[tokio::test]
async fn a_range_without_bytes_is_an_error() {
    for store in Store::all() {
        let (key, empty) = (FileKey::random(), FileKey::random());
        store.upload(&key, bytes(10)).await.unwrap();
        store.upload(&empty, bytes(0)).await.unwrap();
        for (key, range) in [(&key, 10..11), (&key, 5..5), (&key, 50..60), (&empty, 0..1)] {
            let read = store.read(key, Some(range.clone())).await;
            assert!(
                matches!(read, Err(Error::Range)),
                "{range:?} in {:?}: {read:?}",
                store.files
            );
        }
    }
}

#[tokio::test]
async fn the_limit_is_the_last_byte_that_is_taken() {
    for store in Store::all() {
        let key = FileKey::random();
        let mut upload = store.files.begin(&key, 1000).await.unwrap();
        upload.write(bytes(1000).into()).await.unwrap();
        assert_eq!(upload.finish(async |_| Some(())).await.unwrap().size, 1000);

        let mut upload = store.files.begin(&FileKey::random(), 1000).await.unwrap();
        upload.write(bytes(1000).into()).await.unwrap();
        assert!(matches!(
            upload.write(bytes(1).into()).await,
            Err(Error::TooLarge)
        ));
        assert!(matches!(
            upload.write(Bytes::new()).await,
            Err(Error::TooLarge)
        ));
        assert!(matches!(
            upload.finish(async |_| Some(())).await,
            Err(Error::TooLarge)
        ));
        until_kept(&store, 1).await;
        assert_eq!(store.kept(), [key.as_str()]);
    }
}

#[tokio::test]
async fn an_upload_that_is_dropped_leaves_nothing_behind() {
    for store in Store::all() {
        let mut upload = store
            .files
            .begin(&FileKey::random(), 1_000_000)
            .await
            .unwrap();
        upload.write(bytes(900_000).into()).await.unwrap();
        drop(upload);
        drop(store.files.begin(&FileKey::random(), 0).await.unwrap());
        until_kept(&store, 0).await;
    }
}

#[test]
fn an_upload_can_be_dropped_when_nothing_runs_any_more() {
    for store in Store::all() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let upload = runtime.block_on(async {
            let mut upload = store
                .files
                .begin(&FileKey::random(), 1_000_000)
                .await
                .unwrap();
            upload.write(bytes(900_000).into()).await.unwrap();
            upload
        });
        drop(runtime);
        drop(upload);
        assert!(store.kept().is_empty());
    }
}

/// What was given up is removed beside the task that gave it up.
async fn until_kept(store: &Store, count: usize) {
    while store.kept().len() != count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn small_files_can_be_put_at_once() {
    for store in Store::all() {
        let key = FileKey::random();
        let found = store
            .files
            .put(&key, Bytes::from_static(b"abc"))
            .await
            .unwrap();
        assert_eq!(found, digest(&SHA256, b"abc").as_ref());
        assert_eq!(store.read(&key, None).await.unwrap(), b"abc");
        assert_eq!(store.kept(), [key.as_str()]);
    }
}

#[tokio::test]
async fn what_is_removed_is_gone_however_often() {
    for store in Store::all() {
        let (key, other) = (FileKey::random(), FileKey::random());
        store.upload(&key, bytes(10)).await.unwrap();
        store.upload(&other, bytes(10)).await.unwrap();
        store.files.remove(&key).await.unwrap();
        store.files.remove(&key).await.unwrap();
        store.files.remove(&FileKey::random()).await.unwrap();
        assert!(matches!(store.read(&key, None).await, Err(Error::NotFound)));
        assert!(matches!(
            store.read(&key, Some(0..1)).await,
            Err(Error::NotFound)
        ));
        assert_eq!(store.kept(), [other.as_str()]);
    }
}

#[tokio::test]
async fn many_uploads_at_once_stay_apart() {
    for store in Store::all() {
        let uploads = (1..20_usize).map(|n| {
            let store = &store;
            async move {
                let (key, content) = (FileKey::random(), bytes(n * 30_000));
                store.upload(&key, content.clone()).await.unwrap();
                assert!(store.read(&key, None).await.unwrap() == content);
            }
        });
        futures_util::future::join_all(uploads).await;
        assert_eq!(store.kept().len(), 19);
    }
}
