//! Requests to real servers on loopback.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod server;

use std::time::Duration;

use eddyline_outbound::{Config, Error, Outbound, OutboundRequest};
use http::{HeaderMap, HeaderValue, Method};
use server::{Answer, Server};

/// Bounds that a test does not meet by accident.
const CONFIG: Config = Config {
    allow_private: true,
    private_exception: None,
    timeout: Duration::from_secs(60),
    max_response: 64 * 1024,
};

fn allowed() -> Outbound {
    Outbound::new(CONFIG)
}

/// For tests in which nothing else can happen but that the time is over.
fn impatient() -> Outbound {
    Outbound::new(Config {
        timeout: Duration::from_millis(300),
        ..CONFIG
    })
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Mark: 7\r\n\r\n{}";

#[tokio::test]
async fn a_request_arrives_as_it_was_meant_and_its_answer_comes_back() {
    let server = Server::start(Answer::Bytes(OK.to_vec())).await;
    let mut headers = HeaderMap::new();
    headers.insert("service-token", HeaderValue::from_static("abc"));
    headers.insert("host", HeaderValue::from_static("elsewhere.example"));
    headers.insert("transfer-encoding", HeaderValue::from_static("chunked"));
    let url = format!("http://127.0.0.1:{}/a?b=c#d", server.port);
    let body = "{\"a\":1}".into();
    let answer = allowed()
        .send(OutboundRequest {
            method: Method::PUT,
            url,
            headers,
            body,
            held: None,
        })
        .await
        .unwrap();
    assert_eq!(
        (answer.status.as_u16(), &answer.body[..]),
        (200, &b"{}"[..])
    );
    assert_eq!(answer.headers["x-mark"], "7");

    let request = server.request().await.to_ascii_lowercase();
    assert!(request.starts_with("put /a?b=c http/1.1\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"a\":1}"), "{request}");
    for line in [
        "service-token: abc",
        "connection: close",
        "content-length: 7",
        &format!("host: 127.0.0.1:{}", server.port),
    ] {
        assert_eq!(
            request.matches(&format!("\r\n{line}\r\n")).count(),
            1,
            "{line} in {request}"
        );
    }
    assert!(
        !request.contains("elsewhere") && !request.contains("chunked"),
        "{request}"
    );
}

#[tokio::test]
async fn a_name_is_resolved() {
    let server = Server::start(Answer::Bytes(OK.to_vec())).await;
    let url = format!("http://localhost:{}/", server.port);
    assert_eq!(
        allowed()
            .send(OutboundRequest::post(url, ""))
            .await
            .unwrap()
            .status,
        200
    );
}

#[tokio::test]
async fn private_addresses_are_not_even_connected_to() {
    let server = Server::start(Answer::Bytes(OK.to_vec())).await;
    let guarded = Outbound::new(Config {
        allow_private: false,
        ..CONFIG
    });
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "2130706433",
        "0x7f.1",
        "0177.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
    ] {
        let url = format!("http://{host}:{}/", server.port);
        let refused = guarded.send(OutboundRequest::post(&url, "")).await;
        assert!(
            matches!(refused, Err(Error::ForbiddenAddress)),
            "{url}: {refused:?}"
        );
    }
    for url in [
        "http://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "http://[64:ff9b::a00:1]/",
    ] {
        let refused = guarded.send(OutboundRequest::post(url, "")).await;
        assert!(
            matches!(refused, Err(Error::ForbiddenAddress)),
            "{url}: {refused:?}"
        );
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_redirect_is_an_answer() {
    let other = Server::start(Answer::Bytes(OK.to_vec())).await;
    let head = format!(
        "HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:{}/\r\nContent-Length: 0\r\n\r\n",
        other.port
    );
    let server = Server::start(Answer::Bytes(head.into_bytes())).await;
    let answer = allowed()
        .send(OutboundRequest::post(server.url(), "x"))
        .await
        .unwrap();
    assert_eq!(answer.status, 307);
    assert!(answer.headers["location"].to_str().unwrap().ends_with('/'));
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn an_answer_that_does_not_come_ends_with_the_time() {
    for answer in [
        Answer::Silence,
        Answer::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort".to_vec()),
    ] {
        let server = Server::start(answer.and_silence()).await;
        let refused = impatient()
            .send(OutboundRequest::post(server.url(), ""))
            .await;
        assert!(matches!(refused, Err(Error::Timeout)), "{refused:?}");
    }
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    for head in [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
    ] {
        let server = Server::start(Answer::Endless(head, b"aaaaaaaaaaaaaaaa")).await;
        let refused = allowed()
            .send(OutboundRequest::post(server.url(), ""))
            .await;
        assert!(matches!(refused, Err(Error::TooLarge)), "{refused:?}");
    }
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let server = Server::start(Answer::Endless(chunked, b"10\r\naaaaaaaaaaaaaaaa\r\n")).await;
    assert!(matches!(
        allowed()
            .send(OutboundRequest::post(server.url(), ""))
            .await,
        Err(Error::TooLarge)
    ));
    // Lines of the head count as well.
    let server = Server::start(Answer::Endless(
        "HTTP/1.1 200 OK\r\n",
        b"X: aaaaaaaaaaaaaaaa\r\n",
    ))
    .await;
    assert!(matches!(
        allowed()
            .send(OutboundRequest::post(server.url(), ""))
            .await,
        Err(Error::Broken(_))
    ));
}

#[tokio::test]
async fn the_largest_answer_is_read_to_its_end() {
    let answer = |size: usize| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n");
        Answer::Bytes([head.as_bytes(), &vec![b'a'; size]].concat())
    };
    let server = Server::start(answer(CONFIG.max_response)).await;
    let answered = allowed()
        .send(OutboundRequest::post(server.url(), ""))
        .await
        .unwrap();
    assert_eq!(answered.body.len(), CONFIG.max_response);
    let server = Server::start(answer(CONFIG.max_response + 1)).await;
    assert!(matches!(
        allowed()
            .send(OutboundRequest::post(server.url(), ""))
            .await,
        Err(Error::TooLarge)
    ));
}

#[tokio::test]
async fn a_body_may_end_with_the_connection() {
    let server = Server::start(Answer::Bytes(b"HTTP/1.1 200 OK\r\n\r\nall of it".to_vec())).await;
    assert_eq!(
        allowed()
            .send(OutboundRequest::post(server.url(), ""))
            .await
            .unwrap()
            .body,
        "all of it"
    );
}

#[tokio::test]
async fn what_is_not_http_is_broken() {
    for answer in [
        "",
        "SSH-2.0-x\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        "\0\0\0\0\r\n\r\n",
    ] {
        let server = Server::start(Answer::Bytes(answer.as_bytes().to_vec())).await;
        let refused = allowed()
            .send(OutboundRequest::post(server.url(), ""))
            .await;
        assert!(
            matches!(refused, Err(Error::Broken(_))),
            "{answer:?}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn nobody_there_is_told_apart_from_no_answer() {
    let refused = allowed()
        .send(OutboundRequest::post(server::nobody().await, ""))
        .await;
    assert!(matches!(refused, Err(Error::Connect(_))), "{refused:?}");
    let unknown = allowed()
        .send(OutboundRequest::post("http://no-such-host.invalid/", ""))
        .await;
    assert!(matches!(unknown, Err(Error::Connect(_))), "{unknown:?}");
}

#[tokio::test]
async fn a_host_proves_its_name_over_tls() {
    let (server, authority) = Server::start_tls("localhost", Answer::Bytes(OK.to_vec())).await;
    let trusting = Outbound::with_tls(CONFIG, authority);
    let url = |host: &str| format!("https://{host}:{}/", server.port);
    assert_eq!(
        trusting
            .send(OutboundRequest::post(url("localhost"), ""))
            .await
            .unwrap()
            .status,
        200
    );
    let other_name = trusting
        .send(OutboundRequest::post(url("127.0.0.1"), ""))
        .await;
    assert!(
        matches!(other_name, Err(Error::Connect(_))),
        "{other_name:?}"
    );
    let unknown_authority = allowed()
        .send(OutboundRequest::post(url("localhost"), ""))
        .await;
    assert!(
        matches!(unknown_authority, Err(Error::Connect(_))),
        "{unknown_authority:?}"
    );
}

#[test]
fn an_error_tells_no_secret_and_no_address() {
    assert_eq!(
        Error::ForbiddenAddress.to_string(),
        "the address belongs to a network that is not public"
    );
}
