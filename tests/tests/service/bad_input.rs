//! Bodies, forms, queries and fields that are wrong: each gets a clear refusal, and the server goes
//! on.

use eddyline_client::{Json, Method, RawResponse};
use eddyline_tests::{Tenant, basic, on_shared_servers};
use serde_json::json;

use crate::bad_http::exchange;

on_shared_servers![
    a_body_that_is_no_json_is_refused,
    a_body_that_is_no_object_is_refused,
    a_kind_of_body_that_is_not_known_is_refused,
    a_body_in_another_charset_is_refused,
    a_number_that_is_too_large_for_a_text_is_refused,
    json_nested_too_deep_is_refused,
    json_of_too_many_values_is_refused,
    forms_of_too_many_values_are_refused,
    queries_of_too_many_values_are_refused,
    an_integration_may_say_all_it_can_in_a_form,
    a_form_with_parts_may_end_with_its_token,
    a_form_that_cannot_be_read_is_refused,
    bytes_that_are_no_utf8_are_refused,
    nul_is_refused_wherever_it_stands,
    text_is_counted_in_characters_not_bytes,
    empty_content_is_refused,
    content_of_another_type_is_refused,
    all_mistakes_are_told_at_once,
    fields_that_are_too_long_are_refused,
    a_body_that_is_too_large_is_refused,
    a_failure_echoes_little,
];

fn post(tenant: &Tenant) -> eddyline_client::RequestBuilder {
    tenant
        .ben
        .client
        .request(Method::POST, &tenant.path("/messages"))
}

/// Sends a body as it is, and sees that nothing was posted and that the server is still there.
async fn refused(
    tenant: &Tenant,
    content_type: &str,
    body: impl Into<Vec<u8>>,
    status: u16,
) -> RawResponse {
    let body = body.into();
    let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
    let answer = post(tenant).raw(content_type, body).send().await.unwrap();
    assert_eq!(answer.status, status, "{shown}: {}", answer.text());
    assert!(
        answer.json()["message"]
            .as_str()
            .is_some_and(|text| !text.is_empty()),
        "{shown}"
    );
    assert_eq!(
        tenant.ben.get(&tenant.path("/messages")).await,
        json!([]),
        "{shown}"
    );
    answer
}

async fn refused_json(tenant: &Tenant, body: &Json, field: &str) {
    let answer = refused(tenant, "application/json", body.to_string(), 400).await;
    assert_eq!(answer.json()["message"], "Validation error");
    assert!(
        answer.json()["errors"][field][0].is_string(),
        "{}",
        answer.text()
    );
}

async fn a_body_that_is_no_json_is_refused(tenant: Tenant) {
    for body in [
        "{",
        "{}}",
        "{\"event\":\"message\",\"content\":\"x\"",
        "{'event': 'message'}",
        "{\"event\": message}",
        "event=message&content=x",
        "{\"event\":\"message\",\"content\":\"\\ud800\"}",
        "{\"a\":1e999}",
        "<message/>",
        "nul",
    ] {
        refused(&tenant, "application/json", body, 400).await;
    }
}

async fn a_body_that_is_no_object_is_refused(tenant: Tenant) {
    for body in [
        "[]",
        "[{\"event\":\"message\",\"content\":\"x\"}]",
        "\"text\"",
        "1",
        "true",
        "null",
    ] {
        refused(&tenant, "application/json", body, 400).await;
    }
}

/// Shows: 4.1
async fn a_kind_of_body_that_is_not_known_is_refused(tenant: Tenant) {
    let body = "{\"event\":\"message\",\"content\":\"x\"}";
    for kind in [
        "text/plain",
        "application/xml",
        "application/octet-stream",
        "application/jsonp",
        "nonsense",
    ] {
        refused(&tenant, kind, body, 415).await;
    }
    // Without a kind it is taken for JSON.
    assert_eq!(
        post(&tenant).raw("", body).send().await.unwrap().status,
        202
    );
}

