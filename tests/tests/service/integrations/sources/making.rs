//! Making sources: who can, what is told, and how many there may be.

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Tenant, note_secret, on_shared_servers};
use serde_json::json;

use crate::integrations::{Source, activity, push};

on_shared_servers![
    an_application_makes_a_source_with_the_integration_scope,
    callers_without_an_application_make_none,
    an_operator_makes_a_source_for_scripts,
    a_source_needs_a_name_that_fits,
    a_flow_has_200_sources_at_most,
    a_new_source_is_told_in_the_flow,
];

/// Shows: 1.5, 4.38
async fn an_application_makes_a_source_with_the_integration_scope(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "integration").await;
    let client = robot.with(&tokens["access_token"]);
    // As an application does that was set up: it finds the flow, follows its link, and makes a
    // source.
    let flow = tenant.ben.get(&tenant.path("")).await["id"].clone();
    let request = client
        .request(Method::GET, "/flows/find")
        .query("id", flow.as_str().unwrap());
    let found: Json = request.call().await.unwrap();
    let link = &found["links"]["sources"];
    assert_eq!(link["methods"], json!(["GET", "POST"]));
    let path = link["url"]
        .as_str()
        .unwrap()
        .strip_prefix(tenant.server().base_url())
        .unwrap()
        .to_owned();
    let new = json!({"name": "Tickets", "external_url": "https://tracker.example/"});
    let made = client
        .request(Method::POST, &path)
        .json(&new)
        .send()
        .await
        .unwrap();
    note_secret(made.json()["flow_token"].as_str().unwrap());
    assert_eq!(
        (made.status.as_u16(), &made.json()["external_url"]),
        (201, &new["external_url"])
    );
    let list: Json = client.request(Method::GET, &path).call().await.unwrap();
    assert_eq!(list[0]["id"], made.json()["id"]);
}

/// Shows: 4.38
async fn callers_without_an_application_make_none(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot
        .by_password(&tenant.ben, "flow private manage profile offline_access")
        .await;
    for (who, client) in [
        ("API token", tenant.ben.client.clone()),
        ("password", tenant.ben.by_password()),
        (
            "flow token",
            tenant.client(Credentials::FlowToken(tenant.flow_token())),
        ),
        ("token of a source", Source::new(&tenant).await.client),
        (
            "access token without the scope",
            robot.with(&tokens["access_token"]),
        ),
    ] {
        let request = client
            .request(Method::POST, &tenant.path("/sources"))
            .json(&json!({"name": "Mine"}));
        let refused = request.send().await.unwrap();
        assert_eq!(refused.status, 403, "{who}");
        assert_eq!(refused.json(), json!({"message": "Access denied"}), "{who}");
    }
    assert_eq!(
        tenant
            .ben
            .get(&tenant.path("/sources"))
            .await
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// Shows: 4.38
async fn an_operator_makes_a_source_for_scripts(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    for (app, name) in [(&robot.id, "by number"), (&robot.client_id, "by client id")] {
        let line = [
            "source",
            "create",
            "--flow",
            &tenant.main,
            "--app",
            app,
            "--name",
            name,
        ];
        let made = tenant.server().admin(&line);
        let fields: Vec<_> = made.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["application", "flow", "flow_token", "id", "name"]);
        assert_eq!(
            (&made["application"], &made["name"]),
            (&json!(robot.id), &json!(name))
        );
        let token = made["flow_token"].as_str().unwrap().to_owned();
        let posted = push(
            &tenant.client(Credentials::FlowToken(token)),
            &activity("1", "by a script"),
        )
        .await;
        assert_eq!(posted["thread"]["source"]["id"], made["id"]);
        let source = tenant
            .ben
            .get(&tenant.path(&format!("/sources/{}", made["id"])))
            .await;
        assert_eq!(
            (&source["creator"], &source["flow"]),
            (&Json::Null, &made["flow"])
        );
    }
    // Operators' commands are told to nobody.
    assert_eq!(
        tenant.ben.get(&tenant.path("/messages?event=action")).await,
        json!([])
    );
    let nowhere = format!("{}/nowhere", tenant.name);
    let long = "x".repeat(101);
    for (flow, app, name) in [
        (nowhere.as_str(), robot.id.as_str(), "x"),
        (&tenant.main, "999999999", "x"),
        (&tenant.main, "no-such-client", "x"),
        (&tenant.main, &robot.id, " "),
        (&tenant.main, &robot.id, &long),
    ] {
        let line = [
            "source", "create", "--flow", flow, "--app", app, "--name", name,
        ];
        assert!(tenant.server().try_admin(&line).is_err(), "{line:?}");
    }
}

async fn a_source_needs_a_name_that_fits(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "integration").await;
    let client = robot.with(&tokens["access_token"]);
    let make = async |body: &Json| {
        client
            .request(Method::POST, &tenant.path("/sources"))
            .json(body)
            .send()
            .await
            .unwrap()
    };
    for (body, field) in [
        (json!({}), "name"),
        (json!({"name": "  "}), "name"),
        (json!({"name": "ä".repeat(101)}), "name"),
        (json!({"name": ["x"]}), "name"),
        (
            json!({"name": "x", "external_url": "ftp://x.example"}),
            "external_url",
        ),
    ] {
        let refused = make(&body).await;
        assert_eq!(refused.status, 400, "{body}");
        assert!(
            refused.json()["errors"][field][0].is_string(),
            "{body}: {}",
            refused.text()
        );
    }
    let longest = make(&json!({"name": "ä".repeat(100), "external_url": ""})).await;
    note_secret(longest.json()["flow_token"].as_str().unwrap());
    assert_eq!(
        (longest.status.as_u16(), &longest.json()["external_url"]),
        (201, &Json::Null)
    );
}

