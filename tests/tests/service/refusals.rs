//! What the log says about requests that are refused, and about addresses that many users share.

use eddyline_client::{Method, NewFile, StatusCode};
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    &[
        "--log", "info", "--requests-per-minute", "5", "--password-attempts-per-account", "2",
        "--max-body-bytes", "4096", "--max-upload-bytes", "1000", "--max-flows-per-user", "1",
        "--max-json-upload-bytes", "5000",
    ];
    the_log_names_the_setting_of_a_refusal,
];
on_both_databases![&["--log", "info"]; many_users_of_one_address_are_noticed];
on_both_databases![
    &["--log", "info", "--trusted-proxy", "127.0.0.0/8"];
    a_proxy_that_hides_its_clients_is_noticed,
    users_with_addresses_of_their_own_are_not_noticed,
];

async fn the_log_names_the_setting_of_a_refusal(server: Server) {
    let Acme { ada, ben } = server.acme();
    let refusals = |setting: &str| {
        let log = server.log();
        let named = format!("setting=\"{setting}\"");
        log.lines()
            .filter(|line| line.contains(" refused") && line.contains(&named))
            .count()
    };
    let messages = "/flows/acme/main/messages";

    let long = json!({"event": "message", "content": "x".repeat(5000)});
    assert_eq!(
        ada.send(Method::POST, messages, &long).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    assert_eq!(refusals("max_body_bytes"), 1, "{}", server.log());

    let file = NewFile {
        name: "a.txt".into(),
        content_type: "text/plain".into(),
        data: vec![b'x'; 2000].into(),
    };
    let refused = ada
        .client
        .flow("acme", "main")
        .upload(&file)
        .await
        .unwrap_err();
    assert_eq!(refused.status(), Some(StatusCode::PAYLOAD_TOO_LARGE));
    assert_eq!(refusals("max_upload_bytes"), 1, "{}", server.log());

    let content =
        json!({"data": "x".repeat(9000), "file_name": "a.txt", "content_type": "text/plain"});
    let in_json = json!({"event": "file", "content": content});
    assert_eq!(
        ada.send(Method::POST, messages, &in_json).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    assert_eq!(refusals("max_json_upload_bytes"), 1, "{}", server.log());

    let flow = |name: &str| json!({"name": name});
    ben.does(Method::POST, "/flows/acme", &flow("Tea")).await;
    assert_eq!(
        ben.send(Method::POST, "/flows/acme", &flow("Coffee"))
            .await
            .status,
        StatusCode::CONFLICT
    );
    assert_eq!(refusals("max_flows_per_user"), 1, "{}", server.log());

    for _ in 0..3 {
        ben.get("/user").await;
    }
    assert_eq!(
        ben.send(Method::GET, "/user", &Value::Null).await.status,
        StatusCode::TOO_MANY_REQUESTS
    );
    assert_eq!(refusals("requests_per_minute"), 1, "{}", server.log());

    let guess = server
        .client()
        .basic(&ada.email, "a guess")
        .build()
        .unwrap();
    for status in [
        StatusCode::UNAUTHORIZED,
        StatusCode::UNAUTHORIZED,
        StatusCode::TOO_MANY_REQUESTS,
    ] {
        assert_eq!(guess.me().await.unwrap_err().status(), Some(status));
    }
    assert_eq!(
        refusals("password_attempts_per_account"),
        1,
        "{}",
        server.log()
    );
    // On a page, too.
    let form = server
        .client()
        .build()
        .unwrap()
        .request(Method::POST, "/sign-in");
    let form = form
        .raw("application/x-www-form-urlencoded", "x".repeat(70_000))
        .send()
        .await
        .unwrap();
    assert_eq!(
        form.status,
        StatusCode::PAYLOAD_TOO_LARGE,
        "{}",
        form.text()
    );
    assert!(server.log().contains("refused; others"), "{}", server.log());
    assert!(
        server
            .log()
            .contains("reason=\"the body is too long for such a request\""),
        "{}",
        server.log()
    );
}

/// More users than it takes.
const MANY: usize = 30;

/// Has many users ask who they are, each through a proxy that may say for whom.
async fn ask_as_many(server: &Server, header: impl Fn(usize) -> Option<String>) {
    server.organization("acme");
    for number in 0..MANY {
        let (nick, email) = (
            format!("user{number}"),
            format!("user{number}@acme.example"),
        );
        let user = [
            "user", "create", "--org", "acme", "--email", &email, "--name", &nick, "--nick", &nick,
        ];
        let token = server.admin(&user)["api_token"]
            .as_str()
            .unwrap()
            .to_owned();
        let client = server.client().api_token(token).build().unwrap();
        let request = client.request(Method::GET, "/user");
        let request = match header(number) {
            Some(value) => request.header("x-forwarded-for", value),
            None => request,
        };
        request.done().await.unwrap();
    }
}

/// What is warned of an address that many users share.
fn warnings(server: &Server) -> Vec<String> {
    let log = server.log();
    let about =
        |line: &&str| line.contains(" WARN ") && line.contains("many users come from one address");
    log.lines().filter(about).map(str::to_owned).collect()
}

async fn many_users_of_one_address_are_noticed(server: Server) {
    ask_as_many(&server, |_| None).await;
    let warnings = warnings(&server);
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(
        warning.contains("name it with --trusted-proxy"),
        "{warning}"
    );
    assert!(warning.contains("address=127.0.0.1"), "{warning}");
}

async fn a_proxy_that_hides_its_clients_is_noticed(server: Server) {
    ask_as_many(&server, |_| None).await;
    let warnings = warnings(&server);
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(
        warning.contains("does not send the addresses of its clients"),
        "{warning}"
    );
}

async fn users_with_addresses_of_their_own_are_not_noticed(server: Server) {
    ask_as_many(&server, |number| Some(format!("192.0.2.{number}"))).await;
    assert_eq!(warnings(&server), Vec::<String>::new());
}
