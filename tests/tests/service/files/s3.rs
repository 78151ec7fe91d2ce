//! Files in a store that speaks S3.

use eddyline_client::{Client, Json, Method};
use eddyline_testing::postgres;
use eddyline_testing::s3::S3Server;
use eddyline_tests::{Backend, Patience, Server, Setting, note_secret};

use super::{Form, PIXEL, in_json, link, text};

#[test]
fn sqlite() {
    files_live_in_the_store(Backend::Sqlite);
}

#[test]
fn postgres() {
    files_live_in_the_store(Backend::Postgres);
}

fn files_live_in_the_store(backend: Backend) {
    let database = match backend {
        Backend::Sqlite => None,
        Backend::Postgres => match postgres::database() {
            None => return,
            some => some,
        },
    };
    let store = S3Server::start();
    note_secret(store.secret_key());
    let options = [
        "--files-s3-bucket",
        store.bucket(),
        "--files-s3-endpoint",
        &store.endpoint(),
    ];
    let options = [
        &options[..],
        &[
            "--files-s3-region",
            store.region(),
            "--files-s3-allow-http",
            "on",
        ],
    ]
    .concat();
    let options = [
        &options[..],
        &[
            "--files-s3-access-key",
            store.access_key(),
            "--log",
            "debug",
        ],
    ]
    .concat();
    let environment = vec![(
        "EDDYLINE_FILES_S3_SECRET_KEY".to_owned(),
        store.secret_key().to_owned(),
    )];
    let server = Server::start_in(
        Setting {
            database,
            environment,
            ..Setting::default()
        },
        &options,
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(walk(&server, &store));
}

async fn walk(server: &Server, store: &S3Server) {
    let acme = server.acme();
    let path = "/flows/acme/main/messages";
    let picture = Form::of("file").file("content", "grüße.png", "image/png", PIXEL);
    let picture = picture.posted(&acme.ben.client, path).await;
    assert_eq!(store.objects().len(), 2, "the picture and its thumbnail");
    let equal = acme
        .ben
        .post("acme/main", &in_json("b.png", "image/png", PIXEL))
        .await;
    until(store, 2).await;
    let large = vec![7; 20 << 20];
    let large = Form::of("file").file("content", "large.bin", "application/x-thing", &large);
    let large = large.posted(&acme.ben.client, path).await;
    assert!(server.kept_files().is_empty());

    let client = Client::builder(store.endpoint()).build().unwrap();
    let follow = |link: String, range: &'static str| {
        let path = link
            .strip_prefix(&store.endpoint())
            .expect("it leads to the store")
            .to_owned();
        let request = client.request(Method::GET, &path);
        let request = if range.is_empty() {
            request
        } else {
            request.header("Range", range)
        };
        async move { request.send().await.unwrap() }
    };
    let shown = link(&acme.ada.client, text(&picture["content"]["path"])).await;
    let file = follow(shown.clone(), "").await;
    assert_eq!(
        (file.status.as_u16(), &file.body[..]),
        (200, PIXEL),
        "{}",
        file.text()
    );
    assert_eq!(file.header("content-type"), Some("image/png"));
    let disposition = "inline; filename=\"gr__e.png\"; filename*=UTF-8''gr%C3%BC%C3%9Fe.png";
    assert_eq!(file.header("content-disposition"), Some(disposition));
    let forged = shown.replace("X-Amz-Expires=60", "X-Amz-Expires=61");
    assert_ne!(forged, shown);
    assert_eq!(follow(forged, "").await.status, 403);
    let small = link(
        &acme.ada.client,
        text(&picture["content"]["thumbnail"]["path"]),
    )
    .await;
    assert_eq!(
        follow(small, "").await.header("content-type"),
        Some("image/png")
    );
    let part = follow(
        link(&acme.ada.client, text(&large["content"]["path"])).await,
        "bytes=0-1",
    )
    .await;
    assert_eq!((part.status.as_u16(), part.body.len()), (206, 2));

    for (message, left) in [(&picture, 3), (&equal, 1), (&large, 0)] {
        let deleted = acme
            .ben
            .send(
                Method::DELETE,
                &format!("{path}/{}", message["id"]),
                &Json::Null,
            )
            .await;
        assert_eq!(deleted.status, 204);
        until(store, left).await;
    }
    let refused = Form::of("file")
        .text("thread_id", "none")
        .file("content", "a", "", b"a");
    refused.refused(&acme.ben.client, path, 400).await;
    until(store, 0).await;

    let notes = Form::of("file").file("content", "a.txt", "text/plain", "Grüße".as_bytes());
    let notes = notes.posted(&acme.ben.client, path).await;
    let notes = link(&acme.ada.client, text(&notes["content"]["path"])).await;
    let served = follow(notes, "").await;
    let charset = Some("text/plain; charset=utf-8");
    assert_eq!(served.header("content-type"), charset);
}

async fn until(store: &S3Server, count: usize) {
    let patience = Patience::until("there are as many objects");
    while store.objects().len() != count {
        patience.goes_on().await;
    }
}
