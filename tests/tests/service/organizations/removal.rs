//! Who is removed from an organization loses everything there at once, and leaves what they wrote.

use eddyline_client::{Json, Method, StreamRequest};
use eddyline_tests::{Caller, Listener, Tenant, on_shared_servers};
use serde_json::json;

use super::{path, status};

on_shared_servers![
    who_is_removed_is_out_of_every_flow_and_the_messages_stay,
    who_is_removed_hears_nothing_more,
    streams_of_other_organizations_go_on_after_a_removal,
    who_is_removed_keeps_the_account_and_other_organizations,
    private_conversations_end_with_the_common_organization,
    a_block_ends_with_the_membership,
    a_nick_is_free_when_its_bearer_is_removed,
    the_last_administrator_stays,
    only_administrators_remove,
];

async fn remove(by: &Caller, tenant: &Tenant, user: &Caller) -> u16 {
    status(
        &by.client,
        Method::DELETE,
        &path(tenant, &format!("/users/{}", user.id)),
        &json!({}),
    )
    .await
}

/// Brings somebody who has an account into the organization, as an operator does.
fn bring_back(tenant: &Tenant, user: &Caller, nick: &str) {
    let line = [
        "user",
        "create",
        "--org",
        &tenant.name,
        "--email",
        &user.email,
        "--name",
        nick,
    ];
    tenant
        .server()
        .admin(&[&line[..], &["--nick", nick]].concat());
}

/// Shows: 4.33, 7.4
async fn who_is_removed_is_out_of_every_flow_and_the_messages_stay(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    tenant.flow("lab", &[&tenant.ada, &cleo]);
    tenant.flow("old", &[&tenant.ada, &cleo]);
    let archive = json!({"disabled": true});
    tenant
        .ada
        .does(
            Method::PUT,
            &format!("/flows/{}/old", tenant.name),
            &archive,
        )
        .await;
    let message = cleo.say(&tenant.main, "hello").await;
    let answer = tenant
        .ada
        .send(
            Method::DELETE,
            &path(&tenant, &format!("/users/{}", cleo.id)),
            &Json::Null,
        )
        .await;
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (204, ""));

    assert_eq!(
        tenant.ben.get(&tenant.message_path(&message)).await,
        message
    );
    assert_eq!(message["user"], cleo.id.to_string());
    for flow in [tenant.main.clone(), format!("{}/lab", tenant.name)] {
        let list = tenant
            .ada
            .get(&format!("/flows/{flow}/messages?event=action&limit=1"))
            .await;
        assert_eq!(list[0]["user"], cleo.id.to_string(), "{flow}");
        assert_eq!(
            list[0]["content"],
            json!({"type": "leave", "description": "cleo"}),
            "{flow}"
        );
        let users = tenant.ada.get(&format!("/flows/{flow}/users")).await;
        assert!(
            users
                .as_array()
                .unwrap()
                .iter()
                .all(|user| user["id"] != cleo.id),
            "{flow}"
        );
        assert_eq!(
            status(
                &cleo.client,
                Method::GET,
                &format!("/flows/{flow}"),
                &json!({})
            )
            .await,
            404
        );
    }
    let old = format!("/flows/{}/old", tenant.name);
    assert_eq!(
        tenant.ada.get(&old).await["users"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "also of an archived one"
    );
    let organization = tenant.ben.get(&path(&tenant, "")).await;
    assert_eq!(
        (
            &organization["user_count"],
            organization["users"].as_array().unwrap().len()
        ),
        (&json!(2), 2)
    );
    let post = json!({"event": "message", "content": "too late"});
    assert_eq!(
        status(&cleo.client, Method::POST, &tenant.path("/messages"), &post).await,
        404
    );
    assert_eq!(
        status(&cleo.client, Method::GET, &path(&tenant, ""), &json!({})).await,
        404
    );
    assert_eq!(
        status(
            &tenant.ada.client,
            Method::GET,
            &format!("/users/{}", cleo.id),
            &json!({})
        )
        .await,
        404
    );
    assert_eq!(
        remove(&tenant.ada, &tenant, &cleo).await,
        404,
        "nobody is removed twice"
    );
}

async fn who_is_removed_hears_nothing_more(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    let flow = Listener::to(&cleo.client, &[&tenant.main]).await;
    let own = Listener::open(&cleo.client, &StreamRequest::new().user()).await;
    tenant.ada.say(&tenant.main, "known").await;
    assert_eq!(remove(&tenant.ada, &tenant, &cleo).await, 204);
    tenant.ada.say(&tenant.main, "secret").await;
    let heard: Vec<Json> = flow
        .rest()
        .await
        .into_iter()
        .filter(|event| event["event"] == "message")
        .collect();
    assert_eq!(
        heard
            .iter()
            .map(|message| &message["content"])
            .collect::<Vec<_>>(),
        ["known"]
    );
    own.rest().await;
    let again = cleo
        .client
        .stream(&StreamRequest::new().flow(&tenant.main))
        .await;
    assert_eq!(
        again
            .err()
            .and_then(|error| error.status())
            .map(|status| status.as_u16()),
        Some(404)
    );
}

