//! Erasing a person: their words, names and files are nowhere any more, and everything else stays.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use eddyline_client::{Json, Method, StreamRequest};
use eddyline_tests::{Acme, Backend, Caller, Listener, Server};
use serde_json::json;
use tokio::task::block_in_place;

use crate::backup::{Site, last_line};
use crate::files::{PIXEL, in_json};

const MAIN: &str = "acme/main";
const MESSAGES: &str = "/flows/acme/main/messages";
/// What all words of the person have, and nothing else.
pub(crate) const MARK: &str = "zyxomma";

/// Reads everything below a folder as bytes.
fn bytes_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(bytes_below(&path)),
            false => found.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
    found
}

/// The places in which the mark stands, in any case, and some of what is there.
pub(crate) fn marked(places: Vec<(String, Vec<u8>)>) -> Vec<String> {
    let mut found = Vec::new();
    for (place, bytes) in places {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        if let Some(at) = text.find(MARK) {
            let around: String = text[at..].chars().take(40).collect();
            found.push(format!("{place}: {around}"));
        }
    }
    found
}

/// Every table of a database of PostgreSQL, its rows as text, with what its statistics have.
fn tables(server: &Server) -> Vec<(String, Vec<u8>)> {
    let Some(database) = server.database() else {
        return Vec::new();
    };
    let names = database
        .run("select tablename from pg_tables where schemaname = 'public'")
        .unwrap();
    let table = |name: &str| {
        let rows = database.run(&format!("select t::text from \"{name}\" t"));
        (name.to_owned(), rows.unwrap().into_bytes())
    };
    let mut found: Vec<_> = names.lines().map(table).collect();
    let statistics = database.run("select s::text from pg_stats s where schemaname = 'public'");
    found.push(("pg_stats".to_owned(), statistics.unwrap().into_bytes()));
    found
}

impl Site {
    /// Everything that is kept of this place on disk and in its database, without the mails that went
    /// out.
    pub(crate) fn kept(&self, server: &Server) -> Vec<(String, Vec<u8>)> {
        let mut found = bytes_below(&server.data_directory());
        found.retain(|(path, _)| !path.contains("/outbox/"));
        found.extend(tables(server));
        found
    }

    fn erase(&self, caller: &Caller) -> Json {
        let arguments = ["erase", "--yes", "--json", "--email"];
        block_in_place(|| last_line(self.admin_command(&arguments).arg(&caller.email)))
    }
}

/// Answers a message and gives the comment.
async fn answer(by: &Caller, to: &Json, text: &str) -> Json {
    let path = format!("{MESSAGES}/{}/comments", to["id"]);
    let comment = by.client.request(Method::POST, &path);
    let comment = comment
        .header("x-service-wait-for-message", "1")
        .json(&json!({"event": "comment", "content": text}));
    comment.call().await.unwrap()
}

/// Has a person leave a word wherever words can be left. Gives a message of theirs and the answer
/// of another to it.
async fn leave_words(eve: &Caller, ada: &Caller) -> (Json, Json) {
    let root = eve.say(MAIN, "a thread zyxommatitle #zyxommatag").await;
    let reply = answer(ada, &root, "an answer that stays").await;
    answer(eve, &root, "a comment zyxommacomment").await;
    let edited = eve.say(MAIN, "before the edit zyxommabefore").await;
    let path = format!("{MESSAGES}/{}", edited["id"]);
    let change = json!({"content": "after the edit zyxommaafter"});
    eve.does(Method::PUT, &path, &change).await;
    let uuid = json!({"event": "message", "content": "hello", "uuid": "zyxommauuid"});
    eve.post(MAIN, &uuid).await;
    eve.post(
        MAIN,
        &json!({"event": "status", "content": "zyxommastatus"}),
    )
    .await;
    let bytes = b"a file with zyxommabytes";
    eve.post(MAIN, &in_json("zyxommafile.txt", "text/plain", bytes))
        .await;
    eve.post(MAIN, &in_json("zyxommadot.png", "image/png", PIXEL))
        .await;
    let path = format!("{MESSAGES}/{}", reply["id"]);
    let tags = json!({"add_tags": ["zyxommaadded"]});
    eve.does(Method::PUT, &path, &tags).await;
    let private = json!({"event": "message", "content": "whispered zyxommaprivate"});
    let path = format!("/private/{}/messages", ada.id);
    eve.does(Method::POST, &path, &private).await;
    let profile = json!({
        "name": "Zyxomma Name", "nick": "zyxommanick", "website": "https://zyxomma.example/",
    });
    eve.does(Method::PUT, "/user", &profile).await;
    let invitation = json!({"email": "new@example.org", "message": "come zyxommainvite"});
    eve.does(Method::POST, "/flows/acme/main/invitations", &invitation)
        .await;
    (root, reply)
}

