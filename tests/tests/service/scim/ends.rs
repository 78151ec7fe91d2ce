//! What ends when a provider makes a user inactive.

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Listener, PASSWORD, Provider, Tenant, on_shared_servers};
use serde_json::json;

use super::{at, patched};

on_shared_servers![
    all_that_lets_in_ends_before_the_answer,
    an_inactive_user_stays_readable,
    nobody_comes_in_as_an_inactive_user,
    an_active_user_signs_in_again,
];

/// Has the provider know ben, and gives him as it sees him.
async fn link(tenant: &Tenant) -> (Provider, Json) {
    let provider = tenant.server().provider(&tenant.name);
    tenant.server().admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    let ben = provider.get(&format!("/Users/{}", tenant.ben.id)).await;
    (provider, ben)
}

async fn set_active(provider: &Provider, user: &Json, active: bool) {
    let changed = patched(
        provider,
        user,
        json!([{"op": "replace", "path": "active", "value": active}]),
    )
    .await;
    assert_eq!(changed["active"], active);
}

/// Shows: 3.16
async fn all_that_lets_in_ends_before_the_answer(tenant: Tenant) {
    let server = tenant.server();
    let (provider, ben) = link(&tenant).await;
    let robot = server.robot(&tenant.name, &[]);
    let tokens = robot
        .by_password(&tenant.ben, "flow private offline_access")
        .await;
    let mut browser = server.signed_in(&tenant.ben.email, PASSWORD).await;
    let by_password = tenant.ben.by_password();
    let mut streams = Vec::new();
    for client in [
        &tenant.ben.client,
        &robot.with(&tokens["access_token"]),
        &by_password,
    ] {
        streams.push(Listener::to(client, &[&tenant.main]).await);
    }
    set_active(&provider, &ben, false).await;
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
    assert_eq!(robot.status(&tokens["access_token"]).await, 401);
    let refreshing = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens["refresh_token"].as_str().unwrap()),
    ];
    robot.refused(&refreshing, "invalid_grant").await;
    assert_eq!(
        by_password
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        401
    );
    assert!(
        browser
            .get("/account")
            .await
            .sent_on()
            .starts_with("/sign-in"),
        "the session has ended"
    );
    for stream in streams {
        let heard = stream.rest().await;
        assert!(
            heard.iter().all(|message| message["content"] != "after"),
            "{heard:?}"
        );
    }
}

async fn an_inactive_user_stays_readable(tenant: Tenant) {
    let (provider, ben) = link(&tenant).await;
    let said = tenant.ben.say(&tenant.main, "hello").await;
    set_active(&provider, &ben, false).await;
    assert_eq!(
        tenant.ada.get(&tenant.message_path(&said)).await["user"],
        tenant.ben.id.to_string()
    );
    assert_eq!(
        tenant.ada.get(&format!("/users/{}", tenant.ben.id)).await["nick"],
        "ben"
    );
    let flow = tenant.ada.get(&format!("/flows/{}", tenant.main)).await;
    assert!(
        flow["users"]
            .as_array()
            .unwrap()
            .iter()
            .any(|user| user["id"] == tenant.ben.id)
    );
    assert_eq!(provider.get(&at(&ben)).await["active"], false);
    assert_eq!(provider.get("/Users").await["totalResults"], 1);
    let plain = provider.plain(Method::GET, &at(&ben), None).await.json();
    assert_eq!(plain["userName"], tenant.ben.email);
}

async fn nobody_comes_in_as_an_inactive_user(tenant: Tenant) {
    let server = tenant.server();
    let (provider, ben) = link(&tenant).await;
    set_active(&provider, &ben, false).await;
    let basic = tenant.client(Credentials::Basic {
        email: tenant.ben.email.clone(),
        password: PASSWORD.to_owned(),
    });
    assert_eq!(
        basic
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        401
    );
    let robot = server.robot(&tenant.name, &[]);
    let fields = [
        ("grant_type", "password"),
        ("username", &*tenant.ben.email),
        ("password", PASSWORD),
    ];
    robot.refused(&fields, "invalid_grant").await;
    let mut browser = server.visitor();
    browser.get("/sign-in").await;
    let page = browser
        .post(
            "/sign-in",
            &[("email", &tenant.ben.email), ("password", PASSWORD)],
        )
        .await;
    assert!(page.status >= 400, "{}", page.status);
    assert!(
        server
            .try_admin(&["user", "token", "--email", &tenant.ben.email])
            .is_err()
    );
}

/// Shows: 3.16
async fn an_active_user_signs_in_again(tenant: Tenant) {
    let (provider, ben) = link(&tenant).await;
    set_active(&provider, &ben, false).await;
    set_active(&provider, &ben, true).await;
    // What had ended stays so.
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
    tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let flow = tenant
        .ben
        .by_password()
        .request(Method::GET, &format!("/flows/{}", tenant.main));
    assert_eq!(flow.send().await.unwrap().status, 200, "still of the flow");
}
