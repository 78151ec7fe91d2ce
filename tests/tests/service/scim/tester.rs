//! scim2-tester, which others wrote to find out whether a server keeps to the RFCs.

use eddyline_client::Json;
use eddyline_tests::{Python, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![scim2_tester_finds_nothing];

async fn scim2_tester_finds_nothing(tenant: Tenant) {
    let Some(python) = Python::with("scim2", &["scim2_tester", "scim2_client", "httpx2"]) else {
        return;
    };
    let provider = tenant.server().provider(&tenant.name);
    let url = format!("{}{}", tenant.server().base_url(), provider.path(""));
    let about = json!({"url": url, "token": provider.token});
    let results: Vec<Json> = python.run(include_str!("tester.py"), &about).await;
    let of = |status: &str| {
        results
            .iter()
            .filter(|result| result["status"] == status)
            .collect::<Vec<_>>()
    };
    assert!(of("SUCCESS").len() > 20, "{results:#?}");
    let wrong: Vec<&Json> = results
        .iter()
        .filter(|result| !matches!(result["status"].as_str(), Some("SUCCESS" | "SKIPPED")))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
