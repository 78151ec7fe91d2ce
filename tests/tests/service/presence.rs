//! Who is there, and who did something: told to those who listen now, and kept nowhere.

use eddyline_client::{Json, StreamRequest};
use eddyline_tests::{Acme, Caller, Listener, Server, on_both_databases};
use serde_json::json;

mod servers;

on_both_databases![
    that_somebody_posted_is_told_after_the_post_and_once_a_minute,
    an_active_stream_is_a_sign_of_activity,
    who_comes_and_goes_is_told_to_those_who_ask,
    presence_is_not_kept,
    a_flow_shows_when_its_people_were_last_there,
    a_stream_that_shows_nobody_leaves_no_trace,
];

on_both_databases![&["--profile", "classic"]; an_old_client_is_told_numbers_and_the_time];

const MAIN: &str = "acme/main";

/// Shows: 6.8
async fn that_somebody_posted_is_told_after_the_post_and_once_a_minute(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut stream = Listener::to(&ada.client, &[MAIN]).await;
    let message = ben.say(MAIN, "one").await;
    ben.say(MAIN, "two").await;
    let first = stream.anything().await;
    assert_eq!(first.json, message);
    let mut rest = [stream.anything().await, stream.anything().await];
    rest.sort_by_key(|event| event.id.is_some());
    let [activity, second] = rest;
    let expected = json!({
        "event": "activity.user",
        "flow": message["flow"],
        "user": ben.id.to_string(),
        "content": {"last_activity": message["sent"]},
    });
    assert_eq!((activity.json, activity.id), (expected, None));
    assert_eq!(second.json["content"], "two");
    ben.say(MAIN, "three").await;
    assert_eq!(stream.anything().await.json["content"], "three");
}

async fn an_active_stream_is_a_sign_of_activity(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut stream = Listener::to(&ada.client, &[MAIN]).await;
    let _active =
        Listener::open(&ben.client, &StreamRequest::new().flow(MAIN).active("true")).await;
    let activity = stream.anything().await.json;
    assert_eq!(
        (&activity["event"], &activity["user"]),
        (&json!("activity.user"), &json!(ben.id.to_string()))
    );
}

/// Shows: 4.43, 6.8
async fn who_comes_and_goes_is_told_to_those_who_ask(server: Server) {
    let Acme { ada, ben } = server.acme();
    let asks = StreamRequest {
        presence: true,
        ..StreamRequest::new().flow(MAIN)
    };
    let flow = ada.get("/flows/acme/main").await;
    let mut asking = Listener::open(&ada.client, &asks).await;
    let mut other = Listener::to(&ada.client, &[MAIN]).await;
    let shows = |state| StreamRequest::new().flow(MAIN).active(state);

    let idle = Listener::open(&ben.client, &shows("idle")).await;
    let event = asking.event("presence").await;
    let content = json!({"user_id": ben.id, "state": "idle"});
    assert_eq!((&event["flow"], &event["content"]), (&flow["id"], &content));
    let active = Listener::open(&ben.client, &shows("true")).await;
    assert_eq!(next_state(&mut asking).await, (ben.id, "active".to_owned()));
    drop(active);
    assert_eq!(next_state(&mut asking).await, (ben.id, "idle".to_owned()));
    drop(idle);
    assert_eq!(
        next_state(&mut asking).await,
        (ben.id, "offline".to_owned())
    );

    ada.say(MAIN, "who was here?").await;
    assert_eq!(
        other.json().await["event"],
        "message",
        "those who did not ask hear nothing of it"
    );
}

async fn next_state(stream: &mut Listener) -> (i64, String) {
    let content = stream.event("presence").await["content"].take();
    (
        content["user_id"].as_i64().unwrap(),
        content["state"].as_str().unwrap().to_owned(),
    )
}

async fn presence_is_not_kept(server: Server) {
    let Acme { ada, ben } = server.acme();
    let asks = StreamRequest {
        presence: true,
        ..StreamRequest::new().flow(MAIN)
    };
    let mut stream = Listener::open(&ada.client, &asks).await;
    ada.say(MAIN, "before").await;
    stream.event("message").await;
    let id = stream.last_event_id();
    drop(Listener::open(&ben.client, &StreamRequest::new().flow(MAIN).active("true")).await);
    while next_state(&mut stream).await.1 != "offline" {}
    assert_eq!(
        stream.last_event_id(),
        id,
        "they have no place to come back to"
    );
    ben.say(MAIN, "after").await;

    let mut again = Listener::open(&ada.client, &asks.after(&id)).await;
    assert_eq!(again.anything().await.json["content"], "after");
    let listed = ada.get("/flows/acme/main/messages").await;
    let events: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["event"])
        .collect();
    assert_eq!(events, ["message", "message"]);
}