async fn a_body_in_another_charset_is_refused(tenant: Tenant) {
    let json = "{\"event\":\"message\",\"content\":\"x\"}";
    let (form, parts) = ("event=message&content=x", "--b\r\n\r\n--b--");
    for (kind, body) in [
        ("application/json; charset=iso-8859-1", json),
        ("application/json;charset=\"latin1\"", json),
        ("application/json; v=\"1;2\"; Charset=UTF-16", json),
        ("text/json; charset=windows-1252", json),
        (
            "application/x-www-form-urlencoded; charset=ISO-8859-15",
            form,
        ),
        ("multipart/form-data; boundary=b; charset=latin1", parts),
    ] {
        let answer = refused(&tenant, kind, body, 415).await;
        assert!(
            answer.json()["message"].as_str().unwrap().contains("UTF-8"),
            "{}",
            answer.text()
        );
    }
    let part = "--b\r\nContent-Disposition: form-data; name=\"event\"\r\n\r\nmessage\r\n--b\r\n\
        Content-Disposition: form-data; name=\"content\"\r\nContent-Type: text/plain; charset=latin1\r\n\r\n\
        x\r\n--b--\r\n";
    refused(&tenant, "multipart/form-data; boundary=b", part, 415).await;
    let token = post_as_anybody(&tenant, "application/json; charset=latin1", "{}".into()).await;
    assert_eq!(token.status, 415);
    let client = &tenant.ben.client;
    let kind = "application/x-www-form-urlencoded; charset=latin1";
    for path in ["/oauth/token", "/oauth/introspect"] {
        let answer = client
            .request(Method::POST, path)
            .anonymous()
            .raw(kind, "a=b")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 415, "{path}");
    }
    for kind in [
        "application/json; charset=utf8",
        "application/json; charset=\"Utf-8\"",
        "application/json; version=1",
    ] {
        assert_eq!(
            post(&tenant).raw(kind, json).send().await.unwrap().status,
            202,
            "{kind}"
        );
    }
    let utf8 = part.replace("latin1", "UTF-8");
    assert_eq!(
        post(&tenant)
            .raw("multipart/form-data; boundary=b", utf8)
            .send()
            .await
            .unwrap()
            .status,
        202
    );
}

async fn a_number_that_is_too_large_for_a_text_is_refused(tenant: Tenant) {
    const LARGE: &str = "18446744073709551616";
    for (member, field) in [
        (format!("\"content\":{LARGE}"), "content"),
        (format!("\"content\":\"x\",\"uuid\":-{LARGE}"), "uuid"),
        (format!("\"content\":\"x\",\"tags\":[1,{LARGE}]"), "tags"),
        (
            format!("\"content\":\"x\",\"thread_id\":{LARGE}{LARGE}"),
            "thread_id",
        ),
    ] {
        let body = format!("{{\"event\":\"message\",{member}}}");
        let answer = refused(&tenant, "application/json", body, 400).await;
        assert!(
            answer.json()["errors"][field][0].is_string(),
            "{}",
            answer.text()
        );
    }
    let body = "{\"event\":\"message\",\"content\":18446744073709551615,\"uuid\":1.5}";
    assert_eq!(
        post(&tenant)
            .raw("application/json", body)
            .send()
            .await
            .unwrap()
            .status,
        202
    );
    let said = tenant.ben.get(&tenant.path("/messages")).await;
    assert_eq!(
        (&said[0]["content"], &said[0]["uuid"]),
        (&json!("18446744073709551615"), &json!("1.5"))
    );
}

async fn json_nested_too_deep_is_refused(tenant: Tenant) {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(1000), close.repeat(1000));
        let body = format!("{{\"event\":\"message\",\"content\":\"x\",\"extra\":{deep}}}");
        refused(&tenant, "application/json", body, 400).await;
        refused(&tenant, "application/json", open.repeat(100_000), 400).await;
    }
    let form = format!("event=message&content=x&a{}=1", "[b]".repeat(1000));
    refused(&tenant, "application/x-www-form-urlencoded", form, 400).await;
}

