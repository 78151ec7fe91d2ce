//! The client against a socket that answers from a script.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::requests::UpdateFlow;
use crate::{
    Client, Error, Event, MessageKind, MessageQuery, NewMessage, OAuthApplication, OAuthSession,
    OAuthTokens, Posted, StreamRequest,
};

/// A server that answers one request, which ends as told, in these parts and then closes. Its task
/// gives the request's text.
async fn answering(
    answer: &'static [&'static str],
    ends_with: &'static str,
) -> (Client, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = String::new();
        let mut buffer = [0; 1024];
        while !request.ends_with(ends_with) {
            let length = socket.read(&mut buffer).await.unwrap();
            assert_ne!(length, 0, "the request ended early: {request}");
            request.push_str(std::str::from_utf8(&buffer[..length]).unwrap());
        }
        for part in answer {
            socket.write_all(part.as_bytes()).await.unwrap();
            socket.flush().await.unwrap();
            tokio::task::yield_now().await;
        }
        request
    });
    (
        Client::builder(address)
            .api_token("secret")
            .build()
            .unwrap(),
        server,
    )
}

#[tokio::test]
async fn a_post_without_waiting_is_accepted() {
    let (client, server) = answering(
        &["HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}"],
        "}",
    )
    .await;
    let posted = client
        .flow("acme", "main")
        .post(&NewMessage::chat("hi"))
        .await
        .unwrap();
    assert_eq!(posted, Posted::Accepted);
    let request = server.await.unwrap();
    assert!(
        request.starts_with("POST /flows/acme/main/messages HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains("authorization: Basic c2VjcmV0Og==\r\n"),
        "{request}"
    );
    assert!(
        request.contains("content-type: application/json\r\n"),
        "{request}"
    );
    assert!(!request.contains("wait-for-message"), "{request}");
    assert!(
        request.ends_with("\r\n\r\n{\"event\":\"message\",\"content\":\"hi\"}"),
        "{request}"
    );
}

#[tokio::test]
async fn a_list_carries_its_query() {
    let (client, server) = answering(
        &["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]"],
        "\r\n\r\n",
    )
    .await;
    let query = MessageQuery::new()
        .event(MessageKind::Message)
        .event(MessageKind::File)
        .oldest()
        .limit(5)
        .tag("a b");
    assert!(
        client
            .flow("acme", "main")
            .messages(&query)
            .await
            .unwrap()
            .is_empty()
    );
    let request = server.await.unwrap();
    let line = "GET /flows/acme/main/messages?event=message%2Cfile&limit=5&sort=asc&tags=a%20b ";
    assert!(request.starts_with(line), "{request}");
}

#[tokio::test]
async fn what_breaks_a_bound_is_not_sent() {
    let client = Client::builder("http://localhost:1").build().unwrap();
    let change = UpdateFlow {
        description: Some("a".repeat(1001)),
        ..UpdateFlow::default()
    };
    let Err(Error::Invalid(invalid)) = client.flow("acme", "main").update(&change).await else {
        panic!("1001 characters are sent");
    };
    assert_eq!(
        invalid.errors["description"],
        ["is too long (maximum is 1000 characters)"]
    );
    let Err(Error::Invalid(invalid)) = client
        .flow("acme", "main")
        .messages(&MessageQuery::new().limit(101))
        .await
    else {
        panic!("101 messages are asked for");
    };
    assert_eq!(
        invalid.errors["limit"],
        ["must be a whole number from 1 to 100"]
    );
}

#[tokio::test]
async fn a_refusal_is_an_error_with_its_words() {
    let (client, _server) = answering(
        &[
            "HTTP/1.1 403 Forbidden\r\ncontent-length: 27\r\n\r\n",
            r#"{"message":"Access denied"}"#,
        ],
        "\r\n\r\n",
    )
    .await;
    let error = client.me().await.unwrap_err();
    assert_eq!(error.status(), Some(StatusCode::FORBIDDEN));
    assert_eq!(error.to_string(), "status 403 Forbidden: Access denied");
}

#[tokio::test]
async fn a_server_that_is_silent_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let client = Client::builder(address)
        .timeout(Duration::from_millis(1))
        .build()
        .unwrap();
    assert!(matches!(client.me().await, Err(Error::Timeout(_))));
}

#[tokio::test]
async fn a_stream_remembers_its_last_id_and_ends_with_the_connection() {
    let (client, server) = answering(
        &[
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n:\n\nid: 8\nda",
            "ta: {\"event\":\"message\"}\n\n",
            "data: {\"event\":\"activity.user\"}\n\n",
        ],
        "\r\n\r\n",
    )
    .await;
    let request = StreamRequest::new().flow("acme/main").user().after("7");
    let mut stream = client.stream(&request).await.unwrap();
    assert_eq!(stream.last_event_id(), Some("7"));
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!(first.json, json!({"event": "message"}));
    let second = stream.next().await.unwrap().unwrap();
    assert_eq!((second.id, stream.last_event_id()), (None, Some("8")));
    assert!(stream.next().await.is_none());
    let request = server.await.unwrap();
    assert!(
        request.starts_with("GET /stream/flows?filter=acme%2Fmain&user=1 "),
        "{request}"
    );
    assert!(request.contains("last-event-id: 7\r\n"), "{request}");
    assert!(
        request.contains("accept: text/event-stream\r\n"),
        "{request}"
    );
}

/// Shows: 4.49
#[tokio::test]
async fn a_stream_that_is_refused_is_an_error() {
    let (client, _server) = answering(
        &["HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"],
        "\r\n\r\n",
    )
    .await;
    let error = client
        .stream(&StreamRequest::new().path("acme/none"))
        .await
        .unwrap_err();
    assert_eq!(error.status(), Some(StatusCode::NOT_FOUND));
}

