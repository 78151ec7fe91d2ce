//! What Okta asks, call by call as it publishes it for those who build a SCIM server: importing,
//! looking whether somebody is there, making, changing by PUT, making inactive, and pushing groups.

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::filters::encoded;
use super::groups::{make, members, patch, place};
use super::{GROUP_SCHEMA, LIST_SCHEMA, PATCH_SCHEMA, USER_SCHEMA, at, is_refused};

on_shared_servers![
    okta_tests_the_server,
    okta_assigns_changes_and_deactivates_somebody,
    okta_pushes_a_group
];

/// What Okta looks at in each user.
#[track_caller]
fn is_whole(user: &Json) {
    for path in [
        "/id",
        "/name/familyName",
        "/name/givenName",
        "/userName",
        "/emails/0/value",
    ] {
        assert!(
            user.pointer(path)
                .is_some_and(|value| !value.as_str().unwrap().is_empty()),
            "{path}: {user}"
        );
    }
    assert!(user["active"].is_boolean(), "{user}");
}

fn new_user(email: &str) -> Json {
    json!({
        "schemas": [USER_SCHEMA], "userName": email,
        "name": {"givenName": "Random", "familyName": "Runscope"},
        "emails": [{"primary": true, "value": email, "type": "work"}],
        "displayName": "Random Runscope", "locale": "en-US",
        "externalId": "00ujl29u0le5T6Aj10h7", "groups": [], "password": "1mz050nq", "active": true,
    })
}

/// Shows: 1.7
async fn okta_tests_the_server(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    // It wants somebody to be there.
    provider
        .makes(&format!("first@{}.example", tenant.name), ("First", "User"))
        .await;
    let list = provider.get("/Users?count=1&startIndex=1").await;
    assert!(
        list["schemas"]
            .as_array()
            .unwrap()
            .contains(&json!(LIST_SCHEMA))
    );
    assert_eq!(
        (
            &list["itemsPerPage"],
            &list["startIndex"],
            &list["totalResults"]
        ),
        (&json!(1), &json!(1), &json!(1))
    );
    is_whole(&list["Resources"][0]);
    let one = provider.get(&at(&list["Resources"][0])).await;
    is_whole(&one);
    let email = format!("runscope@{}.example", tenant.name);
    for nobody in ["abcdefgh@atko.com", email.as_str()] {
        let path = format!(
            "/Users?filter={}",
            encoded(&format!("userName eq \"{nobody}\""))
        );
        let none = provider.get(&path).await;
        assert_eq!(
            (&none["totalResults"], &none["Resources"]),
            (&json!(0), &json!([]))
        );
        assert_eq!(none["schemas"], json!([LIST_SCHEMA]));
    }
    is_refused(
        &provider
            .scim(Method::GET, "/Users/010101001010101011001010101011", None)
            .await,
        404,
        None,
    );
    let made = provider
        .scim(Method::POST, "/Users", Some(&new_user(&email)))
        .await;
    assert_eq!(made.status, 201, "{}", made.text());
    let user = made.json();
    assert_eq!(user["active"], true);
    assert_eq!(user["name"]["familyName"], "Runscope");
    assert_eq!(user["name"]["givenName"], "Random");
    assert_eq!(
        (&user["userName"], &user["schemas"]),
        (&json!(email), &json!([USER_SCHEMA]))
    );
    is_whole(&provider.get(&at(&user)).await);
    let again = provider
        .scim(Method::POST, "/Users", Some(&new_user(&email)))
        .await;
    is_refused(&again, 409, Some("uniqueness"));
    let path = format!(
        "/Users?filter={}",
        encoded(&format!("userName eq \"{}\"", email.to_uppercase()))
    );
    assert_eq!(
        provider.get(&path).await["Resources"][0]["id"],
        user["id"],
        "in any case"
    );
}

