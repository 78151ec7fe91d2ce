//! Users (specification, sections 2 to 4): who one is, who is in a flow, who comes and goes.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

mod changes;
mod lists;
mod passwords;

on_shared_servers![
    a_caller_sees_themselves,
    a_user_is_seen_from_the_same_organization_only,
    the_users_of_a_flow_are_listed,
    a_member_adds_a_user_of_the_organization,
    only_users_of_the_organization_are_added,
    a_member_blocks_and_unblocks_members,
    only_administrators_block_administrators,
    doing_it_twice_does_nothing,
    joining_and_leaving_is_told,
    one_leaves_oneself_only,
    those_who_have_left_are_listed_until_they_return,
    what_an_operator_does_is_not_told,
    a_user_in_two_organizations_is_seen_from_both,
];

async fn last_action(tenant: &Tenant) -> Json {
    let actions = tenant
        .ada
        .get(&tenant.path("/messages?event=action&limit=1"))
        .await;
    let action = actions[0].clone();
    json!([action["user"], action["content"]])
}

async fn count(tenant: &Tenant) -> usize {
    tenant
        .ada
        .get(&tenant.path("/messages"))
        .await
        .as_array()
        .unwrap()
        .len()
}

async fn status(caller: &Caller, method: Method, path: &str, body: Json) -> u16 {
    caller.send(method, path, &body).await.status.as_u16()
}

/// Shows: 2.16
async fn a_caller_sees_themselves(tenant: Tenant) {
    let me = tenant.ben.get("/user").await;
    assert_eq!(me["id"], tenant.ben.id);
    assert_eq!(me["email"], tenant.ben.email);
    assert_eq!(
        (&me["name"], &me["nick"], &me["website"]),
        (&json!("ben"), &json!("ben"), &json!(""))
    );
    let avatar = me["avatar"].as_str().unwrap();
    let hash = avatar
        .strip_prefix(&format!("{}/avatars/", tenant.server().base_url()))
        .unwrap();
    assert!(hash.len() == 33 && hash.ends_with('/'), "{avatar}");
    assert_eq!(
        me.get("admin"),
        None,
        "that is in the organization's list only"
    );
    assert_eq!(
        tenant.ben.get(&format!("/users/{}", tenant.ben.id)).await,
        me
    );
}

/// Shows: 4.33
async fn a_user_is_seen_from_the_same_organization_only(tenant: Tenant) {
    let olga = tenant.user("olga");
    let path = format!("/users/{}", olga.id);
    assert_eq!(tenant.ben.get(&path).await["nick"], "olga");
    let stranger = &tenant.neighbour().ada;
    assert_eq!(status(stranger, Method::GET, &path, json!({})).await, 404);
    for id in ["0", "-1", "999999999", "9223372036854775808", "x", "olga"] {
        assert_eq!(
            status(&tenant.ben, Method::GET, &format!("/users/{id}"), json!({})).await,
            404,
            "{id}"
        );
    }
}

/// Shows: 2.16, 4.33
async fn the_users_of_a_flow_are_listed(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    tenant.user("olga");
    let users = tenant.ben.get(&tenant.path("/users")).await;
    let mut ids: Vec<_> = users
        .as_array()
        .unwrap()
        .iter()
        .map(|user| user["id"].as_i64().unwrap())
        .collect();
    ids.sort_unstable();
    let mut expected = [tenant.ada.id, tenant.ben.id, cleo.id];
    expected.sort_unstable();
    assert_eq!(ids, expected);
    assert!(users.as_array().unwrap().contains(&cleo.get("/user").await));
}

/// Shows: 4.5, 4.33, 6.2
async fn a_member_adds_a_user_of_the_organization(tenant: Tenant) {
    let olga = tenant.user("olga");
    let body = json!({"id": olga.id});
    let answer = tenant
        .ben
        .send(Method::POST, &tenant.path("/users"), &body)
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}")
    );
    olga.say(&tenant.main, "hello").await;
    let told = json!([tenant.ben.id.to_string(), {"type": "add_people", "description": "olga"}]);
    assert_eq!(last_action(&tenant).await, told);
    let flow = olga.get("/flows").await[0].clone();
    assert_eq!(
        (&flow["joined"], &flow["open"]),
        (&json!(true), &json!(true))
    );
}

