//! Comments and threads (specification, sections 2 and 4).

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::{Value, json};

on_shared_servers![
    a_comment_holds_the_text_of_its_parent,
    both_paths_make_the_same_comment,
    the_event_of_a_comment_may_be_left_out,
    a_comment_on_a_comment_is_refused,
    a_comment_needs_a_parent_that_is_there,
    the_comments_of_a_message_are_listed,
    a_message_begins_its_own_thread,
    a_message_goes_into_a_thread_by_path_or_parameter,
    a_comment_belongs_to_the_thread_of_its_parent,
    a_thread_that_is_not_there_is_refused,
    the_messages_of_a_thread_are_listed,
    the_title_of_a_thread_is_the_first_line_in_html,
    a_thread_counts_what_is_said_in_it,
];

async fn comment(tenant: &Tenant, parent: &Json, text: &str) -> Json {
    let path = format!("{}/comments", tenant.message_path(parent));
    let request = tenant
        .ada
        .client
        .request(Method::POST, &path)
        .json(&json!({"content": text}));
    request
        .header("x-service-wait-for-message", "1")
        .call()
        .await
        .unwrap()
}

/// Posts into a thread by its path.
async fn answer(tenant: &Tenant, thread: &Json, text: &str) -> Json {
    let path = tenant.path(&format!("/threads/{}/messages", thread.as_str().unwrap()));
    let request = tenant.ada.client.request(Method::POST, &path);
    let request = request.json(&json!({"event": "message", "content": text}));
    request
        .header("x-service-wait-for-message", "1")
        .call()
        .await
        .unwrap()
}

fn ids(messages: &Json) -> Vec<i64> {
    messages
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["id"].as_i64().unwrap())
        .collect()
}

/// Shows: 2.21
async fn a_comment_holds_the_text_of_its_parent(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "Lunch?\nAt noon.").await;
    let posted = comment(&tenant, &parent, "Yes!").await;
    assert_eq!(posted["event"], "comment");
    assert_eq!(
        posted["content"],
        json!({"title": "Lunch?\nAt noon.", "text": "Yes!"})
    );
    assert_eq!(posted["tags"], json!([format!(":influx:{}", parent["id"])]));
    assert_eq!(posted["app"], "chat");
    assert_eq!(posted["user"], tenant.ada.id.to_string());
    assert_eq!(
        tenant.ben.get(&tenant.message_path(&posted)).await["content"],
        posted["content"]
    );
    // The title follows the parent.
    tenant
        .ben
        .does(
            Method::PUT,
            &tenant.message_path(&parent),
            &json!({"content": "Dinner?"}),
        )
        .await;
    let now = tenant.ben.get(&tenant.message_path(&posted)).await;
    assert_eq!(now["content"], json!({"title": "Dinner?", "text": "Yes!"}));
}

/// Shows: 4.13
async fn both_paths_make_the_same_comment(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "Lunch?").await;
    let id = parent["id"].clone();
    let by_path = format!("{}/comments", tenant.message_path(&parent));
    for (path, body) in [
        (
            by_path.as_str(),
            json!({"event": "comment", "content": "Yes"}),
        ),
        (
            "/comments",
            json!({"event": "comment", "content": "Yes", "flow": tenant.main, "message": id}),
        ),
        (
            "/comments",
            json!({"content": "Yes", "flow": tenant.main, "message": id.to_string()}),
        ),
    ] {
        let request = tenant.ben.client.request(Method::POST, path).json(&body);
        let answer = request
            .header("x-service-wait-for-message", "1")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(
            answer.json()["content"],
            json!({"title": "Lunch?", "text": "Yes"})
        );
        let comments = format!(
            "{}/comments>; rel=\"comments\"",
            tenant.message_path(&answer.json())
        );
        assert!(answer.header("link").unwrap().ends_with(&comments));
    }
    let without = tenant
        .ben
        .send(Method::POST, &by_path, &json!({"content": "Yes"}))
        .await;
    assert_eq!(
        (without.status.as_u16(), without.text().as_str()),
        (202, "{}")
    );
}

async fn the_event_of_a_comment_may_be_left_out(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "Lunch?").await;
    let path = format!("{}/comments", tenant.message_path(&parent));
    assert_eq!(
        tenant
            .ben
            .send(Method::POST, &path, &json!({"content": "Yes"}))
            .await
            .status,
        202
    );
    let wrong = json!({"event": "message", "content": "Yes"});
    assert_eq!(
        tenant.ben.send(Method::POST, &path, &wrong).await.status,
        400
    );
}

