//! The audit log records what happened, and nothing else: a repeated action is recorded once.

use eddyline_client::{Json, Method};
use eddyline_tests::{CALLBACK, PASSWORD, Tenant, on_shared_servers};
use serde_json::json;

use super::{newest, records};

on_shared_servers![
    what_an_operator_does_twice_is_recorded_once,
    what_a_member_does_twice_is_recorded_once,
    what_a_browser_does_twice_is_recorded_once,
    nobody_takes_back_what_was_not_allowed,
    what_ends_with_something_larger_is_recorded,
    other_organizations_do_not_learn_who_it_was,
];

/// Returns the number of records that an organization has.
fn count(tenant: &Tenant) -> usize {
    let arguments = ["--org", &*tenant.name, "--limit", "1000"];
    records(tenant.server(), &arguments).len()
}

/// Checks that the first time was recorded, and the second time was not.
fn check(what: &str, [before, once, twice]: [usize; 3]) {
    assert!(once > before, "{what} was not recorded");
    assert_eq!(twice, once, "{what} was recorded again");
}

async fn what_an_operator_does_twice_is_recorded_once(tenant: Tenant) {
    let (org, flow, email) = (&*tenant.name, &*tenant.main, &*tenant.ben.email);
    let domain = format!("{org}.example");
    let user = ["--org", org, "--email", email];
    let in_flow = ["--flow", flow, "--email", email];
    let commands: &[&[&str]] = &[
        &["org", "update", "--org", org, "--user-limit", "77"],
        &["org", "update", "--org", org, "--name", "Another name"],
        &["org", "domain", "add", "--org", org, "--domain", &domain],
        &["org", "domain", "remove", "--org", org, "--domain", &domain],
        &["scim", "enable", "--org", org],
        &["scim", "disable", "--org", org],
        &["retention", "set", "--org", org, "--days", "30"],
        &["retention", "set", "--flow", flow, "--forever"],
        &["retention", "clear", "--org", org],
        &["hold", "place", "--org", org, "--reason", "a case"],
        &["hold", "release", "--org", org],
        &["hold", "place", "--flow", flow, "--reason", "a case"],
        &["hold", "release", "--flow", flow],
        &["group", "create", "--org", org, "--name", "crew"],
        &[
            "group", "add-user", "--org", org, "--group", "crew", "--email", email,
        ],
        &[
            "group",
            "remove-user",
            "--org",
            org,
            "--group",
            "crew",
            "--email",
            email,
        ],
        &["group", "remove", "--org", org, "--group", "crew"],
        &["flow", "archive", "--flow", flow],
        &["flow", "archive", "--flow", flow, "--undo"],
        &[&["flow", "remove-user"], &in_flow[..]].concat(),
        &[&["flow", "add-user"], &in_flow[..]].concat(),
        &[&["user", "set-admin"], &user[..], &["--admin", "true"]].concat(),
        &[&["user", "set-admin"], &user[..], &["--admin", "false"]].concat(),
        &["user", "set-active", "--email", email, "--active", "false"],
        &["user", "set-active", "--email", email, "--active", "true"],
        &[&["user", "remove"], &user[..]].concat(),
    ];
    for command in commands {
        let before = count(&tenant);
        let first = tenant.server().try_admin(command);
        assert!(first.is_ok(), "{command:?}: {first:?}");
        let once = count(&tenant);
        // Some commands refuse what is done already.
        let _ = tenant.server().try_admin(command);
        check(&command.join(" "), [before, once, count(&tenant)]);
    }
}

async fn what_a_member_does_twice_is_recorded_once(tenant: Tenant) {
    let (flow, org) = (tenant.path(""), format!("/organizations/{}", tenant.name));
    let cleo = tenant.user("cleo");
    let groups = format!("{org}/groups");
    let name = json!({"name": "crew"});
    let crew = tenant.ada.send(Method::POST, &groups, &name).await;
    let group = format!("{groups}/{}", crew.json()["id"]);
    let user = |id: i64| format!("{flow}/users/{id}");
    let robot = tenant.server().robot(&tenant.name, &[]);
    let command = [
        "source",
        "create",
        "--flow",
        &tenant.main,
        "--name",
        "Builds",
    ];
    let builds = [&command[..], &["--app", &robot.id]].concat();
    let builds = tenant.server().admin(&builds)["id"].to_string();
    let source = tenant.path(&format!("/sources/{}", builds.trim_matches('"')));
    for (method, path, body) in [
        (Method::PUT, org.clone(), json!({"name": "Another name"})),
        (Method::PUT, flow.clone(), json!({"name": "Another name"})),
        (
            Method::PUT,
            flow.clone(),
            json!({"description": "All of it"}),
        ),
        (Method::PUT, flow.clone(), json!({"access_mode": "link"})),
        (
            Method::POST,
            format!("{flow}/users"),
            json!({"id": cleo.id}),
        ),
        (Method::PUT, user(cleo.id), json!({"disabled": true})),
        (Method::PUT, user(cleo.id), json!({"disabled": false})),
        (Method::PUT, group.clone(), json!({"name": "team"})),
        (
            Method::PUT,
            group.clone(),
            json!({"users": cleo.id.to_string()}),
        ),
        (
            Method::POST,
            format!("{group}/users"),
            json!({"id": tenant.ben.id}),
        ),
        (
            Method::DELETE,
            format!("{group}/users/{}", cleo.id),
            Json::Null,
        ),
        (Method::DELETE, group.clone(), Json::Null),
        (Method::PUT, source.clone(), json!({"name": "Tests"})),
        (Method::DELETE, source.clone(), Json::Null),
        (
            Method::PUT,
            "/user".to_owned(),
            json!({"name": "Ada Example"}),
        ),
        (Method::PUT, flow.clone(), json!({"disabled": true})),
        (Method::PUT, flow.clone(), json!({"disabled": false})),
        (
            Method::DELETE,
            format!("{org}/users/{}", cleo.id),
            Json::Null,
        ),
    ] {
        let what = format!("{method} {path} {body}");
        let before = count(&tenant);
        let first = tenant.ada.send(method.clone(), &path, &body).await;
        assert!(first.status.is_success(), "{what}: {}", first.text());
        let once = count(&tenant);
        tenant.ada.send(method, &path, &body).await;
        check(&what, [before, once, count(&tenant)]);
    }
}

