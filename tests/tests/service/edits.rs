//! Reading, editing and deleting a message (specification, sections 3 and 4).

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::{Value, json};

on_shared_servers![
    a_message_is_read_by_its_number,
    a_number_that_names_nothing_is_not_found,
    an_edit_keeps_when_it_was_sent_and_says_when_it_was_edited,
    an_edit_reads_the_tags_of_the_text_again,
    a_comment_is_edited_by_its_text,
    only_own_messages_and_comments_have_their_text_edited,
    tags_are_replaced_as_a_whole,
    tags_are_added_and_removed_one_by_one,
    two_who_change_tags_at_once_lose_neither_change,
    tags_are_anybodys_who_sees_the_message,
    content_and_tags_are_edited_in_one_go,
    an_edit_that_changes_nothing_is_no_edit,
    content_is_checked_as_when_posting,
    a_deleted_message_stays_empty,
    a_deleted_comment_stays_a_comment,
    deleting_again_changes_nothing,
    other_messages_are_not_deleted,
    a_mention_is_counted_until_it_is_read_or_gone,
    a_mention_of_everyone_is_unread_by_those_its_tags_name,
    who_is_let_in_again_has_read_what_was_said_meanwhile,
];

async fn edit(tenant: &Tenant, message: &Json, change: Json) -> Json {
    let answer = tenant
        .ben
        .send(Method::PUT, &tenant.message_path(message), &change)
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}"),
        "{change}"
    );
    tenant.ben.get(&tenant.message_path(message)).await
}

async fn comment(tenant: &Tenant, parent: &Json, text: &str) -> Json {
    let path = format!("{}/comments", tenant.message_path(parent));
    let request = tenant
        .ben
        .client
        .request(Method::POST, &path)
        .json(&json!({"content": text}));
    request
        .header("x-service-wait-for-message", "1")
        .call()
        .await
        .unwrap()
}

/// Shows: 1.3, 4.27
async fn a_message_is_read_by_its_number(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "hello").await;
    assert_eq!(
        tenant.ada.get(&tenant.message_path(&message)).await,
        message
    );
}

/// Shows: 4.27
async fn a_number_that_names_nothing_is_not_found(tenant: Tenant) {
    for id in [
        "0",
        "-1",
        "2",
        "9223372036854775807",
        "9223372036854775808",
        "1e3",
        "x",
        "%00",
        "1%2F",
    ] {
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let path = tenant.path(&format!("/messages/{id}"));
            let answer = tenant
                .ben
                .send(method.clone(), &path, &json!({"tags": []}))
                .await;
            assert_eq!(answer.status, 404, "{method} {id}");
            assert_eq!(answer.json(), json!({"message": "not found"}));
        }
    }
}

async fn an_edit_keeps_when_it_was_sent_and_says_when_it_was_edited(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "helo").await;
    let edited = edit(&tenant, &message, json!({"content": "hello"})).await;
    assert_eq!(edited["content"], "hello");
    for same in [
        "id",
        "event",
        "user",
        "sent",
        "created_at",
        "thread_id",
        "uuid",
        "flow",
    ] {
        assert_eq!(edited[same], message[same], "{same}");
    }
    let at = edited["edited"].as_i64().unwrap();
    assert!(at >= message["sent"].as_i64().unwrap());
    let text = edited["edited_at"].as_str().unwrap();
    assert!(text.len() == 24 && text.ends_with('Z'), "{text}");
    assert_eq!(
        &text[20..23],
        format!("{:03}", at % 1000),
        "the same moment"
    );
    assert_eq!(
        edited["thread"]["title"], "hello",
        "the thread is called by its first line"
    );
}

async fn an_edit_reads_the_tags_of_the_text_again(tenant: Tenant) {
    let body = json!({"event": "message", "content": "#one http://example.org", "tags": ["given"]});
    let message = tenant.ben.post(&tenant.main, &body).await;
    assert_eq!(message["tags"], json!(["given", "one", ":url"]));
    let edited = edit(&tenant, &message, json!({"content": "#two @ada"})).await;
    let ada = tenant.ada.id;
    assert_eq!(
        edited["tags"],
        json!([
            "given",
            "two",
            format!(":user:{ada}"),
            format!(":unread:{ada}")
        ])
    );
}

/// Shows: 4.28
async fn a_comment_is_edited_by_its_text(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "Lunch?").await;
    let posted = comment(&tenant, &parent, "Yes #hungry").await;
    let edited = edit(&tenant, &posted, json!({"content": "No #busy"})).await;
    assert_eq!(
        edited["content"],
        json!({"title": "Lunch?", "text": "No #busy"})
    );
    assert_eq!(
        edited["tags"],
        json!([format!(":influx:{}", parent["id"]), "busy"])
    );
}

