//! Untrusted archives: they reach no user and no data beyond the organization that they go into.

use std::fs::File;
use std::path::{Path, PathBuf};

use eddyline_archive::{ExportKey, ExportScope, ExportWriter, ScopeKind, paths};
use eddyline_tests::{Acme, PASSWORD, Server};

use super::{Backend, Caller, Json, Method, Site, block_in_place, json};
use super::{pack, said};

/// The last number that there is.
const LAST: i64 = i64::MAX;

/// An archive of an organization or a flow, as an attacker writes it.
struct Forgery {
    archive: ExportWriter<File>,
    path: PathBuf,
}

impl Forgery {
    fn new(site: &Site, kind: ScopeKind, people: &[Json]) -> Self {
        let path = site.directory.path().join("forged.tar");
        let scope = ExportScope {
            kind,
            name: "acme".to_owned(),
            private_conversations: kind == ScopeKind::Organization,
        };
        let mut this = Self {
            archive: ExportWriter::begin(File::create(&path).unwrap(), scope),
            path,
        };
        this.chain(paths::PEOPLE, people);
        this
    }

    fn chain(&mut self, path: &str, records: &[Json]) {
        let mut chain = self.archive.chain(path).unwrap();
        for record in records {
            chain.record(record).unwrap();
        }
        chain.finish().unwrap();
    }

    /// Adds an organization that all of these people administer.
    fn organization(&mut self, people: u32, more: &Json) {
        let members: Vec<Json> = (1..=people)
            .map(|person| json!({"person": person, "administrator": true}))
            .collect();
        let mut organization = json!({
            "name": "Evil", "parameterized_name": "evil", "names": ["evil"], "user_limit": 50, "active": true,
            "created_at": 1, "members": members, "groups": [],
        });
        let fields = organization.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        self.archive
            .record(paths::ORGANIZATION, &organization)
            .unwrap();
    }

    fn conversation(&mut self, last: i64, messages: &[Json]) {
        let folder = "conversations/1-2";
        let record = json!({"last_message": last, "members": [member(1), member(2)]});
        self.room(folder, "conversation.json", &record, &[], messages);
    }

    fn flow(&mut self, more: &Json, threads: &[Json], messages: &[Json]) {
        let mut flow = json!({
            "id": "11111111-2222", "organization": "acme", "name": "Forged", "parameterized_name": "forged",
            "access_mode": "organization", "created_at": 1, "last_message": messages.len(), "members": [member(1)],
        });
        let fields = flow.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        self.room("flows/11111111-2222", "flow.json", &flow, threads, messages);
    }

    fn room(
        &mut self,
        folder: &str,
        name: &str,
        record: &Json,
        threads: &[Json],
        messages: &[Json],
    ) {
        self.archive
            .record(&format!("{folder}/{name}"), record)
            .unwrap();
        self.chain(&format!("{folder}/threads.jsonl"), threads);
        self.chain(&format!("{folder}/messages.jsonl"), messages);
    }

    fn finish(self) -> PathBuf {
        self.archive
            .finish(&ExportKey::derive(b"a stranger"))
            .unwrap();
        self.path
    }
}

fn person(number: u32, email: &str) -> Json {
    json!({"number": number, "email": email, "email_proved": true, "name": format!("Forged {number}"),
        "nick": format!("forged{number}"), "active": true, "created_at": 1})
}

fn member(person: u32) -> Json {
    json!({"person": person, "open": true, "read_up_to": 0, "inbox_read_up_to": 0})
}

fn message(id: i64, author: u32, text: &str) -> Json {
    json!({"id": id, "event": "message", "author": author, "sent": 1_700_000_000_000_i64, "content": text})
}

/// Two members of another organization, who have talked.
async fn rivals(server: &Server) -> (Acme, Caller, Caller) {
    let (acme, xena, yoko) = block_in_place(|| {
        let acme = server.acme();
        server.organization("rivals");
        let [xena, yoko] = ["xena", "yoko"].map(|nick| server.user("rivals", nick));
        (acme, xena, yoko)
    });
    talk(&xena, &yoko, "lunch?").await;
    (acme, xena, yoko)
}

async fn talk(from: &Caller, to: &Caller, text: &str) {
    post(from, &format!("/private/{}/messages", to.id), text).await;
}

async fn post(from: &Caller, path: &str, text: &str) {
    let message = json!({"event": "message", "content": text});
    let posted = from.send(Method::POST, path, &message).await;
    assert!(posted.status.is_success(), "{}", posted.text());
}