async fn only_users_of_the_organization_are_added(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    for id in [
        json!(neighbour.ben.id),
        json!(999_999_999),
        json!("x"),
        json!(null),
        json!("9223372036854775808"),
    ] {
        let answer = tenant
            .ben
            .send(Method::POST, &tenant.path("/users"), &json!({"id": id}))
            .await;
        assert_eq!(answer.status, 400, "{id}");
        assert!(
            answer.json()["errors"]["id"].is_array(),
            "{}",
            answer.text()
        );
    }
    assert_eq!(count(&tenant).await, 0);
}

/// Shows: 2.15, 3.11, 4.5, 4.33, 6.2
async fn a_member_blocks_and_unblocks_members(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    let path = tenant.path(&format!("/users/{}", cleo.id));
    let ben = tenant.ben.id.to_string();
    let answer = tenant
        .ben
        .send(Method::PUT, &path, &json!({"disabled": true}))
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}")
    );
    let told = json!([ben, {"type": "block", "description": {"user": cleo.id}}]);
    assert_eq!(last_action(&tenant).await, told);
    let flow = tenant.ben.get(&tenant.path("")).await;
    let shown = flow["users"]
        .as_array()
        .unwrap()
        .iter()
        .find(|user| user["id"] == cleo.id)
        .cloned();
    assert_eq!(shown.unwrap()["disabled"], true);
    assert_eq!(
        status(
            &tenant.ben,
            Method::POST,
            &tenant.path("/users"),
            json!({"id": cleo.id})
        )
        .await,
        403
    );
    tenant
        .ben
        .does(Method::PUT, &path, &json!({"disabled": "false"}))
        .await;
    let told = json!([ben, {"type": "unblock", "description": {"user": cleo.id}}]);
    assert_eq!(last_action(&tenant).await, told);
    cleo.say(&tenant.main, "back again").await;
    for body in [
        json!({}),
        json!({"disabled": null}),
        json!({"disabled": "perhaps"}),
    ] {
        assert_eq!(status(&tenant.ben, Method::PUT, &path, body).await, 400);
    }
}

/// Shows: 1.8, 3.11
async fn only_administrators_block_administrators(tenant: Tenant) {
    let block = json!({"disabled": true});
    let ada = tenant.path(&format!("/users/{}", tenant.ada.id));
    assert_eq!(
        status(&tenant.ben, Method::PUT, &ada, block.clone()).await,
        403
    );
    let otto = tenant.administrator("otto");
    assert_eq!(
        status(&otto, Method::PUT, &ada, block.clone()).await,
        200,
        "also from outside the flow"
    );
    assert_eq!(
        status(&otto, Method::PUT, &ada, json!({"disabled": false})).await,
        200
    );
    let outsider = tenant.user("olga");
    let ben = tenant.path(&format!("/users/{}", tenant.ben.id));
    assert_eq!(
        status(&outsider, Method::PUT, &ben, block.clone()).await,
        403
    );
    let olga = tenant.path(&format!("/users/{}", outsider.id));
    assert_eq!(
        status(&tenant.ben, Method::PUT, &olga, block).await,
        404,
        "who is not in it is not blocked"
    );
}

async fn doing_it_twice_does_nothing(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    let path = tenant.path(&format!("/users/{}", cleo.id));
    tenant
        .ben
        .does(
            Method::POST,
            &tenant.path("/users"),
            &json!({"id": cleo.id}),
        )
        .await;
    tenant
        .ben
        .does(Method::PUT, &path, &json!({"disabled": false}))
        .await;
    assert_eq!(count(&tenant).await, 0);
    tenant
        .ben
        .does(Method::PUT, &path, &json!({"disabled": true}))
        .await;
    tenant
        .ben
        .does(Method::PUT, &path, &json!({"disabled": true}))
        .await;
    assert_eq!(count(&tenant).await, 1);
}

