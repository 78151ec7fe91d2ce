//! Archives of other programs.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::dice::Dice;

const PEOPLE: [&str; 6] = ["U1", "U2", "U3", "U4", "U5", "U6"];

pub(crate) fn pack(path: &Path, entries: &[(String, Value)]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, json) in entries {
        zip.start_file(name.as_str(), SimpleFileOptions::default())
            .unwrap();
        zip.write_all(json.to_string().as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

fn somebody(dice: &mut Dice) -> &'static str {
    dice.pick(&PEOPLE)
}

fn several(dice: &mut Dice) -> Vec<&'static str> {
    (0..dice.below(5)).map(|_| somebody(dice)).collect()
}

/// Seconds of Slack.
fn ts(dice: &mut Dice) -> String {
    match dice.one_in(10) {
        true => dice.number().to_string(),
        false => format!("{}.000100", 1_600_000_000 + dice.below(50)),
    }
}

/// An export of a workspace.
pub(crate) fn slack(path: &Path, dice: &mut Dice) {
    let users: Vec<Value> = PEOPLE
        .iter()
        .map(|id| {
            json!({"id": id, "name": dice.word(), "deleted": dice.one_in(4), "is_bot": dice.one_in(8),
                "profile": {"email": dice.address(), "real_name": dice.word(), "display_name": dice.word()}})
        })
        .collect();
    let mut entries = vec![("users.json".to_owned(), json!(users))];
    for (list, prefix) in [
        ("channels.json", "C"),
        ("groups.json", "G"),
        ("dms.json", "D"),
    ] {
        let mut rooms = Vec::new();
        for place in 0..dice.below(3) {
            // The same id may be that of a channel now and that of a conversation later.
            let prefix = if dice.one_in(4) { "C" } else { prefix };
            let id = format!("{prefix}{place}");
            let members = match list {
                "dms.json" => vec![somebody(dice), somebody(dice)],
                _ => several(dice),
            };
            rooms.push(json!({"id": id, "name": id, "created": dice.number(), "creator": somebody(dice),
                "members": members, "is_archived": dice.one_in(5), "purpose": {"value": dice.word()}}));
            let messages: Vec<Value> = (0..dice.below(6))
                .map(|_| {
                    json!({"type": "message", "user": somebody(dice), "ts": ts(dice), "thread_ts": ts(dice),
                        "text": format!("{} <@{}>", dice.word(), somebody(dice)), "username": dice.word(),
                        "edited": {"user": somebody(dice), "ts": ts(dice)},
                        "reactions": [{"name": "thumbsup", "users": several(dice)}]})
                })
                .collect();
            entries.push((format!("{id}/{place}-{list}"), json!(messages)));
        }
        entries.push((list.to_owned(), json!(rooms)));
    }
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    entries.dedup_by(|one, other| one.0 == other.0);
    pack(path, &entries);
}

/// A bulk export of Mattermost.
pub(crate) fn mattermost(path: &Path, dice: &mut Dice) {
    let mut lines = vec![
        json!({"type": "version", "version": 1}),
        json!({"type": "team", "team": {"name": "beta", "display_name": "Beta", "type": "I"}}),
        json!({"type": "channel", "channel": {"team": "beta", "name": "room", "display_name": dice.word(), "type": "P",
            "purpose": dice.word()}}),
    ];
    let teams = json!([{"name": "beta", "channels": [{"name": "room"}]}]);
    for name in PEOPLE {
        lines.push(json!({"type": "user", "user": {"username": name, "email": dice.address(), "nickname": dice.word(),
            "delete_at": if dice.one_in(4) { 5 } else { 0 }, "teams": teams}}));
    }
    let post = |dice: &mut Dice| {
        json!({"user": somebody(dice), "message": format!("{} @{}", dice.word(), somebody(dice)),
            "create_at": dice.time(), "edit_at": dice.time(),
            "reactions": [{"user": somebody(dice), "emoji_name": "+1", "create_at": 1}]})
    };
    for _ in 0..dice.below(6) {
        let mut said = post(dice);
        said["team"] = json!("beta");
        said["channel"] = json!("room");
        said["replies"] = json!([post(dice)]);
        lines.push(json!({"type": "post", "post": said}));
    }
    for _ in 0..dice.below(4) {
        let pair = [somebody(dice), somebody(dice)];
        lines.push(json!({"type": "direct_channel", "direct_channel": {"members": pair}}));
        let mut said = post(dice);
        said["channel_members"] = json!(pair);
        lines.push(json!({"type": "direct_post", "direct_post": said}));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(path, text).unwrap();
}

/// An archive of flows of Flowdock.
pub(crate) fn flowdock(path: &Path, dice: &mut Dice) {
    let ids = ["1", "2", "4", "5", "6", "7"];
    let users: Vec<Value> = ids
        .iter()
        .map(|id| {
            json!({"id": id, "nick": dice.word(), "name": dice.word(), "email": dice.address(),
                "disabled": dice.one_in(4), "in_organization": !dice.one_in(4)})
        })
        .collect();
    let named: Vec<Value> = (0..dice.below(5))
        .map(|_| json!({"id": dice.pick(&ids)}))
        .collect();
    let flows = json!([{"id": "beta:room", "name": dice.word(), "parameterized_name": "room",
        "access_mode": dice.pick(&["organization", "invitation"]), "description": dice.word(), "users": named}]);
    let messages: Vec<Value> = (0..dice.below(8))
        .map(|place| {
            json!({"id": 100 - place, "event": dice.pick(&["message", "comment", "activity", "status"]),
                "flow": "beta:room", "sent": dice.time(), "edited": dice.time(), "user": dice.pick(&ids),
                "thread_id": dice.pick(&["t1", "t2"]), "content": dice.word(), "title": dice.word(),
                "tags": [format!(":user:{}", dice.pick(&ids)), "influx:100"],
                "emojiReactions": {"thumbsup": [dice.pick(&ids)]}})
        })
        .collect();
    pack(
        path,
        &[
            ("flows.json".to_owned(), flows),
            ("room/messages.json".to_owned(), json!(messages)),
            ("users.json".to_owned(), json!(users)),
        ],
    );
}
