//! Names of groups and nicks: no user of an organization has the name of one of its groups.

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::{group, path};

on_shared_servers![
    a_group_takes_no_name_that_is_taken,
    no_user_takes_the_name_of_a_group_as_a_nick,
    no_user_comes_in_with_the_name_of_a_group,
    a_provider_makes_no_user_with_the_name_of_a_group,
    a_name_is_free_again_once_its_group_is_gone,
    of_a_user_and_a_group_that_take_a_name_at_once_one_gets_it,
];

async fn conflict(tenant: &Tenant, method: Method, path: &str, body: Json, text: &str) {
    let answer = tenant.ada.send(method, path, &body).await;
    assert_eq!(answer.status, 409, "{body}: {}", answer.text());
    assert!(
        answer.json()["message"].as_str().unwrap().contains(text),
        "{}",
        answer.text()
    );
}

async fn a_group_takes_no_name_that_is_taken(tenant: Tenant) {
    let olga = tenant.user("Olga");
    let team = group(&tenant, "Team", &[]).await;
    let crew = group(&tenant, "crew", &[]).await;
    for (name, text) in [
        ("team", "a group team already"),
        ("TEAM", "already"),
        ("olga", "is the nick"),
        ("BEN", "is the nick"),
    ] {
        conflict(
            &tenant,
            Method::POST,
            &path(&tenant, ""),
            json!({"name": name}),
            text,
        )
        .await;
        let address = path(&tenant, &format!("/{}", crew["id"]));
        conflict(&tenant, Method::PUT, &address, json!({"name": name}), text).await;
    }
    let address = path(&tenant, &format!("/{}", team["id"]));
    let renamed = tenant
        .ada
        .send(Method::PUT, &address, &json!({"name": "TEAM"}))
        .await
        .json();
    assert_eq!(renamed["name"], "TEAM", "it may be written another way");
    // Another organization has names of its own.
    group(&tenant.neighbour(), "team", &[]).await;
    assert_eq!(olga.get(&path(&tenant, "")).await, json!([crew, renamed]));
}

async fn no_user_takes_the_name_of_a_group_as_a_nick(tenant: Tenant) {
    group(&tenant, "Team", &[]).await;
    for nick in ["team", "TEAM"] {
        let answer = tenant
            .ben
            .send(Method::PUT, "/user", &json!({"nick": nick}))
            .await;
        assert_eq!(answer.status, 409, "{nick}: {}", answer.text());
    }
    assert_eq!(tenant.ben.get("/user").await["nick"], "ben");
    tenant
        .ben
        .does(Method::PUT, "/user", &json!({"nick": "teams"}))
        .await;
}

async fn no_user_comes_in_with_the_name_of_a_group(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let stranger = neighbour.user("team");
    group(&tenant, "Team", &[]).await;
    let nick = ["--name", "x", "--nick", "team"];
    for email in ["new@x.example", &stranger.email] {
        let line = [
            &["user", "create", "--org", &tenant.name, "--email", email][..],
            &nick,
        ]
        .concat();
        let said = tenant.server().try_admin(&line).unwrap_err();
        assert!(
            said.contains("the nick is taken in the organization"),
            "{said}"
        );
    }
    let invitations = tenant.path("/invitations");
    let invited = tenant
        .ada
        .send(
            Method::POST,
            &invitations,
            &json!({"email": stranger.email}),
        )
        .await
        .json();
    let own = format!("{invitations}/{}", invited["id"]);
    let answer = stranger
        .send(Method::PUT, &own, &json!({"state": "accepted"}))
        .await;
    assert_eq!(answer.status, 400);
    assert!(
        answer.json()["errors"]["nick"][0]
            .as_str()
            .unwrap()
            .contains("taken"),
        "{}",
        answer.text()
    );
    stranger
        .does(Method::PUT, "/user", &json!({"nick": "ted"}))
        .await;
    stranger
        .does(Method::PUT, &own, &json!({"state": "accepted"}))
        .await;
}

async fn a_provider_makes_no_user_with_the_name_of_a_group(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    group(&tenant, "Zoe", &[]).await;
    let email = format!("zoe@{}.example", tenant.name);
    let user = provider.makes(&email, ("Zoe", "King")).await;
    assert_eq!(
        user["nickName"], "ZoeKing",
        "one that is made is made so that it is free"
    );
    let place = format!("/Users/{}", user["id"].as_str().unwrap());
    let patch = json!({
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        "Operations": [{"op": "replace", "path": "nickName", "value": "zoe"}],
    });
    assert_eq!(
        provider
            .scim(Method::PATCH, &place, Some(&patch))
            .await
            .status,
        409
    );
    let email = format!("eve@{}.example", tenant.name);
    let eve = json!({"userName": email, "nickName": "ZOE", "emails": [{"value": email}]});
    assert_eq!(
        provider
            .plain(Method::POST, "/Users", Some(&eve))
            .await
            .status,
        409
    );
}

async fn a_name_is_free_again_once_its_group_is_gone(tenant: Tenant) {
    let team = group(&tenant, "team", &[]).await;
    let address = path(&tenant, &format!("/{}", team["id"]));
    tenant
        .ada
        .does(Method::PUT, &address, &json!({"name": "crew"}))
        .await;
    tenant
        .ben
        .does(Method::PUT, "/user", &json!({"nick": "team"}))
        .await;
    tenant.ada.does(Method::DELETE, &address, &json!({})).await;
    tenant
        .ada
        .does(Method::PUT, "/user", &json!({"nick": "crew"}))
        .await;
    group(&tenant, "ada", &[]).await;
}

async fn of_a_user_and_a_group_that_take_a_name_at_once_one_gets_it(tenant: Tenant) {
    for number in 0..20 {
        let name = format!("name{number}");
        let (groups, group) = (path(&tenant, ""), json!({"name": name}));
        let nick = json!({"nick": name});
        let (made, renamed) = tokio::join!(
            tenant.ada.send(Method::POST, &groups, &group),
            tenant.ben.send(Method::PUT, "/user", &nick),
        );
        let mut statuses = [made.status.as_u16(), renamed.status.as_u16()];
        statuses.sort_unstable();
        assert!(
            matches!(statuses, [200 | 201, 409]),
            "{name}: {} {}",
            made.text(),
            renamed.text()
        );
    }
}
