//! Who may talk to whom.

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::{listed, messages, path, remove, status, unread, write, write_all};

on_shared_servers![
    strangers_are_not_found,
    who_has_left_is_denied_and_off_the_list,
    an_inactive_organization_is_only_read,
    a_second_common_organization_keeps_the_conversation,
    a_flow_token_has_no_conversations,
];

/// Shows: 4.31
async fn strangers_are_not_found(tenant: Tenant) {
    let stranger = &tenant.neighbour().ben;
    let chat = json!({"event": "message", "content": "hello"});
    let nobody = ["0", "-1", "999999999", "9223372036854775808", "x", "ada"].map(str::to_owned);
    for id in nobody.into_iter().chain([stranger.id.to_string()]) {
        let at = |rest: &str| format!("/private/{id}{rest}");
        for (method, path, body) in [
            (Method::GET, at(""), Json::Null),
            (Method::PUT, at(""), json!({"open": true})),
            (Method::PUT, at("/read"), json!({"message": 1})),
            (Method::GET, at("/messages"), Json::Null),
            (Method::POST, at("/messages"), chat.clone()),
            (Method::GET, at("/messages/1"), Json::Null),
            (Method::PUT, at("/messages/1"), json!({"content": "no"})),
            (Method::DELETE, at("/messages/1"), Json::Null),
            // The room comes before the parameters, as in flows.
            (Method::PUT, at(""), json!({"open": "maybe"})),
            (Method::PUT, at("/read"), json!({})),
            (Method::POST, at("/messages"), json!({})),
            (Method::GET, at("/messages?limit=x"), Json::Null),
            (Method::PUT, at("/messages/1"), json!({"content": {"a": 1}})),
        ] {
            assert_eq!(
                status(&tenant.ben, method.clone(), &path, body).await,
                404,
                "{method} {path}"
            );
        }
    }
    assert_eq!(tenant.ben.get("/private").await, json!([]));
}

/// Shows: 4.31
async fn who_has_left_is_denied_and_off_the_list(tenant: Tenant) {
    let cleo = tenant.user("cleo");
    write_all(&tenant.ben, &cleo, &["hello"]).await;
    write_all(&cleo, &tenant.ben, &["hello back"]).await;
    write_all(&tenant.ben, &tenant.ada, &["hello"]).await;
    remove(&tenant, &cleo).await;
    let chat = json!({"event": "message", "content": "too late"});
    for (who, with) in [(&tenant.ben, &cleo), (&cleo, &tenant.ben)] {
        for (method, path, body) in [
            (Method::GET, path(with), Json::Null),
            (Method::PUT, path(with), json!({"open": true})),
            (
                Method::PUT,
                format!("{}/read", path(with)),
                json!({"message": 1}),
            ),
            (Method::GET, messages(with), Json::Null),
            (Method::POST, messages(with), chat.clone()),
            (Method::GET, format!("{}/1", messages(with)), Json::Null),
            (
                Method::PUT,
                format!("{}/1", messages(with)),
                json!({"content": "no"}),
            ),
            (Method::DELETE, format!("{}/1", messages(with)), Json::Null),
        ] {
            assert_eq!(
                status(who, method.clone(), &path, body).await,
                403,
                "{method} {path}"
            );
        }
    }
    assert_eq!(cleo.get("/private").await, json!([]));
    let left = tenant.ben.get("/private").await;
    assert_eq!(
        (left.as_array().unwrap().len(), &left[0]["id"]),
        (1, &json!(tenant.ada.id))
    );
    assert_eq!(
        status(&cleo, Method::GET, &path(&tenant.ada), Json::Null).await,
        404,
        "they never met"
    );
    // One keeps one's own notes.
    write_all(&cleo, &cleo, &["note to self"]).await;
}

/// Shows: 4.31
async fn an_inactive_organization_is_only_read(tenant: Tenant) {
    write_all(&tenant.ben, &tenant.ada, &["hello"]).await;
    let set = |active: &str| {
        tenant
            .server()
            .admin(&["org", "update", "--org", &tenant.name, "--active", active]);
    };
    set("false");
    let own = format!("{}/1", messages(&tenant.ada));
    assert_eq!(
        write(&tenant.ben, &tenant.ada, "too late").await.status,
        403
    );
    assert_eq!(
        status(&tenant.ben, Method::PUT, &own, json!({"content": "no"})).await,
        403
    );
    assert_eq!(
        status(&tenant.ben, Method::DELETE, &own, Json::Null).await,
        403
    );
    assert_eq!(listed(&tenant.ada, &tenant.ben, "").await, [1]);
    tenant
        .ada
        .does(Method::PUT, &path(&tenant.ben), &json!({"open": true}))
        .await;
    tenant
        .ada
        .does(
            Method::PUT,
            &format!("{}/read", path(&tenant.ben)),
            &json!({"message": 1}),
        )
        .await;
    assert_eq!(unread(&tenant.ada, &tenant.ben).await, 0);
    set("true");
    assert_eq!(write(&tenant.ben, &tenant.ada, "back").await.status, 200);
}

async fn a_second_common_organization_keeps_the_conversation(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let (cleo, dora) = (tenant.user("cleo"), tenant.user("dora"));
    for (person, nick) in [(&cleo, "cleo"), (&dora, "dora")] {
        let arguments = [
            "user",
            "create",
            "--org",
            &neighbour.name,
            "--email",
            &person.email,
        ];
        tenant
            .server()
            .admin(&[&arguments[..], &["--name", nick, "--nick", nick]].concat());
    }
    write_all(&dora, &cleo, &["hello"]).await;
    remove(&tenant, &cleo).await;
    write_all(&dora, &cleo, &["still here"]).await;
    assert_eq!(listed(&cleo, &dora, "").await, [1, 2]);
}

/// Shows: 4.31
async fn a_flow_token_has_no_conversations(tenant: Tenant) {
    let client = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    let with = path(&tenant.ada);
    for (method, path) in [
        (Method::GET, "/private".to_owned()),
        (Method::GET, with.clone()),
        (Method::PUT, with.clone()),
        (Method::PUT, format!("{with}/read")),
        (Method::GET, format!("{with}/messages")),
        (Method::POST, format!("{with}/messages")),
        (Method::GET, format!("{with}/messages/1")),
        (Method::PUT, format!("{with}/messages/1")),
        (Method::DELETE, format!("{with}/messages/1")),
    ] {
        let answer = client.request(method.clone(), &path).send().await.unwrap();
        assert_eq!(answer.status, 403, "{method} {path}");
    }
}