async fn json_of_too_many_values_is_refused(tenant: Tenant) {
    let body =
        |values: &str| format!("{{\"event\":\"message\",\"content\":\"x\",\"extra\":[{values}0]}}");
    for (value, most) in [("{\"a\":0},", 1_999), ("[],", 1_999), ("0,", 9_990)] {
        let answer = refused(
            &tenant,
            "application/json",
            body(&value.repeat(most + 20)),
            400,
        )
        .await;
        assert!(
            answer.text().contains("too many values"),
            "{}",
            answer.text()
        );
        let full = format!("{} ", body(&value.repeat(most)));
        assert_eq!(
            read_with(&tenant, &full).await,
            400,
            "what reads takes less"
        );
    }
    assert_eq!(
        post(&tenant)
            .raw("application/json", body(&"{},".repeat(1_999)))
            .send()
            .await
            .unwrap()
            .status,
        202
    );
    let event = format!("{{\"event\":[{}\"message\"]}}", "\"message\",".repeat(400));
    assert_eq!(read_with(&tenant, &event).await, 200);
    assert_eq!(
        read_with(&tenant, &json!({"extra": "x".repeat(70_000)}).to_string()).await,
        413
    );
}

/// The status of the answer to a list of messages that is asked for with this body.
async fn read_with(tenant: &Tenant, body: &str) -> u16 {
    let list = tenant
        .ben
        .client
        .request(Method::GET, &tenant.path("/messages"));
    list.raw("application/json", body.to_owned())
        .send()
        .await
        .unwrap()
        .status
        .as_u16()
}

/// Fields of as many objects as may be nested in each other, with names that differ.
fn nested(count: usize) -> String {
    (0..count)
        .map(|at| format!("&{at:x}{}", "[a]".repeat(31)))
        .collect()
}

async fn forms_of_too_many_values_are_refused(tenant: Tenant) {
    let form = |more: String| format!("event=message&content=x{more}");
    for more in [nested(65), "&a[]=".repeat(10_000)] {
        let answer = refused(
            &tenant,
            "application/x-www-form-urlencoded",
            form(more),
            400,
        )
        .await;
        assert!(
            answer.text().contains("is too much: at most 10000 values"),
            "{}",
            answer.text()
        );
    }
    let parts: String = nested(65)[1..].split('&').map(part).collect();
    refused(
        &tenant,
        FORM_WITH_PARTS,
        format!("{parts}{}--B--\r\n", part("event=message")),
        400,
    )
    .await;
    for more in [nested(64), "&a[]=".repeat(9_000)] {
        let full = post(&tenant).raw("application/x-www-form-urlencoded", form(more));
        assert_eq!(full.send().await.unwrap().status, 202);
    }
}

const FORM_WITH_PARTS: &str = "multipart/form-data; boundary=B";

/// A part of a form, from a field of a query.
fn part(field: &str) -> String {
    let (name, value) = field.split_once('=').unwrap_or((field, ""));
    format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
}

async fn queries_of_too_many_values_are_refused(tenant: Tenant) {
    let authorization = format!("Authorization: Basic {}\r\n", basic(&tenant.ben.token, ""));
    let (list, messages) = (tenant.path("/messages"), "/messages");
    for (method, path, query, shown, status) in [
        ("GET", "/openapi.json", "&a[]=".repeat(101), "", 400),
        ("GET", "/openapi.json", "&a[]=".repeat(90), "", 200),
        ("GET", list.as_str(), nested(2), &authorization, 400),
        (
            "GET",
            list.as_str(),
            "&extra[]=1".repeat(400),
            &authorization,
            200,
        ),
        ("POST", messages, nested(70), &authorization, 400),
        // Who asks is judged before the rest of the query is read.
        ("POST", messages, nested(70), "", 401),
        ("GET", "/sign-in", "&a".repeat(101), "", 400),
        ("GET", "/sign-in", "&a".repeat(100), "", 200),
    ] {
        let head = format!(
            "{method} {path}?{} HTTP/1.1\r\nHost: x\r\n{shown}Content-Length: 0\r\n\r\n",
            &query[1..]
        );
        let answer = exchange(&tenant, head.as_bytes()).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{method} {path}: {answer}"
        );
    }
    assert_eq!(tenant.ben.get(&tenant.path("/messages")).await, json!([]));
}

