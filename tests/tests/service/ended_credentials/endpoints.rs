//! Every endpoint that changes something, by the table of rights, and each kind of credential.

use eddyline_client::Method;
use eddyline_tests::{Caller, PASSWORD, SlowRequest, Tenant, Visitor, basic, on_shared_servers};
use serde_json::json;

use crate::permissions::{ROWS, Row, Stage};

on_shared_servers![
    no_endpoint_takes_an_api_token_that_ended,
    no_endpoint_takes_a_password_that_was_replaced,
    no_endpoint_takes_an_access_token_that_ended,
    no_endpoint_takes_the_token_of_a_source_that_was_removed,
    no_endpoint_takes_a_provider_whose_token_was_replaced,
    an_upload_is_not_posted_once_its_sender_is_inactive,
];

fn host(tenant: &Tenant) -> String {
    tenant
        .server()
        .base_url()
        .split('/')
        .nth(2)
        .unwrap()
        .to_owned()
}

async fn begin(
    tenant: &Tenant,
    endpoint: (&str, &str),
    authorization: &str,
    body: (&str, &[u8]),
) -> SlowRequest {
    let lines = [
        format!("Authorization: {authorization}"),
        format!("Content-Type: {}", body.0),
    ];
    SlowRequest::open(&host(tenant), endpoint.0, endpoint.1, &lines, body.1).await
}

/// All that the endpoints could change, as an administrator sees it.
async fn state(tenant: &Tenant) -> Vec<String> {
    let mut state = Vec::new();
    for path in [
        &tenant.path("/messages?limit=100"),
        &tenant.path("/invitations"),
        &tenant.path("/sources"),
        "/flows/all",
        "/organizations",
        "/users",
    ] {
        state.push(tenant.ada.get(path).await.to_string());
    }
    let path = format!("/private/{}/messages?limit=100", tenant.ben.id);
    state.push(tenant.ben.get(&path).await.to_string());
    state
}

/// Whether callers with credentials change something there.
fn changes(row: &Row) -> bool {
    let path = row.endpoint.split_once(' ').unwrap().1;
    let elsewhere = [
        "/oauth",
        "/scim",
        "/messages/chat/",
        "/messages/team_inbox/",
        "/messages/influx/",
    ];
    !row.endpoint.starts_with("GET ") && !elsewhere.iter().any(|prefix| path.starts_with(prefix))
}

/// An API token that its owner has made, and the page where it is ended.
async fn make_token(visitor: &mut Visitor) -> (String, String) {
    let page = visitor
        .post("/account/tokens", &[("name", "short-lived")])
        .await;
    let secret = page.between("class=\"secret\">", "<").to_owned();
    let list = visitor.get("/account/tokens").await;
    let last = list.text.rsplit_once("href=\"/account/tokens/").unwrap().1;
    (
        secret,
        format!("/account/tokens/{}", last.split('"').next().unwrap()),
    )
}

async fn no_endpoint_takes_an_api_token_that_ended(tenant: Tenant) {
    let stage = Stage::set(&tenant).await;
    let mut visitors = Vec::new();
    for caller in [&tenant.ben, &tenant.ada, &stage.guest] {
        let mut visitor = tenant.server().signed_in(&caller.email, PASSWORD).await;
        let token = make_token(&mut visitor).await;
        visitors.push((visitor, token));
    }
    // Callers who may, by the columns of the table: the owner, the administrator, the guest.
    let columns = [0, 4, 6];
    let mut prepared = Vec::new();
    for row in ROWS.iter().filter(|row| changes(row)) {
        let may = |column: &usize| {
            row.expected
                .split(' ')
                .nth(*column)
                .unwrap()
                .starts_with('2')
        };
        let caller = columns.iter().position(may).unwrap_or(0);
        let names = ["owner", "administrator", "guest"];
        prepared.push((row, caller, stage.path_of(row, names[caller]).await));
    }
    assert!(prepared.len() > 30);
    let before = state(&tenant).await;
    let mut begun = Vec::new();
    for (row, caller, path) in &prepared {
        let method = row.endpoint.split(' ').next().unwrap();
        let (kind, body) = stage.body_of(row);
        let authorization = format!("Basic {}", basic(&visitors[*caller].1.0, ""));
        begun.push((
            row,
            begin(&tenant, (method, path), &authorization, (kind, &body)).await,
        ));
    }
    for (visitor, (_, page)) in &mut visitors {
        visitor.post(page, &[("do", "end")]).await.sent_on();
    }
    for (row, request) in begun {
        let answer = request.finish().await;
        assert_eq!(answer.status, 401, "{}: {}", row.endpoint, answer.text);
    }
    assert_eq!(state(&tenant).await, before);
}

