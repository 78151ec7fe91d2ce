//! Changing parts of users.

use eddyline_client::Method;
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::{at, is_refused, operations, patched};

on_shared_servers![
    every_attribute_is_changed_by_its_path,
    changes_without_a_path_name_attributes,
    all_changes_are_made_or_none,
    what_cannot_be_applied_is_an_error,
    plain_json_patches_too,
];

async fn every_attribute_is_changed_by_its_path(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let user = provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    let email = format!("new@{}.example", tenant.name);
    for (op, path, value, at, then) in [
        (
            "replace",
            "userName",
            json!("zoe.king"),
            "/userName",
            json!("zoe.king"),
        ),
        ("Add", "externalId", json!("x1"), "/externalId", json!("x1")),
        (
            "REPLACE",
            "name.givenName",
            json!("Zoë"),
            "/displayName",
            json!("Zoë King"),
        ),
        (
            "replace",
            "name.familyName",
            json!("Queen Bee"),
            "/displayName",
            json!("Zoë Queen Bee"),
        ),
        (
            "replace",
            "displayName",
            json!("Zoe Prince"),
            "/name/familyName",
            json!("Prince"),
        ),
        (
            "replace",
            "name",
            json!({"givenName": "Zo"}),
            "/name/givenName",
            json!("Zo"),
        ),
        ("replace", "nickName", json!("zo"), "/nickName", json!("zo")),
        (
            "replace",
            "emails[type eq \"work\"].value",
            json!(email),
            "/emails/0/value",
            json!(email),
        ),
        (
            "add",
            "urn:ietf:params:scim:schemas:core:2.0:User:nickName",
            json!("zozo"),
            "/nickName",
            json!("zozo"),
        ),
        ("replace", "active", json!("False"), "/active", json!(false)),
        ("replace", "ACTIVE", json!(true), "/active", json!(true)),
    ] {
        let changed = patched(
            &provider,
            &user,
            json!([{"op": op, "path": path, "value": value}]),
        )
        .await;
        assert_eq!(changed.pointer(at), Some(&then), "{op} {path}: {changed}");
        assert_eq!(provider.get(&super::at(&user)).await, changed);
    }
    let without = patched(
        &provider,
        &user,
        json!([{"op": "remove", "path": "externalId"}]),
    )
    .await;
    assert!(without.get("externalId").is_none());
    let without = patched(
        &provider,
        &user,
        json!([{"op": "remove", "path": "name.familyName"}]),
    )
    .await;
    assert_eq!(without["displayName"], "Zo");
    let without = patched(
        &provider,
        &user,
        json!([{"op": "remove", "path": "nickName"}]),
    )
    .await;
    assert_eq!(without["nickName"], "Zo", "made from the name");
}

async fn changes_without_a_path_name_attributes(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let user = provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    let changed = patched(
        &provider,
        &user,
        json!([{"op": "replace", "value": {
            "name.givenName": "Zoë",
            "nickName": "zozo",
            "active": "True",
            "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"department": "Sales"},
            "favouriteColour": "green",
        }}]),
    )
    .await;
    assert_eq!(
        (&changed["displayName"], &changed["nickName"]),
        (&json!("Zoë King"), &json!("zozo"))
    );
}

async fn all_changes_are_made_or_none(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let user = provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    for second in [
        json!({"op": "replace", "path": "emails", "value": [{"value": "no address"}]}),
        json!({"op": "replace", "path": "nickName", "value": "ben"}),
        json!({"op": "remove", "path": "userName"}),
    ] {
        let body =
            operations(&json!([{"op": "replace", "path": "displayName", "value": "Max"}, second]));
        let answer = provider.scim(Method::PATCH, &at(&user), Some(&body)).await;
        assert!(
            matches!(answer.status.as_u16(), 400 | 409),
            "{second}: {}",
            answer.text()
        );
    }
    assert_eq!(provider.get(&at(&user)).await, user);
}

async fn what_cannot_be_applied_is_an_error(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let user = provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    for unkept in [
        json!([{"op": "replace", "path": "title", "value": "Boss"}]),
        json!([{"op": "replace", "value": {"favouriteColour": "green"}}]),
    ] {
        let body = operations(&unkept);
        let answer = provider.scim(Method::PATCH, &at(&user), Some(&body)).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, user.clone()));
    }
    for (changes, scim_type) in [
        (
            json!([{"op": "replace", "path": "favouriteColour", "value": "green"}]),
            "invalidPath",
        ),
        (
            json!([{"op": "replace", "path": "emails[", "value": "x"}]),
            "invalidFilter",
        ),
        (
            json!([{"op": "replace", "path": "emails[type eq \"home\"].value", "value": "x@x.example"}]),
            "noTarget",
        ),
        (
            json!([{"op": "replace", "path": "id", "value": "7"}]),
            "mutability",
        ),
        (
            json!([{"op": "replace", "path": "active", "value": "maybe"}]),
            "invalidValue",
        ),
        (json!([{"op": "remove", "path": "emails"}]), "mutability"),
        (json!([{"op": "remove"}]), "noTarget"),
        (
            json!([{"op": "move", "path": "active", "value": false}]),
            "invalidSyntax",
        ),
        (json!([]), "invalidSyntax"),
        (json!("x"), "invalidSyntax"),
    ] {
        let answer = provider
            .scim(Method::PATCH, &at(&user), Some(&operations(&changes)))
            .await;
        assert_eq!(
            answer.json()["scimType"],
            scim_type,
            "{changes}: {}",
            answer.text()
        );
        is_refused(&answer, 400, Some(scim_type));
    }
    assert_eq!(provider.get(&at(&user)).await, user);
}

async fn plain_json_patches_too(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let user = provider
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    let body = json!({"Operations": [{"op": "replace", "path": "nickName", "value": "zozo"}]});
    let answer = provider.plain(Method::PATCH, &at(&user), Some(&body)).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["nickName"]),
        (200, &json!("zozo"))
    );
    assert!(answer.json()["id"].is_i64());
    let body = json!({"Operations": [{"op": "remove", "path": "userName"}]});
    let answer = provider.plain(Method::PATCH, &at(&user), Some(&body)).await;
    assert_eq!(answer.status, 400);
    assert!(
        answer.json()["errors"]["userName"].is_array(),
        "{}",
        answer.text()
    );
}
