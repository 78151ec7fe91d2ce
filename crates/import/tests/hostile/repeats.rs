//! What an archive says again and again comes in once, and an import that was interrupted goes on.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use eddyline_archive::{ExportKey, ExportScope, ExportWriter, ScopeKind, paths};
use eddyline_import::{ArchiveFormat, Error, ImportReport, ImportTarget, LeftOutKind, import};
use eddyline_storage::Store;
use serde_json::{Value, json};

use crate::foreign::pack;
use crate::tables::{self, Tables, number, rows};
use crate::tenants::{Tenants, leave, post_as};
use crate::{Place, postgres, sqlite};

/// A server with its tenants, on each database.
struct Server {
    place: Place,
    store: Store,
}

impl Server {
    async fn each() -> Vec<Self> {
        let mut servers = Vec::new();
        for place in [sqlite(), postgres()].into_iter().flatten() {
            let store = Store::open(&place.url).unwrap();
            Tenants::make(&store).await;
            servers.push(Self { place, store });
        }
        servers
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.folder.path().join(name)
    }

    /// Imports an archive, whose files may have so many bytes.
    async fn import_up_to(
        &self,
        organization: &str,
        archive: &Path,
        format: ArchiveFormat,
        max_file_bytes: u64,
    ) -> Result<ImportReport, Error> {
        let target = ImportTarget {
            store: self.store.clone(),
            files: eddyline_files::Files::in_folder(&self.path("files")).unwrap(),
            organization: organization.to_owned(),
            max_file_bytes,
            parent: None,
            invites: None,
            is_dry_run: false,
        };
        import(target, archive.to_owned(), Some(format), |_| ()).await
    }

    async fn import(
        &self,
        organization: &str,
        archive: &Path,
        format: ArchiveFormat,
    ) -> ImportReport {
        let imported = self.import_up_to(organization, archive, format, 1 << 20);
        imported.await.unwrap()
    }

    /// Imports an export of Slack into Acme.
    async fn import_slack(&self, archive: &Path) -> ImportReport {
        self.import("acme", archive, ArchiveFormat::Slack).await
    }

    fn tables(&self) -> Tables {
        tables::read(&self.store)
    }
}

fn count(report: &ImportReport, kind: LeftOutKind) -> u64 {
    let mut of_kind = report
        .left_out
        .iter()
        .filter(|left_out| left_out.kind == kind);
    of_kind.next().map_or(0, |left_out| left_out.count)
}

/// The rows of a table for a room that was not there before.
fn of_new_rooms(before: &Tables, after: &Tables, table: &str) -> usize {
    let rooms = |tables| -> BTreeSet<i64> {
        let rooms = rows(tables, "rooms");
        rooms.filter_map(|row| number(row, "id")).collect()
    };
    let known = rooms(before);
    let is_new = |row: &&tables::Row| number(row, "room_id").is_some_and(|id| !known.contains(&id));
    rows(after, table).filter(is_new).count()
}

fn slack_user(id: &str, email: &str) -> Value {
    json!({"id": id, "name": id, "profile": {"email": email}})
}

fn slack(path: &Path, users: &[Value], channels: &Value, messages: &Value) {
    let entries = [
        ("users.json", json!(users)),
        ("channels.json", json!([])),
        ("groups.json", channels.clone()),
        ("board/2026-01-01.json", messages.clone()),
    ];
    pack(path, &entries.map(|(name, json)| (name.to_owned(), json)));
}

/// An archive in the own format that is being written.
struct Own(ExportWriter<File>);

impl Own {
    fn begin(path: &Path, kind: ScopeKind, people: &[&str]) -> Self {
        let scope = ExportScope {
            kind,
            name: "acme".to_owned(),
            private_conversations: kind == ScopeKind::Organization,
        };
        let mut this = Self(ExportWriter::begin(File::create(path).unwrap(), scope));
        let people: Vec<Value> = (1..)
            .zip(people)
            .map(|(number, email)| {
                json!({"number": number, "email": email, "email_proved": true, "name": email, "nick": email,
                    "active": true, "created_at": 1})
            })
            .collect();
        this.chain(paths::PEOPLE, &people);
        this
    }

    fn chain(&mut self, path: &str, records: &[Value]) {
        let mut chain = self.0.chain(path).unwrap();
        for record in records {
            chain.record(record).unwrap();
        }
        chain.finish().unwrap();
    }

    fn organization(&mut self, name: &str, more: &Value) {
        let mut organization = json!({
            "name": name, "parameterized_name": name, "names": [name], "user_limit": 50, "active": true,
            "created_at": 1, "members": [{"person": 1}, {"person": 2}], "groups": [],
        });
        let fields = organization.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        self.0.record(paths::ORGANIZATION, &organization).unwrap();
    }

    fn room(&mut self, folder: &str, name: &str, record: &Value, messages: &[Value]) {
        let path = format!("{folder}/{name}");
        self.0.record(&path, record).unwrap();
        self.chain(&format!("{folder}/threads.jsonl"), &[]);
        self.chain(&format!("{folder}/messages.jsonl"), messages);
    }

