//! A server that dies in the midst of its work loses nothing that it answered, and doubles nothing
//! that is sent again.

use std::collections::BTreeMap;
use std::sync::Arc;

use eddyline_client::{Client, Json, StreamRequest};
use eddyline_tests::{Acme, Caller, Listener, Server, on_both_databases};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

on_both_databases![
    what_was_answered_before_a_crash_is_there_once,
    what_was_answered_before_an_orderly_end_is_there_once,
];

const ROUNDS: usize = 5;
const SENDERS: usize = 8;
/// How many posts are answered before the server dies.
const ANSWERS: u32 = 120;
const PATH: &str = "/flows/acme/main/messages";

async fn what_was_answered_before_a_crash_is_there_once(server: Server) {
    endure(server, Server::kill9).await;
}

async fn what_was_answered_before_an_orderly_end_is_there_once(server: Server) {
    endure(server, |server| {
        server.terminate();
    })
    .await;
}

async fn endure(mut server: Server, end: impl Fn(&mut Server)) {
    let Acme { ada, ben } = server.acme();
    let request = StreamRequest::new().flow("acme/main");
    let mut stream = Listener::open(&ada.client, &request).await;
    ben.say("acme/main", "start").await;
    stream.texts_through("start").await;
    let mut heard = Vec::new();
    let mut answered = BTreeMap::new();
    for round in 0..ROUNDS {
        let id = stream.last_event_id();
        let answers = Arc::new(Semaphore::new(0));
        let sending: Vec<_> = (0..SENDERS)
            .map(|sender| send(&ben.client, format!("{round}-{sender}"), &answers))
            .collect();
        let enough = answers.acquire_many(ANSWERS).await.unwrap();
        tokio::task::block_in_place(|| end(&mut server));
        drop(enough);
        let (told, last) = remaining(stream, id).await;
        heard.extend(told);
        server.restart();
        stream = Listener::open(&ada.client, &request.clone().after(&last)).await;
        for sender in sending {
            let Sent {
                acknowledged,
                uncertain,
            } = sender.await.unwrap();
            answered.extend(acknowledged);
            // As a client does that got no answer.
            let message = post(&ben, &uncertain).await;
            answered.insert(uncertain, message["id"].as_i64().unwrap());
        }
    }
    ben.say("acme/main", "end").await;
    while heard.last().is_none_or(|(_, text)| text != "end") {
        heard.extend(id_and_text(&stream.json().await));
    }
    heard.pop();
    let stored: BTreeMap<String, i64> =
        heard.iter().map(|(id, text)| (text.clone(), *id)).collect();
    assert_eq!(stored.len(), heard.len(), "nothing was told twice");
    assert_eq!(
        stored, answered,
        "each message is there once, under the id that was answered"
    );
    assert!(
        heard.is_sorted_by(|one, next| next.0 == one.0 + 1),
        "no id is left out"
    );
}

/// What a sender knows when the server was gone.
struct Sent {
    acknowledged: BTreeMap<String, i64>,
    uncertain: String,
}

/// Posts one message after the other until there is no answer.
fn send(client: &Client, name: String, answers: &Arc<Semaphore>) -> JoinHandle<Sent> {
    let (client, answers) = (client.clone(), Arc::clone(answers));
    tokio::spawn(async move {
        let mut acknowledged = BTreeMap::new();
        for number in 0.. {
            let text = format!("{name}-{number}");
            match try_post(&client, &text).await {
                Ok(message) => {
                    acknowledged.insert(text, message["id"].as_i64().unwrap());
                    answers.add_permits(1);
                }
                Err(_) => {
                    return Sent {
                        acknowledged,
                        uncertain: text,
                    };
                }
            }
        }
        unreachable!("the server ends first")
    })
}

async fn post(caller: &Caller, text: &str) -> Json {
    try_post(&caller.client, text).await.unwrap()
}

async fn try_post(client: &Client, text: &str) -> Result<Json, eddyline_client::Error> {
    let message = json!({"event": "message", "content": text, "uuid": text});
    let request = client.request(eddyline_client::Method::POST, PATH);
    request
        .header("x-service-wait-for-message", "1")
        .json(&message)
        .call()
        .await
}

/// What came on a stream before it broke off, and the id to continue from.
async fn remaining(stream: Listener, id: String) -> (Vec<(i64, String)>, String) {
    let mut last = id;
    let mut told = Vec::new();
    for event in stream.rest_with_ids().await {
        last = event.id.unwrap_or(last);
        told.extend(id_and_text(&event.json));
    }
    (told, last)
}

fn id_and_text(event: &Json) -> Option<(i64, String)> {
    (event["event"] == "message").then(|| {
        (
            event["id"].as_i64().unwrap(),
            event["content"].as_str().unwrap().to_owned(),
        )
    })
}
