//! Organizations (specification, sections 2 and 4): what they show, who changes them, and what is
//! lost with them.

use eddyline_client::{Client, Credentials, Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

mod operators;
mod read_only;
mod removal;

on_shared_servers![
    an_organization_has_every_field_of_the_specification,
    the_organizations_of_a_caller_are_listed,
    a_strangers_organization_is_not_found,
    administrators_rename_their_organization,
    a_name_that_cannot_be_read_changes_nothing,
    the_users_of_an_organization_say_who_administers,
    a_name_in_a_path_is_not_case_sensitive,
];

/// The path of an organization, and what follows it.
fn path(tenant: &Tenant, rest: &str) -> String {
    format!("/organizations/{}{rest}", tenant.name)
}

async fn status(client: &Client, method: Method, path: &str, body: &Json) -> u16 {
    client
        .request(method, path)
        .json(body)
        .send()
        .await
        .unwrap()
        .status
        .as_u16()
}

/// Changes the organization as its operator.
fn update(tenant: &Tenant, change: &[&str]) -> Json {
    tenant
        .server()
        .admin(&[&["org", "update", "--org", &tenant.name], change].concat())
}

fn somebody(caller: &Caller, name: &str, admin: bool) -> Json {
    json!({"id": caller.id, "name": name, "email": caller.email, "admin": admin})
}

/// Shows: 2.6, 2.17, 4.34
async fn an_organization_has_every_field_of_the_specification(tenant: Tenant) {
    let organization = tenant.ben.get(&path(&tenant, "")).await;
    let expected = json!({
        "id": organization["id"],
        "parameterized_name": tenant.name,
        "name": tenant.name,
        "user_limit": 1000,
        "user_count": 2,
        "active": true,
        "url": format!("{}{}", tenant.server().base_url(), path(&tenant, "")),
        "subscription": {"trial": false, "billing_date": null},
        "users": [somebody(&tenant.ada, "ada", true), somebody(&tenant.ben, "ben", false)],
        "groups": [],
    });
    assert_eq!(organization, expected);
    let id = organization["id"].as_i64().unwrap();
    assert_eq!(
        tenant
            .ben
            .get(&format!("/organizations/find?id={id}"))
            .await,
        expected
    );
    let flow = tenant.ben.get(&tenant.path("")).await;
    for (field, value) in flow["organization"].as_object().unwrap() {
        assert_eq!(*value, expected[field], "{field}");
    }
}

/// Shows: 4.34
async fn the_organizations_of_a_caller_are_listed(tenant: Tenant) {
    let (neighbour, cleo) = (tenant.neighbour(), tenant.user("cleo"));
    let own = tenant.ben.get(&path(&tenant, "")).await;
    assert_eq!(cleo.get("/organizations").await, json!([own]));
    let join = [
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        &cleo.email,
    ];
    tenant
        .server()
        .admin(&[&join[..], &["--name", "cleo", "--nick", "cleo"]].concat());
    let other = neighbour.ben.get(&path(&neighbour, "")).await;
    assert_eq!(
        (
            &other["user_count"],
            other["users"].as_array().unwrap().len()
        ),
        (&json!(3), 3)
    );
    assert_eq!(cleo.get("/organizations").await, json!([own, other]));
}

/// Shows: 4.34
async fn a_strangers_organization_is_not_found(tenant: Tenant) {
    let stranger = &tenant.neighbour().ada;
    let id = tenant.ben.get(&path(&tenant, "")).await["id"].clone();
    let body = json!({"id": id, "name": "Mine"});
    for (method, path) in [
        (Method::GET, path(&tenant, "")),
        (Method::GET, "/organizations/find".to_owned()),
        (Method::PUT, path(&tenant, "")),
        (Method::GET, path(&tenant, "/users")),
        (
            Method::GET,
            path(&tenant, &format!("/users/{}", tenant.ben.id)),
        ),
        (
            Method::DELETE,
            path(&tenant, &format!("/users/{}", tenant.ben.id)),
        ),
    ] {
        let answer = stranger.send(method.clone(), &path, &body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()),
            (404, json!({"message": "not found"})),
            "{path}"
        );
    }
    let find = |id: Json| async move {
        stranger
            .send(Method::GET, "/organizations/find", &json!({"id": id}))
            .await
            .status
            .as_u16()
    };
    assert_eq!(find(json!(999_999_999)).await, 404);
    for id in [json!(null), json!("x"), json!("9223372036854775808")] {
        assert_eq!(find(id.clone()).await, 400, "{id}");
    }
}

