//! What refresh tokens are good for, and for how long.

use eddyline_client::Method;
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::Value;

on_shared_servers![
    only_offline_access_gives_a_refresh_token,
    a_refresh_token_is_replaced_each_time,
    a_replaced_refresh_token_is_refused_and_ends_nothing,
    a_replaced_refresh_token_ends_its_family_once_its_successor_was_used,
    a_refresh_can_ask_for_less_but_not_for_more,
    a_refresh_token_is_good_for_its_own_client_only,
];

pub(super) const OFFLINE: &str = "flow private offline_access";

/// Shows: 5.8
async fn only_offline_access_gives_a_refresh_token(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    for scope in ["flow", "flow private manage profile integration"] {
        assert_eq!(
            robot
                .by_password(&tenant.ben, scope)
                .await
                .get("refresh_token"),
            None,
            "{scope}"
        );
    }
    for scope in ["offline_access", OFFLINE] {
        assert!(
            robot.by_password(&tenant.ben, scope).await["refresh_token"].is_string(),
            "{scope}"
        );
    }
}

/// Shows: 3.15, 5.8
async fn a_refresh_token_is_replaced_each_time(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut tokens = robot.by_password(&tenant.ben, OFFLINE).await;
    for _ in 0..3 {
        let next = robot.refresh(&tokens["refresh_token"]).await;
        assert_ne!(next["refresh_token"], tokens["refresh_token"]);
        assert_ne!(next["access_token"], tokens["access_token"]);
        assert_eq!(next["scope"], "flow,private,offline_access");
        for access in [&next["access_token"], &tokens["access_token"]] {
            assert_eq!(
                robot.status(access).await,
                200,
                "the one before lives on as well"
            );
        }
        tokens = next;
    }
}

/// A form that shows a refresh token.
pub(super) fn replay(token: &Value) -> [(&str, &str); 2] {
    [
        ("grant_type", "refresh_token"),
        ("refresh_token", token.as_str().unwrap()),
    ]
}

/// Shows: 5.8
async fn a_replaced_refresh_token_is_refused_and_ends_nothing(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let first = robot.by_password(&tenant.ben, OFFLINE).await;
    let second = robot.refresh(&first["refresh_token"]).await;
    // As when the answer was lost, and the client tries again.
    for _ in 0..3 {
        robot
            .refused(&replay(&first["refresh_token"]), "invalid_grant")
            .await;
    }
    assert_eq!(robot.status(&first["access_token"]).await, 200);
    assert_eq!(robot.status(&second["access_token"]).await, 200);
    robot.refresh(&second["refresh_token"]).await;
}

/// Shows: 5.8
async fn a_replaced_refresh_token_ends_its_family_once_its_successor_was_used(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let other_family = robot.by_password(&tenant.ben, OFFLINE).await;
    let first = robot.by_password(&tenant.ben, OFFLINE).await;
    let second = robot.refresh(&first["refresh_token"]).await;
    let third = robot.refresh(&second["refresh_token"]).await;
    robot
        .refused(&replay(&first["refresh_token"]), "invalid_grant")
        .await;
    for tokens in [&first, &second, &third] {
        assert_eq!(robot.status(&tokens["access_token"]).await, 401);
        robot
            .refused(&replay(&tokens["refresh_token"]), "invalid_grant")
            .await;
    }
    assert_eq!(robot.status(&other_family["access_token"]).await, 200);
    robot.refresh(&other_family["refresh_token"]).await;
}

async fn a_refresh_can_ask_for_less_but_not_for_more(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let first = robot.by_password(&tenant.ben, OFFLINE).await;
    let ask = |token: &Value, scope: &'static str| {
        let token = token.as_str().unwrap().to_owned();
        let robot = &robot;
        async move {
            let fields = [
                ("grant_type", "refresh_token"),
                ("refresh_token", &*token),
                ("scope", scope),
            ];
            robot.ask("/oauth/token", &fields).await.json()
        }
    };
    let refused = ask(&first["refresh_token"], "flow manage").await;
    assert_eq!(refused["error"], "invalid_scope");
    let less = ask(&first["refresh_token"], "private").await;
    assert_eq!(
        less["scope"], "private",
        "and the token was not used up by what was refused"
    );
    let flows = robot
        .with(&less["access_token"])
        .request(Method::GET, "/flows")
        .send()
        .await
        .unwrap();
    assert_eq!(flows.status, 403);
    // What was granted can be asked for again.
    assert_eq!(
        ask(&less["refresh_token"], "flow,private").await["scope"],
        "flow,private"
    );
}

async fn a_refresh_token_is_good_for_its_own_client_only(tenant: Tenant) {
    let (server, name) = (tenant.server(), &tenant.name);
    let (robot, thief) = (server.robot(name, &[]), server.robot(name, &[]));
    let tokens = robot.by_password(&tenant.ben, OFFLINE).await;
    thief
        .refused(&replay(&tokens["refresh_token"]), "invalid_grant")
        .await;
    robot.refresh(&tokens["refresh_token"]).await;
}
