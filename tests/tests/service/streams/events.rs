//! What is told beside posted messages.

use eddyline_client::{Method, StreamRequest};
use eddyline_tests::{Acme, Listener, Server, on_both_databases};
use serde_json::json;

on_both_databases![
    every_kind_of_message_is_told_as_it_is_listed,
    an_edit_is_told_with_the_new_text,
    a_change_of_tags_is_told_as_a_difference,
    a_deleted_chat_message_is_told_as_an_empty_one,
    who_comes_and_who_is_shut_out_is_told_to_the_flow,
    a_change_of_the_flow_is_told,
    a_comment_brings_the_state_of_its_thread,
];

const FLOW: &str = "/flows/acme/main";

/// Shows: 1.6, 6.3
async fn every_kind_of_message_is_told_as_it_is_listed(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut events = Listener::to(&ada.client, &["acme/main"]).await;
    let mut objects =
        Listener::open(&ada.client, &StreamRequest::new().flow("acme/main").json()).await;
    let parent = ben
        .say("acme/main", "@ada look at https://example.com #links")
        .await;
    ben.post(
        "acme/main",
        &json!({"event": "status", "content": "thinking"}),
    )
    .await;
    let anonymous = json!({"event": "message", "content": "beep", "external_user_name": "robot", "uuid": "u-1"});
    ben.post("acme/main", &anonymous).await;
    let comments = format!("{FLOW}/messages/{}/comments", parent["id"]);
    ada.does(Method::POST, &comments, &json!({"content": "seen"}))
        .await;
    let token = server.admin(&["flow", "token", "--flow", "acme/main"])["flow_token"].clone();
    let pushed = json!({"event": "message", "content": "pushed", "external_user_name": "ci", "flow_token": token});
    ada.does(Method::POST, "/messages", &pushed).await;

    for _ in 0..5 {
        let told = events.json().await;
        assert_eq!(objects.json().await, told);
        let got = ada.get(&format!("{FLOW}/messages/{}", told["id"])).await;
        if told["id"] == parent["id"] {
            // Its thread has gone on since.
            assert_eq!(told, parent);
        } else {
            assert_eq!(told, got);
        }
    }
}

/// Shows: 6.8
async fn an_edit_is_told_with_the_new_text(server: Server) {
    let Acme { ada, ben } = server.acme();
    let message = ben.say("acme/main", "helo").await;
    let mut stream = Listener::to(&ada.client, &["acme/main"]).await;
    let path = format!("{FLOW}/messages/{}", message["id"]);
    ben.does(Method::PUT, &path, &json!({"content": "hello"}))
        .await;
    let told = stream.event("message-edit").await;
    assert_eq!(
        told["content"],
        json!({"message": message["id"], "updated_content": "hello"})
    );
    assert_eq!(told["user"], ben.id.to_string());
    assert_eq!(told["flow"], message["flow"]);
    assert!(
        told["id"].as_i64() > message["id"].as_i64(),
        "an edit has a place in the flow"
    );
}

/// Shows: 6.8
async fn a_change_of_tags_is_told_as_a_difference(server: Server) {
    let Acme { ada, ben } = server.acme();
    let message = ben.say("acme/main", "tea time #tea #old").await;
    let mut stream = Listener::to(&ben.client, &["acme/main"]).await;
    let path = format!("{FLOW}/messages/{}", message["id"]);
    ada.does(Method::PUT, &path, &json!({"tags": ["tea", "new"]}))
        .await;
    let told = stream.event("tag-change").await;
    assert_eq!(
        told["content"],
        json!({"message": message["id"], "add": ["new"], "remove": ["old"]})
    );
    assert_eq!(told["user"], ada.id.to_string());
}

/// Shows: 3.14
async fn a_deleted_chat_message_is_told_as_an_empty_one(server: Server) {
    let Acme { ada, ben } = server.acme();
    let message = ben.say("acme/main", "never mind").await;
    let mut stream = Listener::to(&ada.client, &["acme/main"]).await;
    let path = format!("{FLOW}/messages/{}", message["id"]);
    ben.does(Method::DELETE, &path, &json!({})).await;
    let told = stream.event("message-edit").await;
    assert_eq!(
        told["content"],
        json!({"message": message["id"], "updated_content": ""})
    );
}

/// Shows: 6.8
async fn who_comes_and_who_is_shut_out_is_told_to_the_flow(server: Server) {
    let Acme { ada, ben } = server.acme();
    let cyd = server.user("acme", "cyd");
    let mut stream = Listener::to(&ben.client, &["acme/main"]).await;
    ada.does(
        Method::POST,
        &format!("{FLOW}/users"),
        &json!({"id": cyd.id}),
    )
    .await;
    let joined = stream.event("backend.user.join").await;
    assert_eq!(
        joined["content"],
        json!({"user": {"id": cyd.id, "nick": "cyd"}})
    );
    let added = stream.event("action").await;
    assert_eq!(
        added["content"],
        json!({"type": "add_people", "description": "cyd"})
    );

    ada.does(
        Method::PUT,
        &format!("{FLOW}/users/{}", cyd.id),
        &json!({"disabled": true}),
    )
    .await;
    let blocked = stream.event("backend.user.block").await;
    assert_eq!(blocked["content"], cyd.id.to_string());
    let blocked = stream.event("action").await;
    assert_eq!(
        blocked["content"],
        json!({"type": "block", "description": {"user": cyd.id}})
    );
}

/// Shows: 6.8
async fn a_change_of_the_flow_is_told(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut stream = Listener::to(&ben.client, &["acme/main"]).await;
    ada.does(Method::PUT, FLOW, &json!({"name": "Headquarters"}))
        .await;
    let changed = stream.event("flow-change").await;
    assert_eq!(changed["content"]["name"], "Headquarters");
    assert_eq!(changed["content"]["parameterized_name"], "main");
    assert_eq!(changed["flow"], ada.get(FLOW).await["id"]);
}

/// Shows: 6.5
async fn a_comment_brings_the_state_of_its_thread(server: Server) {
    let Acme { ada, ben } = server.acme();
    let parent = ben.say("acme/main", "who is in?").await;
    let mut stream = Listener::to(&ada.client, &["acme/main"]).await;
    for count in 1..=3 {
        let comments = format!("{FLOW}/messages/{}/comments", parent["id"]);
        ada.does(Method::POST, &comments, &json!({"content": "me"}))
            .await;
        let comment = stream.json().await;
        assert_eq!(comment["thread_id"], parent["thread_id"]);
        let before = parent["thread"]["internal_comments"].as_i64().unwrap();
        assert_eq!(comment["thread"]["internal_comments"], before + count);
        assert_eq!(comment["thread"]["initial_message"], parent["id"]);
    }
}