async fn a_flow_has_200_sources_at_most(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "integration").await;
    let client = robot.with(&tokens["access_token"]);
    let request = || {
        client
            .request(Method::POST, &tenant.path("/sources"))
            .json(&json!({"name": "x"}))
    };
    // Also when many are made at once.
    let mut making = tokio::task::JoinSet::new();
    for _ in 0..210 {
        making.spawn(request().send());
    }
    let mut statuses = std::collections::BTreeMap::<u16, u32>::new();
    for made in making.join_all().await {
        let made = made.unwrap();
        *statuses.entry(made.status.as_u16()).or_default() += 1;
        note_secret(made.json()["flow_token"].as_str().unwrap_or_default());
    }
    assert_eq!(
        statuses.into_iter().collect::<Vec<_>>(),
        [(201, 200), (409, 10)]
    );
    let refused = request().send().await.unwrap();
    assert_eq!(refused.status, 409, "{}", refused.text());
    let first = tenant.ben.get(&tenant.path("/sources")).await[0]["id"].clone();
    tenant
        .ben
        .does(
            Method::DELETE,
            &tenant.path(&format!("/sources/{first}")),
            &Json::Null,
        )
        .await;
    let made = request().send().await.unwrap();
    assert_eq!(made.status, 201, "a removed one makes room");
    note_secret(made.json()["flow_token"].as_str().unwrap());
}

/// Shows: 6.2
async fn a_new_source_is_told_in_the_flow(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let told = tenant.ada.get(&tenant.path("/messages?event=action")).await[0].clone();
    assert_eq!(
        told["content"],
        json!({"type": "source-add", "description": "Tickets"})
    );
    assert_eq!(told["user"], tenant.ben.id.to_string());
    // Other changes are not.
    let change = json!({"name": "Bugs", "error_message": "x"});
    source
        .client
        .request(Method::PUT, "/sources")
        .json(&change)
        .done()
        .await
        .unwrap();
    assert_eq!(
        tenant.ada.get(&tenant.path("/messages?event=action")).await,
        json!([told])
    );
}