async fn heard(of: &Caller, with: &Caller) -> Vec<String> {
    let messages = said(of, &format!("/private/{}/messages", with.id)).await;
    let texts = messages.iter().map(|message| message["content"].as_str());
    texts.map(|text| text.unwrap().to_owned()).collect()
}

async fn organizations(of: &Caller) -> Vec<Json> {
    let all = of.get("/organizations").await;
    let all = all.as_array().unwrap().iter();
    all.map(|one| one["parameterized_name"].clone()).collect()
}

/// Returns what is left out, as kind and count.
fn left_out(report: &Json) -> Vec<(String, u64)> {
    let all = report["left_out"].as_array().unwrap().iter();
    all.map(|one| {
        let kind = one["kind"].as_str().unwrap().to_owned();
        (kind, one["count"].as_u64().unwrap())
    })
    .collect()
}

fn one(kind: &str) -> (String, u64) {
    (kind.to_owned(), 1)
}

impl Site {
    /// The lines of JSON that an import prints.
    fn import_lines(&self, archive: &Path, arguments: &[&str]) -> Vec<Json> {
        let mut command = self.command(&["import", "--json", "--org", "acme"]);
        let output = block_in_place(|| command.arg(archive).args(arguments).output().unwrap());
        assert!(output.status.success(), "{output:?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let lines = printed.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// A site on each database that is available.
fn sites() -> impl Iterator<Item = Site> {
    let backends = [Backend::Sqlite, Backend::Postgres];
    backends
        .into_iter()
        .filter_map(|backend| Site::new(backend, false))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_of_another_organization_stay_there_and_say_nothing() {
    for site in sites() {
        let server = site.serve();
        let (acme, xena, yoko) = rivals(&server).await;
        let people = [
            person(1, "XENA@rivals.example"),
            person(2, "yoko@Rivals.example"),
            person(3, &acme.ada.email),
        ];
        let mut forgery = Forgery::new(&site, ScopeKind::Organization, &people);
        let groups = json!([{"name": "Crew", "created_at": 1, "people": [1, 2]}]);
        forgery.organization(2, &json!({"groups": groups}));
        forgery.conversation(1, &[message(1, 2, "pay invoice 4711 today")]);
        let mut in_flow = message(1, 2, "I resign");
        in_flow["tags"] = json!([":user:1", ":unread:1"]);
        in_flow["reactions"] = json!([{"emoji": "\u{1f44d}", "people": [1]}]);
        let former = json!([{"person": 2, "name": "x", "nick": "x"}]);
        let flow =
            json!({"creator": 1, "members": [member(1), member(3)], "former_members": former});
        forgery.flow(&flow, &[], &[in_flow]);
        let archive = forgery.finish();
        for arguments in [&["--dry-run"][..], &[]] {
            let lines = site.import_lines(&archive, arguments);
            assert_eq!(lines[0]["progress"], "people", "{lines:#?}");
            let elsewhere = ["XENA@rivals.example", "yoko@Rivals.example"];
            assert_eq!(
                lines[0]["people"],
                json!([
                    {"relation": "elsewhere", "count": 2, "first": elsewhere},
                    {"relation": "member", "count": 1, "first": [acme.ada.email]},
                ])
            );
            let report = lines.last().unwrap();
            assert_eq!(
                left_out(report),
                [("elsewhere_person".to_owned(), 2), one("conversation")]
            );
            assert_eq!(
                (&report["known_people"], &report["new_people"]),
                (&json!(1), &json!(0))
            );
        }
        for caller in [&xena, &yoko] {
            assert_eq!(organizations(caller).await, ["rivals"]);
        }
        assert_eq!(heard(&yoko, &xena).await, ["lunch?"]);
        let users = acme.ada.get("/flows/acme/forged/users").await;
        assert_eq!(users.as_array().unwrap().len(), 1, "{users:#}");
        let messages = said(&acme.ada, "/flows/acme/forged/messages").await;
        assert_eq!(messages[0]["user"], "0");
        assert_eq!(messages[0]["external_user_name"], "Forged 2");
        assert_eq!(messages[0]["emojiReactions"], json!({}));
        let mentioned = format!(":user:{}", xena.id);
        assert!(!messages[0]["tags"].to_string().contains(&mentioned));
        drop(server);
        site.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zip_file_of_another_program_reaches_no_further() {
    for site in sites() {
        let server = site.serve();
        let (acme, xena, yoko) = rivals(&server).await;
        let user = |id: &str, email: &str| json!({"id": id, "name": id, "profile": {"email": email, "real_name": format!("{id} of Slack")}});
        let users = json!([
            user("U1", &xena.email),
            user("U2", &yoko.email),
            user("U3", &acme.ada.email)
        ]);
        let channels =
            json!([{"id": "C1", "name": "general", "members": ["U1", "U3"], "creator": "U1"}]);
        let forged = json!([{"type": "message", "user": "U1", "ts": "1600000001.000000", "text": "never said <@U2>",
            "reactions": [{"name": "thumbsup", "users": ["U2"]}]}]);
        let entries = [
            ("users.json", users),
            ("channels.json", channels),
            ("dms.json", json!([{"id": "D1", "members": ["U1", "U2"]}])),
            ("D1/2020-09-13.json", forged.clone()),
            ("general/2020-09-13.json", forged),
        ];
        let entries = entries.map(|(name, json)| (name, json.to_string().into_bytes()));
        let archive = pack(&site, "slack.zip", &entries);
        let report = site.import(&archive, &["--invite"]);
        let left_out = left_out(&report);
        for kind in [("elsewhere_person".to_owned(), 2), one("conversation")] {
            assert!(left_out.contains(&kind), "{report:#}");
        }
        assert_eq!(heard(&yoko, &xena).await, ["lunch?"]);
        let messages = said(&acme.ada, "/flows/acme/general/messages").await;
        assert_eq!(messages[0]["content"], "never said U2 of Slack");
        assert_eq!(messages[0]["external_user_name"], "U1 of Slack");

        // The one whom a flow names is invited, and comes in by accepting.
        assert_eq!(report["invited"], 1);
        let invitations = acme.ada.get("/flows/acme/general/invitations").await;
        assert_eq!(
            invitations[0]["email"],
            xena.email.as_str(),
            "{invitations:#}"
        );
        server.letter(&xena.email, 1).await;
        assert!(server.letters_to(&yoko.email).is_empty());
        let accept = format!("/flows/acme/general/invitations/{}", invitations[0]["id"]);
        xena.does(Method::PUT, &accept, &json!({"state": "accepted"}))
            .await;
        assert_eq!(organizations(&xena).await.len(), 2);
        drop(server);
        site.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_who_belong_elsewhere_too_keep_their_conversations_to_themselves() {
    for site in sites() {
        let server = site.serve();
        let (acme, xena, _) = rivals(&server).await;
        block_in_place(|| {
            let join = ["user", "create", "--org", "acme", "--email", &xena.email];
            server.admin(&[&join[..], &["--name", "Xena", "--nick", "xena"]].concat());
        });
        let people = [person(1, &xena.email), person(2, &acme.ada.email)];
        let mut forgery = Forgery::new(&site, ScopeKind::Organization, &people);
        forgery.organization(2, &json!({}));
        forgery.conversation(1, &[message(1, 2, "never said")]);
        let report = site.import(&forgery.finish(), &[]);
        assert_eq!(report["known_people"], 2, "{report:#}");
        assert_eq!(left_out(&report), [one("conversation")]);
        assert!(heard(&xena, &acme.ada).await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_at_their_end_end_no_room() {
    for site in sites() {
        let server = site.serve();
        let acme = block_in_place(|| server.acme());
        talk(&acme.ben, &acme.ada, "before").await;
        let people = [person(1, &acme.ada.email), person(2, &acme.ben.email)];
        let mut forgery = Forgery::new(&site, ScopeKind::Organization, &people);
        forgery.organization(2, &json!({}));
        forgery.conversation(LAST, &[]);
        let threads = [
            json!({"id": 1, "inbox": true, "external_id": "q", "activities": LAST, "internal_comments": LAST,
                "external_comments": LAST, "created_at": LAST, "updated_at": LAST, "item_message": -3, "item_from": LAST}),
            json!({"id": -7, "inbox": true, "created_at": 1, "updated_at": 1}),
            json!({"id": LAST, "inbox": true, "created_at": 1, "updated_at": 1}),
        ];
        let mut first = message(1, 2, "hi");
        first["sent"] = json!(LAST);
        first["thread"] = json!(1);
        let last = message(LAST, 2, "last");
        let read = json!({"person": 1, "open": true, "read_up_to": LAST, "inbox_read_up_to": -5});
        forgery.flow(
            &json!({"last_message": 1_000_001, "members": [read, member(2)]}),
            &threads,
            &[first, last],
        );
        let report = site.import(&forgery.finish(), &[]);
        assert_eq!(
            left_out(&report),
            [one("room_numbers"), ("unreadable_record".to_owned(), 3)],
            "{report:#}"
        );
        for path in [
            "/flows",
            "/flows/acme/forged/messages",
            "/flows/acme/forged/threads?empty=1",
            "/private",
        ] {
            acme.ada.get(path).await;
        }
        let posted = acme.ada.say("acme/forged", "afterwards").await;
        assert_eq!(posted["id"], 1_000_002);
        let answer = json!({"event": "comment", "content": "an answer"});
        let path = "/flows/acme/forged/messages/1/comments";
        acme.ben.does(Method::POST, path, &answer).await;
        acme.ada.get("/flows/acme/forged/threads?empty=1").await;
        talk(&acme.ada, &acme.ben, "after").await;
        assert_eq!(heard(&acme.ada, &acme.ben).await, ["before", "after"]);

        let mut forgery = Forgery::new(&site, ScopeKind::Organization, &people);
        forgery.organization(2, &json!({}));
        forgery.flow(
            &json!({"id": "beyond", "last_message": 1_000_002}),
            &[],
            &[message(1, 1, "a")],
        );
        let report = site.import(&forgery.finish(), &[]);
        assert_eq!(left_out(&report), [one("room_numbers")]);
        drop(server);
        site.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_application_signs_what_an_archive_names() {
    for site in sites() {
        let server = site.serve();
        let acme = block_in_place(|| {
            let acme = server.acme();
            let uri = ["--redirect-uri", "https://tracker.example/cb"];
            let name = ["app", "create", "--org", "acme", "--name", "Tracker"];
            server.admin(&[&name, &uri[..]].concat());
            acme
        });
        let action = json!({"@type": "UpdateAction", "name": "Approve", "target": {"@type": "EntryPoint",
            "urlTemplate": "https://attacker.example/x", "httpMethod": "POST"}});
        let item = json!({"title": "Holiday", "body": "", "actions": [action], "fields": []});
        let filed = json!({"id": 1, "event": "activity", "external_name": "Tracker", "sent": 1_700_000_000_000_i64, "thread": 1,
            "content": {"title": "filed", "thread": item}});
        let thread = json!({"id": 1, "inbox": true, "source": 1, "external_id": "1", "activities": 1, "created_at": 1,
            "updated_at": 1, "item_message": 1, "item_from": 1, "item": item});
        let source =
            json!({"number": 1, "name": "Tracker", "application": "Tracker", "created_at": 1});
        let import = |id: &str, sources: &[Json], threads: &[Json], messages: &[Json]| {
            let mut forgery = Forgery::new(&site, ScopeKind::Flow, &[person(1, &acme.ben.email)]);
            let flow = json!({"id": id, "parameterized_name": id, "sources": sources});
            forgery.flow(&flow, threads, messages);
            let report = site.import(&forgery.finish(), &[]);
            assert_eq!(report["messages"], messages.len(), "{report:#}");
        };
        for id in ["one", "two"] {
            import(
                id,
                std::slice::from_ref(&source),
                std::slice::from_ref(&thread),
                std::slice::from_ref(&filed),
            );
            let threads = acme.ben.get(&format!("/flows/acme/{id}/threads")).await;
            let path = format!(
                "/flows/acme/{id}/threads/{}/actions/0",
                threads[0]["id"].as_str().unwrap()
            );
            let pressed = acme.ben.send(Method::POST, &path, &json!({})).await;
            assert_eq!(pressed.status, 424, "{}", pressed.text());
            assert!(
                pressed.text().contains("has no secret"),
                "{}",
                pressed.text()
            );
        }
        // One application stands for it in all archives, and gets no secret either.
        let apps = block_in_place(|| server.admin(&["app", "list", "--org", "acme"]));
        let apps = apps["applications"].as_array().unwrap();
        let public: Vec<bool> = apps
            .iter()
            .map(|app| app["public"].as_bool().unwrap())
            .collect();
        assert_eq!(public, [false, true], "{apps:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archive_names_no_organization_above_and_proves_no_address() {
    for site in sites() {
        let server = site.serve();
        block_in_place(|| {
            server.organization("rivals");
            server.admin(&[
                "org",
                "domain",
                "add",
                "--org",
                "rivals",
                "--domain",
                "rivals.example",
            ]);
        });
        let people = [
            person(1, "eve@evil.example"),
            person(2, "ceo@rivals.example"),
        ];
        let forge = || {
            let mut forgery = Forgery::new(&site, ScopeKind::Organization, &people);
            let limit = json!({"parent": "rivals", "user_limit": LAST, "names": ["evil", "rivals", "../x", "was-evil"]});
            forgery.organization(2, &limit);
            forgery.finish()
        };
        let made = |name: &str, more: &[&str]| {
            let mut command = site.command(&["import", "--json", "--org", name]);
            command.arg(forge()).args(more);
            block_in_place(|| crate::backup::last_line(&mut command))
        };
        let report = made("evil", &[]);
        assert_eq!(
            left_out(&report),
            [
                one("another_domain"),
                one("parent"),
                one("beyond_limit"),
                ("taken_name".to_owned(), 2)
            ],
            "{report:#}"
        );
        let shown = block_in_place(|| server.admin(&["org", "show", "--org", "evil"]));
        assert_eq!(shown["parent"], Json::Null, "{shown:#}");
        assert_eq!(shown["user_limit"], 10_000);
        let users = block_in_place(|| server.admin(&["user", "list", "--org", "evil"]));
        assert_eq!(users["users"].as_array().unwrap().len(), 1, "{users:#}");

        // The parent that the operator names counts.
        let report = made("below", &["--parent", "rivals"]);
        assert!(!left_out(&report).contains(&one("parent")), "{report:#}");
        let shown = block_in_place(|| server.admin(&["org", "show", "--org", "below"]));
        assert_eq!(shown["parent"], "rivals", "{shown:#}");
        let users = block_in_place(|| server.admin(&["user", "list", "--org", "below"]));
        assert!(
            users.to_string().contains("ceo@rivals.example"),
            "{users:#}"
        );
        let refused = site.refused_import(&forge(), &["--org", "evil", "--parent", "rivals"]);
        assert!(refused.contains("--parent"), "{refused}");
        drop(server);
        site.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_is_too_long_is_cut() {
    for site in sites() {
        let server = site.serve();
        let acme = block_in_place(|| server.acme());
        let mut forgery = Forgery::new(&site, ScopeKind::Flow, &[person(1, &acme.ada.email)]);
        let whole = "é".repeat(8_096);
        let messages = [message(1, 1, &whole), message(2, 1, &format!("{whole}x"))];
        forgery.flow(&json!({}), &[], &messages);
        let report = site.import(&forgery.finish(), &[]);
        assert_eq!(left_out(&report), [one("shortened_text")]);
        for message in said(&acme.ada, "/flows/acme/forged/messages").await {
            assert_eq!(message["content"], whole.as_str());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_keeps_its_name_in_notes_and_no_other_takes_it() {
    for site in sites() {
        let server = site.serve();
        let acme = block_in_place(|| server.acme());
        let people = [person(1, &acme.ada.email), person(2, &acme.ben.email)];
        let mut forgery = Forgery::new(&site, ScopeKind::Organization, &people);
        forgery.organization(2, &json!({}));
        forgery.conversation(1, &[message(1, 2, "said by ben")]);
        site.import(&forgery.finish(), &[]);
        // Notes of imports call the conversation by the numbers of the two.
        let (low, high) = (acme.ada.id.min(acme.ben.id), acme.ada.id.max(acme.ben.id));
        let cleo = block_in_place(|| server.user("acme", "cleo"));
        let mut forgery = Forgery::new(&site, ScopeKind::Flow, &[person(1, &cleo.email)]);
        forgery.flow(
            &json!({"id": format!("{low}-{high}")}),
            &[],
            &[message(1, 1, "let me in")],
        );
        site.import(&forgery.finish(), &[]);
        assert_eq!(heard(&acme.ada, &acme.ben).await, ["said by ben"]);
        drop(server);
        site.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_may_be_taken_back_gets_no_account() {
    for site in sites() {
        let server = site.serve();
        let (acme, xena, _) = rivals(&server).await;
        let change = json!({"email": "thief@evil.example", "current_password": PASSWORD});
        let changed = xena.send(Method::PUT, "/user", &change).await;
        assert!(changed.status.is_success(), "{}", changed.text());
        let people = [person(1, &xena.email), person(2, &acme.ada.email)];
        let mut forgery = Forgery::new(&site, ScopeKind::Flow, &people);
        forgery.flow(&json!({}), &[], &[message(1, 1, "hi")]);
        let report = site.import(&forgery.finish(), &[]);
        assert_eq!(left_out(&report), [one("unproved_address")]);
        assert_eq!(report["new_people"], 0, "{report:#}");
    }
}

/// An archive of the flow `forged` that cannot be imported to its end: a thread cannot be read.
fn broken(site: &Site, acme: &Acme) -> PathBuf {
    let mut forgery = Forgery::new(site, ScopeKind::Flow, &[person(1, &acme.ben.email)]);
    let threads = [json!({"id": "one"})];
    forgery.flow(
        &json!({"last_message": 1}),
        &threads,
        &[message(1, 1, "one")],
    );
    forgery.finish()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_archive_does_not_go_on_with_a_room_that_one_has_begun() {
    for site in sites() {
        let server = site.serve();
        let acme = block_in_place(|| server.acme());
        site.refused_import(&broken(&site, &acme), &["--org", "acme"]);
        let path = "/flows/acme/forged/messages";
        block_in_place(|| {
            let flow = ["--flow", "acme/forged", "--email", &acme.ada.email];
            server.admin(&[&["flow", "add-user"], &flow[..]].concat())
        });
        post(&acme.ada, path, "so we start anew").await;
        let mut forgery = Forgery::new(&site, ScopeKind::Flow, &[person(1, &acme.ben.email)]);
        let messages: Vec<Json> = (1..9).map(|id| message(id, 1, "forged")).collect();
        forgery.flow(&json!({}), &[], &messages);
        let report = site.import(&forgery.finish(), &[]);
        assert_eq!(left_out(&report), [one("existing_room")]);
        assert_eq!(report["messages"], 0, "{report:#}");
        // The room goes on.
        post(&acme.ada, path, "and go on").await;
        let said = said(&acme.ada, path).await;
        assert!(said.iter().all(|message| message["content"] != "forged"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_an_archive_is_later_than_its_import() {
    for site in sites() {
        let server = site.serve();
        let acme = block_in_place(|| server.acme());
        let mut forgery = Forgery::new(&site, ScopeKind::Flow, &[person(1, &acme.ada.email)]);
        let mut late = message(1, 1, "from the year 9999");
        late["sent"] = json!(253_402_300_799_000_i64);
        forgery.flow(&json!({}), &[], &[late]);
        site.import(&forgery.finish(), &[]);
        post(&acme.ada, "/flows/acme/main/messages", "new").await;
        let all = acme.ada.get("/search?search=new").await;
        let newest = all[0]["sent"].as_i64().unwrap();
        let imported = said(&acme.ada, "/flows/acme/forged/messages").await;
        assert!(imported[0]["sent"].as_i64().unwrap() <= newest);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_and_private_messages_are_within_the_bounds_of_the_api() {
    for site in sites() {
        let server = site.serve();
        let acme = block_in_place(|| server.acme());
        let people = [person(1, &acme.ada.email), person(2, &acme.ben.email)];
        let mut forgery = Forgery::new(&site, ScopeKind::Organization, &people);
        forgery.organization(2, &json!({"name": "acme", "parameterized_name": "acme"}));
        let mut unsigned = message(1, 1, "from nobody");
        unsigned["author"] = Json::Null;
        forgery.conversation(2, &[unsigned, message(2, 1, "from ada")]);
        let item =
            json!({"title": "t", "body": "x".repeat(300 << 10), "actions": [], "fields": []});
        let thread = json!({"id": 1, "inbox": true, "external_id": "1", "activities": 1, "created_at": 1,
            "updated_at": 1, "item_message": 1, "item_from": 1, "item": item});
        let filed = json!({"id": 1, "event": "activity", "external_name": "x", "sent": 1, "thread": 1,
            "content": {"title": "filed"}});
        forgery.flow(&json!({}), &[thread], &[filed]);
        let report = site.import(&forgery.finish(), &[]);
        assert_eq!(
            heard(&acme.ada, &acme.ben).await,
            ["from ada"],
            "{report:#}"
        );
        let threads = acme.ada.get("/flows/acme/forged/threads").await;
        assert!(threads.to_string().len() < 64 << 10);
        assert_eq!(left_out(&report), [("unreadable_record".to_owned(), 2)]);
    }
}
