//! A backup under load, more load, a crash, and the restoration.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use eddyline_client::{Client, Json, Method, StreamRequest};
use eddyline_tests::{Acme, Backend, Caller, Listener, Patience, Server};
use tokio::task::{JoinSet, block_in_place};
use url::Url;

use super::{Site, again};
use crate::files::in_json;

const MAIN: &str = "acme/main";
/// Every so many messages of a writer one is a file.
const FILE_EVERY: usize = 7;
/// How many messages each writer has posted before something happens.
const MANY: usize = 40;

#[test]
fn sqlite_with_files_in_a_folder() {
    run(Backend::Sqlite, false);
}

#[test]
fn sqlite_with_files_in_a_store() {
    run(Backend::Sqlite, true);
}

#[test]
fn postgres_with_files_in_a_folder() {
    run(Backend::Postgres, false);
}

#[test]
fn postgres_with_files_in_a_store() {
    run(Backend::Postgres, true);
}

fn run(backend: Backend, is_in_store: bool) {
    let place = || Site::new(backend, is_in_store);
    if let (Some(from), Some(to)) = (place(), place()) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(drill(&from, &to));
    }
}

/// A user who posts numbered messages, one after the other.
struct Poster {
    caller: Caller,
    /// How many were answered.
    answered: AtomicUsize,
}

impl Poster {
    fn new(caller: Caller) -> Arc<Self> {
        Arc::new(Self {
            caller,
            answered: AtomicUsize::new(0),
        })
    }

    async fn posts(&self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            let number = self.answered();
            let message = if number.is_multiple_of(FILE_EVERY) {
                in_json(&format!("{number}.txt"), "text/plain", &bytes(number))
            } else {
                serde_json::json!({"event": "message", "content": format!("number {number}")})
            };
            self.caller.post(MAIN, &message).await;
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }

    async fn has_posted(&self, count: usize) {
        let patience = Patience::until("messages are posted");
        while self.answered() < count {
            patience.goes_on().await;
        }
    }
}

/// What the file with this number has: a few bytes, or more than are read at once.
fn bytes(number: usize) -> Vec<u8> {
    format!("file {number}\n")
        .repeat(1 + number * 400)
        .into_bytes()
}

async fn drill(from: &Site, to: &Site) {
    let archive = to.directory.path().join("backup.tar.age");
    let mut server = from.serve();
    let Acme { ada, ben } = server.acme();
    let ears = server.user("acme", "cleo");
    server.admin(&["flow", "add-user", "--flow", MAIN, "--email", &ears.email]);
    let mut stream = Listener::to(&ears.client, &[MAIN]).await;

    let posters = [Poster::new(ada), Poster::new(ben)];
    let is_over = Arc::new(AtomicBool::new(false));
    let mut load = JoinSet::new();
    for poster in posters.clone() {
        let is_over = is_over.clone();
        load.spawn(async move { poster.posts(&is_over).await });
    }
    let before = stream.next().await.id.expect("an event has an id");
    let mut bounds = Vec::new();
    for poster in &posters {
        poster.has_posted(MANY).await;
        bounds.push(poster.answered());
    }
    let answer = block_in_place(|| from.back_up(&archive));
    assert_eq!(answer["missing_files"], serde_json::json!([]), "{answer}");
    // One more may have been under way.
    let ends: Vec<_> = posters.iter().map(|poster| poster.answered() + 1).collect();
    for (poster, end) in posters.iter().zip(&ends) {
        poster.has_posted(end + MANY).await;
    }
    let later = loop {
        let event = stream.next().await;
        if event.json["content"] == format!("number {}", ends[0] + FILE_EVERY - 1) {
            break event.id.expect("an event has an id");
        }
        if event.json["content"] == format!("number {}", ends[0] + 1) {
            break event.id.expect("an event has an id");
        }
    };
    is_over.store(true, Ordering::Relaxed);
    while load.join_next().await.is_some() {}
    server.kill9();

    block_in_place(|| to.restore(&archive));
    let restored = to.serve();
    let listed = all_messages(&again(&restored, &ears)).await;
    for ((poster, from), through) in posters.iter().zip(bounds).zip(ends) {
        let of_poster: Vec<_> = listed
            .iter()
            .filter(|message| message["user"].as_str() == Some(&poster.caller.id.to_string()))
            .collect();
        let count = of_poster.len();
        assert!(
            (from..=through).contains(&count),
            "{count} messages, of which {from} to {through} are in the backup"
        );
        let reader = again(&restored, &ears);
        for (number, message) in of_poster.into_iter().enumerate() {
            is_as_posted(&reader, number, message).await;
        }
    }
    let checked = block_in_place(|| super::last_line(&mut to.command(&["check", "--json"])));
    assert_eq!(checked["defects"], serde_json::json!([]), "{checked}");
    begins_anew(&restored, &ears, &[before, later]).await;
    let found = again(&restored, &ears)
        .get(&format!("/flows/{MAIN}/messages?search=number&limit=100"))
        .await;
    let texts = listed
        .iter()
        .filter(|message| message["event"] == "message");
    assert_eq!(found.as_array().unwrap().len(), texts.count().min(100));
}

async fn all_messages(reader: &Caller) -> Vec<Json> {
    let mut all = Vec::new();
    loop {
        let after = all
            .last()
            .map_or(Json::from(0), |last: &Json| last["id"].clone());
        let path = format!("/flows/{MAIN}/messages?sort=asc&limit=100&since_id={after}");
        match reader.get(&path).await {
            Json::Array(page) if !page.is_empty() => all.extend(page),
            _ => return all,
        }
    }
}

async fn is_as_posted(reader: &Caller, number: usize, message: &Json) {
    if number.is_multiple_of(FILE_EVERY) {
        let path = message["content"]["path"].as_str().expect("it is a file");
        let kept = download(&reader.client, path).await;
        assert!(kept == bytes(number), "file {number} is another");
    } else {
        assert_eq!(message["content"], format!("number {number}"));
    }
}

/// What a link of the server leads to, there or in a store.
async fn download(client: &Client, path: &str) -> Vec<u8> {
    let answer = client.request(Method::GET, path).send().await.unwrap();
    let link = Url::parse(answer.header("location").expect("it is a link")).unwrap();
    let client = Client::builder(link.origin().ascii_serialization());
    let path = &link[url::Position::BeforePath..];
    let file = client.build().unwrap().request(Method::GET, path);
    file.send().await.unwrap().body.to_vec()
}

/// Streams of before are told to start over, and go on from there.
async fn begins_anew(server: &Server, ears: &Caller, known: &[String]) {
    let ears = again(server, ears);
    for id in known {
        let request = StreamRequest::new().flow(MAIN).after(id);
        let mut stream = Listener::open(&ears.client, &request).await;
        assert_eq!(stream.next().await.json["event"], "reset", "{id}");
        let message = ears.say(MAIN, "after the crash").await;
        assert_eq!(stream.json().await["id"], message["id"]);
    }
}
