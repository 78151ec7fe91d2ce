//! Making, showing, changing and removing groups, through the API and on the command line.

use eddyline_client::Method;
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::{group, path, said, tags};

on_shared_servers![
    a_group_is_made_shown_changed_and_removed,
    an_organization_shows_its_groups,
    a_group_belongs_to_its_organization,
    members_belong_to_the_organization,
    doing_it_twice_changes_nothing,
    an_inactive_organization_keeps_its_groups_as_they_are,
    what_cannot_be_read_makes_no_group,
    a_group_is_made_on_the_command_line,
    the_command_line_says_what_is_wrong,
    changes_of_groups_are_recorded,
];

async fn a_group_is_made_shown_changed_and_removed(tenant: Tenant) {
    let cleo = tenant.user("cleo");
    let made = group(&tenant, " Team ", &[&cleo, &tenant.ben, &cleo]).await;
    let address = path(&tenant, &format!("/{}", made["id"]));
    let mut users = [tenant.ben.id, cleo.id];
    users.sort_unstable();
    let expected = json!({
        "id": made["id"],
        "name": "Team",
        "tag": ":user:team",
        "url": format!("{}{address}", tenant.server().base_url()),
        "users": users,
    });
    assert!(made["id"].is_i64());
    assert_eq!(made, expected);
    assert_eq!(
        tenant.ben.get(&address).await,
        expected,
        "every member sees it"
    );
    assert_eq!(tenant.ben.get(&path(&tenant, "")).await, json!([expected]));

    let other = group(&tenant, "all-hands", &[]).await;
    assert_eq!(other["users"], json!([]));
    assert_eq!(
        tenant.ben.get(&path(&tenant, "")).await,
        json!([other, expected]),
        "ordered by name"
    );

    let answer = tenant
        .ada
        .send(Method::PUT, &address, &json!({"name": "crew"}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let renamed = answer.json();
    assert_eq!(
        (&renamed["name"], &renamed["tag"]),
        (&json!("crew"), &json!(":user:crew"))
    );
    assert_eq!(
        renamed["users"], expected["users"],
        "what is not named stays"
    );
    let users = format!("{},{}", tenant.ada.id, cleo.id);
    let changed = tenant
        .ada
        .send(Method::PUT, &address, &json!({"users": users}))
        .await
        .json();
    let mut users = [tenant.ada.id, cleo.id];
    users.sort_unstable();
    assert_eq!(
        (&changed["name"], &changed["users"]),
        (&json!("crew"), &json!(users))
    );

    let add = tenant
        .ada
        .send(
            Method::POST,
            &format!("{address}/users"),
            &json!({"id": tenant.ben.id}),
        )
        .await;
    assert_eq!((add.status.as_u16(), add.text().as_str()), (200, "{}"));
    assert_eq!(
        tenant.ben.get(&address).await["users"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let out = tenant
        .ada
        .send(
            Method::DELETE,
            &format!("{address}/users/{}", cleo.id),
            &json!({}),
        )
        .await;
    assert_eq!((out.status.as_u16(), out.text().as_str()), (204, ""));
    assert!(
        !tenant.ben.get(&address).await["users"]
            .as_array()
            .unwrap()
            .contains(&json!(cleo.id))
    );

    let gone = tenant.ada.send(Method::DELETE, &address, &json!({})).await;
    assert_eq!((gone.status.as_u16(), gone.text().as_str()), (204, ""));
    assert_eq!(
        tenant
            .ben
            .send(Method::GET, &address, &json!({}))
            .await
            .status,
        404
    );
    assert_eq!(
        tenant
            .ada
            .send(Method::DELETE, &address, &json!({}))
            .await
            .status,
        404
    );
    assert_eq!(tenant.ben.get(&path(&tenant, "")).await, json!([other]));
}

/// Shows: 2.17
async fn an_organization_shows_its_groups(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let olga = tenant.user("olga");
    let join = [
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        &olga.email,
    ];
    tenant
        .server()
        .admin(&[&join[..], &["--name", "olga", "--nick", "olga"]].concat());
    let (team, ops) = (
        group(&tenant, "team", &[&olga]).await,
        group(&neighbour, "ops", &[]).await,
    );
    let organization = olga.get(&format!("/organizations/{}", tenant.name)).await;
    assert_eq!(organization["groups"], json!([team]));
    let find = format!("/organizations/find?id={}", organization["id"]);
    assert_eq!(olga.get(&find).await, organization);
    let listed = olga.get("/organizations").await;
    assert_eq!(
        (&listed[0]["groups"], &listed[1]["groups"]),
        (&json!([team]), &json!([ops]))
    );
    let flow = tenant.ben.get(&tenant.path("")).await;
    assert!(
        flow["organization"].get("groups").is_none(),
        "flows do not repeat them"
    );
}

async fn a_group_belongs_to_its_organization(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let team = group(&tenant, "team", &[]).await;
    let id = &team["id"];
    for (method, path) in [
        (Method::GET, path(&tenant, "")),
        (Method::GET, path(&tenant, &format!("/{id}"))),
        (Method::POST, path(&tenant, "")),
        (Method::PUT, path(&tenant, &format!("/{id}"))),
        (Method::DELETE, path(&tenant, &format!("/{id}"))),
        // The number is of another organization's group.
        (Method::GET, path(&neighbour, &format!("/{id}"))),
        (Method::PUT, path(&neighbour, &format!("/{id}"))),
        (Method::POST, path(&neighbour, &format!("/{id}/users"))),
        (
            Method::DELETE,
            path(&neighbour, &format!("/{id}/users/{}", neighbour.ben.id)),
        ),
        (Method::DELETE, path(&neighbour, &format!("/{id}"))),
    ] {
        let body = json!({"name": "mine", "id": neighbour.ben.id});
        let answer = neighbour.ada.send(method.clone(), &path, &body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()),
            (404, json!({"message": "not found"})),
            "{path}"
        );
    }
    for id in ["0", "-1", "x", "9223372036854775808"] {
        let answer = tenant
            .ada
            .send(Method::GET, &path(&tenant, &format!("/{id}")), &json!({}))
            .await;
        assert_eq!(answer.status, 404, "{id}");
    }
    assert_eq!(tenant.ben.get(&path(&tenant, "")).await, json!([team]));
}

async fn members_belong_to_the_organization(tenant: Tenant) {
    let stranger = tenant.neighbour().ben.id;
    let team = group(&tenant, "team", &[]).await;
    let address = path(&tenant, &format!("/{}", team["id"]));
    let users = [tenant.ben.id, stranger, 999_999_999];
    for (method, path) in [
        (Method::POST, path(&tenant, "")),
        (Method::PUT, address.clone()),
    ] {
        let answer = tenant
            .ada
            .send(method, &path, &json!({"name": "other", "users": users}))
            .await;
        assert_eq!(answer.status, 400);
        let text = answer.json()["errors"]["users"][0]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            text.contains(&stranger.to_string()) && text.contains("999999999"),
            "{text}"
        );
        assert!(!text.contains(&format!(" {},", tenant.ben.id)), "{text}");
    }
    for user in [stranger, 999_999_999] {
        let users = format!("{address}/users");
        let refused = tenant
            .ada
            .send(Method::POST, &users, &json!({"id": user}))
            .await;
        assert_eq!(refused.status, 400);
        let expected = json!(["is not a user of the organization"]);
        assert_eq!(refused.json()["errors"]["id"], expected);
        let user = format!("{users}/{user}");
        assert_eq!(
            tenant
                .ada
                .send(Method::DELETE, &user, &json!({}))
                .await
                .status,
            404
        );
    }
    assert_eq!(
        tenant.ben.get(&path(&tenant, "")).await,
        json!([team]),
        "all or nothing is done"
    );
}

async fn doing_it_twice_changes_nothing(tenant: Tenant) {
    let team = group(&tenant, "team", &[&tenant.ben]).await;
    let address = path(&tenant, &format!("/{}", team["id"]));
    let add = format!("{address}/users");
    for _ in 0..2 {
        tenant
            .ada
            .does(Method::POST, &add, &json!({"id": tenant.ada.id}))
            .await;
    }
    let out = format!("{address}/users/{}", tenant.ada.id);
    for _ in 0..2 {
        tenant.ada.does(Method::DELETE, &out, &json!({})).await;
    }
    let same = json!({"name": "team", "users": [tenant.ben.id]});
    assert_eq!(
        tenant.ada.send(Method::PUT, &address, &same).await.json(),
        team
    );
    assert_eq!(
        tenant
            .ada
            .send(Method::PUT, &address, &json!({}))
            .await
            .json(),
        team
    );
}

async fn an_inactive_organization_keeps_its_groups_as_they_are(tenant: Tenant) {
    let team = group(&tenant, "team", &[&tenant.ben]).await;
    let address = path(&tenant, &format!("/{}", team["id"]));
    tenant
        .server()
        .admin(&["org", "update", "--org", &tenant.name, "--active", "false"]);
    for (method, path, body) in [
        (Method::POST, path(&tenant, ""), json!({"name": "other"})),
        (Method::PUT, address.clone(), json!({"name": "other"})),
        (
            Method::POST,
            format!("{address}/users"),
            json!({"id": tenant.ada.id}),
        ),
        (
            Method::DELETE,
            format!("{address}/users/{}", tenant.ben.id),
            json!({}),
        ),
        (Method::DELETE, address.clone(), json!({})),
    ] {
        let answer = tenant.ada.send(method.clone(), &path, &body).await;
        assert_eq!(answer.status, 403, "{method} {path}");
    }
    assert_eq!(tenant.ben.get(&path(&tenant, "")).await, json!([team]));
}

async fn what_cannot_be_read_makes_no_group(tenant: Tenant) {
    let team = group(&tenant, "team", &[]).await;
    let address = path(&tenant, &format!("/{}", team["id"]));
    for (field, body) in [
        ("name", json!({"name": ""})),
        ("name", json!({"name": "two words"})),
        ("name", json!({"name": "a@b"})),
        ("name", json!({"name": "x".repeat(41)})),
        ("name", json!({"name": ["x"]})),
        ("name", json!({"name": "Everyone"})),
        ("name", json!({"name": "anybody"})),
        ("name", json!({"name": "123"})),
        ("users", json!({"name": "other", "users": ["x"]})),
        ("users", json!({"name": "other", "users": {"a": 1}})),
        ("users", json!({"name": "other", "users": [0]})),
        (
            "users",
            json!({"name": "other", "users": (1..=1001).collect::<Vec<_>>()}),
        ),
    ] {
        for (method, path) in [
            (Method::POST, path(&tenant, "")),
            (Method::PUT, address.clone()),
        ] {
            let answer = tenant.ada.send(method.clone(), &path, &body).await;
            assert_eq!(answer.status, 400, "{method} {body}: {}", answer.text());
            assert!(
                answer.json()["errors"][field][0].is_string(),
                "{method} {body}: {}",
                answer.text()
            );
        }
    }
    let answer = tenant
        .ada
        .send(Method::POST, &path(&tenant, ""), &json!({}))
        .await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["errors"]["name"]),
        (400, &json!(["is required"]))
    );
    let users = format!("{address}/users");
    assert_eq!(
        tenant
            .ada
            .send(Method::POST, &users, &json!({}))
            .await
            .status,
        400
    );
    assert_eq!(tenant.ben.get(&path(&tenant, "")).await, json!([team]));
}

