//! Private messages: posting, listing, searching, changing.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

use super::{listed, messages, status, write, write_all};

on_shared_servers![
    a_private_message_has_every_field_of_the_specification,
    a_private_post_is_answered_by_an_empty_object,
    only_chat_is_taken_and_needs_its_text,
    a_private_message_has_8096_characters_at_most,
    a_private_message_bears_no_tags,
    ids_count_up_in_each_conversation_of_its_own,
    private_messages_are_listed_as_in_a_flow,
    a_list_shows_each_change_of_a_private_message_at_once,
    private_messages_are_searched_as_in_a_flow,
    a_repeat_in_private_gives_the_first_message,
    private_messages_are_edited_by_their_author,
    private_messages_are_deleted_by_their_author,
];

/// Shows: 2.24
async fn a_private_message_has_every_field_of_the_specification(tenant: Tenant) {
    let body = json!({"event": "message", "content": "hello\nthere", "uuid": "u-1"});
    tenant
        .ben
        .does(Method::POST, &messages(&tenant.ada), &body)
        .await;
    let message = tenant
        .ben
        .get(&format!("{}/1", messages(&tenant.ada)))
        .await;
    let expected = json!({
        "id": 1,
        "event": "message",
        "content": "hello\nthere",
        "tags": [],
        "app": "chat",
        "emojiReactions": {},
        "uuid": "u-1",
        "user": tenant.ben.id.to_string(),
        "to": tenant.ada.id.to_string(),
        "sent": message["sent"],
        "created_at": message["created_at"],
        "attachments": [],
        "edited": null,
        "edited_at": null,
        "thread_id": null,
        "thread": null,
    });
    assert_eq!(message, expected);
    assert!(message["sent"].is_i64() && message["created_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(
        tenant
            .ada
            .get(&format!("{}/1", messages(&tenant.ben)))
            .await,
        message,
        "the same for both"
    );
    for id in ["0", "2", "-1", "x", "9223372036854775808"] {
        let nothing = format!("{}/{id}", messages(&tenant.ada));
        assert_eq!(
            status(&tenant.ben, Method::GET, &nothing, Json::Null).await,
            404,
            "{id}"
        );
    }
}

/// Shows: 4.31
async fn a_private_post_is_answered_by_an_empty_object(tenant: Tenant) {
    let answer = write(&tenant.ben, &tenant.ada, "hello").await;
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}")
    );
    // As a form, and whatever else is sent.
    let request = tenant
        .ben
        .client
        .request(Method::POST, &messages(&tenant.ada));
    let form = "event=message&content=as+a+form&tags=tea&external_user_name=somebody"
        .to_owned()
        .into_bytes();
    let answer = request
        .raw("application/x-www-form-urlencoded", form)
        .send()
        .await
        .unwrap();
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}")
    );
    let last = tenant
        .ada
        .get(&format!("{}/2", messages(&tenant.ben)))
        .await;
    assert_eq!(
        last["user"],
        tenant.ben.id.to_string(),
        "nobody is anonymous in private"
    );
}

/// Shows: 4.32
async fn only_chat_is_taken_and_needs_its_text(tenant: Tenant) {
    for (body, field) in [
        (json!({"content": "hello"}), "event"),
        (json!({"event": "", "content": "hello"}), "event"),
        (json!({"event": "status", "content": "hello"}), "event"),
        (json!({"event": "file", "content": "hello"}), "event"),
        (json!({"event": "nonsense", "content": "hello"}), "event"),
        (json!({"event": "message"}), "content"),
        (json!({"event": "message", "content": ""}), "content"),
        (json!({"event": "message", "content": " \n"}), "content"),
        (json!({"event": "message", "content": {"a": 1}}), "content"),
        (json!({"event": "message", "content": "a\u{0}b"}), "content"),
        (
            json!({"event": "message", "content": "hello", "uuid": "x".repeat(101)}),
            "uuid",
        ),
    ] {
        let answer = tenant
            .ben
            .send(Method::POST, &messages(&tenant.ada), &body)
            .await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(
            answer.json()["errors"][field].is_array(),
            "{body}: {}",
            answer.text()
        );
    }
    assert_eq!(
        tenant.ben.get("/private").await,
        json!([]),
        "what is refused begins nothing"
    );
}

/// Shows: 8.1
async fn a_private_message_has_8096_characters_at_most(tenant: Tenant) {
    assert_eq!(
        write(&tenant.ben, &tenant.ada, &"ä".repeat(8096))
            .await
            .status,
        200
    );
    let answer = write(&tenant.ben, &tenant.ada, &"ä".repeat(8097)).await;
    assert_eq!(answer.status, 400);
    assert!(answer.json()["errors"]["content"].is_array());
    let own = format!("{}/1", messages(&tenant.ada));
    let longer = json!({"content": "x".repeat(8097)});
    assert_eq!(status(&tenant.ben, Method::PUT, &own, longer).await, 400);
}

