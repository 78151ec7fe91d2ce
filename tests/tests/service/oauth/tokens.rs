//! The token endpoint and its neighbours: who may ask, and in which forms.

use eddyline_client::Method;
use eddyline_tests::{
    Listener, PASSWORD, Server, Tenant, basic, on_both_databases, on_shared_servers,
};
use serde_json::{Value, json};

use super::refresh::{OFFLINE, replay};

on_shared_servers![
    a_password_gets_an_access_token,
    an_answer_is_a_form_unless_json_is_asked_for,
    a_request_is_a_form_or_json,
    a_client_shows_itself_in_the_body_or_by_basic,
    a_client_that_is_not_who_it_says_is_refused,
    what_is_wrong_is_told_as_the_rfc_says,
    secrets_in_the_address_do_not_count,
    revoking_an_access_token_ends_that_one,
    revoking_a_refresh_token_ends_its_family,
    only_its_own_client_revokes_a_token,
    introspection_tells_what_a_token_is_worth,
    introspection_is_for_clients_with_a_secret_about_their_own_tokens,
    an_application_without_the_switch_gets_nothing_for_a_password,
    a_changed_password_gets_nothing,
    an_access_token_stands_in_the_header_or_among_the_parameters,
    an_access_token_opens_streams_which_end_with_it,
    the_metadata_name_what_is_there,
];
on_both_databases![
    &["--password-grant", "off", "--query-access-tokens", "off"];
    what_is_switched_off_is_gone
];
on_both_databases![
    &["--access-token-ttl", "1s", "--refresh-token-ttl", "2s"];
    tokens_live_as_long_as_they_are_told
];

/// Shows: 5.9
async fn a_password_gets_an_access_token(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "").await;
    assert_eq!(tokens["token_type"], "Bearer");
    assert_eq!(tokens["expires_in"], 7200);
    assert_eq!(tokens["scope"], "flow,private", "what nobody named");
    assert_eq!(tokens.get("refresh_token"), None);
    let me = robot
        .with(&tokens["access_token"])
        .request(Method::GET, "/user")
        .send()
        .await
        .unwrap();
    assert_eq!(
        (me.status.as_u16(), &me.json()["id"]),
        (200, &json!(tenant.ben.id))
    );

    let wrong = [
        ("grant_type", "password"),
        ("username", &*tenant.ben.email),
        ("password", "wrong"),
    ];
    robot.refused(&wrong, "invalid_grant").await;
    let nobody = [
        ("grant_type", "password"),
        ("username", "nobody@example.org"),
        ("password", "wrong"),
    ];
    robot.refused(&nobody, "invalid_grant").await;
}

fn password_form(tenant: &Tenant) -> Vec<(&str, &str)> {
    vec![
        ("grant_type", "password"),
        ("username", &tenant.ben.email),
        ("password", PASSWORD),
    ]
}

/// Shows: 5.6
async fn an_answer_is_a_form_unless_json_is_asked_for(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let secret = robot.client_secret.as_deref().unwrap();
    let mut fields = password_form(&tenant);
    fields.extend([
        ("client_id", robot.client_id.as_str()),
        ("client_secret", secret),
        ("scope", OFFLINE),
    ]);
    let client = tenant.server().client().build().unwrap();
    for (accept, is_json) in [
        (None, false),
        (Some("*/*"), false),
        (Some("text/html"), false),
        (Some("application/x-www-form-urlencoded"), false),
        (Some("application/json"), true),
        (Some("text/html, Application/JSON;q=0.5"), true),
    ] {
        let mut request = client.request(Method::POST, "/oauth/token").form(&fields);
        request = request.header("Accept", accept.unwrap_or(""));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("pragma"), Some("no-cache"));
        if is_json {
            assert_eq!(answer.json()["scope"], "flow,private,offline_access");
            continue;
        }
        let kind = answer.header("content-type").unwrap();
        assert!(
            kind.starts_with("application/x-www-form-urlencoded"),
            "{accept:?}: {kind}"
        );
        let text = answer.text();
        let names: Vec<_> = text
            .split('&')
            .filter_map(|pair| pair.split('=').next())
            .collect();
        assert_eq!(
            names,
            [
                "access_token",
                "token_type",
                "expires_in",
                "scope",
                "refresh_token"
            ]
        );
        assert!(
            text.contains(
                "&token_type=Bearer&expires_in=7200&scope=flow%2Cprivate%2Coffline_access&"
            )
        );
    }
    // What is wrong is JSON all the same.
    let refused = client
        .request(Method::POST, "/oauth/token")
        .form(&[("grant_type", "password")]);
    let refused = refused.header("Accept", "text/html").send().await.unwrap();
    assert_eq!(
        (refused.status.as_u16(), &refused.json()["error"]),
        (401, &json!("invalid_client"))
    );
    assert_eq!(refused.header("cache-control"), Some("no-store"));
}

