//! Posting again with the same uuid (specification, section 2, Message): safe for who does not know
//! whether the first attempt arrived.

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::{Value, json};

on_shared_servers![
    a_repeat_gives_the_first_message,
    a_repeat_is_answered_by_its_own_wait_header,
    other_content_under_the_same_uuid_is_a_conflict,
    another_author_under_the_same_uuid_is_a_conflict,
    a_repeat_is_known_also_when_the_message_was_changed,
    a_uuid_belongs_to_one_flow,
    repeats_made_at_the_same_time_give_one_message,
    a_repeated_comment_gives_the_first_comment,
    a_repeat_with_a_flow_token_gives_the_first_message,
];

fn message(content: &str) -> Json {
    json!({"event": "message", "content": content, "uuid": "2f1c"})
}

async fn count(tenant: &Tenant) -> usize {
    tenant
        .ada
        .get(&tenant.path("/messages"))
        .await
        .as_array()
        .unwrap()
        .len()
}

/// Shows: 2.20
async fn a_repeat_gives_the_first_message(tenant: Tenant) {
    let first = tenant.ben.post(&tenant.main, &message("hello")).await;
    tenant.ben.say(&tenant.main, "something between").await;
    let again = tenant.ben.post(&tenant.main, &message("hello")).await;
    assert_eq!(
        (&again["id"], &again["sent"]),
        (&first["id"], &first["sent"])
    );
    assert_eq!(count(&tenant).await, 2);
}

/// Shows: 4.18
async fn a_repeat_is_answered_by_its_own_wait_header(tenant: Tenant) {
    let post = async |body: &Json| {
        tenant
            .ben
            .send(Method::POST, &tenant.path("/messages"), body)
            .await
    };
    assert_eq!(post(&message("hello")).await.text(), "{}");
    assert_eq!(
        tenant.ben.post(&tenant.main, &message("hello")).await["id"],
        1
    );
    let again = post(&message("hello")).await;
    assert_eq!((again.status.as_u16(), again.text().as_str()), (202, "{}"));
    assert_eq!(count(&tenant).await, 1);
}

async fn conflicts(tenant: &Tenant, caller: &Caller, body: &Json) {
    let answer = caller
        .send(Method::POST, &tenant.path("/messages"), body)
        .await;
    assert_eq!(answer.status, 409, "{body}");
    assert!(answer.json()["message"].is_string());
}

async fn other_content_under_the_same_uuid_is_a_conflict(tenant: Tenant) {
    tenant.ben.post(&tenant.main, &message("hello")).await;
    conflicts(&tenant, &tenant.ben, &message("hello!")).await;
    conflicts(
        &tenant,
        &tenant.ben,
        &json!({"event": "status", "content": "hello", "uuid": "2f1c"}),
    )
    .await;
    assert_eq!(count(&tenant).await, 1);
}

async fn another_author_under_the_same_uuid_is_a_conflict(tenant: Tenant) {
    tenant.ben.post(&tenant.main, &message("hello")).await;
    conflicts(&tenant, &tenant.ada, &message("hello")).await;
    assert_eq!(count(&tenant).await, 1);
}

async fn a_repeat_is_known_also_when_the_message_was_changed(tenant: Tenant) {
    let first = tenant.ben.post(&tenant.main, &message("hello")).await;
    let path = tenant.message_path(&first);
    tenant
        .ben
        .does(Method::PUT, &path, &json!({"content": "changed"}))
        .await;
    let again = tenant.ben.post(&tenant.main, &message("hello")).await;
    assert_eq!(
        (&again["id"], &again["content"]),
        (&first["id"], &json!("changed"))
    );
    conflicts(&tenant, &tenant.ben, &message("changed")).await;
    tenant.ben.does(Method::DELETE, &path, &json!({})).await;
    let again = tenant.ben.post(&tenant.main, &message("hello")).await;
    assert_eq!(
        (&again["id"], &again["content"]),
        (&first["id"], &json!(""))
    );
    assert_eq!(count(&tenant).await, 1);
}

/// Shows: 2.20
async fn a_uuid_belongs_to_one_flow(tenant: Tenant) {
    tenant.flow("side", &[&tenant.ben]);
    tenant.ben.post(&tenant.main, &message("hello")).await;
    let other = tenant
        .ben
        .post(&format!("{}/side", tenant.name), &message("quite another"))
        .await;
    assert_eq!(other["content"], "quite another");
}

async fn repeats_made_at_the_same_time_give_one_message(tenant: Tenant) {
    let mut posts = Vec::new();
    for _ in 0..30 {
        let request = tenant
            .ben
            .client
            .request(Method::POST, &tenant.path("/messages"));
        let request = request
            .header("x-service-wait-for-message", "1")
            .json(&message("hello"));
        posts.push(tokio::spawn(request.call::<Value>()));
    }
    for post in posts {
        assert_eq!(post.await.unwrap().unwrap()["id"], 1);
    }
    assert_eq!(count(&tenant).await, 1);
}

async fn a_repeated_comment_gives_the_first_comment(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "hello").await;
    let path = format!("{}/comments", tenant.message_path(&parent));
    let comment = |text: &str| {
        let request = tenant.ben.client.request(Method::POST, &path);
        request
            .header("x-service-wait-for-message", "1")
            .json(&json!({"content": text, "uuid": "2f1c"}))
    };
    let first: Value = comment("me too").call().await.unwrap();
    let again: Value = comment("me too").call().await.unwrap();
    assert_eq!(again["id"], first["id"]);
    assert_eq!(comment("me neither").send().await.unwrap().status, 409);
    assert_eq!(count(&tenant).await, 2);
    let threads = tenant.ben.get(&tenant.message_path(&parent)).await;
    assert_eq!(
        threads["thread"]["internal_comments"], 2,
        "a repeat is not counted"
    );
}

async fn a_repeat_with_a_flow_token_gives_the_first_message(tenant: Tenant) {
    let client = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    for _ in 0..3 {
        let request = client
            .request(Method::POST, "/messages")
            .json(&message("beep"));
        let posted: Value = request
            .header("x-service-wait-for-message", "1")
            .call()
            .await
            .unwrap();
        assert_eq!(posted["id"], 1);
    }
    conflicts(&tenant, &tenant.ben, &message("beep")).await;
}
