//! Coming back with the id of the last event: exactly what was missed follows, then the present.

use eddyline_client::{Json, StreamRequest};
use eddyline_tests::{Acme, Caller, Listener, Raw, Server, on_both_databases};

on_both_databases![
    what_was_missed_follows_once_each_and_in_order,
    a_client_that_cannot_set_headers_names_the_event_in_the_query,
    objects_of_the_json_stream_bear_the_id_to_come_back_with,
    every_event_is_a_place_to_come_back_to,
    what_was_missed_is_told_as_it_is_now_listed,
    an_unknown_event_is_answered_by_one_reset,
    thousands_of_missed_messages_come_from_the_log,
    a_new_stream_tells_nothing_that_was_answered_before,
    a_stream_that_breaks_before_its_first_event_misses_nothing,
];

/// Names another number of streams that are opened right after an answer.
const OPENINGS: &str = "EDDYLINE_TEST_OPENINGS";
const MAIN: &str = "acme/main";

fn after(id: &str) -> StreamRequest {
    StreamRequest::new().flow(MAIN).after(id)
}

/// Hears one message, so that there is an event to come back to.
async fn first_event(listening: &Caller, speaking: &Caller) -> String {
    let mut stream = Listener::to(&listening.client, &[MAIN]).await;
    speaking.say(MAIN, "before").await;
    stream.next().await.id.expect("a message has an event id")
}

/// Shows: 4.48
async fn what_was_missed_follows_once_each_and_in_order(server: Server) {
    let Acme { ada, ben } = server.acme();
    let id = first_event(&ada, &ben).await;
    let mut missed = Vec::new();
    for number in 0..30 {
        missed.push(ben.say(MAIN, &number.to_string()).await);
    }
    let mut stream = Listener::open(&ada.client, &after(&id)).await;
    for message in missed {
        assert_eq!(stream.json().await, message);
    }
    let live = ben.say(MAIN, "live").await;
    assert_eq!(stream.json().await, live);
}

async fn a_client_that_cannot_set_headers_names_the_event_in_the_query(server: Server) {
    let Acme { ada, ben } = server.acme();
    let id = first_event(&ada, &ben).await;
    let missed = ben.say(MAIN, "missed").await;
    let mut stream = Listener::open(&ada.client, &after(&id).by_query()).await;
    assert_eq!(stream.json().await, missed);
}

async fn objects_of_the_json_stream_bear_the_id_to_come_back_with(server: Server) {
    let Acme { ada, ben } = server.acme();
    let id = first_event(&ada, &ben).await;
    let missed = ben.say(MAIN, "missed").await;
    let mut stream = Listener::open(&ada.client, &after(&id).json()).await;
    let mut told = stream.json().await;
    let next = told
        .as_object_mut()
        .unwrap()
        .remove("event_id")
        .expect("objects bear their id");
    assert_eq!(told, missed);

    let last = ben.say(MAIN, "last").await;
    let mut stream = Listener::open(&ada.client, &after(next.as_str().unwrap()).json()).await;
    assert_eq!(stream.json().await["id"], last["id"]);

    // A client that has seen nothing yet asks for ids with an empty one.
    let mut stream = Listener::open(&ada.client, &after("").json()).await;
    ben.say(MAIN, "new").await;
    let told = stream.json().await;
    assert_eq!(
        (&told["content"], told["event_id"].is_string()),
        (&Json::from("new"), true)
    );
}

/// Shows: 4.48
async fn every_event_is_a_place_to_come_back_to(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut stream = Listener::to(&ada.client, &[MAIN]).await;
    let mut events = Vec::new();
    for number in 0..6 {
        ben.say(MAIN, &number.to_string()).await;
        events.push(stream.next().await);
    }
    for (at, event) in events.iter().enumerate() {
        let mut stream = Listener::open(&ada.client, &after(event.id.as_ref().unwrap())).await;
        for missed in &events[at + 1..] {
            assert_eq!(stream.next().await, *missed);
        }
    }
}

