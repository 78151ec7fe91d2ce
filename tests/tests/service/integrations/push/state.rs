//! Who changes the state of a thread, and what a change leaves as it was (specification, section 3:
//! only messages do).

use eddyline_client::{Client, Credentials, Json, Method};
use eddyline_tests::{Robot, Tenant, on_shared_servers};
use serde_json::json;

use crate::integrations::{Source, activity, push, status, try_push, update};

on_shared_servers![
    a_new_state_takes_the_place_of_the_old_as_a_whole,
    a_message_without_a_state_leaves_it,
    an_older_message_shows_the_thread_as_it_is_now,
    a_foreign_source_speaks_but_changes_nothing,
    sources_of_one_application_keep_each_others_threads,
    a_thread_of_the_chat_takes_no_state,
    nothing_else_changes_a_thread,
];

fn in_thread(id: &Json, title: &str) -> Json {
    json!({"event": "activity", "title": "x", "thread_id": id, "thread": {"title": title}})
}

/// Shows: 1.4
async fn a_new_state_takes_the_place_of_the_old_as_a_whole(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let whole = json!({
        "title": "Crash", "body": "<p>x</p>", "external_url": "https://tracker.example/7",
        "status": {"value": "open", "color": "red"}, "fields": [{"label": "a", "value": "b"}],
        "actions": [{"@type": "ViewAction", "name": "Look", "url": "https://tracker.example/7"}],
    });
    let first = source.push(&update("7", "opened", &whole)).await;
    let second = source
        .push(&update("7", "closed", &json!({"title": "Crash"})))
        .await;
    let left = &second["thread"];
    let names = ["body", "external_url", "status", "fields", "actions"];
    let expected = [json!(""), Json::Null, Json::Null, json!([]), json!([])];
    assert_eq!(names.map(|name| left[name].clone()), expected);
    assert_eq!(
        (&left["title"], &left["id"]),
        (&json!("Crash"), &first["thread_id"])
    );
    assert_eq!(left["created_at"], first["thread"]["created_at"]);
}

/// Shows: 2.31
async fn a_message_without_a_state_leaves_it(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let state = json!({"title": "Crash", "status": {"value": "open", "color": "red"}});
    let first = source.push(&update("7", "opened", &state)).await;
    let path = format!("{}/comments", tenant.message_path(&first));
    tenant
        .ben
        .does(Method::POST, &path, &json!({"content": "hm"}))
        .await;
    let chat = json!({"event": "message", "content": "on it", "thread_id": first["thread_id"]});
    tenant.ben.post(&tenant.main, &chat).await;
    let last = source.push(&activity("7", "mentioned")).await;
    let mut expected = first["thread"].clone();
    expected["activities"] = json!(2);
    expected["internal_comments"] = json!(2);
    expected["updated_at"] = last["created_at"].clone();
    assert_eq!(last["thread"], expected);
}

async fn an_older_message_shows_the_thread_as_it_is_now(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let first = source
        .push(&update("7", "opened", &json!({"title": "Crash"})))
        .await;
    let second = source
        .push(&update("7", "renamed", &json!({"title": "Crash on start"})))
        .await;
    assert_eq!(first["thread"]["title"], "Crash");
    let now = tenant.ben.get(&tenant.message_path(&first)).await;
    assert_eq!(
        (&now["thread"], &now["title"]),
        (&second["thread"], &json!("opened"))
    );
}

