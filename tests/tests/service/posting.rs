//! Posting to a flow (specification, section 4): every path, every form, what the answer says.

use eddyline_client::{Method, RequestBuilder};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::{Value, json};

on_shared_servers![
    every_sending_path_takes_a_message,
    without_the_wait_header_the_answer_is_202_and_empty,
    with_the_wait_header_the_answer_is_the_message_and_where_its_comments_are,
    a_message_has_every_field_of_the_specification,
    ids_count_up_in_each_flow_of_its_own,
    a_body_may_be_json_or_a_form,
    parameters_may_stand_in_the_query_and_the_body_wins,
    brackets_in_a_form_make_arrays,
    a_flow_is_named_by_its_id_or_its_names,
    a_flow_that_is_not_named_is_a_mistake,
    a_name_given_makes_a_users_message_anonymous,
    a_status_is_a_message_and_the_users_status,
    applications_messages_are_not_for_users,
    kinds_that_only_the_server_posts_are_refused,
    text_is_kept_to_the_last_byte,
];

fn waiting(request: RequestBuilder) -> RequestBuilder {
    request.header("X-service-wait-for-message", "true")
}

/// Shows: 1.3, 4.10, 4.11, 6.1
async fn every_sending_path_takes_a_message(tenant: Tenant) {
    let ben = &tenant.ben;
    let first = ben.say(&tenant.main, "begins a thread").await;
    let thread = first["thread_id"].as_str().unwrap().to_owned();
    let message = json!({"event": "message", "content": "hello"});
    let comment = json!({"event": "comment", "content": "hello"});
    let elsewhere = json!({"event": "message", "content": "hello", "flow": tenant.main});
    let about = json!({"event": "comment", "content": "hello", "flow": tenant.main, "message": first["id"]});
    for (path, body) in [
        ("/messages".to_owned(), &elsewhere),
        (tenant.path("/messages"), &message),
        (
            tenant.path(&format!("/threads/{thread}/messages")),
            &message,
        ),
        ("/comments".to_owned(), &about),
        (
            format!("{}/comments", tenant.message_path(&first)),
            &comment,
        ),
    ] {
        let answer = waiting(ben.client.request(Method::POST, &path))
            .json(body)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert_eq!(answer.json()["event"], body["event"], "{path}");
        assert_eq!(answer.json()["user"], ben.id.to_string(), "{path}");
    }
    let messages = ben.get(&tenant.path("/messages")).await;
    assert_eq!(messages.as_array().unwrap().len(), 6);
}

/// Shows: 4.2, 4.18, 7.3
async fn without_the_wait_header_the_answer_is_202_and_empty(tenant: Tenant) {
    let message = json!({"event": "message", "content": "hello"});
    let answer = tenant
        .ben
        .send(Method::POST, &tenant.path("/messages"), &message)
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (202, "{}")
    );
    assert_eq!(
        answer.header("content-type"),
        Some("application/json; charset=utf-8")
    );
    assert_eq!(answer.header("link"), None);
    // It is there all the same, at once.
    assert_eq!(
        tenant.ben.get(&tenant.path("/messages")).await[0]["content"],
        "hello"
    );
}

/// Shows: 4.18
async fn with_the_wait_header_the_answer_is_the_message_and_where_its_comments_are(tenant: Tenant) {
    for value in ["true", "1", "false", ""] {
        let request = tenant
            .ben
            .client
            .request(Method::POST, &tenant.path("/messages"));
        let request = request.header("x-service-wait-for-message", value);
        let message = json!({"event": "message", "content": "hello"});
        let answer = request.json(&message).send().await.unwrap();
        assert_eq!(
            answer.status, 200,
            "the header's value {value:?} does not matter"
        );
        let posted = answer.json();
        assert_eq!(posted["content"], "hello");
        let comments = format!(
            "{}{}/comments",
            tenant.server().base_url(),
            tenant.message_path(&posted)
        );
        assert_eq!(
            answer.header("link"),
            Some(format!("<{comments}>; rel=\"comments\"").as_str())
        );
    }
}