/// Shows: 5.6
async fn a_request_is_a_form_or_json(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let client = tenant.server().client().build().unwrap();
    let whole = json!({
        "grant_type": "password", "client_id": robot.client_id, "client_secret": robot.client_secret,
        "username": tenant.ben.email, "password": PASSWORD, "scope": "profile", "unknown": 1,
    });
    let request = client.request(Method::POST, "/oauth/token").json(&whole);
    let answer = request
        .header("Accept", "application/json")
        .send()
        .await
        .unwrap();
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["scope"]),
        (200, &json!("profile"))
    );
    for (kind, body) in [
        ("application/json", "{"),
        ("application/json", "[]"),
        ("application/json", r#"{"grant_type": ["password"]}"#),
        ("application/x-www-form-urlencoded", "grant_type=%ff"),
        (
            "application/x-www-form-urlencoded",
            "client_id=a&client_id=b",
        ),
        ("text/plain", "grant_type=password"),
    ] {
        let request = client
            .request(Method::POST, "/oauth/token")
            .raw(kind, body.to_owned());
        let answer = request.send().await.unwrap();
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["error"]),
            (400, &json!("invalid_request")),
            "{body}"
        );
    }
}

async fn a_client_shows_itself_in_the_body_or_by_basic(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let client = tenant.server().client().build().unwrap();
    let header = format!(
        "Basic {}",
        basic(&robot.client_id, robot.client_secret.as_deref().unwrap())
    );
    let by_basic = |fields: Vec<(&str, &str)>| {
        let request = client.request(Method::POST, "/oauth/token").form(&fields);
        request
            .header("Authorization", &header)
            .header("Accept", "application/json")
            .send()
    };
    assert_eq!(by_basic(password_form(&tenant)).await.unwrap().status, 200);
    for twice in [("client_secret", "x"), ("client_id", "another")] {
        let mut fields = password_form(&tenant);
        fields.push(twice);
        let answer = by_basic(fields).await.unwrap();
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["error"]),
            (400, &json!("invalid_request")),
            "{twice:?}"
        );
    }
}

async fn a_client_that_is_not_who_it_says_is_refused(tenant: Tenant) {
    let (server, name) = (tenant.server(), &tenant.name);
    let (robot, public) = (server.robot(name, &[]), server.robot(name, &["--public"]));
    assert_eq!(public.client_secret, None);
    for (who, why) in [
        (vec![], "nobody"),
        (vec![("client_id", "unknown")], "unknown"),
        (
            vec![("client_id", robot.client_id.as_str())],
            "without its secret",
        ),
        (
            vec![
                ("client_id", robot.client_id.as_str()),
                ("client_secret", "wrong"),
            ],
            "wrong secret",
        ),
        (
            vec![
                ("client_id", public.client_id.as_str()),
                ("client_secret", "some"),
            ],
            "it has none",
        ),
    ] {
        for path in ["/oauth/token", "/oauth/revoke", "/oauth/introspect"] {
            let fields = [&who[..], &password_form(&tenant), &[("token", "x")]].concat();
            let answer = robot.ask_as_anybody(path, &fields).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.json()["error"]),
                (401, &json!("invalid_client")),
                "{why}"
            );
            assert_eq!(
                answer.header("www-authenticate"),
                Some("Basic realm=\"Eddyline\"")
            );
        }
    }
}

