//! Traces of requests leave the server for a collector of OpenTelemetry, where one is configured.

use eddyline_client::Method;
use eddyline_tests::{Acme, Backend, CSRF, PASSWORD, Server, run_plain};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use serde_json::json;

use crate::mail::dead_port;
use crate::receiver::{Answer, Receiver, Request, status};

const MAIN: &str = "acme/main";
/// `traceparent` of a trace that is recorded: its id, the span that asks, and the flag.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

#[test]
fn a_request_is_a_span_of_the_trace_that_the_proxy_began_sqlite() {
    run_plain(a_request_is_a_span(Backend::Sqlite));
}

#[test]
fn a_request_is_a_span_of_the_trace_that_the_proxy_began_postgres() {
    run_plain(a_request_is_a_span(Backend::Postgres));
}

#[test]
fn the_proxy_decides_what_is_recorded_of_its_traces_and_strangers_join_none() {
    run_plain(only_what_is_sampled());
}

#[test]
fn a_collector_that_fails_costs_no_request() {
    run_plain(a_dead_collector());
}

#[test]
fn a_collector_that_does_not_answer_keeps_no_server_from_stopping() {
    run_plain(a_silent_collector());
}

/// The attributes of a span or a resource, as texts.
fn attributes(all: &[KeyValue]) -> Vec<(String, String)> {
    let text = |value: &Option<AnyValue>| match value.as_ref().and_then(|any| any.value.clone()) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    let mut read: Vec<_> = all
        .iter()
        .map(|pair| (pair.key.clone(), text(&pair.value)))
        .collect();
    read.sort();
    read
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let mut all = attributes(&span.attributes).into_iter();
    all.find(|(name, _)| name == key).map(|(_, value)| value)
}