async fn a_group_is_made_on_the_command_line(tenant: Tenant) {
    let admin = |rest: &[&str]| {
        let (command, options) = rest.split_first().unwrap();
        tenant
            .server()
            .admin(&[&["group", command, "--org", &tenant.name], options].concat())
    };
    let member = ["--group", "TEAM", "--email", &tenant.ada.email];
    // What the flow knows of the organization is remembered by now.
    assert_eq!(said(&tenant.ben, &tenant, "@team").await, json!([]));
    let made = admin(&["create", "--name", "Team"]);
    let id = made["id"].clone();
    let expected =
        json!({"id": id, "name": "Team", "organization": tenant.name, "tag": ":user:team"});
    assert_eq!(made, expected);
    assert_eq!(said(&tenant.ben, &tenant, "@team").await, tags("team", &[]));
    admin(&["create", "--name", "dev"]);
    for _ in 0..2 {
        let added = admin(&[&["add-user"], &member[..]].concat());
        let answer = json!({
            "organization": tenant.name, "group": "Team", "user": tenant.ada.id, "email": tenant.ada.email,
            "is_member": true,
        });
        assert_eq!(added, answer);
    }
    assert_eq!(
        said(&tenant.ben, &tenant, "@team").await,
        tags("team", &[&tenant.ada])
    );
    let list = admin(&["list"]);
    assert_eq!(
        list["groups"][1],
        json!({"id": id, "name": "Team", "users": [tenant.ada.id]})
    );
    assert_eq!(list["groups"][0]["name"], "dev");
    let shown = admin(&["show", "--group", "team"]);
    let ada = json!({"id": tenant.ada.id, "nick": "ada", "name": "ada", "email": tenant.ada.email});
    assert_eq!((&shown["id"], &shown["users"]), (&id, &json!([ada])));
    let out = admin(&[&["remove-user"], &member[..]].concat());
    assert_eq!(out["is_member"], false);
    assert_eq!(said(&tenant.ben, &tenant, "@team").await, tags("team", &[]));
    assert_eq!(admin(&["remove", "--group", "team"]), expected);
    assert_eq!(said(&tenant.ben, &tenant, "@team").await, json!([]));
}