    fn finish(self) {
        self.0.finish(&ExportKey::derive(b"a stranger")).unwrap();
    }
}

fn member(person: usize) -> Value {
    json!({"person": person, "open": true, "read_up_to": 0, "inbox_read_up_to": 0})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_who_is_named_many_times_comes_in_once() {
    const TIMES: usize = 100_000;
    for server in Server::each().await {
        let archive = server.path("slack.zip");
        let members = vec!["U1"; TIMES];
        let channels = json!([{"id": "C1", "name": "board", "members": members}]);
        let users = [slack_user("U1", "ada@acme.example")];
        slack(&archive, &users, &channels, &json!([]));
        let before = server.tables();
        server.import_slack(&archive).await;
        let after = server.tables();
        assert_eq!(of_new_rooms(&before, &after, "room_members"), 1);
        assert_eq!(of_new_rooms(&before, &after, "event_log"), 2);

        let archive = server.path("own.tar");
        let people = ["ada@acme.example", "ADA@acme.example", "bob@acme.example"];
        let mut own = Own::begin(&archive, ScopeKind::Flow, &people);
        let mut members = vec![member(1); TIMES];
        members.push(member(2));
        let former = vec![json!({"person": 3, "name": "Bob", "nick": "bob"}); TIMES];
        let flow = json!({
            "id": "1-2", "organization": "acme", "name": "Own", "parameterized_name": "own",
            "access_mode": "organization", "created_at": 1, "last_message": 0, "members": members,
            "former_members": former,
        });
        own.room("flows/1-2", "flow.json", &flow, &[]);
        own.finish();
        let before = server.tables();
        let report = server
            .import("acme", &archive, ArchiveFormat::Eddyline)
            .await;
        assert_eq!(report.flows, 1);
        let after = server.tables();
        assert_eq!(of_new_rooms(&before, &after, "room_members"), 1);
        assert_eq!(of_new_rooms(&before, &after, "former_members"), 1);
        assert_eq!(of_new_rooms(&before, &after, "event_log"), 2);
    }
}

/// A flow of more members than one transaction writes has all of them, and the former ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_members_come_in_by_parts() {
    const MANY: usize = 600;
    for server in Server::each().await {
        let archive = server.path("slack.zip");
        let id = |number: usize| format!("U{number}");
        let users: Vec<Value> = (0..2 * MANY)
            .map(|number| slack_user(&id(number), &format!("u{number}@acme.example")))
            .collect();
        let members: Vec<String> = (0..MANY).map(id).collect();
        let channels = json!([{"id": "C1", "name": "board", "members": members}]);
        let said =
            |number| json!({"ts": format!("{}.0", number + 1), "user": id(number), "text": "a"});
        let messages: Vec<Value> = (0..2 * MANY).map(said).collect();
        slack(&archive, &users, &channels, &json!(messages));
        let before = server.tables();
        server.import_slack(&archive).await;
        let after = server.tables();
        assert_eq!(of_new_rooms(&before, &after, "room_members"), MANY);
        assert_eq!(of_new_rooms(&before, &after, "former_members"), MANY);
        // One for each member, and one for the flow.
        assert_eq!(of_new_rooms(&before, &after, "event_log"), MANY + 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_goes_on_where_users_have_taken_a_uuid_meanwhile() {
    for server in Server::each().await {
        let archive = server.path("own.tar");
        let people = ["bob@acme.example", "mal@acme.example"];
        let mut own = Own::begin(&archive, ScopeKind::Organization, &people);
        own.organization("acme", &json!({}));
        let mut messages: Vec<Value> = (1..=600)
            .map(|id| {
                json!({"id": id, "event": "message", "author": 2, "to": 1, "sent": 1, "content": "said before",
                    "uuid": format!("u-{id}")})
            })
            .collect();
        let bytes = [b'x'; 2000];
        let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
        let digest = <[u8; 32]>::try_from(digest.as_ref()).unwrap();
        messages[399]["event"] = json!("file");
        messages[399]["content"] = json!({"path": "/files/00000000000000000000000000000001/a.bin"});
        messages[399]["files"] = json!([{"id": "00000000000000000000000000000001", "name": "a.bin",
            "content_type": "application/octet-stream", "size": bytes.len(), "sha256": eddyline_random::to_hex(&digest)}]);
        let record = json!({"last_message": 600, "members": [member(1), member(2)]});
        own.room("conversations/1-2", "conversation.json", &record, &messages);
        own.0.file(digest, bytes.len() as u64, &bytes[..]).unwrap();
        own.finish();
        let format = ArchiveFormat::Eddyline;
        let interrupted = server.import_up_to("acme", &archive, format, 1000).await;
        assert!(matches!(interrupted, Err(Error::NoRoomForFiles)));
        post_as(
            &server.store,
            "mal@acme.example",
            "bob@acme.example",
            "u-550",
        )
        .await;
        let report = server.import("acme", &archive, format).await;
        assert_eq!(report.messages + report.known_messages, 600);
        let tables = server.tables();
        let of = |uuid: &str| -> Vec<String> {
            let with = rows(&tables, "messages").filter(|row| row["uuid"] == uuid);
            with.map(|row| row["content"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(of("u-549"), ["said before"]);
        assert_eq!(of("u-550"), ["said afterwards"]);
        let again = server.import("acme", &archive, format).await;
        assert_eq!((again.messages, again.known_messages), (0, 600));
    }
}

/// Members decide about a flow as soon as they are in it, also before the import of it has ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_left_an_unfinished_flow_stays_away() {
    for server in Server::each().await {
        let archive = server.path("slack.zip");
        let emails = ["ada", "bob", "mal"].map(|name| format!("{name}@acme.example"));
        let users = [("U1", &emails[0]), ("U2", &emails[1]), ("U3", &emails[2])];
        let users = users.map(|(id, email)| slack_user(id, email));
        let channels = json!([{"id": "G1", "name": "board", "members": ["U1", "U2", "U3"]}]);
        let file = json!([{"id": "F1", "name": "a.bin"}]);
        let messages = json!([{"ts": "1.0", "user": "U1", "text": "a", "files": file}]);
        let entries = [
            ("users.json", json!(users)),
            ("channels.json", json!([])),
            ("groups.json", channels),
            ("board/2026-01-01.json", messages),
            ("__uploads/F1/a.bin", json!("x".repeat(2000))),
        ];
        pack(
            &archive,
            &entries.map(|(name, json)| (name.to_owned(), json)),
        );
        let before = server.tables();
        let format = ArchiveFormat::Slack;
        let interrupted = server.import_up_to("acme", &archive, format, 1000).await;
        assert!(matches!(interrupted, Err(Error::NoRoomForFiles)));
        leave(&server.store, "acme", "board", &emails[2]).await;
        server.import_slack(&archive).await;
        let after = server.tables();
        assert_eq!(of_new_rooms(&before, &after, "room_members"), 2);
        assert_eq!(of_new_rooms(&before, &after, "former_members"), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archive_invites_into_the_flows_that_it_has_completed() {
    for server in Server::each().await {
        let users = [
            slack_user("U1", "ada@acme.example"),
            slack_user("U2", "vic@beta.example"),
        ];
        let channels = json!([{"id": "G1", "name": "board", "members": ["U2", "U1", "U2", "U2"]}]);
        let said = |text: &str| json!([{"ts": "1.0", "user": "U1", "text": text}]);
        let archive = server.path("slack.zip");
        slack(&archive, &users, &channels, &said("a"));
        for _ in 0..2 {
            let report = server.import_slack(&archive).await;
            let [invitations] = &report.invitations[..] else {
                panic!("{report:?}");
            };
            assert_eq!(invitations.flow, "board");
            assert_eq!(invitations.addresses, ["vic@beta.example"]);
        }
        // The members decide by now who else reads it.
        slack(&archive, &users, &channels, &said("b"));
        let report = server.import_slack(&archive).await;
        assert_eq!(report.invitations, []);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_channel_that_is_listed_twice_is_one_flow() {
    for server in Server::each().await {
        let archive = server.path("slack.zip");
        let first = json!({"id": "C1", "name": "board", "members": ["U1"]});
        let channels = json!([first, {"id": "C1", "name": "other"}, {"id": "C1"}]);
        let users = [slack_user("U1", "ada@acme.example")];
        slack(
            &archive,
            &users,
            &channels,
            &json!([{"ts": "1.0", "user": "U1", "text": "a"}]),
        );
        let report = server.import_slack(&archive).await;
        assert_eq!((report.flows, report.messages), (1, 1));
        assert_eq!(count(&report, LeftOutKind::UnreadableRecord), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organization_has_places_for_its_people_and_groups_up_to_a_number() {
    for server in Server::each().await {
        let archive = server.path("own.tar");
        let people = ["one@nowhere.example", "two@nowhere.example"];
        let mut own = Own::begin(&archive, ScopeKind::Organization, &people);
        let members: Vec<Value> = (0..20_000)
            .flat_map(|number| [json!({"person": number}), json!({"person": 1})])
            .collect();
        let groups: Vec<Value> = (0..800)
            .map(|number| json!({"name": format!("g{number}"), "created_at": 1, "people": [1, 2]}))
            .collect();
        let more = json!({"user_limit": 1_000_000, "members": members, "groups": groups});
        own.organization("evil", &more);
        own.finish();
        let report = server
            .import("evil", &archive, ArchiveFormat::Eddyline)
            .await;
        assert_eq!(report.new_people, 2);
        // The groups beyond five hundred, and the places beyond ten thousand.
        assert_eq!(count(&report, LeftOutKind::BeyondLimit), 301);
        let tables = server.tables();
        let mut made = rows(&tables, "organizations").filter(|row| row["name"] == "evil");
        assert_eq!(number(made.next().unwrap(), "user_limit"), Some(10_000));
        assert_eq!(rows(&tables, "user_groups").count(), 2 + 500);
    }
}