/// All spans that the collector was sent, each request of which is well-formed.
fn spans(requests: &[Request]) -> Vec<Span> {
    let mut spans = Vec::new();
    for request in requests {
        assert_eq!(
            (&*request.method, &*request.path),
            ("POST", "/otel/v1/traces")
        );
        assert_eq!(request.headers["content-type"], "application/x-protobuf");
        let sent = ExportTraceServiceRequest::decode(&*request.body).unwrap();
        for resource in sent.resource_spans {
            let of = attributes(&resource.resource.unwrap().attributes);
            let has = |key: &str, value: &str| of.contains(&(key.to_owned(), value.to_owned()));
            assert!(has("service.name", "eddyline"), "{of:?}");
            assert!(has("service.version", env!("CARGO_PKG_VERSION")), "{of:?}");
            let scopes = resource.scope_spans.into_iter();
            spans.extend(scopes.flat_map(|scope| scope.spans));
        }
    }
    spans
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn traceparent() -> String {
    format!("00-{TRACE}-{PARENT}-01")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn a_request_is_a_span(backend: Backend) {
    let collector = Receiver::start().await;
    let endpoint = collector.url("/otel/");
    let options = [
        ["--otlp-endpoint", &endpoint],
        ["--trusted-proxy", "127.0.0.1"],
    ];
    let Some(mut server) = Server::start_with(backend, options.as_flattened()) else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    let secret = "a-word-that-stays-here";
    ada.client
        .request(Method::POST, &format!("/flows/{MAIN}/messages"))
        .header("traceparent", traceparent())
        .header("x-request-id", "from-the-proxy")
        .json(&json!({"event": "message", "content": secret}))
        .send()
        .await
        .unwrap();
    ada.client
        .request(
            Method::GET,
            "/flows/acme/nowhere/messages?search=a-secret-word",
        )
        .send()
        .await
        .unwrap();
    let mut visitor = server.visitor();
    visitor.get("/sign-in").await;
    visitor.get("/sign-in/no-such-link").await;
    let mut browser = server.signed_in(&ada.email, PASSWORD).await;
    let token = format!("X-CSRF-Token: {}", browser.cookie(CSRF).unwrap());
    let path = "/app/-/api/organizations";
    browser.send("GET", path, &[&token], "").await;
    let change = json!({"password": "a quite new password", "current_password": PASSWORD});
    ada.does(Method::PUT, "/user", &change).await;
    // The last spans are sent as the server stops.
    assert!(server.terminate().success(), "{}", server.log());
    let requests = collector.asked();
    let spans = spans(&requests);

    let posts = named(&spans, "POST /flows/{organization}/{flow}/messages");
    let [post] = posts[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!(
        (hex(&post.trace_id), hex(&post.parent_span_id)),
        (TRACE.to_owned(), PARENT.to_owned())
    );
    assert_eq!(post.kind, i32::from(SpanKind::Server));
    assert_eq!(
        attributes(&post.attributes)
            .iter()
            .map(|(key, value)| (&**key, &**value))
            .collect::<Vec<_>>(),
        [
            ("http.request.method", "POST"),
            ("http.response.status_code", "202"),
            ("http.route", "/flows/{organization}/{flow}/messages"),
            ("request.id", "from-the-proxy"),
        ]
    );
    let stored = named(&spans, "store.post");
    assert!(
        stored
            .iter()
            .any(|span| span.trace_id == post.trace_id && span.parent_span_id == post.span_id),
        "{spans:#?}"
    );

    let lists = named(&spans, "GET /flows/{organization}/{flow}/messages");
    let [list] = lists[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!(
        attribute(list, "http.response.status_code").as_deref(),
        Some("404")
    );
    assert!(list.parent_span_id.is_empty() && list.trace_id != post.trace_id);
    assert_eq!(named(&spans, "GET /sign-in").len(), 1, "{spans:#?}");

    let [missing] = named(&spans, "GET /sign-in/{link}")[..] else {
        panic!("{spans:#?}")
    };
    let status = attribute(missing, "http.response.status_code");
    assert_eq!(status.as_deref(), Some("404"));
    let of_script = named(&spans, "GET /organizations");
    assert_eq!(
        of_script.len(),
        1,
        "what a script of a page asks for is the API's: {spans:#?}"
    );
    // Its work goes on when the client has gone, in a task of its own.
    let [changed] = named(&spans, "PUT /user")[..] else {
        panic!("{spans:#?}")
    };
    let mut hashes = named(&spans, "password.hash").into_iter();
    assert!(
        hashes.any(|span| span.trace_id == changed.trace_id),
        "{spans:#?}"
    );

    // Whatever began no trace by a request is not there, nor anything that was said.
    let roots = spans.iter().filter(|span| span.parent_span_id.is_empty());
    for root in roots {
        assert_eq!(root.kind, i32::from(SpanKind::Server), "{root:#?}");
    }
    for request in &requests {
        let body = String::from_utf8_lossy(&request.body);
        for word in [secret, "a-secret-word", "acme", "a quite new", "127.0.0.1"] {
            assert!(!body.contains(word), "{word} in {body}");
        }
    }
}

/// What is recorded of `GET /user`, which bears an id and the flags of a trace.
async fn recorded(options: &[[&str; 2]], flags: &str) -> Option<Span> {
    let collector = Receiver::start().await;
    let endpoint = collector.url("/otel");
    let options = [&[["--otlp-endpoint", &endpoint]], options].concat();
    let mut server = Server::start_with(Backend::Sqlite, options.as_flattened())?;
    let Acme { ada, .. } = server.acme();
    ada.client
        .request(Method::GET, "/user")
        .header("traceparent", format!("00-{TRACE}-{PARENT}-{flags}"))
        .header("x-request-id", "made-up-by-a-client")
        .send()
        .await
        .unwrap();
    assert!(server.terminate().success(), "{}", server.log());
    let spans = spans(&collector.asked());
    spans.into_iter().find(|span| span.name == "GET /user")
}

async fn only_what_is_sampled() {
    let proxy = ["--trusted-proxy", "127.0.0.1"];
    let none = ["--trace-percent", "0"];
    assert_eq!(recorded(&[none], "01").await, None);
    assert_eq!(recorded(&[proxy], "00").await, None);
    let of_proxy = recorded(&[proxy, none], "01").await.unwrap();
    assert_eq!(hex(&of_proxy.trace_id), TRACE);
    let of_stranger = recorded(&[], "00").await.unwrap();
    assert_ne!(hex(&of_stranger.trace_id), TRACE);
    assert_eq!(attribute(&of_stranger, "request.id"), None);
}

async fn a_dead_collector() {
    let endpoint = format!("http://127.0.0.1:{}", dead_port());
    let options = ["--otlp-endpoint", &*endpoint];
    let Some(mut server) = Server::start_with(Backend::Sqlite, &options) else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    ada.say(MAIN, "traced in vain").await;
    assert!(server.terminate().success());
    let log = server.log();
    assert_eq!(
        log.matches("the collector takes no traces").count(),
        1,
        "{log}"
    );
}

async fn a_silent_collector() {
    let collector = Receiver::start().await;
    collector.answers(Answer::Silence);
    let endpoint = collector.url("/otel");
    let options = ["--otlp-endpoint", &*endpoint];
    let Some(mut server) = Server::start_with(Backend::Sqlite, &options) else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    ada.say(MAIN, "traced in vain").await;
    // The collector holds the last spans back for as long as this test lasts.
    assert!(server.terminate().success(), "{}", server.log());
    let log = server.log();
    assert!(log.contains("the last traces were not exported"), "{log}");
    collector.answers(Answer::Text(status("200 OK")));
}
