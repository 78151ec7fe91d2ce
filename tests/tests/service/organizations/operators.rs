//! What operators change about an organization holds for the running server at once.

use eddyline_client::Json;
use eddyline_tests::{Listener, Tenant, on_shared_servers};
use serde_json::json;

use super::{path, update};

on_shared_servers![
    a_new_name_in_urls_leads_to_the_organization_and_so_do_the_old_ones,
    a_name_that_was_ever_anothers_cannot_be_had,
    a_subscription_is_a_trial_or_paid,
    nobody_new_comes_in_above_the_limit,
    a_change_is_answered_with_the_organization_as_it_is_now,
    what_cannot_be_changed_is_said_and_nothing_changes,
    an_organization_may_belong_to_another,
];

/// Shows: 2.17
async fn a_new_name_in_urls_leads_to_the_organization_and_so_do_the_old_ones(tenant: Tenant) {
    let (new, newer) = (
        format!("{}-new", tenant.name),
        format!("{}-newer", tenant.name),
    );
    let message = tenant.ben.say(&tenant.main, "hello").await;
    for name in [&new, &newer] {
        tenant.server().admin(&[
            "org",
            "update",
            "--org",
            &tenant.name,
            "--parameterized-name",
            name,
        ]);
    }
    let organization = tenant.ben.get(&path(&tenant, "")).await;
    assert_eq!(organization["parameterized_name"], newer.as_str());
    assert!(
        organization["url"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/organizations/{newer}"))
    );
    let flow = tenant.ben.get(&tenant.path("")).await;
    assert!(
        flow["url"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/flows/{newer}/main"))
    );
    for name in [&tenant.name, &new, &newer] {
        assert_eq!(
            tenant.ben.get(&format!("/organizations/{name}")).await,
            organization,
            "{name}"
        );
        assert_eq!(
            tenant.ben.get(&format!("/flows/{name}/main")).await["url"],
            flow["url"],
            "{name}"
        );
        let path = format!("/flows/{name}/main/messages/{}", message["id"]);
        assert_eq!(tenant.ben.get(&path).await, message, "{name}");
        let mut stream = Listener::to(&tenant.ben.client, &[&format!("{name}/main")]).await;
        let said = tenant.ben.say(&format!("{name}/main"), name).await;
        assert_eq!(stream.event("message").await, said);
    }
    // A former name can be had again by the one that had it.
    tenant.server().admin(&[
        "org",
        "update",
        "--org",
        &newer,
        "--parameterized-name",
        &tenant.name,
    ]);
    assert_eq!(
        tenant.ben.get(&format!("/organizations/{new}")).await["parameterized_name"],
        tenant.name
    );
}

async fn a_name_that_was_ever_anothers_cannot_be_had(tenant: Tenant) {
    let (neighbour, new) = (tenant.neighbour(), format!("{}-new", tenant.name));
    update(&tenant, &["--parameterized-name", &new]);
    for taken in [&tenant.name, &new] {
        let line = [
            "org",
            "update",
            "--org",
            &neighbour.name,
            "--parameterized-name",
            taken,
        ];
        let said = tenant.server().try_admin(&line).unwrap_err();
        assert!(said.contains("is taken"), "{said}");
        let line = [
            "org",
            "create",
            "--name",
            "Another",
            "--parameterized-name",
            taken,
        ];
        assert!(
            tenant
                .server()
                .try_admin(&line)
                .unwrap_err()
                .contains("is taken")
        );
    }
    assert_eq!(
        neighbour.ada.get(&path(&neighbour, "")).await["parameterized_name"],
        neighbour.name
    );
}

/// Shows: 2.17
async fn a_subscription_is_a_trial_or_paid(tenant: Tenant) {
    let shown = async || tenant.ben.get(&path(&tenant, "")).await["subscription"].clone();
    update(&tenant, &["--trial-ends", "2027-01-31"]);
    assert_eq!(
        shown().await,
        json!({"trial": true, "trial_ends": "2027-01-31"})
    );
    update(&tenant, &["--billing-date", "2027-02-28"]);
    assert_eq!(
        shown().await,
        json!({"trial": false, "billing_date": "2027-02-28"})
    );
    update(&tenant, &["--trial-ends", "2027-03-31"]);
    assert_eq!(
        shown().await,
        json!({"trial": true, "trial_ends": "2027-03-31"})
    );
    update(&tenant, &["--billing-date", "none"]);
    assert_eq!(shown().await, json!({"trial": false, "billing_date": null}));
}

/// Shows: 8.4
async fn nobody_new_comes_in_above_the_limit(tenant: Tenant) {
    let create = |nick: &str| {
        let email = format!("{nick}@{}.example", tenant.name);
        let line = [
            "user",
            "create",
            "--org",
            &tenant.name,
            "--email",
            &email,
            "--name",
            nick,
            "--nick",
            nick,
        ];
        tenant.server().try_admin(&line)
    };
    for limit in ["1", "2"] {
        update(&tenant, &["--user-limit", limit]);
        let said = create("cleo").unwrap_err();
        assert!(said.contains("limit"), "{said}");
    }
    let organization = tenant.ben.get(&path(&tenant, "")).await;
    assert_eq!(
        (&organization["user_limit"], &organization["user_count"]),
        (&json!(2), &json!(2))
    );
    tenant.ben.say(&tenant.main, "those who are in stay").await;
    update(&tenant, &["--user-limit", "3"]);
    create("cleo").unwrap();
    assert!(create("dora").unwrap_err().contains("limit"));
    // A place that somebody leaves is there for another.
    let ben = path(&tenant, &format!("/users/{}", tenant.ben.id));
    tenant
        .ada
        .does(eddyline_client::Method::DELETE, &ben, &Json::Null)
        .await;
    create("dora").unwrap();
}

async fn a_change_is_answered_with_the_organization_as_it_is_now(tenant: Tenant) {
    let line = [
        "--name",
        "Acme Ltd",
        "--user-limit",
        "7",
        "--active",
        "false",
        "--trial-ends",
        "2027-01-31",
    ];
    let answer = update(&tenant, &line);
    let expected = json!({
        "id": answer["id"],
        "name": "Acme Ltd",
        "parameterized_name": tenant.name,
        "user_limit": 7,
        "user_count": 2,
        "active": false,
        "trial_ends": "2027-01-31",
        "billing_date": null,
    });
    assert_eq!(answer, expected);
    assert_eq!(tenant.ben.get(&path(&tenant, "")).await["name"], "Acme Ltd");
    let mut command = tenant
        .server()
        .admin_command(&["org", "update", "--org", &tenant.name]);
    let said = command.args(["--active", "true"]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(
        said.contains("Acme Ltd, active, 2 of up to 7 people, on trial until 2027-01-31"),
        "{said}"
    );
}

async fn what_cannot_be_changed_is_said_and_nothing_changes(tenant: Tenant) {
    let before = tenant.ben.get(&path(&tenant, "")).await;
    for (change, word) in [
        (&[][..], "--name"),
        (&["--parameterized-name", "Not For URLs"], "not-for-urls"),
        (&["--parameterized-name", "find"], "find-2"),
        (&["--name", " "], "name"),
        (&["--user-limit", "0"], "--user-limit"),
        (&["--trial-ends", "31.1.2027"], "YYYY-MM-DD"),
        (
            &["--trial-ends", "2027-01-31", "--billing-date", "2027-01-31"],
            "--billing-date",
        ),
        (&["--active", "perhaps"], "--active"),
    ] {
        let line = [&["org", "update", "--org", &tenant.name], change].concat();
        let said = tenant.server().try_admin(&line).unwrap_err();
        assert!(said.contains(word), "{change:?}: {said}");
    }
    let said = tenant
        .server()
        .try_admin(&["org", "update", "--org", "nowhere", "--name", "N"])
        .unwrap_err();
    assert!(said.contains("nowhere was not found"), "{said}");
    assert_eq!(tenant.ben.get(&path(&tenant, "")).await, before);
}

async fn an_organization_may_belong_to_another(tenant: Tenant) {
    let parent = tenant.ben.get(&path(&tenant, "")).await["id"].clone();
    let name = format!("{}-child", tenant.name);
    let line = [
        "org",
        "create",
        "--name",
        &name,
        "--parameterized-name",
        &name,
        "--parent",
    ];
    let child = tenant
        .server()
        .admin(&[&line[..], &[&tenant.name]].concat());
    assert_eq!(child["parent"], parent);
    let said = tenant
        .server()
        .try_admin(&["org", "create", "--name", "lost", "--parent", "nowhere"]);
    assert!(said.unwrap_err().contains("nowhere was not found"));
}