/// Shows: 4.28
async fn only_own_messages_and_comments_have_their_text_edited(tenant: Tenant) {
    let others = tenant.ada.say(&tenant.main, "mine").await;
    let status = tenant
        .ben
        .post(&tenant.main, &json!({"event": "status", "content": "busy"}))
        .await;
    let cleo = tenant.user("cleo");
    tenant
        .ben
        .does(
            Method::POST,
            &tenant.path("/users"),
            &json!({"id": cleo.id}),
        )
        .await;
    let action = tenant.ben.get(&tenant.path("/messages?event=action")).await[0].clone();
    for message in [others, status, action] {
        let change = json!({"content": "changed"});
        let answer = tenant
            .ben
            .send(Method::PUT, &tenant.message_path(&message), &change)
            .await;
        assert_eq!(answer.status, 403, "{}", message["event"]);
        assert_eq!(
            tenant.ben.get(&tenant.message_path(&message)).await["content"],
            message["content"]
        );
    }
}

/// Shows: 4.28
async fn tags_are_replaced_as_a_whole(tenant: Tenant) {
    let body = json!({"event": "message", "content": "#one", "tags": ["given", "other"]});
    let message = tenant.ben.post(&tenant.main, &body).await;
    let edited = edit(&tenant, &message, json!({"tags": ["other", "#New", "NEW"]})).await;
    assert_eq!(edited["tags"], json!(["other", "new"]));
    assert_eq!(edited["content"], "#one");
    assert_eq!(
        edited["edited"],
        Value::Null,
        "only the text counts as edited"
    );
    let edited = edit(&tenant, &message, json!({"tags": "a, b"})).await;
    assert_eq!(edited["tags"], json!(["a", "b"]));
    for nothing in [json!([]), json!("")] {
        assert_eq!(
            edit(&tenant, &message, json!({"tags": nothing})).await["tags"],
            json!([])
        );
    }
}

async fn tags_are_added_and_removed_one_by_one(tenant: Tenant) {
    let body = json!({"event": "message", "content": "#one", "tags": ["given", "other"]});
    let message = tenant.ben.post(&tenant.main, &body).await;
    let edited = edit(
        &tenant,
        &message,
        json!({"add_tags": "#New, given", "remove_tags": ["OTHER", "unknown"]}),
    )
    .await;
    assert_eq!(edited["tags"], json!(["given", "one", "new"]));
    let ada = tenant.ada.id;
    let edited = edit(&tenant, &message, json!({"add_tags": ["@ada"]})).await;
    let mention = [format!(":user:{ada}"), format!(":unread:{ada}")];
    assert_eq!(
        edited["tags"],
        json!(["given", "one", "new", mention[0], mention[1]])
    );
    let edited = edit(&tenant, &message, json!({"remove_tags": ["@ada", "one"]})).await;
    assert_eq!(edited["tags"], json!(["given", "new"]));
    assert_eq!(edited["content"], "#one");

    let path = tenant.message_path(&message);
    let both = json!({"tags": ["all"], "add_tags": ["more"]});
    let refused = tenant.ben.send(Method::PUT, &path, &both).await;
    assert_eq!(refused.status, 400);
    assert!(refused.json()["errors"]["tags"].is_array(), "{refused:?}");
    let many: Vec<String> = (0..48).map(|n| format!("tag{n}")).collect();
    let edited = edit(&tenant, &message, json!({"add_tags": many})).await;
    assert_eq!(edited["tags"].as_array().unwrap().len(), 50);
    let refused = tenant
        .ben
        .send(Method::PUT, &path, &json!({"add_tags": ["51st"]}))
        .await;
    assert_eq!(refused.status, 400);
    assert!(
        refused.json()["errors"]["add_tags"].is_array(),
        "{refused:?}"
    );
}

async fn two_who_change_tags_at_once_lose_neither_change(tenant: Tenant) {
    let message = tenant.ada.say(&tenant.main, "tags, please").await;
    let path = tenant.message_path(&message);
    for round in 0..10 {
        let (one, two) = (format!("a{round}"), format!("b{round}"));
        let (add_one, add_two) = (json!({"add_tags": [one]}), json!({"add_tags": [two]}));
        tokio::join!(
            tenant.ada.does(Method::PUT, &path, &add_one),
            tenant.ben.does(Method::PUT, &path, &add_two),
        );
        let shown = tenant.ada.get(&path).await;
        for tag in [one, two] {
            let tags = shown["tags"].as_array().unwrap();
            assert!(tags.iter().any(|other| *other == *tag), "{tag}: {tags:?}");
        }
    }
}