/// Shows: 2.15
async fn a_flow_shows_when_its_people_were_last_there(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let before = place_of(&ben, &ada).await;
    assert_eq!(
        (&before["last_ping"], &before["presence"]),
        (&json!(0), &json!("offline"))
    );
    let message = ben.say(MAIN, "hello").await;
    assert_eq!(place_of(&ben, &ada).await["last_activity"], message["sent"]);

    let stream = Listener::open(&ben.client, &StreamRequest::new().flow(MAIN).active("idle")).await;
    let there = place_of(&ben, &ada).await;
    assert!(
        there["last_ping"].as_i64() >= message["sent"].as_i64(),
        "{there}"
    );
    assert_eq!(there["presence"], "idle");
    assert_eq!(
        there["last_activity"], message["sent"],
        "to be idle is no activity"
    );

    server.terminate();
    assert!(stream.rest().await.is_empty());
    server.restart();
    let after = place_of(&ben, &ada).await;
    assert!(
        after["last_ping"].as_i64() >= there["last_ping"].as_i64(),
        "{after}"
    );
    assert_eq!(after["last_activity"], message["sent"]);
    assert_eq!(
        place_of(&ben, &ada).await,
        after,
        "nobody is there any more"
    );
}

/// Shows: 4.43
async fn a_stream_that_shows_nobody_leaves_no_trace(server: Server) {
    let Acme { ada, ben } = server.acme();
    for request in [
        StreamRequest::new().flow(MAIN),
        StreamRequest::new().flow(MAIN).active("false"),
    ] {
        let _stream = Listener::open(&ben.client, &request).await;
        assert_eq!(place_of(&ben, &ada).await["last_ping"], 0);
    }
    let away = StreamRequest::new().flow(MAIN).active("asleep");
    let refused = ben
        .client
        .stream(&away)
        .await
        .err()
        .and_then(|error| error.status());
    assert_eq!(refused, Some(eddyline_client::StatusCode::BAD_REQUEST));
}

/// A user as the flow shows them.
async fn place_of(user: &Caller, asking: &Caller) -> Json {
    let flow = asking.get("/flows/acme/main").await;
    let lists = asking.get("/flows?users=1").await;
    for users in [&flow["users"], &lists[0]["users"]] {
        assert!(
            users
                .as_array()
                .unwrap()
                .iter()
                .any(|place| place["id"] == user.id)
        );
    }
    flow["users"]
        .as_array()
        .unwrap()
        .iter()
        .find(|place| place["id"] == user.id)
        .unwrap()
        .clone()
}

async fn an_old_client_is_told_numbers_and_the_time(server: Server) {
    let Acme { ada, ben } = server.acme();
    let asks = StreamRequest {
        presence: true,
        ..StreamRequest::new().flow(MAIN)
    };
    let mut asking = Listener::open(&ada.client, &asks).await;
    let shows = |state| StreamRequest::new().flow(MAIN).active(state);
    let before = ben.say(MAIN, "here I am").await["created_at"].clone();

    let idle = Listener::open(&ben.client, &shows("idle")).await;
    let first = asking.event("presence").await["content"].take();
    let active = Listener::open(&ben.client, &shows("true")).await;
    let second = asking.event("presence").await["content"].take();
    drop((idle, active));
    let last = loop {
        let told = asking.event("presence").await["content"].take();
        if told["state"] == 0 {
            break told;
        }
    };
    assert_eq!(
        (&first["state"], &second["state"]),
        (&json!(1_000_000), &json!(2_000_000))
    );
    let mut times = vec![before.as_str().unwrap()];
    for told in [&first, &second, &last] {
        let names: Vec<_> = told
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(names.len(), 3, "{told}");
        assert_eq!(told["user_id"], ben.id);
        times.push(told["updated_at"].as_str().unwrap());
    }
    // Times of one form are in the order of their texts.
    assert!(
        times.is_sorted() && times.iter().all(|time| time.len() == times[0].len()),
        "{times:?}"
    );
}
