//! Below the API: encryption, proxies, request ids, and whether the server is well.

use std::net::Ipv4Addr;

use eddyline_client::{Method, NewMessage, StatusCode, StreamRequest};
use eddyline_tests::{
    Acme, Backend, Caller, Certificate, Listener, Server, basic, on_both_databases, run,
};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

on_both_databases![&["--password-attempts-per-account", "3"];
    an_unnamed_proxy_is_not_believed,
];
on_both_databases![&["--password-attempts-per-account", "3", "--trusted-proxy", "127.0.0.0/8"];
    a_named_proxy_tells_who_guesses_passwords,
];
on_both_databases![&["--max-connections", "16"];
    idle_connections_without_credentials_make_room_for_members,
];
on_both_databases![
    &["--max-connections", "64"];
    a_lone_user_has_all_streams_and_gives_them_back
];
on_both_databases![
    bodies_without_credentials_share_a_bound,
    long_bodies_count_for_their_sender,
    long_texts_of_forms_count_for_their_sender,
    an_answer_bears_the_id_of_its_request,
    a_compressed_answer_is_the_same_answer,
    both_addresses_say_whether_the_server_is_well,
];

/// Shows: 1.1
#[test]
fn both_addresses_speak_https_with_a_certificate() {
    let files = TempDir::new().unwrap();
    let certificate = Certificate::new("127.0.0.1");
    certificate.write(files.path());
    let (chain, key) = (files.path().join("cert.pem"), files.path().join("key.pem"));
    let options = [
        "--tls-cert",
        chain.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
    ];
    run(Backend::Sqlite, &options, async |server| {
        assert!(
            server.base_url().starts_with("https://"),
            "{}",
            server.base_url()
        );
        let Acme { ada, .. } = server.acme();
        let client = server
            .client()
            .tls(certificate.trusting())
            .api_token(&ada.token)
            .build()
            .unwrap();
        let mut stream = Listener::open(&client, &StreamRequest::new().flow("acme/main")).await;
        client
            .flow("acme", "main")
            .post(&NewMessage::chat("hidden"))
            .await
            .unwrap();
        let message = stream.event("message").await;
        assert_eq!(message["content"], "hidden");
        let flow: eddyline_client::Json = client
            .request(Method::GET, "/flows/acme/main")
            .call()
            .await
            .unwrap();
        assert!(
            flow["url"].as_str().unwrap().starts_with("https://"),
            "{}",
            flow["url"]
        );
        assert!(
            ada.client.me().await.is_err(),
            "who does not trust the certificate does not talk"
        );
    });
}

/// Tries a wrong password as a proxy would pass it on for this client.
async fn guess(server: &Server, email: &str, header: &str, address: &str) -> StatusCode {
    let request = server
        .client()
        .build()
        .unwrap()
        .request(Method::GET, "/user");
    let request = request.header(
        "authorization",
        format!("Basic {}", basic(email, "a guess")),
    );
    request.header(header, address).send().await.unwrap().status
}

async fn an_unnamed_proxy_is_not_believed(server: Server) {
    let Acme { ada, ben } = server.acme();
    for guesser in 1..=3 {
        let address = Ipv4Addr::new(192, 0, 2, guesser).to_string();
        assert_eq!(
            guess(&server, &ada.email, "x-forwarded-for", &address).await,
            StatusCode::UNAUTHORIZED
        );
    }
    let refused = guess(&server, &ada.email, "x-forwarded-for", "192.0.2.4").await;
    assert_eq!(
        refused,
        StatusCode::TOO_MANY_REQUESTS,
        "all came from one address"
    );
    assert_eq!(
        ada.by_password().me().await.err().unwrap().status(),
        Some(StatusCode::TOO_MANY_REQUESTS)
    );
    ben.by_password().me().await.unwrap();
    ada.client.me().await.unwrap();
    let log = server.log();
    assert_eq!(
        log.matches("not named with --trusted-proxy").count(),
        1,
        "{log}"
    );
    // The filter of docs/operating.md reads these lines.
    let line = format!("sign-in failed address=127.0.0.1 account=\"{}\"", ada.email);
    assert_eq!(log.matches(&line).count(), 3, "{log}");
}