async fn what_a_browser_does_twice_is_recorded_once(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    robot.by_password(&tenant.ada, "flow").await;
    robot.by_password(&tenant.ben, "flow").await;
    let mut ada = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    let listed = tenant
        .server()
        .admin(&["token", "list", "--email", &tenant.ada.email]);
    let token = format!(
        "/account/tokens/{}",
        listed["tokens"][0]["id"].as_str().unwrap()
    );
    let application = format!("/developer/{}", robot.id);
    let settings = format!("/app/{}/settings/applications", tenant.name);
    let ben = tenant.ben.id.to_string();
    let changed = [("name", "Robot 2"), ("redirect_uri", "https://x.example/")];
    let steps: [(&str, &[(&str, &str)]); 6] = [
        (&token, &[("do", "rename"), ("name", "Another name")]),
        (&application, &changed),
        ("/account/applications", &[("application", &robot.id)]),
        (&settings, &[("user", &ben), ("application", &robot.id)]),
        (&token, &[("do", "end")]),
        (&format!("{application}/remove"), &[]),
    ];
    for (path, fields) in steps {
        let before = count(&tenant);
        ada.post(path, fields).await.sent_on();
        let once = count(&tenant);
        ada.post(path, fields).await;
        check(path, [before, once, count(&tenant)]);
    }
    let change = newest(&tenant, "application.change");
    assert_eq!(change["detail"]["name"], json!(["Robot", "Robot 2"]));
    assert_eq!(
        change["detail"]["redirect_uris"],
        json!([[CALLBACK], ["https://x.example/"]])
    );
    let rename = newest(&tenant, "token.rename");
    assert_eq!(rename["detail"]["name"][1], "Another name");
}

async fn nobody_takes_back_what_was_not_allowed(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let (own, other) = (
        tenant.server().robot(&tenant.name, &[]),
        tenant.server().robot(&neighbour.name, &[]),
    );
    let mut ada = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    let before = count(&tenant);
    let settings = format!("/app/{}/settings/applications", tenant.name);
    let ben = tenant.ben.id.to_string();
    for id in [&own.id, &other.id, "999999999"] {
        let path = "/account/applications";
        ada.post(path, &[("application", id)])
            .await
            .says(404, "Page not found");
        let fields = [("user", &*ben), ("application", id)];
        ada.post(&settings, &fields).await.says(404, "");
    }
    assert_eq!(count(&tenant), before);
}

/// Returns the number of records of an action that an organization has.
fn count_of(tenant: &Tenant, action: &str) -> usize {
    let arguments = [
        "--org",
        &*tenant.name,
        "--action",
        action,
        "--limit",
        "1000",
    ];
    records(tenant.server(), &arguments).len()
}

async fn what_ends_with_something_larger_is_recorded(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let kept = robot.by_password(&tenant.ben, "flow offline_access").await;
    let _session = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let before = ["grant.revoke", "token.revoke", "session.end"].map(|of| count_of(&tenant, of));
    let inactive = [
        "user",
        "set-active",
        "--email",
        &tenant.ben.email,
        "--active",
        "false",
    ];
    tenant.server().admin(&inactive);
    let after = ["grant.revoke", "token.revoke", "session.end"].map(|of| count_of(&tenant, of));
    assert_eq!(after, before.map(|count| count + 1));
    let refresh = kept["refresh_token"].as_str().unwrap();
    let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh)];
    robot.refused(&fields, "invalid_grant").await;

    // Another password ends all sessions.
    let _session = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    let ended = count_of(&tenant, "session.end");
    let (email, new) = (&*tenant.ada.email, "a long new one 7");
    let set = ["user", "set-password", "--email", email, "--password", new];
    tenant.server().admin(&set);
    assert_eq!(count_of(&tenant, "session.end"), ended + 1);
}

async fn other_organizations_do_not_learn_who_it_was(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let robot = tenant.server().robot(&tenant.name, &[]);
    robot.by_password(&neighbour.ben, "flow").await;
    let source = [
        "source",
        "create",
        "--flow",
        &*neighbour.main,
        "--name",
        "Builds",
    ];
    tenant
        .server()
        .admin(&[&source[..], &["--app", &*robot.id]].concat());
    let mut ada = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    let path = format!("/developer/{}/remove", robot.id);
    ada.post(&path, &[]).await.sent_on();

    let removed = newest(&tenant, "application.delete");
    assert_eq!(removed["actor"], format!("user:{}", tenant.ada.id));
    for action in ["grant.revoke", "source.delete"] {
        let record = newest(&neighbour, action);
        assert_eq!(
            (&record["actor"], &record["address"]),
            (&json!("server"), &Json::Null),
            "{action}"
        );
        assert!(!record.to_string().contains(&tenant.ada.email));
    }
}
