//! The forms a request may have, and what every answer has: paths, methods, cross-origin requests,
//! the description of the API.

use std::sync::atomic::{AtomicU32, Ordering};

use eddyline_client::{Credentials, Json, Method, RawResponse};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use crate::files::filled_path;

on_shared_servers![
    old_forms_of_a_path_mean_the_same,
    patch_does_what_put_does,
    names_in_a_path_are_not_case_sensitive,
    head_answers_like_get_without_the_body,
    what_is_not_there_is_told_in_json,
    a_method_that_does_not_fit_is_told_with_those_that_do,
    a_page_of_another_origin_may_call,
    a_preflight_is_answered,
    every_answer_has_an_id,
    the_server_says_whether_it_is_well,
    every_path_of_the_description_is_served,
    answers_are_compressed_when_asked,
];

async fn send(tenant: &Tenant, method: Method, path: &str) -> RawResponse {
    tenant
        .ben
        .client
        .request(method, path)
        .send()
        .await
        .unwrap()
}

async fn old_forms_of_a_path_mean_the_same(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "hello").await;
    let path = tenant.message_path(&message);
    for form in [
        format!("/v1{path}"),
        format!("{path}/"),
        format!("/{path}"),
        path.replace("/messages/", "//messages///"),
        format!("{path}.json"),
        format!("//v1/{path}.json/"),
        format!("{path}?"),
    ] {
        assert_eq!(tenant.ben.get(&form).await, message, "{form}");
    }
    let request = tenant.ben.client.request(
        Method::POST,
        &format!("/v1{}.json", tenant.path("/messages")),
    );
    request
        .json(&json!({"event": "message", "content": "hello"}))
        .done()
        .await
        .unwrap();
    assert_eq!(
        tenant.ben.get("/v1/flows.json?users=1").await,
        tenant.ben.get("/flows?users=1").await
    );
}

/// Shows: 4.4
async fn patch_does_what_put_does(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "hello").await;
    let path = tenant.message_path(&message);
    tenant
        .ben
        .does(Method::PATCH, &path, &json!({"content": "changed"}))
        .await;
    assert_eq!(tenant.ben.get(&path).await["content"], "changed");
    tenant
        .ada
        .does(Method::PATCH, &tenant.path(""), &json!({"name": "Changed"}))
        .await;
    assert_eq!(tenant.ben.get(&tenant.path("")).await["name"], "Changed");
}

/// Shows: 2.1
async fn names_in_a_path_are_not_case_sensitive(tenant: Tenant) {
    let path = format!("/flows/{}/MAIN", tenant.name.to_uppercase());
    assert_eq!(
        tenant.ben.get(&path).await,
        tenant.ben.get(&tenant.path("")).await
    );
    assert_eq!(
        tenant
            .ben
            .get(&tenant.path("").replace("main", "%6dain"))
            .await["name"],
        "main"
    );
}

async fn head_answers_like_get_without_the_body(tenant: Tenant) {
    for (path, status) in [
        ("/flows".to_owned(), 200),
        (tenant.path("/messages/9"), 404),
    ] {
        let answer = send(&tenant, Method::HEAD, &path).await;
        assert_eq!(
            (answer.status.as_u16(), answer.body.len()),
            (status, 0),
            "{path}"
        );
        let whole = send(&tenant, Method::GET, &path).await;
        for header in ["content-type", "content-length", "service-user"] {
            assert_eq!(
                answer.header(header),
                whole.header(header),
                "{path}: {header}"
            );
        }
    }
}

/// Shows: 4.2
async fn what_is_not_there_is_told_in_json(tenant: Tenant) {
    // The root is a page.
    for path in [
        "//",
        "/nothing",
        "/flows/a/b/c",
        "/favicon.ico",
        "/v1",
        "/flows/../etc/passwd",
    ] {
        let answer = send(&tenant, Method::GET, path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.text(), "{\"message\":\"not found\"}");
        assert_eq!(
            answer.header("content-type"),
            Some("application/json; charset=utf-8")
        );
    }
}

