//! The audit log: who did what to whom, as operators read it.

use std::fs;

use eddyline_client::{Json, Method};
use eddyline_model::audit::AuditAction;
use eddyline_tests::{PASSWORD, Server, Tenant, basic, on_both_databases, on_shared_servers};
use eddyline_wire::requests::ListAudit;
use serde_json::json;

mod repeats;

on_shared_servers![
    what_members_do_is_recorded_with_who_and_from_where,
    what_operators_do_is_recorded,
    records_are_filtered_and_read_page_by_page,
    administrators_list_the_records_of_their_organization,
    a_list_of_records_goes_on_behind_its_last_one,
    a_list_of_records_is_narrowed,
    what_no_record_can_have_is_refused,
];

on_both_databases![&[]; wrong_passwords_are_recorded_within_a_bound];

/// The records of an organization with these further arguments, the newest first.
fn records(server: &Server, arguments: &[&str]) -> Vec<Json> {
    let answer = server.admin(&[&["audit"], arguments].concat());
    answer["records"].as_array().unwrap().clone()
}

fn actions(records: &[Json]) -> Vec<&str> {
    records
        .iter()
        .map(|record| record["action"].as_str().unwrap())
        .collect()
}

fn newest(tenant: &Tenant, action: &str) -> Json {
    let arguments = ["--org", &*tenant.name, "--action", action, "--limit", "1"];
    let found = records(tenant.server(), &arguments);
    found
        .into_iter()
        .next()
        .unwrap_or_else(|| panic!("{action}"))
}

async fn what_members_do_is_recorded_with_who_and_from_where(tenant: Tenant) {
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    let by_ada = format!("user:{}", ada.id);
    let session = tenant.server().signed_in(&ben.email, PASSWORD).await;
    let signed_in = newest(&tenant, "session.begin");
    assert_eq!(signed_in["actor"], format!("user:{}", ben.id));
    assert_eq!(signed_in["address"], "127.0.0.1");
    assert_eq!(signed_in["user"], ben.id);
    assert_eq!(signed_in["target"]["kind"], "session");
    drop(session);

    let flow = format!("/flows/{}", tenant.main);
    let renamed = ada.client.request(Method::PUT, &flow);
    let renamed = renamed
        .json(&json!({"name": "Other"}))
        .send()
        .await
        .unwrap();
    assert_eq!(renamed.status, 200);
    let changed = newest(&tenant, "flow.change");
    assert_eq!(
        (&changed["actor"], &changed["actor_name"]),
        (&json!(by_ada), &json!("ada"))
    );
    assert_eq!(changed["detail"], json!({"name": ["main", "Other"]}));
    assert_eq!(changed["target"]["name"], "Other");

    let users = format!("/flows/{}/users/{}", tenant.main, ben.id);
    let blocked = ada.client.request(Method::PUT, &users);
    let blocked = blocked
        .json(&json!({"disabled": true}))
        .send()
        .await
        .unwrap();
    assert!(blocked.status.is_success(), "{}", blocked.status);
    let block = newest(&tenant, "flow.member_block");
    assert_eq!(
        (&block["actor"], &block["user"]),
        (&json!(by_ada), &json!(ben.id))
    );

    let member = format!("/organizations/{}/users/{}", tenant.name, ben.id);
    let removed = ada
        .client
        .request(Method::DELETE, &member)
        .send()
        .await
        .unwrap();
    assert_eq!(removed.status, 204);
    let removal = newest(&tenant, "member.remove");
    assert_eq!(
        (&removal["actor"], &removal["user"]),
        (&json!(by_ada), &json!(ben.id))
    );

    // Secrets are in no record.
    let all = records(tenant.server(), &["--org", &tenant.name, "--limit", "1000"]);
    let text = json!(all).to_string();
    for secret in [PASSWORD, &*ada.token, &*ben.token] {
        assert!(!text.contains(secret), "{text}");
    }
}

async fn what_operators_do_is_recorded(tenant: Tenant) {
    let server = tenant.server();
    let (org, email) = (&*tenant.name, &*tenant.ben.email);
    let newest_of = |command: &[&str], action: &str| {
        server.admin(command);
        let record = newest(&tenant, action);
        assert_eq!(record["actor"], "operator", "{command:?}");
        assert_eq!(record["address"], Json::Null, "{command:?}");
        record
    };
    for (command, action) in [
        (vec!["user", "token", "--email", email], "token.create"),
        (
            vec![
                "user",
                "set-password",
                "--email",
                email,
                "--password",
                "a long new one 7",
            ],
            "password.change",
        ),
        (
            vec![
                "user",
                "set-admin",
                "--org",
                org,
                "--email",
                email,
                "--admin",
                "true",
            ],
            "user.update",
        ),
        (
            vec![
                "flow",
                "remove-user",
                "--flow",
                &tenant.main,
                "--email",
                email,
            ],
            "flow.member_remove",
        ),
    ] {
        let record = newest_of(&command, action);
        assert_eq!(record["user"], tenant.ben.id, "{command:?}");
    }
    let update = ["org", "update", "--org", org, "--user-limit", "77"];
    let record = newest_of(&update, "organization.change");
    assert_eq!(record["detail"]["user_limit"][1], 77);
    let archived = newest_of(&["flow", "archive", "--flow", &tenant.main], "flow.change");
    assert_eq!(archived["detail"], json!({"disabled": [false, true]}));
    let remove = ["user", "remove", "--org", org, "--email", email];
    assert_eq!(newest_of(&remove, "member.remove")["user"], tenant.ben.id);
}