/// Shows: 4.13
async fn a_comment_on_a_comment_is_refused(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "Lunch?").await;
    let posted = comment(&tenant, &parent, "Yes").await;
    let path = format!("{}/comments", tenant.message_path(&posted));
    let answer = tenant
        .ben
        .send(Method::POST, &path, &json!({"content": "No"}))
        .await;
    assert_eq!(answer.status, 400);
    assert!(
        answer.json()["errors"]["message"].is_array(),
        "{}",
        answer.text()
    );
}

/// Shows: 4.13
async fn a_comment_needs_a_parent_that_is_there(tenant: Tenant) {
    let text = json!({"content": "Yes"});
    for id in [
        "99",
        "0",
        "-1",
        "9223372036854775807",
        "9223372036854775808",
        "x",
    ] {
        let path = tenant.path(&format!("/messages/{id}/comments"));
        assert_eq!(
            tenant.ben.send(Method::POST, &path, &text).await.status,
            404,
            "{id}"
        );
    }
    for message in [
        json!(null),
        json!("x"),
        json!({}),
        json!("9223372036854775808"),
    ] {
        let body = json!({"content": "Yes", "flow": tenant.main, "message": message});
        let answer = tenant.ben.send(Method::POST, "/comments", &body).await;
        assert_eq!(answer.status, 400, "{message}");
        assert!(
            answer.json()["errors"]["message"].is_array(),
            "{}",
            answer.text()
        );
    }
    let body = json!({"content": "Yes", "flow": tenant.main, "message": 99});
    assert_eq!(
        tenant
            .ben
            .send(Method::POST, "/comments", &body)
            .await
            .status,
        404
    );
    // A message of another flow has the same number, but is not there.
    tenant.flow("side", &[&tenant.ben]);
    tenant
        .ben
        .say(&format!("{}/side", tenant.name), "Over here")
        .await;
    let path = tenant.path("/messages/1/comments");
    assert_eq!(
        tenant.ben.send(Method::POST, &path, &text).await.status,
        404
    );
}

async fn the_comments_of_a_message_are_listed(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "Lunch?").await;
    let other = tenant.ben.say(&tenant.main, "Dinner?").await;
    let mut expected = Vec::new();
    for number in 0..4 {
        expected.push(
            comment(&tenant, &parent, &format!("{number}")).await["id"]
                .as_i64()
                .unwrap(),
        );
        comment(&tenant, &other, "No").await;
        answer(
            &tenant,
            &parent["thread_id"],
            "in the thread, but no comment",
        )
        .await;
    }
    let path = format!("{}/comments", tenant.message_path(&parent));
    assert_eq!(ids(&tenant.ben.get(&path).await), expected);
    assert_eq!(
        ids(&tenant.ben.get(&format!("{path}?limit=2")).await),
        expected[2..]
    );
    assert_eq!(
        ids(&tenant.ben.get(&format!("{path}?limit=2&sort=asc")).await),
        expected[..2]
    );
    let request = tenant
        .ben
        .client
        .request(Method::GET, &tenant.path("/messages/99/comments"));
    assert_eq!(request.send().await.unwrap().status, 404);
}

/// Shows: 2.28
async fn a_message_begins_its_own_thread(tenant: Tenant) {
    let one = tenant.ben.say(&tenant.main, "one").await;
    let two = tenant.ben.say(&tenant.main, "two").await;
    assert_ne!(one["thread_id"], two["thread_id"]);
    for message in [one, two] {
        assert_eq!(message["thread"]["initial_message"], message["id"]);
        assert_eq!(message["thread"]["created_at"], message["created_at"]);
        let id = message["thread_id"].as_str().unwrap();
        let url_safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        assert!(id.len() == 27 && id.chars().all(url_safe), "{id}");
    }
}

/// Shows: 4.16, 4.19
async fn a_message_goes_into_a_thread_by_path_or_parameter(tenant: Tenant) {
    let first = tenant.ben.say(&tenant.main, "one").await;
    let thread = &first["thread_id"];
    let by_path = answer(&tenant, thread, "two").await;
    let body = json!({"event": "message", "content": "three", "thread_id": thread});
    let by_parameter = tenant.ben.post(&tenant.main, &body).await;
    let general =
        json!({"event": "message", "content": "four", "thread_id": thread, "flow": tenant.main});
    assert_eq!(
        tenant
            .ben
            .send(Method::POST, "/messages", &general)
            .await
            .status,
        202
    );
    for message in [
        by_path,
        by_parameter,
        tenant.ben.get(&tenant.path("/messages/4")).await,
    ] {
        assert_eq!(&message["thread_id"], thread);
        assert_eq!(message["thread"]["initial_message"], first["id"]);
        assert_eq!(message["event"], "message");
        assert_eq!(message["tags"], json!([]));
    }
}

