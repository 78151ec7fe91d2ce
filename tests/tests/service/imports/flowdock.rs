//! Archives of Flowdock.

use super::{Backend, Json, Site, block_in_place, json};
use super::{pack, said};
use crate::files::PIXEL;

const ADA: &str = "11";
const DAN: &str = "12";

/// The messages of a flow, the newest first.
fn messages() -> Json {
    let at = |seconds: i64| 1_600_000_000_000_i64 + seconds * 1000;
    json!([
        {"id": 109, "event": "vcs", "flow": "acme:tea", "sent": at(9), "user": "0", "content": {"push": {}}},
        {"id": "no number", "event": "message", "sent": at(9), "content": "lost"},
        {"id": 108, "event": "activity", "flow": "acme:tea", "sent": at(8), "user": "0", "thread_id": "t2",
            "title": "merged <b>it</b>", "body": "<p>All &amp; more</p>", "author": {"name": "Octocat"}},
        {"id": 107, "event": "file", "flow": "acme:tea", "sent": at(7), "user": DAN, "thread_id": "t1",
            "content": {"path": "/flows/acme/tea/files/abc/dot.png", "file_name": "dot.png", "content_type": "image/png"}},
        {"id": 106, "event": "file", "flow": "acme:tea", "sent": at(6), "user": DAN, "thread_id": "t3",
            "content": {"path": "/flows/acme/tea/files/../../etc/passwd", "file_name": "passwd"}},
        {"id": 105, "event": "comment", "flow": "acme:tea", "sent": at(5), "user": ADA, "tags": ["influx:102"],
            "content": {"title": "an old one", "text": "of old"}},
        {"id": 104, "event": "tag-change", "flow": "acme:tea", "sent": at(4), "user": ADA, "content": {"add": ["now"]}},
        {"id": 103, "event": "message", "flow": "acme:tea", "sent": at(3), "user": DAN, "thread_id": "t1",
            "content": "yes @ADA", "tags": []},
        {"id": 102, "event": "message", "flow": "acme:tea", "sent": at(2), "user": ADA, "thread_id": "t1",
            "content": "@dan **tea**? @stranger #now", "edited": at(3), "emojiReactions": {"thumbsup": [DAN, "99"]}},
        {"id": 101, "event": "message", "flow": "acme:tea", "sent": at(1), "user": "77", "content": "the first"},
    ])
}

fn users() -> Json {
    json!([
        {"id": 11, "nick": "Ada", "name": "Ada Lovelace", "email": "ada@acme.example"},
        {"id": 12, "nick": "dan", "name": "Dan", "email": "dan@acme.example", "disabled": false, "in_organization": true},
    ])
}

fn bytes(json: &Json) -> Vec<u8> {
    json.to_string().into_bytes()
}

fn counted(report: &Json) -> Vec<(String, u64)> {
    let kinds = report["left_out"].as_array().unwrap().iter();
    let of = |left_out: &Json| {
        let kind = left_out["kind"].as_str().unwrap().to_owned();
        (kind, left_out["count"].as_u64().unwrap())
    };
    kinds.map(of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flow_comes_with_threads_files_edits_and_reactions() {
    for (backend, is_in_store) in [(Backend::Sqlite, false), (Backend::Postgres, true)] {
        let Some(site) = Site::new(backend, is_in_store) else {
            continue;
        };
        let server = site.serve();
        let acme = block_in_place(|| server.acme());
        let flows = json!([{"id": "acme:tea", "name": "Tea time", "parameterized_name": "tea",
            "access_mode": "invitation", "description": "What to drink", "users": [{"id": 11}, {"id": 12}]}]);
        let entries = [
            ("export/users.json", bytes(&users())),
            ("export/flows.json", bytes(&flows)),
            ("export/tea/messages.json", bytes(&messages())),
            ("export/tea/files/abc/dot.png", PIXEL.to_vec()),
        ];
        let archive = pack(&site, "flowdock.zip", &entries);
        let report = site.import(&archive, &[]);
        assert_eq!(
            (
                &report["known_people"],
                &report["new_people"],
                &report["flows"]
            ),
            (&json!(1), &json!(1), &json!(1)),
            "{report:#}"
        );
        assert_eq!(
            (&report["messages"], &report["files"], &report["reactions"]),
            (&json!(6), &json!(1), &json!(1)),
            "{report:#}"
        );
        let expected = [
            ("not_said", 3),
            ("unreadable_record", 1),
            ("missing_file", 1),
            ("unknown_person", 1),
        ];
        for (kind, count) in expected {
            let found = counted(&report);
            assert!(
                found.contains(&(kind.to_owned(), count)),
                "{kind}: {found:?}"
            );
        }

        let messages = said(&acme.ada, "/flows/acme/tea-time/messages").await;
        let [first, tea, yes, old, file, merged] = &messages[..] else {
            panic!("{messages:#?}");
        };
        assert_eq!(first["content"], "the first");
        assert_eq!(first["external_user_name"], "User 77");
        assert_eq!(tea["content"], "@dan **tea**? @stranger #now");
        assert_eq!(tea["edited"], 1_600_000_003_000_i64);
        assert_eq!(yes["content"]["text"], "yes @ada");
        assert_eq!(old["content"]["text"], "of old");
        assert_eq!(file["content"]["file_name"], "dot.png");
        for message in [yes, old, file] {
            assert_eq!(message["thread_id"], tea["thread_id"], "{message:#}");
        }
        assert_eq!(merged["content"], "merged it\nAll & more");
        assert_eq!(merged["external_user_name"], "Octocat");

        let again = site.import(&archive, &[]);
        assert_eq!(
            (&again["messages"], &again["known_messages"]),
            (&json!(0), &json!(6))
        );
        drop(server);
        site.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_lists_a_flow_is_closed_and_named_as_its_folder() {
    let Some(site) = Site::new(Backend::Sqlite, false) else {
        return;
    };
    let server = site.serve();
    let acme = block_in_place(|| server.acme());
    let entries = [("messages.json", bytes(&messages()))];
    let archive = pack(&site, "tea-room.zip", &entries);
    let report = site.import(&archive, &["--format", "flowdock"]);
    assert_eq!(
        (&report["new_people"], &report["flows"], &report["messages"]),
        (&json!(0), &json!(1), &json!(5)),
        "{report:#}"
    );
    let is_it = |flow: &&Json| flow["parameterized_name"] == "tea-room";
    let seen = said(&acme.ada, "/flows/all").await;
    assert_eq!(seen.iter().find(is_it), None, "only its members see it");
    let all = block_in_place(|| server.admin(&["flow", "list", "--org", "acme"]));
    let mut all = all["flows"].as_array().unwrap().iter();
    assert!(all.any(|flow| flow["flow"] == "acme/tea-room"));
}
