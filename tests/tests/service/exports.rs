//! Exports: what they have and what not, that they are the same each time, and what `eddyline verify`
//! says of those that were altered.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use eddyline_client::{Json, Method};
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Backend, Caller, Server, eddyline};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::block_in_place;

use crate::backup::{Site, last_line};
use crate::files::{PIXEL, in_json};

mod pages;
mod tampering;

pub(crate) use self::tampering::pack as pack_tar;

/// The entries of an archive, by path.
pub(crate) type Entries = BTreeMap<String, Vec<u8>>;

pub(crate) fn entries(archive: &Path) -> Entries {
    let mut found = Entries::new();
    let mut tar = tar::Archive::new(File::open(archive).unwrap());
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        found.insert(path, bytes);
    }
    found
}

/// The records of the first entry whose path ends like this.
fn records(entries: &Entries, end: &str) -> Vec<Json> {
    let (_, bytes) = entries
        .iter()
        .find(|(path, _)| path.ends_with(end))
        .unwrap();
    let text = std::str::from_utf8(bytes).unwrap();
    let line = |line| serde_json::from_str::<Json>(line).unwrap()["record"].clone();
    text.lines().map(line).collect()
}

/// Everything that an archive says, as one text.
fn text_of(entries: &Entries) -> String {
    let texts = entries.values();
    texts.map(|bytes| String::from_utf8_lossy(bytes)).collect()
}

impl Site {
    pub(crate) fn export(&self, name: &str, arguments: &[&str]) -> (PathBuf, Json) {
        let archive = self.directory.path().join(name);
        let mut command = self.command(&["export", "--json", "--to"]);
        command.arg(&archive).args(arguments);
        let answer = block_in_place(|| last_line(&mut command));
        (archive, answer)
    }
}

/// Runs `eddyline verify`, which needs no data.
fn verify(archive: &Path, more: &[&str]) -> (Output, Json) {
    let elsewhere = TempDir::new().unwrap();
    let mut command = eddyline();
    command
        .current_dir(elsewhere.path())
        .args(["verify", "--json"]);
    let output = command.arg(archive).args(more).output().unwrap();
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    let answer = printed
        .lines()
        .last()
        .map(|line| serde_json::from_str(line).unwrap());
    (output, answer.unwrap_or_default())
}

fn verify_sound(archive: &Path, more: &[&str]) -> Json {
    let (output, answer) = verify(archive, more);
    assert!(output.status.success(), "{answer:#}");
    assert_eq!(answer["findings"], json!([]));
    answer
}

