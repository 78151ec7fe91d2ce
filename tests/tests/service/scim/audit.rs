//! What was done is recorded.

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::{at, operations, patched};

on_shared_servers![every_change_is_recorded];

async fn every_change_is_recorded(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let user = provider.makes(&email, ("Zoe", "King")).await;
    patched(
        &provider,
        &user,
        json!([{"op": "replace", "path": "active", "value": false}]),
    )
    .await;
    // Neither a change that changes nothing, nor one that is refused.
    patched(
        &provider,
        &user,
        json!([{"op": "replace", "path": "active", "value": false}]),
    )
    .await;
    let refused = operations(&json!([{"op": "remove", "path": "emails"}]));
    assert_eq!(
        provider
            .scim(Method::PATCH, &at(&user), Some(&refused))
            .await
            .status,
        400
    );
    assert_eq!(
        provider.scim(Method::DELETE, &at(&user), None).await.status,
        204
    );
    provider.makes(&email, ("Zoe", "Queen")).await;
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    let again = server.provider(&tenant.name);
    let audit = server.admin(&["scim", "audit", "--org", &tenant.name]);
    let records = audit["records"].as_array().unwrap();
    let deeds: Vec<(&str, &str)> = records
        .iter()
        .map(|record| {
            (
                record["action"].as_str().unwrap(),
                record["actor"].as_str().unwrap(),
            )
        })
        .collect();
    let by_provider = format!("scim:{}", provider.uid);
    assert_eq!(
        deeds,
        [
            ("scim.rotate", "operator"),
            ("user.link", "operator"),
            ("user.return", &*by_provider),
            ("user.remove", &*by_provider),
            ("user.update", &*by_provider),
            ("user.create", &*by_provider),
            ("scim.enable", "operator"),
        ]
    );
    assert_eq!(records[4]["detail"], json!({"active": [true, false]}));
    assert_eq!(records[4]["user"].to_string(), user["id"].as_str().unwrap());
    assert_eq!(
        records[2]["detail"]["name"],
        json!(["Zoe King", "Zoe Queen"])
    );
    let told: String = records.iter().map(Json::to_string).collect();
    assert!(!told.contains(&provider.token) && !told.contains(&again.token));
    let before = records[4]["id"].to_string();
    let page = server.admin(&[
        "scim",
        "audit",
        "--org",
        &tenant.name,
        "--before",
        &before,
        "--limit",
        "1",
    ]);
    assert_eq!(page["records"], json!([records[5]]));
}
