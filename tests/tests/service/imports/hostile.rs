//! Archives that were made to do harm, or are broken: what is wrong is said, and nothing ends badly.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{Backend, Json, Site, block_in_place, json};
use super::{pack, said};
use crate::exports::{entries, fill, pack_tar};

/// JSON that is nested deeper than any reader follows.
fn deep() -> String {
    format!("{}{}", "[".repeat(200_000), "]".repeat(200_000))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_archive_is_refused_with_a_reason() {
    let site = Site::new(Backend::Sqlite, false).unwrap();
    let server = site.serve();
    block_in_place(|| server.acme());
    let zip = |name, entries: &[(&str, Vec<u8>)]| pack(&site, name, entries);
    let write = |name: &str, bytes: &[u8]| {
        let path = site.directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let to = |org| ["--org", org];
    for (archive, arguments, expected) in [
        (
            site.directory.path().join("absent"),
            to("acme").to_vec(),
            "No such file",
        ),
        (
            write("empty", b""),
            to("acme").to_vec(),
            "it is no tar file",
        ),
        (
            write("text", b"hello"),
            to("acme").to_vec(),
            "it is no tar file",
        ),
        (
            write("cut.zip", b"PK\x03\x04 and no more"),
            to("acme").to_vec(),
            "the zip file cannot be read",
        ),
        (
            zip("other.zip", &[("a.txt", b"a".to_vec())]),
            to("acme").to_vec(),
            "is no export of Slack",
        ),
        (
            write("old.jsonl", b"{\"type\":\"version\",\"version\":2}"),
            to("acme").to_vec(),
            "version 1 is",
        ),
        (
            write("other.jsonl", b"{\"a\":1}\n"),
            to("acme").to_vec(),
            "whose first line is",
        ),
        (
            write("deep.jsonl", format!("{{\"type\":{}}}", deep()).as_bytes()),
            to("acme").to_vec(),
            "whose first line is",
        ),
        (
            zip(
                "slack.zip",
                &[
                    ("users.json", b"[]".to_vec()),
                    ("channels.json", b"[]".to_vec()),
                ],
            ),
            to("nowhere").to_vec(),
            "there is no organization nowhere",
        ),
    ] {
        let said = site.refused_import(&archive, &arguments);
        assert!(said.contains(expected), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archive_that_was_altered_is_refused_as_a_whole() {
    let site = Site::new(Backend::Sqlite, false).unwrap();
    let server = site.serve();
    fill(&server).await;
    let (archive, _) = site.export("acme.tar", &["organization", "acme"]);
    let mut altered = entries(&archive);
    let path = altered
        .keys()
        .find(|path| path.ends_with("messages.jsonl"))
        .unwrap()
        .clone();
    let text = String::from_utf8(altered[&path].clone()).unwrap();
    altered.insert(path, text.replacen("hello", "hallo", 1).into_bytes());
    let forged = site.directory.path().join("forged.tar");
    pack_tar(&forged, &altered);
    let said = site.refused_import(&forged, &["--org", "copy"]);
    assert!(said.contains("nothing was imported"), "{said}");
    for (archive, first) in [(&archive, "Verified"), (&forged, "Read")] {
        let verified = eddyline_tests::eddyline()
            .arg("verify")
            .arg(archive)
            .output();
        let printed = String::from_utf8(verified.unwrap().stdout).unwrap();
        let expected = format!("{first} {}", archive.display());
        assert_eq!(printed.lines().next(), Some(&*expected));
    }
    let (user, _) = site.export("ada.tar", &["user", "ada@acme.example"]);
    let said = site.refused_import(&user, &["--org", "acme"]);
    assert!(said.contains("cannot be imported"), "{said}");
    // Into the server that it came from, everything is there already.
    let report = site.import(&archive, &[]);
    assert_eq!(
        (&report["flows"], &report["messages"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(report["left_out"][0]["kind"], "existing_room");
    drop(server);
    site.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_records_are_counted_and_the_rest_comes_in() {
    let site = Site::new(Backend::Sqlite, false).unwrap();
    let server = site.serve();
    let acme = block_in_place(|| server.acme());
    let users = json!([
        {"id": "U1", "name": "ada", "profile": {"email": "ada@acme.example"}},
        {"id": "U2", "name": "x\u{202e}\u{0}y", "profile": {"email": "not an address"}},
        {"id": 7}, "U4", null, [],
    ]);
    let channels = json!([
        {"id": "C1", "name": "../../up", "members": ["U1", "U1", 5, "U9"], "created": 9_000_000_000_000_000_000_u64},
        {"id": "C2", "name": "main", "members": ["U1"]},
    ]);
    let message = |ts: &str, more: Json| {
        let mut message = json!({"user": "U1", "text": ts, "ts": ts});
        message
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        message
    };
    let messages = json!([
        // Each answers the other.
        message(
            "1600000001.000000",
            json!({"thread_ts": "1600000002.000000"})
        ),
        message(
            "1600000002.000000",
            json!({"thread_ts": "1600000001.000000"})
        ),
        // An answer to an answer, and one to nothing.
        message(
            "1600000003.000000",
            json!({"thread_ts": "1600000002.000000"})
        ),
        message(
            "1600000004.000000",
            json!({"thread_ts": "1500000000.000000"})
        ),
        // The same once more.
        message("1600000004.000000", json!({})),
        message("soon", json!({})),
        message(
            "1600000005.000000",
            json!({"text": "&lt;script&gt;a\u{0}b&lt;/script&gt;", "user": 5, "files": 7, "reactions": {}})
        ),
        message("1600000006.000000", json!({"text": "z".repeat(20_000)})),
        message(
            "1600000007.000000",
            json!({"text": "", "files": [{"id": "F1", "name": "../../x", "mimetype": "a\r\nb"}]})
        ),
    ]);
    let archive = pack(
        &site,
        "slack.zip",
        &[
            ("users.json", users.to_string().into_bytes()),
            ("channels.json", channels.to_string().into_bytes()),
            ("main/2020-09-13.json", messages.to_string().into_bytes()),
            ("main/2020-09-14.json", deep().into_bytes()),
            ("main/2020-09-15.json", b"\xff\xfe[".to_vec()),
            ("../../etc/passwd", b"x".to_vec()),
            ("__uploads/F1/../../x", b"x".to_vec()),
            // A megabyte for each kilobyte.
            ("__uploads/F1/zeros", vec![0; 8 << 20]),
        ],
    );
    let report = site.import(&archive, &[]);
    let count = |kind: &str| {
        let left_out = report["left_out"].as_array().unwrap().iter();
        let mut of_kind = left_out.filter(|left_out| left_out["kind"] == kind);
        of_kind
            .next()
            .map_or(0, |left_out| left_out["count"].as_u64().unwrap())
    };
    assert_eq!(report["messages"], 7, "{report:#}");
    assert_eq!(count("missing_parent"), 2, "{report:#}");
    assert_eq!(count("long_text"), 1);
    assert!(count("unreadable_record") >= 7, "{report:#}");
    // There was a flow of that name.
    assert_eq!(count("taken_name"), 1);

    let messages = said(&acme.ada, "/flows/acme/main-2/messages").await;
    assert_eq!(messages[0]["thread"]["internal_comments"], 3);
    assert_eq!(messages[4]["content"], "<script>a\u{fffd}b</script>");
    let parts: usize = messages
        .iter()
        .filter_map(|message| message["content"].as_str())
        .filter(|text| text.starts_with('z'))
        .map(str::len)
        .sum();
    assert_eq!(parts, 20_000, "a long text becomes several messages");
    let file = &messages.last().unwrap()["content"];
    assert_eq!(
        (&file["file_name"], &file["file_size"]),
        (&json!("x"), &json!(8 << 20))
    );
    drop(server);
    site.check();
}

/// Almost 4 MiB, which is the most that one record may have.
const RECORD: usize = (4 << 20) - 1024;

/// A zip file with an entry that repeats a record until it has so many bytes.
fn bomb(
    site: &Site,
    entry: &str,
    bytes: usize,
    (start, record, end): (&str, &str, &str),
) -> PathBuf {
    let records = record.repeat(bytes / record.len());
    let bytes = [start, &records, end].concat().into_bytes();
    let users = ("users.json", b"[]".to_vec());
    let channels = r#"[{"id":"C1","name":"general"}]"#;
    let channels = ("channels.json", channels.as_bytes().to_vec());
    let mut entries = vec![users, channels];
    let is_slack = !entry.ends_with(".jsonl") && !["messages.json", "flows.json"].contains(&entry);
    entries.retain(|(name, _)| is_slack && *name != entry);
    if entry == "flows.json" {
        entries.push(("main/messages.json", b"[]".to_vec()));
    }
    entries.push((entry, bytes));
    pack(site, "bomb.zip", &entries)
}

/// The most memory that a command took, in MiB, as the system reports it while the command runs.
fn peak_of(mut command: Command) -> u64 {
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) / 1024);
        std::thread::yield_now();
    }
    peak
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_archive_takes_bounded_memory() {
    let site = Site::new(Backend::Sqlite, false).unwrap();
    let server = site.serve();
    block_in_place(|| server.acme());
    let list = |record| ("[", record, "{}]");
    let version = "{\"type\":\"version\",\"version\":1}\n";
    let line = |start, record, end| (start, record, end);
    let members = "[0],".repeat(RECORD / 4);
    let flow = format!(
        "{{\"id\":\"\",\"name\":\"\",\"parameterized_name\":\"\",\"users\":[{members}[0]]}},"
    );
    for (entry, content) in [
        ("general/2026-01-01.json", list("{\"ts\":\"1\"},")),
        ("users.json", list("{\"id\":\"\"},")),
        ("channels.json", list("{\"id\":\"\"},")),
        (
            "channels.json",
            line("[{\"id\":\"C1\",\"members\":[", "\"\",", "\"\"]}]"),
        ),
        (
            "general/2026-01-01.json",
            line("[{\"ts\":\"1\",\"files\":[", "{},", "{}]}]"),
        ),
        (
            "messages.json",
            list("{\"id\":1,\"event\":\"message\",\"sent\":1,\"content\":\"a\"},"),
        ),
        (
            "export.jsonl",
            line(
                version,
                "{\"type\":\"bot\",\"bot\":{\"username\":\"\"}}\n",
                "",
            ),
        ),
        (
            "export.jsonl",
            line(
                version,
                "{\"type\":\"user\",\"user\":{\"username\":\"\"}}\n",
                "",
            ),
        ),
        (
            "flows.json",
            line(
                "[",
                &flow,
                "{\"id\":\"1\",\"name\":\"\",\"parameterized_name\":\"\"}]",
            ),
        ),
    ] {
        // Each of the lists of members would take more memory than its text.
        let bytes = if entry == "flows.json" {
            12 * RECORD
        } else {
            RECORD
        };
        let archive = bomb(&site, entry, bytes, content);
        assert!(
            fs::metadata(&archive).unwrap().len() < 128 * 1024,
            "{entry}"
        );
        let mut command = site.command(&["import", "--dry-run", "--org", "acme"]);
        command.arg(&archive);
        let peak = block_in_place(|| peak_of(command));
        assert!(
            (1..224).contains(&peak),
            "{entry} {}: {peak} MiB",
            content.0
        );
    }
}
