//! What only a store that speaks S3 promises.

use std::path::Path;
use std::time::{Duration, Instant};

use eddyline_files::{Error, FileKey, Files, S3Config};
use eddyline_testing::s3::S3Server;
use futures_util::future::{Either, select};
use url::Url;

use crate::{LIMIT, Store, bytes};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) fn config(server: &S3Server, spool: &Path) -> S3Config {
    S3Config {
        bucket: server.bucket().to_owned(),
        region: server.region().to_owned(),
        endpoint: Some(server.endpoint()),
        access_key: server.access_key().to_owned(),
        secret_key: server.secret_key().to_owned(),
        allow_http: true,
        spool: Some(spool.to_owned()),
    }
}

/// A request without any credentials.
async fn get(url: Url) -> reqwest::Response {
    reqwest::Client::builder()
        .no_proxy()
        .build()
        .unwrap()
        .get(url)
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_large_file_is_sent_in_parts() {
    let store = Store::s3();
    let (key, content) = (FileKey::random(), bytes((20 << 20) + 1));
    let stored = store.upload(&key, content.clone()).await.unwrap();
    assert_eq!(stored.size, content.len() as u64);
    assert!(store.read(&key, None).await.unwrap() == content);
    assert!(
        store.read(&key, Some(8_388_600..8_388_700)).await.unwrap()
            == content[8_388_600..8_388_700]
    );
    assert_eq!(store.kept(), [key.as_str()]);
}

#[tokio::test]
async fn nothing_is_sent_before_the_file_is_whole() {
    let store = Store::s3();
    let mut upload = store.files.begin(&FileKey::random(), LIMIT).await.unwrap();
    upload.write(bytes(20 << 20).into()).await.unwrap();
    assert!(store.kept().is_empty());
}

#[tokio::test]
async fn an_upload_given_up_halfway_leaves_nothing_behind() {
    let store = Store::s3();
    let server = store.server.as_ref().unwrap();
    let mut upload = store.files.begin(&FileKey::random(), LIMIT).await.unwrap();
    upload.write(bytes(40 << 20).into()).await.unwrap();
    let finish = Box::pin(upload.finish(async |_| Some(())));
    let halfway = Box::pin(until(|| server.parts() > 0));
    let Either::Right(((), finish)) = select(finish, halfway).await else {
        panic!("it was too fast")
    };
    drop(finish);
    until(|| server.parts() == 0 && server.objects().is_empty()).await;
}

/// Asks again and again, while other tasks go on.
async fn until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < MINUTE, "it never was so");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_link_is_enough_to_read_a_file() {
    let store = Store::s3();
    let key = FileKey::random();
    store.upload(&key, b"hello".as_slice()).await.unwrap();
    let disposition = "attachment; filename*=UTF-8''gr%C3%BC%C3%9Fe%20%26%20mehr.txt";
    let link = store
        .files
        .link(&key, MINUTE, "text/plain; charset=utf-8", disposition)
        .await;
    let answer = get(link.unwrap().unwrap()).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(
        answer.headers()["content-type"],
        "text/plain; charset=utf-8"
    );
    assert_eq!(answer.headers()["content-disposition"], disposition);
    assert_eq!(answer.bytes().await.unwrap(), "hello");
}

#[tokio::test]
async fn a_link_that_was_changed_is_good_for_nothing() {
    let store = Store::s3();
    let (key, other) = (FileKey::random(), FileKey::random());
    store.upload(&key, b"hello".as_slice()).await.unwrap();
    store.upload(&other, b"secret".as_slice()).await.unwrap();
    let link = store
        .files
        .link(&key, MINUTE, "text/plain", "attachment")
        .await
        .unwrap()
        .unwrap();
    for (from, to) in [
        (key.as_str(), other.as_str()),
        ("text%2Fplain", "text%2Fhtml"),
        ("disposition=attachment", "disposition=inline"),
        ("Expires=60", "Expires=61"),
        ("Signature=", "Signature=0"),
    ] {
        let changed = link.as_str().replace(from, to);
        assert_ne!(changed, link.as_str(), "{from}");
        let answer = get(changed.parse().unwrap()).await;
        assert!(!answer.status().is_success(), "{changed}");
    }
    let mut bare = link;
    bare.set_query(None);
    assert_eq!(get(bare).await.status(), 403);
}

#[tokio::test]
async fn a_store_that_is_away_or_refuses_is_an_error() {
    let mut store = Store::s3();
    let server = store.server.take().unwrap();
    let wrong = S3Config {
        secret_key: "wrong".to_owned(),
        ..config(&server, store.folder.path())
    };
    let stranger = Store {
        files: Files::in_s3(&wrong).unwrap(),
        folder: tempfile::tempdir().unwrap(),
        server: None,
    };
    let refused = stranger.upload(&FileKey::random(), bytes(10)).await;
    assert!(matches!(refused, Err(Error::Store(_))), "{refused:?}");
    assert!(matches!(
        stranger.files.remove(&FileKey::random()).await,
        Err(Error::Store(_))
    ));

    drop(server);
    let failed = store.upload(&FileKey::random(), bytes(10)).await;
    assert!(matches!(failed, Err(Error::Store(_))), "{failed:?}");
    assert!(matches!(
        store.read(&FileKey::random(), None).await,
        Err(Error::Store(_))
    ));
}

#[tokio::test]
async fn a_secret_is_not_printed() {
    let store = Store::s3();
    let server = store.server.as_ref().unwrap();
    let printed = format!(
        "{:?} {:?}",
        config(server, store.folder.path()),
        store.files
    );
    assert!(!printed.contains(server.secret_key()), "{printed}");
    let link = store
        .files
        .link(&FileKey::random(), MINUTE, "text/plain", "inline")
        .await
        .unwrap()
        .unwrap();
    assert!(!link.as_str().contains(server.secret_key()));
}