/// Shows: 6.3
async fn what_was_missed_is_told_as_it_is_now_listed(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let id = first_event(&ada, &ben).await;
    let message = ben.say(MAIN, "mistaken").await;
    let path = format!("/flows/acme/main/messages/{}", message["id"]);
    ben.does(eddyline_client::Method::DELETE, &path, &Json::Null)
        .await;
    server.restart();
    let ada = Caller {
        client: server.client().api_token(&ada.token).build().unwrap(),
        ..ada
    };
    let mut stream = Listener::open(&ada.client, &after(&id)).await;
    assert_eq!(
        stream.json().await,
        ada.get(&path).await,
        "what was taken back is not told to those who come late"
    );
    assert_eq!(stream.json().await["event"], "message-edit");
}

/// Shows: 6.8
async fn an_unknown_event_is_answered_by_one_reset(server: Server) {
    let Acme { ada, ben } = server.acme();
    let known = first_event(&ada, &ben).await;
    let (position, check) = known.split_once('-').unwrap();
    let of_another_history = format!(
        "{position}-{:08x}",
        !u32::from_str_radix(check, 16).unwrap()
    );
    let of_the_future = format!("ffffff-{check}");
    for unknown in ["nonsense", &of_another_history, &of_the_future] {
        for request in [after(unknown), after(unknown).json()] {
            let mut stream = Listener::open(&ada.client, &request).await;
            assert_eq!(stream.header("event-id"), None);
            let reset = stream.next().await;
            assert_eq!(reset.json["event"], "reset", "{unknown}");
            let message = ben.say(MAIN, "live").await;
            assert_eq!(stream.json().await["id"], message["id"]);

            let id = reset.id.expect("a reset says where the present is");
            let mut stream = Listener::open(&ada.client, &after(&id)).await;
            assert_eq!(stream.json().await, message);
        }
    }
    // As browsers do: an id in a header, of whatever bytes.
    let headers = ["Accept: text/event-stream", "Last-Event-ID: \u{fffd}"];
    let mut stream = Raw::get(
        server.stream_url(),
        "/flows/acme/main",
        &ada.token,
        &headers,
    )
    .await;
    assert!(stream.head().await.contains("200 OK"));
    assert!(stream.through(b"\n\n").await.contains(r#""event":"reset""#));
}

/// More than the server keeps in memory when it starts.
const MANY: usize = 2500;

/// Shows: 4.48
async fn thousands_of_missed_messages_come_from_the_log(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut whole = Listener::to(&ada.client, &[MAIN]).await;
    let id = first_event(&ada, &ben).await;
    assert_eq!(whole.json().await["content"], "before");
    ben.flood(MAIN, MANY, |number| format!("message {number}"))
        .await;
    let mut told = Vec::new();
    while told.len() < MANY {
        told.push(whole.next().await);
    }

    server.restart();
    let client = server.client().api_token(&ada.token).build().unwrap();
    let mut stream = Listener::open(&client, &after(&id)).await;
    for event in &told {
        assert_eq!(stream.next().await, *event);
    }
    let live = ben.say(MAIN, "live").await;
    assert_eq!(stream.json().await, live);
}

async fn a_new_stream_tells_nothing_that_was_answered_before(server: Server) {
    let Acme { ada, ben } = server.acme();
    let openings =
        std::env::var(OPENINGS).map_or(100, |text| text.parse().expect("it is a number"));
    for number in 0..openings {
        ben.say(MAIN, &format!("answered {number}")).await;
        let mut stream = Listener::to(&ada.client, &[MAIN]).await;
        let next = format!("next {number}");
        ben.say(MAIN, &next).await;
        assert_eq!(stream.event("message").await["content"], next);
    }
}

async fn a_stream_that_breaks_before_its_first_event_misses_nothing(server: Server) {
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "long ago").await;
    let mut whole = Listener::to(&ada.client, &[MAIN]).await;
    ben.say(MAIN, "before").await;
    whole.next().await;
    let new = StreamRequest::new().flow(MAIN);
    for request in [new.clone(), new.json()] {
        let quiet = Listener::open(&ada.client, &request).await;
        let id = quiet.header("event-id").unwrap().to_owned();
        drop(quiet);
        let missed = ben.say(MAIN, "missed").await;
        let mut stream = Listener::open(&ada.client, &after(&id)).await;
        assert_eq!(stream.header("event-id"), Some(id.as_str()));
        assert_eq!(stream.json().await, missed);
        assert_eq!(whole.json().await, missed);
    }
}
