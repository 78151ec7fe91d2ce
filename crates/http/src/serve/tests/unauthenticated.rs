//! Connections without valid credentials, and which of them make room for others.

use super::*;

const HELLO: &str = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
const SIGN_IN: &str = "GET /sign-in HTTP/1.1\r\nHost: a\r\n\r\n";
const WORK: &str = "POST /work HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
/// The share of one network where there are few connections.
const SHARE: usize = 64;
/// The number of connections at which they are scarce when a network has its share.
const SCARCE: usize = 72;

/// Room for so many, and unknown connections are never safe.
fn crowded(connections: usize) -> Limits {
    Limits {
        connections,
        unknown_safe_time: Duration::ZERO,
        ..patient()
    }
}

impl Running {
    /// A client that has had an answer, and waits.
    async fn greeted(&self) -> Client<TcpStream> {
        let mut client = self.client().await;
        client.send(HELLO).await;
        assert_eq!(client.answer().await.1, "hello");
        client
    }

    /// A client that has shown credentials.
    async fn signed_in(&self) -> Client<TcpStream> {
        let mut client = self.client().await;
        client.send(SIGN_IN).await;
        assert_eq!(client.answer().await.1, "welcome");
        client
    }

    async fn greet(&self, count: usize) -> VecDeque<Client<TcpStream>> {
        let mut clients = VecDeque::new();
        for _ in 0..count {
            clients.push_back(self.greeted().await);
        }
        clients
    }
}

impl Client<TcpStream> {
    async fn is_served(&mut self) {
        self.send(HELLO).await;
        assert_eq!(self.answer().await.1, "hello");
    }
}

#[tokio::test]
async fn a_newcomer_displaces_an_idle_connection_when_there_is_no_room() {
    let server = Running::start(crowded(1)).await;
    let mut idle = server.greeted().await;
    let mut newcomer = server.greeted().await;
    assert_eq!(idle.rest().await, "");
    newcomer.is_served().await;
}