/// Everything that streams and lists tell a reader, as one text.
async fn told(reader: &Caller) -> String {
    let request = StreamRequest::new().flow(MAIN).after("0-00000000");
    let mut stream = Listener::open(&reader.client, &request).await;
    let end = reader.say(MAIN, "this is the end").await["id"].clone();
    let mut text = String::new();
    loop {
        let event = stream.next().await.json;
        text += &event.to_string();
        if event["id"] == end && event["event"] == "message" {
            break;
        }
    }
    for path in [
        "/flows/acme/main/messages?limit=100",
        "/flows/acme/main/users",
        "/users",
        "/organizations/acme/users",
        "/private",
    ] {
        text += &reader.get(path).await.to_string();
    }
    text.to_lowercase()
}

async fn is_found(reader: &Caller, word: &str) -> bool {
    let path = format!("{MESSAGES}?search={word}");
    reader.get(&path).await != json!([])
}

async fn nothing_is_left(backend: Backend, is_in_store: bool) {
    let Some(site) = Site::new(backend, is_in_store) else {
        return;
    };
    let server = site.serve();
    let Acme { ada, ben } = block_in_place(|| server.acme());
    let eve = block_in_place(|| server.user("acme", "zyxommaeve"));
    block_in_place(|| server.admin(&["flow", "add-user", "--flow", MAIN, "--email", &eve.email]));
    let (root, reply) = leave_words(&eve, &ada).await;
    ben.say(MAIN, "the word of another").await;
    assert!(is_found(&ben, "zyxommacomment").await);
    let before = marked(site.kept(&server));
    assert!(!before.is_empty(), "there is something to be erased");
    assert!(told(&ben).await.contains(MARK));

    let erased = site.erase(&eve);
    assert_eq!(erased["id"], eve.id);
    assert_eq!(erased["files_left"], 0, "{erased}");
    assert_eq!(marked(site.kept(&server)), [""; 0]);
    if is_in_store {
        assert_eq!(site.objects(), [""; 0], "a file of the store is left");
    }
    let said = told(&ben).await;
    assert!(!said.contains(MARK), "{said}");
    for word in [
        "zyxommacomment",
        "zyxommatitle",
        "zyxommafile",
        "zyxommastatus",
    ] {
        assert!(!is_found(&ben, word).await, "{word}");
    }
    let shown = ben.get(&format!("{MESSAGES}/{}", root["id"])).await;
    assert_eq!(
        (&shown["content"], &shown["user"]),
        (&json!(""), &root["user"])
    );
    let shown = ben.get(&format!("{MESSAGES}/{}", reply["id"])).await;
    assert!(
        shown.to_string().contains("an answer that stays"),
        "{shown}"
    );
    assert!(is_found(&ben, "another").await);
    let export = site.directory.path().join("export.tar");
    let arguments = [
        "export",
        "organization",
        "acme",
        "--private",
        "--json",
        "--to",
    ];
    block_in_place(|| last_line(site.command(&arguments).arg(&export)));
    assert_eq!(
        marked(vec![("export".into(), fs::read(&export).unwrap())]),
        [""; 0]
    );
    let checked = block_in_place(|| last_line(&mut site.command(&["check", "--json"])));
    assert_eq!(checked["defects"], json!([]));
    assert_eq!(checked["missing_files"], json!([]));
    let refused = eve.send(Method::GET, "/user", &Json::Null).await;
    assert_eq!(refused.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_word_of_an_erased_person_is_left_on_sqlite() {
    nothing_is_left(Backend::Sqlite, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_word_of_an_erased_person_is_left_on_postgres() {
    nothing_is_left(Backend::Postgres, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_of_an_erased_person_is_left_in_a_store() {
    nothing_is_left(Backend::Sqlite, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listeners_hear_that_messages_are_gone() {
    let Some(site) = Site::new(Backend::Sqlite, false) else {
        return;
    };
    let server = site.serve();
    let Acme { ada, ben } = block_in_place(|| server.acme());
    let said = ben.say(MAIN, "a word").await;
    let file = ben
        .post(MAIN, &in_json("a.txt", "text/plain", b"text"))
        .await;
    let mut stream = Listener::to(&ada.client, &[MAIN]).await;
    site.erase(&ben);
    let emptied = stream.event("message-edit").await;
    assert_eq!(emptied["content"]["message"], said["id"]);
    assert_eq!(emptied["content"]["updated_content"], "");
    let removed = stream.event("message-delete").await;
    assert_eq!(removed["content"]["message"], file["id"]);
}

/// More than a process erases before it is killed.
const MANY: usize = 800;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_goes_on_where_it_was_interrupted() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let Some(site) = Site::new(backend, false) else {
            continue;
        };
        let server = site.serve();
        let Acme { ada, ben } = block_in_place(|| server.acme());
        ben.flood(MAIN, MANY, |number| format!("word {number}"))
            .await;
        let arguments = ["erase", "--yes", "--json", "--email", &ben.email];
        let mut process = site.admin_command(&arguments);
        let mut process = process.stdout(Stdio::piped()).spawn().unwrap();
        block_in_place(|| {
            let mut first = String::new();
            let stdout = process.stdout.take().unwrap();
            BufReader::new(stdout).read_line(&mut first).unwrap();
            assert!(first.contains("messages"), "{first}");
            process.kill().unwrap();
            process.wait().unwrap();
        });
        let path = format!("{MESSAGES}?search=word&limit=1");
        assert_ne!(ada.get(&path).await, json!([]), "it was not interrupted");
        let rest = site.erase(&ben);
        assert!(rest["messages"].as_u64().unwrap() > 0, "{rest}");
        assert_eq!(ada.get(&path).await, json!([]));
        let records = ["audit", "--org", "acme", "--action", "user.erase"];
        let records = block_in_place(|| server.admin(&records));
        assert_eq!(
            records["records"].as_array().map(Vec::len),
            Some(1),
            "{records}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_can_be_repeated() {
    let Some(site) = Site::new(Backend::Sqlite, false) else {
        return;
    };
    let server = site.serve();
    let Acme { ben, .. } = block_in_place(|| server.acme());
    ben.say(MAIN, "a word").await;
    let first = site.erase(&ben);
    assert_eq!(first["messages"], 1);
    let arguments = ["erase", "--yes", "--json", "--email"];
    let address = format!("deleted-{}@deleted.invalid", ben.id);
    let second = block_in_place(|| last_line(site.admin_command(&arguments).arg(address)));
    assert_eq!(
        (&second["id"], &second["messages"]),
        (&first["id"], &json!(0))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_only_administrator_is_not_erased() {
    let Some(site) = Site::new(Backend::Sqlite, false) else {
        return;
    };
    let server = site.serve();
    let Acme { ada, .. } = block_in_place(|| server.acme());
    let said = ada.say(MAIN, "a word that stays").await;
    let arguments = ["erase", "--yes", "--email", &ada.email];
    let output = block_in_place(|| site.admin_command(&arguments).output().unwrap());
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("the last administrator"), "{complaint}");
    let shown = ada.get(&format!("{MESSAGES}/{}", said["id"])).await;
    assert_eq!(shown["content"], "a word that stays");
}
