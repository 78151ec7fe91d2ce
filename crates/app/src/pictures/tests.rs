//! What is fetched, how often, and what a host cannot make the server do.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{Options, Store};
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::quota::QuotaSubject;
use crate::{App, Config as AppConfig};

/// A transparent PNG file of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// A host on this machine. It answers each path with what is written for it.
struct Host {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

/// What a host answers, and whether the answer ends there.
type Answers = fn(&str, SocketAddr) -> (Vec<u8>, bool);

impl Host {
    #[expect(
        clippy::disallowed_methods,
        reason = "a host beside the application, which ends with the test's runtime"
    )]
    async fn start(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    let mut head = vec![0; 4096];
                    let length = socket.read(&mut head).await.unwrap();
                    let head = String::from_utf8_lossy(&head[..length]).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default();
                    let (answer, ends) = answers(path, address);
                    let _ = socket.write_all(&answer).await;
                    if !ends {
                        std::future::pending::<()>().await;
                    }
                });
            }
        });
        Self { address, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn asked(&self) -> usize {
        self.asked.swap(0, Ordering::SeqCst)
    }
}

fn picture() -> Vec<u8> {
    let file = STANDARD.decode(PIXEL).unwrap();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", file.len());
    [head.into_bytes(), file].concat()
}

fn redirect(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes()
}

fn keys(user: i64) -> QuotaKeys {
    let organization = Some(OrganizationId(user));
    let user = Some(UserId(user));
    QuotaSubject { user, organization }.quota_keys()
}

/// An application that may ask one host on this machine, and its clock in milliseconds.
async fn app(host: &Host) -> (App, Arc<AtomicI64>) {
    let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
    let read = Arc::clone(&clock);
    let options = Options {
        clock: Arc::new(move || Timestamp(read.load(Ordering::SeqCst))),
        ..Options::default()
    };
    let config = AppConfig {
        outbound: Config {
            private_exception: Some(host.address),
            ..Config::default()
        },
        ..AppConfig::default()
    };
    let store = Store::open_with("sqlite::memory:", options).unwrap();
    (App::new(store, config).await.unwrap(), clock)
}

async fn is_found(app: &App, address: String) -> bool {
    let found = app.pictures().find(address, keys(1)).await;
    found.unwrap().copy.is_some()
}

#[tokio::test]
async fn a_copy_is_made_once_for_all_who_ask() {
    let host = Host::start(|_, _| (picture(), true)).await;
    let (app, clock) = app(&host).await;
    let find = |user| app.pictures().find(host.url("/zoe.png"), keys(user));
    let found = join_all((1..=20).map(find)).await;
    for known in found {
        let copy = known.unwrap().copy.expect("it is a picture");
        assert_eq!(copy.content_type, "image/jpeg");
        assert!(copy.bytes.starts_with(b"\xff\xd8\xff"));
    }
    assert_eq!(host.asked(), 1);
    clock.fetch_add(KEPT_MILLIS - 1, Ordering::SeqCst);
    assert!(is_found(&app, host.url("/zoe.png")).await);
    assert_eq!(host.asked(), 0);
    clock.fetch_add(1, Ordering::SeqCst);
    assert!(is_found(&app, host.url("/zoe.png")).await);
    assert_eq!(host.asked(), 1);
}

#[tokio::test]
async fn a_picture_that_is_missing_is_not_asked_for_at_each_view() {
    let missing = |_: &str, _| (b"HTTP/1.1 404 Not Found\r\n\r\n".to_vec(), true);
    let host = Host::start(missing).await;
    let (app, clock) = app(&host).await;
    for _ in 0..3 {
        assert!(!is_found(&app, host.url("/")).await);
    }
    assert_eq!(host.asked(), 1);
    clock.fetch_add(MISSED_MILLIS, Ordering::SeqCst);
    assert!(!is_found(&app, host.url("/")).await);
    assert_eq!(host.asked(), 1);
}

#[tokio::test]
async fn a_redirect_is_followed_a_few_times_and_leads_to_no_private_address() {
    let inner = Host::start(|_, _| (picture(), true)).await;
    let host = Host::start(|path, own| {
        let answer = match path.split_once("?to=") {
            Some((_, port)) => redirect(&format!("http://127.0.0.1:{port}/")),
            None => match path {
                "/there" => picture(),
                "/relative" => redirect("there"),
                "/3" => redirect("/2"),
                "/2" => redirect(&format!("http://{own}/relative")),
                "/local" => redirect("http://localhost/"),
                "/file" => redirect("file:///etc/passwd"),
                _ => redirect("/round"),
            },
        };
        (answer, true)
    })
    .await;
    let (app, _) = app(&host).await;
    for path in ["/relative", "/3"] {
        assert!(is_found(&app, host.url(path)).await, "{path}");
    }
    let inwards = format!("/?to={}", inner.address.port());
    for path in [&*inwards, "/local", "/file", "/round"] {
        assert!(!is_found(&app, host.url(path)).await, "{path}");
    }
    assert!(!is_found(&app, inner.url("/")).await);
    assert_eq!(inner.asked(), 0);
}

/// The clock of the runtime goes on by itself whenever nothing else does.
#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_end_its_answer_is_left() {
    let slow = |_: &str, _| {
        let mut answer = picture();
        answer.pop();
        (answer, false)
    };
    let host = Host::start(slow).await;
    let (app, _) = app(&host).await;
    assert!(!is_found(&app, host.url("/")).await);
}

#[tokio::test]
async fn what_is_no_picture_within_the_bounds_is_not_handed_out() {
    fn sent(body: &[u8]) -> Vec<u8> {
        [b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", body].concat()
    }
    let host = Host::start(|path, _| {
        let file = STANDARD.decode(PIXEL).unwrap();
        let answer = match path {
            "/html" => sent(b"<!doctype html><script>alert(1)</script>"),
            "/svg" => sent(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
            "/cut" => sent(&file[..40]),
            "/large" => sent(&[&*file, &vec![0; MAX_BYTES]].concat()),
            "/whole" => sent(&[&*file, b"<script>alert(1)</script>"].concat()),
            _ => sent(b""),
        };
        (answer, true)
    })
    .await;
    let (app, _) = app(&host).await;
    for path in ["/html", "/svg", "/cut", "/large", "/empty"] {
        assert!(!is_found(&app, host.url(path)).await, "{path}");
    }
    // What follows a picture is in no copy.
    let whole = app.pictures().find(host.url("/whole"), keys(1)).await;
    let copy = whole.unwrap().copy.expect("it begins with a picture");
    assert!(!copy.bytes.windows(6).any(|bytes| bytes == b"script"));
}

/// The clock of the runtime goes on by itself whenever nothing else does.
#[tokio::test(start_paused = true)]
async fn one_reader_leaves_room_for_others() {
    let host = Host::start(|_, _| (Vec::new(), false)).await;
    let (app, _) = app(&host).await;
    let permits: Vec<Permit> = (0..FETCHES.total - FETCHES.reserve)
        .map(|_| app.pictures().fetches.acquire(keys(1), 1).unwrap())
        .collect();
    let refused = app.pictures().find(host.url("/"), keys(1)).await.err();
    assert_eq!(
        refused.map(|error| error.kind()),
        Some(crate::ErrorKind::TooManyRequests)
    );
    assert_eq!(host.asked(), 0);
    assert!(app.pictures().fetches.acquire(keys(2), 1).is_ok());
    drop(permits);
    // The refusal is not remembered.
    let asked = app.pictures().find(host.url("/"), keys(1)).await;
    assert!(asked.unwrap().copy.is_none());
    assert_eq!(host.asked(), 1);
}
