//! Who may do what with a message and a flow (docs/protocol.md): each kind of caller, each deed.

use eddyline_client::{Client, Credentials, Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    the_table_of_callers_and_messages_holds,
    the_table_of_callers_and_flows_holds,
    a_blocked_user_is_out_until_unblocked,
    an_archived_flow_is_there_for_administrators_only,
    a_flow_of_another_organization_is_not_found,
    an_organization_flow_is_seen_but_not_read_before_joining,
    a_flow_with_a_link_is_not_seen_without_it,
];

/// One of each kind of caller.
struct Cast {
    author: Client,
    member: Client,
    outsider: Client,
    blocked: Client,
    administrator: Client,
    outside_administrator: Client,
    stranger: Client,
    flow_token: Client,
    nobody: Client,
}

impl Cast {
    async fn of(tenant: &Tenant) -> Self {
        let blocked = tenant.member("bert");
        block(tenant, &blocked, true).await;
        Self {
            author: tenant.ben.client.clone(),
            member: tenant.member("mia").client,
            outsider: tenant.user("olga").client,
            blocked: blocked.client,
            administrator: tenant.ada.client.clone(),
            outside_administrator: tenant.administrator("otto").client,
            stranger: tenant.neighbour().ben.client.clone(),
            flow_token: tenant.client(Credentials::FlowToken(tenant.flow_token())),
            nobody: tenant.client(Credentials::None),
        }
    }