async fn the_command_line_says_what_is_wrong(tenant: Tenant) {
    let stranger = tenant.neighbour().ben.email.clone();
    let fails = |rest: &[&str]| {
        let (command, options) = rest.split_first().unwrap();
        let line = [&["group", command, "--org", &tenant.name], options].concat();
        tenant.server().try_admin(&line).unwrap_err()
    };
    group(&tenant, "team", &[]).await;
    for (line, text) in [
        (
            &["create", "--name", "Team"][..],
            "has a group Team already",
        ),
        (&["create", "--name", "Ben"], "Ben is the nick of a user"),
        (&["create", "--name", "all"], "--name is reserved"),
        (&["create", "--name", "42"], "--name can't be a number"),
        (&["show", "--group", "dev"], "group dev of the organization"),
        (&["remove", "--group", "dev"], "was not found"),
        (
            &["add-user", "--group", "team", "--email", "nobody@x.example"],
            "nobody@x.example, was not found",
        ),
        (
            &["add-user", "--group", "team", "--email", &stranger],
            "not a member of the organization",
        ),
    ] {
        let said = fails(line);
        assert!(said.contains(text), "{line:?}: {said}");
    }
    let nowhere = tenant
        .server()
        .try_admin(&["group", "list", "--org", "nowhere"])
        .unwrap_err();
    assert!(
        nowhere.contains("organization nowhere was not found"),
        "{nowhere}"
    );
}

