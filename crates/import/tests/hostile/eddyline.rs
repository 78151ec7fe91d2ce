//! Archives in the format of `eddyline export`, signed with a key of their own.

use std::fs::File;
use std::path::Path;

use eddyline_archive::{ExportKey, ExportScope, ExportWriter, ScopeKind, paths};
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::tenants::Tenants;

const PEOPLE: usize = 6;

/// A number of a person, or one that no person has.
fn somebody(dice: &mut Dice) -> usize {
    dice.below(PEOPLE + 2)
}

fn several(dice: &mut Dice) -> Vec<usize> {
    (0..dice.below(PEOPLE)).map(|_| somebody(dice)).collect()
}

fn person(dice: &mut Dice, number: usize) -> Value {
    let mut person = json!({
        "number": number, "email_proved": !dice.one_in(3), "name": dice.word(), "nick": dice.word(),
        "website": "javascript:x", "status": dice.word(), "bot": dice.one_in(6), "active": !dice.one_in(4),
        "created_at": dice.time(),
    });
    if !dice.one_in(8) {
        person["email"] = json!(dice.address());
    }
    person
}

fn organization(dice: &mut Dice) -> Value {
    let members: Vec<Value> = (1..=PEOPLE)
        .filter(|_| !dice.one_in(4))
        .map(|person| json!({"person": person}))
        .collect();
    let mut members = members;
    for member in &mut members {
        member["administrator"] = json!(dice.one_in(3));
    }
    let groups: Vec<Value> = (0..dice.below(3))
        .map(|_| json!({"name": dice.word(), "created_at": dice.time(), "people": several(dice)}))
        .collect();
    let mut organization = json!({
        "name": dice.word(), "parameterized_name": dice.pick(&["acme", "evil", "beta"]),
        "names": ["acme", "beta", "evil", "evil-before", "../x"], "user_limit": dice.number(),
        "active": true, "created_at": dice.time(), "members": members, "groups": groups,
    });
    if dice.one_in(2) {
        organization["parent"] = json!(dice.pick(&["beta", "acme", "evil", "nowhere"]));
    }
    organization
}

fn member(dice: &mut Dice, person: usize) -> Value {
    json!({
        "person": person, "open": dice.one_in(2), "blocked": dice.one_in(5),
        "read_up_to": dice.number(), "inbox_read_up_to": dice.number(),
    })
}

fn tag(dice: &mut Dice) -> String {
    let prefix = dice.pick(&[":user:", ":unread:", ":highlight:", ":influx:", ""]);
    match dice.one_in(3) {
        true => format!("{prefix}{}", dice.word()),
        false => format!("{prefix}{}", dice.number()),
    }
}

fn content(dice: &mut Dice, event: &str) -> Value {
    let action = json!({"@type": "UpdateAction", "name": "Approve",
        "target": {"@type": "EntryPoint", "urlTemplate": "http://127.0.0.1:1/x", "httpMethod": "POST"}});
    match event {
        "activity" | "discussion" | "mail" => {
            json!({"title": dice.word(), "body": dice.word(), "subject": dice.word(), "content": dice.word(),
                "thread": {"title": dice.word(), "actions": [action], "fields": []}})
        }
        "action" => json!({"type": "block", "description": {"user": somebody(dice)}}),
        "tag-change" => {
            json!({"message": dice.number(), "add": [tag(dice)], "remove": [tag(dice)]})
        }
        "message-edit" | "message-delete" => json!({"message": dice.number()}),
        "file" => {
            json!({"path": "/files/00000000000000000000000000000000/x", "file_name": dice.word()})
        }
        _ if dice.one_in(10) => json!("long ".repeat(3_000)),
        _ => json!(dice.word()),
    }
}

fn message(dice: &mut Dice, id: i64) -> Value {
    let events = [
        "message",
        "message",
        "message",
        "comment",
        "status",
        "activity",
        "discussion",
        "mail",
        "action",
        "tag-change",
        "message-edit",
        "message-delete",
        "file",
        "nothing",
    ];
    let event = dice.pick(&events);
    let mut message = json!({
        "id": id, "event": event, "sent": dice.time(), "content": content(dice, event),
        "tags": (0..dice.below(4)).map(|_| tag(dice)).collect::<Vec<_>>(),
        "explicit_tags": [tag(dice)],
        "reactions": [{"emoji": "\u{1f44d}", "people": several(dice)}, {"emoji": dice.word(), "people": [1]}],
    });
    for (field, one_in) in [("author", 6), ("to", 2)] {
        if !dice.one_in(one_in) {
            message[field] = json!(somebody(dice));
        }
    }
    for field in ["thread", "parent", "edited"] {
        if dice.one_in(2) {
            message[field] = json!(dice.number());
        }
    }
    if dice.one_in(4) {
        message["uuid"] = json!(dice.word());
    }
    if dice.one_in(4) {
        message["external_name"] = json!(dice.word());
    }
    message
}

