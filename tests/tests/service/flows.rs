//! Flows (specification, sections 2 to 4): listing, finding, creating and changing them.

use eddyline_client::{Json, Method};
use eddyline_tests::{Acme, Caller, Server, Tenant, on_both_databases, on_shared_servers};
use serde_json::{Value, json};

on_shared_servers![
    a_flow_has_every_field_of_the_specification,
    lists_hold_the_users_only_when_asked,
    a_list_has_the_flows_one_is_in_and_all_has_those_to_join_too,
    a_flow_is_found_by_its_id,
    a_list_goes_on_behind_a_flow,
    links_name_the_methods_of_this_very_caller,
    a_new_flow_is_by_invitation_and_has_its_creator,
    a_name_has_1_to_100_characters,
    the_name_in_urls_is_made_of_the_name,
    a_taken_or_reserved_name_gets_a_number,
    a_flow_is_made_in_ones_own_organization,
    a_name_changes_but_not_the_addresses,
    access_is_set_and_shows_where_one_joins,
    who_may_change_a_flow_is_told,
    open_is_everybodys_own,
    a_change_that_cannot_be_read_changes_nothing,
    the_last_message_is_told,
    a_name_that_is_often_taken_gets_random_characters,
];

on_both_databases![
    &["--max-flows-per-organization", "4", "--max-flows-per-user", "2"];
    users_and_organizations_have_no_more_flows_than_their_bounds
];

async fn change(caller: &Caller, path: &str, body: Json) -> Json {
    caller
        .client
        .request(Method::PUT, path)
        .json(&body)
        .call()
        .await
        .unwrap()
}

async fn create(tenant: &Tenant, name: &str) -> Json {
    let path = format!("/flows/{}", tenant.name);
    tenant
        .ben
        .client
        .request(Method::POST, &path)
        .json(&json!({"name": name}))
        .call()
        .await
        .unwrap()
}

