//! Conversations: how they begin, open and close, and what is unread in them.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::{Value, json};

use super::{listed, messages, own_stream, path, unread, write_all};

on_shared_servers![
    private_conversation_absent_get_creates_it_closed,
    private_conversation_any_put_open_sets_open,
    private_conversation_open_false_new_unread_message_opens,
    a_conversation_has_every_field_of_the_specification,
    the_first_message_begins_the_conversation,
    first_messages_sent_at_once_begin_one_conversation,
    one_can_write_to_oneself,
    what_is_unread_is_counted_for_its_reader,
];

/// Shows: 3.7
async fn private_conversation_absent_get_creates_it_closed(tenant: Tenant) {
    assert_eq!(tenant.ben.get("/private").await, json!([]));
    let conversation = tenant.ben.get(&path(&tenant.ada)).await;
    assert_eq!(conversation["open"], false);
    assert_eq!(tenant.ben.get("/private").await, json!([conversation]));
    assert_eq!(
        tenant.ben.get(&path(&tenant.ada)).await,
        conversation,
        "the second time it is there"
    );
    let seen_by_ada = tenant.ada.get("/private").await;
    assert_eq!(
        (&seen_by_ada[0]["id"], &seen_by_ada[0]["open"]),
        (&json!(tenant.ben.id), &json!(false))
    );
}

/// Shows: 3.5
async fn private_conversation_any_put_open_sets_open(tenant: Tenant) {
    let set = async |open: Json| {
        let answer = tenant
            .ben
            .send(Method::PUT, &path(&tenant.ada), &json!({"open": open}))
            .await;
        answer.success().unwrap().json()
    };
    assert_eq!(
        set(json!(true)).await["open"],
        true,
        "also where there was none"
    );
    assert_eq!(set(json!(true)).await["open"], true);
    assert_eq!(
        set(json!(false)).await,
        tenant.ben.get(&path(&tenant.ada)).await
    );
    assert_eq!(tenant.ben.get("/private").await[0]["open"], false);
    assert_eq!(set(json!("1")).await["open"], true);
    assert_eq!(
        tenant.ada.get(&path(&tenant.ben)).await["open"],
        false,
        "each has a tab of their own"
    );
    for body in [json!({}), json!({"open": null}), json!({"open": "perhaps"})] {
        let answer = tenant
            .ben
            .send(Method::PUT, &path(&tenant.ada), &body)
            .await;
        assert_eq!(answer.status, 400);
        assert!(answer.json()["errors"]["open"].is_array());
    }
}

/// Shows: 3.6
async fn private_conversation_open_false_new_unread_message_opens(tenant: Tenant) {
    let open = async |who: &Caller, with: &Caller| who.get(&path(with)).await["open"].clone();
    for _ in 0..2 {
        tenant
            .ben
            .does(Method::PUT, &path(&tenant.ada), &json!({"open": false}))
            .await;
        assert_eq!(open(&tenant.ben, &tenant.ada).await, false);
        write_all(&tenant.ada, &tenant.ben, &["hello"]).await;
        assert_eq!(open(&tenant.ben, &tenant.ada).await, true);
        assert_eq!(
            open(&tenant.ada, &tenant.ben).await,
            false,
            "who writes decides that by themselves"
        );
    }
    // What is no new message opens nothing.
    tenant
        .ben
        .does(Method::PUT, &path(&tenant.ada), &json!({"open": false}))
        .await;
    let message = format!("{}/1", messages(&tenant.ben));
    tenant
        .ada
        .does(Method::PUT, &message, &json!({"content": "hello again"}))
        .await;
    assert_eq!(open(&tenant.ben, &tenant.ada).await, false);
}

/// Shows: 2.26
async fn a_conversation_has_every_field_of_the_specification(tenant: Tenant) {
    write_all(&tenant.ada, &tenant.ben, &["hello", "are you there?"]).await;
    let conversation = tenant.ben.get(&path(&tenant.ada)).await;
    let person = async |caller: &Caller| {
        let user = caller.get("/user").await;
        let fields = ["id", "nick", "email", "avatar", "name"];
        Value::Object(
            fields
                .iter()
                .map(|name| ((*name).to_owned(), user[name].clone()))
                .collect(),
        )
    };
    let expected = json!({
        "id": tenant.ada.id,
        "url": format!("{}/private/{}", tenant.server().base_url(), tenant.ada.id),
        "name": "ada",
        "open": true,
        "tab_position": null,
        "read": 0,
        "last_message_id": 2,
        "activity": {"inbox": false, "mentions": 2, "chat": true},
        "users": [person(&tenant.ada).await, person(&tenant.ben).await],
    });
    assert_eq!(conversation, expected);
}

