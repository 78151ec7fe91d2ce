//! The transitions of flows and of who is in them (specification, section 3), each named after its
//! row. Those of invitations, private conversations, sources and inbox messages are with the tests
//! of these.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    flow_membership_joined_false_put_open_true_joins,
    flow_active_put_disabled_true_archives,
    flow_archived_put_disabled_false_makes_it_active,
    flow_user_not_blocked_put_disabled_true_blocks,
    flow_user_blocked_put_disabled_false_unblocks,
    message_existing_delete_own_chat_message_truncates,
];

async fn status(caller: &Caller, method: Method, path: &str, body: Json) -> u16 {
    caller.send(method, path, &body).await.status.as_u16()
}

fn chat() -> Json {
    json!({"event": "message", "content": "hello"})
}

async fn flow_membership_joined_false_put_open_true_joins(tenant: Tenant) {
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "organization"}),
        )
        .await;
    let olga = tenant.user("olga");
    assert_eq!(olga.get(&tenant.path("")).await["joined"], false);
    assert_eq!(
        status(&olga, Method::POST, &tenant.path("/messages"), chat()).await,
        403
    );
    olga.does(Method::PUT, &tenant.path(""), &json!({"open": true}))
        .await;
    assert_eq!(olga.get(&tenant.path("")).await["joined"], true);
    assert_eq!(
        status(&olga, Method::POST, &tenant.path("/messages"), chat()).await,
        202
    );
}

async fn flow_active_put_disabled_true_archives(tenant: Tenant) {
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "link"}),
        )
        .await;
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": true}))
        .await;
    assert_eq!(
        tenant.ben.get("/flows").await,
        json!([]),
        "it is gone from its users"
    );
    for caller in [&tenant.ada, &tenant.ben] {
        let sent = status(caller, Method::POST, &tenant.path("/messages"), chat()).await;
        let joined = status(caller, Method::PUT, &tenant.path(""), json!({"open": true})).await;
        assert!(
            [403, 404].contains(&sent) && sent == joined,
            "{sent} {joined}"
        );
    }
    let guest = json!({"email": "guest@elsewhere.example"});
    assert_eq!(
        status(
            &tenant.ada,
            Method::POST,
            &tenant.path("/invitations"),
            guest
        )
        .await,
        403
    );
}

async fn flow_archived_put_disabled_false_makes_it_active(tenant: Tenant) {
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": true}))
        .await;
    assert_eq!(
        status(
            &tenant.ben,
            Method::PUT,
            &tenant.path(""),
            json!({"disabled": false})
        )
        .await,
        404
    );
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": false}))
        .await;
    assert_eq!(tenant.ben.get("/flows").await.as_array().unwrap().len(), 1);
    assert_eq!(
        status(&tenant.ben, Method::POST, &tenant.path("/messages"), chat()).await,
        202
    );
}

async fn flow_user_not_blocked_put_disabled_true_blocks(tenant: Tenant) {
    let (mia, door) = (tenant.member("mia"), |user: &Caller| {
        tenant.path(&format!("/users/{}", user.id))
    });
    // Administrators block anyone, regular users only regular users.
    assert_eq!(
        status(
            &mia,
            Method::PUT,
            &door(&tenant.ada),
            json!({"disabled": true})
        )
        .await,
        403
    );
    tenant
        .ben
        .does(Method::PUT, &door(&mia), &json!({"disabled": true}))
        .await;
    assert_eq!(
        status(&mia, Method::GET, &tenant.path("/messages"), Json::Null).await,
        403
    );
    let users = tenant.ada.get(&tenant.path("")).await["users"].clone();
    let shown = users
        .as_array()
        .unwrap()
        .iter()
        .find(|user| user["id"] == mia.id)
        .unwrap();
    assert_eq!(shown["disabled"], true);
}

async fn flow_user_blocked_put_disabled_false_unblocks(tenant: Tenant) {
    let mia = tenant.member("mia");
    let door = tenant.path(&format!("/users/{}", mia.id));
    tenant
        .ada
        .does(Method::PUT, &door, &json!({"disabled": true}))
        .await;
    assert_eq!(
        status(&mia, Method::PUT, &door, json!({"disabled": false})).await,
        403,
        "not by oneself"
    );
    tenant
        .ben
        .does(Method::PUT, &door, &json!({"disabled": false}))
        .await;
    assert_eq!(
        status(&mia, Method::POST, &tenant.path("/messages"), chat()).await,
        202
    );
}

async fn message_existing_delete_own_chat_message_truncates(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "hello @ada").await;
    let path = tenant.message_path(&message);
    assert_eq!(
        status(&tenant.ada, Method::DELETE, &path, Json::Null).await,
        403
    );
    assert_eq!(
        status(&tenant.ben, Method::DELETE, &path, Json::Null).await,
        200
    );
    let left = tenant.ada.get(&path).await;
    assert_eq!((&left["content"], &left["tags"]), (&json!(""), &json!([])));
    assert_eq!(tenant.ada.get(&tenant.path("")).await["unread_mentions"], 0);
}
