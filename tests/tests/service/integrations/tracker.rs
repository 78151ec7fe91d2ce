//! An issue tracker at work: a thousand messages over fifty tickets from eight connections at once,
//! while somebody who only listens keeps a picture of every ticket. In the end the picture is what
//! the server lists.

use std::collections::BTreeMap;

use eddyline_client::{Client, Json};
use eddyline_tests::{Dice, Listener, Tenant, on_shared_servers};
use serde_json::json;

use super::threads::pages;
use super::{Source, push};
use crate::files::Form;

on_shared_servers![who_only_listens_has_the_picture_that_is_listed];

const MESSAGES: usize = 1000;
const TICKETS: usize = 50;
const CONNECTIONS: usize = 8;
const COLORS: [&str; 4] = ["red", "green", "yellow", "grey"];

/// Shows: 4.24, 6.5
async fn who_only_listens_has_the_picture_that_is_listed(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let mut stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let listening = tokio::spawn(async move {
        let mut picture = Picture::default();
        while picture.heard < MESSAGES {
            picture.hear(&stream.json().await);
        }
        picture
    });
    let workers = (0..CONNECTIONS).map(|worker| tokio::spawn(work(source.client.clone(), worker)));
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    let picture = listening.await.unwrap();
    assert_eq!(picture.threads.len(), TICKETS);
    let listed = pages(
        &tenant.ben.client,
        &tenant.path("/threads?application=inbox&limit=7"),
    )
    .await
    .concat();
    let listed: BTreeMap<String, Json> = listed
        .into_iter()
        .map(|thread| (thread["id"].as_str().unwrap().to_owned(), thread))
        .collect();
    for (id, thread) in &picture.threads {
        assert_eq!(listed.get(id), Some(thread));
    }
    assert_eq!(listed.len(), TICKETS);
    let total = |name: &str| {
        listed
            .values()
            .map(|thread| thread[name].as_i64().unwrap())
            .sum::<i64>()
    };
    assert_eq!(
        total("activities") + total("external_comments"),
        MESSAGES as i64
    );
    let files = tenant
        .ben
        .get(&tenant.path("/messages?tags=:file&limit=100"))
        .await;
    assert_eq!(
        files.as_array().unwrap().len(),
        100,
        "about two hundred messages bring a file"
    );
}

/// One connection of the tracker. Several may be at the same ticket.
async fn work(client: Client, worker: usize) {
    let mut dice = Dice::new(worker as u64);
    for number in (worker..MESSAGES).step_by(CONNECTIONS) {
        let ticket = if number < TICKETS {
            number
        } else {
            dice.below(TICKETS)
        };
        let message = message(ticket, number, &mut dice);
        if dice.one_in(5) {
            push_with_log(&client, message, number).await;
        } else {
            push(&client, &message).await;
        }
    }
}

/// Pushes a message as a form, with a log of the build and a picture in its body.
async fn push_with_log(client: &Client, mut message: Json, number: usize) {
    message["body"] = json!("<p>See <a href=\"cid:log\">the log</a>.</p>");
    let mut pairs = Vec::new();
    for (name, value) in message.as_object().unwrap() {
        flatten(name, value, &mut pairs);
    }
    let form = pairs.iter().fold(Form::default(), |form, (name, value)| {
        form.text(name, value)
    });
    // Some logs are the same, byte for byte.
    let log = format!("build {}", number % 10);
    let form = form.file(
        "attachments[log]",
        "build.log",
        "text/plain",
        log.as_bytes(),
    );
    let posted = form.posted(client, "/messages").await;
    let path = posted["attachments"][0]["path"].as_str().unwrap();
    assert!(posted["body"].as_str().unwrap().contains(path), "{posted}");
}

/// The pairs of a form that says the same.
fn flatten(name: &str, value: &Json, pairs: &mut Vec<(String, String)>) {
    match value {
        Json::Object(map) => {
            for (key, value) in map {
                flatten(&format!("{name}[{key}]"), value, pairs);
            }
        }
        Json::Array(list) => {
            for value in list {
                flatten(&format!("{name}[]"), value, pairs);
            }
        }
        Json::String(text) => pairs.push((name.to_owned(), text.clone())),
        other => pairs.push((name.to_owned(), other.to_string())),
    }
}

fn message(ticket: usize, number: usize, dice: &mut Dice) -> Json {
    let mut message = json!({
        "event": "activity", "external_thread_id": format!("ticket/{ticket}"), "uuid": format!("m-{number}"),
        "author": {"name": "Zoë"}, "title": format!("did <a href=\"https://t.example/{number}\">{number}</a>"),
    });
    if dice.one_in(4) {
        message["event"] = json!("discussion");
        message["body"] = json!(format!("<p>I think <i>{number}</i>.</p>"));
    }
    if !dice.one_in(3) {
        message["thread"] = state(ticket, number, dice);
    }
    message
}

/// A state of a ticket; what it does not name is gone with it.
fn state(ticket: usize, number: usize, dice: &mut Dice) -> Json {
    let mut state = json!({
        "title": format!("Ticket {ticket} after {number}"),
        "status": {"value": format!("state {number}"), "color": dice.pick(&COLORS)},
    });
    if dice.one_in(2) {
        state["body"] = json!(format!("<p>{number}</p>"));
        state["external_url"] = json!(format!("https://tracker.example/{ticket}"));
    }
    if dice.one_in(2) {
        state["fields"] = json!([{"label": "Last", "value": number.to_string()}]);
        let url = format!("https://tracker.example/{ticket}/close");
        let target = json!({"@type": "EntryPoint", "urlTemplate": url, "httpMethod": "POST"});
        state["actions"] = json!([{"@type": "UpdateAction", "name": "Close", "target": target}]);
    }
    state
}

/// The tickets as somebody knows them who hears messages and asks nothing.
#[derive(Default)]
struct Picture {
    heard: usize,
    last: i64,
    threads: BTreeMap<String, Json>,
}

impl Picture {
    fn hear(&mut self, message: &Json) {
        if !["activity", "discussion"].contains(&message["event"].as_str().unwrap()) {
            return;
        }
        self.heard += 1;
        let id = message["id"].as_i64().unwrap();
        assert!(
            id > self.last,
            "messages come in the order of their numbers"
        );
        self.last = id;
        let thread = &message["thread"];
        self.threads.insert(
            message["thread_id"].as_str().unwrap().to_owned(),
            thread.clone(),
        );
    }
}