/// Shows: 2.9, 3.8, 6.2, 7.4
async fn joining_and_leaving_is_told(tenant: Tenant) {
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "organization"}),
        )
        .await;
    let olga = tenant.user("olga");
    let joined: Json = olga
        .client
        .request(Method::PUT, &tenant.path(""))
        .json(&json!({"open": true}))
        .call()
        .await
        .unwrap();
    assert_eq!(
        (&joined["joined"], &joined["open"]),
        (&json!(true), &json!(true))
    );
    let id = olga.id.to_string();
    assert_eq!(
        last_action(&tenant).await,
        json!([id, {"type": "join", "description": "olga"}])
    );
    olga.does(Method::PUT, &tenant.path(""), &json!({"open": true}))
        .await;
    assert_eq!(count(&tenant).await, 1);
    let path = tenant.path(&format!("/users/{}", olga.id));
    let left = olga.send(Method::DELETE, &path, &json!({})).await;
    assert_eq!((left.status.as_u16(), left.text().as_str()), (204, ""));
    assert_eq!(
        last_action(&tenant).await,
        json!([id, {"type": "leave", "description": "olga"}])
    );
    assert_eq!(olga.get(&tenant.path("")).await["joined"], false);
    assert_eq!(
        status(&olga, Method::GET, &tenant.path("/messages"), json!({})).await,
        403
    );
    assert_eq!(olga.get("/flows").await, json!([]));
}

async fn those_who_have_left_are_listed_until_they_return(tenant: Tenant) {
    let former = tenant.path("/former_users");
    assert_eq!(tenant.ada.get(&former).await, json!([]));
    let ben = tenant.path(&format!("/users/{}", tenant.ben.id));
    tenant.ben.does(Method::DELETE, &ben, &json!({})).await;
    let list = tenant.ada.get(&former).await;
    let [left] = list.as_array().unwrap().as_slice() else {
        panic!("{list}");
    };
    let avatar = tenant.ben.get("/user").await["avatar"].take();
    let expected = json!({"id": tenant.ben.id, "nick": "ben", "name": "ben", "avatar": avatar});
    assert_eq!(left, &expected);
    // What they are called since is not for those who stayed.
    let renamed = json!({"name": "Benjamin", "nick": "benjamin"});
    let me = format!("/users/{}", tenant.ben.id);
    tenant.ben.does(Method::PUT, &me, &renamed).await;
    assert_eq!(tenant.ben.get("/user").await["name"], "Benjamin");
    assert_eq!(tenant.ada.get(&former).await, list);
    // Who has left does not see who else has.
    assert_eq!(
        status(&tenant.ben, Method::GET, &former, json!({})).await,
        403
    );
    let back = json!({"id": tenant.ben.id});
    tenant
        .ada
        .does(Method::POST, &tenant.path("/users"), &back)
        .await;
    assert_eq!(tenant.ada.get(&former).await, json!([]));
}

/// Shows: 2.12
async fn one_leaves_oneself_only(tenant: Tenant) {
    let ben = tenant.path(&format!("/users/{}", tenant.ben.id));
    assert_eq!(
        status(&tenant.ada, Method::DELETE, &ben, json!({})).await,
        403
    );
    assert_eq!(tenant.ben.get("/flows").await.as_array().unwrap().len(), 1);
    // A flow by invitation cannot be come back to.
    assert_eq!(
        status(&tenant.ben, Method::DELETE, &ben, json!({})).await,
        204
    );
    assert_eq!(
        status(
            &tenant.ben,
            Method::PUT,
            &tenant.path(""),
            json!({"open": true})
        )
        .await,
        403
    );
    assert_eq!(
        status(&tenant.ben, Method::DELETE, &ben, json!({})).await,
        403
    );
}

async fn what_an_operator_does_is_not_told(tenant: Tenant) {
    tenant.member("cleo");
    assert_eq!(tenant.ben.get(&tenant.path("/messages")).await, json!([]));
    assert_eq!(
        tenant
            .ben
            .get(&tenant.path("/users"))
            .await
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

/// Shows: 1.2
async fn a_user_in_two_organizations_is_seen_from_both(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let cleo = tenant.member("cleo");
    let arguments = [
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        &cleo.email,
    ];
    tenant
        .server()
        .admin(&[&arguments[..], &["--name", "cleo", "--nick", "cleo"]].concat());
    neighbour
        .ada
        .does(
            Method::POST,
            &neighbour.path("/users"),
            &json!({"id": cleo.id}),
        )
        .await;
    cleo.say(&neighbour.main, "hello over here").await;
    assert_eq!(cleo.get("/flows").await.as_array().unwrap().len(), 2);
    let path = format!("/users/{}", cleo.id);
    assert_eq!(neighbour.ada.get(&path).await, tenant.ada.get(&path).await);
}