/// Shows: 1.2
async fn the_first_message_begins_the_conversation(tenant: Tenant) {
    assert_eq!(
        tenant.ben.get(&messages(&tenant.ada)).await,
        json!([]),
        "before it there is nothing"
    );
    assert_eq!(
        tenant.ben.get("/private").await,
        json!([]),
        "looking begins no conversation"
    );
    write_all(&tenant.ben, &tenant.ada, &["hello"]).await;
    assert_eq!(tenant.ada.get("/private").await[0]["id"], tenant.ben.id);
    assert_eq!(tenant.ben.get("/private").await[0]["id"], tenant.ada.id);
    assert_eq!(
        tenant.ada.get(&messages(&tenant.ben)).await,
        tenant.ben.get(&messages(&tenant.ada)).await
    );
}

/// Shows: 3.7
async fn first_messages_sent_at_once_begin_one_conversation(tenant: Tenant) {
    let post = |from: &Caller, to: &Caller| {
        let body = json!({"event": "message", "content": "hello"});
        tokio::spawn(
            from.client
                .request(Method::POST, &messages(to))
                .json(&body)
                .done(),
        )
    };
    let mut posts = Vec::new();
    for _ in 0..8 {
        posts.push(post(&tenant.ada, &tenant.ben));
        posts.push(post(&tenant.ben, &tenant.ada));
    }
    for posted in posts {
        posted.await.unwrap().unwrap();
    }
    assert_eq!(
        listed(&tenant.ada, &tenant.ben, "").await,
        (1..=16).collect::<Vec<_>>()
    );
    assert_eq!(
        tenant.ada.get("/private").await.as_array().unwrap().len(),
        1
    );
}

/// Shows: 2.26
async fn one_can_write_to_oneself(tenant: Tenant) {
    let own = path(&tenant.ben);
    let conversation = tenant.ben.get(&own).await;
    assert_eq!(
        (&conversation["id"], &conversation["name"]),
        (&json!(tenant.ben.id), &json!("ben"))
    );
    assert_eq!(conversation["users"].as_array().unwrap().len(), 1);
    let mut stream = own_stream(&tenant.ben).await;
    write_all(&tenant.ben, &tenant.ben, &["note to self", "another"]).await;
    for text in ["note to self", "another"] {
        let told = stream.json().await;
        assert_eq!(
            (&told["content"], &told["to"]),
            (&json!(text), &json!(tenant.ben.id.to_string()))
        );
    }
    let conversation = tenant.ben.get(&own).await;
    assert_eq!(
        conversation["activity"],
        json!({"inbox": false, "mentions": 0, "chat": false})
    );
    assert_eq!(conversation["open"], false);
    assert_eq!(listed(&tenant.ben, &tenant.ben, "").await, [1, 2]);
    assert_eq!(tenant.ada.get("/private").await, json!([]));
}

/// Shows: 2.26
async fn what_is_unread_is_counted_for_its_reader(tenant: Tenant) {
    let cleo = tenant.user("cleo");
    write_all(&tenant.ben, &tenant.ada, &["one", "two", "three"]).await;
    write_all(&tenant.ada, &tenant.ben, &["four"]).await;
    write_all(&cleo, &tenant.ada, &["hello"]).await;
    let activity = |unread: i64| json!({"inbox": false, "mentions": unread, "chat": unread > 0});
    let list = tenant.ada.get("/private").await;
    assert_eq!(
        (&list[0]["activity"], &list[1]["activity"]),
        (&activity(3), &activity(1))
    );
    assert_eq!(
        tenant.ben.get(&path(&tenant.ada)).await["activity"],
        activity(1)
    );
    // An edit makes a message no less and no more unread, a deletion leaves nothing to read.
    let own = |id: i64| format!("{}/{id}", messages(&tenant.ada));
    tenant
        .ben
        .does(Method::PUT, &own(1), &json!({"content": "first"}))
        .await;
    assert_eq!(unread(&tenant.ada, &tenant.ben).await, 3);
    tenant.ben.does(Method::DELETE, &own(2), &Json::Null).await;
    assert_eq!(unread(&tenant.ada, &tenant.ben).await, 2);
    tenant
        .ada
        .does(
            Method::PUT,
            &format!("{}/read", path(&tenant.ben)),
            &json!({"message": 3}),
        )
        .await;
    assert_eq!(
        tenant.ada.get(&path(&tenant.ben)).await["activity"],
        activity(0)
    );
    assert_eq!(unread(&tenant.ada, &cleo).await, 1);
}
