//! What only a folder promises.

use std::fs;
use std::time::Duration;

use eddyline_files::{Error, FileKey, Files};

use crate::{LIMIT, Store, bytes};

#[tokio::test]
async fn a_key_that_is_in_use_is_not_written_over() {
    let store = Store::folder();
    let key = FileKey::random();
    store.upload(&key, b"first".as_slice()).await.unwrap();
    assert!(matches!(
        store.files.begin(&key, LIMIT).await,
        Err(Error::Occupied)
    ));
    assert!(matches!(
        store.files.put(&key, b"second".as_slice().into()).await,
        Err(Error::Occupied)
    ));
    assert_eq!(store.read(&key, None).await.unwrap(), b"first");
}

#[tokio::test]
async fn an_upload_is_where_it_will_be_kept_from_the_beginning() {
    let store = Store::folder();
    let key = FileKey::random();
    let upload = store.files.begin(&key, LIMIT).await.unwrap();
    assert_eq!(store.kept(), [key.as_str()]);
    // The process that finds the key after a crash removes it, whole or not.
    store.files.remove(&key).await.unwrap();
    assert!(store.kept().is_empty());
    drop(upload);
}

#[tokio::test]
async fn files_are_found_again_by_another_process() {
    let store = Store::folder();
    let key = FileKey::random();
    store.upload(&key, b"hello".as_slice()).await.unwrap();
    let files = Files::in_folder(store.folder.path()).unwrap();
    assert_eq!(files.open(&key, None).await.unwrap().file_size(), 5);
}

#[tokio::test]
async fn a_folder_that_was_tidied_up_is_made_again() {
    let store = Store::folder();
    let key = FileKey::random();
    store.upload(&key, bytes(10)).await.unwrap();
    fs::remove_dir_all(store.folder.path().join(&key.as_str()[..2])).unwrap();
    store.upload(&key, bytes(10)).await.unwrap();
    assert_eq!(store.kept(), [key.as_str()]);
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_on_the_machine_can_read_a_file() {
    use std::os::unix::fs::PermissionsExt;

    let store = Store::folder();
    let root = store.folder.path().join("nested/files");
    let files = Files::in_folder(&root).unwrap();
    let key = FileKey::random();
    files.put(&key, b"secret".as_slice().into()).await.unwrap();
    let part = root.join(&key.as_str()[..2]);
    for (path, expected) in [
        (&root, 0o700),
        (&part, 0o700),
        (&part.join(key.as_str()), 0o600),
    ] {
        assert_eq!(
            fs::metadata(path).unwrap().permissions().mode() & 0o777,
            expected,
            "{path:?}"
        );
    }
}

#[tokio::test]
async fn a_file_that_was_cut_ends_with_an_error() {
    let store = Store::folder();
    let key = FileKey::random();
    store.upload(&key, bytes(600_000)).await.unwrap();
    let content = store.files.open(&key, None).await.unwrap();
    let path = store
        .folder
        .path()
        .join(&key.as_str()[..2])
        .join(key.as_str());
    fs::OpenOptions::new()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(300_000)
        .unwrap();
    let read: Result<Vec<_>, Error> = futures_util::TryStreamExt::try_collect(content).await;
    assert!(matches!(read, Err(Error::Io(_))));
}

#[tokio::test]
async fn a_folder_has_no_links() {
    let store = Store::folder();
    let link = store
        .files
        .link(
            &FileKey::random(),
            Duration::from_secs(60),
            "text/plain",
            "inline",
        )
        .await;
    assert_eq!(link.unwrap(), None);
}
