//! Streams of the flows that their callers are in, at each time (docs/protocol.md, Streaming).

use eddyline_client::{Method, StreamRequest};
use eddyline_tests::{Acme, Caller, Listener, Server, on_both_databases};
use serde_json::json;

on_both_databases![
    a_stream_of_joined_flows_follows_its_caller,
    an_archived_flow_that_comes_back_is_heard_again,
    a_stream_that_goes_on_has_what_was_said_in_a_flow_joined_meanwhile,
    who_joins_a_flow_is_seen_there_at_once,
    an_open_stream_shows_what_its_user_says,
    a_flow_that_is_named_twice_counts_once,
    a_stream_takes_thirty_changes_in_a_minute,
];

const MAIN: &str = "acme/main";
const SIDE: &str = "acme/side";

fn joined() -> StreamRequest {
    StreamRequest::new().joined()
}

/// A flow that each member of the organization can join, and which `owner` made.
async fn side(owner: &Caller) {
    let name = json!({"name": "Side"});
    let made = owner.send(Method::POST, "/flows/acme", &name).await;
    assert_eq!(made.status.as_u16(), 201);
    let open_to_all = json!({"access_mode": "organization"});
    owner
        .does(Method::PUT, "/flows/acme/side", &open_to_all)
        .await;
}

async fn join(user: &Caller) {
    user.does(Method::PUT, "/flows/acme/side", &json!({"open": true}))
        .await;
}

async fn next_text(stream: &mut Listener) -> String {
    let message = stream.event("message").await;
    message["content"].as_str().unwrap().to_owned()
}

async fn a_stream_of_joined_flows_follows_its_caller(server: Server) {
    let Acme { ada, ben } = server.acme();
    side(&ada).await;
    let mut stream = Listener::open(&ben.client, &joined()).await;
    ada.say(SIDE, "not for Ben").await;
    ada.say(MAIN, "one").await;
    assert_eq!(next_text(&mut stream).await, "one");
    join(&ben).await;
    ada.say(SIDE, "two").await;
    assert_eq!(next_text(&mut stream).await, "two");
    // Leaving ends neither the stream nor the rest of it.
    let place = format!("/flows/acme/side/users/{}", ben.id);
    ben.does(Method::DELETE, &place, &json!({})).await;
    ada.say(SIDE, "not for Ben").await;
    ada.say(MAIN, "three").await;
    assert_eq!(next_text(&mut stream).await, "three");
    join(&ben).await;
    ada.say(SIDE, "four").await;
    assert_eq!(next_text(&mut stream).await, "four");
}

async fn an_archived_flow_that_comes_back_is_heard_again(server: Server) {
    let Acme { ada, ben } = server.acme();
    side(&ada).await;
    join(&ben).await;
    let mut stream = Listener::open(&ben.client, &joined()).await;
    for disabled in [true, false] {
        let change = json!({"disabled": disabled});
        ada.does(Method::PUT, "/flows/acme/side", &change).await;
    }
    ada.say(SIDE, "back").await;
    assert_eq!(next_text(&mut stream).await, "back");
}

async fn a_stream_that_goes_on_has_what_was_said_in_a_flow_joined_meanwhile(server: Server) {
    let Acme { ada, ben } = server.acme();
    side(&ada).await;
    let mut stream = Listener::open(&ben.client, &joined()).await;
    ada.say(MAIN, "one").await;
    assert_eq!(next_text(&mut stream).await, "one");
    let id = stream.last_event_id();
    drop(stream);
    join(&ben).await;
    ada.say(SIDE, "two").await;
    let mut again = Listener::open(&ben.client, &joined().after(&id)).await;
    assert_eq!(next_text(&mut again).await, "two");
}

fn asks(flow: &str) -> StreamRequest {
    StreamRequest {
        presence: true,
        ..StreamRequest::new().flow(flow)
    }
}

