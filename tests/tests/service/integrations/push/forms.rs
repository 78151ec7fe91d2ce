//! The forms in which a push may come: as JSON, or as a form with names in brackets; with its token
//! in the query or the body.

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use crate::integrations::Source;

on_shared_servers![
    the_token_stands_in_the_query_or_the_body,
    a_whole_item_comes_as_a_form,
    a_whole_item_comes_in_the_query,
    a_user_of_a_token_is_nobody,
];

/// Shows: 4.20, 5.4
async fn the_token_stands_in_the_query_or_the_body(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let message = json!({"event": "activity", "title": "x", "external_thread_id": "7"});
    let mut with_token = message.clone();
    with_token["flow_token"] = json!(source.token);
    let form = [
        ("flow_token", source.token.as_str()),
        ("event", "activity"),
        ("title", "x"),
        ("external_thread_id", "7"),
    ];
    let anonymous = |path: &str| source.client.request(Method::POST, path).anonymous();
    let flow = tenant.path("/messages");
    let in_query = |path: &str| format!("{path}?flow_token={}", source.token);
    for (way, request) in [
        (
            "in the query",
            anonymous(&in_query("/messages")).json(&message),
        ),
        ("in JSON", anonymous("/messages").json(&with_token)),
        ("in a form", anonymous("/messages").form(&form)),
        (
            "under the old address",
            anonymous("/v1/messages.json").json(&with_token),
        ),
        (
            "in the query, to its flow",
            anonymous(&in_query(&flow)).json(&message),
        ),
        ("in a form, to its flow", anonymous(&flow).form(&form)),
    ] {
        let answer = request
            .header("x-service-wait-for-message", "1")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 200, "{way}: {}", answer.text());
        assert_eq!(answer.json()["thread"]["source"]["id"], source.id, "{way}");
    }
    assert_eq!(
        tenant.ben.get(&tenant.path("/threads")).await[0]["activities"],
        6
    );
}

/// An item as forms of old scripts have it: a repeated name begins the next of a list.
const ITEM: [(&str, &str); 20] = [
    ("event", "activity"),
    ("author[name]", "Zoë"),
    ("author[avatar]", "https://tracker.example/zoe.png"),
    ("title", "changed"),
    ("external_thread_id", "7"),
    ("thread[title]", "Crash & burn"),
    ("thread[body]", "<p>It crashes.</p>"),
    ("thread[external_url]", "https://tracker.example/7"),
    ("thread[status][value]", "open"),
    ("thread[status][color]", "red"),
    ("thread[fields][][label]", "Priority"),
    ("thread[fields][][value]", "high"),
    ("thread[fields][][label]", "Owner"),
    ("thread[fields][][value]", "ada"),
    ("thread[actions][][@type]", "ViewAction"),
    ("thread[actions][][name]", "Look"),
    ("thread[actions][][url]", "https://tracker.example/7"),
    ("tags[]", "bug"),
    ("tags[]", "crash"),
    ("thread[actions][][@type]", "UpdateAction"),
];

fn is_the_item(posted: &Json) {
    assert_eq!(
        (&posted["author"]["name"], &posted["author"]["avatar"]),
        (&json!("Zoë"), &json!("https://tracker.example/zoe.png"))
    );
    assert_eq!(
        (&posted["title"], &posted["tags"]),
        (&json!("changed"), &json!(["bug", "crash"]))
    );
    let thread = &posted["thread"];
    assert_eq!(
        (&thread["title"], &thread["body"]),
        (&json!("Crash &amp; burn"), &json!("<p>It crashes.</p>"))
    );
    assert_eq!(thread["external_url"], "https://tracker.example/7");
    assert_eq!(thread["status"], json!({"value": "open", "color": "red"}));
    let fields =
        json!([{"label": "Priority", "value": "high"}, {"label": "Owner", "value": "ada"}]);
    assert_eq!(thread["fields"], fields);
    let actions = json!([
        {"@type": "ViewAction", "name": "Look", "url": "https://tracker.example/7"},
        {"@type": "UpdateAction", "name": "Close", "target": {
            "@type": "EntryPoint", "urlTemplate": "https://tracker.example/7/close", "httpMethod": "PUT"}},
    ]);
    assert_eq!(thread["actions"], actions);
}

fn item() -> Vec<(&'static str, &'static str)> {
    let mut item = ITEM.to_vec();
    item.extend([
        ("thread[actions][][name]", "Close"),
        ("thread[actions][][target][@type]", "EntryPoint"),
        (
            "thread[actions][][target][urlTemplate]",
            "https://tracker.example/7/close",
        ),
        ("thread[actions][][target][httpMethod]", "PUT"),
    ]);
    item
}

/// Shows: 2.32, 4.23
async fn a_whole_item_comes_as_a_form(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let request = source
        .client
        .request(Method::POST, "/messages")
        .form(&item());
    let posted: Json = request
        .header("x-service-wait-for-message", "1")
        .call()
        .await
        .unwrap();
    is_the_item(&posted);
}

async fn a_whole_item_comes_in_the_query(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let request = source.client.request(Method::POST, "/messages");
    let request = item()
        .into_iter()
        .fold(request, |request, (name, value)| request.query(name, value));
    let posted: Json = request
        .header("x-service-wait-for-message", "1")
        .call()
        .await
        .unwrap();
    is_the_item(&posted);
}

/// Shows: 5.4
async fn a_user_of_a_token_is_nobody(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    // The token decides, no matter who else is named.
    let path = format!("/messages?flow_token={}", source.token);
    let request = tenant.ben.client.request(Method::POST, &path);
    let message = json!({"event": "activity", "title": "x", "external_thread_id": "7"});
    let answer = request
        .header("x-service-wait-for-message", "1")
        .json(&message)
        .send()
        .await
        .unwrap();
    assert_eq!(
        (answer.status.as_u16(), answer.header("service-user")),
        (200, None)
    );
    assert_eq!(
        (&answer.json()["user"], &answer.json()["author"]),
        (&json!("0"), &Json::Null)
    );
    for (method, path) in [
        (Method::GET, "/user"),
        (Method::GET, "/flows"),
        (Method::GET, "/private"),
        (Method::GET, tenant.path("").as_str()),
        (Method::GET, tenant.path("/messages").as_str()),
        (Method::GET, tenant.path("/threads").as_str()),
    ] {
        let answer = source.client.request(method, path).send().await.unwrap();
        assert_eq!(answer.status, 403, "{path}");
    }
}
