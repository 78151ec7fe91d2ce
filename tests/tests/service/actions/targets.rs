//! Where requests of actions go, and who says so.

use eddyline_client::{Json, Method};
use eddyline_tests::{Server, on_both_databases};
use serde_json::json;

use super::{Stage, close, is_done, push, source};

on_both_databases![addresses_of_the_servers_own_networks_are_not_asked,];
on_both_databases![crate::actions::OPTIONS;
    what_no_request_can_go_to_is_not_asked,
    nobody_else_says_where_an_action_leads,
    another_source_of_the_same_application_may,
];

const FORBIDDEN: &str = "The address of the action must not be asked from here";

async fn refusal(stage: &Stage, thread: &str) -> Json {
    let answer = stage.trigger(&stage.acme.ben, thread, "0").await;
    assert_eq!(answer.status, 424, "{}", answer.text());
    answer.json()
}

/// Shows: 6.6
async fn addresses_of_the_servers_own_networks_are_not_asked(server: Server) {
    let stage = Stage::set(server).await;
    let port = stage.receiver.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "x.localhost",
        "2130706433",
        "0x7f.1",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "[fe80::1]",
        "[fd00::1]",
    ] {
        let thread = push(
            &stage.source,
            "1",
            &[close(&format!("http://{host}:{port}/close"))],
        )
        .await;
        assert_eq!(
            refusal(&stage, &thread).await,
            json!({"message": FORBIDDEN, "status": null}),
            "{host}"
        );
    }
    assert!(stage.receiver.asked().is_empty());
}

async fn what_no_request_can_go_to_is_not_asked(server: Server) {
    let stage = Stage::set(server).await;
    let thread = push(
        &stage.source,
        "1",
        &[close("http://no-such-host.invalid/close")],
    )
    .await;
    let expected = json!({"message": "The integration could not be reached", "status": null});
    assert_eq!(refusal(&stage, &thread).await, expected);
    // It speaks HTTP, and not TLS.
    let url = format!("https://127.0.0.1:{}/close", stage.receiver.port());
    let thread = push(&stage.source, "1", &[close(&url)]).await;
    assert_eq!(refusal(&stage, &thread).await, expected);
}

/// Shows: 5.13
async fn nobody_else_says_where_an_action_leads(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    let other = stage.server.robot("acme", &[]);
    let (neighbour, _) = source(&stage.server, &other);
    let message = json!({
        "event": "activity", "title": "mine now", "thread_id": thread,
        "thread": {"title": "A ticket", "actions": [close(&stage.receiver.url("/stolen"))]},
    });
    let tokens = other.by_password(&stage.acme.ben, "flow").await;
    let for_user = other.with(&tokens["access_token"]);
    let own = stage
        .server
        .admin(&["flow", "token", "--flow", "acme/main"]);
    let flow = super::with_flow_token(&stage.server, &own);
    for (who, client, path) in [
        ("another source", &neighbour, "/messages"),
        ("the flow's token", &flow, "/messages"),
        (
            "another application",
            &for_user,
            "/flows/acme/main/messages",
        ),
        (
            "a user",
            &stage.acme.ada.client,
            "/flows/acme/main/messages",
        ),
    ] {
        let request = client.request(Method::POST, path).json(&message);
        let answer = request
            .header("x-service-wait-for-message", "1")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 403, "{who}: {}", answer.text());
    }
    is_done(&stage.trigger(&stage.acme.ben, &thread, "0").await);
    let request = stage.receiver.asked_once();
    assert_eq!(request.path, "/close");
    assert_eq!(request.claims()["aud"], stage.robot.client_id);
    // The same id with another source is another thread.
    assert_ne!(
        push(&neighbour, "1", &[close(&stage.receiver.url("/stolen"))]).await,
        thread
    );
}

async fn another_source_of_the_same_application_may(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    let (second, _) = source(&stage.server, &stage.robot);
    let message = json!({
        "event": "activity", "title": "moved", "thread_id": thread,
        "thread": {"title": "A ticket", "actions": [close(&stage.receiver.url("/moved"))]},
    });
    second
        .request(Method::POST, "/messages")
        .json(&message)
        .done()
        .await
        .unwrap();
    is_done(&stage.trigger(&stage.acme.ben, &thread, "0").await);
    assert_eq!(stage.receiver.asked_once().path, "/moved");
}
