//! SCIM's JSON gets the shapes of RFC 7643 and RFC 7644.

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::{GROUP_SCHEMA, LIST_SCHEMA, USER_SCHEMA, at, is_refused};

on_shared_servers![
    a_user_is_a_resource,
    a_list_has_pages_and_true_totals,
    a_list_without_a_count_is_a_page_of_one_hundred,
    attributes_are_chosen,
    a_version_is_known_by_its_tag,
    another_version_is_not_changed,
    who_is_not_there_is_told_in_scim,
    the_server_describes_itself,
];

/// Shows: 2.34
async fn a_user_is_a_resource(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let body = json!({
        "schemas": [USER_SCHEMA], "userName": email, "externalId": "00u1",
        "name": {"givenName": "Zoë", "familyName": "King"},
        "emails": [{"primary": true, "value": email, "type": "work"}],
        "locale": "en-US", "groups": [], "password": "1mz050nq", "active": true,
    });
    let answer = provider.scim(Method::POST, "/Users", Some(&body)).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(
        answer.header("content-type"),
        Some("application/scim+json; charset=utf-8")
    );
    let user = answer.json();
    let id = user["id"].as_str().unwrap();
    let location = format!(
        "{}/scim/{}/Users/{id}",
        tenant.server().base_url(),
        provider.uid
    );
    assert_eq!(answer.header("location"), Some(location.as_str()));
    let expected = json!({
        "schemas": [USER_SCHEMA], "id": id, "externalId": "00u1", "userName": email,
        "name": {"givenName": "Zoë", "familyName": "King"},
        "displayName": "Zoë King", "nickName": "Zoë", "active": true,
        "emails": [{"value": email, "type": "work", "primary": true}],
        "meta": {
            "resourceType": "User", "location": location, "version": "W/\"1\"",
            "created": user["meta"]["created"], "lastModified": user["meta"]["lastModified"],
        },
    });
    assert_eq!(user, expected);
    assert_eq!(answer.header("etag"), Some("W/\"1\""));
    assert_eq!(provider.get(&at(&user)).await, user);
    let plain = provider.plain(Method::GET, &at(&user), None).await.json();
    assert_eq!(
        (&plain["id"], &plain["externalId"]),
        (&json!(id.parse::<i64>().unwrap()), &json!(email))
    );
}

