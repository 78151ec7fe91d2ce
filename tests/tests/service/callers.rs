//! Who asks (specification, section 5): every kind of credentials, and their limits.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_client::{Client, Credentials, Method, RawResponse};
use eddyline_tests::{PASSWORD, Server, Tenant, basic, on_both_databases, on_shared_servers};
use serde_json::{Value, json};

on_shared_servers![
    a_user_shows_a_password_or_an_api_token,
    a_password_is_taken_with_every_form_of_the_address,
    without_credentials_the_answer_names_the_way_in,
    wrong_credentials_are_refused,
    the_first_credentials_decide_also_when_they_are_bad,
    the_answer_names_the_user_also_on_errors,
    a_flow_token_posts_anonymously_to_its_flow,
    a_flow_token_stands_in_the_query_or_the_body,
    a_flow_token_is_no_user,
    another_token_opens_as_well,
    a_new_password_ends_the_old_one_at_once,
    guessing_a_password_is_stopped_for_a_while,
    wrong_tokens_count_nowhere,
];

on_both_databases![
    &["--requests-per-minute", "5"];
    a_caller_has_only_so_many_requests,
    what_an_application_may_not_do_uses_up_nothing_of_its_user,
    each_source_of_a_flow_has_its_requests
];

/// Asks who one is, with this `Authorization`.
async fn whoami(client: &Client, authorization: &str) -> RawResponse {
    let request = client.request(Method::GET, "/user").anonymous();
    request
        .header("Authorization", authorization)
        .send()
        .await
        .unwrap()
}

/// Shows: 5.2, 5.3
async fn a_user_shows_a_password_or_an_api_token(tenant: Tenant) {
    let (ben, client) = (&tenant.ben, &tenant.ben.client);
    for authorization in [
        format!("Basic {}", basic(&ben.email, PASSWORD)),
        format!("Basic {}", basic(&ben.token, "")),
        format!("Basic {}", basic(&ben.token, "x")),
        format!("Basic {}", basic(&ben.token, "a:b:c")),
        format!("Basic {}", STANDARD.encode(&ben.token)),
        format!("basic {}", basic(&ben.token, "")),
    ] {
        let answer = whoami(client, &authorization).await;
        assert_eq!(answer.status, 200, "{authorization}");
        assert_eq!(answer.json()["id"], ben.id);
    }
}

/// Shows: 4.11, 5.2
async fn a_password_is_taken_with_every_form_of_the_address(tenant: Tenant) {
    let answer = whoami(
        &tenant.ben.client,
        &format!(
            "Basic {}",
            basic(&tenant.ben.email.to_uppercase(), PASSWORD)
        ),
    )
    .await;
    assert_eq!(answer.status, 200);
    // Posting again and again with a password works as with any credentials.
    let client = tenant.ben.by_password();
    for _ in 0..5 {
        let request = client.request(Method::POST, &tenant.path("/messages"));
        request
            .json(&json!({"event": "message", "content": "hello"}))
            .done()
            .await
            .unwrap();
    }
    assert_eq!(
        tenant
            .ben
            .get(&tenant.path("/messages"))
            .await
            .as_array()
            .unwrap()
            .len(),
        5
    );
}

async fn without_credentials_the_answer_names_the_way_in(tenant: Tenant) {
    for (method, path) in [
        (Method::GET, "/flows".to_owned()),
        (Method::GET, tenant.path("/messages")),
        (Method::POST, "/messages".to_owned()),
        (Method::GET, "/flows/no/such".to_owned()),
    ] {
        let request = tenant.ben.client.request(method, &path).anonymous();
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status, 401, "{path}");
        assert!(
            answer
                .header("www-authenticate")
                .unwrap()
                .starts_with("Basic realm="),
            "{path}"
        );
        assert!(answer.json()["message"].is_string());
        assert_eq!(answer.header("service-user"), None);
    }
}

