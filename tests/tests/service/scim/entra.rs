//! What Microsoft Entra asks, call by call as it publishes it: testing the connection, making,
//! changing with its own spelling of operations and booleans, switching off and on, removing, and
//! the same for groups.

use eddyline_client::{Json, Method, RawResponse};
use eddyline_tests::{Provider, SCIM_JSON, Tenant, on_shared_servers};
use serde_json::json;

use super::filters::encoded;
use super::groups::{members, place};
use super::{GROUP_SCHEMA, LIST_SCHEMA, PATCH_SCHEMA, USER_SCHEMA, at, is_refused};

on_shared_servers![
    entra_tests_the_connection,
    entra_provisions_changes_and_removes_somebody,
    entra_provisions_changes_and_removes_a_group
];

const ENTERPRISE: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

/// Entra names the type of what it sends, and takes the same.
async fn patch(provider: &Provider, place: &str, operations: Json) -> RawResponse {
    let body = json!({"schemas": [PATCH_SCHEMA], "Operations": operations});
    let charset = format!("{SCIM_JSON}; charset=utf-8");
    provider
        .scim_with(
            Method::PATCH,
            place,
            Some(&body),
            &[("Accept-Charset", &charset)],
        )
        .await
}

async fn entra_tests_the_connection(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let filter = encoded("userName eq \"6f2e5cd5-5c9b-4cc3-8d0f-e3a7a9c7c0c5\"");
    let none = provider.get(&format!("/Users?filter={filter}")).await;
    let expected = json!({
        "schemas": [LIST_SCHEMA], "totalResults": 0, "Resources": [], "startIndex": 1, "itemsPerPage": 0,
    });
    assert_eq!(none, expected);
}

/// Shows: 1.7
async fn entra_provisions_changes_and_removes_somebody(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let (name, email) = (
        format!("Test_User_{}", tenant.name),
        format!("test@{}.example", tenant.name),
    );
    let new = json!({
        "schemas": [USER_SCHEMA, ENTERPRISE],
        "externalId": "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef", "userName": name, "active": true,
        "emails": [{"primary": true, "type": "work", "value": email}],
        "meta": {"resourceType": "User"},
        "name": {"formatted": "givenName familyName", "familyName": "familyName", "givenName": "givenName"},
        "roles": [],
        ENTERPRISE: {"employeeNumber": "7", "department": "Sales"},
    });
    let made = provider.scim(Method::POST, "/Users", Some(&new)).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let user = made.json();
    assert_eq!(
        (&user["externalId"], &user["userName"]),
        (&new["externalId"], &new["userName"])
    );
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&new)).await,
        409,
        Some("uniqueness"),
    );
    for filter in [
        format!("userName eq \"{name}\""),
        format!("externalId eq \"{}\"", new["externalId"].as_str().unwrap()),
        format!("emails[type eq \"work\"].value eq \"{email}\""),
    ] {
        let found = provider
            .get(&format!("/Users?filter={}", encoded(&filter)))
            .await;
        assert_eq!(
            (&found["totalResults"], &found["Resources"][0]),
            (&json!(1), &user),
            "{filter}"
        );
    }
    assert_eq!(
        provider
            .get(&format!("{}?attributes=userName,active", at(&user)))
            .await["active"],
        true
    );
    let new_email = format!("updated@{}.example", tenant.name);
    let steps = [
        (
            json!([
                {"op": "Replace", "path": "emails[type eq \"work\"].value", "value": new_email},
                {"op": "Replace", "path": "name.familyName", "value": "updatedFamilyName"},
            ]),
            vec![
                ("/emails/0/value", json!(new_email)),
                ("/name/familyName", json!("updatedFamilyName")),
            ],
        ),
        (
            json!([{"op": "Replace", "path": "userName", "value": "5b50642d-79fc-4410-9e90-4c077cdd1a59"}]),
            vec![("/userName", json!("5b50642d-79fc-4410-9e90-4c077cdd1a59"))],
        ),
        (
            json!([
                {"op": "Add", "path": format!("{ENTERPRISE}:department"), "value": "Research"},
                {"op": "Replace", "path": "displayName", "value": "Ignored Beside Names"},
                {"op": "Replace", "path": "name.givenName", "value": "updatedGivenName"},
                {"op": "Replace", "path": "title", "value": "Boss"},
            ]),
            vec![
                ("/name/givenName", json!("updatedGivenName")),
                ("/name/familyName", json!("updatedFamilyName")),
            ],
        ),
        (
            json!([{"op": "Add", "value": {"name.givenName": "dotted", "name.familyName": "keys", "nickName": "dotty"}}]),
            vec![
                ("/displayName", json!("dotted keys")),
                ("/nickName", json!("dotty")),
            ],
        ),
        (
            json!([{"op": "Replace", "path": "active", "value": "False"}]),
            vec![("/active", json!(false))],
        ),
        (
            json!([{"op": "Replace", "path": "active", "value": "True"}]),
            vec![("/active", json!(true))],
        ),
        (
            json!([{"op": "Replace", "value": {"active": false}}]),
            vec![("/active", json!(false))],
        ),
    ];
    for (operations, then) in steps {
        let answer = patch(&provider, &at(&user), operations.clone()).await;
        assert_eq!(answer.status, 200, "{operations}: {}", answer.text());
        let shown = provider.get(&at(&user)).await;
        for (path, value) in then {
            assert_eq!(shown.pointer(path), Some(&value), "{operations}: {shown}");
        }
        assert_eq!(shown["id"], user["id"]);
    }
    let unkept = json!([{"op": "Replace", "path": "title", "value": "x"}]);
    let before = provider.get(&at(&user)).await;
    assert_eq!(patch(&provider, &at(&user), unkept).await.status, 200);
    assert_eq!(provider.get(&at(&user)).await, before);
    let removed = provider.scim(Method::DELETE, &at(&user), None).await;
    assert_eq!(
        (removed.status.as_u16(), removed.text().as_str()),
        (204, "")
    );
    is_refused(
        &provider.scim(Method::GET, &at(&user), None).await,
        404,
        None,
    );
    is_refused(
        &provider.scim(Method::DELETE, &at(&user), None).await,
        404,
        None,
    );
}