/// Shows: 5.7
async fn what_is_wrong_is_told_as_the_rfc_says(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    robot.refused(&[], "invalid_request").await;
    robot
        .refused(&[("grant_type", "implicit")], "unsupported_grant_type")
        .await;
    robot
        .refused(&[("grant_type", "authorization_code")], "invalid_request")
        .await;
    robot
        .refused(
            &[("grant_type", "authorization_code"), ("code", "x")],
            "invalid_grant",
        )
        .await;
    robot
        .refused(
            &[("grant_type", "password"), ("username", "x")],
            "invalid_request",
        )
        .await;
    robot
        .refused(&[("grant_type", "refresh_token")], "invalid_request")
        .await;
    robot
        .refused(
            &[("grant_type", "refresh_token"), ("refresh_token", "x")],
            "invalid_grant",
        )
        .await;
    let scope = [&password_form(&tenant)[..], &[("scope", "everything")]].concat();
    robot.refused(&scope, "invalid_scope").await;
    let answer = robot.ask("/oauth/token", &[]).await;
    assert_eq!(answer.json()["error_description"], "grant_type is missing");
}

async fn secrets_in_the_address_do_not_count(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let path = format!(
        "/oauth/token?client_id={}&client_secret={}",
        robot.client_id,
        robot.client_secret.as_deref().unwrap()
    );
    let answer = robot.ask_as_anybody(&path, &password_form(&tenant)).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["error"]),
        (401, &json!("invalid_client"))
    );
}

async fn revoking_an_access_token_ends_that_one(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let first = robot.by_password(&tenant.ben, OFFLINE).await;
    let second = robot.refresh(&first["refresh_token"]).await;
    assert_eq!(robot.status(&first["access_token"]).await, 200);
    robot.revoke(&first["access_token"]).await;
    assert_eq!(robot.status(&first["access_token"]).await, 401);
    assert_eq!(robot.status(&second["access_token"]).await, 200);
    robot.refresh(&second["refresh_token"]).await;
    // Twice, and what never was, is no mistake (RFC 7009, section 2.2).
    robot.revoke(&first["access_token"]).await;
    robot.revoke(&json!("never was")).await;
}

async fn revoking_a_refresh_token_ends_its_family(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    for replaced in [false, true] {
        let first = robot.by_password(&tenant.ben, OFFLINE).await;
        let second = robot.refresh(&first["refresh_token"]).await;
        let end = if replaced { &first } else { &second };
        robot.revoke(&end["refresh_token"]).await;
        for tokens in [&first, &second] {
            assert_eq!(robot.status(&tokens["access_token"]).await, 401);
            robot
                .refused(&replay(&tokens["refresh_token"]), "invalid_grant")
                .await;
        }
    }
}

async fn only_its_own_client_revokes_a_token(tenant: Tenant) {
    let (server, name) = (tenant.server(), &tenant.name);
    let (robot, other) = (server.robot(name, &[]), server.robot(name, &["--public"]));
    let tokens = robot.by_password(&tenant.ben, OFFLINE).await;
    for token in [&tokens["access_token"], &tokens["refresh_token"]] {
        let answer = other
            .ask("/oauth/revoke", &[("token", token.as_str().unwrap())])
            .await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["error"]),
            (400, &json!("unauthorized_client"))
        );
    }
    assert_eq!(robot.status(&tokens["access_token"]).await, 200);
    robot.refresh(&tokens["refresh_token"]).await;
    let missing = robot.ask("/oauth/revoke", &[]).await;
    assert_eq!(
        (missing.status.as_u16(), &missing.json()["error"]),
        (400, &json!("invalid_request"))
    );
}

