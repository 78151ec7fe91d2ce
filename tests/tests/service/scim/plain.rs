//! Plain JSON gets exactly the shapes of the specification.

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::at;

on_shared_servers![
    a_right_token_is_told_so,
    a_user_has_exactly_the_fields_of_the_specification,
    a_list_holds_all_users_that_are_linked,
    a_user_is_made_changed_and_removed,
    a_mistake_names_the_attribute,
    a_form_is_no_resource,
];

fn keys(value: &Json) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// Shows: 1.9, 4.50
async fn a_right_token_is_told_so(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let answer = provider.plain(Method::GET, "", None).await;
    assert_eq!(answer.status, 200);
    assert_eq!(keys(&answer.json()), ["message"]);
}

/// Shows: 2.34, 7.2
async fn a_user_has_exactly_the_fields_of_the_specification(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let wanted = json!({
        "userName": email,
        "name": {"givenName": "Zoë", "familyName": "van der  Berg"},
        "emails": [{"value": email}, {"value": "other@example.org"}],
    });
    let answer = provider.plain(Method::POST, "/Users", Some(&wanted)).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(
        answer.header("content-type"),
        Some("application/json; charset=utf-8")
    );
    let user = answer.json();
    assert_eq!(
        keys(&user),
        [
            "emails",
            "externalId",
            "id",
            "meta",
            "name",
            "nickName",
            "userName"
        ],
        "{user}"
    );
    assert_eq!(keys(&user["meta"]), ["created", "lastModified", "location"]);
    let id = user["id"].as_i64().unwrap();
    let location = format!(
        "{}/scim/{}/Users/{id}",
        tenant.server().base_url(),
        provider.uid
    );
    assert_eq!(user["meta"]["location"], location);
    assert_eq!(answer.header("location"), Some(location.as_str()));
    assert_eq!(
        (&user["userName"], &user["externalId"]),
        (&json!(email), &json!(email))
    );
    assert_eq!(
        user["name"],
        json!({"givenName": "Zoë", "familyName": "van der  Berg"})
    );
    assert_eq!(
        user["emails"],
        json!([{"value": email}]),
        "only the first counts"
    );
    assert_eq!(user["nickName"], "Zoë", "made from the name");
    for name in ["created", "lastModified"] {
        let at = user["meta"][name].as_str().unwrap();
        assert!(at.len() == 24 && at.ends_with('Z'), "{at}");
    }
    assert_eq!(
        provider.plain(Method::GET, &at(&user), None).await.json(),
        user
    );
    let shown = tenant.ada.get(&format!("/users/{id}")).await;
    assert_eq!(
        (&shown["name"], &shown["email"]),
        (&json!("Zoë van der  Berg"), &json!(email))
    );
}

/// Shows: 4.50, 4.51
async fn a_list_holds_all_users_that_are_linked(tenant: Tenant) {
    let (server, organization) = (tenant.server(), tenant.name.as_str());
    let provider = server.provider(organization);
    let list = async || provider.plain(Method::GET, "/Users", None).await.json();
    assert_eq!(
        list().await,
        json!({"Resources": []}),
        "users who are not linked are not seen"
    );
    server.admin(&[
        "scim",
        "link",
        "--org",
        organization,
        "--email",
        &tenant.ben.email,
    ]);
    server.admin(&[
        "scim",
        "link",
        "--org",
        organization,
        "--email",
        &tenant.ben.email,
    ]);
    let listed = list().await;
    assert_eq!(keys(&listed), ["Resources"]);
    assert_eq!(listed["Resources"].as_array().unwrap().len(), 1);
    let ben = &listed["Resources"][0];
    assert_eq!(
        (&ben["id"], &ben["userName"]),
        (&json!(tenant.ben.id), &json!(tenant.ben.email))
    );
    assert_eq!(
        provider.plain(Method::GET, &at(ben), None).await.json(),
        *ben
    );
    // Neither a bot, nor who is elsewhere.
    let bot = format!("bot@{organization}.example");
    let arguments = [
        "user",
        "create",
        "--org",
        organization,
        "--email",
        &bot,
        "--name",
        "Bot",
        "--nick",
        "bot",
    ];
    server.admin(&[&arguments[..], &["--bot"]].concat());
    assert!(
        server
            .try_admin(&["scim", "link", "--org", organization, "--email", &bot])
            .is_err()
    );
    let ada = json!({"id": tenant.ada.id});
    assert_eq!(
        provider.plain(Method::GET, &at(&ada), None).await.status,
        404
    );
    let other = tenant.neighbour();
    assert!(
        server
            .try_admin(&[
                "scim",
                "link",
                "--org",
                organization,
                "--email",
                &other.ben.email
            ])
            .is_err()
    );
    let elsewhere = server.provider(&other.name);
    assert_eq!(
        elsewhere.plain(Method::GET, &at(ben), None).await.status,
        404
    );
    assert_eq!(
        elsewhere.plain(Method::DELETE, &at(ben), None).await.status,
        404
    );
}