fn names(flows: &Json) -> Vec<&str> {
    let mut names: Vec<_> = flows
        .as_array()
        .unwrap()
        .iter()
        .map(|flow| flow["parameterized_name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    names
}

/// Shows: 2.3, 2.4, 2.6, 2.10, 2.13, 2.15, 2.17, 4.7
async fn a_flow_has_every_field_of_the_specification(tenant: Tenant) {
    let flow = tenant.ben.get(&tenant.path("")).await;
    let base = tenant.server().base_url();
    assert_eq!(flow["id"].as_str().unwrap().len(), 36);
    assert_eq!(
        (&flow["name"], &flow["parameterized_name"]),
        (&json!("main"), &json!("main"))
    );
    assert_eq!(flow["unread_mentions"], 0);
    assert_eq!(
        (&flow["open"], &flow["joined"], &flow["disabled"]),
        (&json!(true), &json!(true), &json!(false))
    );
    assert_eq!(flow["access_mode"], "invitation");
    assert_eq!(flow.get("join_url"), None);
    assert_eq!(flow["url"], format!("{base}/flows/{}", tenant.main));
    assert_eq!(flow["web_url"], format!("{base}/app/{}", tenant.main));
    assert_eq!(flow["description"], Value::Null);
    assert!(flow["email"].as_str().unwrap().contains('@'));
    let organization = &flow["organization"];
    assert!(organization["id"].is_i64());
    assert_eq!(organization["name"], tenant.name);
    assert_eq!(organization["parameterized_name"], tenant.name);
    assert_eq!(organization["user_limit"], 1000);
    assert_eq!(organization["user_count"], 2);
    assert_eq!(organization["active"], true);
    assert_eq!(
        organization["url"],
        format!("{base}/organizations/{}", tenant.name)
    );
    let users = flow["users"].as_array().unwrap();
    let ben = users
        .iter()
        .find(|user| user["id"] == tenant.ben.id)
        .unwrap();
    assert_eq!(
        (&ben["nick"], &ben["name"], &ben["email"]),
        (&json!("ben"), &json!("ben"), &json!(tenant.ben.email))
    );
    assert!(
        ben["avatar"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{base}/avatars/"))
    );
    assert_eq!(
        (&ben["status"], &ben["disabled"], &ben["in_flow"]),
        (&Value::Null, &json!(false), &json!(true))
    );
    assert!(ben["last_activity"].is_i64() && ben["last_ping"].is_i64());
    assert_eq!(users.len(), 2);
}

/// Shows: 2.13, 4.6
async fn lists_hold_the_users_only_when_asked(tenant: Tenant) {
    for path in ["/flows", "/flows/all"] {
        for (query, there) in [
            ("", false),
            ("?users=0", false),
            ("?users=1", true),
            ("?users=true", true),
        ] {
            let flows = tenant.ben.get(&format!("{path}{query}")).await;
            assert_eq!(flows[0].get("users").is_some(), there, "{path}{query}");
        }
        let answer = tenant
            .ben
            .client
            .request(Method::GET, path)
            .query("users", "2")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 400);
    }
}

/// Shows: 2.9, 4.6
async fn a_list_has_the_flows_one_is_in_and_all_has_those_to_join_too(tenant: Tenant) {
    for name in ["side", "lobby", "gate"] {
        tenant.flow(name, &[&tenant.ada]);
    }
    let path = |name: &str| format!("/flows/{}/{name}", tenant.name);
    change(
        &tenant.ada,
        &path("lobby"),
        json!({"access_mode": "organization"}),
    )
    .await;
    change(&tenant.ada, &path("gate"), json!({"access_mode": "link"})).await;
    assert_eq!(names(&tenant.ben.get("/flows").await), ["main"]);
    let all = tenant.ben.get("/flows/all").await;
    assert_eq!(names(&all), ["lobby", "main"]);
    for flow in all.as_array().unwrap() {
        assert_eq!(flow["joined"], flow["parameterized_name"] == "main");
        assert_eq!(flow["open"], flow["joined"]);
    }
    assert_eq!(
        names(&tenant.ada.get("/flows").await),
        ["gate", "lobby", "main", "side"]
    );
    assert_eq!(
        tenant.neighbour().user("zoe").get("/flows/all").await,
        json!([])
    );
}

async fn a_list_goes_on_behind_a_flow(tenant: Tenant) {
    for name in ["one", "two", "three"] {
        tenant.flow(name, &[&tenant.ada]);
    }
    let whole = tenant.ada.get("/flows").await;
    let whole = whole.as_array().unwrap();
    for (at, flow) in whole.iter().enumerate() {
        let path = format!("/flows?after={}", flow["id"].as_str().unwrap());
        assert_eq!(
            tenant.ada.get(&path).await.as_array().unwrap(),
            &whole[at + 1..]
        );
    }
    let refused = tenant
        .ada
        .client
        .request(Method::GET, "/flows?after=nothing")
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status, 400);
    assert!(
        refused.json()["errors"]["after"].is_array(),
        "{}",
        refused.text()
    );
}

/// Shows: 2.4, 4.7
async fn a_flow_is_found_by_its_id(tenant: Tenant) {
    let flow = tenant.ben.get(&tenant.path("")).await;
    let id = flow["id"].as_str().unwrap();
    assert_eq!(tenant.ben.get(&format!("/flows/find?id={id}")).await, flow);
    let old_form = format!("/flows/find?id={}:main", tenant.name);
    assert_eq!(tenant.ben.get(&old_form).await, flow);
    for (query, status) in [
        ("", 400),
        ("?id=", 400),
        ("?id=nothing", 404),
        ("?id=a:b", 404),
    ] {
        let path = format!("/flows/find{query}");
        let answer = tenant
            .ben
            .client
            .request(Method::GET, &path)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, status, "{query}");
    }
}

