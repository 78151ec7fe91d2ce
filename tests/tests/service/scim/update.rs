//! Changing users by PUT.

use eddyline_client::{Json, Method};
use eddyline_tests::{PASSWORD, Provider, Tenant, on_shared_servers};
use serde_json::json;

use super::{at, is_refused};

on_shared_servers![
    what_is_not_said_stays,
    a_change_is_everybodys_at_once,
    what_others_have_is_refused,
    an_address_of_the_provider_counts_at_once,
    nobody_comes_by_anothers_invitation_through_a_provider,
    what_was_read_in_plain_json_may_be_sent_back,
    a_linked_user_is_the_providers,
];

async fn put(provider: &Provider, user: &Json, body: &Json) -> Json {
    let answer = provider.scim(Method::PUT, &at(user), Some(body)).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.text());
    answer.json()
}

/// Shows: 4.50
async fn what_is_not_said_stays(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let user = provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    assert_eq!(put(&provider, &user, &json!({})).await, user);
    let named = put(
        &provider,
        &user,
        &json!({"NAME": {"GivenName": "Zoë", "familyname": "Queen"}}),
    )
    .await;
    assert_eq!(named["displayName"], "Zoë Queen");
    assert_eq!(
        (&named["nickName"], &named["emails"]),
        (&user["nickName"], &user["emails"])
    );
    let off = put(&provider, &user, &json!({"active": false})).await;
    assert_eq!(off["active"], false);
    assert_eq!(
        put(&provider, &user, &json!({"nickName": "zq"})).await["active"],
        false,
        "not said"
    );
    let on = put(
        &provider,
        &user,
        &json!({"active": true, "externalId": "x1", "unknown": {"a": 1}}),
    )
    .await;
    assert_eq!(
        (&on["active"], &on["externalId"]),
        (&json!(true), &json!("x1"))
    );
}

async fn a_change_is_everybodys_at_once(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    let linked = server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    assert_eq!(linked["id"], tenant.ben.id);
    // Remembered by the server.
    tenant.ben.get("/user").await;
    let ben = json!({"id": tenant.ben.id});
    let email = format!("benjamin@{}.example", tenant.name);
    let change = json!({"name": {"givenName": "Benjamin", "familyName": "B"}, "emails": [{"value": email}], "nickName": "benny"});
    put(&provider, &ben, &change).await;
    let seen = tenant.ben.get("/user").await;
    assert_eq!(
        (&seen["name"], &seen["email"], &seen["nick"]),
        (&json!("Benjamin B"), &json!(email), &json!("benny"))
    );
}

/// Shows: 7.6
async fn what_others_have_is_refused(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let first = provider
        .makes(&format!("a@{}.example", tenant.name), ("Anna", "A"))
        .await;
    let second = provider
        .makes(&format!("b@{}.example", tenant.name), ("Bert", "B"))
        .await;
    for body in [
        json!({"userName": first["userName"]}),
        json!({"userName": tenant.ben.email}),
        json!({"emails": [{"value": tenant.ben.email}]}),
        json!({"nickName": "ANNA"}),
    ] {
        let answer = provider.scim(Method::PUT, &at(&second), Some(&body)).await;
        is_refused(&answer, 409, Some("uniqueness"));
    }
    for body in [
        json!({"userName": " "}),
        json!({"emails": [{"value": "x"}]}),
        json!({"nickName": "a b"}),
        json!({"name": {"formatted": "\u{0}"}}),
        json!({"externalId": "x".repeat(256)}),
    ] {
        let answer = provider.scim(Method::PUT, &at(&second), Some(&body)).await;
        is_refused(&answer, 400, Some("invalidValue"));
    }
    assert_eq!(provider.get(&at(&second)).await, second);
}

