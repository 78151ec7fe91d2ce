//! Requests as they should be, and as they should not.

use super::*;

const HELLO: &str = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    for _ in 0..3 {
        client.send(HELLO).await;
        let (head, body) = client.answer().await;
        assert!(head.starts_with("http/1.1 200 ok\r\n"), "{head}");
        assert_eq!(body, "hello");
    }
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client
        .send(&"GET /count HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20))
        .await;
    for n in 1..=20 {
        assert_eq!(client.answer().await.1, n.to_string());
    }
}

#[tokio::test]
async fn an_http_1_0_client_is_answered_and_the_connection_closed() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client.send("GET /hello HTTP/1.0\r\n\r\n").await;
    let answer = client.rest().await;
    assert!(
        answer.starts_with("HTTP/1.0 200 OK\r\n") && answer.ends_with("\r\n\r\nhello"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_client_that_has_said_all_is_still_answered() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n").await;
    within(server.app.0.waiting.notified()).await;
    client.socket.shutdown().await.unwrap();
    server.app.0.go_on.notify_one();
    assert!(client.rest().await.ends_with("done"));
}

#[tokio::test]
async fn a_request_knows_where_it_came_from() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client.send("GET /peer HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(client.answer().await.1, "false");
}

#[tokio::test]
async fn malformed_requests_are_refused_and_the_server_goes_on() {
    let server = Running::start(patient()).await;
    for malformed in [
        "nonsense\r\n\r\n",
        "GET /hello\r\n\r\n",
        "GET /hello HTTP/9.9\r\n\r\n",
        "GET /\0 HTTP/1.1\r\n\r\n",
        "GET /hello HTTP/1.1\r\nno colon\r\n\r\n",
        "POST /echo HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        "POST /echo HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\u{3}\r\n\r\n",
    ] {
        let mut client = server.client().await;
        client.send(malformed).await;
        let (head, _) = client.answer().await;
        assert!(head.starts_with("http/1.1 400 "), "{malformed:?}: {head}");
        client.socket.shutdown().await.unwrap();
        assert_eq!(client.rest().await, "", "{malformed:?}");
    }
    let mut client = server.client().await;
    client.send(HELLO).await;
    assert_eq!(client.answer().await.1, "hello");
}

#[tokio::test]
async fn a_megabyte_of_headers_is_refused_and_the_client_sees_it() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client.send("GET /hello HTTP/1.1\r\n").await;
    client
        .send(&format!("X-Large: {}\r\n", "x".repeat(1 << 20)))
        .await;
    client.send("\r\n").await;
    let (head, _) = client.answer().await;
    assert!(head.starts_with("http/1.1 431 "), "{head}");
}

#[tokio::test]
async fn a_thousand_headers_are_refused() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client
        .send(&format!(
            "GET /hello HTTP/1.1\r\n{}\r\n",
            "a: b\r\n".repeat(1000)
        ))
        .await;
    let (head, _) = client.answer().await;
    assert!(head.starts_with("http/1.1 431 "), "{head}");
}

#[tokio::test]
async fn a_head_that_does_not_end_closes_the_connection() {
    let server = Running::start(Limits {
        head_time: SOON,
        ..patient()
    })
    .await;
    let mut silent = server.client().await;
    let mut slow = server.client().await;
    slow.send("GET /hello HTTP/1.1\r\nHost:").await;
    assert_eq!(silent.rest().await, "");
    assert_eq!(slow.rest().await, "");
}

#[tokio::test]
async fn a_second_head_that_does_not_end_closes_the_connection() {
    let server = Running::start(Limits {
        head_time: Duration::from_secs(1),
        ..patient()
    })
    .await;
    let mut client = server.client().await;
    client.send(HELLO).await;
    assert_eq!(client.answer().await.1, "hello");
    client.send("GET /hello HTTP/1.1\r\nHost:").await;
    assert_eq!(client.rest().await, "");
}

#[tokio::test]
async fn a_connection_at_rest_is_closed_after_a_while() {
    let server = Running::start(Limits {
        keep_alive: SOON,
        ..patient()
    })
    .await;
    let mut client = server.client().await;
    client.send(HELLO).await;
    assert!(client.rest().await.ends_with("hello"));
}

#[tokio::test]
async fn who_does_not_take_an_answer_is_let_go() {
    let write_rate = MinimumRate {
        grace: SOON,
        ..MinimumRate::default()
    };
    let server = Running::start(Limits {
        write_rate,
        connections: 1,
        ..patient()
    })
    .await;
    let mut stuck = server.client().await;
    stuck.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n").await;
    // There is room for one, so that this is served only when the other is gone.
    let mut next = server.client().await;
    next.send(HELLO).await;
    assert_eq!(next.answer().await.1, "hello");
}