async fn next_state(stream: &mut Listener) -> String {
    let event = stream.event("presence").await;
    event["content"]["state"].as_str().unwrap().to_owned()
}

async fn who_joins_a_flow_is_seen_there_at_once(server: Server) {
    let Acme { ada, ben } = server.acme();
    side(&ada).await;
    let mut of_side = Listener::open(&ada.client, &asks(SIDE)).await;
    let stream = Listener::open(&ben.client, &joined().active("true")).await;
    join(&ben).await;
    assert_eq!(next_state(&mut of_side).await, "active");
    // Who leaves is seen there no more, and again after coming back.
    let place = format!("/flows/acme/side/users/{}", ben.id);
    ben.does(Method::DELETE, &place, &json!({})).await;
    assert_eq!(next_state(&mut of_side).await, "offline");
    join(&ben).await;
    assert_eq!(next_state(&mut of_side).await, "active");
    drop(stream);
    assert_eq!(next_state(&mut of_side).await, "offline");
}

async fn a_flow_that_is_named_twice_counts_once(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut of_main = Listener::open(&ada.client, &asks(MAIN)).await;
    let id = ben.get("/flows/acme/main").await["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let twice = joined().flow(MAIN).flow(&id).active("true");
    let stream = Listener::open(&ben.client, &twice).await;
    assert_eq!(next_state(&mut of_main).await, "active");
    drop(stream);
    assert_eq!(next_state(&mut of_main).await, "offline");
}

async fn a_stream_takes_thirty_changes_in_a_minute(server: Server) {
    let Acme { ben, .. } = server.acme();
    let stream = Listener::open(&ben.client, &joined().active("true")).await;
    let path = format!("/streams/{}", stream.header("stream-id").unwrap());
    let change = json!({"active": "idle"});
    for _ in 0..30 {
        ben.does(Method::PUT, &path, &change).await;
    }
    let refused = ben.send(Method::PUT, &path, &change).await;
    assert_eq!(refused.status.as_u16(), 429);
    let seconds = refused.header("retry-after").unwrap().parse::<u64>();
    assert!((1..=60).contains(&seconds.unwrap()));
}

async fn an_open_stream_shows_what_its_user_says(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut of_main = Listener::open(&ada.client, &asks(MAIN)).await;
    let mut stream = Listener::open(&ben.client, &joined().active("true")).await;
    assert_eq!(next_state(&mut of_main).await, "active");
    let id = stream.header("stream-id").unwrap().to_owned();
    let show = async |caller: &Caller, id: &str, state: &str| {
        let path = format!("/streams/{id}");
        let shown = json!({"active": state});
        caller
            .send(Method::PUT, &path, &shown)
            .await
            .status
            .as_u16()
    };
    for (state, seen) in [("idle", "idle"), ("false", "offline"), ("true", "active")] {
        assert_eq!(show(&ben, &id, state).await, 200);
        assert_eq!(next_state(&mut of_main).await, seen);
    }
    assert_eq!(show(&ben, &id, "asleep").await, 400);
    // The stream of another user is not there, nor is a name in another spelling.
    assert_eq!(show(&ada, &id, "idle").await, 404);
    assert_eq!(show(&ben, "0000000000000001", "idle").await, 404);
    assert_eq!(show(&ben, &format!("+{id}"), "idle").await, 404);
    assert_eq!(show(&ben, "none", "idle").await, 404);
    let quiet = Listener::open(&ben.client, &joined()).await;
    assert_eq!(quiet.header("stream-id"), None);
    // It goes on all the while, and ends as it shows its user now.
    assert_eq!(show(&ben, &id, "idle").await, 200);
    assert_eq!(next_state(&mut of_main).await, "idle");
    ada.say(MAIN, "still there?").await;
    assert_eq!(next_text(&mut stream).await, "still there?");
    drop(stream);
    assert_eq!(next_state(&mut of_main).await, "offline");
    assert_eq!(show(&ben, &id, "idle").await, 404);
}
