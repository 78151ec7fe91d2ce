//! Whom one sees in the list of users (specification, section 4, Users).

use eddyline_client::{Credentials, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    a_member_sees_those_in_a_flow_with_them,
    an_administrator_sees_everybody_of_the_organization,
    a_flow_that_one_cannot_enter_shows_nobody,
    each_is_listed_once_over_all_organizations,
    a_flow_token_sees_nobody,
];

/// The numbers of those whom somebody sees, in their order.
async fn seen_by(caller: &Caller) -> Vec<i64> {
    let users = caller.get("/users").await;
    users
        .as_array()
        .unwrap()
        .iter()
        .map(|user| user["id"].as_i64().unwrap())
        .collect()
}

/// Shows: 4.33
async fn a_member_sees_those_in_a_flow_with_them(tenant: Tenant) {
    let (olga, cleo, dora) = (
        tenant.user("olga"),
        tenant.user("cleo"),
        tenant.user("dora"),
    );
    tenant.flow("lab", &[&tenant.ben, &cleo]);
    tenant.flow("den", &[&tenant.ben, &cleo, &tenant.ada]);
    assert_eq!(
        seen_by(&tenant.ben).await,
        [tenant.ada.id, tenant.ben.id, cleo.id]
    );
    assert_eq!(
        seen_by(&cleo).await,
        [tenant.ada.id, tenant.ben.id, cleo.id]
    );
    assert_eq!(seen_by(&olga).await, [olga.id], "oneself at least");
    let users = tenant.ben.get("/users").await;
    assert_eq!(
        users[1],
        tenant.ben.get("/user").await,
        "as everywhere, and without `admin`"
    );
    // Each is seen by number all the same.
    assert_eq!(
        olga.get(&format!("/users/{}", dora.id)).await["nick"],
        "dora"
    );
}

/// Shows: 4.33
async fn an_administrator_sees_everybody_of_the_organization(tenant: Tenant) {
    let (olga, otto) = (tenant.user("olga"), tenant.administrator("otto"));
    let everybody = [tenant.ada.id, tenant.ben.id, olga.id, otto.id];
    assert_eq!(seen_by(&otto).await, everybody);
    assert_eq!(seen_by(&tenant.ada).await, everybody);
}

async fn a_flow_that_one_cannot_enter_shows_nobody(tenant: Tenant) {
    let (bert, cleo) = (tenant.member("bert"), tenant.user("cleo"));
    let door = tenant.path(&format!("/users/{}", bert.id));
    tenant
        .ada
        .does(Method::PUT, &door, &json!({"disabled": true}))
        .await;
    assert_eq!(seen_by(&bert).await, [bert.id]);
    assert_eq!(
        seen_by(&tenant.ben).await,
        [tenant.ada.id, tenant.ben.id],
        "nor is one seen there"
    );
    tenant.flow("old", &[&cleo, &tenant.ben]);
    let old = format!("/flows/{}/old", tenant.name);
    tenant
        .ada
        .does(Method::PUT, &old, &json!({"disabled": true}))
        .await;
    assert_eq!(seen_by(&cleo).await, [cleo.id]);
}

async fn each_is_listed_once_over_all_organizations(tenant: Tenant) {
    let (cleo, neighbour) = (tenant.member("cleo"), tenant.neighbour());
    let line = [
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        &cleo.email,
        "--name",
        "cleo",
    ];
    tenant
        .server()
        .admin(&[&line[..], &["--nick", "cleo", "--admin"]].concat());
    let mut expected = [
        tenant.ada.id,
        tenant.ben.id,
        cleo.id,
        neighbour.ada.id,
        neighbour.ben.id,
    ];
    expected.sort_unstable();
    assert_eq!(seen_by(&cleo).await, expected);
    assert_eq!(
        seen_by(&neighbour.ben).await,
        [neighbour.ada.id, neighbour.ben.id]
    );
}

async fn a_flow_token_sees_nobody(tenant: Tenant) {
    let token = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    assert_eq!(
        token
            .request(Method::GET, "/users")
            .send()
            .await
            .unwrap()
            .status,
        403
    );
}