#[tokio::test]
async fn a_client_that_takes_an_answer_in_small_sips_is_cut_off() {
    let server = Running::start(Limits {
        write_rate: unreachable_rate(),
        ..patient()
    })
    .await;
    let mut client = server.client().await;
    client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut taken = 0;
    loop {
        let mut sip = [0; 4096];
        match within(client.socket.read(&mut sip)).await {
            Ok(0) | Err(_) => break,
            Ok(count) => taken += count,
        }
        // The client's own pace: there is always something for it to take.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(taken < 32 << 20, "all of it was taken");
}

#[tokio::test]
async fn a_client_that_takes_an_answer_fast_enough_has_all_of_it() {
    let bytes_per_second = NonZeroU32::MIN;
    let write_rate = MinimumRate {
        bytes_per_second,
        grace: SOON,
    };
    let server = Running::start(Limits {
        write_rate,
        ..patient()
    })
    .await;
    let mut client = server.client().await;
    client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(client.answer().await.1.len(), 32 << 20);
}

#[tokio::test]
async fn connections_beyond_the_bound_wait_for_their_turn() {
    let server = Running::start(Limits {
        connections: 1,
        ..patient()
    })
    .await;
    let mut first = server.client().await;
    let mut second = server.client().await;
    second.send("GET /count HTTP/1.1\r\nHost: a\r\n\r\n").await;
    first.send("GET /count HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(first.answer().await.1, "1");
    drop(first);
    assert_eq!(second.answer().await.1, "2");
}

#[tokio::test]
async fn a_body_is_read_in_one_piece_or_in_many() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client
        .send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody")
        .await;
    assert_eq!(client.answer().await.1, "body");
    client
        .send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
        .await;
    assert_eq!(client.answer().await.1, "");
    let chunked = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    client
        .send(&format!(
            "{chunked}2\r\nbo\r\n1\r\nd\r\n1\r\ny\r\n0\r\n\r\n"
        ))
        .await;
    assert_eq!(client.answer().await.1, "body");
}

#[tokio::test]
async fn a_body_that_says_it_is_too_large_is_refused_unread() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    let head =
        "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1048577\r\n\r\n";
    client.send(head).await;
    let (head, body) = client.answer().await;
    assert!(head.starts_with("http/1.1 413 "), "{head}");
    assert_eq!(body, r#"{"message":"the request body is too large"}"#);
}

#[tokio::test]
async fn a_client_that_sends_too_much_still_sees_why_it_is_refused() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client
        .send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 16777216\r\n\r\n")
        .await;
    client.send(&"x".repeat(16 << 20)).await;
    assert!(client.answer().await.0.starts_with("http/1.1 413 "));
}

#[tokio::test]
async fn a_body_that_grows_too_large_is_refused() {
    let server = Running::start(patient()).await;
    server.app.0.body.lock().unwrap().bytes = 10;
    let mut client = server.client().await;
    client
        .send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await;
    client.send("6\r\n123456\r\n6\r\n123456\r\n").await;
    assert!(client.answer().await.0.starts_with("http/1.1 413 "));
}

#[tokio::test]
async fn a_body_that_does_not_come_is_refused() {
    let server = Running::start(patient()).await;
    server.app.0.body.lock().unwrap().time = SOON;
    let mut client = server.client().await;
    client
        .send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo")
        .await;
    let (head, body) = client.answer().await;
    assert!(
        head.starts_with("http/1.1 408 ") && head.contains("connection: close"),
        "{head}"
    );
    assert_eq!(
        body,
        r#"{"message":"the request body took too long to arrive"}"#
    );
}

#[tokio::test]
async fn a_body_that_comes_in_drops_is_refused() {
    let server = Running::start(patient()).await;
    *server.app.0.body.lock().unwrap() = BodyLimit {
        time: NEVER,
        rate: unreachable_rate(),
        ..BodyLimit::default()
    };
    let client = server.client().await;
    let (mut reader, mut writer) = client.socket.into_split();
    writer
        .write_all(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
        .await
        .unwrap();
    // Each drop is in time, all of them together are not.
    let dripping = tokio::spawn(async move {
        while writer.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    let mut answer = [0; 64];
    let count = within(reader.read(&mut answer)).await.unwrap();
    assert!(
        answer[..count].starts_with(b"HTTP/1.1 408 "),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    dripping.abort();
}

#[tokio::test]
async fn an_answer_given_before_its_body_was_read_announces_the_end_of_the_connection() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client
        .send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody")
        .await;
    let (head, _) = client.answer().await;
    assert!(!head.contains("connection: close"), "{head}");
    client
        .send("POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n")
        .await;
    let (head, _) = client.answer().await;
    assert!(head.contains("connection: close"), "{head}");
    client.socket.shutdown().await.unwrap();
    assert_eq!(client.rest().await, "");
}

#[tokio::test]
async fn a_short_body_that_nobody_wanted_is_read_and_the_connection_goes_on() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    for body in [
        "Content-Length: 4\r\n\r\nbody",
        "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ] {
        client
            .send(&format!("POST /unread HTTP/1.1\r\nHost: a\r\n{body}"))
            .await;
        let (head, text) = client.answer().await;
        assert!(
            !head.contains("connection: close") && text == "not interested",
            "{head}"
        );
    }
    let long = format!(
        "POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n{}",
        "x".repeat(65_536)
    );
    client.send(&long).await;
    assert!(!client.answer().await.0.contains("connection: close"));
    client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(client.answer().await.1, "hello");
    client
        .send(
            "POST /unread HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
        )
        .await;
    let (head, _) = client.answer().await;
    assert!(
        head.starts_with("http/1.1 200 ") && head.contains("connection: close"),
        "{head}"
    );
}

#[tokio::test]
async fn a_body_that_is_none_is_refused() {
    let server = Running::start(patient()).await;
    let mut client = server.client().await;
    client
        .send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n")
        .await;
    let (head, _) = client.answer().await;
    assert!(
        head.starts_with("http/1.1 400 ") && head.contains("connection: close"),
        "{head}"
    );
    let mut client = server.client().await;
    client
        .send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo")
        .await;
    client.socket.shutdown().await.unwrap();
    assert!(client.answer().await.0.starts_with("http/1.1 400 "));
}