#[tokio::test]
async fn a_connection_that_has_shown_credentials_is_not_displaced() {
    let server = Running::start(crowded(1)).await;
    let mut known = server.client().await;
    known.send(SIGN_IN).await;
    assert_eq!(known.answer().await.1, "welcome");
    let mut newcomer = server.client().await;
    newcomer
        .send("GET /count HTTP/1.1\r\nHost: a\r\n\r\n")
        .await;
    known.send("GET /count HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(known.answer().await.1, "1");
    drop(known);
    assert_eq!(newcomer.answer().await.1, "2");
}

#[tokio::test]
async fn beyond_the_share_of_a_caller_connections_with_credentials_are_displaced() {
    // Four are safe, of which a lone caller leaves one to others.
    let server = Running::start(crowded(64)).await;
    let mut safe = Vec::new();
    for _ in 0..3 {
        safe.push(server.signed_in().await);
    }
    let mut beyond = server.signed_in().await;
    // The last of these is the first for which places are scarce.
    let _idle = server.greet(64 - 8 - 4).await;
    let _newcomer = server.greeted().await;
    assert_eq!(beyond.rest().await, "");
    // One that is closed makes room for another in the share.
    drop(safe.pop());
    safe.push(server.signed_in().await);
    for client in &mut safe {
        client.is_served().await;
    }
}

#[tokio::test]
async fn a_connection_that_is_worked_for_is_displaced_only_after_its_answer() {
    let server = Running::start(crowded(1)).await;
    let mut busy = server.client().await;
    busy.send(WORK).await;
    within(server.app.0.waiting.notified()).await;
    let mut newcomer = server.client().await;
    newcomer.send(HELLO).await;
    server.app.0.go_on.notify_one();
    assert_eq!(busy.answer().await.1, "done");
    assert_eq!(newcomer.answer().await.1, "hello");
    assert_eq!(busy.rest().await, "");
}

#[tokio::test]
async fn a_connection_whose_body_does_not_come_is_displaced() {
    let server = Running::start(crowded(1)).await;
    let mut slow = server.client().await;
    let head =
        "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
    slow.send(head).await;
    // Now the body is waited for.
    slow.until("100 Continue\r\n\r\n").await;
    slow.send("part").await;
    server.greeted().await.is_served().await;
    assert_eq!(slow.rest().await, "");
}

#[tokio::test]
async fn a_lone_network_has_more_than_its_share() {
    let server = Running::start(crowded(1000)).await;
    for client in &mut server.greet(2 * SHARE).await {
        client.is_served().await;
    }
}

#[tokio::test]
async fn beyond_the_share_of_a_network_its_longest_idle_connection_is_closed() {
    let server = Running::start(crowded(SCARCE * 2)).await;
    let mut elsewhere = server.client_elsewhere().await;
    elsewhere.is_served().await;
    // With that of the other network, so many that the next is the first for which places are scarce.
    let mut clients = server.greet(SCARCE * 2 - SCARCE * 2 / 8 - 1).await;
    let mut longest = clients.pop_front().unwrap();
    let mut newcomer = server.greeted().await;
    assert_eq!(longest.rest().await, "");
    for client in [&mut elsewhere, &mut newcomer] {
        client.is_served().await;
    }
}

#[tokio::test]
async fn beyond_the_share_of_a_network_a_newcomer_is_closed_while_the_others_are_safe() {
    let server = Running::start(Limits {
        unknown_safe_time: NEVER,
        ..crowded(SCARCE)
    })
    .await;
    let mut clients = server.greet(SHARE).await;
    let mut newcomer = server.client().await;
    assert_eq!(newcomer.rest().await, "");
    for client in &mut clients {
        client.is_served().await;
    }
    let mut leaving = clients.pop_front().unwrap();
    leaving.send(SIGN_IN).await;
    assert_eq!(leaving.answer().await.1, "welcome");
    server.greeted().await;
}

#[tokio::test]
async fn only_so_many_connections_may_send_long_heads_without_credentials() {
    let server = Running::start(Limits {
        connections: 1_000_000,
        ..patient()
    })
    .await;
    let long = format!(
        "GET /hello HTTP/1.1\r\nHost: a\r\nX-Long: {}\r\n",
        "x".repeat(20 * 1024)
    );
    let mut clients = VecDeque::new();
    // Of 256, all but the reserve.
    for _ in 0..192 {
        let mut client = server.client().await;
        client.send(&long).await;
        client.send("\r\n").await;
        assert_eq!(client.answer().await.1, "hello");
        clients.push_back(client);
    }
    let mut next = server.client().await;
    next.send(&long).await;
    assert_eq!(next.rest().await, "");
    let mut elsewhere = server.client_elsewhere().await;
    elsewhere.send(&long).await;
    elsewhere.send("\r\n").await;
    assert_eq!(elsewhere.answer().await.1, "hello");
    server.greeted().await;
    let mut known = server.client().await;
    known.send(SIGN_IN).await;
    assert_eq!(known.answer().await.1, "welcome");
    known.send(&long).await;
    known.send("\r\n").await;
    assert_eq!(known.answer().await.1, "hello");
}

#[tokio::test]
async fn connections_of_a_trusted_proxy_have_no_share() {
    let proxies = TrustedProxies::new(vec!["127.0.0.0/8".parse().unwrap()]);
    let server = Running::start_server(Server::new(crowded(1000)).trust(proxies)).await;
    for client in &mut server.greet(2 * SHARE).await {
        client.is_served().await;
    }
}

#[tokio::test]
async fn unknown_connections_are_waited_for_less_long_when_connections_are_scarce() {
    let limits = Limits {
        connections: 8,
        unknown_safe_time: NEVER,
        scarce_time: SOON,
        ..patient()
    };
    let server = Running::start(limits).await;
    // Seven are not scarce yet: the last of them still saw two places.
    let mut clients = server.greet(7).await;
    let mut last = server.greeted().await;
    assert_eq!(last.rest().await, "");
    clients[0].is_served().await;
    assert_eq!(
        clients[0].rest().await,
        "",
        "it is noticed with the next request"
    );
}