/// What each kind of caller may do with a token or a password.
fn deeds(tenant: &Tenant) -> Vec<(&'static str, String, &'static str)> {
    vec![
        (
            "POST",
            tenant.path("/messages"),
            r#"{"event":"message","content":"too late"}"#,
        ),
        (
            "POST",
            tenant.path("/messages"),
            r#"{"event":"status","content":"too late"}"#,
        ),
        (
            "POST",
            format!("/private/{}/messages", tenant.ada.id),
            r#"{"event":"message","content":"too late"}"#,
        ),
        ("PUT", "/user".to_owned(), r#"{"name":"Changed"}"#),
        (
            "POST",
            format!("/flows/{}", tenant.name),
            r#"{"name":"Changed"}"#,
        ),
        (
            "POST",
            tenant.path("/invitations"),
            r#"{"email":"late@evil.example"}"#,
        ),
        ("PUT", tenant.path("/read"), r#"{"message":1}"#),
    ]
}

async fn begin_deeds(tenant: &Tenant, authorization: &str) -> Vec<SlowRequest> {
    let mut begun = Vec::new();
    for (method, path, body) in deeds(tenant) {
        let body = ("application/json", body.as_bytes());
        begun.push(begin(tenant, (method, &path), authorization, body).await);
    }
    begun
}

async fn refused(tenant: &Tenant, begun: Vec<SlowRequest>, before: &[String], status: u16) {
    for request in begun {
        let answer = request.finish().await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
    assert_eq!(state(tenant).await, before);
}

async fn no_endpoint_takes_a_password_that_was_replaced(tenant: Tenant) {
    tenant.ada.say(&tenant.main, "hello").await;
    let before = state(&tenant).await;
    let begun = begin_deeds(
        &tenant,
        &format!("Basic {}", basic(&tenant.ben.email, PASSWORD)),
    )
    .await;
    let change = json!({"password": "seventeen green umbrellas", "current_password": PASSWORD});
    tenant.ben.does(Method::PUT, "/user", &change).await;
    refused(&tenant, begun, &before, 401).await;
}

async fn no_endpoint_takes_an_access_token_that_ended(tenant: Tenant) {
    tenant.ada.say(&tenant.main, "hello").await;
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot
        .by_password(&tenant.ben, "flow private manage profile integration")
        .await;
    let before = state(&tenant).await;
    let authorization = format!("Bearer {}", tokens["access_token"].as_str().unwrap());
    let mut begun = begin_deeds(&tenant, &authorization).await;
    let source = (&*tenant.path("/sources"), br#"{"name":"Late"}"#);
    let body = ("application/json", &source.1[..]);
    begun.push(begin(&tenant, ("POST", source.0), &authorization, body).await);
    robot.revoke(&tokens["access_token"]).await;
    refused(&tenant, begun, &before, 401).await;
}

async fn no_endpoint_takes_the_token_of_a_source_that_was_removed(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let line = [
        "source",
        "create",
        "--flow",
        &tenant.main,
        "--app",
        &robot.id,
        "--name",
        "Gone",
    ];
    let source = tenant.server().admin(&line);
    let token = source["flow_token"].as_str().unwrap();
    eddyline_tests::note_secret(token);
    let pushed =
        r#"{"source":"x","from_address":"x@x.example","subject":"x","content":"too late"}"#;
    let deeds = [
        (
            "POST",
            format!("/messages?flow_token={token}"),
            r#"{"event":"message","content":"too late"}"#,
        ),
        (
            "POST",
            format!("/messages/chat/{token}"),
            r#"{"content":"too late","external_user_name":"x"}"#,
        ),
        ("POST", format!("/messages/influx/{token}"), pushed),
        (
            "PUT",
            format!("/sources?flow_token={token}"),
            r#"{"name":"Changed"}"#,
        ),
    ];
    let mut begun = Vec::new();
    for (method, path, body) in &deeds {
        let lines = ["Content-Type: application/json".to_owned()];
        begun.push(SlowRequest::open(&host(&tenant), method, path, &lines, body.as_bytes()).await);
    }
    let path = tenant.path(&format!("/sources/{}", source["id"]));
    tenant
        .ben
        .does(Method::DELETE, &path, &serde_json::Value::Null)
        .await;
    let before = state(&tenant).await;
    refused(&tenant, begun, &before, 410).await;
}

async fn no_endpoint_takes_a_provider_whose_token_was_replaced(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let made = provider
        .makes(&format!("nina@{}.example", tenant.name), ("Nina", "N"))
        .await;
    let own = format!("/Users/{}", made["id"].as_str().unwrap());
    let patch = r#"{"Operations":[{"op":"replace","path":"active","value":false}]}"#;
    let group = json!({"displayName": "Team", "members": [{"value": made["id"]}]});
    let group = provider.scim(Method::POST, "/Groups", Some(&group)).await;
    let group = format!("/Groups/{}", group.json()["id"].as_str().unwrap());
    let members = r#"{"Operations":[{"op":"remove","path":"members"}]}"#;
    let deeds = [
        (
            "POST",
            "/Users".to_owned(),
            r#"{"userName":"late@evil.example"}"#,
        ),
        ("PUT", own.clone(), r#"{"userName":"nina","active":false}"#),
        ("PATCH", own.clone(), patch),
        ("DELETE", own, " "),
        (
            "POST",
            "/Groups".to_owned(),
            r#"{"displayName":"Too late"}"#,
        ),
        ("PUT", group.clone(), r#"{"displayName":"Too late"}"#),
        ("PATCH", group.clone(), members),
        ("DELETE", group, " "),
    ];
    let before = state(&tenant).await;
    let mut begun = Vec::new();
    for (method, path, body) in &deeds {
        let path = format!("/scim/{}{path}", provider.uid);
        let authorization = format!("Bearer {}", provider.token);
        let body = ("application/scim+json", body.as_bytes());
        begun.push(begin(&tenant, (method, &path), &authorization, body).await);
    }
    tenant.server().provider(&tenant.name);
    refused(&tenant, begun, &before, 403).await;
}

async fn an_upload_is_not_posted_once_its_sender_is_inactive(tenant: Tenant) {
    let mia: Caller = tenant.member("mia");
    let part = |name: &str, more: &str, value: &str| {
        format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{value}\r\n")
    };
    // Its last byte is that of the last boundary: without it the form goes on.
    let form =
        part("event", "", "file") + &part("content", "; filename=\"a.txt\"", "too late") + "--B--";
    let before = state(&tenant).await;
    let authorization = format!("Basic {}", basic(&mia.token, ""));
    let body = ("multipart/form-data; boundary=B", form.as_bytes());
    let request = begin(
        &tenant,
        ("POST", &tenant.path("/messages")),
        &authorization,
        body,
    )
    .await;
    for active in ["false", "true"] {
        tenant.server().admin(&[
            "user",
            "set-active",
            "--email",
            &mia.email,
            "--active",
            active,
        ]);
    }
    refused(&tenant, vec![request], &before, 401).await;
}
