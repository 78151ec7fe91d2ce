//! The API and the stream for the scripts of pages, by the session of the browser.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_client::Method;
use eddyline_tests::{CSRF, Page, Raw, SESSION, Tenant, Visitor, on_shared_servers};
use serde_json::{Value, json};

use crate::files::PIXEL;

on_shared_servers![
    scripts_read_and_write_as_the_user_who_is_signed_in,
    a_request_needs_the_token_of_the_page,
    another_site_is_refused_and_no_origin_is_allowed,
    no_other_credential_counts_beside_the_session,
    without_a_session_nothing_is_told_and_no_password_is_asked_for,
    only_what_takes_credentials_is_reached,
    a_session_allows_what_an_api_token_of_the_user_allows,
    the_stream_ends_with_the_session,
    a_thumbnail_comes_at_once_and_may_be_kept,
];

const PASSWORD: &str = eddyline_tests::PASSWORD;
const WAIT: &str = "X-Service-Wait-For-Message: true";
const JSON: &str = "Content-Type: application/json";

async fn ben(tenant: &Tenant) -> Visitor {
    tenant.server().signed_in(&tenant.ben.email, PASSWORD).await
}

fn token(visitor: &Visitor) -> String {
    format!("X-CSRF-Token: {}", visitor.cookie(CSRF).unwrap())
}

/// Reads as a script does.
async fn read(visitor: &mut Visitor, path: &str) -> Page {
    let shown = token(visitor);
    visitor.send("GET", path, &[&shown], "").await
}

fn object(page: &Page) -> Value {
    serde_json::from_str(&page.text).unwrap()
}

fn messages(tenant: &Tenant) -> String {
    format!("/app/-/api/flows/{}/messages", tenant.main)
}

fn hello() -> String {
    json!({"event": "message", "content": "hello"}).to_string()
}

async fn scripts_read_and_write_as_the_user_who_is_signed_in(tenant: Tenant) {
    let mut ben = ben(&tenant).await;
    let me = read(&mut ben, "/app/-/api/user").await;
    assert_eq!(
        (me.status, &object(&me)["id"]),
        (200, &json!(tenant.ben.id))
    );
    assert_eq!(me.headers("cache-control"), ["no-store"]);
    assert_eq!(me.headers("x-content-type-options"), ["nosniff"]);

    let shown = token(&ben);
    let posted = ben
        .send("POST", &messages(&tenant), &[JSON, WAIT, &shown], &hello())
        .await;
    assert_eq!(posted.status, 200, "{}", posted.text);
    assert_eq!(object(&posted)["user"], tenant.ben.id.to_string());

    let list = read(&mut ben, &format!("{}?limit=1&html=1", messages(&tenant))).await;
    assert_eq!(object(&list)[0]["html"], "hello");

    // What is wrong is said as the API says it.
    let wrong = read(&mut ben, &format!("{}?limit=0", messages(&tenant))).await;
    assert_eq!(wrong.status, 400);
    assert!(
        object(&wrong)["errors"]["limit"].is_array(),
        "{}",
        wrong.text
    );
}

async fn a_thumbnail_comes_at_once_and_may_be_kept(tenant: Tenant) {
    let picture =
        json!({"data": STANDARD.encode(PIXEL), "content_type": "image/png", "file_name": "x.png"});
    let file = json!({"event": "file", "content": picture});
    let message = tenant.ada.post(&tenant.main, &file).await;
    let of_api = message["content"]["thumbnail"]["path"].as_str().unwrap();
    let path = format!("/app/-/api{of_api}");
    let mut ben = ben(&tenant).await;
    let small = ben.get(&path).await;
    assert_eq!(small.status, 200);
    assert_eq!(small.header("content-type"), "image/png");
    assert_eq!(small.headers("cache-control"), ["private, max-age=86400"]);
    let same = format!("If-None-Match: {}", small.header("etag"));
    let again = ben.send("GET", &path, &[&same], "").await;
    assert_eq!(again.status, 304);
    assert_eq!(again.headers("cache-control"), ["private, max-age=86400"]);
    // The file itself is not kept.
    let whole = of_api.replace("/thumbnail/", "/");
    let link = ben.get(&format!("/app/-/api{whole}")).await;
    assert_eq!(link.status, 302);
    assert_eq!(link.headers("cache-control"), ["private, no-store"]);
    // Nor are others led to it.
    let eve = tenant.user("eve");
    let mut eve = tenant.server().signed_in(&eve.email, PASSWORD).await;
    assert_eq!(eve.get(&path).await.status, 403);
}

async fn a_request_needs_the_token_of_the_page(tenant: Tenant) {
    let mut ben = ben(&tenant).await;
    // A picture in the text of somebody else could ask for these.
    for path in [
        "/app/-/api/user",
        "/app/-/stream/flows?user=1",
        &messages(&tenant),
    ] {
        assert_eq!(ben.get(path).await.status, 403, "{path}");
    }
    // Pictures and links of our own read files so.
    assert_eq!(ben.get("/app/-/api/files/none/name").await.status, 404);
    let zeros = format!("X-CSRF-Token: {}", "0".repeat(64));
    for headers in [&[JSON][..], &[JSON, "X-CSRF-Token:"], &[JSON, &zeros]] {
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let refused = ben
                .send(method, &messages(&tenant), headers, &hello())
                .await;
            assert_eq!(refused.status, 403, "{method} {headers:?}");
            assert!(object(&refused)["message"].is_string());
        }
    }
    let list = tenant.ada.get(&tenant.path("/messages")).await;
    assert_eq!(list, json!([]));
}