/// Shows: 5.1
async fn wrong_credentials_are_refused(tenant: Tenant) {
    let (ben, client) = (&tenant.ben, &tenant.ben.client);
    for authorization in [
        format!("Basic {}", basic(&ben.email, "wrong")),
        format!("Basic {}", basic(&ben.email, "")),
        format!("Basic {}", basic("nobody@example.org", PASSWORD)),
        format!("Basic {}", basic("0123456789abcdef0123456789abcdef", "")),
        format!("Basic {}", basic("ben\0@example.org", PASSWORD)),
        format!("Basic {}", basic("\0", "")),
        format!("Basic {}", basic(&ben.email, "\0")),
        "Basic ".to_owned(),
        "Basic !!!".to_owned(),
        "Basic".to_owned(),
        "Digest username=ben".to_owned(),
        String::new(),
        "Basic gICA".to_owned(),
    ] {
        let answer = whoami(client, &authorization).await;
        assert_eq!(answer.status, 401, "{authorization:?}");
        assert!(
            answer
                .header("www-authenticate")
                .unwrap()
                .starts_with("Basic realm="),
            "{authorization}"
        );
        assert_eq!(answer.header("service-user"), None);
    }
    let answer = whoami(client, "Bearer not-a-token").await;
    assert_eq!(answer.status, 401);
    let challenge = answer.header("www-authenticate").unwrap();
    assert!(
        challenge.starts_with("Bearer ") && challenge.contains("error=\"invalid_token\""),
        "{challenge}"
    );
    let request = client
        .request(Method::GET, "/user")
        .anonymous()
        .query("access_token", "not-a-token");
    assert_eq!(request.send().await.unwrap().status, 401);
}

async fn the_first_credentials_decide_also_when_they_are_bad(tenant: Tenant) {
    let token = tenant.flow_token();
    let post = |flow_token: &str| {
        let request = tenant
            .ben
            .client
            .request(Method::POST, &tenant.path("/messages"));
        request.header("x-service-wait-for-message", "1").json(
            &json!({"event": "message", "content": "hello", "flow_token": flow_token, "access_token": "x"}),
        )
    };
    let message: Value = post(&token).call().await.unwrap();
    assert_eq!(
        message["user"], "0",
        "the flow token comes before the Authorization header"
    );
    assert_eq!(post("wrong").send().await.unwrap().status, 401);
    let request = tenant
        .ben
        .client
        .request(Method::GET, "/user")
        .query("access_token", "wrong");
    assert_eq!(
        request.send().await.unwrap().status,
        200,
        "the header comes before an access token"
    );
}

/// Shows: 4.3
async fn the_answer_names_the_user_also_on_errors(tenant: Tenant) {
    let id = tenant.ben.id.to_string();
    for (path, status) in [
        ("/flows".to_owned(), 200),
        (tenant.path("/messages?limit=0"), 400),
        ("/flows/no/such".to_owned(), 404),
        (tenant.path("/messages/99"), 404),
    ] {
        let answer = tenant
            .ben
            .client
            .request(Method::GET, &path)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.header("service-user"), Some(id.as_str()), "{path}");
    }
}

/// Shows: 4.11, 4.20, 5.4
async fn a_flow_token_posts_anonymously_to_its_flow(tenant: Tenant) {
    let client = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    let first = tenant.ben.say(&tenant.main, "hello").await;
    let name = "Robot";
    for (path, body) in [
        (
            "/messages".to_owned(),
            json!({"event": "message", "content": "beep", "external_user_name": name}),
        ),
        (
            tenant.path("/messages"),
            json!({"event": "status", "content": "beep", "external_user_name": name}),
        ),
        (
            "/comments".to_owned(),
            json!({"message": first["id"], "content": "beep", "external_user_name": name}),
        ),
        (
            format!("{}/comments", tenant.message_path(&first)),
            json!({"content": "beep", "external_user_name": name}),
        ),
    ] {
        let request = client.request(Method::POST, &path).json(&body);
        let answer = request
            .header("x-service-wait-for-message", "1")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert_eq!(answer.header("service-user"), None);
        assert_eq!(answer.json()["user"], "0");
        assert_eq!(answer.json()["external_user_name"], name);
    }
    // The name may be left out.
    let request = client.request(Method::POST, "/messages");
    let answer = request
        .json(&json!({"event": "message", "content": "beep"}))
        .send()
        .await
        .unwrap();
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (202, "{}")
    );
}