async fn introspection_tells_what_a_token_is_worth(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, OFFLINE).await;
    let access = robot.introspect(&tokens["access_token"]).await;
    assert_eq!(access["active"], true);
    assert_eq!(
        access["scope"], "flow private offline_access",
        "between spaces, as RFC 7662 has it"
    );
    assert_eq!(access["client_id"], robot.client_id);
    assert_eq!(access["username"], tenant.ben.email);
    assert_eq!(access["sub"], tenant.ben.id.to_string());
    assert_eq!(access["token_type"], "Bearer");
    assert_eq!(access["iss"], tenant.server().base_url());
    assert_eq!(
        access["exp"].as_i64().unwrap() - access["iat"].as_i64().unwrap(),
        7200
    );

    let refresh = robot.introspect(&tokens["refresh_token"]).await;
    assert_eq!(
        (&refresh["active"], refresh.get("token_type")),
        (&json!(true), None)
    );
    robot.refresh(&tokens["refresh_token"]).await;
    assert_eq!(
        robot.introspect(&tokens["refresh_token"]).await,
        json!({"active": false})
    );
    robot.revoke(&tokens["access_token"]).await;
    assert_eq!(
        robot.introspect(&tokens["access_token"]).await,
        json!({"active": false})
    );
    assert_eq!(
        robot.introspect(&json!("never was")).await,
        json!({"active": false})
    );
    // Other tokens than those of OAuth are nobody's here.
    assert_eq!(
        robot.introspect(&json!(tenant.ben.token)).await,
        json!({"active": false})
    );
}

async fn introspection_is_for_clients_with_a_secret_about_their_own_tokens(tenant: Tenant) {
    let (server, name) = (tenant.server(), &tenant.name);
    let (robot, other) = (server.robot(name, &[]), server.robot(name, &[]));
    let tokens = robot.by_password(&tenant.ben, OFFLINE).await;
    assert_eq!(
        other.introspect(&tokens["access_token"]).await,
        json!({"active": false})
    );
    let public = server.robot(name, &["--public"]);
    let answer = public.ask("/oauth/introspect", &[("token", "x")]).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["error"]),
        (401, &json!("invalid_client"))
    );
}

async fn an_application_without_the_switch_gets_nothing_for_a_password(tenant: Tenant) {
    for option in ["--no-password-grant", "--public"] {
        let robot = tenant.server().robot(&tenant.name, &[option]);
        robot
            .refused(&password_form(&tenant), "unauthorized_client")
            .await;
    }
}

async fn a_changed_password_gets_nothing(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let before = robot.by_password(&tenant.ben, "flow").await;
    let (email, new) = (tenant.ben.email.as_str(), "another battery of horses");
    tenant
        .server()
        .admin(&["user", "set-password", "--email", email, "--password", new]);
    robot
        .refused(&password_form(&tenant), "invalid_grant")
        .await;
    assert_eq!(
        robot.status(&before["access_token"]).await,
        200,
        "what was granted is no password"
    );
}

/// Shows: 5.1
async fn an_access_token_stands_in_the_header_or_among_the_parameters(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "").await;
    let token = tokens["access_token"].as_str().unwrap();
    let client = tenant.server().client().build().unwrap();
    let path = tenant.path("/messages");
    let chat = json!({"event": "message", "content": "hello"});
    let with_body = json!({"event": "message", "content": "hello", "access_token": token});
    for request in [
        client
            .request(Method::POST, &path)
            .header("Authorization", format!("Bearer {token}"))
            .json(&chat),
        client
            .request(Method::POST, &path)
            .header("Authorization", format!("bearer {token}"))
            .json(&chat),
        client
            .request(Method::POST, &path)
            .query("access_token", token)
            .json(&chat),
        client.request(Method::POST, &path).json(&with_body),
    ] {
        let answer = request.send().await.unwrap();
        assert_eq!(
            (answer.status.as_u16(), answer.header("service-user")),
            (202, Some(&*tenant.ben.id.to_string()))
        );
    }
    let wrong = client
        .request(Method::GET, "/user")
        .query("access_token", "x")
        .send()
        .await
        .unwrap();
    let challenge = "Bearer realm=\"Eddyline\", error=\"invalid_token\"";
    assert_eq!(
        (wrong.status.as_u16(), wrong.header("www-authenticate")),
        (401, Some(challenge))
    );
}