/// The fields of an activity that has all it can have, with the token at the end.
fn full_activity(tenant: &Tenant) -> Vec<String> {
    let mut form: Vec<String> = [
        "event=activity",
        "external_thread_id=t",
        "title=x",
        "thread[title]=t",
    ]
    .map(str::to_owned)
    .into();
    for _ in 0..50 {
        form.extend(["thread[fields][][label]=l", "thread[fields][][value]=v"].map(str::to_owned));
    }
    for at in 0..20 {
        form.push(format!(
            "thread[actions][][@type]=UpdateAction&thread[actions][][name]=Action {at}"
        ));
        form.push("thread[actions][][target][@type]=EntryPoint".to_owned());
        form.push("thread[actions][][target][urlTemplate]=https://x.example/".to_owned());
        form.push("thread[actions][][target][httpMethod]=POST".to_owned());
    }
    form.extend((0..50).map(|at| format!("tags[]=t{at}")));
    form.push(format!("flow_token={}", tenant.flow_token()));
    form.join("&").split('&').map(str::to_owned).collect()
}

async fn post_as_anybody(tenant: &Tenant, kind: &str, body: String) -> RawResponse {
    let request = tenant
        .ben
        .client
        .request(Method::POST, "/messages")
        .anonymous();
    request.raw(kind, body).send().await.unwrap()
}

async fn an_integration_may_say_all_it_can_in_a_form(tenant: Tenant) {
    let form = full_activity(&tenant).join("&");
    let answer = post_as_anybody(&tenant, "application/x-www-form-urlencoded", form).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
}

async fn a_form_with_parts_may_end_with_its_token(tenant: Tenant) {
    let parts: String = full_activity(&tenant)
        .iter()
        .map(|field| part(field))
        .collect();
    let answer = post_as_anybody(&tenant, FORM_WITH_PARTS, format!("{parts}--B--\r\n")).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let parts: String = nested(65)[1..].split('&').map(part).collect();
    let answer = post_as_anybody(&tenant, FORM_WITH_PARTS, format!("{parts}--B--\r\n")).await;
    assert_eq!(answer.status, 401, "{}", answer.text());
}

async fn a_form_that_cannot_be_read_is_refused(tenant: Tenant) {
    for form in [
        "event=message&content[a]=x",
        "event=message&content=x&a[b]=1&a[]=2",
        "event=message&content=%ff",
    ] {
        refused(&tenant, "application/x-www-form-urlencoded", form, 400).await;
    }
}

async fn bytes_that_are_no_utf8_are_refused(tenant: Tenant) {
    let json = b"{\"event\":\"message\",\"content\":\"\xff\xfe\"}";
    refused(&tenant, "application/json", *json, 400).await;
    refused(
        &tenant,
        "application/json",
        *b"{\"event\":\"message\",\"content\":\"\xed\xa0\x80\"}",
        400,
    )
    .await;
    refused(
        &tenant,
        "application/x-www-form-urlencoded",
        *b"event=message&content=\xc3",
        400,
    )
    .await;
    let path = tenant.path("/messages?search=%ff");
    assert_eq!(
        tenant
            .ben
            .client
            .request(Method::GET, &path)
            .send()
            .await
            .unwrap()
            .status,
        400
    );
}

async fn nul_is_refused_wherever_it_stands(tenant: Tenant) {
    for (field, body) in [
        ("content", json!({"event": "message", "content": "a\0b"})),
        ("event", json!({"event": "mes\0sage", "content": "x"})),
        (
            "tags",
            json!({"event": "message", "content": "x", "tags": ["a\0"]}),
        ),
        (
            "uuid",
            json!({"event": "message", "content": "x", "uuid": "\0"}),
        ),
        (
            "external_user_name",
            json!({"event": "message", "content": "x", "external_user_name": "\0"}),
        ),
        (
            "thread_id",
            json!({"event": "message", "content": "x", "thread_id": "\0"}),
        ),
    ] {
        refused_json(&tenant, &body, field).await;
    }
    for path in [
        "/messages?search=%00",
        "/messages?tags=%00",
        "/messages?event=%00",
    ] {
        let answer = tenant
            .ben
            .client
            .request(Method::GET, &tenant.path(path))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 400, "{path}");
    }
    for path in ["/flows/%00/main", "/flows/find?id=%00", "/users/%00"] {
        let status = tenant
            .ben
            .client
            .request(Method::GET, path)
            .send()
            .await
            .unwrap()
            .status;
        assert!(status.is_client_error(), "{path}: {status}");
    }
}