async fn records_are_filtered_and_read_page_by_page(tenant: Tenant) {
    let server = tenant.server();
    let org = ["--org", &*tenant.name];
    let all = records(server, &org);
    assert!(all.len() > 3, "{all:?}");
    let first = records(server, &[&org[..], &["--limit", "2"]].concat());
    assert_eq!(first, all[..2]);
    let before = first[1]["id"].to_string();
    let rest = records(server, &[&org[..], &["--before", &before]].concat());
    assert_eq!(rest, all[2..]);
    let of_ben = records(server, &[&org[..], &["--user", &tenant.ben.email]].concat());
    assert!(of_ben.len() < all.len() && !of_ben.is_empty(), "{of_ben:?}");
    assert!(
        of_ben.iter().all(|record| record["user"] == tenant.ben.id),
        "{of_ben:?}"
    );
    let two = ["--action", "flow.create", "--action", "member.add"];
    let two = records(server, &[&org[..], &two].concat());
    assert_eq!(
        actions(&two)
            .iter()
            .filter(|action| **action == "flow.create")
            .count(),
        1
    );
    let none = records(server, &[&org[..], &["--since", "2200-01-01"]].concat());
    assert_eq!(none, Vec::<Json>::new());
    let until = records(server, &[&org[..], &["--until", "2200-01-01"]].concat());
    assert_eq!(until, all);
}

/// The part of the audit log of the organization of Ada, who administers it, that a query asks for.
async fn listed(tenant: &Tenant, query: &str) -> Vec<Json> {
    let path = format!("/organizations/{}/audit{query}", tenant.name);
    let answer = tenant.ada.get(&path).await;
    answer.as_array().unwrap().clone()
}

async fn administrators_list_the_records_of_their_organization(tenant: Tenant) {
    let shown = listed(&tenant, "?limit=100").await;
    assert_eq!(
        shown,
        records(tenant.server(), &["--org", &tenant.name, "--limit", "100"])
    );
    let path = format!("/organizations/{}", tenant.name);
    let organization = tenant.ada.get(&path).await["id"].clone();
    assert!(
        shown
            .iter()
            .all(|record| record["organization"] == organization),
        "{shown:?}"
    );
    let by_client = tenant
        .ada
        .client
        .audit_records(&tenant.name, &ListAudit::default())
        .await
        .unwrap();
    assert_eq!(json!(by_client), json!(shown[..shown.len().min(30)]));
}

async fn a_list_of_records_goes_on_behind_its_last_one(tenant: Tenant) {
    let all = listed(&tenant, "?limit=100").await;
    for (sort, mut wanted) in [("desc", all.clone()), ("asc", all)] {
        if sort == "asc" {
            wanted.reverse();
        }
        let path = format!(
            "/organizations/{}/audit?sort={sort}&limit=2&action=flow.",
            tenant.name
        );
        wanted.retain(|record| record["action"].as_str().unwrap().starts_with("flow."));
        assert!(wanted.len() > 2, "{wanted:?}");
        let mut found = Vec::new();
        let mut next = Some(path);
        while let Some(path) = next {
            let part = tenant.ada.client.request(Method::GET, &path).send();
            let part = part.await.unwrap();
            assert_eq!(part.status, 200, "{path}");
            found.extend(part.json().as_array().unwrap().clone());
            next = part.header("link").map(|link| {
                let address = link
                    .strip_prefix('<')
                    .and_then(|link| link.strip_suffix(">; rel=\"next\""))
                    .unwrap();
                address[address.find("/organizations").unwrap()..].to_owned()
            });
        }
        assert_eq!(found, wanted, "{sort}");
    }
    // Who follows the log asks for what came after the last one.
    let last = listed(&tenant, "?limit=1").await[0]["id"].clone();
    let after = format!("?sort=asc&since_id={last}");
    assert_eq!(listed(&tenant, &after).await, Vec::<Json>::new());
    let renamed = tenant
        .ada
        .client
        .rename_organization(&tenant.name, "Another name");
    renamed.await.unwrap();
    let news = listed(&tenant, &after).await;
    assert_eq!(actions(&news), ["organization.change"]);
}