/// Shows: 1.3, 4.28
async fn tags_are_anybodys_who_sees_the_message(tenant: Tenant) {
    let message = tenant.ada.say(&tenant.main, "mine").await;
    let edited = edit(&tenant, &message, json!({"tags": ["yours", "@ada"]})).await;
    let ada = tenant.ada.id;
    assert_eq!(
        edited["tags"],
        json!(["yours", format!(":user:{ada}"), format!(":unread:{ada}")])
    );
    assert_eq!(edited["user"], ada.to_string());
}

/// Shows: 4.5
async fn content_and_tags_are_edited_in_one_go(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "#one").await;
    let edited = edit(
        &tenant,
        &message,
        json!({"content": "#two", "tags": ["three"]}),
    )
    .await;
    assert_eq!(
        (&edited["content"], &edited["tags"]),
        (&json!("#two"), &json!(["three"]))
    );
    // Where one is not allowed, neither happens.
    let others = tenant.ada.say(&tenant.main, "mine").await;
    let change = json!({"content": "yours", "tags": ["yours"]});
    assert_eq!(
        tenant
            .ben
            .send(Method::PUT, &tenant.message_path(&others), &change)
            .await
            .status,
        403
    );
    assert_eq!(
        tenant.ben.get(&tenant.message_path(&others)).await["tags"],
        json!([])
    );
}

async fn an_edit_that_changes_nothing_is_no_edit(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "#one").await;
    for change in [
        json!({"content": "#one"}),
        json!({"tags": ["one"]}),
        json!({}),
        json!({"content": null}),
    ] {
        assert_eq!(edit(&tenant, &message, change).await, message);
    }
    assert_eq!(
        tenant.ben.say(&tenant.main, "next").await["id"],
        2,
        "nobody was told of anything"
    );
}

async fn content_is_checked_as_when_posting(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "hello").await;
    let longest = "ü".repeat(8096);
    edit(&tenant, &message, json!({"content": longest})).await;
    for content in [
        json!(""),
        json!("  \n"),
        json!("x".repeat(8097)),
        json!(["x"]),
        json!({}),
        json!("\0"),
    ] {
        let change = json!({"content": content});
        let answer = tenant
            .ben
            .send(Method::PUT, &tenant.message_path(&message), &change)
            .await;
        assert_eq!(answer.status, 400);
        assert!(
            answer.json()["errors"]["content"].is_array(),
            "{}",
            answer.text()
        );
    }
    assert_eq!(
        tenant.ben.get(&tenant.message_path(&message)).await["content"],
        longest
    );
}

async fn delete(tenant: &Tenant, message: &Json) -> u16 {
    let request = tenant
        .ben
        .client
        .request(Method::DELETE, &tenant.message_path(message));
    request.send().await.unwrap().status.as_u16()
}

/// Shows: 3.14, 4.29, 7.1
async fn a_deleted_message_stays_empty(tenant: Tenant) {
    let message = tenant
        .ben
        .say(&tenant.main, "@ada #one http://example.org")
        .await;
    assert_eq!(delete(&tenant, &message).await, 200);
    let left = tenant.ben.get(&tenant.message_path(&message)).await;
    assert_eq!(left["content"], "");
    assert_eq!(left["tags"], json!([]));
    assert_eq!(left["attachments"], json!([]));
    assert!(left["edited"].is_i64());
    for same in ["id", "event", "user", "sent", "thread_id"] {
        assert_eq!(left[same], message[same], "{same}");
    }
    assert_eq!(
        tenant.ben.get(&tenant.path("/messages")).await,
        json!([left]),
        "it is still in its place"
    );
    assert_eq!(
        tenant.ben.get(&tenant.path("/messages?tags=one")).await,
        json!([])
    );
    assert_eq!(tenant.ada.get(&tenant.path("")).await["unread_mentions"], 0);
}

/// Shows: 3.14, 4.29, 7.1
async fn a_deleted_comment_stays_a_comment(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "Lunch?").await;
    let posted = comment(&tenant, &parent, "Yes").await;
    assert_eq!(delete(&tenant, &posted).await, 200);
    let left = tenant.ben.get(&tenant.message_path(&posted)).await;
    assert_eq!(left["content"], json!({"title": "Lunch?", "text": ""}));
    let comments = tenant
        .ben
        .get(&format!("{}/comments", tenant.message_path(&parent)))
        .await;
    assert_eq!(comments, json!([left]));
}

