//! Applications that clients of the original service register through the API.

use eddyline_client::{Json, Method, RawResponse, RequestBuilder};
use eddyline_tests::{Acme, CALLBACK, Caller, PASSWORD, Server, note_secret, on_both_databases};
use serde_json::json;

on_both_databases![&["--profile", "classic"];
    an_old_client_registers_an_application,
    an_application_may_have_codes_shown_to_users,
    only_users_themselves_register_applications,
    what_is_wrong_with_an_application_is_named,
    the_description_has_it,
];

on_both_databases![otherwise_applications_are_not_registered_by_the_api];

const PATH: &str = "/oauth/applications";

fn about(name: &str, redirect_uri: &str) -> Json {
    json!({"application": {"name": name, "redirect_uri": redirect_uri}})
}

async fn made(request: RequestBuilder) -> Json {
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(
        answer.header("cache-control"),
        Some("no-store"),
        "it holds a secret"
    );
    let made = answer.json();
    note_secret(made["client_secret"].as_str().unwrap());
    made
}

/// Asks for a token with the password of a user.
async fn token(application: &Json, user: &Caller) -> RawResponse {
    let text = |name: &str| application[name].as_str().unwrap();
    let form = [
        ("grant_type", "password"),
        ("client_id", text("client_id")),
        ("client_secret", text("client_secret")),
        ("username", &user.email),
        ("password", PASSWORD),
    ];
    let request = user
        .client
        .request(Method::POST, "/oauth/token")
        .anonymous()
        .form(&form);
    request
        .header("Accept", "application/json")
        .send()
        .await
        .unwrap()
}

async fn an_old_client_registers_an_application(server: Server) {
    let Acme { ada, ben } = server.acme();
    let form = [
        ("application[name]", "Hubot"),
        ("application[redirect_uri]", CALLBACK),
    ];
    let requests = [
        ben.by_password()
            .request(Method::POST, PATH)
            .json(&about("Hubot", CALLBACK)),
        ben.client.request(Method::POST, PATH).form(&form),
    ];
    let mut ids = Vec::new();
    for request in requests {
        let application = made(request).await;
        assert_eq!(
            (&application["name"], &application["redirect_uri"]),
            (&json!("Hubot"), &json!(CALLBACK))
        );
        let tokens = token(&application, &ada).await;
        assert_eq!(tokens.status, 200, "{}", tokens.text());
        let tokens = tokens.json();
        note_secret(tokens["access_token"].as_str().unwrap());
        let flows = ada.client.request(Method::GET, "/flows").anonymous();
        let flows = flows.query("access_token", tokens["access_token"].as_str().unwrap());
        assert_eq!(flows.send().await.unwrap().status, 200);
        ids.push(application["client_id"].clone());
    }
    assert_ne!(ids[0], ids[1], "each is an application of its own");
}

async fn an_application_may_have_codes_shown_to_users(server: Server) {
    const SHOWN: &str = "urn:ietf:wg:oauth:2.0:oob";
    let Acme { ada, .. } = server.acme();
    let both = format!("{SHOWN}\n{CALLBACK}");
    for uris in [SHOWN, &both] {
        let application = made(
            ada.client
                .request(Method::POST, PATH)
                .json(&about("Shell", uris)),
        )
        .await;
        assert_eq!(application["redirect_uri"], uris);
        let asked = [
            ("response_type", "code"),
            ("client_id", application["client_id"].as_str().unwrap()),
            ("redirect_uri", SHOWN),
        ];
        let page = asked.iter().fold(
            ada.client
                .request(Method::GET, "/oauth/authorize")
                .anonymous(),
            |request, (name, value)| request.query(name, value),
        );
        let page = page.send().await.unwrap();
        assert!(
            page.header("location")
                .is_some_and(|to| to.contains("sign-in")),
            "{}",
            page.text()
        );
    }
}

async fn only_users_themselves_register_applications(server: Server) {
    let Acme { ada, ben } = server.acme();
    let body = about("Hubot", CALLBACK);
    let status =
        async |request: RequestBuilder| request.json(&body).send().await.unwrap().status.as_u16();
    let robot = server.robot("acme", &[]);
    let all = "flow private manage profile integration";
    let tokens = robot.by_password(&ada, all).await;
    let flow_token = server.admin(&["flow", "token", "--flow", "acme/main"])["flow_token"].clone();
    let flow_token = server
        .client()
        .flow_token(flow_token.as_str().unwrap())
        .build()
        .unwrap();
    server.organization("other");
    let stranger = server.user("other", "gus");
    for (client, expected) in [
        (ada.client.clone(), 201),
        (ben.client.clone(), 201),
        (stranger.client.clone(), 201),
        (robot.with(&tokens["access_token"]), 403),
        (flow_token, 403),
    ] {
        assert_eq!(status(client.request(Method::POST, PATH)).await, expected);
    }
    assert_eq!(
        status(ada.client.request(Method::POST, PATH).anonymous()).await,
        401
    );
    let by_parameter = ada
        .client
        .request(Method::POST, PATH)
        .anonymous()
        .query("access_token", &ada.token);
    assert_eq!(status(by_parameter).await, 201);
    server.admin(&["org", "update", "--org", "acme", "--active", "false"]);
    assert_eq!(
        status(ada.client.request(Method::POST, PATH)).await,
        403,
        "its organization is not active"
    );
}

async fn what_is_wrong_with_an_application_is_named(server: Server) {
    let Acme { ada, .. } = server.acme();
    for (body, field) in [
        (json!({}), "application"),
        (json!({"application": "Hubot"}), "application"),
        (
            json!({"application": {"redirect_uri": CALLBACK}}),
            "application[name]",
        ),
        (
            json!({"application": {"name": "Hubot"}}),
            "application[redirect_uri]",
        ),
        (about("", CALLBACK), "application[name]"),
        (about(&"x".repeat(101), CALLBACK), "application[name]"),
        (about("Hubot", " "), "application[redirect_uri]"),
        (
            about("Hubot", "not an address"),
            "application[redirect_uri]",
        ),
        (
            about("Hubot", "http://example.org/"),
            "application[redirect_uri]",
        ),
        (
            json!({"application": {"name": "Hubot", "redirect_uri": [CALLBACK]}}),
            "application[redirect_uri]",
        ),
    ] {
        let answer = ada.send(Method::POST, PATH, &body).await;
        assert_eq!(answer.status, 400, "{body}");
        let told = answer.json();
        let names: Vec<_> = told["errors"].as_object().unwrap().keys().collect();
        assert_eq!(names, [field], "{body}: {told}");
    }
}

async fn the_description_has_it(server: Server) {
    let document: Json = server
        .client()
        .build()
        .unwrap()
        .request(Method::GET, "/openapi.json")
        .call()
        .await
        .unwrap();
    let operation = &document["paths"][PATH]["post"];
    assert!(operation["responses"]["201"].is_object(), "{operation}");
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    let schema = document
        .pointer(schema.as_str().unwrap().trim_start_matches('#'))
        .unwrap();
    assert_eq!(schema["properties"]["application"]["type"], "object");
}

async fn otherwise_applications_are_not_registered_by_the_api(server: Server) {
    let Acme { ada, .. } = server.acme();
    assert_eq!(
        ada.send(Method::POST, PATH, &about("Hubot", CALLBACK))
            .await
            .status,
        404
    );
    let document = ada.get("/openapi.json").await;
    assert!(document["paths"][PATH].is_null());
}
