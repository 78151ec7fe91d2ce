//! The audit log: who did what to whom, as operators read it.

use std::fs;

use eddyline_client::{Json, Method};
use eddyline_model::audit::AuditAction;
use eddyline_tests::{PASSWORD, Server, Tenant, basic, on_both_databases, on_shared_servers};
use serde_json::json;

on_shared_servers![
    what_members_do_is_recorded_with_who_and_from_where,
    what_operators_do_is_recorded,
    records_are_filtered_and_read_page_by_page,
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

async fn wrong_passwords_are_recorded_within_a_bound(server: Server) {
    let acme = server.acme();
    // Each account refuses after ten of them, so there are several.
    let accounts = [
        &*acme.ada.email,
        &*acme.ben.email,
        "x@acme.example",
        "y@acme.example",
    ];
    for number in 0..28 {
        let authorization = format!("Basic {}", basic(accounts[number % 4], "wrong"));
        let request = acme.ada.client.request(Method::GET, "/user").anonymous();
        let answer = request
            .header("Authorization", &authorization)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 401);
    }
    let mut server = server;
    // It is recorded beside the request; a server that ends waits for that.
    server.restart();
    let refused = records(&server, &["--action", "session.refuse"]);
    assert_eq!(refused.len(), 20, "{refused:?}");
    let of_ada = refused
        .iter()
        .filter(|record| record["user"] == acme.ada.id);
    assert_eq!(of_ada.count(), 5);
    for record in &refused {
        assert_eq!(
            (&record["actor"], &record["address"]),
            (&json!("unknown"), &json!("127.0.0.1"))
        );
    }
    let of_acme = records(&server, &["--org", "acme", "--action", "session.refuse"]);
    assert_eq!(of_acme.len(), 10);
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
