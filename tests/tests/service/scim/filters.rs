//! Finding users.

use eddyline_client::Method;
use eddyline_tests::{Provider, Tenant, on_shared_servers};
use serde_json::json;

use super::is_refused;

on_shared_servers![
    a_filter_finds_a_user,
    a_search_is_a_list,
    in_plain_json_the_external_id_is_the_user_name,
    other_filters_are_refused
];

pub(super) fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

async fn found(provider: &Provider, filter: &str) -> Vec<String> {
    let list = provider
        .get(&format!("/Users?filter={}", encoded(filter)))
        .await;
    let resources = list["Resources"].as_array().unwrap();
    assert_eq!(list["totalResults"], resources.len());
    resources
        .iter()
        .map(|user| user["userName"].as_str().unwrap().to_owned())
        .collect()
}

/// Shows: 4.50
async fn a_filter_finds_a_user(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let (zoe, max) = (
        format!("zoe@{}.example", tenant.name),
        format!("max@{}.example", tenant.name),
    );
    let body = json!({"userName": zoe, "externalId": "A \"1\"", "emails": [{"value": zoe}]});
    assert_eq!(
        provider
            .scim(Method::POST, "/Users", Some(&body))
            .await
            .status,
        201
    );
    provider.makes(&max, ("Max", "King")).await;
    for filter in [
        format!("userName eq \"{zoe}\""),
        format!("USERNAME Eq \"{}\"", zoe.to_uppercase()),
        format!("emails eq \"{zoe}\""),
        format!("emails.value eq \"{zoe}\""),
        format!("emails[type eq \"work\"].value eq \"{zoe}\""),
        format!("urn:ietf:params:scim:schemas:core:2.0:User:userName eq \"{zoe}\""),
        "externalId eq \"A \\\"1\\\"\"".to_owned(),
        format!(
            "userName eq \"{zoe}\" and emails eq \"{zoe}\" AND externalId eq \"A \\u00221\\\"\""
        ),
    ] {
        assert_eq!(found(&provider, &filter).await, [zoe.as_str()], "{filter}");
    }
    for filter in [
        "userName eq \"nobody@x.example\"".to_owned(),
        "externalId eq \"a \\\"1\\\"\"".to_owned(),
        format!("userName eq \"{zoe}\" and userName eq \"{max}\""),
        format!("userName eq \"{zoe}\" and emails eq \"{max}\""),
    ] {
        assert!(found(&provider, &filter).await.is_empty(), "{filter}");
    }
}

async fn in_plain_json_the_external_id_is_the_user_name(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let zoe = format!("zoe@{}.example", tenant.name);
    let body = json!({"userName": zoe, "externalId": "00u1"});
    assert_eq!(
        provider
            .plain(Method::POST, "/Users", Some(&body))
            .await
            .status,
        201
    );
    for (id, count) in [(zoe.as_str(), 1), ("00u1", 0)] {
        let path = format!(
            "/Users?filter={}",
            encoded(&format!("externalId eq \"{id}\""))
        );
        let list = provider.plain(Method::GET, &path, None).await.json();
        assert_eq!(list["Resources"].as_array().unwrap().len(), count, "{id}");
    }
    assert_eq!(found(&provider, "externalId eq \"00u1\"").await, [zoe]);
}

async fn a_search_is_a_list(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let zoe = provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    provider
        .makes(&format!("max@{}.example", tenant.name), ("Max", "King"))
        .await;
    let filter = format!("userName eq \"{}\"", zoe["userName"].as_str().unwrap());
    let asked = json!({"filter": filter, "attributes": ["userName", "active"], "count": 1});
    for path in ["/.search", "/Users/.search"] {
        let answer = provider.scim(Method::POST, path, Some(&asked)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let list = answer.json();
        assert_eq!(
            (&list["totalResults"], &list["Resources"][0]["id"]),
            (&json!(1), &zoe["id"])
        );
        assert_eq!(list["Resources"][0]["active"], true);
        assert!(list["Resources"][0].get("emails").is_none());
    }
    let wrong = json!({"filter": "userName"});
    is_refused(
        &provider.scim(Method::POST, "/.search", Some(&wrong)).await,
        400,
        Some("invalidFilter"),
    );
}

/// Shows: 4.50
async fn other_filters_are_refused(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    for filter in [
        "userName",
        "userName eq",
        "userName eq x",
        "userName eq \"x",
        "userName eq \"x\" and",
        "userName eq \"x\" or userName eq \"y\"",
        "not (userName eq \"x\")",
        "userName co \"x\"",
        "userName pr",
        "title eq \"x\"",
        "emails[type eq \"home\"].value eq \"x\"",
        "userName eq \"x\" trailing",
        "userName eq 7",
    ] {
        let path = format!("/Users?filter={}", encoded(filter));
        is_refused(
            &provider.scim(Method::GET, &path, None).await,
            400,
            Some("invalidFilter"),
        );
        let plain = provider.plain(Method::GET, &path, None).await;
        assert_eq!(plain.status, 400, "{filter}");
        assert!(!plain.json()["message"].as_str().unwrap().is_empty());
    }
}