/// Shows: 4.4
async fn a_method_that_does_not_fit_is_told_with_those_that_do(tenant: Tenant) {
    let message = tenant.path("/messages/1");
    for (method, path, allowed) in [
        (Method::DELETE, "/flows", &["GET", "HEAD"][..]),
        (Method::POST, "/user", &["GET", "HEAD", "PUT", "PATCH"]),
        (
            Method::POST,
            &message,
            &["GET", "HEAD", "PUT", "PATCH", "DELETE"],
        ),
        (Method::GET, "/messages", &["POST"]),
        (Method::POST, "/healthz", &["GET", "HEAD"]),
    ] {
        let answer = send(&tenant, method, path).await;
        assert_eq!(answer.status, 405, "{path}");
        assert!(answer.json()["message"].is_string(), "{path}");
        let mut allow: Vec<_> = answer
            .header("allow")
            .unwrap()
            .split(',')
            .map(str::trim)
            .collect();
        let mut expected = allowed.to_vec();
        allow.sort_unstable();
        expected.sort_unstable();
        assert_eq!(allow, expected, "{path}");
    }
}

async fn a_page_of_another_origin_may_call(tenant: Tenant) {
    for path in ["/flows", "/flows/no/such", "/nothing"] {
        let request = tenant
            .ben
            .client
            .request(Method::GET, path)
            .header("Origin", "https://app.example");
        let answer = request.send().await.unwrap();
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some("*"),
            "{path}"
        );
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        let exposed = answer
            .header("access-control-expose-headers")
            .unwrap()
            .to_ascii_lowercase();
        assert!(
            exposed.contains("service-user") && exposed.contains("link"),
            "{exposed}"
        );
    }
}

async fn a_preflight_is_answered(tenant: Tenant) {
    let message = tenant.path("/messages/1");
    for (path, method) in [
        ("/flows", "GET"),
        (message.as_str(), "PUT"),
        ("/messages", "POST"),
    ] {
        let request = tenant.ben.client.request(Method::OPTIONS, path).anonymous();
        let request = request
            .header("Origin", "https://app.example")
            .header("Access-Control-Request-Method", method)
            .header(
                "Access-Control-Request-Headers",
                "authorization,content-type,x-service-wait-for-message",
            );
        let answer = request.send().await.unwrap();
        assert!(answer.status.is_success(), "{path}: {}", answer.status);
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert!(
            answer
                .header("access-control-allow-methods")
                .unwrap()
                .contains(method)
        );
        let headers = answer.header("access-control-allow-headers").unwrap();
        assert!(
            headers.contains("authorization") && headers.contains("x-service-wait-for-message"),
            "{headers}"
        );
    }
}

async fn every_answer_has_an_id(tenant: Tenant) {
    let one = send(&tenant, Method::GET, "/flows").await;
    let two = send(&tenant, Method::GET, "/nothing").await;
    let (one, two) = (
        one.header("x-request-id").unwrap(),
        two.header("x-request-id").unwrap(),
    );
    assert!(!one.is_empty() && one != two);
    let request = tenant
        .ben
        .client
        .request(Method::GET, "/flows")
        .header("X-Request-Id", "my-own.1");
    assert_eq!(
        request.send().await.unwrap().header("x-request-id"),
        Some("my-own.1")
    );
}

async fn the_server_says_whether_it_is_well(tenant: Tenant) {
    for path in ["/healthz", "/readyz"] {
        let answer = tenant
            .ben
            .client
            .request(Method::GET, path)
            .anonymous()
            .send()
            .await
            .unwrap();
        assert_eq!(
            (answer.status.as_u16(), answer.text().as_str()),
            (200, "{}"),
            "{path}"
        );
    }
}

