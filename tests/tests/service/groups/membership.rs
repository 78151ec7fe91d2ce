//! Who is in a group, and what becomes of that when a user leaves the organization.

use eddyline_client::Method;
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::{Value, json};

use super::{group, path, said, tags};

on_shared_servers![
    a_user_removed_from_the_organization_leaves_its_groups,
    a_user_removed_by_a_provider_leaves_the_groups,
    a_user_suspended_by_a_provider_leaves_the_groups_for_good,
    a_user_who_leaves_a_flow_stays_in_the_groups,
];

async fn members(tenant: &Tenant) -> Value {
    tenant.ada.get(&path(tenant, "")).await[0]["users"].clone()
}

fn provider_of(tenant: &Tenant, user: &Caller) -> eddyline_tests::Provider {
    let provider = tenant.server().provider(&tenant.name);
    tenant.server().admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &user.email,
    ]);
    provider
}

async fn a_user_removed_from_the_organization_leaves_its_groups(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    group(&tenant, "team", &[&tenant.ben, &cleo]).await;
    assert_eq!(
        said(&tenant.ada, &tenant, "@team").await,
        tags("team", &[&tenant.ben, &cleo])
    );
    let out = format!("/organizations/{}/users/{}", tenant.name, cleo.id);
    tenant.ada.does(Method::DELETE, &out, &json!({})).await;
    assert_eq!(members(&tenant).await, json!([tenant.ben.id]));
    assert_eq!(
        said(&tenant.ada, &tenant, "@team").await,
        tags("team", &[&tenant.ben])
    );
    // By an operator, as a new member.
    let back = [
        "user",
        "create",
        "--org",
        &tenant.name,
        "--email",
        &cleo.email,
    ];
    tenant
        .server()
        .admin(&[&back[..], &["--name", "cleo", "--nick", "cleo"]].concat());
    tenant.server().admin(&[
        "flow",
        "add-user",
        "--flow",
        &tenant.main,
        "--email",
        &cleo.email,
    ]);
    assert_eq!(
        said(&tenant.ada, &tenant, "@team").await,
        tags("team", &[&tenant.ben])
    );
}

async fn a_user_removed_by_a_provider_leaves_the_groups(tenant: Tenant) {
    let provider = provider_of(&tenant, &tenant.ben);
    group(&tenant, "team", &[&tenant.ada, &tenant.ben]).await;
    let place = format!("/Users/{}", tenant.ben.id);
    assert_eq!(
        provider.scim(Method::DELETE, &place, None).await.status,
        204
    );
    assert_eq!(members(&tenant).await, json!([tenant.ada.id]));
}

async fn a_user_suspended_by_a_provider_leaves_the_groups_for_good(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let olga = tenant.user("olga");
    let join = [
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        &olga.email,
    ];
    tenant
        .server()
        .admin(&[&join[..], &["--name", "olga", "--nick", "olga"]].concat());
    let provider = provider_of(&tenant, &olga);
    group(&tenant, "team", &[&olga, &tenant.ben]).await;
    let elsewhere = group(&neighbour, "ops", &[&olga]).await;
    let place = format!("/Users/{}", olga.id);
    for active in [false, true] {
        let patch = json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
            "Operations": [{"op": "replace", "path": "active", "value": active}],
        });
        assert_eq!(
            provider
                .scim(Method::PATCH, &place, Some(&patch))
                .await
                .status,
            200
        );
        assert_eq!(members(&tenant).await, json!([tenant.ben.id]), "{active}");
    }
    assert_eq!(
        neighbour.ada.get(&path(&neighbour, "")).await,
        json!([elsewhere])
    );
}

async fn a_user_who_leaves_a_flow_stays_in_the_groups(tenant: Tenant) {
    let team = group(&tenant, "team", &[&tenant.ben]).await;
    let own = tenant.path(&format!("/users/{}", tenant.ben.id));
    tenant.ben.does(Method::DELETE, &own, &json!({})).await;
    assert_eq!(said(&tenant.ada, &tenant, "@team").await, tags("team", &[]));
    assert_eq!(members(&tenant).await, team["users"]);
}