async fn a_list_has_pages_and_true_totals(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let mut ids = Vec::new();
    for number in 0..5 {
        let email = format!("user{number}@{}.example", tenant.name);
        ids.push(provider.makes(&email, ("User", &number.to_string())).await["id"].clone());
    }
    let list = async |query: &str| provider.get(&format!("/Users{query}")).await;
    let found = |list: &Json| -> Vec<Json> {
        list["Resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|user| user["id"].clone())
            .collect()
    };
    for (query, from, to, start) in [
        ("", 0, 5, 1),
        ("?startIndex=1&count=2", 0, 2, 1),
        ("?startIndex=4&count=2", 3, 5, 4),
        ("?startIndex=9", 5, 5, 9),
        ("?startIndex=0&count=1", 0, 1, 1),
        ("?startIndex=-7&count=1", 0, 1, 1),
        ("?count=0", 0, 0, 1),
        ("?count=-1", 0, 0, 1),
        ("?count=99999", 0, 5, 1),
    ] {
        let page = list(query).await;
        assert_eq!(found(&page), ids[from..to], "{query}");
        assert_eq!(page["schemas"], json!([LIST_SCHEMA]));
        assert_eq!(
            (&page["totalResults"], &page["startIndex"]),
            (&json!(5), &json!(start)),
            "{query}"
        );
        assert_eq!(page["itemsPerPage"], json!(to - from), "{query}");
    }
    let removed = provider
        .scim(
            Method::DELETE,
            &format!("/Users/{}", ids[0].as_str().unwrap()),
            None,
        )
        .await;
    assert_eq!(removed.status, 204);
    assert_eq!(list("?count=1").await["totalResults"], 4);
    is_refused(
        &provider
            .scim(Method::GET, "/Users?startIndex=x", None)
            .await,
        400,
        Some("invalidValue"),
    );
}

async fn a_list_without_a_count_is_a_page_of_one_hundred(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    for number in 0..101 {
        provider
            .makes(
                &format!("user{number}@{}.example", tenant.name),
                ("User", &number.to_string()),
            )
            .await;
    }
    let listed = |list: &Json| list["Resources"].as_array().unwrap().len();
    let search = json!({"filter": ""});
    let pages = [
        provider.get("/Users").await,
        provider
            .scim(Method::POST, "/.search", Some(&search))
            .await
            .json(),
        provider
            .scim(Method::POST, "/Users/.search", Some(&search))
            .await
            .json(),
    ];
    for page in pages {
        assert_eq!((listed(&page), &page["itemsPerPage"]), (100, &json!(100)));
        assert_eq!(page["totalResults"], 101);
    }
    assert_eq!(listed(&provider.get("/Users?startIndex=101").await), 1);
    assert_eq!(listed(&provider.get("/Users?count=101").await), 101);
    assert_eq!(
        listed(&provider.plain(Method::GET, "/Users", None).await.json()),
        101
    );
}

async fn attributes_are_chosen(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let user = provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    let seen = provider
        .get(&format!("{}?attributes=userName,name.givenName", at(&user)))
        .await;
    let expected = json!({
        "schemas": [USER_SCHEMA], "id": user["id"], "userName": user["userName"], "name": {"givenName": "Zoe"},
    });
    assert_eq!(seen, expected);
    let seen = provider
        .get(&format!(
            "{}?excludedAttributes=emails,meta,NAME",
            at(&user)
        ))
        .await;
    for gone in ["emails", "meta", "name"] {
        assert!(seen.get(gone).is_none(), "{gone}");
    }
    assert_eq!(seen["userName"], user["userName"]);
    let listed = provider.get("/Users?attributes=nickName").await;
    let expected =
        json!({"schemas": [USER_SCHEMA], "id": user["id"], "nickName": user["nickName"]});
    assert_eq!(listed["Resources"], json!([expected]));
}

async fn a_version_is_known_by_its_tag(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let user = provider.makes(&email, ("Zoe", "King")).await;
    let get = async |tag: &str| {
        provider
            .scim_with(Method::GET, &at(&user), None, &[("If-None-Match", tag)])
            .await
    };
    let known = get("W/\"1\"").await;
    assert_eq!((known.status.as_u16(), known.text().as_str()), (304, ""));
    assert_eq!(get("W/\"2\", \"1\"").await.status, 304);
    assert_eq!(get("W/\"2\"").await.status, 200);
    // Also what is changed elsewhere is another version.
    tenant.server().admin(&[
        "user",
        "set-password",
        "--email",
        &email,
        "--password",
        "correct horse 7 battery",
    ]);
    let own = tenant.client(eddyline_client::Credentials::Basic {
        email: email.clone(),
        password: "correct horse 7 battery".to_owned(),
    });
    let request = own
        .request(Method::PUT, "/user")
        .json(&json!({"nick": "zozo"}));
    assert_eq!(request.send().await.unwrap().status, 200);
    let changed = get("W/\"1\"").await;
    assert_eq!(
        (changed.status.as_u16(), &changed.json()["nickName"]),
        (200, &json!("zozo"))
    );
    assert_eq!(changed.header("etag"), Some("W/\"2\""));
    assert!(
        changed.json()["meta"]["lastModified"].as_str() > user["meta"]["lastModified"].as_str()
    );
}

async fn another_version_is_not_changed(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let user = provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    let change = json!({"displayName": "Zoe Prince"});
    let put = async |method: Method, tag: &str| {
        let operations = super::operations(&json!([{"op": "replace", "value": change}]));
        let body = if method == Method::PATCH {
            &operations
        } else {
            &change
        };
        provider
            .scim_with(method, &at(&user), Some(body), &[("If-Match", tag)])
            .await
    };
    for method in [Method::PUT, Method::PATCH, Method::DELETE] {
        is_refused(&put(method, "W/\"7\"").await, 412, None);
    }
    assert_eq!(provider.get(&at(&user)).await, user);
    assert_eq!(
        put(Method::PUT, "W/\"1\"").await.json()["meta"]["version"],
        "W/\"2\""
    );
    assert_eq!(
        put(Method::PATCH, "*").await.json()["meta"]["version"],
        "W/\"2\"",
        "nothing is different"
    );
    assert_eq!(put(Method::DELETE, "W/\"2\"").await.status, 204);
}

async fn who_is_not_there_is_told_in_scim(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    for path in [
        "/Users/0",
        "/Users/x",
        "/Users/9223372036854775808",
        "/Groups/0",
        "/Groups/x",
        "/Things",
        "/Nothing/at/all",
    ] {
        is_refused(&provider.scim(Method::GET, path, None).await, 404, None);
    }
    is_refused(
        &provider.scim(Method::DELETE, "/Users", None).await,
        405,
        None,
    );
    let body = json!({"displayName": "x".repeat(2_000_000)});
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&body)).await,
        413,
        None,
    );
    let body = json!({"displayName": "x"});
    is_refused(
        &provider.scim(Method::PUT, "/Users/0", Some(&body)).await,
        404,
        None,
    );
    assert_eq!(
        provider.plain(Method::GET, "/Things", None).await.json()["message"],
        "not found"
    );
}

async fn the_server_describes_itself(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let config = provider.get("/ServiceProviderConfig").await;
    for (feature, supported) in [
        ("patch", true),
        ("bulk", false),
        ("filter", true),
        ("changePassword", false),
        ("sort", false),
        ("etag", true),
    ] {
        assert_eq!(config[feature]["supported"], supported, "{feature}");
    }
    let types = provider.get("/ResourceTypes").await;
    for (at, name) in ["User", "Group"].into_iter().enumerate() {
        let resource_type = provider.get(&format!("/ResourceTypes/{name}")).await;
        assert_eq!(resource_type["endpoint"], format!("/{name}s"));
        assert_eq!(resource_type, types["Resources"][at]);
    }
    let schemas = provider.get("/Schemas").await;
    assert_eq!(
        schemas["totalResults"],
        schemas["Resources"].as_array().unwrap().len()
    );
    for id in [USER_SCHEMA, GROUP_SCHEMA] {
        assert_eq!(provider.get(&format!("/Schemas/{id}")).await["id"], id);
    }
    is_refused(
        &provider
            .scim(Method::GET, "/Schemas/urn:nothing", None)
            .await,
        404,
        None,
    );
}
