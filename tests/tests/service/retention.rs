//! Messages are deleted when they have been kept for as long as the rules say, unless a legal hold
//! covers them.

use eddyline_client::{Json, Method};
use eddyline_tests::{Acme, Backend, Caller, Listener, Server, on_both_databases};
use serde_json::json;
use tokio::task::block_in_place;

use crate::backup::{Site, last_line};
use crate::files::in_json;

on_both_databases![
    a_running_server_tells_its_listeners_what_has_expired,
    what_a_legal_hold_covers_is_not_deleted,
    days_have_bounds_that_are_named,
];

const MAIN: &str = "acme/main";
const MESSAGES: &str = "/flows/acme/main/messages";
const DAY_MILLIS: i64 = 24 * 3_600_000;

/// Makes messages of everybody this much older, as if time had passed.
fn age(server: &Server, millis: i64) {
    run_sql(
        server,
        &format!("update messages set sent = sent - {millis}"),
    );
}

/// Changes the database of a server behind its back.
pub(crate) fn run_sql(server: &Server, sql: &str) {
    if let Some(database) = server.database() {
        database.run(sql).unwrap();
        return;
    }
    let file = server.data_directory().join("eddyline.db");
    let program = format!(
        "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1], timeout=10)\nc.execute({sql:?})\nc.commit()\n"
    );
    let mut python = std::process::Command::new("python3");
    let status = python.args(["-c", &program]).arg(file).status().unwrap();
    assert!(status.success());
}

async fn contents(reader: &Caller) -> Vec<Json> {
    let listed = reader.get(&format!("{MESSAGES}?limit=100")).await;
    let listed = listed.as_array().unwrap().iter();
    listed.map(|message| message["content"].clone()).collect()
}

async fn answer(by: &Caller, to: &Json, text: &str) {
    let path = format!("{MESSAGES}/{}/comments", to["id"]);
    by.does(Method::POST, &path, &json!({"content": text}))
        .await;
}

/// The rules are applied when a server begins, and once an hour after that.
async fn a_running_server_tells_its_listeners_what_has_expired(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let root = ada.say(MAIN, "an old word").await;
    answer(&ben, &root, "an old answer").await;
    ada.post(MAIN, &in_json("old.txt", "text/plain", b"old bytes"))
        .await;
    assert_eq!(server.kept_files().len(), 1);
    age(&server, 7 * DAY_MILLIS);
    ada.say(MAIN, "a new word").await;
    server.terminate();
    server.restart();
    let mut stream = Listener::to(&ben.client, &[MAIN]).await;
    let set = server.admin(&["retention", "set", "--org", "acme", "--days", "7"]);
    assert_eq!(set["days"], 7);
    let applied = server.admin(&["retention", "run"]);
    assert_eq!(applied, json!({"deleted": 3, "held": 0}));
    let told = stream.event("message-delete").await;
    assert_eq!(told["content"]["message"], root["id"]);
    assert_eq!(contents(&ben).await, [json!("a new word")]);
    let thread = ben.get(&format!("{MESSAGES}?search=old")).await;
    assert_eq!(thread, json!([]));
}

async fn what_a_legal_hold_covers_is_not_deleted(server: Server) {
    let Acme { ada, ben } = server.acme();
    ada.say(MAIN, "of ada").await;
    ben.say(MAIN, "of ben").await;
    age(&server, 2 * DAY_MILLIS);
    server.admin(&["retention", "set", "--flow", MAIN, "--days", "1"]);
    let hold = [
        "hold",
        "place",
        "--email",
        &ben.email,
        "--reason",
        "a lawsuit",
    ];
    server.admin(&hold);
    let listed = server.admin(&["hold", "list"]);
    assert_eq!(listed["holds"][0]["held"], format!("user {}", ben.email));
    assert_eq!(listed["holds"][0]["reason"], "a lawsuit");
    let applied = server.admin(&["retention", "run"]);
    assert_eq!(applied, json!({"deleted": 1, "held": 1}));
    assert_eq!(contents(&ada).await, [json!("of ben")]);
    server.admin(&["hold", "release", "--email", &ben.email]);
    assert_eq!(server.admin(&["retention", "run"])["deleted"], 1);
    assert_eq!(contents(&ada).await, [Json::Null; 0]);
    let records = server.admin(&["audit", "--org", "acme"]);
    for action in ["hold.place", "hold.release", "retention.set"] {
        assert!(records.to_string().contains(action), "{records}");
    }
}

async fn days_have_bounds_that_are_named(server: Server) {
    server.organization("acme");
    for days in ["0", "36501", "-1", "x"] {
        let set = ["retention", "set", "--org", "acme", "--days", days];
        let refused = server.try_admin(&set).unwrap_err();
        assert!(refused.contains("days"), "{refused}");
    }
    for days in ["1", "36500"] {
        server.admin(&["retention", "set", "--org", "acme", "--days", days]);
    }
    let neither = server.try_admin(&["retention", "set", "--org", "acme"]);
    assert!(neither.unwrap_err().contains("--forever"));
    let unknown = ["retention", "set", "--org", "nobody", "--forever"];
    let refused = server.try_admin(&unknown).unwrap_err();
    assert!(
        refused.contains("organization nobody was not found"),
        "{refused}"
    );
    let rules = server.admin(&["retention", "show"]);
    assert_eq!(
        rules["rules"],
        json!([{"of": "organization acme", "days": 36500}])
    );
}

/// The rules are applied by the server itself when it begins.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_applies_the_rules_by_itself() {
    let Some(site) = Site::new(Backend::Sqlite, false) else {
        return;
    };
    let mut server = site.serve();
    let Acme { ada, .. } = block_in_place(|| server.acme());
    let old = ada.say(MAIN, "an old word").await;
    age(&server, 2 * DAY_MILLIS);
    block_in_place(|| {
        server.admin(&["retention", "set", "--private", "--days", "1"]);
        server.admin(&["retention", "set", "--flow", MAIN, "--days", "1"]);
        server.terminate();
        server.restart();
    });
    let request = eddyline_client::StreamRequest::new().flow(MAIN);
    let mut stream = Listener::open(&ada.client, &request.after("0-00000000")).await;
    let told = stream.event("message-delete").await;
    assert_eq!(told["content"]["message"], old["id"]);
    let checked = block_in_place(|| last_line(&mut site.command(&["check", "--json"])));
    assert_eq!(checked["defects"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_whom_a_legal_hold_covers_is_not_erased() {
    let Some(site) = Site::new(Backend::Sqlite, false) else {
        return;
    };
    let server = site.serve();
    let Acme { ada, ben } = block_in_place(|| server.acme());
    let said = ben.say(MAIN, "a word that stays").await;
    for (place, held) in [
        (vec!["--org", "acme"], "organization acme".to_owned()),
        (vec!["--flow", MAIN], format!("flow {MAIN}")),
        (vec!["--email", &ben.email], format!("user {}", ben.email)),
    ] {
        block_in_place(|| server.admin(&[&["hold", "place"][..], &place].concat()));
        let arguments = ["erase", "--yes", "--email", &ben.email];
        let output = block_in_place(|| site.admin_command(&arguments).output().unwrap());
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(
            complaint.contains(&format!("a legal hold on the {held}")),
            "{complaint}"
        );
        block_in_place(|| server.admin(&[&["hold", "release"][..], &place].concat()));
    }
    let shown = ada.get(&format!("{MESSAGES}/{}", said["id"])).await;
    assert_eq!(shown["content"], "a word that stays");
}