fn thread(dice: &mut Dice) -> Value {
    let mut thread = json!({
        "id": dice.number(), "inbox": dice.one_in(2), "source": dice.below(4), "external_id": dice.word(),
        "activities": dice.number(), "internal_comments": dice.number(), "external_comments": dice.number(),
        "created_at": dice.time(), "updated_at": dice.time(), "item_from": dice.number(),
    });
    if dice.one_in(2) {
        thread["item_message"] = json!(dice.number());
        thread["item"] = json!({"title": dice.word(), "body": "", "actions": [], "fields": []});
    }
    thread
}

/// The messages of a room, and the last number that it states.
fn messages(dice: &mut Dice) -> (Vec<Value>, i64) {
    let mut id = 0;
    let messages: Vec<Value> = (0..dice.below(6))
        .map(|_| {
            id = match dice.one_in(12) {
                true => dice.number(),
                false => id.saturating_add(1),
            };
            message(dice, id)
        })
        .collect();
    let last = match dice.one_in(3) {
        true => dice.number(),
        false => id,
    };
    (messages, last)
}

fn flow(dice: &mut Dice, tenants: &Tenants, last: i64) -> Value {
    let id = dice.pick(&[
        tenants.flow_of_beta.clone(),
        tenants.flow_of_acme.clone(),
        "1-2".to_owned(),
        "4-5".to_owned(),
        "4-8".to_owned(),
        String::new(),
        "../x".to_owned(),
        eddyline_random::hex::<8>(),
        eddyline_random::hex::<8>(),
        eddyline_random::hex::<8>(),
    ]);
    let members: Vec<Value> = several(dice)
        .into_iter()
        .map(|person| member(dice, person))
        .collect();
    let former = json!([{"person": somebody(dice), "name": dice.word(), "nick": dice.word()}]);
    let sources: Vec<Value> = (1..=dice.below(3))
        .map(|number| {
            json!({"number": number, "name": dice.word(), "application": dice.pick(&["Tracker", "Other"]),
                "external_url": "javascript:x", "creator": somebody(dice), "created_at": dice.time()})
        })
        .collect();
    json!({
        "id": id, "organization": "beta", "name": dice.word(), "parameterized_name": dice.word(),
        "description": dice.word(), "access_mode": dice.pick(&["organization", "link", "invitation", "x"]),
        "creator": somebody(dice), "created_at": dice.time(), "last_message": last, "members": members,
        "former_members": former, "sources": sources,
    })
}

/// Writes an archive.
pub(crate) fn write(path: &Path, tenants: &Tenants, dice: &mut Dice) {
    let is_organization = !dice.one_in(4);
    let scope = ExportScope {
        kind: match is_organization {
            true => ScopeKind::Organization,
            false => ScopeKind::Flow,
        },
        name: "acme".to_owned(),
        private_conversations: is_organization,
    };
    let mut archive = ExportWriter::begin(File::create(path).unwrap(), scope);
    let chain = |path: &str, records: &[Value], archive: &mut ExportWriter<File>| {
        let mut chain = archive.chain(path).unwrap();
        for record in records {
            chain.record(record).unwrap();
        }
        chain.finish().unwrap();
    };
    let people: Vec<Value> = (1..=PEOPLE).map(|number| person(dice, number)).collect();
    chain(paths::PEOPLE, &people, &mut archive);
    if is_organization {
        archive
            .record(paths::ORGANIZATION, &organization(dice))
            .unwrap();
    }
    for place in 0..dice.below(3) {
        let folder = paths::flow(&format!("flow{place}"));
        let (messages, last) = messages(dice);
        archive
            .record(&format!("{folder}/flow.json"), &flow(dice, tenants, last))
            .unwrap();
        let threads: Vec<Value> = (0..dice.below(4)).map(|_| thread(dice)).collect();
        chain(&format!("{folder}/threads.jsonl"), &threads, &mut archive);
        chain(&format!("{folder}/messages.jsonl"), &messages, &mut archive);
    }
    for place in 0..dice.below(if is_organization { 4 } else { 1 }) {
        let folder = format!("conversations/{place}-{place}");
        let (messages, last) = messages(dice);
        let pair = [somebody(dice), somebody(dice)];
        let members: Vec<Value> = pair.iter().map(|person| member(dice, *person)).collect();
        let record = json!({"last_message": last, "members": members});
        archive
            .record(&format!("{folder}/conversation.json"), &record)
            .unwrap();
        chain(&format!("{folder}/threads.jsonl"), &[], &mut archive);
        chain(&format!("{folder}/messages.jsonl"), &messages, &mut archive);
    }
    archive.finish(&ExportKey::derive(b"a stranger")).unwrap();
}
