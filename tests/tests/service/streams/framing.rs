//! The bytes of a stream, without a client library in between.

use eddyline_client::Json;
use eddyline_tests::{Raw, Server, on_both_databases};

on_both_databases![
    objects_of_the_json_stream_end_with_cr_lf,
    events_have_an_id_line_and_a_data_line_and_nothing_else,
    the_parameter_decides_over_the_header,
    every_script_comes_in_utf_8,
    no_proxy_holds_a_stream_back,
    a_quiet_stream_is_kept_alive,
];

const JSON: &str = "Accept: application/json";
const EVENTS: &str = "Accept: text/event-stream";

/// Shows: 4.47
async fn objects_of_the_json_stream_end_with_cr_lf(server: Server) {
    let acme = server.acme();
    let mut stream = Raw::get(
        server.stream_url(),
        "/flows/acme/main",
        &acme.ada.token,
        &[JSON],
    )
    .await;
    let head = stream.head().await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("content-type: application/json"), "{head}");
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    assert_eq!(
        stream.chunk().await,
        "\n",
        "something comes at once, before there is a message"
    );

    let first = acme.ben.say("acme/main", "one\ntwo").await;
    let second = acme.ben.say("acme/main", "three").await;
    let mut told = Vec::new();
    while told.len() < 3 {
        let line = stream.chunk().await;
        let object = line.strip_suffix("\r\n").unwrap();
        assert!(!object.contains(['\r', '\n']), "{object:?}");
        told.push(serde_json::from_str::<Json>(object).unwrap());
    }
    told.retain(|object| object["event"] != "activity.user");
    assert_eq!(told, [first, second]);
}

/// Shows: 4.48
async fn events_have_an_id_line_and_a_data_line_and_nothing_else(server: Server) {
    let acme = server.acme();
    let mut stream = Raw::get(
        server.stream_url(),
        "/flows/acme/main",
        &acme.ada.token,
        &[EVENTS],
    )
    .await;
    let head = stream.head().await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    assert_eq!(stream.chunk().await, ":\n\n");

    let message = acme.ben.say("acme/main", "hello").await;
    let event = stream.chunk().await;
    assert!(event.ends_with("\n\n"), "{event:?}");
    let lines: Vec<_> = event.trim_end().split('\n').collect();
    let [id, data] = lines[..] else {
        panic!("{lines:?}")
    };
    assert!(
        id.strip_prefix("id: ").is_some_and(|id| !id.is_empty()),
        "{id}"
    );
    let data = data.strip_prefix("data: ").unwrap();
    assert_eq!(serde_json::from_str::<Json>(data).unwrap(), message);
}

/// Shows: 4.43
async fn the_parameter_decides_over_the_header(server: Server) {
    let acme = server.acme();
    let cases = [
        ("/flows/acme/main", "Accept: */*", "application/json"),
        ("/flows/acme/main", EVENTS, "text/event-stream"),
        (
            "/flows/acme/main?accept=text/event-stream",
            JSON,
            "text/event-stream",
        ),
        (
            "/flows/acme/main?accept=text/event-stream",
            "X-None: given",
            "text/event-stream",
        ),
        (
            "/flows/acme/main?accept=application/json",
            EVENTS,
            "application/json",
        ),
    ];
    for (path, header, expected) in cases {
        let mut stream = Raw::get(server.stream_url(), path, &acme.ada.token, &[header]).await;
        let head = stream.head().await;
        assert!(
            head.contains(&format!("content-type: {expected}")),
            "{path} with {header}: {head}"
        );
    }
}

/// Shows: 4.46
async fn every_script_comes_in_utf_8(server: Server) {
    let acme = server.acme();
    let text = "Größe, Κόσμε, 漢字, 👩‍👩‍👧‍👦";
    for accept in [JSON, EVENTS] {
        let mut stream = Raw::get(
            server.stream_url(),
            "/flows/acme/main",
            &acme.ada.token,
            &[accept],
        )
        .await;
        let head = stream.head().await;
        assert!(head.contains("; charset=utf-8\r\n"), "{head}");
        acme.ben.say("acme/main", text).await;
        stream.through(text.as_bytes()).await;
    }
}

async fn no_proxy_holds_a_stream_back(server: Server) {
    let acme = server.acme();
    for (url, prefix) in [(server.stream_url(), ""), (server.base_url(), "/stream")] {
        for accept in [JSON, EVENTS] {
            let path = format!("{prefix}/flows/acme/main");
            let headers = [accept, "Accept-Encoding: gzip, br"];
            let mut stream = Raw::get(url, &path, &acme.ada.token, &headers).await;
            let head = stream.head().await;
            assert!(
                head.contains("cache-control: no-cache, no-transform\r\n"),
                "{head}"
            );
            assert!(head.contains("x-accel-buffering: no\r\n"), "{head}");
            assert!(!head.contains("content-encoding"), "{head}");
            assert!(!head.contains("content-length"), "{head}");
            acme.ben.say("acme/main", "not compressed").await;
            assert!(
                stream
                    .through(b"not compressed")
                    .await
                    .contains("\"message\"")
            );
        }
    }
}

/// Shows: 4.46, 4.47
async fn a_quiet_stream_is_kept_alive(server: Server) {
    let acme = server.acme();
    for (accept, keep_alive) in [(JSON, "\n"), (EVENTS, ":\n\n")] {
        let mut stream = Raw::get(
            server.stream_url(),
            "/flows/acme/main",
            &acme.ada.token,
            &[accept],
        )
        .await;
        stream.head().await;
        assert_eq!(
            [stream.chunk().await, stream.chunk().await],
            [keep_alive, keep_alive]
        );
    }
}