/// Shows: 1.9, 4.20, 5.4
async fn a_flow_token_stands_in_the_query_or_the_body(tenant: Tenant) {
    let token = tenant.flow_token();
    let post = || {
        tenant
            .ben
            .client
            .request(Method::POST, "/messages")
            .anonymous()
    };
    let fields = [
        ("event", "message"),
        ("content", "hello"),
        ("flow_token", token.as_str()),
    ];
    for request in [
        post()
            .query("flow_token", &token)
            .json(&json!({"event": "message", "content": "hello"})),
        post().json(&json!({"event": "message", "content": "hello", "flow_token": token})),
        post().form(&fields),
        fields
            .iter()
            .fold(post(), |request, (name, value)| request.query(name, value)),
    ] {
        assert_eq!(request.send().await.unwrap().status, 202);
    }
    assert_eq!(
        tenant
            .ben
            .get(&tenant.path("/messages"))
            .await
            .as_array()
            .unwrap()
            .len(),
        4
    );
}

/// Shows: 5.4
async fn a_flow_token_is_no_user(tenant: Tenant) {
    tenant.flow("side", &[]);
    let client = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    let message = tenant.ben.say(&tenant.main, "hello").await;
    for (method, path, status) in [
        (Method::GET, "/user".to_owned(), 403),
        (Method::GET, "/flows".to_owned(), 403),
        (Method::GET, "/flows/all".to_owned(), 403),
        (Method::GET, tenant.path(""), 403),
        (Method::GET, tenant.path("/messages"), 403),
        (Method::GET, tenant.path("/users"), 403),
        (Method::GET, tenant.message_path(&message), 403),
        (Method::DELETE, tenant.message_path(&message), 403),
        (Method::PUT, tenant.message_path(&message), 403),
        (Method::PUT, tenant.path(""), 403),
        (Method::GET, format!("/users/{}", tenant.ben.id), 403),
        (Method::GET, format!("/flows/{}/side", tenant.name), 404),
        (
            Method::POST,
            format!("/flows/{}/side/messages", tenant.name),
            404,
        ),
    ] {
        let body = json!({"event": "message", "content": "beep", "open": true});
        let answer = client
            .request(method.clone(), &path)
            .json(&body)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
    }
}

async fn another_token_opens_as_well(tenant: Tenant) {
    let answer = tenant
        .server()
        .admin(&["user", "token", "--email", &tenant.ben.email]);
    let another = answer["api_token"].as_str().unwrap();
    for token in [another, &tenant.ben.token] {
        let answer = whoami(&tenant.ben.client, &format!("Basic {}", basic(token, ""))).await;
        assert_eq!(answer.json()["id"], tenant.ben.id);
    }
}

async fn a_new_password_ends_the_old_one_at_once(tenant: Tenant) {
    let ben = &tenant.ben;
    let with = |password: &str| format!("Basic {}", basic(&ben.email, password));
    assert_eq!(whoami(&ben.client, &with(PASSWORD)).await.status, 200);
    tenant.server().admin(&[
        "user",
        "set-password",
        "--email",
        &ben.email,
        "--password",
        "another one",
    ]);
    assert_eq!(whoami(&ben.client, &with(PASSWORD)).await.status, 401);
    assert_eq!(whoami(&ben.client, &with("another one")).await.status, 200);
}