/// Shows: 2.24
async fn a_private_message_bears_no_tags(tenant: Tenant) {
    let body =
        json!({"event": "message", "content": "@ada #tea http://example.org", "tags": ["given"]});
    tenant
        .ben
        .does(Method::POST, &messages(&tenant.ada), &body)
        .await;
    let own = format!("{}/1", messages(&tenant.ada));
    assert_eq!(tenant.ben.get(&own).await["tags"], json!([]));
    let change = json!({"content": "@ada #milk", "tags": ["given"]});
    tenant.ben.does(Method::PUT, &own, &change).await;
    assert_eq!(tenant.ben.get(&own).await["tags"], json!([]));
    assert_eq!(
        listed(&tenant.ben, &tenant.ada, "?tags=tea").await,
        [1],
        "where none has tags, none is asked for"
    );
}

/// Shows: 2.24
async fn ids_count_up_in_each_conversation_of_its_own(tenant: Tenant) {
    let cleo = tenant.user("cleo");
    write_all(&tenant.ben, &tenant.ada, &["one", "two"]).await;
    write_all(&cleo, &tenant.ben, &["one"]).await;
    write_all(&tenant.ada, &tenant.ben, &["three"]).await;
    assert_eq!(listed(&tenant.ben, &tenant.ada, "").await, [1, 2, 3]);
    assert_eq!(listed(&tenant.ben, &cleo, "").await, [1]);
    let all = tenant.ben.get("/private").await;
    let with: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_i64().unwrap())
        .collect();
    assert_eq!(with, [tenant.ada.id, cleo.id]);
    assert_eq!(
        status(
            &cleo,
            Method::GET,
            &format!("{}/2", messages(&tenant.ben)),
            Json::Null
        )
        .await,
        404
    );
}

/// Shows: 1.3, 4.31, 8.3
async fn private_messages_are_listed_as_in_a_flow(tenant: Tenant) {
    for number in 1..=35 {
        let (from, to) = if number % 2 == 0 {
            (&tenant.ada, &tenant.ben)
        } else {
            (&tenant.ben, &tenant.ada)
        };
        write_all(from, to, &[&format!("number {number}")]).await;
    }
    let list = async |query: &str| listed(&tenant.ben, &tenant.ada, query).await;
    assert_eq!(list("").await, (6..=35).collect::<Vec<_>>());
    assert_eq!(list("?limit=3").await, [33, 34, 35]);
    assert_eq!(list("?limit=3&sort=asc").await, [1, 2, 3]);
    assert_eq!(list("?limit=3&skip=2").await, [31, 32, 33]);
    assert_eq!(list("?since_id=33").await, [34, 35]);
    assert_eq!(list("?until_id=3").await, [1, 2]);
    assert_eq!(list("?since_id=3&until_id=7&sort=asc").await, [4, 5, 6]);
    assert_eq!(list("?event=message&limit=2").await, [34, 35]);
    assert_eq!(list("?event=file,status").await, Vec::<i64>::new());
    for query in [
        "?limit=0",
        "?limit=101",
        "?limit=x",
        "?sort=up",
        "?event=nonsense",
        "?since_id=x",
    ] {
        let path = format!("{}{query}", messages(&tenant.ada));
        assert_eq!(
            status(&tenant.ben, Method::GET, &path, Json::Null).await,
            400,
            "{query}"
        );
    }
}

/// Shows: 4.31
async fn private_messages_are_searched_as_in_a_flow(tenant: Tenant) {
    let cleo = tenant.user("cleo");
    write_all(
        &tenant.ben,
        &tenant.ada,
        &["Red green", "green blue", "bleu"],
    )
    .await;
    write_all(
        &tenant.ada,
        &tenant.ben,
        &["blue RED green", "Crème brûlée"],
    )
    .await;
    write_all(&tenant.ben, &cleo, &["red"]).await;
    let search =
        async |words: &str| listed(&tenant.ada, &tenant.ben, &format!("?search={words}")).await;
    assert_eq!(search("red").await, [1, 4]);
    assert_eq!(search("green+red").await, [1, 4]);
    assert_eq!(search("creme").await, [5]);
    assert_eq!(search("green&limit=1").await, [4]);
    assert_eq!(
        search("green&since_id=4").await,
        [1, 2, 4],
        "that does not count in a search"
    );
    assert_eq!(search("!!!").await, Vec::<i64>::new());
    let own = format!("{}/1", messages(&tenant.ada));
    tenant
        .ben
        .does(Method::PUT, &own, &json!({"content": "yellow"}))
        .await;
    assert_eq!(
        (search("red").await, search("yellow").await),
        (vec![4], vec![1])
    );
    tenant.ben.does(Method::DELETE, &own, &Json::Null).await;
    assert_eq!(search("yellow").await, Vec::<i64>::new());
}

