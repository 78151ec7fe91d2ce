//! Two servers on one PostgreSQL: what a provider ends at one has ended at the other when it is
//! answered.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use eddyline_client::{Client, Credentials, Method};
use eddyline_tests::{Backend, Listener, PASSWORD, Server, run};
use futures_util::future::join_all;
use serde_json::json;

use super::{at, patched};

/// How many streams are open on each server.
const STREAMS: usize = 100;
/// How many messages are written on each after the answer.
const AFTER: usize = 20;

/// Shows: 3.16
#[test]
fn of_two_hundred_streams_none_hears_a_word_after_the_answer() {
    run(Backend::Postgres, &[], async |one| {
        let other = one.another_node("node-2", &[]);
        Box::pin(on_both(one, other)).await;
    });
}

async fn on_both(one: Server, other: Server) {
    let acme = one.acme();
    let provider = one.provider("acme");
    one.admin(&["scim", "link", "--org", "acme", "--email", &acme.ben.email]);
    let ben = provider.get(&format!("/Users/{}", acme.ben.id)).await;
    let robot = one.robot("acme", &[]);
    let tokens = robot.by_password(&acme.ben, "").await;
    let at_other = |token: &str| other.client().api_token(token).build().unwrap();
    let bearer = Credentials::Bearer(tokens["access_token"].as_str().unwrap().to_owned());
    let bearer_there = other.client().credentials(bearer).build().unwrap();
    assert_eq!(
        bearer_there
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        200
    );
    let mut browser_there = other.signed_in(&acme.ben.email, PASSWORD).await;
    let (ben_there, ada_there) = (at_other(&acme.ben.token), at_other(&acme.ada.token));
    let mut streams = Vec::new();
    for client in [&acme.ben.client, &ben_there] {
        streams.extend(join_all((0..STREAMS).map(|_| Listener::to(client, &["acme/main"]))).await);
    }
    // Somebody writes on both servers all the while: before, meanwhile, and after the answer.
    let is_answered = AtomicBool::new(false);
    let writing = async |client: &Client| {
        let mut after = 0;
        while after < AFTER {
            let mark = if is_answered.load(Ordering::SeqCst) {
                "after"
            } else {
                "before"
            };
            let body = json!({"event": "message", "content": mark});
            let request = client
                .request(Method::POST, "/flows/acme/main/messages")
                .json(&body);
            assert_eq!(request.send().await.unwrap().status, 202);
            after += usize::from(mark == "after");
        }
    };
    let ending = async {
        let off = json!([{"op": "replace", "path": "active", "value": false}]);
        assert_eq!(patched(&provider, &ben, off).await["active"], false);
        is_answered.store(true, Ordering::SeqCst);
        let answered = Instant::now();
        let (token, token_there) = (robot.with(&tokens["access_token"]), bearer_there);
        let own = [&acme.ben.client, &ben_there, &token, &token_there];
        let statuses = join_all(own.map(|client| client.request(Method::GET, "/user").send()));
        for answer in statuses.await {
            assert_eq!(answer.unwrap().status, 401);
        }
        assert!(
            browser_there
                .get("/account")
                .await
                .sent_on()
                .starts_with("/sign-in")
        );
        answered
    };
    let listening = async {
        let ends = streams
            .into_iter()
            .map(async |stream| (stream.rest().await, Instant::now()));
        join_all(ends).await
    };
    let (answered, heard, ..) = tokio::join!(
        ending,
        listening,
        writing(&acme.ada.client),
        writing(&ada_there)
    );
    let mut latest = answered;
    for (messages, ended) in &heard {
        latest = latest.max(*ended);
        let contents = messages
            .iter()
            .filter_map(|message| message["content"].as_str());
        assert!(
            contents.into_iter().all(|content| content == "before"),
            "{messages:?}"
        );
    }
    assert_eq!(heard.len(), 2 * STREAMS);
    // How long is for a reader to judge: on a busy machine it tells of the machine.
    let late = latest - answered;
    let _ = writeln!(
        std::io::stderr().lock(),
        "the last of {} streams ended {late:?} after it",
        heard.len()
    );
    let on = json!([{"op": "replace", "path": "active", "value": true}]);
    patched(&provider.at(&other), &ben, on).await;
    assert_eq!(provider.at(&other).get(&at(&ben)).await["active"], true);
}
