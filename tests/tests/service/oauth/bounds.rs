//! How far an application gets: never to the whole of an account, and to so many tokens and no
//! more.

use eddyline_client::Method;
use eddyline_tests::{CALLBACK, PASSWORD, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    an_application_that_sees_the_profile_does_not_get_the_account,
    a_hundred_grants_live_at_once,
    the_people_of_an_organization_register_a_hundred_applications,
    a_code_leads_nowhere_once_its_redirect_uri_is_gone,
    the_applications_of_an_inactive_organization_can_only_be_removed,
];

const AT_MOST: usize = 100;

async fn an_application_that_sees_the_profile_does_not_get_the_account(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "profile").await;
    let client = robot.with(&tokens["access_token"]);
    let own = format!("/users/{}", tenant.ben.id);
    for path in ["/user", &own] {
        for (change, status) in [
            (
                json!({"nick": "benny", "name": "Benny", "website": "https://ben.example/"}),
                200,
            ),
            (json!({"email": "evil@evil.example"}), 403),
            (json!({"email": tenant.ben.email}), 403),
            (
                json!({"password": "another battery of horses", "current_password": PASSWORD}),
                403,
            ),
        ] {
            let answer = client
                .request(Method::PUT, path)
                .json(&change)
                .send()
                .await
                .unwrap();
            assert_eq!(answer.status, status, "{change}: {}", answer.text());
        }
    }
    assert_eq!(tenant.ben.get("/user").await["email"], tenant.ben.email);
}

async fn a_hundred_grants_live_at_once(tenant: Tenant) {
    let (server, name) = (tenant.server(), &tenant.name);
    let (robot, other) = (server.robot(name, &[]), server.robot(name, &[]));
    let elsewhere = other.by_password(&tenant.ben, "").await;
    let somebody_else = robot.by_password(&tenant.ada, "").await;
    let oldest = robot.by_password(&tenant.ben, "offline_access").await;
    let mut unused = Vec::new();
    for _ in 1..AT_MOST {
        unused.push(robot.by_password(&tenant.ben, "").await);
    }
    assert_eq!(
        robot.status(&unused[0]["access_token"]).await,
        200,
        "a hundred"
    );
    // Whatever was used last lives.
    let used = robot.refresh(&oldest["refresh_token"]).await;
    let mut newest = used.clone();
    for ended in &unused[..10] {
        assert_eq!(robot.status(&ended["access_token"]).await, 200);
        newest = robot.by_password(&tenant.ben, "").await;
        assert_eq!(
            robot.status(&ended["access_token"]).await,
            401,
            "it has ended before the new one is there"
        );
    }
    for lives in [&used, &oldest, &newest, &somebody_else] {
        assert_eq!(robot.status(&lives["access_token"]).await, 200);
    }
    assert_eq!(other.status(&elsewhere["access_token"]).await, 200);
}

async fn the_people_of_an_organization_register_a_hundred_applications(tenant: Tenant) {
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let page = ben.get("/developer").await;
    let organization = page
        .between("name=\"organization\" value=\"", "\"")
        .to_owned();
    let form = [
        ("organization", organization.as_str()),
        ("name", "Robot"),
        ("redirect_uri", CALLBACK),
        ("public", "1"),
    ];
    for _ in 0..AT_MOST {
        assert!(
            ben.post("/developer", &form)
                .await
                .sent_on()
                .starts_with("/developer/")
        );
    }
    let page = ben.post("/developer", &form).await;
    assert!((400..500).contains(&page.status), "{}", page.text);
    assert!(page.text.contains("100 applications"), "{}", page.text);
    tenant.server().robot(&tenant.name, &[]);
}

async fn a_code_leads_nowhere_once_its_redirect_uri_is_gone(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &["--no-out-of-band"]);
    let mut ada = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    let code = robot.code(&mut ada, &[]).await;
    let developer = ada.get("/developer").await;
    let path = format!(
        "/developer/{}",
        developer.between("href=\"/developer/", "\"")
    );
    let elsewhere = [
        ("name", "Robot"),
        ("redirect_uri", "https://robot.example/new"),
        ("password_grant", "1"),
    ];
    ada.post(&path, &elsewhere).await.sent_on();
    robot
        .refused(
            &[("grant_type", "authorization_code"), ("code", &code)],
            "invalid_grant",
        )
        .await;
}

async fn the_applications_of_an_inactive_organization_can_only_be_removed(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ada = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    let developer = ada.get("/developer").await;
    let path = format!(
        "/developer/{}",
        developer.between("href=\"/developer/", "\"")
    );
    let tokens = robot.by_password(&tenant.ben, "").await;
    tenant
        .server()
        .admin(&["org", "update", "--org", &tenant.name, "--active", "false"]);
    let changes = [("name", "Robot"), ("redirect_uri", "https://evil.example/")];
    assert_eq!(ada.post(&path, &changes).await.status, 403);
    assert_eq!(ada.post(&format!("{path}/secret"), &[]).await.status, 403);
    assert_eq!(robot.status(&tokens["access_token"]).await, 200);
    ada.post(&format!("{path}/remove"), &[]).await.sent_on();
    assert_eq!(robot.status(&tokens["access_token"]).await, 401);
}