/// Shows: 5.1
async fn an_access_token_opens_streams_which_end_with_it(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let (kept, ended) = (
        robot.by_password(&tenant.ben, "flow").await,
        robot.by_password(&tenant.ben, OFFLINE).await,
    );
    let (lives, dies) = (
        robot.with(&kept["access_token"]),
        robot.with(&ended["access_token"]),
    );
    let mut lives = Listener::to(&lives, &[&tenant.main]).await;
    let dies = [
        Listener::to(&dies, &[&tenant.main]).await,
        Listener::to(&dies, &[&tenant.main]).await,
    ];
    robot.revoke(&ended["refresh_token"]).await;
    for stream in dies {
        assert_eq!(stream.rest().await, Vec::<Value>::new());
    }
    tenant.ben.say(&tenant.main, "still there").await;
    assert_eq!(lives.event("message").await["content"], "still there");
}

async fn the_metadata_name_what_is_there(tenant: Tenant) {
    let client = tenant.server().client().build().unwrap();
    let path = "/.well-known/oauth-authorization-server";
    let about = client
        .request(Method::GET, path)
        .send()
        .await
        .unwrap()
        .json();
    let base = tenant.server().base_url();
    assert_eq!(about["issuer"], base);
    for (name, path) in [
        ("authorization_endpoint", "/oauth/authorize"),
        ("token_endpoint", "/oauth/token"),
        ("revocation_endpoint", "/oauth/revoke"),
        ("introspection_endpoint", "/oauth/introspect"),
    ] {
        assert_eq!(about[name], format!("{base}{path}"));
    }
    assert_eq!(about["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(
        about["authorization_response_iss_parameter_supported"],
        true
    );
    let scopes = json!([
        "flow",
        "private",
        "manage",
        "profile",
        "offline_access",
        "integration"
    ]);
    assert_eq!(about["scopes_supported"], scopes);
    let grants = json!(["authorization_code", "refresh_token", "password"]);
    assert_eq!(about["grant_types_supported"], grants);
}

async fn what_is_switched_off_is_gone(server: Server) {
    server.organization("acme");
    let ben = server.user("acme", "ben");
    let robot = server.robot("acme", &[]);
    let fields = [
        ("grant_type", "password"),
        ("username", &*ben.email),
        ("password", PASSWORD),
    ];
    robot.refused(&fields, "unauthorized_client").await;
    let client = server.client().build().unwrap();
    let path = "/.well-known/oauth-authorization-server";
    let about = client
        .request(Method::GET, path)
        .send()
        .await
        .unwrap()
        .json();
    assert_eq!(
        about["grant_types_supported"],
        json!(["authorization_code", "refresh_token"])
    );
    let answer = client
        .request(Method::GET, "/user")
        .query("access_token", "x")
        .send()
        .await
        .unwrap();
    assert_eq!(
        answer.header("www-authenticate"),
        Some("Basic realm=\"Eddyline\""),
        "as if it were not there"
    );
}

/// Shows: 3.15, 5.10
async fn tokens_live_as_long_as_they_are_told(server: Server) {
    server.organization("acme");
    let ben = server.user("acme", "ben");
    let robot = server.robot("acme", &[]);
    let tokens = robot.by_password(&ben, OFFLINE).await;
    assert_eq!(tokens["expires_in"], 1);
    while robot.status(&tokens["access_token"]).await != 401 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        robot.introspect(&tokens["access_token"]).await,
        json!({"active": false})
    );
    let next = robot.refresh(&tokens["refresh_token"]).await;
    while robot.introspect(&next["refresh_token"]).await["active"] == true {
        tokio::task::yield_now().await;
    }
    robot
        .refused(&replay(&next["refresh_token"]), "invalid_grant")
        .await;
}
