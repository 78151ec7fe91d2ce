//! Bytes that are no HTTP, or too much of it: each gets a refusal, and the server goes on.

use eddyline_tests::{Tenant, basic, on_shared_servers};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

on_shared_servers![
    headers_that_are_too_large_are_refused,
    what_is_not_http_is_refused,
    broken_paths_are_refused,
    unfinished_requests_hinder_nobody,
];

/// Sends bytes on a connection of their own and gives the head of what comes back, if anything.
pub(crate) async fn exchange(tenant: &Tenant, bytes: &[u8]) -> String {
    let mut socket = connect(tenant).await;
    // The server may close while we are still sending.
    let _ = socket.write_all(bytes).await;
    let (mut answer, mut buffer) = (Vec::new(), [0; 1024]);
    while !answer.windows(4).any(|window| window == b"\r\n\r\n") {
        match socket.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

async fn connect(tenant: &Tenant) -> TcpStream {
    let host = tenant.server().base_url().strip_prefix("http://").unwrap();
    TcpStream::connect(host).await.unwrap()
}

async fn headers_that_are_too_large_are_refused(tenant: Tenant) {
    let authorization = format!("Authorization: Basic {}", basic(&tenant.ben.token, ""));
    let one = format!("X-Long: {}\r\n", "x".repeat(1 << 20));
    let many: String = (0..50_000).map(|n| format!("X-{n}: {n}\r\n")).collect();
    let target = format!(
        "GET /flows?{} HTTP/1.1\r\nHost: x\r\n\r\n",
        "x".repeat(1 << 20)
    );
    for request in [
        format!("GET /flows HTTP/1.1\r\nHost: x\r\n{authorization}\r\n{one}\r\n"),
        format!("GET /flows HTTP/1.1\r\nHost: x\r\n{authorization}\r\n{many}\r\n"),
        target,
    ] {
        let answer = exchange(&tenant, request.as_bytes()).await;
        assert!(
            answer.starts_with("HTTP/1.1 431 "),
            "{}",
            &answer[..answer.len().min(100)]
        );
        tenant.ben.get("/flows").await;
    }
}

async fn what_is_not_http_is_refused(tenant: Tenant) {
    for bytes in [
        &b"GARBAGE\r\n\r\n"[..],
        b"GET /flows\r\n\r\n",
        b"GET /flows HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET flows HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /flows HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n",
        b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
    ] {
        let answer = exchange(&tenant, bytes).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{}: {answer}", bytes.escape_ascii());
    }
    // HTTP/2 with prior knowledge is not spoken, and its client expects no answer in HTTP/1.1.
    assert_eq!(
        exchange(&tenant, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await,
        ""
    );
    tenant.ben.get("/flows").await;
}

async fn broken_paths_are_refused(tenant: Tenant) {
    for path in [
        "/flows/%",
        "/flows/%zz/main",
        "/flows/%ff/main",
        "/%2e%2e/%2e%2e/etc",
        "/flows/a%2Fb/c",
        "/flows/a b",
    ] {
        let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
        let authorization = format!(
            "Authorization: Basic {}\r\n\r\n",
            basic(&tenant.ben.token, "")
        );
        let answer = exchange(&tenant, format!("{head}{authorization}").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 40"), "{path}: {answer}");
    }
}

async fn unfinished_requests_hinder_nobody(tenant: Tenant) {
    let mut idle = Vec::new();
    for part in [
        "",
        "GET",
        "GET /flows HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        "POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    ]
    .iter()
    .cycle()
    .take(200)
    {
        let mut socket = connect(&tenant).await;
        socket.write_all(part.as_bytes()).await.unwrap();
        idle.push(socket);
    }
    tenant.ben.say(&tenant.main, "hello").await;
}
