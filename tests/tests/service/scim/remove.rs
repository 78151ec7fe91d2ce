//! Removing users.

use eddyline_client::{Json, Method};
use eddyline_tests::{Listener, PASSWORD, Tenant, on_shared_servers};
use serde_json::json;

use super::{at, is_refused, patched};

on_shared_servers![
    who_is_removed_has_lost_the_organization_and_those_below,
    the_last_administrator_stays,
    who_was_removed_comes_back_with_the_same_account,
    who_was_removed_by_an_administrator_is_not_seen,
    who_was_inactive_stays_so,
    who_was_removed_comes_in_only_when_invited,
    an_address_is_free_for_another_user_name,
    an_inactive_administrator_is_none,
];

/// Shows: 3.17
async fn who_is_removed_has_lost_the_organization_and_those_below(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    let (child, grandchild) = (
        format!("{}-child", tenant.name),
        format!("{}-grandchild", tenant.name),
    );
    let elsewhere = format!("{}-elsewhere", tenant.name);
    server.organization(&elsewhere);
    for (name, parent) in [(&child, &tenant.name), (&grandchild, &child)] {
        let arguments = [
            "org",
            "create",
            "--name",
            name,
            "--parameterized-name",
            name,
            "--parent",
            parent,
        ];
        server.admin(&arguments);
    }
    for organization in [&child, &grandchild, &elsewhere] {
        let arguments = [
            "user",
            "create",
            "--org",
            organization,
            "--email",
            &tenant.ben.email,
        ];
        server.admin(
            &[
                &arguments[..],
                &["--name", "Ben", "--nick", "ben.elsewhere"],
            ]
            .concat(),
        );
    }
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    let said = tenant.ben.say(&tenant.main, "hello").await;
    let stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let path = format!("/Users/{}", tenant.ben.id);
    assert_eq!(provider.scim(Method::DELETE, &path, None).await.status, 204);
    tenant.ada.say(&tenant.main, "after").await;
    assert_eq!(
        tenant
            .ben
            .client
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        401
    );
    assert!(
        stream
            .rest()
            .await
            .iter()
            .all(|message| message["content"] != "after")
    );
    is_refused(&provider.scim(Method::GET, &path, None).await, 404, None);
    // The account is there, and what it wrote.
    let token = server.admin(&["user", "token", "--email", &tenant.ben.email]);
    let ben = tenant.client(eddyline_client::Credentials::ApiToken(
        token["api_token"].as_str().unwrap().to_owned(),
    ));
    let organizations: Json = ben
        .request(Method::GET, "/organizations")
        .call()
        .await
        .unwrap();
    let names: Vec<&str> = organizations
        .as_array()
        .unwrap()
        .iter()
        .map(|organization| organization["parameterized_name"].as_str().unwrap())
        .collect();
    assert_eq!(names, [elsewhere.as_str()], "others are not the provider's");
    assert_eq!(
        ben.request(Method::GET, &tenant.path(""))
            .send()
            .await
            .unwrap()
            .status,
        404
    );
    assert_eq!(
        tenant.ada.get(&tenant.message_path(&said)).await["user"],
        tenant.ben.id.to_string()
    );
}

async fn who_was_removed_comes_in_only_when_invited(tenant: Tenant) {
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
    let opened = tenant
        .ada
        .send(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "link"}),
        )
        .await
        .json();
    let join = opened["join_url"]
        .as_str()
        .unwrap()
        .split_once("/invitations/")
        .unwrap()
        .1
        .to_owned();
    let path = format!("/Users/{}", tenant.ben.id);
    assert_eq!(provider.scim(Method::DELETE, &path, None).await.status, 204);
    let mut browser = server
        .signed_in(&tenant.ben.email, eddyline_tests::PASSWORD)
        .await;
    browser.get(&format!("/invitations/{join}")).await;
    browser.post(&format!("/invitations/{join}"), &[]).await;
    let own = tenant.ben.by_password();
    let read = async || {
        own.request(Method::GET, &tenant.path(""))
            .send()
            .await
            .unwrap()
            .status
            .as_u16()
    };
    assert_ne!(
        read().await,
        200,
        "the link of the flow does not bring them back"
    );
    let invited = tenant
        .ada
        .send(
            Method::POST,
            &tenant.path("/invitations"),
            &json!({"email": tenant.ben.email}),
        )
        .await;
    let invitation = tenant.path(&format!("/invitations/{}", invited.json()["id"]));
    let accepting = own
        .request(Method::PUT, &invitation)
        .json(&json!({"state": "accepted"}));
    assert_eq!(accepting.send().await.unwrap().status, 200);
    assert_eq!(read().await, 200);
    assert_eq!(
        provider.get(&path).await["userName"],
        tenant.ben.email,
        "the provider sees them again"
    );
}

