//! Objects of a bucket that have names.

use eddyline_files::{Bucket, Error, NamedObject};
use eddyline_testing::s3::S3Server;
use futures_util::TryStreamExt as _;

use crate::bytes;
use crate::s3::config;

async fn put(bucket: &Bucket, name: &str, content: &[u8]) {
    let mut upload = bucket.begin(name);
    for chunk in content.chunks(1 << 20) {
        upload.write(chunk.to_vec().into()).await.unwrap();
    }
    upload.finish().await.unwrap();
}

async fn read(bucket: &Bucket, name: &str) -> Vec<u8> {
    let content = bucket.open(name).await.unwrap();
    let chunks: Vec<_> = content.try_collect().await.unwrap();
    chunks.concat()
}

#[tokio::test]
async fn objects_have_names_under_a_prefix() {
    let server = S3Server::start();
    let spool = tempfile::tempdir().unwrap();
    let config = config(&server, spool.path());
    let bucket = Bucket::new(&config, "a/b").unwrap();
    assert_eq!(bucket.list().await.unwrap(), []);
    // One request, and several parts.
    let large = bytes((33 << 20) + 5);
    put(&bucket, "small", b"123").await;
    put(&bucket, "large", &large).await;
    put(&bucket, "empty", b"").await;
    assert_eq!(read(&bucket, "small").await, b"123");
    assert!(read(&bucket, "large").await == large);
    assert_eq!(read(&bucket, "empty").await, b"");

    let named = |name: &str, size| NamedObject {
        name: name.to_owned(),
        size,
    };
    let size = large.len() as u64;
    let listed = [named("empty", 0), named("large", size), named("small", 3)];
    assert_eq!(bucket.list().await.unwrap(), listed);
    // Neither a deeper name nor one that only begins alike.
    let deeper = Bucket::new(&config, "a").unwrap();
    assert_eq!(deeper.list().await.unwrap(), []);
    put(&Bucket::new(&config, "a/bc").unwrap(), "other", b"1").await;
    assert_eq!(bucket.list().await.unwrap(), listed);

    bucket.remove("small").await.unwrap();
    bucket.remove("small").await.unwrap();
    assert!(matches!(bucket.open("small").await, Err(Error::NotFound)));
    assert_eq!(bucket.list().await.unwrap(), listed[..2]);
    let whole = Bucket::new(&config, "").unwrap();
    put(&whole, "top", b"1").await;
    assert_eq!(whole.list().await.unwrap(), [named("top", 1)]);
}

#[tokio::test]
async fn an_object_that_does_not_come_to_its_end_is_not_there() {
    let server = S3Server::start();
    let spool = tempfile::tempdir().unwrap();
    let bucket = Bucket::new(&config(&server, spool.path()), "").unwrap();
    let mut upload = bucket.begin("half");
    upload.write(bytes(33 << 20).into()).await.unwrap();
    assert_eq!(server.parts(), 1);
    drop(upload);
    while server.parts() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.objects(), [""; 0]);
}