/// A path of the description with something that is there in each of its places.
async fn filled(tenant: &Tenant, template: &str, message: &Json) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut path = template
        .replace("{organization}", &tenant.name)
        .replace("{flow}", "main");
    let user = match template.starts_with("/organizations") {
        // Somebody who can be done without.
        true => tenant.user(&format!("user{number}")).id,
        false => tenant.ben.id,
    };
    if template.starts_with("/private") {
        let text = json!({"event": "message", "content": "hello"});
        tenant
            .ada
            .does(Method::POST, &format!("/private/{user}/messages"), &text)
            .await;
    }
    if template.contains("{invitation}") {
        let invited = json!({"email": format!("new{number}@example.org")});
        let made = tenant
            .ada
            .send(Method::POST, &tenant.path("/invitations"), &invited)
            .await;
        path = path.replace("{invitation}", &made.json()["id"].to_string());
    }
    if template.contains("{source}") {
        let robot = tenant.server().robot(&tenant.name, &[]);
        let arguments = [
            "source",
            "create",
            "--flow",
            &tenant.main,
            "--app",
            &robot.id,
            "--name",
            "Tickets",
        ];
        path = path.replace(
            "{source}",
            &tenant.server().admin(&arguments)["id"].to_string(),
        );
    }
    if template.contains("{group}") {
        let new = json!({"name": format!("team{number}"), "users": [user]});
        let made = tenant
            .ada
            .send(
                Method::POST,
                &format!("/organizations/{}/groups", tenant.name),
                &new,
            )
            .await;
        path = path.replace("{group}", &made.json()["id"].to_string());
    }
    if template.contains("{position}") {
        let thread = thread_with_an_action(tenant).await;
        path = path
            .replace("{thread}", thread.as_str().unwrap())
            .replace("{position}", "0");
    }
    if template.contains("{token}") {
        path = path.replace("{token}", &tenant.flow_token());
    }
    if template.contains("{uid}") {
        let uid = tenant.server().provider(&tenant.name).uid;
        path = path.replace("{uid}", &uid).replace("{id}", "User");
    }
    let avatar = tenant.ben.get("/user").await["avatar"]
        .as_str()
        .unwrap()
        .to_owned();
    path = path.replace(
        "{avatar}",
        avatar.trim_end_matches('/').rsplit('/').next().unwrap(),
    );
    path = path
        .replace("{thread}", message["thread_id"].as_str().unwrap())
        .replace("{size}", "64")
        // It need not be there: what is shown is looked at first.
        .replace("{stream}", "0123456789abcdef");
    let path = path
        .replace("{message}", "1")
        .replace("{emoji}", "%F0%9F%91%8D")
        .replace("{user}", &user.to_string());
    if template.contains("{name}") {
        return filled_path(&tenant.ben, &tenant.main, template).await;
    }
    assert!(!path.contains('{'), "{template}");
    path
}

/// The id of a thread that offers something.
async fn thread_with_an_action(tenant: &Tenant) -> Json {
    let action = json!({"@type": "ViewAction", "name": "Look", "url": "https://x.example/"});
    let message = json!({
        "event": "activity", "title": "opened", "external_thread_id": "1",
        "thread": {"title": "Crash", "actions": [action]},
    });
    let client = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    let request = client.request(Method::POST, "/messages").json(&message);
    let posted: Json = request
        .header("x-service-wait-for-message", "1")
        .call()
        .await
        .unwrap();
    posted["thread_id"].clone()
}

/// Shows: 4.4, 9.1
async fn every_path_of_the_description_is_served(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "hello").await;
    let document = tenant
        .ben
        .client
        .request(Method::GET, "/openapi.json")
        .anonymous();
    let document: Json = document.call().await.unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut seen = 0;
    for (template, methods) in document["paths"].as_object().unwrap() {
        let streams = methods["get"]["responses"]["200"]["description"]
            .as_str()
            .is_some_and(|text| text.contains("listen"));
        for method in methods.as_object().unwrap().keys().filter(|_| !streams) {
            let path = filled(&tenant, template, &message).await;
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let status = tenant
                .ada
                .send(method.clone(), &path, &json!({}))
                .await
                .status
                .as_u16();
            // Only a closed organization has one.
            let is_there = !template.ends_with("/deletion") || status != 404;
            assert!(
                ![404, 405, 500].contains(&status) || !is_there,
                "{method} {path}: {status}"
            );
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

async fn answers_are_compressed_when_asked(tenant: Tenant) {
    tenant.ben.say(&tenant.main, &"hello ".repeat(500)).await;
    let request = tenant
        .ben
        .client
        .request(Method::GET, &tenant.path("/messages"));
    let answer = request
        .header("Accept-Encoding", "gzip")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert!(answer.body.len() < 2000, "{}", answer.body.len());
    assert_eq!(
        send(&tenant, Method::GET, &tenant.path("/messages"))
            .await
            .header("content-encoding"),
        None
    );
}
