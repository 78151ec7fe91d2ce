//! Who sees, changes and removes sources.

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use crate::integrations::{Source, activity, status, try_push};

on_shared_servers![
    a_source_is_the_matter_of_those_in_the_flow,
    an_application_manages_its_own_sources_only,
    a_source_is_found_under_its_own_flow_only,
    a_source_of_an_archived_flow_is_not_found,
    an_inactive_organization_takes_no_changes,
];

/// Every way to a source of the flow, with a body that is fine.
fn ways(tenant: &Tenant, source: &Source) -> [(Method, String, Json); 4] {
    let one = tenant.path(&format!("/sources/{}", source.id));
    [
        (Method::GET, tenant.path("/sources"), Json::Null),
        (Method::GET, one.clone(), Json::Null),
        (Method::PUT, one.clone(), json!({"name": "Stolen"})),
        (Method::DELETE, one, Json::Null),
    ]
}

/// Shows: 4.39
async fn a_source_is_the_matter_of_those_in_the_flow(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let blocked = tenant.member("bert");
    let block = tenant.path(&format!("/users/{}", blocked.id));
    tenant
        .ada
        .does(Method::PUT, &block, &json!({"disabled": true}))
        .await;
    let (outsider, administrator) = (tenant.user("olga"), tenant.administrator("otto"));
    let neighbour = tenant.neighbour();
    for (who, caller, expected) in [
        ("of the organization, not in the flow", &outsider, 403),
        (
            "an administrator who is not in the flow",
            &administrator,
            403,
        ),
        ("blocked from the flow", &blocked, 403),
        ("of another organization", &neighbour.ada, 404),
    ] {
        for (method, path, body) in ways(&tenant, &source) {
            let found = status(&caller.client, method.clone(), &path, &body).await;
            assert_eq!(found, expected, "{method} {path} by one {who}");
        }
        // One's application can no more than oneself.
        let robot = tenant.server().robot(&tenant.name, &[]);
        let tokens = robot.by_password(caller, "integration").await;
        let make = json!({"name": "Mine"});
        let client = robot.with(&tokens["access_token"]);
        assert_eq!(
            status(&client, Method::POST, &tenant.path("/sources"), &make).await,
            expected,
            "{who}"
        );
    }
    source.push(&activity("1", "still there")).await;
}

/// Shows: 4.39
async fn an_application_manages_its_own_sources_only(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let another = tenant.server().robot(&tenant.name, &[]);
    let tokens = another.by_password(&tenant.ben, "integration").await;
    let client = another.with(&tokens["access_token"]);
    for (method, path, body) in ways(&tenant, &source) {
        let expected = if method == Method::GET { 200 } else { 403 };
        assert_eq!(
            status(&client, method.clone(), &path, &body).await,
            expected,
            "{method} {path}"
        );
    }
    assert_eq!(
        tenant.ben.get(&tenant.path("/sources")).await[0]["name"],
        "Tickets"
    );
    // What is Ben's own right is not his applications' right, but his it stays.
    assert_eq!(
        status(
            &tenant.ben.client,
            Method::PUT,
            "/sources",
            &json!({"name": "x"})
        )
        .await,
        403
    );
    assert_eq!(
        status(&tenant.ben.client, Method::DELETE, "/sources", &Json::Null).await,
        403
    );
    let path = tenant.path(&format!("/sources/{}", source.id));
    assert_eq!(
        status(&tenant.ben.client, Method::DELETE, &path, &Json::Null).await,
        204
    );
}

async fn a_source_is_found_under_its_own_flow_only(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    tenant.flow("side", &[&tenant.ben]);
    let elsewhere = format!("/flows/{}/side/sources/{}", tenant.name, source.id);
    let made_up = [
        tenant.path("/sources/999999999"),
        tenant.path("/sources/0"),
        tenant.path("/sources/x"),
    ];
    for path in made_up.iter().chain([&elsewhere]) {
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let found = status(
                &tenant.ben.client,
                method.clone(),
                path,
                &json!({"name": "x"}),
            )
            .await;
            assert_eq!(found, 404, "{method} {path}");
        }
    }
}

async fn a_source_of_an_archived_flow_is_not_found(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": true}))
        .await;
    for (method, path, body) in ways(&tenant, &source) {
        assert_eq!(
            status(&tenant.ben.client, method.clone(), &path, &body).await,
            404,
            "{method} {path}"
        );
    }
    for (method, path, body) in [
        (Method::POST, "/messages", activity("1", "into silence")),
        (Method::GET, "/sources", Json::Null),
        (Method::PUT, "/sources", json!({"name": "x"})),
        (Method::DELETE, "/sources", Json::Null),
    ] {
        let found = status(&source.client, method.clone(), path, &body).await;
        assert_eq!(found, 404, "{method} {path}");
    }
    assert_eq!(tenant.ben.get("/sources").await, json!([]));
    // It is as it was once the flow is back.
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": false}))
        .await;
    source.push(&activity("1", "heard")).await;
}

async fn an_inactive_organization_takes_no_changes(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let active = |active: &str| {
        tenant
            .server()
            .admin(&["org", "update", "--org", &tenant.name, "--active", active]);
    };
    active("false");
    let path = tenant.path(&format!("/sources/{}", source.id));
    assert_eq!(
        status(&tenant.ben.client, Method::GET, &path, &Json::Null).await,
        200
    );
    assert_eq!(
        status(
            &tenant.ben.client,
            Method::PUT,
            &path,
            &json!({"name": "x"})
        )
        .await,
        403
    );
    assert_eq!(
        status(&tenant.ben.client, Method::DELETE, &path, &Json::Null).await,
        403
    );
    assert_eq!(
        status(
            &source.client,
            Method::PUT,
            "/sources",
            &json!({"name": "x"})
        )
        .await,
        403
    );
    assert_eq!(
        try_push(&source.client, &activity("1", "x")).await.status,
        403
    );
    active("true");
    source.push(&activity("1", "heard")).await;
}