/// A server with something of everything, and its people.
pub(crate) async fn fill(server: &Server) -> (Acme, Caller) {
    let acme = block_in_place(|| server.acme());
    let cleo = block_in_place(|| server.user("acme", "cleo"));
    let (ada, ben) = (&acme.ada, &acme.ben);
    let first = ada.say("acme/main", "hello @ben #tea").await;
    let path = format!("/flows/acme/main/messages/{}/comments", first["id"]);
    let answer = json!({"event": "comment", "content": "an answer"});
    let post = ben.client.request(Method::POST, &path).json(&answer);
    assert!(post.send().await.unwrap().status.is_success());
    let gone = ada.say("acme/main", "a word that was taken back").await;
    let path = format!("/flows/acme/main/messages/{}", gone["id"]);
    ada.client
        .request(Method::DELETE, &path)
        .send()
        .await
        .unwrap();
    ben.post("acme/main", &in_json("dot.png", "image/png", PIXEL))
        .await;
    ada.say("acme/main", "the last word").await;
    for (from, to, text) in [
        (ada, ben, "whispered to ben"),
        (ben, &cleo, "whispered to cleo"),
    ] {
        let path = format!("/private/{}/messages", to.id);
        let message = json!({"event": "message", "content": text});
        let post = from.client.request(Method::POST, &path).json(&message);
        assert!(post.send().await.unwrap().status.is_success());
    }
    (acme, cleo)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flow_is_exported_while_people_write_and_again_with_the_same_bytes() {
    for (backend, is_in_store) in [(Backend::Sqlite, false), (Backend::Postgres, true)] {
        let Some(site) = Site::new(backend, is_in_store) else {
            continue;
        };
        let server = site.serve();
        let (acme, _) = fill(&server).await;
        let ben = acme.ben;
        let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
        let (begun, writes) = tokio::sync::oneshot::channel();
        let writing = tokio::spawn(async move {
            let mut begun = Some(begun);
            for number in 0.. {
                ben.say("acme/main", &format!("under load {number}")).await;
                begun.take().map(|begun| begun.send(()));
                if stopped.try_recv().is_ok() {
                    return;
                }
            }
        });
        writes.await.unwrap();
        let (busy, answer) = site.export("busy.tar", &["flow", "acme/main"]);
        stop.send(()).unwrap();
        writing.await.unwrap();
        let verified = verify_sound(&busy, &["--key", answer["public_key"].as_str().unwrap()]);
        assert_eq!(verified["is_known_key"], true);
        assert_eq!(verified["messages"], answer["messages"]);
        let busy = entries(&busy);
        let (flow, messages) = (flow_record(&busy), records(&busy, "messages.jsonl"));
        let last = messages.last().unwrap();
        assert_eq!(
            flow["last_message"], last["id"],
            "flow and messages are of one moment"
        );

        let archives =
            ["one.tar", "two.tar"].map(|name| site.export(name, &["flow", "acme/main"]).0);
        let [one, two] = archives.each_ref().map(|path| fs::read(path).unwrap());
        assert!(one == two, "the same data has the same bytes");
        drop(server);

        let found = entries(&archives[0]);
        let messages = records(&found, "messages.jsonl");
        let hello = messages
            .iter()
            .find(|message| message["content"] == "hello @ben #tea");
        assert_eq!(hello.unwrap()["author"], 1);
        assert_eq!(
            hello.unwrap()["tags"],
            json!([":user:2", ":unread:2", "tea"])
        );
        let file = messages
            .iter()
            .find(|message| message["event"] == "file")
            .unwrap();
        let bytes = format!("files/{}.bin", file["files"][0]["sha256"].as_str().unwrap());
        assert_eq!(found[&bytes], PIXEL);
        let people = records(&found, "people.jsonl");
        assert_eq!(people[0]["email"], "ada@acme.example");
        assert!(
            !text_of(&found).contains("taken back"),
            "deleted words stay deleted"
        );
        assert!(!text_of(&found).contains("whispered"));
    }
}

fn flow_record(entries: &Entries) -> Json {
    let (_, bytes) = entries
        .iter()
        .find(|(path, _)| path.ends_with("flow.json"))
        .unwrap();
    serde_json::from_slice(bytes).unwrap()
}

/// Which members of the private conversations have them open.
fn conversations(entries: &Entries) -> Vec<[bool; 2]> {
    let records = entries
        .iter()
        .filter(|(path, _)| path.ends_with("conversation.json"));
    let read = records.map(|(_, bytes)| {
        let record: Json = serde_json::from_slice(bytes).unwrap();
        [0, 1].map(|member| record["members"][member]["open"] == true)
    });
    read.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_has_what_belongs_to_its_subject_and_nothing_else() {
    let site = Site::new(Backend::Sqlite, false).unwrap();
    let server = site.serve();
    let (acme, _) = fill(&server).await;

    let (public, answer) = site.export("acme.tar", &["organization", "acme"]);
    let public = text_of(&entries(&public));
    assert_eq!(
        (&answer["people"], &answer["conversations"]),
        (&json!(3), &json!(0))
    );
    assert!(public.contains("an answer") && !public.contains("whispered"));

    let (whole, answer) = site.export("private.tar", &["organization", "acme", "--private"]);
    assert_eq!(answer["conversations"], 2);
    verify_sound(&whole, &[]);
    let whole = entries(&whole);
    // Those who were written to have them open.
    assert_eq!(conversations(&whole), [[false, true], [false, true]]);
    let whole = text_of(&whole);
    assert!(whole.contains("whispered to ben") && whole.contains("whispered to cleo"));

    let (own, _) = site.export("ada.tar", &["user", "ada@acme.example"]);
    verify_sound(&own, &[]);
    let own = entries(&own);
    // What the other has open is the other's.
    assert_eq!(conversations(&own), [[false, false]]);
    let said = text_of(&own);
    assert!(said.contains("hello @ben #tea") && said.contains("whispered to ben"));
    for of_others in [
        "whispered to cleo",
        "an answer",
        "cleo@acme.example",
        "dot.png",
        "taken back",
    ] {
        assert!(!said.contains(of_others), "{of_others}");
    }
    assert!(!said.contains(&acme.ada.token), "no credentials");

    let noted = noted_exports(&site);
    assert_eq!(noted.len(), 3, "{noted:?}");
    assert!(
        noted
            .iter()
            .all(|(actor, action)| actor == "operator" && action == "data.export")
    );
}

/// What the audit of the database notes of exports: who, and what.
fn noted_exports(site: &Site) -> Vec<(String, String)> {
    let mut command = site.command(&["backup", "--unencrypted", "--to"]);
    let archive = site.directory.path().join("audit.tar");
    let output = block_in_place(|| command.arg(&archive).output().unwrap());
    assert!(output.status.success());
    let mut rows = Vec::new();
    for (path, bytes) in entries(&archive) {
        if path.starts_with("tables/audit/") {
            let mut text = String::new();
            let mut unpacked = flate2::read::GzDecoder::new(&bytes[..]);
            unpacked.read_to_string(&mut text).unwrap();
            rows.extend(
                text.lines()
                    .map(|line| serde_json::from_str::<Json>(line).unwrap()),
            );
        }
    }
    let word = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let row = |row: Json| (word(&row[3]), word(&row[4]));
    rows.into_iter()
        .map(row)
        .filter(|(_, action)| action.starts_with("data."))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_exported_is_refused_and_leaves_no_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let site = Site::new(Backend::Sqlite, false).unwrap();
    let server = site.serve();
    block_in_place(|| server.acme());
    let folder = site.directory.path().join("exports");
    fs::create_dir(&folder).unwrap();
    let to = folder.join("x.tar");
    let refused = |arguments: &[&str]| {
        let mut command = site.command(&["export", "--to"]);
        let output = block_in_place(|| command.arg(&to).args(arguments).output().unwrap());
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for (arguments, said) in [
        (&["flow", "acme/other"][..], "there is no flow acme/other"),
        (&["organization", "other"], "there is no organization other"),
        (
            &["user", "no@acme.example"],
            "there is no user no@acme.example",
        ),
        (&["flow", "acme"], "a flow is named ORG/FLOW"),
        (
            &["flow", "acme/main", "--private"],
            "--private is for an organization",
        ),
    ] {
        let told = refused(arguments);
        assert!(told.contains(said), "{told}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);

    fs::write(&to, "mine").unwrap();
    assert!(refused(&["flow", "acme/main"]).contains("is there already"));
    assert_eq!(fs::read_to_string(&to).unwrap(), "mine");
    let mut command = site.command(&["export", "--overwrite", "--json", "--to"]);
    block_in_place(|| last_line(command.arg(&to).args(["flow", "acme/main"])));
    verify_sound(&to, &[]);
    assert_eq!(
        fs::metadata(&to).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}