async fn okta_assigns_changes_and_deactivates_somebody(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("isaac@{}.example", tenant.name);
    let path = format!(
        "/Users?filter={}&startIndex=1&count=100",
        encoded(&format!("userName eq \"{email}\""))
    );
    assert_eq!(provider.get(&path).await["totalResults"], 0);
    let made = provider
        .scim(Method::POST, "/Users", Some(&new_user(&email)))
        .await;
    let user = made.json();
    // Okta reads, changes what it read, and sends the whole.
    let mut whole = provider.get(&at(&user)).await;
    whole["name"] = json!({"givenName": "Another", "middleName": "Excited", "familyName": "User"});
    whole["displayName"] = json!("Another User");
    let put = provider.scim(Method::PUT, &at(&user), Some(&whole)).await;
    assert_eq!(put.status, 200, "{}", put.text());
    let changed = put.json();
    assert_eq!(
        changed["name"],
        json!({"givenName": "Another", "familyName": "User"})
    );
    assert_eq!(
        (&changed["id"], &changed["active"]),
        (&user["id"], &json!(true))
    );
    for (method, body, active) in [
        (
            Method::PATCH,
            json!({"schemas": [PATCH_SCHEMA], "Operations": [{"op": "replace", "value": {"active": false}}]}),
            false,
        ),
        (
            Method::PATCH,
            json!({"schemas": [PATCH_SCHEMA], "Operations": [{"op": "replace", "value": {"active": true}}]}),
            true,
        ),
        (
            Method::PUT,
            {
                whole["active"] = json!(false);
                whole.clone()
            },
            false,
        ),
    ] {
        let answer = provider.scim(method, &at(&user), Some(&body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.json()["active"], active);
        assert_eq!(provider.get(&at(&user)).await["active"], active);
    }
}

async fn okta_pushes_a_group(tenant: Tenant) {
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
    // It imports the groups there are, and looks for one of the name.
    let list = provider.get("/Groups?startIndex=1&count=100").await;
    assert_eq!(
        (&list["schemas"], &list["totalResults"], &list["Resources"]),
        (&json!([LIST_SCHEMA]), &json!(0), &json!([]))
    );
    let named = format!(
        "/Groups?filter={}",
        encoded("displayName eq \"Test SCIMv2\"")
    );
    let named = format!("{named}&startIndex=1&count=100");
    assert_eq!(provider.get(&named).await["totalResults"], 0);
    let new = json!({"schemas": [GROUP_SCHEMA], "displayName": "Test SCIMv2", "members": []});
    let made = provider.scim(Method::POST, "/Groups", Some(&new)).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let group = made.json();
    assert_eq!(
        (&group["displayName"], &group["members"]),
        (&json!("Test SCIMv2"), &json!([]))
    );
    assert_eq!(provider.get(&named).await["Resources"], json!([group]));
    let member =
        |id: &str| json!({"value": id, "display": format!("{id}@{}.example", tenant.name)});
    let added = json!([{"op": "add", "path": "members", "value": [member(one), member(two)]}]);
    let added = patch(&provider, &group, added).await;
    assert_eq!(members(&added), [one, two]);
    // Who leaves and who comes are told at once.
    let changed = json!([
        {"op": "remove", "path": format!("members[value eq \"{one}\"]")},
        {"op": "add", "path": "members", "value": [member(three)]},
    ]);
    let changed = patch(&provider, &group, changed).await;
    assert_eq!(members(&changed), [two, three]);
    let replaced =
        json!([{"op": "replace", "path": "members", "value": [member(one), member(three)]}]);
    let replaced = patch(&provider, &group, replaced).await;
    assert_eq!(members(&replaced), [one, three]);
    let renamed = json!([
        {"op": "replace", "value": {"id": group["id"], "displayName": "Test SCIMv2 renamed"}},
    ]);
    let renamed = patch(&provider, &group, renamed).await;
    assert_eq!(
        (&renamed["displayName"], members(&renamed)),
        (&json!("Test SCIMv2 renamed"), vec![one.as_str(), three])
    );
    // Integrations of another kind send the whole.
    let whole = json!({
        "schemas": [GROUP_SCHEMA], "id": group["id"], "displayName": "Test SCIMv2",
        "members": [member(two)],
    });
    let put = provider
        .scim(Method::PUT, &place(&group), Some(&whole))
        .await;
    assert_eq!(put.status, 200, "{}", put.text());
    let shown = provider.get(&place(&group)).await;
    assert_eq!((&shown, members(&shown)), (&put.json(), vec![two.as_str()]));
    let user = provider.get(&format!("/Users/{two}")).await;
    assert_eq!(user["groups"][0]["value"], group["id"]);
    // It may be linked with one that is there.
    make(&provider, "Another", &[one]).await;
    let removed = provider.scim(Method::DELETE, &place(&group), None).await;
    assert_eq!(
        (removed.status.as_u16(), removed.text().as_str()),
        (204, "")
    );
    let left = provider.get("/Groups?startIndex=1&count=100").await;
    assert_eq!(left["Resources"][0]["displayName"], "Another");
    assert_eq!(left["totalResults"], 1);
}
