//! Making users.

use eddyline_client::{Json, Method};
use eddyline_tests::{PASSWORD, Provider, Tenant, on_shared_servers};
use serde_json::json;

use super::{at, is_refused, patched};

on_shared_servers![
    a_new_user_belongs_to_the_organization_and_has_no_password,
    who_is_there_is_not_made_again,
    a_nick_is_made_from_the_name_and_kept_unique,
    names_are_put_together_and_taken_apart,
    a_user_may_be_made_inactive,
    a_full_organization_takes_nobody,
    an_inactive_organization_takes_nobody,
    an_address_that_was_merely_entered_does_not_keep_a_user_out,
    what_is_made_at_once_is_made_once,
    a_user_name_takes_nobodys_address,
    the_longest_name_is_taken,
    what_is_asked_wrongly_makes_nobody,
];

fn person(email: &str, given: &str, family: &str) -> Json {
    json!({"userName": email, "name": {"givenName": given, "familyName": family}, "emails": [{"value": email}]})
}

async fn create(provider: &Provider, body: &Json) -> Json {
    let answer = provider.scim(Method::POST, "/Users", Some(body)).await;
    assert_eq!(answer.status, 201, "{body}: {}", answer.text());
    answer.json()
}

async fn a_new_user_belongs_to_the_organization_and_has_no_password(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let user = provider.makes(&email, ("Zoe", "King")).await;
    let listed = tenant
        .ada
        .get(&format!("/organizations/{}/users", tenant.name))
        .await;
    let listed = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["email"] == *email)
        .unwrap();
    assert_eq!(listed["id"].to_string(), user["id"].as_str().unwrap());
    assert_eq!(
        (&listed["admin"], &listed["nick"]),
        (&json!(false), &json!("Zoe"))
    );
    let client = tenant.client(eddyline_client::Credentials::Basic {
        email,
        password: String::new(),
    });
    assert_eq!(
        client
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        401
    );
    let organization = tenant
        .ada
        .get(&format!("/organizations/{}", tenant.name))
        .await;
    assert_eq!(organization["user_count"], 3);
}

/// Shows: 7.9
async fn who_is_there_is_not_made_again(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    provider.makes(&email, ("Zoe", "King")).await;
    let elsewhere = tenant.neighbour().ben.email.clone();
    for body in [
        person(&email, "Other", "Person"),
        person(&email.to_uppercase(), "Other", "Person"),
        json!({"userName": "another", "emails": [{"value": email}]}),
        // A user who is not linked.
        person(&tenant.ben.email, "Ben", "B"),
        person(&elsewhere, "Ben", "B"),
        json!({"userName": tenant.ben.email, "emails": [{"value": "new@x.example"}]}),
        json!({"userName": tenant.ben.email.to_uppercase(), "emails": [{"value": "new@x.example"}]}),
    ] {
        is_refused(
            &provider.scim(Method::POST, "/Users", Some(&body)).await,
            409,
            Some("uniqueness"),
        );
        assert_eq!(
            provider
                .plain(Method::POST, "/Users", Some(&body))
                .await
                .status,
            409,
            "{body}"
        );
    }
}

/// Shows: 4.50
async fn a_nick_is_made_from_the_name_and_kept_unique(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let mut nicks = Vec::new();
    for number in 0..13 {
        let email = format!("ada{number}@{}.example", tenant.name);
        let user = provider.makes(&email, ("Ada", "King")).await;
        nicks.push(user["nickName"].as_str().unwrap().to_owned());
    }
    // There is an ada already.
    assert_eq!(nicks[..3], ["AdaKing", "Ada2", "Ada3"]);
    assert!(nicks[12].starts_with("Ada-"), "{nicks:?}");
    nicks.sort();
    nicks.dedup();
    assert_eq!(nicks.len(), 13);
    let mut body = person(&format!("new@{}.example", tenant.name), "Ben", "New");
    body["nickName"] = json!("BEN");
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&body)).await,
        409,
        Some("uniqueness"),
    );
    body["nickName"] = json!("ben.new");
    assert_eq!(create(&provider, &body).await["nickName"], "ben.new");
}

/// Shows: 4.52
async fn names_are_put_together_and_taken_apart(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    for (number, (given, family, then)) in [
        ("Ada", "King Lovelace", ("Ada", "King Lovelace")),
        ("Mary Ann", "Evans", ("Mary", "Ann Evans")),
        ("山田", "太郎", ("山田", "太郎")),
        ("Zoë\u{308}", "Ö", ("Zoë\u{308}", "Ö")),
    ]
    .into_iter()
    .enumerate()
    {
        let email = format!("user{number}@{}.example", tenant.name);
        let user = provider.makes(&email, (given, family)).await;
        assert_eq!(user["name"]["givenName"], then.0);
        assert_eq!(user["name"]["familyName"], then.1);
        assert_eq!(user["displayName"], format!("{given} {family}"));
    }
    let only =
        json!({"userName": format!("cher@{}.example", tenant.name), "name": {"givenName": "Cher"}});
    let user = create(&provider, &only).await;
    assert_eq!(user["displayName"], "Cher");
    let shown = provider.plain(Method::GET, &at(&user), None).await.json();
    assert_eq!(
        shown["name"],
        json!({"givenName": "Cher", "familyName": ""})
    );
    let nothing = json!({"userName": format!("dan.brown@{}.example", tenant.name)});
    assert_eq!(
        create(&provider, &nothing).await["displayName"],
        "dan.brown",
        "what stands before the @"
    );
}