async fn a_named_proxy_tells_who_guesses_passwords(server: Server) {
    let Acme { ada, .. } = server.acme();
    for (header, prefix, guesser) in [("x-forwarded-for", "", 1), ("forwarded", "for=", 3)] {
        let [guesser, other] = [guesser, guesser + 1].map(|last| format!("{prefix}192.0.2.{last}"));
        let (guesser, other) = (guesser.as_str(), other.as_str());
        for _ in 0..3 {
            assert_eq!(
                guess(&server, &ada.email, header, guesser).await,
                StatusCode::UNAUTHORIZED
            );
        }
        let refused = guess(&server, &ada.email, header, guesser).await;
        assert_eq!(refused, StatusCode::TOO_MANY_REQUESTS, "{header}");
        let invented = format!("{prefix}198.51.100.7, {guesser}");
        let refused = guess(&server, &ada.email, header, &invented).await;
        assert_eq!(
            refused,
            StatusCode::TOO_MANY_REQUESTS,
            "what the client itself says does not count"
        );
        assert_eq!(
            guess(&server, &ada.email, header, other).await,
            StatusCode::UNAUTHORIZED
        );
    }
    ada.by_password().me().await.unwrap();
}

async fn an_answer_bears_the_id_of_its_request(server: Server) {
    let Acme { ada, .. } = server.acme();
    for path in ["/user", "/nowhere", "/healthz"] {
        let ask = |id: &str| {
            ada.client
                .request(Method::GET, path)
                .header("x-request-id", id)
                .send()
        };
        assert_eq!(
            ask("order-66.a_b").await.unwrap().header("x-request-id"),
            Some("order-66.a_b")
        );
        for odd in ["", "two words", &"x".repeat(200)] {
            let answer = ask(odd).await.unwrap();
            let id = answer.header("x-request-id").unwrap();
            assert!(id != odd && id.len() == 32, "{odd:?} became {id:?}");
        }
    }
    let anonymous = server
        .client()
        .build()
        .unwrap()
        .request(Method::GET, "/user")
        .send()
        .await
        .unwrap();
    assert_eq!(anonymous.status, StatusCode::UNAUTHORIZED);
    assert!(anonymous.header("x-request-id").is_some());
    let stream = Listener::to(&ada.client, &["acme/main"]).await;
    assert!(stream.header("x-request-id").is_some());
}

async fn a_compressed_answer_is_the_same_answer(server: Server) {
    let Acme { ada, .. } = server.acme();
    let ask = || ada.client.request(Method::GET, "/flows/acme/main");
    let compressed = ask()
        .header("accept-encoding", "gzip")
        .send()
        .await
        .unwrap();
    assert_eq!(compressed.header("content-encoding"), Some("gzip"));
    assert!(compressed.body.starts_with(&[0x1f, 0x8b]));
    let plain = ask().send().await.unwrap();
    assert_eq!(plain.header("content-encoding"), None);
    assert!(compressed.body.len() < plain.body.len());
}

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.base_url().strip_prefix("http://").unwrap())
        .await
        .unwrap()
}

/// What the server says until it closes, or until the head of an answer has come.
async fn head(socket: &mut TcpStream) -> String {
    let mut read = Vec::new();
    while !read.windows(4).any(|window| window == b"\r\n\r\n") {
        if !socket
            .read_buf(&mut read)
            .await
            .is_ok_and(|count| count > 0)
        {
            break;
        }
    }
    String::from_utf8(read).unwrap()
}