/// Shows: 2.14
async fn links_name_the_methods_of_this_very_caller(tenant: Tenant) {
    let olga = tenant.user("olga");
    change(
        &tenant.ada,
        &tenant.path(""),
        json!({"access_mode": "organization"}),
    )
    .await;
    let inside = tenant.ben.get(&tenant.path("")).await["links"].clone();
    let outside = olga.get(&tenant.path("")).await["links"].clone();
    for name in [
        "self",
        "messages",
        "threads",
        "sources",
        "users",
        "invitations",
        "stream",
    ] {
        assert!(
            inside[name]["url"].is_string() && inside[name]["methods"].is_array(),
            "{name}"
        );
    }
    let sources = format!("{}{}", tenant.server().base_url(), tenant.path("/sources"));
    assert_eq!(inside["sources"]["url"], sources);
    let stream = format!("{}{}", tenant.server().stream_url(), tenant.path(""));
    assert_eq!(inside["stream"]["url"], stream);
    assert_eq!(inside["messages"]["methods"], json!(["GET", "POST"]));
    assert_eq!(outside["messages"]["methods"], json!([]));
    assert_eq!(outside["self"]["methods"], json!(["GET", "PUT"]));
    assert_eq!(inside["users"]["methods"], json!(["GET", "POST"]));
    assert_eq!(outside["users"]["methods"], json!(["GET"]));
    // Only an application makes sources, and a token goes as far as its scopes.
    assert_eq!(inside["sources"]["methods"], json!(["GET"]));
    let robot = tenant.server().robot(&tenant.name, &[]);
    for (scope, threads, sources) in [
        ("flow", json!(["GET"]), json!([])),
        ("integration", json!([]), json!(["GET", "POST"])),
    ] {
        let tokens = robot.by_password(&tenant.ben, scope).await;
        let request = robot
            .with(&tokens["access_token"])
            .request(Method::GET, &tenant.path(""));
        let links = request.call::<Json>().await.unwrap()["links"].clone();
        assert_eq!(
            (&links["threads"]["methods"], &links["sources"]["methods"]),
            (&threads, &sources),
            "{scope}"
        );
    }
}

/// Shows: 1.2, 4.8, 7.2
async fn a_new_flow_is_by_invitation_and_has_its_creator(tenant: Tenant) {
    let path = format!("/flows/{}", tenant.name);
    let answer = tenant
        .ben
        .send(Method::POST, &path, &json!({"name": "Tea Room"}))
        .await;
    assert_eq!(answer.status, 201);
    let flow = answer.json();
    assert_eq!(flow["name"], "Tea Room");
    assert_eq!(flow["access_mode"], "invitation");
    assert_eq!(
        (&flow["joined"], &flow["open"], &flow["flow_admin"]),
        (&json!(true), &json!(true), &json!(true))
    );
    let users = flow["users"].as_array().unwrap();
    assert_eq!((users.len(), &users[0]["id"]), (1, &json!(tenant.ben.id)));
    assert_eq!(
        tenant.ben.get(&format!("{path}/tea-room")).await["id"],
        flow["id"]
    );
    let messages = tenant.ben.get(&format!("{path}/tea-room/messages")).await;
    assert_eq!(
        messages[0]["content"],
        json!({"type": "join", "description": "ben"})
    );
}

/// Shows: 2.5, 8.2
async fn a_name_has_1_to_100_characters(tenant: Tenant) {
    let path = format!("/flows/{}", tenant.name);
    for name in [
        "x".to_owned(),
        "é".repeat(100),
        "🍵".repeat(100),
        "  padded  ".to_owned(),
    ] {
        let flow = create(&tenant, &name).await;
        assert_eq!(flow["name"], name.trim());
        change(&tenant.ada, &tenant.path(""), json!({"name": name})).await;
    }
    for name in [
        json!(""),
        json!("  "),
        json!("🍵".repeat(101)),
        json!("a\nb"),
        json!("a\0b"),
        json!(["x"]),
        json!(null),
    ] {
        let answer = tenant
            .ben
            .send(Method::POST, &path, &json!({"name": name}))
            .await;
        assert_eq!(answer.status, 400, "{name}");
        assert!(
            answer.json()["errors"]["name"].is_array(),
            "{}",
            answer.text()
        );
        if !name.is_null() {
            let answer = tenant
                .ada
                .send(Method::PUT, &tenant.path(""), &json!({"name": name}))
                .await;
            assert_eq!(answer.status, 400, "{name}");
        }
    }
}

