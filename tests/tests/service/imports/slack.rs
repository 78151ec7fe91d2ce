//! Exports of Slack workspaces.

use std::path::PathBuf;

use eddyline_tests::Listener;

use super::{Backend, Json, Method, Site, block_in_place, json};
use super::{pack, said};
use crate::files::{PIXEL, fetch};

fn user(id: &str, name: &str, email: Option<&str>) -> Json {
    json!({
        "id": id, "team_id": "T1", "name": name, "deleted": false, "is_bot": email.is_none(),
        "profile": {"real_name": format!("{name} of Slack"), "display_name": name, "email": email},
    })
}

/// A workspace with a channel, a thread in it, a file that is there and one that is not, and a direct
/// message.
fn workspace(site: &Site, more: &[(&str, String)]) -> PathBuf {
    let mut gone = user("U3", "cleo", Some("cleo@acme.example"));
    gone["deleted"] = json!(true);
    let users = json!([
        user("U1", "ada", Some("Ada@acme.example")),
        user("U2", "dan", Some("dan@acme.example")),
        gone,
        user("B1", "robot", None),
    ]);
    let channels = json!([{
        "id": "C1", "name": "general", "created": 1_600_000_000, "creator": "U1",
        "is_archived": false, "members": ["U1", "U2"],
        "topic": {"value": ""}, "purpose": {"value": "All things"},
    }]);
    let first = json!([
        {"type": "message", "subtype": "channel_join", "user": "U1", "ts": "1600000000.000100", "text": "<@U1> has joined"},
        {"type": "message", "user": "U1", "ts": "1600000001.000200", "thread_ts": "1600000001.000200",
         "text": "Hello <@U2>, *read* <https://example.org|this> &amp; that #tea",
         "edited": {"user": "U1", "ts": "1600000009.000000"},
         "reactions": [{"name": "thumbsup", "users": ["U2", "U9"], "count": 2}, {"name": "acme-parrot", "users": ["U2"]}]},
        {"type": "message", "user": "U3", "ts": "1600000002.000300", "text": "I was here"},
        {"type": "message", "subtype": "bot_message", "bot_id": "B1", "username": "CI", "ts": "1600000003.000400",
         "text": "", "attachments": [{"title": "Build 7", "text": "passed"}]},
    ]);
    let second = json!([
        {"type": "message", "user": "U2", "ts": "1600090001.000100", "thread_ts": "1600000001.000200", "text": "an answer"},
        {"type": "message", "user": "U2", "ts": "1600090000.000100", "text": "", "files": [
            {"id": "F1", "name": "dot.png", "mimetype": "image/png", "url_private": "https://files.slack.com/F1/dot.png?t=secret"},
            {"id": "F2", "name": "lost.pdf", "mimetype": "application/pdf", "url_private": "https://files.slack.com/F2/lost.pdf?t=secret"},
        ]},
    ]);
    let dms = json!([{"id": "D1", "created": 1_600_000_000, "members": ["U1", "U2"]}]);
    let whispers =
        json!([{"type": "message", "user": "U2", "ts": "1600000005.000000", "text": "psst"}]);
    let mut entries = vec![
        ("users.json", users.to_string()),
        ("channels.json", channels.to_string()),
        ("dms.json", dms.to_string()),
        ("general/2020-09-14.json", second.to_string()),
        ("general/2020-09-13.json", first.to_string()),
        ("D1/2020-09-13.json", whispers.to_string()),
    ];
    entries.extend(more.iter().cloned());
    let mut bytes: Vec<(&str, Vec<u8>)> = entries
        .into_iter()
        .map(|(name, text)| (name, text.into_bytes()))
        .collect();
    bytes.push(("__uploads/F1/dot.png", PIXEL.to_vec()));
    pack(site, "slack.zip", &bytes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workspace_comes_with_people_threads_files_and_private_talk() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let Some(site) = Site::new(backend, false) else {
            continue;
        };
        let server = site.serve();
        let acme = block_in_place(|| server.acme());
        let archive = workspace(&site, &[]);
        let would = site.import(&archive, &["--dry-run"]);
        assert_eq!(would["dry_run"], true);
        let report = site.import(&archive, &["--invite"]);
        for field in [
            "known_people",
            "new_people",
            "flows",
            "conversations",
            "messages",
        ] {
            assert_eq!(would[field], report[field], "{field}");
        }
        assert_eq!(report["known_people"], 1);
        assert_eq!(
            (&report["new_people"], &report["invited"]),
            (&json!(2), &json!(1))
        );
        assert_eq!(
            (&report["messages"], &report["files"]),
            (&json!(6), &json!(1))
        );
        let left_out: Vec<_> = report["left_out"].as_array().unwrap().iter().collect();
        let kinds: Vec<_> = left_out
            .iter()
            .map(|left_out| {
                (
                    left_out["kind"].as_str().unwrap(),
                    left_out["count"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            kinds,
            [
                ("not_said", 1),
                ("unknown_person", 1),
                ("unknown_emoji", 1),
                ("missing_file", 1)
            ]
        );
        assert!(!report.to_string().contains("t=secret"));

        let messages = said(&acme.ada, "/flows/acme/general/messages").await;
        let texts: Vec<_> = messages
            .iter()
            .map(|message| message["content"].clone())
            .collect();
        assert_eq!(
            texts[0],
            "Hello @dan, **read** [this](https://example.org) & that #tea"
        );
        assert_eq!(texts[1], "I was here");
        assert_eq!(texts[2], "Build 7\npassed");
        assert_eq!(texts[3]["file_name"], "dot.png");
        assert_eq!(texts[4]["text"], "an answer");
        let [hello, gone, robot, file, answer] = &messages[..] else {
            panic!("{messages:#?}");
        };
        assert_eq!(hello["user"], acme.ada.id.to_string());
        assert_eq!(hello["sent"], 1_600_000_001_000_i64);
        assert_eq!(hello["edited"], 1_600_000_009_000_i64);
        assert!(hello["tags"].as_array().unwrap().contains(&json!("tea")));
        assert_eq!(
            hello["emojiReactions"],
            json!({"\u{1f44d}": [answer["user"].as_str().unwrap().parse::<i64>().unwrap()]})
        );
        assert_ne!(gone["user"], "0");
        assert_eq!(robot["external_user_name"], "CI");
        assert_eq!(answer["thread_id"], hello["thread_id"]);
        assert_eq!(answer["thread"]["internal_comments"], 2);
        let path = file["content"]["path"].as_str().unwrap();
        assert_eq!(fetch(&server, &acme.ada.client, path).await.body, PIXEL);
        let dan = answer["user"].as_str().unwrap();
        let talk = said(&acme.ada, &format!("/private/{dan}/messages")).await;
        assert_eq!(talk[0]["content"], "psst");

        // A newer export of the same workspace adds what is new in it, and streams tell nothing of it.
        let flows = ["acme/general", "acme/main"];
        let mut stream = Listener::to(&acme.ada.client, &flows).await;
        let later = json!([{"type": "message", "user": "U2", "ts": "1600190001.000100",
            "thread_ts": "1600000001.000200", "text": "a late answer"}]);
        let newer = workspace(&site, &[("general/2020-09-15.json", later.to_string())]);
        let again = site.import(&newer, &[]);
        assert_eq!(
            (&again["messages"], &again["known_messages"]),
            (&json!(1), &json!(6))
        );
        assert_eq!(
            (&again["flows"], &again["new_people"]),
            (&json!(0), &json!(0))
        );
        acme.ada.say("acme/general", "what ada says").await;
        let heard = stream.texts_through("what ada says").await;
        assert_eq!(heard, ["what ada says"]);
        let mut messages = said(&acme.ada, "/flows/acme/general/messages").await;
        messages.pop();
        assert_eq!(messages.len(), 6);
        assert_eq!(messages[5]["thread"]["internal_comments"], 3);
        let found = said(&acme.ada, "/flows/acme/general/messages?search=answer").await;
        assert_eq!(found.len(), 2);
        drop(server);
        site.check();
    }
}

/// A newer export brings messages, and lets nobody into a flow whose members have decided since who
/// reads it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_archive_lets_nobody_into_a_flow_that_is_here() {
    let site = Site::new(Backend::Sqlite, false).unwrap();
    let server = site.serve();
    let (acme, mallory) = block_in_place(|| (server.acme(), server.user("acme", "mallory")));
    let users = json!([
        user("U1", "ada", Some("ada@acme.example")),
        user("U2", "mallory", Some("mallory@acme.example")),
    ]);
    let export = |members: &[&str], text: &str| {
        let channels = json!([{"id": "C1", "name": "board", "members": members}]);
        let messages = json!([
            {"user": "U1", "ts": "1600000001.000000", "text": "first"},
            {"user": "U2", "ts": "1600000002.000000", "text": text},
        ]);
        let bytes = |json: &Json| json.to_string().into_bytes();
        let entries = [
            ("users.json", bytes(&users)),
            ("channels.json", bytes(&channels)),
            ("board/2020-09-13.json", bytes(&messages)),
        ];
        pack(&site, "slack.zip", &entries)
    };
    let report = site.import(&export(&["U1"], ""), &[]);
    assert_eq!(
        (&report["flows"], &report["messages"]),
        (&json!(1), &json!(1))
    );
    let flow = "/flows/acme/board";
    let change = json!({"access_mode": "invitation"});
    let changed = acme.ada.send(Method::PUT, flow, &change).await;
    assert!(changed.status.is_success(), "{}", changed.text());
    let report = site.import(&export(&["U1", "U2"], "second"), &[]);
    assert_eq!(report["messages"], 1, "{report:#}");
    let messages = said(&acme.ada, "/flows/acme/board/messages").await;
    let second = messages
        .iter()
        .find(|message| message["content"] == "second");
    assert_eq!(second.unwrap()["user"], mallory.id.to_string());
    let request = mallory
        .client
        .request(Method::GET, "/flows/acme/board/messages");
    let refused = request.send().await.unwrap();
    assert!(!refused.status.is_success(), "{}", refused.status);
    drop(server);
    site.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_of_another_organization_get_no_conversation() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let Some(site) = Site::new(backend, false) else {
            continue;
        };
        let server = site.serve();
        block_in_place(|| server.acme());
        let (one, other) = block_in_place(|| {
            server.organization("rivals");
            (server.user("rivals", "xena"), server.user("rivals", "yoko"))
        });
        // Who was deactivated does not come into the organization.
        let users = [("U1", &one), ("U2", &other)].map(|(id, caller)| {
            let mut user = user(id, "somebody", Some(&caller.email));
            user["deleted"] = json!(true);
            user
        });
        let dms = json!([{"id": "D1", "created": 1_600_000_000, "members": ["U1", "U2"]}]);
        let forged = json!([
            {"type": "message", "user": "U1", "ts": "1600000005.000000", "text": "never said"},
        ]);
        let entries = [
            ("users.json", json!(users)),
            ("channels.json", json!([])),
            ("dms.json", dms),
            ("D1/2020-09-13.json", forged),
        ];
        let entries = entries.map(|(name, text)| (name, text.to_string().into_bytes()));
        let report = site.import(&pack(&site, "forged.zip", &entries), &[]);
        assert_eq!(report["messages"], 0, "{report:#}");
        assert_eq!(report["left_out"][0]["kind"], "elsewhere_person");
        assert_eq!(report["left_out"][1]["kind"], "conversation");
        let path = format!("/private/{}/messages", other.id);
        assert_eq!(said(&one, &path).await, [Json::Null; 0]);
        site.check();
    }
}
