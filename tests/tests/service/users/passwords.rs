//! Changing one's own password.

use eddyline_client::{Client, Credentials, Json, Method, StreamRequest};
use eddyline_tests::{Caller, Listener, PASSWORD, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    a_new_password_takes_the_place_of_the_old_one,
    a_password_is_changed_only_by_who_knows_it,
    a_request_with_the_password_changes_it,
    a_password_that_is_easy_to_guess_is_refused,
    wrong_present_passwords_count_as_failed_sign_ins,
    who_has_no_password_sets_none,
];

const NEW: &str = "seventeen green umbrellas";

fn with(caller: &Caller, password: &str) -> Client {
    let (email, password) = (caller.email.clone(), password.to_owned());
    caller
        .client
        .with_credentials(Credentials::Basic { email, password })
}

async fn signs_in(caller: &Caller, password: &str) -> u16 {
    with(caller, password)
        .request(Method::GET, "/user")
        .send()
        .await
        .unwrap()
        .status
        .as_u16()
}

async fn change(caller: &Caller, body: Json) -> (u16, Json) {
    let answer = caller.send(Method::PUT, "/user", &body).await;
    (answer.status.as_u16(), answer.json())
}

async fn a_new_password_takes_the_place_of_the_old_one(tenant: Tenant) {
    let stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let own = Listener::open(&with(&tenant.ben, PASSWORD), &StreamRequest::new().user()).await;
    assert_eq!(signs_in(&tenant.ben, PASSWORD).await, 200);
    let body = json!({"password": NEW, "current_password": PASSWORD, "name": "Ben the Second"});
    assert_eq!(change(&tenant.ben, body).await, (200, json!({})));
    assert_eq!(
        (
            signs_in(&tenant.ben, PASSWORD).await,
            signs_in(&tenant.ben, NEW).await
        ),
        (401, 200)
    );
    assert_eq!(
        tenant.ben.get("/user").await["name"],
        "Ben the Second",
        "the token is as good as before"
    );
    stream.rest().await;
    own.rest().await;
    Listener::to(&tenant.ben.client, &[&tenant.main]).await;
}

async fn a_password_is_changed_only_by_who_knows_it(tenant: Tenant) {
    for present in [json!("wrong"), json!(""), json!(null), json!(NEW)] {
        let body = json!({"password": NEW, "current_password": present, "name": "Other"});
        let (status, answer) = change(&tenant.ben, body).await;
        assert_eq!(status, 400, "{present}");
        assert!(answer["errors"]["current_password"].is_array(), "{answer}");
    }
    let path = format!("/users/{}", tenant.ben.id);
    let body = json!({"password": NEW, "current_password": PASSWORD});
    assert_eq!(tenant.ada.send(Method::PUT, &path, &body).await.status, 403);
    assert_eq!(
        (
            signs_in(&tenant.ben, PASSWORD).await,
            signs_in(&tenant.ben, NEW).await
        ),
        (200, 401)
    );
    assert_eq!(
        tenant.ben.get("/user").await["name"],
        "ben",
        "nothing of it was done"
    );
}

async fn a_request_with_the_password_changes_it(tenant: Tenant) {
    let body = json!({"password": NEW, "current_password": PASSWORD});
    let answer = tenant
        .ben
        .by_password()
        .request(Method::PUT, "/user")
        .json(&body)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        (
            signs_in(&tenant.ben, PASSWORD).await,
            signs_in(&tenant.ben, NEW).await
        ),
        (401, 200)
    );
}

async fn a_password_that_is_easy_to_guess_is_refused(tenant: Tenant) {
    for weak in [
        "",
        "short",
        "password",
        "12345678",
        &tenant.ben.email,
        &"x".repeat(1025),
    ] {
        let (status, answer) = change(
            &tenant.ben,
            json!({"password": weak, "current_password": PASSWORD}),
        )
        .await;
        assert_eq!(status, 400, "{weak}");
        assert!(answer["errors"]["password"].is_array(), "{answer}");
    }
    assert_eq!(signs_in(&tenant.ben, PASSWORD).await, 200);
}

async fn wrong_present_passwords_count_as_failed_sign_ins(tenant: Tenant) {
    let wrong = json!({"password": NEW, "current_password": "wrong"});
    for _ in 0..10 {
        assert_eq!(change(&tenant.ben, wrong.clone()).await.0, 400);
    }
    let right = json!({"password": NEW, "current_password": PASSWORD});
    let answer = tenant.ben.send(Method::PUT, "/user", &right).await;
    assert_eq!(answer.status, 429, "also the right one has to wait");
    assert!(answer.header("retry-after").is_some());
    assert_eq!(signs_in(&tenant.ben, PASSWORD).await, 429);
    assert_eq!(
        change(&tenant.ben, json!({"nick": "bunny"})).await.0,
        200,
        "the rest is not concerned"
    );
}

async fn who_has_no_password_sets_none(tenant: Tenant) {
    let email = format!("robot@{}.example", tenant.name);
    let line = [
        "user",
        "create",
        "--org",
        &tenant.name,
        "--email",
        &email,
        "--name",
        "R",
        "--nick",
        "robot",
    ];
    let token = tenant.server().admin(&line)["api_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let robot = tenant.server().client().api_token(&token).build().unwrap();
    for present in ["", "x", PASSWORD] {
        let body = json!({"password": NEW, "current_password": present});
        let answer = robot
            .request(Method::PUT, "/user")
            .json(&body)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 400, "{present}");
    }
    let client = robot.with_credentials(Credentials::Basic {
        email,
        password: NEW.to_owned(),
    });
    assert_eq!(
        client
            .me()
            .await
            .err()
            .and_then(|error| error.status())
            .unwrap()
            .as_u16(),
        401
    );
}