/// Shows: 2.1, 2.10
async fn the_name_in_urls_is_made_of_the_name(tenant: Tenant) {
    for (name, expected) in [
        ("Hello, World!", "hello-world"),
        ("Größe & Länge", "grosse-lange"),
        ("  R&D__team ", "r-d-team"),
        ("Москва", "moskva"),
        ("v2.0", "v2-0"),
    ] {
        let flow = create(&tenant, name).await;
        assert_eq!(flow["parameterized_name"], expected, "{name}");
        assert_eq!(
            flow["url"],
            format!(
                "{}/flows/{}/{expected}",
                tenant.server().base_url(),
                tenant.name
            )
        );
    }
    let random = create(&tenant, "!!!").await["parameterized_name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(random.starts_with("flow-"), "{random}");
}

/// Shows: 2.1
async fn a_taken_or_reserved_name_gets_a_number(tenant: Tenant) {
    let parameterized =
        async |name: &str| create(&tenant, name).await["parameterized_name"].clone();
    assert_eq!(parameterized("Main").await, "main-2");
    assert_eq!(parameterized("main!").await, "main-3");
    assert_eq!(parameterized("Tea").await, "tea");
    assert_eq!(parameterized("TEA").await, "tea-2");
    for reserved in ["all", "find"] {
        assert_eq!(parameterized(reserved).await, format!("{reserved}-2"));
        assert_eq!(create(&tenant, reserved).await["name"], reserved);
    }
}

/// Shows: 1.2, 4.8
async fn a_flow_is_made_in_ones_own_organization(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    for organization in [neighbour.name.as_str(), "nowhere"] {
        let path = format!("/flows/{organization}");
        let answer = tenant
            .ben
            .send(Method::POST, &path, &json!({"name": "Mine"}))
            .await;
        assert_eq!(answer.status, 404, "{organization}");
    }
}

/// Shows: 4.9
async fn a_name_changes_but_not_the_addresses(tenant: Tenant) {
    let before = tenant.ada.get(&tenant.path("")).await;
    let after = change(
        &tenant.ada,
        &tenant.path(""),
        json!({"name": "Parlour", "description": "For talk"}),
    )
    .await;
    assert_eq!(
        (&after["name"], &after["description"]),
        (&json!("Parlour"), &json!("For talk"))
    );
    for same in [
        "id",
        "parameterized_name",
        "url",
        "email",
        "web_url",
        "users",
    ] {
        assert_eq!(after[same], before[same], "{same}");
    }
    assert_eq!(tenant.ben.get(&tenant.path("")).await["name"], "Parlour");
}

/// Shows: 2.11, 4.9
async fn access_is_set_and_shows_where_one_joins(tenant: Tenant) {
    for (mode, joins) in [
        ("link", true),
        ("organization", true),
        ("invitation", false),
    ] {
        let flow = change(&tenant.ada, &tenant.path(""), json!({"access_mode": mode})).await;
        assert_eq!(flow["access_mode"], mode);
        let url = flow
            .get("join_url")
            .map(|url| url.as_str().unwrap().to_owned());
        assert_eq!(url.is_some(), joins, "{mode}");
        if let Some(url) = url {
            let rest = url
                .strip_prefix(&format!("{}/invitations/", tenant.server().base_url()))
                .unwrap();
            let (secret, name) = rest.split_once('-').unwrap();
            assert!(
                secret.len() == 40 && secret.chars().all(|c| c.is_ascii_hexdigit()),
                "{url}"
            );
            assert_eq!(name, "main");
        }
    }
    let answer = tenant
        .ada
        .send(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "public"}),
        )
        .await;
    assert_eq!(answer.status, 400);
}

/// Shows: 1.8, 4.9
async fn who_may_change_a_flow_is_told(tenant: Tenant) {
    assert_eq!(tenant.ben.get(&tenant.path("")).await["flow_admin"], false);
    assert_eq!(tenant.ada.get(&tenant.path("")).await["flow_admin"], true);
    for body in [
        json!({"name": "Mine"}),
        json!({"disabled": true}),
        json!({"access_mode": "link"}),
    ] {
        assert_eq!(
            tenant
                .ben
                .send(Method::PUT, &tenant.path(""), &body)
                .await
                .status,
            403,
            "{body}"
        );
    }
    // Who has made a flow looks after it.
    create(&tenant, "Tea").await;
    let tea = format!("/flows/{}/tea", tenant.name);
    let flow = change(
        &tenant.ben,
        &tea,
        json!({"name": "Green Tea", "access_mode": "link"}),
    )
    .await;
    assert_eq!(
        (&flow["flow_admin"], &flow["name"]),
        (&json!(true), &json!("Green Tea"))
    );
    assert_eq!(
        change(&tenant.ada, &tea, json!({"disabled": true})).await["disabled"],
        true
    );
    assert_eq!(
        change(&tenant.ada, &tea, json!({"disabled": true})).await["disabled"],
        true
    );
}