/// Shows: 8.1
async fn text_is_counted_in_characters_not_bytes(tenant: Tenant) {
    for character in ["x", "ü", "漢", "🍵", "\u{301}"] {
        let long = json!({"event": "message", "content": character.repeat(8097)});
        refused_json(&tenant, &long, "content").await;
    }
    for character in ["x", "ü", "漢", "🍵", "\u{301}"] {
        let text = character.repeat(8096);
        assert_eq!(tenant.ben.say(&tenant.main, &text).await["content"], text);
    }
}

/// Shows: 4.12
async fn empty_content_is_refused(tenant: Tenant) {
    for content in [json!(""), json!(" "), json!("\n\t\u{a0}"), json!(null)] {
        for event in ["message", "status"] {
            refused_json(
                &tenant,
                &json!({"event": event, "content": content}),
                "content",
            )
            .await;
        }
    }
    refused_json(&tenant, &json!({"event": "message"}), "content").await;
}

/// Shows: 4.12
async fn content_of_another_type_is_refused(tenant: Tenant) {
    for content in [json!({"text": "x"}), json!(["x"]), json!(true)] {
        refused_json(
            &tenant,
            &json!({"event": "message", "content": content}),
            "content",
        )
        .await;
    }
}

async fn all_mistakes_are_told_at_once(tenant: Tenant) {
    let body = json!({"event": "nonsense", "uuid": "x".repeat(1000), "tags": {"a": 1}});
    let answer = refused(&tenant, "application/json", body.to_string(), 400).await;
    let errors = answer.json()["errors"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect::<Vec<_>>();
    assert_eq!(errors, ["content", "event", "tags", "uuid"]);
    let answer = refused(&tenant, "application/json", "{}", 400).await;
    assert!(
        answer.json()["errors"]["event"].is_array()
            && answer.json()["errors"]["content"].is_array()
    );
}

async fn fields_that_are_too_long_are_refused(tenant: Tenant) {
    for field in ["uuid", "external_user_name", "thread_id", "event"] {
        let mut body = json!({"event": "message", "content": "x"});
        body[field] = json!("x".repeat(10_000));
        refused_json(&tenant, &body, field).await;
    }
    let path = tenant.path(&format!("/messages?search={}", "x".repeat(501)));
    assert_eq!(
        tenant
            .ben
            .client
            .request(Method::GET, &path)
            .send()
            .await
            .unwrap()
            .status,
        400
    );
    let long = format!("/flows/{}/main", "x".repeat(5000));
    assert_eq!(
        tenant
            .ben
            .client
            .request(Method::GET, &long)
            .send()
            .await
            .unwrap()
            .status,
        404
    );
}

async fn a_body_that_is_too_large_is_refused(tenant: Tenant) {
    let body =
        json!({"event": "message", "content": "x", "extra": "y".repeat(2 << 20)}).to_string();
    refused(&tenant, "application/json", body.clone(), 413).await;
    refused(&tenant, "application/x-www-form-urlencoded", body, 413).await;
    let body = json!({"event": "message", "content": "x", "extra": "y".repeat(1_000_000)});
    assert_eq!(
        post(&tenant).json(&body).send().await.unwrap().status,
        202,
        "unknown parameters do not matter"
    );
}

async fn a_failure_echoes_little(tenant: Tenant) {
    let list = |body: Json| {
        let list = tenant
            .ben
            .client
            .request(Method::GET, &tenant.path("/messages"));
        async move { list.json(&body).send().await.unwrap() }
    };
    let names: Vec<String> = (0..400).map(|at| format!("kind{at}")).collect();
    let answer = list(json!({"event": names})).await;
    assert_eq!(
        (
            answer.status.as_u16(),
            answer.json()["errors"]["event"].as_array().map(Vec::len)
        ),
        (400, Some(20))
    );
    let long: Vec<String> = (0..50)
        .map(|at| format!("{at}{}", "x".repeat(1000)))
        .collect();
    let answer = list(json!({"event": long, "limit": 0})).await;
    assert_eq!(answer.status, 400);
    assert!(
        (500..8192).contains(&answer.text().len()),
        "{}",
        answer.text().len()
    );
    let path = format!("/flows/find?id={}", "x".repeat(9000));
    let answer = tenant
        .ben
        .client
        .request(Method::GET, &path)
        .send()
        .await
        .unwrap();
    assert!(
        answer.status.is_client_error() && answer.text().len() < 1000,
        "{}",
        answer.text()
    );
}
