//! Sources: what ties an application to a flow (specification, sections 2 to 4).

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::{Source, activity, status, try_push};

mod making;
mod removal;
mod rights;

on_shared_servers![
    a_source_has_every_field_of_the_specification,
    the_token_is_shown_once,
    the_sources_of_a_flow_are_listed_in_the_order_of_their_making,
    everybody_sees_the_sources_of_their_flows_at_one_address,
    an_error_message_is_set_and_taken_away_by_an_empty_text,
    name_and_addresses_are_changed,
    a_source_is_configured_where_its_application_says,
    an_application_is_set_up_for_a_flow_where_it_says,
    a_source_says_when_its_threads_changed_last,
    what_is_too_long_or_no_address_is_refused,
    a_source_sees_and_changes_itself,
];

fn path(tenant: &Tenant, source: &Source) -> String {
    tenant.path(&format!("/sources/{}", source.id))
}

/// Shows: 2.33
async fn a_source_has_every_field_of_the_specification(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let source = Source::of(&robot, &tenant.ben, &tenant.main, "Tickets of <Acme>").await;
    let flow = tenant.ben.get(&tenant.path("")).await;
    let shown = &source.shown;
    assert_eq!(shown["name"], "Tickets of <Acme>");
    assert_eq!(
        shown["application"],
        json!({"id": robot.id, "name": "Robot", "configuration_uri": null}),
    );
    assert_eq!(
        (&shown["flow"], &shown["error_message"]),
        (&flow["id"], &Json::Null)
    );
    let url = format!("{}{}", tenant.server().base_url(), path(&tenant, &source));
    assert_eq!(
        (&shown["url"], &shown["creator"]),
        (&json!(url), &json!(tenant.ben.id))
    );
    assert_eq!(
        (&shown["external_url"], &shown["configuration_url"]),
        (&Json::Null, &Json::Null)
    );
    assert_eq!(shown["created_at"], shown["updated_at"]);
    let time = shown["created_at"].as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
}

/// Shows: 2.33
async fn the_token_is_shown_once(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let mut expected = source.shown.clone();
    expected.as_object_mut().unwrap().remove("flow_token");
    assert_eq!(tenant.ben.get(&path(&tenant, &source)).await, expected);
    assert_eq!(
        tenant.ben.get(&tenant.path("/sources")).await,
        json!([expected])
    );
    assert_eq!(tenant.ben.get("/sources").await, json!([expected]));
    let own: Json = source
        .client
        .request(Method::GET, "/sources")
        .call()
        .await
        .unwrap();
    assert_eq!(own, json!([expected]));
    for (client, path) in [
        (&tenant.ben.client, path(&tenant, &source)),
        (&source.client, "/sources".into()),
    ] {
        let changed: Json = client
            .request(Method::PUT, &path)
            .json(&json!({"name": "Bugs"}))
            .call()
            .await
            .unwrap();
        assert_eq!(
            (&changed["name"], &changed["flow_token"]),
            (&json!("Bugs"), &Json::Null)
        );
    }
}

/// Shows: 4.39
async fn the_sources_of_a_flow_are_listed_in_the_order_of_their_making(tenant: Tenant) {
    assert_eq!(tenant.ben.get(&tenant.path("/sources")).await, json!([]));
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ids = Vec::new();
    for name in ["one", "two", "three"] {
        ids.push(Source::of(&robot, &tenant.ada, &tenant.main, name).await.id);
    }
    let listed = tenant.ben.get(&tenant.path("/sources")).await;
    let listed: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["id"].as_i64().unwrap())
        .collect();
    assert_eq!(listed, ids);
}