async fn a_user_may_be_made_inactive(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let mut body = person(&format!("zoe@{}.example", tenant.name), "Zoe", "King");
    body["active"] = json!("False");
    let user = create(&provider, &body).await;
    assert_eq!(user["active"], false);
    let email = body["userName"].as_str().unwrap();
    assert!(
        tenant
            .server()
            .try_admin(&["user", "token", "--email", email])
            .is_err()
    );
    patched(
        &provider,
        &user,
        json!([{"op": "Replace", "path": "active", "value": "True"}]),
    )
    .await;
    assert!(
        tenant
            .server()
            .try_admin(&["user", "token", "--email", email])
            .is_ok()
    );
}

async fn a_full_organization_takes_nobody(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    tenant
        .server()
        .admin(&["org", "update", "--org", &tenant.name, "--user-limit", "3"]);
    let first = provider
        .makes(&format!("a@{}.example", tenant.name), ("A", "A"))
        .await;
    let body = person(&format!("b@{}.example", tenant.name), "B", "B");
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&body)).await,
        400,
        Some("invalidValue"),
    );
    assert_eq!(
        provider
            .plain(Method::POST, "/Users", Some(&body))
            .await
            .status,
        400
    );
    assert_eq!(
        provider
            .scim(Method::DELETE, &at(&first), None)
            .await
            .status,
        204
    );
    create(&provider, &body).await;
}

async fn an_inactive_organization_takes_nobody(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let there = provider
        .makes(&format!("a@{}.example", tenant.name), ("A", "A"))
        .await;
    tenant
        .server()
        .admin(&["org", "update", "--org", &tenant.name, "--active", "false"]);
    let body = person(&format!("b@{}.example", tenant.name), "B", "B");
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&body)).await,
        403,
        None,
    );
    patched(
        &provider,
        &there,
        json!([{"op": "replace", "path": "active", "value": false}]),
    )
    .await;
    assert_eq!(
        provider
            .scim(Method::DELETE, &at(&there), None)
            .await
            .status,
        204,
        "out one may always go"
    );
}

async fn an_address_that_was_merely_entered_does_not_keep_a_user_out(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("ceo@{}.example", tenant.name);
    let squatter = tenant.user("squatter");
    squatter
        .does(
            Method::PUT,
            "/user",
            &json!({"email": email, "current_password": PASSWORD}),
        )
        .await;
    let domain = format!("{}.example", tenant.name);
    tenant.server().admin(&[
        "org",
        "domain",
        "add",
        "--org",
        &tenant.name,
        "--domain",
        &domain,
    ]);
    let user = create(&provider, &person(&email, "The", "Boss")).await;
    assert_ne!(user["id"].as_str().unwrap(), squatter.id.to_string());
    assert_ne!(squatter.get("/user").await["email"], email);
}

async fn a_user_name_takes_nobodys_address(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let elsewhere = tenant.neighbour();
    let somebody = &elsewhere.ben;
    let entered = format!("entered@{}.example", tenant.name);
    somebody
        .does(
            Method::PUT,
            "/user",
            &json!({"email": entered, "current_password": PASSWORD}),
        )
        .await;
    let body = json!({"userName": entered, "emails": [{"value": format!("other@{}.example", tenant.name)}]});
    create(&provider, &body).await;
    assert_eq!(somebody.get("/user").await["email"], entered);
}

async fn the_longest_name_is_taken(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let name = "é".repeat(255);
    let email = format!("zoe@{}.example", tenant.name);
    let user = create(
        &provider,
        &json!({"userName": name, "externalId": name, "emails": [email]}),
    )
    .await;
    assert_eq!(
        (&user["userName"], &user["externalId"]),
        (&json!(name), &json!(name))
    );
}

async fn what_is_asked_wrongly_makes_nobody(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let body = person(&format!("zoe@{}.example", tenant.name), "Zoe", "King");
    let path = "/Users?attributes=userName&excludedAttributes=emails";
    assert_eq!(
        provider.scim(Method::POST, path, Some(&body)).await.status,
        400
    );
    assert_eq!(provider.get("/Users").await["totalResults"], 0);
}

/// Shows: 7.9
async fn what_is_made_at_once_is_made_once(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let body = person(&format!("zoe@{}.example", tenant.name), "Zoe", "King");
    let creating = (0..6).map(|_| provider.scim(Method::POST, "/Users", Some(&body)));
    let answers = futures_util::future::join_all(creating).await;
    let mut statuses: Vec<u16> = answers
        .iter()
        .map(|answer| answer.status.as_u16())
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409]);
}