async fn deleting_again_changes_nothing(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "hello").await;
    assert_eq!(delete(&tenant, &message).await, 200);
    let left = tenant.ben.get(&tenant.message_path(&message)).await;
    assert_eq!(delete(&tenant, &message).await, 200);
    let revived = json!({"content": "hello again"});
    assert_eq!(
        tenant
            .ben
            .send(Method::PUT, &tenant.message_path(&message), &revived)
            .await
            .status,
        403
    );
    assert_eq!(tenant.ben.get(&tenant.message_path(&message)).await, left);
}

/// Shows: 4.29, 7.8
async fn other_messages_are_not_deleted(tenant: Tenant) {
    let others = tenant.ada.say(&tenant.main, "mine").await;
    let status = tenant
        .ben
        .post(&tenant.main, &json!({"event": "status", "content": "busy"}))
        .await;
    let anonymous = json!({"event": "message", "content": "beep", "external_user_name": "Robot"});
    let anonymous = tenant.ben.post(&tenant.main, &anonymous).await;
    for message in [others, status, anonymous] {
        assert_eq!(delete(&tenant, &message).await, 403, "{}", message["event"]);
        assert_eq!(
            tenant.ben.get(&tenant.message_path(&message)).await["content"],
            message["content"]
        );
    }
}

/// Shows: 2.7
async fn a_mention_is_counted_until_it_is_read_or_gone(tenant: Tenant) {
    let unread = async || tenant.ada.get(&tenant.path("")).await["unread_mentions"].clone();
    assert_eq!(unread().await, 0);
    let first = tenant.ben.say(&tenant.main, "@ada one").await;
    let second = tenant.ben.say(&tenant.main, "@everyone two").await;
    let third = tenant.ben.say(&tenant.main, "three").await;
    assert_eq!(unread().await, 2);
    edit(&tenant, &third, json!({"content": "@ada three"})).await;
    assert_eq!(unread().await, 3);
    edit(&tenant, &third, json!({"content": "three"})).await;
    assert_eq!(unread().await, 2);
    assert_eq!(delete(&tenant, &second).await, 200);
    assert_eq!(unread().await, 1);
    // Who takes off the own mark has read it.
    let tags = json!({"tags": [format!(":user:{}", tenant.ada.id)]});
    tenant
        .ada
        .does(Method::PUT, &tenant.message_path(&first), &tags)
        .await;
    assert_eq!(unread().await, 0);
    assert_eq!(tenant.ben.get(&tenant.path("")).await["unread_mentions"], 0);
}

async fn a_mention_of_everyone_is_unread_by_those_its_tags_name(tenant: Tenant) {
    let mia = tenant.member("mia");
    let unread = async |who: &Caller| who.get(&tenant.path("")).await["unread_mentions"].clone();
    let message = tenant.ben.say(&tenant.main, "@everyone look").await;
    assert_eq!(
        (unread(&tenant.ada).await, unread(&mia).await),
        (json!(1), json!(1))
    );
    // Anybody may take a mark off, also another's.
    let tags = json!({"tags": [":user:everyone", format!(":unread:{}", tenant.ada.id)]});
    tenant
        .ada
        .does(Method::PUT, &tenant.message_path(&message), &tags)
        .await;
    assert_eq!(
        (unread(&tenant.ada).await, unread(&mia).await),
        (json!(1), json!(0))
    );
    // Taken back and said again, it is news to everyone.
    edit(&tenant, &message, json!({"content": "look", "tags": []})).await;
    assert_eq!(
        (unread(&tenant.ada).await, unread(&mia).await),
        (json!(0), json!(0))
    );
    edit(&tenant, &message, json!({"content": "@everyone look here"})).await;
    assert_eq!(
        (unread(&tenant.ada).await, unread(&mia).await),
        (json!(1), json!(1))
    );
}

async fn who_is_let_in_again_has_read_what_was_said_meanwhile(tenant: Tenant) {
    let mia = tenant.member("mia");
    let door = tenant.path(&format!("/users/{}", mia.id));
    tenant
        .ada
        .does(Method::PUT, &door, &json!({"disabled": true}))
        .await;
    tenant.ben.say(&tenant.main, "@everyone look").await;
    tenant
        .ada
        .does(Method::PUT, &door, &json!({"disabled": false}))
        .await;
    assert_eq!(mia.get(&tenant.path("")).await["unread_mentions"], 0);
    tenant.ben.say(&tenant.main, "@everyone look").await;
    assert_eq!(mia.get(&tenant.path("")).await["unread_mentions"], 1);
}