async fn everybody_sees_the_sources_of_their_flows_at_one_address(tenant: Tenant) {
    let side = format!("{}/side", tenant.name);
    tenant.flow("side", &[&tenant.ada]);
    let robot = tenant.server().robot(&tenant.name, &[]);
    let here = Source::of(&robot, &tenant.ben, &tenant.main, "here").await;
    let there = Source::of(&robot, &tenant.ada, &side, "there").await;
    let seen = async |caller: &eddyline_tests::Caller| {
        let all = caller.get("/sources").await;
        all.as_array()
            .unwrap()
            .iter()
            .map(|source| source["id"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(seen(&tenant.ada).await, [here.id, there.id]);
    assert_eq!(seen(&tenant.ben).await, [here.id]);
    assert_eq!(seen(&tenant.user("olga")).await, [0; 0]);
    assert_eq!(seen(&tenant.neighbour().ada).await, [0; 0]);
    let token = tenant.client(eddyline_client::Credentials::FlowToken(tenant.flow_token()));
    let own: Json = token.request(Method::GET, "/sources").call().await.unwrap();
    assert_eq!(own, json!([]), "the flow's own token is of no source");
}

/// Shows: 2.33
async fn an_error_message_is_set_and_taken_away_by_an_empty_text(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    for (client, path) in [
        (&source.client, "/sources".to_owned()),
        (&tenant.ada.client, path(&tenant, &source)),
    ] {
        for (text, shown) in [
            ("The key has ended.", json!("The key has ended.")),
            ("", Json::Null),
        ] {
            let request = client
                .request(Method::PUT, &path)
                .json(&json!({"error_message": text}));
            let changed: Json = request.call().await.unwrap();
            assert_eq!(
                (&changed["error_message"], &changed["name"]),
                (&shown, &json!("Tickets"))
            );
            assert_eq!(
                tenant.ben.get(&tenant.path("/sources")).await,
                json!([changed])
            );
        }
    }
}

/// Shows: 4.39
async fn name_and_addresses_are_changed(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let change = json!({
        "name": "Bugs",
        "external_url": "https://tracker.example/acme",
        "configuration_url": "https://tracker.example/acme/settings?a=b",
    });
    let path = path(&tenant, &source);
    let changed = tenant
        .ben
        .send(Method::PUT, &path, &change)
        .await
        .success()
        .unwrap()
        .json();
    for (name, value) in change.as_object().unwrap() {
        assert_eq!(&changed[name], value, "{name}");
    }
    assert!(changed["updated_at"].as_str() >= changed["created_at"].as_str());
    // What is not named stays; an empty text takes an address away.
    let changed = tenant
        .ben
        .send(Method::PUT, &path, &json!({"external_url": ""}))
        .await
        .json();
    assert_eq!(
        (&changed["external_url"], &changed["name"]),
        (&Json::Null, &json!("Bugs"))
    );
    assert_eq!(changed["configuration_url"], change["configuration_url"]);
    assert_eq!(tenant.ben.get(&path).await, changed);
}

/// Shows: 4.40
async fn a_source_is_configured_where_its_application_says(tenant: Tenant) {
    let uri = "https://tracker.example/configure?from=flow";
    let robot = tenant
        .server()
        .robot(&tenant.name, &["--configuration-uri", uri]);
    let source = Source::of(&robot, &tenant.ben, &tenant.main, "Tickets").await;
    assert_eq!(source.shown["application"]["configuration_uri"], uri);
    let flow = source.shown["flow"].as_str().unwrap();
    let link = format!("{uri}&integration_id={}&flow={flow}", source.id);
    assert_eq!(source.shown["configuration_url"], link);
    // Unless the integration knows better, for as long as it does.
    for (own, shown) in [
        ("https://tracker.example/7", "https://tracker.example/7"),
        ("", &link),
    ] {
        let change = json!({"configuration_url": own});
        let request = source.client.request(Method::PUT, "/sources").json(&change);
        assert_eq!(
            request.call::<Json>().await.unwrap()["configuration_url"],
            shown
        );
    }
}

async fn an_application_is_set_up_for_a_flow_where_it_says(tenant: Tenant) {
    let path = tenant.path("/applications");
    let server = tenant.server();
    server.robot(&tenant.name, &[]);
    assert_eq!(tenant.ben.get(&path).await, json!([]));
    let uri = "https://tracker.example/setup";
    let robot = server.robot(&tenant.name, &["--setup-uri", uri]);
    let flow = tenant.ben.get(&tenant.path("")).await;
    let found = tenant.ben.get(&path).await;
    assert_eq!(found.as_array().unwrap().len(), 1);
    let id: i64 = robot.id.parse().unwrap();
    assert_eq!(
        (&found[0]["id"], &found[0]["name"]),
        (&json!(id), &json!("Robot"))
    );
    let link = found[0]["setup_url"].as_str().unwrap();
    let begins = format!("{uri}?flow={}&flow_url=", flow["id"].as_str().unwrap());
    assert!(link.starts_with(&begins), "{link}");
}

async fn a_source_says_when_its_threads_changed_last(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let other = Source::new(&tenant).await;
    assert_eq!(source.shown["threads_updated_at"], Json::Null);
    let mut last = Json::Null;
    for id in ["1", "2", "1"] {
        last = source.push(&activity(id, "changed")).await["thread"]["updated_at"].clone();
    }
    let shown = async |source: &Source| {
        let shown = tenant.ben.get(&path(&tenant, source)).await;
        shown["threads_updated_at"].clone()
    };
    assert_eq!(shown(&source).await, last);
    assert_eq!(shown(&other).await, Json::Null);
}

async fn what_is_too_long_or_no_address_is_refused(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let url = |length: usize| format!("https://x.example/{}", "a".repeat(length - 18));
    for (name, good, bad) in [
        (
            "name",
            vec!["x".into(), "ä".repeat(100)],
            vec![String::new(), " ".into(), "ä".repeat(101)],
        ),
        (
            "error_message",
            vec!["ä".repeat(1000)],
            vec!["ä".repeat(1001)],
        ),
        (
            "external_url",
            vec![url(2000)],
            vec![
                url(2001),
                "javascript:alert(1)".into(),
                "tracker.example".into(),
                "https://".into(),
            ],
        ),
        (
            "configuration_url",
            vec![
                "http://localhost/x".into(),
                "HTTPS://tracker.example/x".into(),
            ],
            vec!["data:text/html,x".into(), "x".into()],
        ),
    ] {
        for text in good {
            let changed = tenant
                .ben
                .send(Method::PUT, &path(&tenant, &source), &json!({name: text}))
                .await;
            assert_eq!(
                (changed.status.as_u16(), &changed.json()[name]),
                (200, &json!(text)),
                "{name}"
            );
        }
        let before = tenant.ben.get(&path(&tenant, &source)).await;
        for text in bad {
            let refused = tenant
                .ben
                .send(Method::PUT, &path(&tenant, &source), &json!({name: text}))
                .await;
            assert_eq!(refused.status, 400, "{name} {text}");
            assert!(
                refused.json()["errors"][name][0].is_string(),
                "{}",
                refused.text()
            );
        }
        assert_eq!(tenant.ben.get(&path(&tenant, &source)).await, before);
    }
    // A picture within an address is refused for what it is, however long it is.
    let picture = format!("data:image/png;base64,{}", "A".repeat(3000));
    let no_page = json!(["must be an address that begins with http:// or https://"]);
    let refused = tenant
        .ben
        .send(
            Method::PUT,
            &path(&tenant, &source),
            &json!({"external_url": picture}),
        )
        .await;
    assert_eq!(refused.json()["errors"]["external_url"], no_page);
    let avatar = json!({"name": "Ada", "avatar": picture});
    let mut pushed = activity("1", "x");
    pushed["author"] = avatar;
    assert_eq!(
        try_push(&source.client, &pushed).await.json()["errors"]["author[avatar]"],
        no_page
    );
    let number = json!({"error_message": {"text": "x"}});
    assert_eq!(
        tenant
            .ben
            .send(Method::PUT, &path(&tenant, &source), &number)
            .await
            .status,
        400
    );
}

/// Shows: 4.39, 5.4
async fn a_source_sees_and_changes_itself(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let (own, other) = (
        Source::of(&robot, &tenant.ben, &tenant.main, "own").await,
        Source::of(&robot, &tenant.ben, &tenant.main, "other").await,
    );
    let seen: Json = own
        .client
        .request(Method::GET, "/sources")
        .call()
        .await
        .unwrap();
    assert_eq!(
        (seen.as_array().unwrap().len(), &seen[0]["id"]),
        (1, &json!(own.id))
    );
    // The flow's list, and what it says of others, is not its business.
    let elsewhere = path(&tenant, &other);
    for (method, path) in [
        (Method::GET, tenant.path("/sources")),
        (Method::GET, path(&tenant, &own)),
        (Method::PUT, elsewhere.clone()),
        (Method::DELETE, elsewhere),
    ] {
        assert_eq!(
            status(&own.client, method.clone(), &path, &json!({})).await,
            403,
            "{method} {path}"
        );
    }
    assert_eq!(
        try_push(&other.client, &activity("1", "still there"))
            .await
            .status,
        200
    );
}