/// Shows: 2.8, 4.9
async fn open_is_everybodys_own(tenant: Tenant) {
    for open in [
        json!(false),
        json!(false),
        json!("true"),
        json!(0),
        json!("1"),
    ] {
        let flow = change(&tenant.ben, &tenant.path(""), json!({"open": open})).await;
        let expected = open == "true" || open == "1";
        assert_eq!(
            (&flow["open"], &flow["joined"]),
            (&json!(expected), &json!(true)),
            "{open}"
        );
        assert_eq!(tenant.ada.get(&tenant.path("")).await["open"], true);
    }
    assert_eq!(
        tenant.ben.get(&tenant.path("/messages")).await,
        json!([]),
        "nobody is told"
    );
}

/// Shows: 4.9
async fn a_change_that_cannot_be_read_changes_nothing(tenant: Tenant) {
    let before = tenant.ada.get(&tenant.path("")).await;
    for body in [
        json!({"name": "New", "open": "maybe"}),
        json!({"name": "New", "disabled": 2}),
        json!({"name": "New", "access_mode": ""}),
        json!({"name": "New", "description": "x".repeat(1001)}),
    ] {
        assert_eq!(
            tenant
                .ada
                .send(Method::PUT, &tenant.path(""), &body)
                .await
                .status,
            400,
            "{body}"
        );
    }
    assert_eq!(tenant.ada.get(&tenant.path("")).await, before);
    assert_eq!(
        change(&tenant.ada, &tenant.path(""), json!({})).await,
        before
    );
}

async fn the_last_message_is_told(tenant: Tenant) {
    let flow = tenant.ben.get(&tenant.path("")).await;
    assert_eq!(
        (&flow["last_message_id"], &flow["last_message_at"]),
        (&Value::Null, &Value::Null)
    );
    let message = tenant.ben.say(&tenant.main, "hello").await;
    let flow = tenant.ben.get(&tenant.path("")).await;
    assert_eq!(
        (&flow["last_message_id"], &flow["last_message_at"]),
        (&message["id"], &message["created_at"])
    );
}

async fn a_name_that_is_often_taken_gets_random_characters(tenant: Tenant) {
    let mut made = Vec::new();
    for _ in 0..12 {
        made.push(
            create(&tenant, "Tea").await["parameterized_name"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
    }
    let numbered: Vec<String> = (2..=10).map(|number| format!("tea-{number}")).collect();
    assert_eq!((made[0].as_str(), &made[1..10]), ("tea", &numbered[..]));
    for name in &made[10..] {
        let random = name.strip_prefix("tea-").unwrap();
        assert!(
            random.len() == 8 && random.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{name}"
        );
    }
    assert_ne!(made[10], made[11]);
    let last = tenant
        .ben
        .get(&format!("/flows/{}/{}", tenant.name, made[11]))
        .await;
    assert_eq!(last["name"], "Tea");
}

async fn users_and_organizations_have_no_more_flows_than_their_bounds(server: Server) {
    // One flow is there already, which an operator has made.
    let Acme { ada, ben } = server.acme();
    let create = async |caller: &Caller| {
        let answer = caller
            .send(Method::POST, "/flows/acme", &json!({"name": "New"}))
            .await;
        (
            answer.status.as_u16(),
            answer.json()["message"].as_str().map(str::to_owned),
        )
    };
    let refused = |who: &str| {
        (
            409,
            Some(format!(
                "{who} flows, archived ones included, and more are not allowed"
            )),
        )
    };
    for _ in 0..2 {
        assert_eq!(create(&ben).await.0, 201);
    }
    assert_eq!(create(&ben).await, refused("you have made 2"));
    ben.does(Method::PUT, "/flows/acme/new", &json!({"disabled": true}))
        .await;
    assert_eq!(
        create(&ben).await,
        refused("you have made 2"),
        "an archived one can be brought back"
    );
    assert_eq!(create(&ada).await.0, 201);
    assert_eq!(create(&ada).await, refused("the organization has 4"));
    server.flow("acme", "operators", &[&ada]);
}