async fn a_comment_belongs_to_the_thread_of_its_parent(tenant: Tenant) {
    let first = tenant.ben.say(&tenant.main, "one").await;
    let second = answer(&tenant, &first["thread_id"], "two").await;
    for parent in [&first, &second] {
        assert_eq!(
            comment(&tenant, parent, "Yes").await["thread_id"],
            first["thread_id"]
        );
    }
}

/// Shows: 4.16
async fn a_thread_that_is_not_there_is_refused(tenant: Tenant) {
    tenant.flow("side", &[&tenant.ben]);
    let side = format!("{}/side", tenant.name);
    let elsewhere = tenant.ben.say(&side, "elsewhere").await["thread_id"].clone();
    let own = tenant.ben.say(&tenant.main, "here").await["thread_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut forged = own.clone();
    forged.replace_range(0..1, if own.starts_with('A') { "B" } else { "A" });
    for thread in [
        elsewhere.as_str().unwrap(),
        &forged,
        "x",
        "1",
        &own.to_lowercase(),
    ] {
        let path = tenant.path(&format!("/threads/{thread}/messages"));
        let body = json!({"event": "message", "content": "hello"});
        assert_eq!(
            tenant.ben.send(Method::POST, &path, &body).await.status,
            404,
            "{thread}"
        );
        let list = tenant
            .ben
            .client
            .request(Method::GET, &path)
            .send()
            .await
            .unwrap();
        assert_eq!(list.status, 404, "{thread}");
        let body = json!({"event": "message", "content": "hello", "thread_id": thread});
        let answer = tenant
            .ben
            .send(Method::POST, &tenant.path("/messages"), &body)
            .await;
        assert_eq!(answer.status, 400, "{thread}");
        assert!(answer.json()["errors"]["thread_id"].is_array());
    }
}

/// Shows: 4.26
async fn the_messages_of_a_thread_are_listed(tenant: Tenant) {
    let first = tenant.ben.say(&tenant.main, "one #tea").await;
    tenant.ben.say(&tenant.main, "outside #tea").await;
    answer(&tenant, &first["thread_id"], "two #tea").await;
    comment(&tenant, &first, "three").await;
    let path = tenant.path(&format!(
        "/threads/{}/messages",
        first["thread_id"].as_str().unwrap()
    ));
    assert_eq!(ids(&tenant.ben.get(&path).await), [1, 3, 4]);
    assert_eq!(
        ids(&tenant.ben.get(&format!("{path}?limit=1&sort=asc")).await),
        [1]
    );
    assert_eq!(
        ids(&tenant
            .ben
            .get(&format!("{path}?since_id=1&until_id=4"))
            .await),
        [3]
    );
    assert_eq!(
        ids(&tenant.ben.get(&format!("{path}?tags=tea")).await),
        [1, 3]
    );
    assert_eq!(
        ids(&tenant.ben.get(&format!("{path}?event=comment")).await),
        [4]
    );
    assert_eq!(
        ids(&tenant.ben.get(&format!("{path}?search=tea")).await),
        [1, 3]
    );
}

/// Shows: 2.28
async fn the_title_of_a_thread_is_the_first_line_in_html(tenant: Tenant) {
    let first = tenant.ben.say(&tenant.main, "Is 1 < 2 & 3?\nSurely.").await;
    assert_eq!(first["thread"]["title"], "Is 1 &lt; 2 &amp; 3?");
}

/// Shows: 2.31
async fn a_thread_counts_what_is_said_in_it(tenant: Tenant) {
    let first = tenant.ben.say(&tenant.main, "one").await;
    let counts = |message: &Value| {
        let thread = &message["thread"];
        ["activities", "internal_comments", "external_comments"]
            .map(|name| thread[name].as_i64().unwrap())
    };
    assert_eq!(counts(&first), [0, 1, 0]);
    let second = answer(&tenant, &first["thread_id"], "two").await;
    assert_eq!(counts(&second), [0, 2, 0]);
    assert_eq!(counts(&comment(&tenant, &first, "three").await), [0, 3, 0]);
    let now = tenant.ben.get(&tenant.message_path(&first)).await;
    assert_eq!(
        counts(&now),
        [0, 3, 0],
        "also where the thread is shown with an older message"
    );
    assert!(now["thread"]["updated_at"].as_str() >= first["thread"]["updated_at"].as_str());
}