async fn streams_of_other_organizations_go_on_after_a_removal(tenant: Tenant) {
    let (neighbour, cleo) = (tenant.neighbour(), tenant.member("cleo"));
    bring_back(&neighbour, &cleo, "cleo");
    neighbour.server().admin(&[
        "flow",
        "add-user",
        "--flow",
        &neighbour.main,
        "--email",
        &cleo.email,
    ]);
    let mut both = Listener::to(&cleo.client, &[&tenant.main, &neighbour.main]).await;
    assert_eq!(remove(&tenant.ada, &tenant, &cleo).await, 204);
    tenant.ada.say(&tenant.main, "secret").await;
    neighbour.ada.say(&neighbour.main, "after").await;
    assert_eq!(both.texts_through("after").await, ["after"]);
}

async fn who_is_removed_keeps_the_account_and_other_organizations(tenant: Tenant) {
    let (neighbour, cleo, dora) = (
        tenant.neighbour(),
        tenant.member("cleo"),
        tenant.member("dora"),
    );
    bring_back(&neighbour, &cleo, "cleo");
    neighbour
        .ada
        .does(
            Method::POST,
            &neighbour.path("/users"),
            &json!({"id": cleo.id}),
        )
        .await;
    for user in [&cleo, &dora] {
        assert_eq!(remove(&tenant.ada, &tenant, user).await, 204);
    }
    cleo.say(&neighbour.main, "hello over here").await;
    assert_eq!(
        cleo.get("/organizations").await.as_array().unwrap().len(),
        1
    );
    // Somebody of no organization is somebody still.
    let me = dora.get("/user").await;
    assert_eq!(me["id"], dora.id);
    assert_eq!(dora.by_password().me().await.unwrap().id, dora.id);
    assert_eq!(
        (dora.get("/users").await, dora.get("/organizations").await),
        (json!([me]), json!([]))
    );
    assert_eq!(
        (dora.get("/flows").await, dora.get("/flows/all").await),
        (json!([]), json!([]))
    );
}

async fn private_conversations_end_with_the_common_organization(tenant: Tenant) {
    let cleo = tenant.user("cleo");
    let (to_ben, to_cleo) = (
        format!("/private/{}", tenant.ben.id),
        format!("/private/{}", cleo.id),
    );
    let text = json!({"event": "message", "content": "between us"});
    cleo.does(Method::POST, &format!("{to_ben}/messages"), &text)
        .await;
    assert_eq!(remove(&tenant.ada, &tenant, &cleo).await, 204);
    for (caller, other) in [(&cleo, to_ben), (&tenant.ben, to_cleo)] {
        let messages = format!("{other}/messages");
        assert_eq!(
            status(&caller.client, Method::POST, &messages, &text).await,
            403
        );
        assert_eq!(
            status(&caller.client, Method::GET, &messages, &json!({})).await,
            403
        );
    }
}

async fn a_block_ends_with_the_membership(tenant: Tenant) {
    let bert = tenant.member("bert");
    let door = tenant.path(&format!("/users/{}", bert.id));
    tenant
        .ada
        .does(Method::PUT, &door, &json!({"disabled": true}))
        .await;
    assert_eq!(remove(&tenant.ada, &tenant, &bert).await, 204);
    let actions = tenant.ada.get(&tenant.path("/messages?event=action")).await;
    assert!(
        actions
            .as_array()
            .unwrap()
            .iter()
            .all(|action| action["content"]["type"] != "leave")
    );
    bring_back(&tenant, &bert, "bert");
    tenant
        .ada
        .does(
            Method::POST,
            &tenant.path("/users"),
            &json!({"id": bert.id}),
        )
        .await;
    bert.say(&tenant.main, "a new beginning").await;
}

async fn a_nick_is_free_when_its_bearer_is_removed(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    assert_eq!(remove(&tenant.ada, &tenant, &cleo).await, 204);
    let olga = tenant.member("olga");
    olga.does(Method::PUT, "/user", &json!({"nick": "cleo"}))
        .await;
    let message = tenant.ada.say(&tenant.main, "@cleo welcome").await;
    assert_eq!(message["tags"][0], format!(":user:{}", olga.id));
}

/// Shows: 4.33
async fn the_last_administrator_stays(tenant: Tenant) {
    let answer = tenant
        .ada
        .send(
            Method::DELETE,
            &path(&tenant, &format!("/users/{}", tenant.ada.id)),
            &json!({}),
        )
        .await;
    assert_eq!(answer.status, 409);
    assert!(
        answer.json()["message"]
            .as_str()
            .unwrap()
            .contains("last administrator"),
        "{}",
        answer.text()
    );
    tenant.ada.say(&tenant.main, "still here").await;
    let otto = tenant.administrator("otto");
    assert_eq!(remove(&otto, &tenant, &tenant.ada).await, 204);
    assert_eq!(remove(&otto, &tenant, &otto).await, 409);
}

/// Shows: 1.8
async fn only_administrators_remove(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    assert_eq!(remove(&tenant.ben, &tenant, &cleo).await, 403);
    assert_eq!(remove(&cleo, &tenant, &cleo).await, 403, "nor oneself");
    assert_eq!(remove(&tenant.neighbour().ada, &tenant, &cleo).await, 404);
    let nobody = path(&tenant, "/users/999999999");
    assert_eq!(
        status(&tenant.ada.client, Method::DELETE, &nobody, &json!({})).await,
        404
    );
    cleo.say(&tenant.main, "still here").await;
}