async fn entra_provisions_changes_and_removes_a_group(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let mut users = Vec::new();
    for name in ["one", "two", "three"] {
        let email = format!("{name}@{}.example", tenant.name);
        let user = provider.makes(&email, (name, "User")).await;
        users.push(user["id"].as_str().unwrap().to_owned());
    }
    let [one, two, three] = &users[..] else {
        panic!("{users:?}")
    };
    let external_id = "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159";
    let new = json!({
        "schemas": [GROUP_SCHEMA, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
        "externalId": external_id, "displayName": "Display Name of the Group",
        "meta": {"resourceType": "Group"},
    });
    let made = provider.scim(Method::POST, "/Groups", Some(&new)).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let group = made.json();
    assert_eq!(
        (&group["externalId"], &group["displayName"]),
        (&new["externalId"], &new["displayName"])
    );
    let again = provider.scim(Method::POST, "/Groups", Some(&new)).await;
    is_refused(&again, 409, Some("uniqueness"));
    let mut without = group.clone();
    without.as_object_mut().unwrap().remove("members");
    let path = format!("{}?excludedAttributes=members", place(&group));
    assert_eq!(provider.get(&path).await, without);
    for filter in [
        "displayName eq \"Display Name of the Group\"".to_owned(),
        format!("externalId eq \"{external_id}\""),
    ] {
        let filter = encoded(&filter);
        let path = format!("/Groups?excludedAttributes=members&filter={filter}");
        let found = provider.get(&path).await;
        assert_eq!(
            (&found["totalResults"], &found["Resources"]),
            (&json!(1), &json!([without])),
            "{path}"
        );
    }
    let nobody = encoded(&format!("id eq {} and members eq \"{one}\"", group["id"]));
    let path = format!("/Groups?filter={nobody}");
    assert_eq!(provider.get(&path).await["totalResults"], 0);
    let member = |id: &str| json!({"$ref": null, "value": id});
    let steps = [
        (
            json!([{"op": "Add", "path": "members", "value": [member(one), member(two)]}]),
            vec![one, two],
        ),
        // Once more, as it does after a failure.
        (
            json!([{"op": "Add", "path": "members", "value": [member(two)]}]),
            vec![one, two],
        ),
        (
            json!([{"op": "Remove", "path": "members", "value": [member(one)]}]),
            vec![two],
        ),
        (
            json!([
                {"op": "Add", "path": "members", "value": [member(three)]},
                {"op": "Remove", "path": format!("members[value eq \"{two}\"]")},
            ]),
            vec![three],
        ),
        (
            json!([{"op": "Remove", "path": "members", "value": [member("999999999")]}]),
            vec![three],
        ),
        (
            json!([{"op": "Replace", "path": "displayName", "value": "1879db59-3bdf-4490-ad68"}]),
            vec![three],
        ),
        (
            json!([{"op": "Replace", "path": "externalId", "value": "other"}]),
            vec![three],
        ),
        (json!([{"op": "Remove", "path": "members"}]), vec![]),
    ];
    for (operations, expected) in steps {
        let answer = patch(&provider, &place(&group), operations.clone()).await;
        assert_eq!(answer.status, 200, "{operations}: {}", answer.text());
        let shown = provider.get(&place(&group)).await;
        assert_eq!(members(&shown), expected, "{operations}");
        assert_eq!(shown, answer.json(), "{operations}");
    }
    let shown = provider.get(&place(&group)).await;
    assert_eq!(
        (&shown["displayName"], &shown["externalId"]),
        (&json!("1879db59-3bdf-4490-ad68"), &json!("other"))
    );
    let removed = provider.scim(Method::DELETE, &place(&group), None).await;
    assert_eq!(
        (removed.status.as_u16(), removed.text().as_str()),
        (204, "")
    );
    is_refused(
        &provider.scim(Method::GET, &place(&group), None).await,
        404,
        None,
    );
}