    fn all(&self) -> [(&'static str, &Client); 9] {
        [
            ("author", &self.author),
            ("member", &self.member),
            ("outsider", &self.outsider),
            ("blocked", &self.blocked),
            ("administrator", &self.administrator),
            ("outside administrator", &self.outside_administrator),
            ("stranger", &self.stranger),
            ("flow token", &self.flow_token),
            ("nobody", &self.nobody),
        ]
    }
}

async fn block(tenant: &Tenant, user: &Caller, disabled: bool) {
    let path = tenant.path(&format!("/users/{}", user.id));
    tenant
        .ada
        .does(Method::PUT, &path, &json!({"disabled": disabled}))
        .await;
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

/// Shows: 4.28, 7.1, 7.8
async fn the_table_of_callers_and_messages_holds(tenant: Tenant) {
    let cast = Cast::of(&tenant).await;
    // Columns: list, get, edit the content, edit the tags, comment, delete.
    let table = [
        ("author", [200, 200, 200, 200, 202, 200]),
        ("member", [200, 200, 403, 200, 202, 403]),
        ("outsider", [403, 403, 403, 403, 403, 403]),
        ("blocked", [403, 403, 403, 403, 403, 403]),
        ("administrator", [200, 200, 403, 200, 202, 403]),
        ("outside administrator", [403, 403, 403, 403, 403, 403]),
        ("stranger", [404, 404, 404, 404, 404, 404]),
        ("flow token", [403, 403, 403, 403, 202, 403]),
        ("nobody", [401, 401, 401, 401, 401, 401]),
    ];
    for ((name, client), (row, expected)) in cast.all().into_iter().zip(table) {
        assert_eq!(name, row);
        let message = tenant.ben.say(&tenant.main, "hello").await;
        let path = tenant.message_path(&message);
        let found = [
            status(client, Method::GET, &tenant.path("/messages"), &json!({})).await,
            status(client, Method::GET, &path, &json!({})).await,
            status(client, Method::PUT, &path, &json!({"content": "changed"})).await,
            status(client, Method::PUT, &path, &json!({"tags": [name]})).await,
            status(
                client,
                Method::POST,
                &format!("{path}/comments"),
                &json!({"content": "x"}),
            )
            .await,
            status(client, Method::DELETE, &path, &json!({})).await,
        ];
        assert_eq!(found, expected, "{name}");
    }
}

/// Shows: 1.8, 2.12
async fn the_table_of_callers_and_flows_holds(tenant: Tenant) {
    let cast = Cast::of(&tenant).await;
    let id = tenant.ben.get(&tenant.path("")).await["id"].clone();
    // Columns: get, find, post, rename, list the users, add a user.
    let table = [
        ("author", [200, 200, 202, 403, 200, 200]),
        ("member", [200, 200, 202, 403, 200, 200]),
        ("outsider", [403, 403, 403, 403, 403, 403]),
        ("blocked", [403, 403, 403, 403, 403, 403]),
        ("administrator", [200, 200, 202, 200, 200, 200]),
        ("outside administrator", [200, 200, 403, 200, 200, 403]),
        ("stranger", [404, 404, 404, 404, 404, 404]),
        ("flow token", [403, 403, 202, 403, 403, 403]),
        ("nobody", [401, 401, 401, 401, 401, 401]),
    ];
    let message = json!({"event": "message", "content": "hello"});
    let user = json!({"id": tenant.ben.id});
    for ((name, client), (row, expected)) in cast.all().into_iter().zip(table) {
        assert_eq!(name, row);
        let found = [
            status(client, Method::GET, &tenant.path(""), &json!({})).await,
            status(client, Method::GET, "/flows/find", &json!({"id": id})).await,
            status(client, Method::POST, &tenant.path("/messages"), &message).await,
            status(
                client,
                Method::PUT,
                &tenant.path(""),
                &json!({"name": "Main"}),
            )
            .await,
            status(client, Method::GET, &tenant.path("/users"), &json!({})).await,
            status(client, Method::POST, &tenant.path("/users"), &user).await,
        ];
        assert_eq!(found, expected, "{name}");
    }
}

/// Shows: 3.11
async fn a_blocked_user_is_out_until_unblocked(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    let message = cleo.say(&tenant.main, "hello").await;
    block(&tenant, &cleo, true).await;
    let own = tenant.message_path(&message);
    assert_eq!(
        status(&cleo.client, Method::GET, &own, &json!({})).await,
        403
    );
    assert_eq!(
        status(&cleo.client, Method::DELETE, &own, &json!({})).await,
        403
    );
    for path in ["/flows", "/flows/all"] {
        assert_eq!(cleo.get(path).await, json!([]), "{path}");
    }
    for change in [json!({"open": true}), json!({"open": false})] {
        assert_eq!(
            status(&cleo.client, Method::PUT, &tenant.path(""), &change).await,
            403
        );
    }
    let leave = tenant.path(&format!("/users/{}", cleo.id));
    assert_eq!(
        status(&cleo.client, Method::DELETE, &leave, &json!({})).await,
        403,
        "a block outlasts leaving"
    );
    block(&tenant, &cleo, false).await;
    cleo.say(&tenant.main, "back again").await;
    assert_eq!(cleo.get("/flows").await.as_array().unwrap().len(), 1);
}

/// Shows: 3.9, 3.10
async fn an_archived_flow_is_there_for_administrators_only(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "hello").await;
    let archived: Json = tenant
        .ada
        .client
        .request(Method::PUT, &tenant.path(""))
        .json(&json!({"disabled": true}))
        .call()
        .await
        .unwrap();
    assert_eq!(archived["disabled"], true);
    let token = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    let text = json!({"event": "message", "content": "anybody?"});
    for client in [&tenant.ben.client, &token] {
        assert_eq!(
            status(client, Method::GET, &tenant.path(""), &json!({})).await,
            404
        );
        assert_eq!(
            status(client, Method::GET, &tenant.path("/messages"), &json!({})).await,
            404
        );
        assert_eq!(
            status(client, Method::POST, &tenant.path("/messages"), &text).await,
            404
        );
    }
    assert_eq!(status(&token, Method::POST, "/messages", &text).await, 404);
    assert_eq!(
        status(
            &tenant.ben.client,
            Method::PUT,
            &tenant.path(""),
            &json!({"disabled": false})
        )
        .await,
        404
    );
    assert_eq!(
        status(
            &tenant.ben.client,
            Method::PUT,
            &tenant.path(""),
            &json!({"open": true})
        )
        .await,
        404
    );
    // Nobody posts or joins, but an administrator sees it, and can bring it back.
    let ada = &tenant.ada;
    assert_eq!(
        status(&ada.client, Method::POST, &tenant.path("/messages"), &text).await,
        403
    );
    assert_eq!(
        status(
            &ada.client,
            Method::PUT,
            &tenant.path(""),
            &json!({"open": true})
        )
        .await,
        403
    );
    assert_eq!(ada.get("/flows").await, json!([]));
    assert_eq!(ada.get("/flows/all").await[0]["disabled"], true);
    assert_eq!(tenant.ben.get("/flows/all").await, json!([]));
    assert_eq!(ada.get(&tenant.path("")).await["disabled"], true);
    ada.does(Method::PUT, &tenant.path(""), &json!({"disabled": false}))
        .await;
    assert_eq!(
        tenant.ben.get(&tenant.message_path(&message)).await,
        message,
        "everything is as it was"
    );
    assert_eq!(tenant.ben.get("/flows").await.as_array().unwrap().len(), 1);
}

async fn a_flow_of_another_organization_is_not_found(tenant: Tenant) {
    let stranger = &tenant.neighbour().ada;
    let id = tenant.ben.get(&tenant.path("")).await["id"].clone();
    let message = tenant.ben.say(&tenant.main, "hello").await;
    let text = json!({"event": "message", "content": "hello"});
    let named =
        |flow: &Json| json!({"flow": flow, "event": "message", "content": "hello", "message": 1});
    for (method, path, body) in [
        (Method::POST, tenant.path("/messages"), text.clone()),
        (Method::POST, "/messages".to_owned(), named(&id)),
        (
            Method::POST,
            "/messages".to_owned(),
            named(&json!(tenant.main)),
        ),
        (
            Method::POST,
            "/comments".to_owned(),
            json!({"flow": id, "content": "hello", "message": 1}),
        ),
        (
            Method::POST,
            format!("/flows/{}", tenant.name),
            json!({"name": "Mine"}),
        ),
        (Method::PUT, tenant.path(""), json!({"open": true})),
        (Method::GET, tenant.message_path(&message), json!({})),
        (
            Method::PUT,
            tenant.path(&format!("/users/{}", tenant.ben.id)),
            json!({"disabled": true}),
        ),
    ] {
        let answer = stranger.send(method.clone(), &path, &body).await;
        assert_eq!(answer.status, 404, "{method} {path}");
        assert_eq!(
            answer.json(),
            json!({"message": "not found"}),
            "as if it were not there"
        );
    }
}

/// Shows: 2.9, 2.12, 3.8
async fn an_organization_flow_is_seen_but_not_read_before_joining(tenant: Tenant) {
    let olga = tenant.user("olga");
    tenant.ben.say(&tenant.main, "hello").await;
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "organization"}),
        )
        .await;
    assert_eq!(olga.get(&tenant.path("")).await["joined"], false);
    for (method, path) in [
        (Method::GET, tenant.path("/messages")),
        (Method::GET, tenant.path("/messages/1")),
        (Method::POST, tenant.path("/messages")),
        (Method::POST, tenant.path("/users")),
    ] {
        let body = json!({"event": "message", "content": "hello", "id": olga.id});
        assert_eq!(
            status(&olga.client, method, &path, &body).await,
            403,
            "{path}"
        );
    }
    olga.does(Method::PUT, &tenant.path(""), &json!({"open": true}))
        .await;
    assert_eq!(
        olga.get(&tenant.path("/messages/1")).await["content"],
        "hello"
    );
}

/// Shows: 2.12
async fn a_flow_with_a_link_is_not_seen_without_it(tenant: Tenant) {
    let olga = tenant.user("olga");
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "link"}),
        )
        .await;
    assert_eq!(olga.get("/flows/all").await, json!([]));
    for (method, body) in [
        (Method::GET, json!({})),
        (Method::PUT, json!({"open": true})),
    ] {
        assert_eq!(
            status(&olga.client, method.clone(), &tenant.path(""), &body).await,
            403,
            "{method}"
        );
    }
    assert_eq!(
        status(
            &olga.client,
            Method::GET,
            &tenant.path("/messages"),
            &json!({})
        )
        .await,
        403
    );
}