/// Shows: 2.2, 2.18, 2.20
async fn a_message_has_every_field_of_the_specification(tenant: Tenant) {
    let body =
        json!({"event": "message", "content": "See #Coffee", "uuid": "u-1", "tags": ["Todo"]});
    let message = tenant.ben.post(&tenant.main, &body).await;
    let flow = tenant.ben.get(&tenant.path("")).await;
    assert_eq!(message["id"], 1);
    assert_eq!(message["event"], "message");
    assert_eq!(message["content"], "See #Coffee");
    assert_eq!(message["tags"], json!(["todo", "coffee"]));
    assert_eq!(message["app"], "chat");
    assert_eq!(message["uuid"], "u-1");
    assert_eq!(message["user"], tenant.ben.id.to_string());
    assert_eq!(message["flow"], flow["id"]);
    assert_eq!(message["attachments"], json!([]));
    assert_eq!(
        (&message["edited"], &message["edited_at"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(message["thread"]["initial_message"], 1);
    assert_eq!(message["thread"]["id"], message["thread_id"]);
    assert_eq!(message["thread_id"].as_str().unwrap().len(), 27);
    let sent = message["sent"].as_i64().unwrap();
    assert!(sent > 1_600_000_000_000, "milliseconds since 1970: {sent}");
    let created = message["created_at"].as_str().unwrap();
    assert!(
        created.len() == 24 && created.ends_with('Z'),
        "ISO 8601 with milliseconds: {created}"
    );
    assert_eq!(
        &created[20..23],
        format!("{:03}", sent % 1000),
        "the same moment"
    );
    assert_eq!(
        tenant.ben.get(&tenant.message_path(&message)).await,
        message,
        "everybody reads the same"
    );
}

/// Shows: 2.19
async fn ids_count_up_in_each_flow_of_its_own(tenant: Tenant) {
    tenant.flow("side", &[&tenant.ben]);
    let side = format!("{}/side", tenant.name);
    for id in 1..=3 {
        assert_eq!(tenant.ben.say(&tenant.main, "one more").await["id"], id);
        assert_eq!(tenant.ben.say(&side, "one more").await["id"], id);
    }
}

/// Shows: 4.1
async fn a_body_may_be_json_or_a_form(tenant: Tenant) {
    let post = || {
        waiting(
            tenant
                .ben
                .client
                .request(Method::POST, &tenant.path("/messages")),
        )
    };
    let form = [
        ("event", "message"),
        ("content", "a & b = ü"),
        ("tags", "one,two"),
    ];
    let json = json!({"event": "message", "content": "a & b = ü", "tags": ["one", "two"]});
    let plus = "event=message&content=a+%26+b+%3D+%C3%BC&tags=one,two";
    for request in [
        post().form(&form),
        post().json(&json),
        post().raw("application/x-www-form-urlencoded; charset=utf-8", plus),
        post().raw("application/json; charset=UTF-8", json.to_string()),
    ] {
        let message: Value = request.call().await.unwrap();
        assert_eq!(message["content"], "a & b = ü");
        assert_eq!(message["tags"], json!(["one", "two"]));
    }
}

/// Shows: 4.1
async fn parameters_may_stand_in_the_query_and_the_body_wins(tenant: Tenant) {
    let post = || {
        waiting(
            tenant
                .ben
                .client
                .request(Method::POST, &tenant.path("/messages")),
        )
    };
    let only_query = post()
        .query("event", "message")
        .query("content", "from the query");
    let message: Value = only_query.call().await.unwrap();
    assert_eq!(message["content"], "from the query");
    let both = post()
        .query("event", "message")
        .query("content", "from the query");
    let message: Value = both
        .json(&json!({"content": "from the body"}))
        .call()
        .await
        .unwrap();
    assert_eq!(message["content"], "from the body");
    // Old clients send the filters of a list as a body.
    let list = tenant
        .ben
        .client
        .request(Method::GET, &tenant.path("/messages"));
    let found: Value = list
        .json(&json!({"limit": 1, "sort": "asc"}))
        .call()
        .await
        .unwrap();
    assert_eq!(found[0]["content"], "from the query");
    assert_eq!(found.as_array().unwrap().len(), 1);
}

/// Shows: 4.23
async fn brackets_in_a_form_make_arrays(tenant: Tenant) {
    let post = waiting(
        tenant
            .ben
            .client
            .request(Method::POST, &tenant.path("/messages")),
    );
    let form = [
        ("event", "message"),
        ("content", "hello"),
        ("tags[]", "one"),
        ("tags[]", "two"),
    ];
    let message: Value = post.form(&form).call().await.unwrap();
    assert_eq!(message["tags"], json!(["one", "two"]));
}

async fn a_flow_is_named_by_its_id_or_its_names(tenant: Tenant) {
    let flow = tenant.ben.get(&tenant.path("")).await;
    let id = flow["id"].as_str().unwrap();
    for name in [
        id,
        &format!("{}/main", tenant.name),
        &format!("{}:main", tenant.name),
    ] {
        let message = json!({"flow": name, "event": "message", "content": "hello"});
        let request = waiting(tenant.ben.client.request(Method::POST, "/messages"));
        let message: Value = request.json(&message).call().await.unwrap();
        assert_eq!(message["flow"], id, "{name}");
    }
}

/// Shows: 4.12
async fn a_flow_that_is_not_named_is_a_mistake(tenant: Tenant) {
    let message = json!({"event": "message", "content": "hello"});
    let answer = tenant.ben.send(Method::POST, "/messages", &message).await;
    assert_eq!(answer.status, 400);
    assert!(
        answer.json()["errors"]["flow"].is_array(),
        "{}",
        answer.text()
    );
    for (flow, status) in [("nowhere", 404), ("no/where", 404), ("", 400)] {
        let message = json!({"flow": flow, "event": "message", "content": "hello"});
        assert_eq!(
            tenant
                .ben
                .send(Method::POST, "/messages", &message)
                .await
                .status,
            status,
            "{flow}"
        );
    }
}

/// Shows: 4.15
async fn a_name_given_makes_a_users_message_anonymous(tenant: Tenant) {
    let body =
        json!({"event": "message", "content": "deployed", "external_user_name": "Deploy Bot"});
    let message = tenant.ben.post(&tenant.main, &body).await;
    assert_eq!(message["user"], "0");
    assert_eq!(message["external_user_name"], "Deploy Bot");
    let own = tenant.ben.say(&tenant.main, "hello").await;
    assert_eq!(own.get("external_user_name"), None);
    // Nobody's message is nobody's to edit, not even of the one who sent it.
    let edit = json!({"content": "changed"});
    assert_eq!(
        tenant
            .ben
            .send(Method::PUT, &tenant.message_path(&message), &edit)
            .await
            .status,
        403
    );
    let comment =
        json!({"event": "comment", "content": "well done", "external_user_name": "Praise Bot"});
    let path = format!("{}/comments", tenant.message_path(&own));
    let posted = waiting(tenant.ben.client.request(Method::POST, &path)).json(&comment);
    let posted: Value = posted.call().await.unwrap();
    assert_eq!(
        (&posted["user"], &posted["external_user_name"]),
        (&json!("0"), &json!("Praise Bot"))
    );
}

/// Shows: 2.15, 6.1
async fn a_status_is_a_message_and_the_users_status(tenant: Tenant) {
    tenant.flow("side", &[&tenant.ben]);
    let status = json!({"event": "status", "content": "Gone for #lunch"});
    let posted = tenant.ben.post(&tenant.main, &status).await;
    assert_eq!(posted["event"], "status");
    assert_eq!(posted["content"], "Gone for #lunch");
    assert_eq!(posted["app"], "chat");
    assert_eq!(posted["tags"], json!(["lunch"]));
    for flow in ["main", "side"] {
        let flow = tenant
            .ada
            .get(&format!("/flows/{}/{flow}", tenant.name))
            .await;
        let users = flow["users"].as_array().unwrap().iter();
        let status = users
            .clone()
            .find(|user| user["id"] == tenant.ben.id)
            .unwrap()["status"]
            .clone();
        assert_eq!(status, "Gone for #lunch", "in all flows");
        for other in users.filter(|user| user["id"] != tenant.ben.id) {
            assert_eq!(other["status"], Value::Null);
        }
    }
    // A status in somebody else's name is nobody's.
    let alien = json!({"event": "status", "content": "On fire", "external_user_name": "Monitor"});
    tenant.ben.post(&tenant.main, &alien).await;
    let flow = tenant.ada.get(&tenant.path("")).await;
    let statuses = flow["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| &user["status"]);
    assert!(statuses.clone().all(|status| status != "On fire"));
}

/// Shows: 4.19
async fn applications_messages_are_not_for_users(tenant: Tenant) {
    for event in ["activity", "discussion"] {
        let body =
            json!({"event": event, "title": "opened", "content": "x", "external_thread_id": "1"});
        let answer = tenant
            .ben
            .send(Method::POST, &tenant.path("/messages"), &body)
            .await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()["message"].as_str()),
            (403, Some("Access denied"))
        );
    }
}

/// Shows: 4.12
async fn kinds_that_only_the_server_posts_are_refused(tenant: Tenant) {
    for event in [
        "action",
        "message-edit",
        "tag-change",
        "message-delete",
        "comment",
        "mail",
        "join",
        "chat",
        "",
    ] {
        let body = json!({"event": event, "content": "x"});
        let answer = tenant
            .ben
            .send(Method::POST, &tenant.path("/messages"), &body)
            .await;
        assert_eq!(answer.status, 400, "{event}");
        assert!(
            answer.json()["errors"]["event"].is_array(),
            "{event}: {}",
            answer.text()
        );
    }
    let answer = tenant
        .ben
        .send(
            Method::POST,
            &tenant.path("/messages"),
            &json!({"content": "x"}),
        )
        .await;
    assert_eq!(answer.status, 400);
    assert_eq!(tenant.ben.get(&tenant.path("/messages")).await, json!([]));
}

/// Shows: 4.2
async fn text_is_kept_to_the_last_byte(tenant: Tenant) {
    for text in [
        "  spaces around  ",
        "line\nline\r\nline\n",
        "tab\there",
        "👩‍👩‍👧‍👦 🇫🇮 e\u{301} \u{200d}",
        "<script>alert('x')</script> & \"quotes\" \\ \u{2028}",
        "\u{1}\u{7f}\u{85}",
        "漢字かな한글العربية",
    ] {
        let message = tenant.ben.say(&tenant.main, text).await;
        assert_eq!(message["content"], text);
        assert_eq!(
            tenant.ada.get(&tenant.message_path(&message)).await["content"],
            text
        );
    }
}