async fn a_list_of_records_is_narrowed(tenant: Tenant) {
    let all = listed(&tenant, "?limit=100").await;
    let of = |wanted: &dyn Fn(&Json) -> bool| -> Vec<Json> {
        let found = all.iter().filter(|record| wanted(record));
        found.cloned().collect()
    };
    let added = of(&|record| record["action"] == "member.add");
    assert!(!added.is_empty() && added.len() < all.len(), "{all:?}");
    assert_eq!(listed(&tenant, "?action=member.add").await, added);
    let by_ben = format!("user:{}", tenant.ben.id);
    let of_ben = of(&|record| record["user"] == tenant.ben.id || record["actor"] == *by_ben);
    assert!(!of_ben.is_empty() && of_ben.len() < all.len(), "{all:?}");
    let query = format!("?user={}", tenant.ben.id);
    assert_eq!(listed(&tenant, &query).await, of_ben);
    let query = format!("{query}&action=member.");
    let both = of_ben
        .iter()
        .filter(|record| record["action"].as_str().unwrap().starts_with("member."));
    assert_eq!(
        listed(&tenant, &query).await,
        both.cloned().collect::<Vec<_>>()
    );

    let year_2200 = 7_258_118_400_000_i64;
    let until = listed(&tenant, &format!("?limit=100&until_time={year_2200}")).await;
    assert_eq!(until, all);
    let since = listed(&tenant, &format!("?since_time={year_2200}")).await;
    assert_eq!(since, Vec::<Json>::new());
    let until = listed(&tenant, "?until_time=1").await;
    assert_eq!(until, Vec::<Json>::new());
    let unknown = listed(&tenant, "?user=999999999").await;
    assert_eq!(unknown, Vec::<Json>::new());
}

async fn what_no_record_can_have_is_refused(tenant: Tenant) {
    for (query, field) in [
        ("action=member.fly", "action"),
        ("action=member", "action"),
        ("user=ada", "user"),
        ("user=0", "user"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("sort=up", "sort"),
        ("since_id=-1", "since_id"),
        ("until_id=x", "until_id"),
        ("since_time=2026-11-29", "since_time"),
        ("until_time=-5", "until_time"),
    ] {
        let path = format!("/organizations/{}/audit?{query}", tenant.name);
        let refused = tenant.ada.client.request(Method::GET, &path).send();
        let refused = refused.await.unwrap();
        assert_eq!(refused.status, 400, "{query}");
        let errors = refused.json()["errors"].clone();
        let fields: Vec<_> = errors.as_object().unwrap().keys().collect();
        assert_eq!(fields, [field], "{query}: {errors}");
    }
}

async fn wrong_passwords_are_recorded_within_a_bound(server: Server) {
    let acme = server.acme();
    let more = ["cleo", "dan", "eve", "fay", "gil"].map(|nick| server.user("acme", nick));
    server.organization("beta");
    let vic = server.user("beta", "vic");
    let wrong = async |email: &str, times: usize| {
        let authorization = format!("Basic {}", basic(email, "wrong"));
        for _ in 0..times {
            let request = acme.ada.client.request(Method::GET, "/user").anonymous();
            let request = request.header("Authorization", &authorization);
            assert_eq!(request.send().await.unwrap().status, 401);
        }
    };
    // Ten of each account fill the share of an organization.
    for email in [&acme.ada.email, &acme.ben.email] {
        wrong(email, 10).await;
    }
    for user in &more {
        wrong(&user.email, 9).await;
    }
    wrong("x@acme.example", 3).await;
    wrong(&vic.email, 9).await;
    let mut server = server;
    // It is recorded beside the request; a server that ends waits for that.
    server.terminate();
    server.restart();
    let refused = |more: &[&str]| {
        let arguments = [&["--action", "session.refuse", "--limit", "1000"], more].concat();
        records(&server, &arguments)
    };
    let of_acme = refused(&["--org", "acme"]);
    assert_eq!(of_acme.len(), 60);
    let of_ada = of_acme.iter();
    let of_ada = of_ada.filter(|record| record["user"] == acme.ada.id);
    assert_eq!(of_ada.count(), 10);
    // Records of one organization hide none of another, and neither do those of invented accounts.
    assert_eq!(refused(&["--org", "beta"]).len(), 9);
    let all = refused(&[]);
    let of_nobody = all.iter().filter(|record| record["user"].is_null());
    assert_eq!(of_nobody.count(), 3);
    for record in &all {
        assert_eq!(
            (&record["actor"], &record["address"]),
            (&json!("unknown"), &json!("127.0.0.1"))
        );
    }
}

#[test]
fn the_documents_list_all_actions() {
    let records = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/records.md");
    let records = fs::read_to_string(records).unwrap();
    for action in AuditAction::ALL {
        let row = format!("| `{action}` | {} |", action.meaning());
        assert!(records.contains(&row), "{row}");
    }
}
