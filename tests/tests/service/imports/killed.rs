//! Imports that are killed again and again bring in the same as one that was not.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::own::enrich;
use super::{Backend, Json, Site, block_in_place, json};
use super::{pack, said};
use crate::avatars::{png, upload};
use crate::exports::{Entries, entries, fill};
use crate::files::PIXEL;

/// Tables that only grow by what an import has committed for good: files that no message has yet are
/// brought again.
const GROWING: &[&str] = &[
    "users",
    "avatars",
    "imported_records",
    "user_groups",
    "rooms",
    "room_members",
    "former_members",
    "messages",
    "sources",
    "threads",
];
/// More kills than an import of these archives has transactions.
const MOST_KILLS: usize = 150;

/// A session with the database of a site, beside those of its servers.
struct Session {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Session {
    fn with(site: &Site) -> Self {
        let mut command = match site.database() {
            Some(database) => database.session(),
            None => sqlite(&site.data().join("eddyline.db")),
        };
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            questions: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            process,
        }
    }

    /// The one value that a query gives.
    fn ask(&mut self, query: &str) -> String {
        writeln!(self.questions, "{query};").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert!(!answer.is_empty(), "{query}");
        answer
    }

    /// How many rows each of the tables has that grow.
    fn count(&mut self) -> String {
        let counts: Vec<String> = GROWING
            .iter()
            .map(|table| format!("(select count(*) from {table})"))
            .collect();
        self.ask(&format!("select {}", counts.join(" || ' ' || ")))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn sqlite(file: &Path) -> Command {
    let program = "import sqlite3, sys\n\
        c = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)\n\
        for line in sys.stdin:\n    print(c.execute(line).fetchone()[0], flush=True)\n";
    let mut python = Command::new("python3");
    python.args(["-u", "-c", program]).arg(file);
    python
}

/// The same command with the lowest priority: where processors are scarce, the one that counts rows
/// comes before it.
fn behind_others(command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", "19"])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    nice
}

impl Site {
    /// Marks all addresses as proved, as their owners prove them by the links that are mailed to
    /// them.
    pub(super) fn prove_addresses(&self) {
        let proved = match self.database() {
            Some(_) => "true",
            None => "1",
        };
        let update = format!("update users set email_proved = {proved} returning id");
        let statement = match self.database() {
            Some(_) => format!("with proved as ({update}) select count(*) from proved"),
            None => update,
        };
        Session::with(self).ask(&statement);
    }

    /// Imports an archive, and kills the import each time that it has committed something, until
    /// one ends by itself. Gives how often it was killed.
    fn import_killed(&self, archive: &Path) -> usize {
        let mut session = Session::with(self);
        for kills in 0..MOST_KILLS {
            let before = session.count();
            let mut command = self.command(&["import", "--org", "acme"]);
            command.arg(archive);
            let mut running = behind_others(&command)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let status = loop {
                if let Some(status) = running.try_wait().unwrap() {
                    break status;
                }
                if session.count() != before {
                    running.kill().unwrap();
                    break running.wait().unwrap();
                }
            };
            // It may have ended before the signal came.
            if status.code().is_some() {
                assert!(status.success(), "{status}");
                return kills;
            }
        }
        panic!("it was killed {MOST_KILLS} times and has not ended");
    }
}

const WORDS: i64 = 600;

/// A workspace with threads that are answered long after they began, files, reactions, a user who
/// is gone, an archived channel and a direct message.
fn workspace(site: &Site) -> PathBuf {
    let user = |id: &str, name: &str, is_gone: bool| {
        json!({"id": id, "name": name, "deleted": is_gone, "is_bot": false,
            "profile": {"real_name": name, "display_name": name, "email": format!("{name}@acme.example")}})
    };
    let users = json!([
        user("U1", "ada", false),
        user("U2", "dan", false),
        user("U3", "cleo", true),
    ]);
    let channel = |id: &str, name: &str, is_archived: bool| {
        json!({"id": id, "name": name, "created": 1_600_000_000, "creator": "U1", "is_archived": is_archived,
            "members": ["U1", "U2"], "topic": {"value": ""}, "purpose": {"value": format!("About {name}")}})
    };
    let channels = json!([
        channel("C1", "general", false),
        channel("C2", "shut", true),
        channel("C3", "empty", false),
    ]);
    let ts = |number: i64| format!("{}.000100", 1_600_000_000 + number);
    let words: Vec<Json> = (0..WORDS)
        .map(|number| {
            let author = ["U1", "U2", "U3"][usize::try_from(number % 3).unwrap()];
            let mut message = json!({"type": "message", "user": author, "ts": ts(number), "text": format!("word {number}")});
            // One of the first forty is answered by every fifth of the others.
            if number >= 40 && number % 5 == 0 {
                message["thread_ts"] = json!(ts(number % 40));
            }
            if number % 7 == 0 {
                message["reactions"] = json!([{"name": "thumbsup", "users": ["U2", "U1"]}]);
            }
            if number % 100 == 1 {
                message["files"] = json!([{"id": format!("F{number}"), "name": "dot.png", "mimetype": "image/png"}]);
            }
            message
        })
        .collect();
    let whispers: Vec<Json> = (0..300)
        .map(|number| json!({"type": "message", "user": "U2", "ts": ts(number), "text": format!("psst {number}")}))
        .collect();
    let shut = json!([{"type": "message", "user": "U3", "ts": ts(1), "text": "the last one"}]);
    let dms = json!([{"id": "D1", "created": 1_600_000_000, "members": ["U1", "U2"]}]);
    let texts = [
        ("users.json", users),
        ("channels.json", channels),
        ("dms.json", dms),
        ("general/2020-09-13.json", json!(words)),
        ("shut/2020-09-13.json", shut),
        ("D1/2020-09-13.json", json!(whispers)),
    ];
    let mut packed: Vec<(&str, Vec<u8>)> = texts
        .iter()
        .map(|(name, json)| (*name, json.to_string().into_bytes()))
        .collect();
    let files: Vec<String> = (0..WORDS / 100)
        .map(|hundred| format!("__uploads/F{}/dot.png", hundred * 100 + 1))
        .collect();
    packed.extend(files.iter().map(|name| (name.as_str(), PIXEL.to_vec())));
    pack(site, "slack.zip", &packed)
}

/// What an archive says of rooms, without the ids and times that are new in each import.
fn comparable(entries: &Entries) -> BTreeMap<String, Vec<Json>> {
    let lines = |bytes: &[u8]| -> Vec<Json> {
        let records = serde_json::Deserializer::from_slice(bytes).into_iter::<Json>();
        records
            .map(|record| record.unwrap())
            .map(|record| record.get("record").unwrap_or(&record).clone())
            .collect()
    };
    let mut found = BTreeMap::new();
    for (path, bytes) in entries {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if !name.ends_with(".jsonl") && !["flow.json", "conversation.json"].contains(&name) {
            continue;
        }
        let flow = entries.get(&format!("{folder}/flow.json"));
        let shown = flow.map_or(folder.to_owned(), |flow| {
            lines(flow)[0]["parameterized_name"].to_string()
        });
        let mut records = lines(bytes);
        for record in &mut records {
            if name == "people.jsonl" {
                record["created_at"] = Json::Null;
            }
            if name == "flow.json" {
                record["id"] = Json::Null;
                record["created_at"] = Json::Null;
            }
            if let Some(file) = record["files"][0]["id"].as_str() {
                *record = serde_json::from_str(&record.to_string().replace(file, "file")).unwrap();
            }
        }
        found.insert(format!("{shown}/{name}"), records);
    }
    found
}

/// Times of rooms, which no export has.
const LAST_TIMES: &str = "select sum(last_message_at) from rooms";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_that_is_killed_at_each_step_is_as_complete_as_another() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let sites = [(); 2].map(|()| Site::new(backend, false));
        let [Some(whole), Some(killed)] = sites else {
            continue;
        };
        let mut found = Vec::new();
        for site in [&whole, &killed] {
            let server = site.serve();
            let acme = block_in_place(|| server.acme());
            let archive = workspace(site);
            if std::ptr::eq(site, &whole) {
                site.import(&archive, &[]);
            } else {
                let kills = block_in_place(|| site.import_killed(&archive));
                assert!(kills > 0, "it was not killed");
            }
            let listed = said(&acme.ada, "/flows/acme/general/messages?limit=100").await;
            let threads: Vec<Json> = listed
                .iter()
                .map(|message| json!([message["content"], message["thread"]]))
                .collect();
            let again = site.import(&archive, &[]);
            assert_eq!(
                (&again["messages"], &again["flows"]),
                (&json!(0), &json!(0))
            );
            let times = block_in_place(|| Session::with(site).ask(LAST_TIMES));
            drop(server);
            let (export, _) = site.export("own.tar", &["organization", "acme", "--private"]);
            found.push((comparable(&entries(&export)), threads, times));
            site.check();
        }
        let (whole, killed) = (&found[0], &found[1]);
        for (path, records) in &whole.0 {
            for (one, other) in records.iter().zip(&killed.0[path]) {
                assert_eq!(one, other, "{backend:?} {path}");
            }
            assert_eq!(records.len(), killed.0[path].len(), "{path}");
        }
        assert_eq!(whole.0.len(), killed.0.len());
        assert_eq!(whole.1.len(), killed.1.len());
        for (one, other) in whole.1.iter().zip(&killed.1) {
            // Ids of flows and files are others.
            let shown = |json: &Json| json[1]["internal_comments"].clone();
            assert_eq!(shown(one), shown(other), "{backend:?} {one} {other}");
        }
        assert_eq!(whole.2, killed.2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_own_archive_whose_import_is_killed_at_each_step_arrives_byte_for_byte() {
    for (from, to) in [
        (Backend::Sqlite, Backend::Postgres),
        (Backend::Postgres, Backend::Sqlite),
    ] {
        let (Some(one), Some(other)) = (Site::new(from, false), Site::new(to, false)) else {
            continue;
        };
        let server = one.serve();
        let (acme, cleo) = fill(&server).await;
        enrich(&server, &acme).await;
        for caller in [&acme.ada, &cleo] {
            let drawn = upload(caller, "image/png", &png(64)).await;
            assert!(drawn.status.is_success(), "{}", drawn.status);
        }
        one.import(&workspace(&one), &[]);
        block_in_place(|| one.prove_addresses());
        drop(server);
        let export = ["organization", "acme", "--private"];
        let (archive, _) = one.export("one.tar", &export);

        let server = other.serve();
        let kills = block_in_place(|| other.import_killed(&archive));
        assert!(kills > 0, "it was not killed");
        block_in_place(|| other.prove_addresses());
        drop(server);
        let (copy, _) = other.export("other.tar", &export);
        let (mut before, mut after) = (entries(&archive), entries(&copy));
        before.remove("manifest.sig");
        after.remove("manifest.sig");
        for (path, bytes) in &before {
            let again = after.get(path).map(|bytes| String::from_utf8_lossy(bytes));
            assert_eq!(
                again.as_deref(),
                Some(&*String::from_utf8_lossy(bytes)),
                "{path}"
            );
        }
        assert_eq!(before.len(), after.len());
        other.check();
    }
}