async fn changes_of_groups_are_recorded(tenant: Tenant) {
    let team = group(&tenant, "team", &[&tenant.ben]).await;
    let id = &team["id"];
    let address = path(&tenant, &format!("/{id}"));
    let users = json!({"name": "crew", "users": [tenant.ada.id]});
    for _ in 0..2 {
        tenant.ada.does(Method::PUT, &address, &users).await;
    }
    let of = ["--org", &tenant.name, "--group", "crew"];
    let member = [&of[..], &["--email", &tenant.ben.email]].concat();
    tenant
        .server()
        .admin(&[&["group", "add-user"], &member[..]].concat());
    tenant
        .server()
        .admin(&[&["group", "remove"], &of[..]].concat());
    let audit = tenant
        .server()
        .admin(&["scim", "audit", "--org", &tenant.name]);
    let found: Vec<_> = audit["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| {
            json!([
                record["actor"],
                record["action"],
                record["user"],
                record["detail"]
            ])
        })
        .collect();
    let (ada, ben) = (tenant.ada.id, tenant.ben.id);
    let by = format!("user:{ada}");
    let detail = json!({"group": id, "name": ["team", "crew"], "added": [ada], "removed": [ben]});
    assert_eq!(
        found,
        [
            json!(["operator", "group.remove", null, {"group": id, "name": "crew"}]),
            json!(["operator", "group.update", ben, {"group": id, "added": [ben]}]),
            json!([by, "group.update", null, detail]),
            json!([by, "group.create", null, {"group": id, "name": "team", "added": [ben]}]),
        ]
    );
}
