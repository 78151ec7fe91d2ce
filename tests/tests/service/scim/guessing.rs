//! Tokens of providers, and guessing them.

use eddyline_client::{Credentials, Method, RawResponse};
use eddyline_tests::{SCIM_JSON, Server, Tenant, on_both_databases, on_shared_servers};

use super::is_refused;

on_shared_servers![only_the_providers_token_lets_in];
on_both_databases![&["--trusted-proxy", "127.0.0.0/8"];
    wrong_tokens_slow_down_nobody_but_whoever_shows_them
];

async fn ask(client: &eddyline_client::Client, uid: &str, headers: &[(&str, &str)]) -> RawResponse {
    let mut request = client
        .request(Method::GET, &format!("/scim/{uid}/Users"))
        .anonymous();
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.send().await.unwrap()
}

/// Shows: 5.12, 7.7, 7.8
async fn only_the_providers_token_lets_in(tenant: Tenant) {
    let server = tenant.server();
    let (provider, other) = (
        server.provider(&tenant.name),
        server.provider(&tenant.neighbour().name),
    );
    let client = &tenant.ada.client;
    let none = ask(client, &provider.uid, &[]).await;
    assert_eq!(none.status, 401);
    assert!(
        none.header("www-authenticate")
            .unwrap()
            .starts_with("Bearer")
    );
    is_refused(
        &ask(client, &provider.uid, &[("Accept", SCIM_JSON)]).await,
        401,
        None,
    );
    let api_token = server.admin(&["user", "token", "--email", &tenant.ada.email]);
    let bearer = |token: &str| format!("Bearer {token}");
    for header in [
        bearer("wrong"),
        bearer(&other.token),
        bearer(api_token["api_token"].as_str().unwrap()),
        bearer(""),
        "Bearer".to_owned(),
        provider.token.clone(),
        format!("Basic {}", provider.token),
    ] {
        let answer = ask(client, &provider.uid, &[("Authorization", &header)]).await;
        assert_eq!(answer.status, 403, "{}", answer.text());
    }
    let unknown = ask(
        client,
        "0123456789abcdef0123",
        &[("Authorization", &bearer(&provider.token))],
    )
    .await;
    assert_eq!(unknown.status, 403);
    let malformed = [("Authorization", "Bearer x"), ("Accept", SCIM_JSON)];
    is_refused(&ask(client, &provider.uid, &malformed).await, 403, None);
    let lower = format!("bearer {}", provider.token);
    assert_eq!(
        ask(client, &provider.uid, &[("Authorization", &lower)])
            .await
            .status,
        200
    );
    // The provider is no user.
    let as_user = tenant.client(Credentials::Bearer(provider.token.clone()));
    assert_eq!(
        as_user
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        401
    );
}

/// Shows: 5.12, 7.11, 8.5
async fn wrong_tokens_slow_down_nobody_but_whoever_shows_them(server: Server) {
    let acme = server.acme();
    let provider = server.provider("acme");
    server.organization("other");
    let other = server.provider("other");
    let client = &acme.ada.client;
    let wrong = async |uid: &str, address: &str| {
        let headers = [
            ("Authorization", "Bearer wrong"),
            ("X-Forwarded-For", address),
            ("Accept", SCIM_JSON),
        ];
        ask(client, uid, &headers).await
    };
    for _ in 0..10 {
        assert_eq!(wrong(&provider.uid, "192.0.2.1").await.status, 403);
    }
    let limited = wrong(&provider.uid, "192.0.2.1").await;
    is_refused(&limited, 429, None);
    let seconds: u64 = limited.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds));
    assert_eq!(
        wrong(&provider.uid, "192.0.2.2").await.status,
        403,
        "another address"
    );
    assert_eq!(
        wrong(&other.uid, "192.0.2.1").await.status,
        403,
        "another provider"
    );
    let right = format!("Bearer {}", provider.token);
    for address in ["192.0.2.1", "192.0.2.3"] {
        let headers = [
            ("Authorization", right.as_str()),
            ("X-Forwarded-For", address),
        ];
        assert_eq!(
            ask(client, &provider.uid, &headers).await.status,
            200,
            "the right token always lets in"
        );
    }
    assert_eq!(wrong(&provider.uid, "192.0.2.1").await.status, 429);
}
