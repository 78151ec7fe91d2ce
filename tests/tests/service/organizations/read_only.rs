//! An inactive organization can be read, and nothing else.

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Listener, Tenant, on_shared_servers};
use serde_json::json;

use super::{path, status, update};

on_shared_servers![
    nothing_is_written_in_an_inactive_organization,
    an_inactive_organization_is_read_and_heard,
    ones_own_marks_are_kept_in_an_inactive_organization,
    people_go_out_of_an_inactive_organization_but_not_in,
    an_organization_that_is_active_again_is_as_before,
];

/// Shows: 2.17
async fn nothing_is_written_in_an_inactive_organization(tenant: Tenant) {
    let olga = tenant.user("olga");
    let message = tenant.ada.say(&tenant.main, "hello").await;
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "organization"}),
        )
        .await;
    let token = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    update(&tenant, &["--active", "false"]);

    let own = tenant.message_path(&message);
    let text = json!({"event": "message", "content": "one more"});
    let ben = tenant.path(&format!("/users/{}", tenant.ben.id));
    let writes = [
        (
            Method::POST,
            format!("/flows/{}", tenant.name),
            json!({"name": "New"}),
        ),
        (Method::PUT, tenant.path(""), json!({"name": "Newer"})),
        (
            Method::PUT,
            tenant.path(""),
            json!({"description": "for nothing"}),
        ),
        (Method::PUT, tenant.path(""), json!({"disabled": true})),
        (
            Method::PUT,
            tenant.path(""),
            json!({"access_mode": "link", "open": true}),
        ),
        (Method::POST, tenant.path("/users"), json!({"id": olga.id})),
        (Method::PUT, ben, json!({"disabled": true})),
        (Method::POST, tenant.path("/messages"), text.clone()),
        (
            Method::POST,
            tenant.path("/messages"),
            json!({"event": "status", "content": "idle"}),
        ),
        (
            Method::POST,
            format!("{own}/comments"),
            json!({"content": "yes"}),
        ),
        (Method::PUT, own.clone(), json!({"content": "goodbye"})),
        (Method::PUT, own.clone(), json!({"tags": ["late"]})),
        (Method::DELETE, own.clone(), json!({})),
        (
            Method::POST,
            tenant.path("/invitations"),
            json!({"email": "new@example.org"}),
        ),
        (
            Method::POST,
            tenant.path("/invitations/import"),
            json!({"list": "new@example.org"}),
        ),
        (
            Method::POST,
            format!("/private/{}/messages", tenant.ben.id),
            text.clone(),
        ),
        (Method::PUT, path(&tenant, ""), json!({"name": "Newer"})),
    ];
    for (method, path, body) in writes {
        let found = status(&tenant.ada.client, method.clone(), &path, &body).await;
        assert_eq!(found, 403, "{method} {path} {body}");
    }
    assert_eq!(status(&token, Method::POST, "/messages", &text).await, 403);
    assert_eq!(
        status(
            &olga.client,
            Method::PUT,
            &tenant.path(""),
            &json!({"open": true})
        )
        .await,
        403
    );
    let name = tenant.ada.get(&path(&tenant, "")).await["name"].clone();
    assert_eq!(name, tenant.name);
    assert_eq!(
        tenant.ada.get(&tenant.path("/messages")).await,
        json!([message])
    );
}

async fn an_inactive_organization_is_read_and_heard(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "hello").await;
    update(&tenant, &["--active", "false"]);
    for path in [
        tenant.path(""),
        tenant.path("/users"),
        tenant.path("/messages?search=hello"),
        tenant.message_path(&message),
        path(&tenant, "/users"),
        "/users".to_owned(),
        "/flows/all?users=1".to_owned(),
    ] {
        tenant.ada.get(&path).await;
    }
    let organization = tenant.ben.get(&path(&tenant, "")).await;
    let flow = tenant.ada.get(&tenant.path("")).await;
    assert_eq!(
        (&organization["active"], &flow["organization"]["active"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(flow["flow_admin"], false);
    for (name, link) in flow["links"].as_object().unwrap() {
        let methods = link["methods"].as_array().unwrap();
        let possible = |method: &Json| method == "GET" || (name == "self" && method == "PUT");
        assert!(methods.iter().all(possible), "{name}: {link}");
    }
    Listener::to(&tenant.ben.client, &[&tenant.main]).await;
}

async fn ones_own_marks_are_kept_in_an_inactive_organization(tenant: Tenant) {
    let message = tenant.ada.say(&tenant.main, "@ben hello").await;
    update(&tenant, &["--active", "false"]);
    tenant
        .ben
        .does(Method::PUT, &tenant.path(""), &json!({"open": false}))
        .await;
    tenant
        .ben
        .does(
            Method::PUT,
            &tenant.path("/read"),
            &json!({"message": message["id"]}),
        )
        .await;
    let flow = tenant.ben.get(&tenant.path("")).await;
    assert_eq!(
        (&flow["open"], &flow["unread_mentions"]),
        (&json!(false), &json!(0))
    );
}

async fn people_go_out_of_an_inactive_organization_but_not_in(tenant: Tenant) {
    let (cleo, dora) = (tenant.member("cleo"), tenant.member("dora"));
    update(&tenant, &["--active", "false"]);
    cleo.does(
        Method::DELETE,
        &tenant.path(&format!("/users/{}", cleo.id)),
        &Json::Null,
    )
    .await;
    tenant
        .ada
        .does(
            Method::DELETE,
            &path(&tenant, &format!("/users/{}", dora.id)),
            &Json::Null,
        )
        .await;
    let users = tenant.ada.get(&tenant.path("/users")).await;
    assert_eq!(users.as_array().unwrap().len(), 2);
    let back = json!({"id": cleo.id});
    assert_eq!(
        status(
            &tenant.ada.client,
            Method::POST,
            &tenant.path("/users"),
            &back
        )
        .await,
        403
    );
}

async fn an_organization_that_is_active_again_is_as_before(tenant: Tenant) {
    let post = json!({"event": "message", "content": "hello"});
    let posted = async || {
        status(
            &tenant.ben.client,
            Method::POST,
            &tenant.path("/messages"),
            &post,
        )
        .await
    };
    for _ in 0..3 {
        assert_eq!(posted().await, 202);
        update(&tenant, &["--active", "false"]);
        assert_eq!(posted().await, 403, "at once");
        update(&tenant, &["--active", "true"]);
    }
    assert_eq!(posted().await, 202);
}