#[tokio::test]
async fn an_answer_that_is_no_stream_is_an_error() {
    let (client, _server) = answering(
        &["HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: 2\r\n\r\n[]"],
        "\r\n\r\n",
    )
    .await;
    let error = client
        .stream(&StreamRequest::new().path("acme/main"))
        .await
        .unwrap_err();
    let said = "the answer is no stream: its content type is \"application/json; charset=utf-8\"";
    assert_eq!(error.to_string(), said);
}

#[tokio::test]
async fn a_refused_connection_and_failed_tls_are_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let said = |scheme: &str| {
        let client = Client::builder(format!("{scheme}://{address}"))
            .build()
            .unwrap();
        async move { client.me().await.unwrap_err().to_string() }
    };
    let (tls, ()) = tokio::join!(said("https"), async {
        // Not the beginning of TLS.
        listener
            .accept()
            .await
            .unwrap()
            .0
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
    });
    assert!(
        tls.starts_with("the request failed: ") && tls.contains("InvalidContentType"),
        "{tls}"
    );
    drop(listener);
    let refused = said("http").await;
    assert!(
        refused.starts_with("the request failed: ") && refused.contains("refused"),
        "{refused}"
    );
}

/// Answers one connection after the other, each with the next of these, and gives the requests.
async fn answering_each(answers: &'static [&'static str]) -> (Client, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4096];
            let length = socket.read(&mut request).await.unwrap();
            requests.push(String::from_utf8_lossy(&request[..length]).into_owned());
            socket.write_all(answer.as_bytes()).await.unwrap();
        }
        requests
    });
    (
        Client::builder(address)
            .api_token("secret")
            .build()
            .unwrap(),
        server,
    )
}

#[tokio::test]
async fn a_stream_that_is_followed_goes_on_where_it_broke_off() {
    let (client, server) = answering_each(&[
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nevent-id: 7\r\n\r\n:\n\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nevent-id: 7\r\n\r\n\
         id: 8\ndata: {\"event\":\"first\"}\n\n",
        "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nid: 9\ndata: {\"event\":\"reset\"}\n\n",
        "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    ])
    .await;
    let mut stream = client.follow(&StreamRequest::new().flow("acme/main"));
    assert_eq!(stream.last_event_id(), None);
    assert_eq!(stream.next().await.unwrap().kind(), "first");
    assert_eq!(stream.next().await.unwrap().event(), Event::Reset);
    assert_eq!(stream.last_event_id(), Some("9"));
    assert_eq!(
        stream.next().await.unwrap_err().status(),
        Some(StatusCode::FORBIDDEN)
    );
    let requests = server.await.unwrap();
    assert!(!requests[0].contains("last-event-id"), "{}", requests[0]);
    // The first stream broke off before it brought anything.
    let ids = ["7", "8", "8", "9"].map(|id| format!("last-event-id: {id}\r\n"));
    for (request, id) in requests[1..].iter().zip(ids) {
        assert!(request.contains(&id), "{request} has {id}");
    }
}

#[tokio::test]
async fn renewed_tokens_are_kept_when_the_request_that_needed_them_is_dropped() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let application = OAuthApplication {
        client_id: "robot".into(),
        client_secret: "secret".into(),
    };
    let first = OAuthTokens {
        access_token: "a1".into(),
        refresh_token: "r1".into(),
    };
    let (store, mut stored) = mpsc::unbounded_channel();
    let session = OAuthSession::new(application, first, move |next| {
        store.send(next.clone()).unwrap();
    });
    let client = Client::builder(address)
        .oauth(session.clone())
        .build()
        .unwrap();
    let request = tokio::spawn(async move { client.flows(false).await });

    let mut buffer = [0; 4096];
    let (mut socket, _) = listener.accept().await.unwrap();
    assert_ne!(socket.read(&mut buffer).await.unwrap(), 0);
    let refusal = "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer error=\"invalid_token\"\r\n\
                   content-length: 0\r\nconnection: close\r\n\r\n";
    socket.write_all(refusal.as_bytes()).await.unwrap();
    let (mut socket, _) = listener.accept().await.unwrap();
    let length = socket.read(&mut buffer).await.unwrap();
    assert!(buffer[..length].starts_with(b"POST /oauth/token "));
    // The server renews the tokens now, and nobody waits for them any more.
    request.abort();
    assert!(request.await.unwrap_err().is_cancelled());
    let answer = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"access_token\":\"a2\",\"refresh_token\":\"r2\"}";
    socket.write_all(answer.as_bytes()).await.unwrap();
    drop(socket);
    let next = OAuthTokens {
        access_token: "a2".into(),
        refresh_token: "r2".into(),
    };
    assert_eq!(stored.recv().await, Some(next.clone()));
    assert_eq!(session.tokens(), next);
}

#[tokio::test]
async fn an_inspector_sees_the_request_and_the_whole_answer() {
    let answer = &["HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n", "{}"];
    let (client, server) = answering(answer, "\r\n\r\n").await;
    let (tx, rx) = std::sync::mpsc::channel();
    let client = Client::builder(client.base_url())
        .inspect(move |exchange| {
            let seen = (
                exchange.request.uri().path().to_owned(),
                exchange.status,
                exchange.body.clone(),
            );
            tx.send(seen).unwrap();
        })
        .build()
        .unwrap();
    client
        .request(http::Method::GET, "/flows/none")
        .send()
        .await
        .unwrap();
    assert_eq!(
        rx.recv().unwrap(),
        ("/flows/none".to_owned(), StatusCode::NOT_FOUND, "{}".into())
    );
    server.await.unwrap();
}
