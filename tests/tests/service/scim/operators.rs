//! What operators say about an identity provider.

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    a_token_is_replaced_only_when_that_is_said,
    a_provider_is_shown,
    a_provider_that_is_let_in_no_longer_comes_back_to_its_users,
    making_users_of_no_provider_inactive_is_recorded,
];

async fn a_token_is_replaced_only_when_that_is_said(tenant: Tenant) {
    let server = tenant.server();
    let line = ["scim", "enable", "--org", &tenant.name];
    let enabled = server.admin(&line);
    let uid = enabled["uid"].as_str().unwrap();
    assert!(
        enabled["url"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/scim/{uid}")),
        "{}",
        enabled["url"]
    );
    assert!(
        enabled["url"].as_str().unwrap().starts_with("http://"),
        "{}",
        enabled["url"]
    );
    let mut command = server.admin_command(&[&line[..], &["--rotate", "--json"]].concat());
    command.env("EDDYLINE_BASE_URL", "https://chat.example.org/");
    let said = server.try_admin(&line).unwrap_err();
    assert!(said.contains("--rotate"), "{said}");
    let rotated: Json = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    assert_eq!(
        (&rotated["uid"], &rotated["url"]),
        (
            &json!(uid),
            &json!(format!("https://chat.example.org/scim/{uid}"))
        )
    );
    assert_ne!(rotated["token"], enabled["token"]);
    eddyline_tests::note_secret(rotated["token"].as_str().unwrap());
}

async fn a_provider_is_shown(tenant: Tenant) {
    let server = tenant.server();
    let line = ["scim", "show", "--org", &tenant.name];
    let nothing = server.admin(&line);
    assert_eq!(
        (&nothing["enabled"], &nothing["url"], &nothing["users"]),
        (&json!(false), &Json::Null, &json!(0))
    );
    let provider = server.provider(&tenant.name);
    provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    let shown = server.admin(&line);
    assert_eq!(
        (&shown["enabled"], &shown["uid"], &shown["users"]),
        (&json!(true), &json!(provider.uid), &json!(1))
    );
    assert!(!shown.to_string().contains(&provider.token));
}

async fn a_provider_that_is_let_in_no_longer_comes_back_to_its_users(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let user = provider.makes(&email, ("Zoe", "King")).await;
    let line = ["scim", "disable", "--org", &tenant.name];
    server.admin(&line);
    assert_eq!(provider.scim(Method::GET, "/Users", None).await.status, 403);
    assert_eq!(
        server.admin(&["scim", "show", "--org", &tenant.name])["enabled"],
        false
    );
    assert_eq!(
        server.admin(&["user", "show", "--email", &email])["active"],
        true,
        "users stay"
    );
    assert!(
        server
            .try_admin(&line)
            .unwrap_err()
            .contains("no identity provider is let in")
    );
    // Without a word about the token, since none is taken.
    let again = server.admin(&["scim", "enable", "--org", &tenant.name]);
    assert_eq!(again["uid"], provider.uid.as_str());
    assert_eq!(
        provider.scim(Method::GET, "/Users", None).await.status,
        403,
        "the old token stays refused"
    );
    let again = server.provider(&tenant.name);
    assert_eq!(again.get("/Users").await["Resources"][0]["id"], user["id"]);
    let audit = server.admin(&["scim", "audit", "--org", &tenant.name]);
    let deeds: Vec<&str> = audit["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        deeds,
        [
            "scim.rotate",
            "scim.enable",
            "scim.disable",
            "user.create",
            "scim.enable"
        ]
    );
}

async fn making_users_of_no_provider_inactive_is_recorded(tenant: Tenant) {
    let server = tenant.server();
    let neighbour = tenant.neighbour();
    let mia = tenant.user("mia");
    let email = &mia.email;
    server.admin(&[
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        email,
        "--name",
        "B",
        "--nick",
        "mia",
    ]);
    for active in ["false", "false", "true"] {
        server.admin(&["user", "set-active", "--email", email, "--active", active]);
    }
    for organization in [&tenant.name, &neighbour.name] {
        let audit = server.admin(&["scim", "audit", "--org", organization]);
        let records: Vec<Json> = audit["records"]
            .as_array()
            .unwrap()
            .iter()
            .map(|record| {
                json!([
                    record["actor"],
                    record["action"],
                    record["user"],
                    record["detail"]
                ])
            })
            .collect();
        let record = |before: bool| json!(["operator", "user.update", mia.id, {"active": [before, !before]}]);
        assert_eq!(records, [record(false), record(true)], "{organization}");
    }
}
