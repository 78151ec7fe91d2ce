//! Codes: what they are bound to, and that each is used once.

use eddyline_tests::{
    CALLBACK, PASSWORD, Server, Tenant, Visitor, on_both_databases, on_shared_servers,
};

on_shared_servers![
    a_code_is_exchanged_for_what_was_consented_to,
    a_code_is_used_once_and_then_ends_what_it_gave,
    a_code_is_good_for_its_own_client_only,
    a_code_is_presented_with_the_place_it_was_sent_to,
    a_code_with_a_challenge_needs_its_verifier,
    a_verifier_without_a_challenge_is_refused,
    an_application_without_a_secret_gets_its_tokens_with_pkce,
    a_code_is_exchanged_at_the_place_that_was_not_named,
];
on_both_databases![
    &["--authorization-code-ttl", "1s", "--oauth-attempts-per-address", "0"];
    a_code_ends
];

/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const CHALLENGED: [(&str, &str); 2] = [
    ("code_challenge", CHALLENGE),
    ("code_challenge_method", "S256"),
];

async fn ben(tenant: &Tenant) -> Visitor {
    tenant.server().signed_in(&tenant.ben.email, PASSWORD).await
}

fn exchange<'a>(code: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [
        &[("grant_type", "authorization_code"), ("code", code)],
        more,
    ]
    .concat()
}

/// Shows: 5.5
async fn a_code_is_exchanged_for_what_was_consented_to(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let asked = [
        ("scope", "profile offline_access"),
        ("redirect_uri", CALLBACK),
        ("state", "a b&c"),
    ];
    let back = robot.consent(&mut ben, &asked).await;
    assert!(back.starts_with(&format!("{CALLBACK}?code=")), "{back}");
    assert!(
        back.contains("&state=a%20b%26c&iss=http%3A%2F%2F127.0.0.1%3A"),
        "{back}"
    );
    let code = back.split(['=', '&']).nth(1).unwrap();
    let tokens = robot
        .tokens(&exchange(code, &[("redirect_uri", CALLBACK)]))
        .await;
    assert_eq!(tokens["scope"], "profile,offline_access");
    let about = robot.introspect(&tokens["access_token"]).await;
    assert_eq!(about["sub"], tenant.ben.id.to_string());
    robot.refresh(&tokens["refresh_token"]).await;
}

async fn a_code_is_used_once_and_then_ends_what_it_gave(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let asked = [("scope", "flow offline_access")];
    let (code, other) = (
        robot.code(&mut ben, &asked).await,
        robot.code(&mut ben, &asked).await,
    );
    let first = robot.tokens(&exchange(&code, &[])).await;
    let next = robot.refresh(&first["refresh_token"]).await;
    let untouched = robot.tokens(&exchange(&other, &[])).await;
    for _ in 0..2 {
        robot.refused(&exchange(&code, &[]), "invalid_grant").await;
        for tokens in [&first, &next] {
            assert_eq!(robot.status(&tokens["access_token"]).await, 401);
            let token = tokens["refresh_token"].as_str().unwrap();
            let replay = [("grant_type", "refresh_token"), ("refresh_token", token)];
            robot.refused(&replay, "invalid_grant").await;
        }
    }
    assert_eq!(robot.status(&untouched["access_token"]).await, 200);
}

async fn a_code_is_good_for_its_own_client_only(tenant: Tenant) {
    let (server, name) = (tenant.server(), &tenant.name);
    let (robot, thief) = (server.robot(name, &[]), server.robot(name, &[]));
    let code = robot.code(&mut ben(&tenant).await, &[]).await;
    thief.refused(&exchange(&code, &[]), "invalid_grant").await;
    let tokens = robot.tokens(&exchange(&code, &[])).await;
    thief.refused(&exchange(&code, &[]), "invalid_grant").await;
    assert_eq!(
        robot.status(&tokens["access_token"]).await,
        200,
        "a thief ends nothing"
    );
}

/// Shows: 5.7
async fn a_code_is_presented_with_the_place_it_was_sent_to(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let code = robot
        .code(&mut ben(&tenant).await, &[("redirect_uri", CALLBACK)])
        .await;
    robot.refused(&exchange(&code, &[]), "invalid_grant").await;
    for other in ["http://127.0.0.1:9/back/", "https://evil.example/"] {
        robot
            .refused(
                &exchange(&code, &[("redirect_uri", other)]),
                "invalid_grant",
            )
            .await;
    }
    robot
        .tokens(&exchange(&code, &[("redirect_uri", CALLBACK)]))
        .await;
}

async fn a_code_is_exchanged_at_the_place_that_was_not_named(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let code = robot.code(&mut ben, &[]).await;
    robot
        .refused(
            &exchange(&code, &[("redirect_uri", "https://evil.example/")]),
            "invalid_grant",
        )
        .await;
    robot
        .tokens(&exchange(&code, &[("redirect_uri", CALLBACK)]))
        .await;
    let code = robot.code(&mut ben, &[]).await;
    robot.tokens(&exchange(&code, &[])).await;
}

async fn a_code_with_a_challenge_needs_its_verifier(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let code = robot.code(&mut ben(&tenant).await, &CHALLENGED).await;
    for wrong in [
        &[][..],
        &[("code_verifier", CHALLENGE)],
        &[("code_verifier", "short")],
    ] {
        robot
            .refused(&exchange(&code, wrong), "invalid_grant")
            .await;
    }
    robot
        .tokens(&exchange(&code, &[("code_verifier", VERIFIER)]))
        .await;
}

async fn a_verifier_without_a_challenge_is_refused(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let code = robot.code(&mut ben(&tenant).await, &[]).await;
    robot
        .refused(
            &exchange(&code, &[("code_verifier", VERIFIER)]),
            "invalid_grant",
        )
        .await;
    robot.tokens(&exchange(&code, &[])).await;
}

async fn an_application_without_a_secret_gets_its_tokens_with_pkce(tenant: Tenant) {
    let app = tenant.server().robot(&tenant.name, &["--public"]);
    let mut ben = ben(&tenant).await;
    let asked = [
        ("scope", "flow offline_access"),
        CHALLENGED[0],
        CHALLENGED[1],
    ];
    let code = app.code(&mut ben, &asked).await;
    let tokens = app
        .tokens(&exchange(&code, &[("code_verifier", VERIFIER)]))
        .await;
    let next = app.refresh(&tokens["refresh_token"]).await;
    app.revoke(&next["refresh_token"]).await;
    assert_eq!(app.status(&next["access_token"]).await, 401);
    let back = app.consent(&mut ben, &[]).await;
    assert!(
        back.starts_with(&format!("{CALLBACK}?error=invalid_request&")),
        "{back}"
    );
}

async fn a_code_ends(server: Server) {
    server.organization("acme");
    let ben = server.user("acme", "ben");
    let robot = server.robot("acme", &[]);
    let mut visitor = server.signed_in(&ben.email, PASSWORD).await;
    let code = robot.code(&mut visitor, &[]).await;
    // It cannot be asked whether a code has ended without using it; but while it lives, a
    // wrong place is what is wrong.
    let wrong = exchange(&code, &[("redirect_uri", "https://evil.example/")]);
    loop {
        let answer = robot.ask("/oauth/token", &wrong).await.json();
        assert_eq!(answer["error"], "invalid_grant");
        if answer["error_description"] == "the code has ended" {
            break;
        }
    }
    robot.refused(&exchange(&code, &[]), "invalid_grant").await;
}