async fn guessing_a_password_is_stopped_for_a_while(tenant: Tenant) {
    let (ben, client) = (&tenant.ben, &tenant.ben.client);
    let with = |password: &str| format!("Basic {}", basic(&ben.email, password));
    // A password that was right a moment ago is no exception.
    assert_eq!(whoami(client, &with(PASSWORD)).await.status, 200);
    for _ in 0..10 {
        assert_eq!(whoami(client, &with("wrong")).await.status, 401);
    }
    for password in ["wrong", PASSWORD] {
        let answer = whoami(client, &with(password)).await;
        assert_eq!(answer.status, 429, "also the right password has to wait");
        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        assert!(answer.json()["message"].is_string());
    }
    let ada = format!("Basic {}", basic(&tenant.ada.email, PASSWORD));
    assert_eq!(
        whoami(client, &ada).await.status,
        200,
        "others are not concerned"
    );
    let token = format!("Basic {}", basic(&ben.token, ""));
    assert_eq!(
        whoami(client, &token).await.status,
        200,
        "and neither are tokens"
    );
}

async fn wrong_tokens_count_nowhere(tenant: Tenant) {
    for number in 0..150 {
        let wrong = format!("Basic {}", basic(&format!("{number:032x}"), ""));
        assert_eq!(whoami(&tenant.ben.client, &wrong).await.status, 401);
    }
    let password = format!("Basic {}", basic(&tenant.ben.email, PASSWORD));
    assert_eq!(whoami(&tenant.ben.client, &password).await.status, 200);
}

async fn a_caller_has_only_so_many_requests(server: Server) {
    let acme = server.acme();
    for _ in 0..5 {
        acme.ben.get("/flows").await;
    }
    let answer = acme
        .ben
        .client
        .request(Method::GET, "/flows")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status, 429);
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(
        answer.header("service-user"),
        Some(acme.ben.id.to_string().as_str())
    );
    acme.ada.get("/flows").await;
}

/// Sends so many requests, and returns the number of them that are taken.
async fn taken(client: &Client, count: usize, method: Method, path: &str, body: &Value) -> usize {
    let mut taken = 0;
    for _ in 0..count {
        let request = client.request(method.clone(), path);
        let answer = match body {
            Value::Null => request.send().await,
            body => request.json(body).send().await,
        };
        taken += usize::from(answer.unwrap().status != 429);
    }
    taken
}

async fn what_an_application_may_not_do_uses_up_nothing_of_its_user(server: Server) {
    let ben = server.acme().ben;
    let robots = ["acme", "acme"].map(|organization| server.robot(organization, &[]));
    let mut applications = Vec::new();
    for robot in &robots {
        let tokens = robot.by_password(&ben, "offline_access").await;
        applications.push(robot.with(&tokens["access_token"]));
    }
    for application in &applications {
        let refused = taken(application, 6, Method::GET, "/flows", &Value::Null).await;
        assert_eq!(refused, 5, "each application has its own");
    }
    let own = taken(&ben.client, 6, Method::GET, "/flows", &Value::Null).await;
    assert_eq!(own, 5);
}

async fn each_source_of_a_flow_has_its_requests(server: Server) {
    let (acme, robot) = (server.acme(), server.robot("acme", &[]));
    let token = robot.by_password(&acme.ben, "flow integration").await;
    let manager = robot.with(&token["access_token"]);
    let mut sources = Vec::new();
    for name in ["one", "other"] {
        let request = manager.request(Method::POST, "/flows/acme/main/sources");
        let source: Value = request.json(&json!({"name": name})).call().await.unwrap();
        let token = source["flow_token"].as_str().unwrap().to_owned();
        let client = server.client().build().unwrap();
        sources.push(client.with_credentials(Credentials::FlowToken(token)));
    }
    let message = json!({"event": "message", "content": "x", "external_user_name": "CI"});
    for source in &sources {
        let posts = taken(source, 6, Method::POST, "/messages", &message).await;
        assert_eq!(posts, 5);
    }
}
