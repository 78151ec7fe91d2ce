//! Bulk exports of Mattermost.

use std::fs;

use super::{Backend, Json, Site, block_in_place, json};
use super::{pack, said};
use crate::files::PIXEL;

/// The lines of an export with a channel, a post with replies and a file, and a direct message.
fn lines() -> Vec<Json> {
    let teams = json!([{"name": "acme", "roles": "team_user", "channels": [{"name": "tea", "roles": "channel_user"}]}]);
    vec![
        json!({"type": "version", "version": 1, "info": {"generator": "mattermost-server"}}),
        json!({"type": "emoji", "emoji": {"name": "parrot", "image": "parrot.gif"}}),
        json!({"type": "team", "team": {"name": "acme", "display_name": "Acme", "type": "I"}}),
        json!({"type": "channel", "channel": {"team": "acme", "name": "tea", "display_name": "Tea time", "type": "P",
            "header": "", "purpose": "What to drink"}}),
        json!({"type": "user", "user": {"username": "ada.l", "email": "ada@acme.example", "first_name": "Ada",
            "last_name": "Lovelace", "roles": "system_admin system_user", "teams": teams}}),
        json!({"type": "user", "user": {"username": "dan", "email": "dan@acme.example", "teams": teams}}),
        json!({"type": "post", "post": {"team": "acme", "channel": "tea", "user": "ada.l", "type": "",
            "message": "@dan **tea**? @nobody #now", "create_at": 1_600_000_002_000_i64, "edit_at": 1_600_000_003_000_i64,
            "reactions": [{"user": "dan", "emoji_name": "+1", "create_at": 1_600_000_004_000_i64}],
            "replies": [{"user": "dan", "message": "yes @ada.l.", "create_at": 1_600_000_009_000_i64,
                "attachments": [{"path": "2020/dot.png"}, {"path": "../../etc/passwd"}]}]}}),
        json!({"type": "post", "post": {"team": "acme", "channel": "tea", "user": "dan", "type": "system_join_channel",
            "message": "dan joined", "create_at": 1_600_000_000_000_i64}}),
        json!({"type": "post", "post": {"team": "acme", "channel": "tea", "user": "dan",
            "message": "the first", "create_at": 1_600_000_001_000_i64}}),
        json!({"type": "direct_channel", "direct_channel": {"members": ["ada.l", "dan"]}}),
        json!({"type": "direct_post", "direct_post": {"channel_members": ["dan", "ada.l"], "user": "dan",
            "message": "psst", "create_at": 1_600_000_005_000_i64}}),
    ]
}

fn text(lines: &[Json]) -> Vec<u8> {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n").into_bytes()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_comes_with_replies_files_and_private_talk() {
    for (backend, is_in_store) in [(Backend::Sqlite, false), (Backend::Postgres, true)] {
        let Some(site) = Site::new(backend, is_in_store) else {
            continue;
        };
        let server = site.serve();
        let acme = block_in_place(|| server.acme());
        let entries = [
            ("import.jsonl", text(&lines())),
            ("data/2020/dot.png", PIXEL.to_vec()),
        ];
        let archive = pack(&site, "mattermost.zip", &entries);
        let report = site.import(&archive, &[]);
        assert_eq!(
            (&report["known_people"], &report["new_people"]),
            (&json!(1), &json!(1))
        );
        assert_eq!(
            (&report["messages"], &report["files"]),
            (&json!(4), &json!(1))
        );
        let kinds = report["left_out"].as_array().unwrap().iter();
        let kinds: Vec<_> = kinds
            .map(|left_out| left_out["kind"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["unused_field", "not_said", "missing_file"]);

        let messages = said(&acme.ada, "/flows/acme/tea-time/messages").await;
        let [first, tea, answer, file] = &messages[..] else {
            panic!("{messages:#?}");
        };
        assert_eq!(first["content"], "the first");
        assert_eq!(tea["content"], "@dan **tea**? @nobody #now");
        assert_eq!(tea["edited"], 1_600_000_003_000_i64);
        assert_eq!(answer["content"]["text"], "yes @ada.");
        assert_eq!(file["content"]["file_name"], "dot.png");
        for message in [answer, file] {
            assert_eq!(message["thread_id"], tea["thread_id"]);
        }
        let dan = first["user"].as_str().unwrap();
        let talk = said(&acme.ada, &format!("/private/{dan}/messages")).await;
        assert_eq!(talk[0]["content"], "psst");

        // Messages have no ids; the same ones are known by room, time and author.
        let plain = site.directory.path().join("again.jsonl");
        fs::write(&plain, text(&lines())).unwrap();
        let again = site.import(&plain, &[]);
        assert_eq!(
            (&again["messages"], &again["known_messages"]),
            (&json!(0), &json!(4))
        );
        drop(server);
        site.check();
    }
}