/// Shows: 1.7, 4.50
async fn a_user_is_made_changed_and_removed(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("cleo@{}.example", tenant.name);
    let body = json!({"userName": email, "nickName": "cleo", "emails": [{"value": email}]});
    let made = provider.plain(Method::POST, "/Users", Some(&body)).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let user = made.json();
    assert_eq!(user["nickName"], "cleo");
    assert_eq!(
        provider
            .plain(Method::POST, "/Users", Some(&body))
            .await
            .status,
        409
    );
    let new = format!("cleo.new@{}.example", tenant.name);
    let change =
        json!({"name": {"givenName": "Cleo", "familyName": "King"}, "emails": [{"value": new}]});
    let changed = provider.plain(Method::PUT, &at(&user), Some(&change)).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    let changed = changed.json();
    assert_eq!(
        (
            &changed["name"]["familyName"],
            &changed["emails"][0]["value"]
        ),
        (&json!("King"), &json!(new))
    );
    assert_eq!(
        (&changed["nickName"], &changed["userName"]),
        (&json!("cleo"), &json!(email)),
        "not said"
    );
    let removed = provider.plain(Method::DELETE, &at(&user), None).await;
    assert_eq!(
        (removed.status.as_u16(), removed.text().as_str()),
        (204, "")
    );
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(provider.plain(method, &at(&user), None).await.status, 404);
    }
}

/// Shows: 7.6
async fn a_mistake_names_the_attribute(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    for (body, attribute) in [
        (json!({}), "userName"),
        (json!({"userName": ""}), "userName"),
        (json!({"userName": 7}), "userName"),
        (
            json!({"userName": "x".repeat(256), "emails": [{"value": "x@x.example"}]}),
            "userName",
        ),
        (
            json!({"userName": "a\u{202e}b", "emails": [{"value": "x@x.example"}]}),
            "userName",
        ),
        (json!({"userName": "no-address"}), "emails"),
        (
            json!({"userName": "x", "emails": [{"value": "not an address"}]}),
            "emails",
        ),
        (
            json!({"userName": "x@x.example", "name": {"givenName": "n".repeat(101)}}),
            "name",
        ),
        (
            json!({"userName": "x@x.example", "nickName": "two words"}),
            "nickName",
        ),
        (
            json!({"userName": "x@x.example", "active": "perhaps"}),
            "active",
        ),
    ] {
        let answer = provider.plain(Method::POST, "/Users", Some(&body)).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        let told = answer.json();
        assert_eq!(keys(&told["errors"]), [attribute], "{body}: {told}");
    }
}

async fn a_form_is_no_resource(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let client = tenant.client(eddyline_client::Credentials::Bearer(provider.token.clone()));
    let request = client
        .request(Method::POST, &provider.path("/Users"))
        .form(&[("userName", "x@x.example")]);
    assert_eq!(request.send().await.unwrap().status, 415);
    for (body, status) in [("{", 400), ("[]", 400), ("", 400), ("null", 400)] {
        let request = client
            .request(Method::POST, &provider.path("/Users"))
            .raw("application/json", body);
        assert_eq!(
            request.send().await.unwrap().status.as_u16(),
            status,
            "{body:?}"
        );
    }
}