async fn idle_connections_without_credentials_make_room_for_members(server: Server) {
    let Acme { ada, .. } = server.acme();
    let mut strangers = Vec::new();
    for _ in 0..32 {
        let mut stranger = connect(&server).await;
        stranger
            .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            .await
            .unwrap();
        assert!(head(&mut stranger).await.starts_with("HTTP/1.1 200 "));
        strangers.push(stranger);
    }
    ada.client.me().await.unwrap();
    let mut rest = Vec::new();
    let _ = strangers[0].read_to_end(&mut rest).await;
    assert!(ada.client.me().await.is_ok(), "a member's connection stays");
}

/// One network may take up 4 MiB: 32 bodies of 128 KiB.
async fn bodies_without_credentials_share_a_bound(server: Server) {
    let Acme { ben, .. } = server.acme();
    let request = |length: usize, body: &str| {
        let kind = "Content-Type: application/json\r\nConnection: close";
        format!(
            "POST /messages HTTP/1.1\r\nHost: x\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    };
    // None of them ends.
    let large = request(128 * 1024, &"x".repeat(127 * 1024));
    let mut answers = JoinSet::new();
    // All but the reserve are 192 MiB.
    for _ in 0..=192 {
        let mut socket = connect(&server).await;
        let large = large.clone();
        answers.spawn(async move {
            let _ = socket.write_all(large.as_bytes()).await;
            head(&mut socket).await
        });
    }
    let refused = answers.join_next().await.unwrap().unwrap();
    assert!(
        refused.starts_with("HTTP/1.1 503 ") && refused.contains("\r\nretry-after: "),
        "{refused}"
    );
    assert!(answers.try_join_next().is_none(), "the others have room");
    let mut small = connect(&server).await;
    small.write_all(request(2, "{}").as_bytes()).await.unwrap();
    assert!(
        head(&mut small).await.starts_with("HTTP/1.1 401 "),
        "small bodies do not count"
    );
    ben.client
        .flow("acme", "main")
        .post(&NewMessage::chat(&"x".repeat(7000)))
        .await
        .unwrap();
    answers.shutdown().await;
    loop {
        let mut socket = connect(&server).await;
        socket
            .write_all(request(5000, &"x".repeat(5000)).as_bytes())
            .await
            .unwrap();
        let answer = head(&mut socket).await;
        if !answer.starts_with("HTTP/1.1 503 ") {
            assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
            break;
        }
    }
}

/// One caller may send 32 MiB at a time: 32 bodies of a MiB.
async fn long_bodies_count_for_their_sender(server: Server) {
    count_for_their_sender(server, "application/json", "{").await;
}

async fn long_texts_of_forms_count_for_their_sender(server: Server) {
    let begun = "--edge\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\nhello";
    count_for_their_sender(server, "multipart/form-data; boundary=edge", begun).await;
}

/// The number of bodies of a mebibyte that a caller sends who is alone: all but the reserve.
const LONE_CALLERS_BODIES: usize = 192;

/// Begins to send bodies of this type of a mebibyte each.
async fn count_for_their_sender(server: Server, content_type: &str, begun: &str) {
    let Acme { ada, ben } = server.acme();
    let request = |caller: &Caller, content_type: &str, length: usize, body: &str| {
        let head = format!(
            "POST /flows/acme/main/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {length}"
        );
        let credentials = format!("Authorization: Basic {}", basic(&caller.token, ""));
        format!("{head}\r\nContent-Type: {content_type}\r\n{credentials}\r\n\r\n{body}")
    };
    // None of them ends.
    let large = request(&ben, content_type, 1024 * 1024, begun);
    let mut answers = JoinSet::new();
    for _ in 0..=LONE_CALLERS_BODIES {
        let mut socket = connect(&server).await;
        let large = large.clone();
        answers.spawn(async move {
            socket.write_all(large.as_bytes()).await.unwrap();
            head(&mut socket).await
        });
    }
    let refused = answers.join_next().await.unwrap().unwrap();
    assert!(
        refused.starts_with("HTTP/1.1 429 ") && refused.contains("\r\nretry-after: "),
        "{refused}"
    );
    assert!(answers.try_join_next().is_none(), "the others have room");
    ben.client
        .flow("acme", "main")
        .post(&NewMessage::chat(&"x".repeat(7000)))
        .await
        .unwrap();
    let mut other = connect(&server).await;
    let long = format!(
        "{{\"event\": \"message\", \"content\": \"hi\"{}}}",
        " ".repeat(100_000)
    );
    other
        .write_all(request(&ada, "application/json", long.len(), &long).as_bytes())
        .await
        .unwrap();
    let answer = head(&mut other).await;
    assert!(
        answer.starts_with("HTTP/1.1 202 "),
        "others have room: {answer}"
    );
}

async fn both_addresses_say_whether_the_server_is_well(server: Server) {
    for url in [server.base_url(), server.stream_url()] {
        let client = eddyline_client::Client::builder(url).build().unwrap();
        for path in ["/healthz", "/readyz"] {
            let answer = client.request(Method::GET, path).send().await.unwrap();
            assert_eq!(answer.status, StatusCode::OK, "{url}{path}");
        }
    }
}

/// Opens the stream with this address on a new connection, and reads the head of the answer.
async fn open_stream(url: &str, path: &str, caller: &Caller) -> (String, TcpStream) {
    let mut socket = TcpStream::connect(url.strip_prefix("http://").unwrap())
        .await
        .unwrap();
    let credentials = format!("Authorization: Basic {}", basic(&caller.token, ""));
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{credentials}\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    (head(&mut socket).await, socket)
}

/// The number of streams that a server of 64 connections has: seven eighths.
const STREAMS: usize = 56;

async fn a_lone_user_has_all_streams_and_gives_them_back(server: Server) {
    let Acme { ada, ben } = server.acme();
    server.organization("beta");
    let vic = server.user("beta", "vic");
    server.flow("beta", "room", &[&vic]);
    let mut open = Vec::new();
    for _ in 0..STREAMS {
        let (head, socket) = open_stream(server.stream_url(), "/flows/acme/main", &ada).await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        open.push(socket);
    }
    // The other listener has connections left.
    let beside = async |flow: &str, caller: &Caller| {
        open_stream(server.base_url(), &format!("/stream/flows/{flow}"), caller).await
    };
    let (head, _) = beside("acme/main", &ada).await;
    assert!(
        head.starts_with("HTTP/1.1 429 ") && head.contains("\r\nretry-after: "),
        "{head}"
    );
    let (head, _) = beside("acme/nothing", &ben).await;
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    // Newcomers displace the newest streams, which end in order.
    let mut newcomers = Vec::new();
    for (flow, caller) in [("acme/main", &ben), ("beta/room", &vic)] {
        let (head, newcomer) = beside(flow, caller).await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        newcomers.push(newcomer);
        let mut rest = Vec::new();
        let mut newest = open.pop().unwrap();
        newest.read_to_end(&mut rest).await.unwrap();
        assert!(rest.ends_with(b"0\r\n\r\n"), "{}", rest.escape_ascii());
    }
    let flow = ada.client.flow("acme", "main");
    let sent = flow.post(&NewMessage::chat("still here")).await;
    sent.unwrap();
    for stream in open.iter_mut().chain([&mut newcomers[0]]) {
        until(stream, b"still here").await;
    }
    // A stream that ends frees its place.
    drop(newcomers.pop());
    loop {
        let (head, _) = beside("acme/main", &ada).await;
        if head.starts_with("HTTP/1.1 200 ") {
            break;
        }
        assert!(head.starts_with("HTTP/1.1 429 "), "{head}");
    }
}

/// Reads until a stream has sent this text.
async fn until(stream: &mut TcpStream, text: &[u8]) {
    let mut said = Vec::new();
    while !said.windows(text.len()).any(|part| part == text) {
        assert_ne!(stream.read_buf(&mut said).await.unwrap(), 0, "it ended");
    }
}
