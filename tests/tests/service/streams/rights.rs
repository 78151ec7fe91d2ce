//! A user who loses a flow hears nothing more of it, from the moment on that the answer is there.

use eddyline_client::{Json, Method, StreamRequest};
use eddyline_tests::{Acme, Caller, Listener, Server, on_both_databases};
use serde_json::json;

on_both_databases![
    a_blocked_user_hears_nothing_more,
    who_left_hears_nothing_more,
    an_archived_flow_falls_silent_for_everybody,
    a_new_password_ends_all_streams_of_the_user,
    a_slow_reader_loses_what_was_not_read_yet,
    who_comes_back_may_listen_again,
];

const MAIN: &str = "acme/main";
const LAB: &str = "acme/lab";
const USERS: &str = "/flows/acme/main/users";

/// Streams of one caller: on the flow that will be lost, and on two flows.
async fn streams(server: &Server, caller: &Caller, acme: &[&Caller]) -> (Listener, Listener) {
    server.flow("acme", "lab", acme);
    (
        Listener::to(&caller.client, &[MAIN]).await,
        Listener::to(&caller.client, &[MAIN, LAB]).await,
    )
}

/// Nothing with the text `secret` came, neither on the stream that has ended nor on the one that
/// goes on with the other flow.
async fn heard_no_secret(speaker: &Caller, (only, both): (Listener, Listener)) {
    speaker.say(LAB, "goes on").await;
    let mut both = both;
    assert_eq!(both.texts_through("goes on").await, ["known", "goes on"]);
    let rest = only.rest().await;
    assert_eq!(texts(&rest), ["known"]);
}

fn texts(events: &[Json]) -> Vec<&Json> {
    events
        .iter()
        .filter(|event| event["event"] == "message")
        .map(|event| &event["content"])
        .collect()
}

async fn block(by: &Caller, user: &Caller, blocked: bool) {
    by.does(
        Method::PUT,
        &format!("{USERS}/{}", user.id),
        &json!({"disabled": blocked}),
    )
    .await;
}

/// Shows: 3.11
async fn a_blocked_user_hears_nothing_more(server: Server) {
    let Acme { ada, ben } = server.acme();
    let streams = streams(&server, &ben, &[&ada, &ben]).await;
    ada.say(MAIN, "known").await;
    block(&ada, &ben, true).await;
    ada.say(MAIN, "secret").await;
    heard_no_secret(&ada, streams).await;
}

async fn who_left_hears_nothing_more(server: Server) {
    let Acme { ada, ben } = server.acme();
    let streams = streams(&server, &ben, &[&ada, &ben]).await;
    ada.say(MAIN, "known").await;
    ben.does(Method::DELETE, &format!("{USERS}/{}", ben.id), &Json::Null)
        .await;
    ada.say(MAIN, "secret").await;
    heard_no_secret(&ada, streams).await;
}

/// Shows: 3.9
async fn an_archived_flow_falls_silent_for_everybody(server: Server) {
    let Acme { ada, ben } = server.acme();
    let of_ada = streams(&server, &ada, &[&ada, &ben]).await;
    let of_ben = (
        Listener::to(&ben.client, &[MAIN]).await,
        Listener::to(&ben.client, &[MAIN, LAB]).await,
    );
    ada.say(MAIN, "known").await;
    ada.does(Method::PUT, "/flows/acme/main", &json!({"disabled": true}))
        .await;
    for (caller, mut streams) in [(&ada, of_ada), (&ben, of_ben)] {
        // What was said in the other flow for the one before is heard too.
        streams.1.event("message").await;
        caller.say(LAB, "after").await;
        streams.1.texts_through("after").await;
        assert_eq!(texts(&streams.0.rest().await), ["known"]);
    }
}

async fn a_new_password_ends_all_streams_of_the_user(server: Server) {
    let Acme { ada, ben } = server.acme();
    let everything = StreamRequest::new().flow(MAIN).user();
    let by_token = Listener::open(&ben.client, &everything).await;
    let by_password = Listener::open(&ben.by_password(), &everything).await;
    let mut of_ada = Listener::to(&ada.client, &[MAIN]).await;
    ada.say(MAIN, "known").await;
    server.admin(&[
        "user",
        "set-password",
        "--email",
        &ben.email,
        "--password",
        "another one",
    ]);
    ada.say(MAIN, "secret").await;
    for stream in [by_token, by_password] {
        assert_eq!(texts(&stream.rest().await), ["known"]);
    }
    assert_eq!(
        of_ada.texts_through("secret").await,
        ["known", "secret"],
        "others go on"
    );
}

async fn a_slow_reader_loses_what_was_not_read_yet(server: Server) {
    const MESSAGES: usize = 1000;
    let Acme { ada, ben } = server.acme();
    let slow = Listener::to(&ben.client, &[MAIN]).await;
    // More than sockets hold.
    let long = "x".repeat(8000);
    ada.flood(MAIN, MESSAGES, |number| format!("{number} {long}"))
        .await;
    block(&ada, &ben, true).await;
    let rest = slow.rest().await;
    let heard: Vec<_> = rest
        .iter()
        .map(|message| message["id"].as_i64().unwrap())
        .collect();
    assert!(
        heard.is_sorted_by(|one, next| *next == one + 1),
        "nothing is left out in between"
    );
    assert!(
        heard.len() < MESSAGES,
        "all of it was told after the answer to the block"
    );
}

async fn who_comes_back_may_listen_again(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut stream = Listener::to(&ben.client, &[MAIN]).await;
    ada.say(MAIN, "known").await;
    stream.texts_through("known").await;
    let id = stream.last_event_id();
    for _ in 0..3 {
        block(&ada, &ben, true).await;
        let refused = ben
            .client
            .stream(&StreamRequest::new().flow(MAIN).after(&id))
            .await;
        assert_eq!(
            refused.err().and_then(|error| error.status()),
            Some(eddyline_client::StatusCode::FORBIDDEN)
        );
        block(&ada, &ben, false).await;
        let mut stream =
            Listener::open(&ben.client, &StreamRequest::new().flow(MAIN).after(&id)).await;
        ada.say(MAIN, "welcome").await;
        assert!(
            stream
                .texts_through("welcome")
                .await
                .iter()
                .all(|text| text == "welcome")
        );
    }
}
