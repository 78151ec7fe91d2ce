//! A restart between any two requests changes nothing that a client can see.

use eddyline_client::{Json, Method, StreamRequest};
use eddyline_tests::{Acme, Caller, Listener, Server, on_both_databases};
use serde_json::json;

use crate::integrations::{activity, update};

on_both_databases![
    a_restart_after_any_request_changes_nothing_that_is_seen,
    a_stream_goes_on_where_it_was_when_the_server_is_back,
];

const MESSAGES: &str = "/flows/acme/main/messages";

/// What is asked of the server between two looks: who asks, the method, the path, the body.
type Step<'a> = (&'a Caller, Method, &'a str, Json);

async fn a_restart_after_any_request_changes_nothing_that_is_seen(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let cyd = server.user("acme", "cyd");
    let robot = server.robot("acme", &[]);
    let line = [
        "source",
        "create",
        "--flow",
        "acme/main",
        "--app",
        &robot.id,
        "--name",
        "Tickets",
    ];
    let token = server.admin(&line)["flow_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let client = server.client().flow_token(&token).build().unwrap();
    let tool = Caller {
        id: 0,
        email: "a tool".to_owned(),
        token,
        client,
    };
    let ticket = json!({"title": "Crash", "status": {"value": "open", "color": "red"}});
    let (post, put, delete) = (Method::POST, Method::PUT, Method::DELETE);
    let cyd_in_main = format!("/flows/acme/main/users/{}", cyd.id);
    let steps: [Step<'_>; 20] = [
        (
            &ada,
            post.clone(),
            MESSAGES,
            json!({"event": "message", "content": "@ben see #plan", "uuid": "1"}),
        ),
        (
            &ada,
            post.clone(),
            MESSAGES,
            json!({"event": "message", "content": "@everyone now"}),
        ),
        (
            &ben,
            post.clone(),
            "/flows/acme/main/messages/1/comments",
            json!({"content": "seen"}),
        ),
        (
            &ben,
            post.clone(),
            MESSAGES,
            json!({"event": "status", "content": "busy"}),
        ),
        (
            &ada,
            put.clone(),
            "/flows/acme/main/messages/1",
            json!({"content": "@ben see the map"}),
        ),
        (
            &ben,
            put.clone(),
            "/flows/acme/main/messages/1",
            json!({"tags": ["map", "found"]}),
        ),
        (
            &tool,
            post.clone(),
            "/messages",
            update("7", "opened", &ticket),
        ),
        (
            &tool,
            put.clone(),
            "/sources",
            json!({"error_message": "The key ends soon."}),
        ),
        (&tool, post.clone(), "/messages", activity("7", "changed")),
        (&ada, post.clone(), "/flows/acme", json!({"name": "Lab"})),
        (
            &ada,
            post.clone(),
            "/flows/acme/main/users",
            json!({"id": cyd.id}),
        ),
        (
            &cyd,
            post.clone(),
            MESSAGES,
            json!({"event": "message", "content": "hello", "tags": ["hi"]}),
        ),
        (&ada, put.clone(), &cyd_in_main, json!({"disabled": true})),
        (
            &ada,
            put.clone(),
            "/flows/acme/main",
            json!({"name": "Base", "access_mode": "organization"}),
        ),
        (
            &ben,
            put.clone(),
            "/flows/acme/main",
            json!({"open": false}),
        ),
        (
            &ada,
            delete.clone(),
            "/flows/acme/main/messages/2",
            Json::Null,
        ),
        (&ada, put.clone(), &cyd_in_main, json!({"disabled": false})),
        (&cyd, delete.clone(), &cyd_in_main, Json::Null),
        (&tool, delete, "/sources", Json::Null),
        (&ada, put, "/flows/acme/lab", json!({"disabled": true})),
    ];
    for (by, method, path, body) in &steps {
        by.does(method.clone(), path, body).await;
        let before = everything(&[&ada, &ben, &cyd]).await;
        server.terminate();
        server.restart();
        for (before, after) in before.iter().zip(everything(&[&ada, &ben, &cyd]).await) {
            assert_eq!(*before, after, "after {method} {path} {body}");
        }
    }
    // A repeat is known for a repeat still.
    ada.does(
        Method::POST,
        MESSAGES,
        &json!({"event": "message", "content": "@ben see #plan", "uuid": "1"}),
    )
    .await;
    assert_eq!(
        ada.get("/flows/acme/main/messages?search=map")
            .await
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// The answers to many questions, each with its question, its status and its headers that matter.
async fn everything(callers: &[&Caller]) -> Vec<(String, Json)> {
    let mut paths: Vec<String> = [
        "/user",
        "/flows?users=1",
        "/flows/all?users=1",
        "/flows/acme/main",
        "/flows/acme/lab",
        "/flows/acme/main/users",
        "/flows/acme/main/messages?limit=100",
        "/flows/acme/main/messages?search=see",
        "/flows/acme/main/messages?tags=map",
        "/flows/acme/main/messages?event=action,status",
        "/flows/acme/main/messages/1",
        "/flows/acme/main/messages/1/comments",
        "/flows/acme/main/threads",
        "/flows/acme/main/threads?application=inbox",
        "/flows/acme/main/threads?empty=1&limit=2",
        "/flows/acme/main/sources",
        "/sources",
    ]
    .map(str::to_owned)
    .into();
    let listed = callers[0].get("/flows/acme/main/messages?limit=100").await;
    let threads = listed
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message["thread_id"].as_str());
    for id in threads {
        paths.push(format!("/flows/acme/main/threads/{id}"));
        paths.push(format!("/flows/acme/main/threads/{id}/messages"));
    }
    let mut seen = Vec::new();
    for caller in callers {
        for path in &paths {
            let answer = caller.send(Method::GET, path, &Json::Null).await;
            let question = format!("{path} asked by {}", caller.email);
            seen.push((
                question,
                json!([
                    answer.status.as_u16(),
                    answer.json(),
                    answer.header("service-user")
                ]),
            ));
        }
    }
    seen
}

/// Shows: 4.48
async fn a_stream_goes_on_where_it_was_when_the_server_is_back(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let request = StreamRequest::new().flow("acme/main");
    let mut stream = Listener::open(&ada.client, &request).await;
    ben.say("acme/main", "start").await;
    stream.texts_through("start").await;
    for number in 0..6 {
        let heard = ben.say("acme/main", "heard").await;
        assert_eq!(stream.json().await["id"], heard["id"]);
        let id = stream.last_event_id();
        let missed = ben
            .say("acme/main", "missed by a client that was cut off")
            .await;
        if number % 2 == 0 {
            server.terminate();
        }
        server.restart();
        stream = Listener::open(&ada.client, &request.clone().after(&id)).await;
        assert_eq!(stream.json().await, missed);
    }
}