/// Shows: 1.8, 4.34
async fn administrators_rename_their_organization(tenant: Tenant) {
    // What a flow says of its organization is remembered by now.
    tenant.ben.say(&tenant.main, "hello").await;
    let answer = tenant
        .ada
        .send(
            Method::PUT,
            &path(&tenant, ""),
            &json!({"name": " Acme & Söhne "}),
        )
        .await;
    assert_eq!(answer.status, 200);
    let renamed = answer.json();
    assert_eq!(
        (&renamed["name"], &renamed["parameterized_name"]),
        (&json!("Acme & Söhne"), &json!(tenant.name))
    );
    assert_eq!(tenant.ben.get(&path(&tenant, "")).await, renamed);
    assert_eq!(
        tenant.ben.get(&tenant.path("")).await["organization"]["name"],
        "Acme & Söhne"
    );
    let name = json!({"name": "Bens"});
    assert_eq!(
        status(&tenant.ben.client, Method::PUT, &path(&tenant, ""), &name).await,
        403
    );
    let token = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    assert_eq!(
        status(&token, Method::PUT, &path(&tenant, ""), &name).await,
        403
    );
    assert_eq!(
        tenant.ben.get(&path(&tenant, "")).await["name"],
        "Acme & Söhne"
    );
}

async fn a_name_that_cannot_be_read_changes_nothing(tenant: Tenant) {
    for body in [
        json!({}),
        json!({"name": null}),
        json!({"name": " "}),
        json!({"name": "x".repeat(101)}),
    ] {
        let answer = tenant
            .ada
            .send(Method::PUT, &path(&tenant, ""), &body)
            .await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(
            answer.json()["errors"]["name"].is_array(),
            "{}",
            answer.text()
        );
    }
    assert_eq!(
        tenant.ada.get(&path(&tenant, "")).await["name"],
        tenant.name
    );
}

/// Shows: 2.16, 4.33
async fn the_users_of_an_organization_say_who_administers(tenant: Tenant) {
    let olga = tenant.user("olga");
    let users = olga.get(&path(&tenant, "/users")).await;
    let mut expected = Vec::new();
    for (caller, admin) in [(&tenant.ada, true), (&tenant.ben, false), (&olga, false)] {
        let mut user = caller.get("/user").await;
        user["admin"] = json!(admin);
        let one = olga
            .get(&path(&tenant, &format!("/users/{}", caller.id)))
            .await;
        assert_eq!(one, user);
        expected.push(user);
    }
    assert_eq!(
        users,
        json!(expected),
        "everybody, also those one shares no flow with"
    );
    let stranger = tenant.neighbour().ben.id;
    for id in [
        stranger.to_string(),
        "0".into(),
        "x".into(),
        "9223372036854775808".into(),
    ] {
        let path = path(&tenant, &format!("/users/{id}"));
        assert_eq!(
            status(&olga.client, Method::GET, &path, &json!({})).await,
            404,
            "{id}"
        );
    }
}

async fn a_name_in_a_path_is_not_case_sensitive(tenant: Tenant) {
    let loud = format!("/organizations/{}", tenant.name.to_uppercase());
    assert_eq!(
        tenant.ben.get(&loud).await,
        tenant.ben.get(&path(&tenant, "")).await
    );
}