async fn an_address_of_the_provider_counts_at_once(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    let ben = json!({"id": tenant.ben.id});
    // In whatever way ben himself has changed it before.
    let own = format!("own@{}.example", tenant.name);
    tenant
        .ben
        .does(
            Method::PUT,
            "/user",
            &json!({"email": own, "current_password": PASSWORD}),
        )
        .await;
    let email = format!("given@{}.example", tenant.name);
    put(&provider, &ben, &json!({"emails": [{"value": email}]})).await;
    assert_eq!(tenant.ben.get("/user").await["email"], email);
    // For a week ben may take back the address that he had proved.
    let body = json!({"userName": "other.ben", "emails": [{"value": tenant.ben.email}]});
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&body)).await,
        409,
        Some("uniqueness"),
    );
}

async fn nobody_comes_by_anothers_invitation_through_a_provider(tenant: Tenant) {
    let (server, elsewhere) = (tenant.server(), tenant.neighbour());
    let provider = server.provider(&tenant.name);
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    let victim = format!("victim@{}.example", elsewhere.name);
    let invited = elsewhere
        .ada
        .send(
            Method::POST,
            &elsewhere.path("/invitations"),
            &json!({"email": victim}),
        )
        .await;
    let invitation = elsewhere.path(&format!("/invitations/{}", invited.json()["id"]));
    put(
        &provider,
        &json!({"id": tenant.ben.id}),
        &json!({"emails": [{"value": victim}]}),
    )
    .await;
    assert_eq!(tenant.ben.get("/user").await["email"], victim);
    let accepted = tenant
        .ben
        .send(Method::PUT, &invitation, &json!({"state": "accepted"}))
        .await;
    assert!(
        matches!(accepted.status.as_u16(), 403 | 404),
        "{}",
        accepted.text()
    );
    // The address is not held against whom it belongs to: the provider with the domain makes them.
    let domain = format!("{}.example", elsewhere.name);
    server.admin(&[
        "org",
        "domain",
        "add",
        "--org",
        &elsewhere.name,
        "--domain",
        &domain,
    ]);
    server
        .provider(&elsewhere.name)
        .makes(&victim, ("The", "Victim"))
        .await;
    assert_ne!(tenant.ben.get("/user").await["email"], victim);
}

async fn what_was_read_in_plain_json_may_be_sent_back(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let body = json!({"userName": email, "externalId": "00u1"});
    let made = provider
        .scim(Method::POST, "/Users", Some(&body))
        .await
        .json();
    let plain = provider.plain(Method::GET, &at(&made), None).await.json();
    let sent_back = provider.plain(Method::PUT, &at(&made), Some(&plain)).await;
    assert_eq!((sent_back.status.as_u16(), sent_back.json()), (200, plain));
    assert_eq!(provider.get(&at(&made)).await, made, "nothing is different");
}

/// Shows: 4.51
async fn a_linked_user_is_the_providers(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    let link = |organization: &str, email: &str| {
        server.try_admin(&["scim", "link", "--org", organization, "--email", email])
    };
    assert!(link(&tenant.name, "nobody@x.example").is_err());
    assert!(link("no-such-organization", &tenant.ben.email).is_err());
    let other = tenant.neighbour();
    assert!(
        link(&other.name, &other.ben.email).is_err(),
        "it has no provider yet"
    );
    link(&tenant.name, &tenant.ben.email).unwrap();
    let squatter = tenant.user("squatter");
    let entered = format!("ceo@{}.example", tenant.name);
    squatter
        .does(
            Method::PUT,
            "/user",
            &json!({"email": entered, "current_password": PASSWORD}),
        )
        .await;
    assert!(
        link(&tenant.name, &entered).is_err(),
        "nobody has shown that it is theirs"
    );
    let listed = provider.get("/Users").await;
    assert_eq!(
        (&listed["totalResults"], &listed["Resources"][0]["userName"]),
        (&json!(1), &json!(tenant.ben.email))
    );
    // Rotated, the old token is worth nothing at once.
    let again = server.provider(&tenant.name);
    assert_eq!(again.uid, provider.uid);
    assert_eq!(provider.scim(Method::GET, "/Users", None).await.status, 403);
    assert_eq!(again.get("/Users").await, listed);
}