/// Shows: 4.31
async fn a_repeat_in_private_gives_the_first_message(tenant: Tenant) {
    let post = async |from: &Caller, to: &Caller, text: &str| {
        let body = json!({"event": "message", "content": text, "uuid": "2f1c"});
        status(from, Method::POST, &messages(to), body).await
    };
    assert_eq!(post(&tenant.ben, &tenant.ada, "hello").await, 200);
    assert_eq!(post(&tenant.ben, &tenant.ada, "hello").await, 200);
    assert_eq!(listed(&tenant.ada, &tenant.ben, "").await, [1]);
    assert_eq!(
        post(&tenant.ben, &tenant.ada, "hello!").await,
        409,
        "another text"
    );
    assert_eq!(
        post(&tenant.ada, &tenant.ben, "hello").await,
        409,
        "another author"
    );
    assert_eq!(
        post(&tenant.ben, &tenant.ben, "another conversation").await,
        200
    );
    assert_eq!(listed(&tenant.ada, &tenant.ben, "").await, [1]);
}

async fn a_list_shows_each_change_of_a_private_message_at_once(tenant: Tenant) {
    let texts = async || {
        let list = tenant.ada.get(&messages(&tenant.ben)).await;
        let list = list.as_array().unwrap().iter();
        list.map(|message| message["content"].clone())
            .collect::<Vec<_>>()
    };
    let own = format!("{}/1", messages(&tenant.ada));
    assert!(texts().await.is_empty());
    write_all(&tenant.ben, &tenant.ada, &["tea"]).await;
    assert_eq!(texts().await, ["tea"]);
    let edit = json!({"content": "coffee"});
    tenant.ben.does(Method::PUT, &own, &edit).await;
    assert_eq!(texts().await, ["coffee"]);
    tenant.ben.does(Method::DELETE, &own, &Json::Null).await;
    assert_eq!(texts().await, [""]);
}

async fn private_messages_are_edited_by_their_author(tenant: Tenant) {
    write_all(&tenant.ben, &tenant.ada, &["hello"]).await;
    let (own, seen) = (
        format!("{}/1", messages(&tenant.ada)),
        format!("{}/1", messages(&tenant.ben)),
    );
    let before = tenant.ada.get(&seen).await;
    let answer = tenant
        .ben
        .send(Method::PUT, &own, &json!({"content": "hello there"}))
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}")
    );
    let after = tenant.ada.get(&seen).await;
    assert_eq!(
        (&after["content"], &after["sent"]),
        (&json!("hello there"), &before["sent"])
    );
    assert!(after["edited"].is_i64() && after["edited_at"].is_string());
    assert_eq!(
        status(&tenant.ada, Method::PUT, &seen, json!({"content": "no"})).await,
        403
    );
    assert_eq!(
        status(&tenant.ben, Method::PUT, &own, json!({"content": ""})).await,
        400
    );
    let nothing = format!("{}/3", messages(&tenant.ada));
    assert_eq!(
        status(&tenant.ben, Method::PUT, &nothing, json!({"content": "no"})).await,
        404
    );
    // The number of the notice is that of no message.
    let notice = format!("{}/2", messages(&tenant.ada));
    assert_eq!(
        status(&tenant.ben, Method::PUT, &notice, json!({"content": "no"})).await,
        404
    );
    assert_eq!(listed(&tenant.ada, &tenant.ben, "").await, [1]);
}

async fn private_messages_are_deleted_by_their_author(tenant: Tenant) {
    write_all(&tenant.ben, &tenant.ada, &["hello", "goodbye"]).await;
    let (own, seen) = (
        format!("{}/1", messages(&tenant.ada)),
        format!("{}/1", messages(&tenant.ben)),
    );
    assert_eq!(
        status(&tenant.ada, Method::DELETE, &seen, Json::Null).await,
        403
    );
    for _ in 0..2 {
        let answer = tenant.ben.send(Method::DELETE, &own, &Json::Null).await;
        assert_eq!(
            (answer.status.as_u16(), answer.text().as_str()),
            (200, "{}")
        );
        assert_eq!(tenant.ada.get(&seen).await["content"], "");
    }
    assert_eq!(
        status(&tenant.ben, Method::PUT, &own, json!({"content": "back"})).await,
        403
    );
    assert_eq!(
        listed(&tenant.ada, &tenant.ben, "").await,
        [1, 2],
        "its place stays"
    );
}