async fn an_address_is_free_for_another_user_name(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let person = |name: &str| json!({"userName": name, "emails": [{"value": email}]});
    let first = provider
        .scim(Method::POST, "/Users", Some(&person("zoe.king")))
        .await
        .json();
    assert_eq!(
        provider
            .scim(Method::DELETE, &at(&first), None)
            .await
            .status,
        204
    );
    let again = provider
        .scim(Method::POST, "/Users", Some(&person("zoe.queen")))
        .await;
    assert_eq!(again.status, 201, "{}", again.text());
    let again = again.json();
    assert_eq!(
        (&again["id"], &again["userName"]),
        (&first["id"], &json!("zoe.queen"))
    );
}

async fn who_was_inactive_stays_so(tenant: Tenant) {
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
    let ben = provider.get(&format!("/Users/{}", tenant.ben.id)).await;
    patched(
        &provider,
        &ben,
        json!([{"op": "replace", "path": "active", "value": false}]),
    )
    .await;
    assert_eq!(
        provider.scim(Method::DELETE, &at(&ben), None).await.status,
        204
    );
    let own = tenant.ben.by_password();
    assert_eq!(
        own.request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        401
    );
    let answer = server.admin(&[
        "user",
        "set-active",
        "--email",
        &tenant.ben.email,
        "--active",
        "true",
    ]);
    assert_eq!(
        (&answer["id"], &answer["active"]),
        (&json!(tenant.ben.id), &json!(true))
    );
    assert_eq!(
        own.request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        200
    );
    server.admin(&[
        "user",
        "set-active",
        "--email",
        &tenant.ben.email,
        "--active",
        "false",
    ]);
    assert_eq!(
        own.request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        401
    );
}

async fn an_inactive_administrator_is_none(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    let eve = tenant.administrator("eve");
    for email in [&tenant.ada.email, &eve.email] {
        server.admin(&["scim", "link", "--org", &tenant.name, "--email", email]);
    }
    let eve = provider.get(&format!("/Users/{}", eve.id)).await;
    patched(
        &provider,
        &eve,
        json!([{"op": "replace", "path": "active", "value": false}]),
    )
    .await;
    let path = format!("/Users/{}", tenant.ada.id);
    is_refused(&provider.scim(Method::DELETE, &path, None).await, 409, None);
}

async fn the_last_administrator_stays(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ada.email,
    ]);
    let path = format!("/Users/{}", tenant.ada.id);
    let answer = provider.scim(Method::DELETE, &path, None).await;
    is_refused(&answer, 409, None);
    assert!(
        answer.json()["detail"]
            .as_str()
            .unwrap()
            .contains("administrator")
    );
    tenant.ada.get("/user").await;
    tenant.administrator("eve");
    assert_eq!(provider.scim(Method::DELETE, &path, None).await.status, 204);
}

async fn who_was_removed_comes_back_with_the_same_account(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
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
    let email = format!("zoe.king@{}.example", tenant.name);
    let first = provider.makes(&email, ("Zoe", "King")).await;
    assert_eq!(
        provider
            .scim(Method::DELETE, &at(&first), None)
            .await
            .status,
        204
    );
    // Somebody else has the nick by now.
    tenant.user("zoe");
    let second = provider.makes(&email, ("Zoe", "Queen")).await;
    assert_eq!(second["id"], first["id"]);
    assert_eq!(
        (&second["displayName"], &second["nickName"]),
        (&json!("Zoe Queen"), &json!("ZoeQueen"))
    );
    let listed = tenant
        .ada
        .get(&format!("/organizations/{}/users", tenant.name))
        .await;
    assert!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .any(|user| user["email"] == *email)
    );
    // An account that has gone its own way does not come back.
    assert_eq!(
        provider
            .scim(Method::DELETE, &at(&second), None)
            .await
            .status,
        204
    );
    let token = tenant.server().admin(&["user", "token", "--email", &email]);
    let own = tenant.client(eddyline_client::Credentials::ApiToken(
        token["api_token"].as_str().unwrap().to_owned(),
    ));
    let line = [
        "user",
        "set-password",
        "--email",
        &email,
        "--password",
        PASSWORD,
    ];
    tenant.server().admin(&line);
    let change =
        json!({"email": format!("own@{}.example", tenant.name), "current_password": PASSWORD});
    assert_eq!(
        own.request(Method::PUT, "/user")
            .json(&change)
            .send()
            .await
            .unwrap()
            .status,
        200
    );
    let body = json!({"userName": email});
    // For a week its owner may still take the address back.
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&body)).await,
        409,
        Some("uniqueness"),
    );
}

/// Shows: 4.51
async fn who_was_removed_by_an_administrator_is_not_seen(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let user = provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    let path = format!(
        "/organizations/{}/users/{}",
        tenant.name,
        user["id"].as_str().unwrap()
    );
    assert_eq!(
        tenant
            .ada
            .send(Method::DELETE, &path, &json!({}))
            .await
            .status,
        204
    );
    is_refused(
        &provider.scim(Method::GET, &at(&user), None).await,
        404,
        None,
    );
    assert_eq!(provider.get("/Users").await["totalResults"], 0);
    let again = provider
        .makes(user["userName"].as_str().unwrap(), ("Zoe", "King"))
        .await;
    assert_eq!(again["id"], user["id"]);
}