/// Shows: 3.18
async fn a_foreign_source_speaks_but_changes_nothing(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let id = source
        .push(&update("7", "opened", &json!({"title": "Crash"})))
        .await["thread_id"]
        .clone();
    let another = tenant.server().robot(&tenant.name, &[]);
    let by_user = with_scope(&another, &tenant).await;
    let foreign = Source::of(&another, &tenant.ben, &tenant.main, "Builds").await;
    let own = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    for (who, client, path) in [
        ("another source", &foreign.client, "/messages".to_owned()),
        ("the flow's own token", &own, "/messages".to_owned()),
        (
            "another application of a user",
            &by_user,
            tenant.path("/messages"),
        ),
    ] {
        let spoken = json!({"event": "activity", "title": who, "thread_id": id});
        assert_eq!(
            status(client, Method::POST, &path, &spoken).await,
            202,
            "{who}"
        );
        let changed = client
            .request(Method::POST, &path)
            .json(&in_thread(&id, "Mine"));
        let refused = changed.send().await.unwrap();
        assert_eq!(
            (refused.status.as_u16(), refused.json()["message"].clone()),
            (403, json!("Access denied"))
        );
    }
    // Nor may a source take over what the flow's own token began.
    let flows =
        push(&own, &update("7", "opened", &json!({"title": "By hand"}))).await["thread_id"].clone();
    assert_eq!(
        try_push(&source.client, &in_thread(&flows, "Mine"))
            .await
            .status,
        403
    );
    assert_eq!(
        push(&own, &in_thread(&flows, "Again")).await["thread"]["title"],
        "Again"
    );
    let thread = tenant
        .ben
        .get(&tenant.path(&format!("/threads/{}", id.as_str().unwrap())))
        .await;
    assert_eq!(
        (&thread["title"], &thread["activities"]),
        (&json!("Crash"), &json!(4))
    );
    assert_eq!(thread["source"]["id"], source.id);
}

async fn with_scope(robot: &Robot, tenant: &Tenant) -> Client {
    let tokens = robot.by_password(&tenant.ben, "flow").await;
    robot.with(&tokens["access_token"])
}

async fn sources_of_one_application_keep_each_others_threads(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let one = Source::of(&robot, &tenant.ben, &tenant.main, "one").await;
    let two = Source::of(&robot, &tenant.ben, &tenant.main, "two").await;
    let id = one
        .push(&update("7", "opened", &json!({"title": "Crash"})))
        .await["thread_id"]
        .clone();
    let changed = two.push(&in_thread(&id, "Changed")).await;
    assert_eq!(
        (
            &changed["thread"]["title"],
            &changed["thread"]["source"]["id"]
        ),
        (&json!("Changed"), &json!(one.id))
    );
    let by_user = with_scope(&robot, &tenant).await;
    let request = by_user
        .request(Method::POST, &tenant.path("/messages"))
        .json(&in_thread(&id, "By Ben"));
    let changed: Json = request
        .header("x-service-wait-for-message", "1")
        .call()
        .await
        .unwrap();
    assert_eq!(changed["thread"]["title"], "By Ben");
    // The next source of the application goes on with what a removed one began.
    one.client
        .request(Method::DELETE, "/sources")
        .done()
        .await
        .unwrap();
    assert_eq!(
        two.push(&in_thread(&id, "Inherited")).await["thread"]["title"],
        "Inherited"
    );
}

/// Shows: 3.18
async fn a_thread_of_the_chat_takes_no_state(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let chat = tenant.ben.say(&tenant.main, "Lunch?").await["thread_id"].clone();
    assert_eq!(
        try_push(&source.client, &in_thread(&chat, "Mine"))
            .await
            .status,
        403
    );
    let thread = tenant
        .ben
        .get(&tenant.path(&format!("/threads/{}", chat.as_str().unwrap())))
        .await;
    assert_eq!(
        (&thread["title"], &thread["activities"]),
        (&json!("Lunch?"), &json!(0))
    );
}

/// Shows: 3.18
async fn nothing_else_changes_a_thread(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let pushed = source
        .push(&update("7", "opened", &json!({"title": "Crash"})))
        .await;
    let path = tenant.path(&format!(
        "/threads/{}",
        pushed["thread_id"].as_str().unwrap()
    ));
    for method in [Method::PUT, Method::POST, Method::DELETE] {
        for client in [&tenant.ben.client, &source.client] {
            assert_eq!(
                status(client, method.clone(), &path, &json!({"title": "Mine"})).await,
                405,
                "{method}"
            );
        }
    }
    // An activity's text is not anybody's to edit either.
    let edit = json!({"content": "Mine"});
    assert_eq!(
        status(
            &tenant.ben.client,
            Method::PUT,
            &tenant.message_path(&pushed),
            &edit
        )
        .await,
        403
    );
    tenant
        .ben
        .does(
            Method::PUT,
            &tenant.message_path(&pushed),
            &json!({"tags": ["seen"]}),
        )
        .await;
    let now = tenant.ben.get(&tenant.message_path(&pushed)).await;
    assert_eq!(
        (&now["thread"], &now["tags"]),
        (&pushed["thread"], &json!(["seen"]))
    );
}