async fn another_site_is_refused_and_no_origin_is_allowed(tenant: Tenant) {
    let mut ben = ben(&tenant).await;
    let shown = token(&ben);
    for foreign in [
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Origin: https://evil.example",
    ] {
        let read = ben
            .send("GET", "/app/-/api/user", &[foreign, &shown], "")
            .await;
        assert_eq!(read.status, 403, "{foreign}");
        let change = ben
            .send(
                "POST",
                &messages(&tenant),
                &[JSON, &shown, foreign],
                &hello(),
            )
            .await;
        assert_eq!(change.status, 403, "{foreign}");
        assert_eq!(
            change.header("access-control-allow-origin"),
            "",
            "{foreign}"
        );
    }
    let own = format!("Origin: {}", tenant.server().base_url());
    let read = ben
        .send(
            "GET",
            "/app/-/api/user",
            &[&own, &shown, "Sec-Fetch-Site: same-origin"],
            "",
        )
        .await;
    assert_eq!(
        (read.status, read.header("access-control-allow-origin")),
        (200, "")
    );
    assert_eq!(
        ben.send("OPTIONS", "/app/-/api/user", &[], "").await.status,
        405
    );
}

async fn no_other_credential_counts_beside_the_session(tenant: Tenant) {
    let mut ben = ben(&tenant).await;
    let basic = tenant.ada.client.request(Method::GET, "/user").send().await;
    assert_eq!(basic.unwrap().status, 200);
    let shown = token(&ben);
    let bearer = ["Authorization: Bearer nonsense", &shown];
    let me = ben
        .send("GET", "/app/-/api/user?access_token=nonsense", &bearer, "")
        .await;
    assert_eq!(object(&me)["id"], tenant.ben.id);
}

async fn without_a_session_nothing_is_told_and_no_password_is_asked_for(tenant: Tenant) {
    let mut stranger = tenant.server().visitor();
    stranger.get("/sign-in").await;
    for path in [
        "/app/-/api/user",
        "/app/-/api/user?access_token=nonsense",
        "/app/-/stream/flows?user=1",
        &messages(&tenant),
    ] {
        let refused = read(&mut stranger, path).await;
        assert_eq!(refused.status, 401, "{path}");
        assert_eq!(refused.header("www-authenticate"), "", "{path}");
        assert!(object(&refused)["message"].is_string(), "{path}");
    }
}

async fn only_what_takes_credentials_is_reached(tenant: Tenant) {
    let mut ben = ben(&tenant).await;
    for path in [
        "/app/-/api/healthz",
        "/app/-/api/openapi.json",
        "/app/-/api/asyncapi.json",
        "/app/-/api/none",
        "/app/-/api/app/-/api/user",
        "/app/-/api//none",
        "/app/-/api/%2e%2e/none",
        "/app/-/stream/none",
    ] {
        assert_eq!(read(&mut ben, path).await.status, 404, "{path}");
    }
}

async fn a_session_allows_what_an_api_token_of_the_user_allows(tenant: Tenant) {
    let blocked = tenant.member("bert");
    let place = tenant.path(&format!("/users/{}", blocked.id));
    let block = json!({"disabled": true});
    tenant.ada.does(Method::PUT, &place, &block).await;
    let neighbour = tenant.neighbour();
    let organization = format!("/organizations/{}", tenant.name);
    let (own, private) = (tenant.path(""), format!("/private/{}", tenant.ada.id));
    // Nothing of this changes anything: refused for its rights, or for what it asks.
    let requests = [
        ("GET", own.clone()),
        ("GET", tenant.path("/messages")),
        ("GET", tenant.path("/users")),
        ("GET", tenant.path("/threads")),
        ("GET", tenant.path("/sources")),
        ("GET", tenant.path("/invitations")),
        ("GET", private),
        ("GET", organization.clone()),
        ("GET", format!("{organization}/users")),
        ("PUT", tenant.path("/users/999999")),
        ("DELETE", tenant.path("/messages/999999")),
        ("DELETE", format!("{organization}/users/999999")),
        ("PUT", organization),
    ];
    for who in [&tenant.ada, &tenant.ben, &blocked, &neighbour.ben] {
        let mut visitor = tenant.server().signed_in(&who.email, PASSWORD).await;
        let shown = token(&visitor);
        for (method, path) in &requests {
            let by_token = Method::from_bytes(method.as_bytes()).unwrap();
            let by_token = who.send(by_token, path, &Value::Null).await;
            let by_session = visitor
                .send(method, &format!("/app/-/api{path}"), &[&shown], "")
                .await;
            assert_eq!(
                by_session.status,
                by_token.status.as_u16(),
                "{method} {path} for {}",
                who.email
            );
        }
    }
}

async fn the_stream_ends_with_the_session(tenant: Tenant) {
    let mut ben = ben(&tenant).await;
    assert!(ben.cookie(SESSION).is_some());
    let cookie = ben.cookie_line();
    let path = format!("/app/-/stream/flows?filter={}&html=1", tenant.main);
    let shown = token(&ben);
    let lines = [&*cookie, &shown, "Accept: text/event-stream"];
    let mut stream =
        Raw::without_credentials(tenant.server().base_url(), "GET", &path, &lines, "").await;
    assert!(stream.head().await.starts_with("HTTP/1.1 200"));
    tenant.ada.say(&tenant.main, "**hello**").await;
    stream.through(br#""html":"<b>hello</b>"}"#).await;

    assert_eq!(ben.post("/sign-out", &[]).await.status, 303);
    stream.to_end().await;
}
