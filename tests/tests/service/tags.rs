//! The tags of a message (specification, section 2).

use eddyline_client::Method;
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::{Value, json};

on_shared_servers![
    tags_come_as_an_array_or_with_commas,
    tags_are_kept_in_lower_case_without_their_number_sign,
    hashtags_of_any_script_are_found_in_the_text,
    hashtags_in_links_and_code_are_none,
    a_mention_is_a_tag_and_unread,
    a_mention_is_written_in_either_form,
    a_nick_as_a_word_is_a_highlight,
    everyone_is_everybody_but_the_sender,
    who_is_not_in_the_flow_is_not_mentioned,
    a_link_makes_a_tag,
    tags_that_are_too_many_or_too_long_are_refused,
    unread_tags_cannot_be_given,
    a_comment_takes_tags,
];

async fn tags_of(tenant: &Tenant, text: &str) -> Value {
    tenant.ben.say(&tenant.main, text).await["tags"].clone()
}

async fn given(tenant: &Tenant, tags: Value) -> Value {
    let body = json!({"event": "message", "content": "hello", "tags": tags});
    tenant.ben.post(&tenant.main, &body).await["tags"].clone()
}

/// Shows: 4.14
async fn tags_come_as_an_array_or_with_commas(tenant: Tenant) {
    assert_eq!(
        given(&tenant, json!(["one", "two"])).await,
        json!(["one", "two"])
    );
    assert_eq!(
        given(&tenant, json!("one, two,,three ")).await,
        json!(["one", "two", "three"])
    );
    assert_eq!(given(&tenant, json!("")).await, json!([]));
    assert_eq!(given(&tenant, json!([])).await, json!([]));
    assert_eq!(given(&tenant, json!(null)).await, json!([]));
    let body = json!({"event": "message", "content": "a #third and #one", "tags": ["One", "two"]});
    let message = tenant.ben.post(&tenant.main, &body).await;
    assert_eq!(
        message["tags"],
        json!(["one", "two", "third"]),
        "those given come first, each once"
    );
}

/// Shows: 2.23
async fn tags_are_kept_in_lower_case_without_their_number_sign(tenant: Tenant) {
    let tags = json!(["#ToDo", "TODO", "ÄÖÜ", "#Ωμέγα", "with space"]);
    assert_eq!(
        given(&tenant, tags).await,
        json!(["todo", "äöü", "ωμέγα", "with space"])
    );
}

async fn hashtags_of_any_script_are_found_in_the_text(tenant: Tenant) {
    let text = "#Deploy done, see #16 and (#foo-bar_2) #日本語 #Größe.";
    assert_eq!(
        tags_of(&tenant, text).await,
        json!(["deploy", "16", "foo-bar_2", "日本語", "größe"])
    );
    assert_eq!(tags_of(&tenant, "# none ## here").await, json!([]));
}

async fn hashtags_in_links_and_code_are_none(tenant: Tenant) {
    assert_eq!(
        tags_of(&tenant, "http://example.org/page#part").await,
        json!([":url"])
    );
    assert_eq!(
        tags_of(&tenant, "look:\n    #define X\n#real").await,
        json!(["real"])
    );
}

/// Shows: 2.21
async fn a_mention_is_a_tag_and_unread(tenant: Tenant) {
    let ada = tenant.ada.id;
    let both = json!([format!(":user:{ada}"), format!(":unread:{ada}")]);
    for text in ["@ada please look", "@Ada: please", "(@ADA)", "@ada, @ada"] {
        assert_eq!(tags_of(&tenant, text).await, both, "{text}");
    }
    let own = json!([format!(":user:{}", tenant.ben.id)]);
    assert_eq!(
        tags_of(&tenant, "@ben, note to self").await,
        own,
        "one's own is not unread"
    );
    assert_eq!(
        tags_of(&tenant, "somebody@ada.example").await,
        json!([]),
        "an address mentions nobody"
    );
}

/// Shows: 2.22
async fn a_mention_is_written_in_either_form(tenant: Tenant) {
    let ada = tenant.ada.id;
    let both = json!([format!(":user:{ada}"), format!(":unread:{ada}")]);
    for tag in [
        "@ada".to_owned(),
        "@ADA".to_owned(),
        format!(":user:{ada}"),
        format!(":USER:{ada}"),
    ] {
        assert_eq!(given(&tenant, json!([tag])).await, both, "{tag}");
    }
}

async fn a_nick_as_a_word_is_a_highlight(tenant: Tenant) {
    let highlight = json!([format!(":highlight:{}", tenant.ada.id)]);
    assert_eq!(tags_of(&tenant, "ask Ada about it").await, highlight);
    assert_eq!(tags_of(&tenant, "canada and adapters").await, json!([]));
}

/// Shows: 2.21
async fn everyone_is_everybody_but_the_sender(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    let mut others = [tenant.ada.id, cleo.id];
    others.sort_unstable();
    let expected = json!([
        ":user:everyone",
        format!(":unread:{}", others[0]),
        format!(":unread:{}", others[1])
    ]);
    for word in [
        "everyone",
        "everybody",
        "all",
        "anyone",
        "anybody",
        "Everyone",
    ] {
        assert_eq!(
            tags_of(&tenant, &format!("@{word} lunch!")).await,
            expected,
            "{word}"
        );
    }
    assert_eq!(given(&tenant, json!([":user:everyone"])).await, expected);
    assert_eq!(given(&tenant, json!(["@all"])).await, expected);
}

async fn who_is_not_in_the_flow_is_not_mentioned(tenant: Tenant) {
    let outsider = tenant.user("olga");
    let blocked = tenant.member("bert");
    let path = tenant.path(&format!("/users/{}", blocked.id));
    tenant
        .ada
        .does(Method::PUT, &path, &json!({"disabled": true}))
        .await;
    assert_eq!(tags_of(&tenant, "@olga @bert @nobody").await, json!([]));
    let ids = json!([
        format!(":user:{}", outsider.id),
        format!(":user:{}", blocked.id),
        ":user:999999",
        "@nobody"
    ]);
    assert_eq!(given(&tenant, ids).await, json!([]));
}

/// Shows: 2.21
async fn a_link_makes_a_tag(tenant: Tenant) {
    for text in [
        "see https://example.org/a?b=c",
        "(http://example.org)",
        "HTTPS://EXAMPLE.ORG",
    ] {
        assert_eq!(tags_of(&tenant, text).await, json!([":url"]), "{text}");
    }
    assert_eq!(tags_of(&tenant, "https:// is no link").await, json!([]));
}

async fn tags_that_are_too_many_or_too_long_are_refused(tenant: Tenant) {
    let post = async |tags: Value| {
        let body = json!({"event": "message", "content": "hello", "tags": tags});
        tenant
            .ben
            .send(Method::POST, &tenant.path("/messages"), &body)
            .await
    };
    let many = |count: usize| (0..count).map(|n| format!("t{n}")).collect::<Vec<_>>();
    assert_eq!(post(json!(many(50))).await.status, 202);
    assert_eq!(post(json!(["é".repeat(100)])).await.status, 202);
    for tags in [
        json!(many(51)),
        json!(["x".repeat(101)]),
        json!([{"a": 1}]),
        json!({"a": 1}),
        json!([["a"]]),
    ] {
        let answer = post(tags).await;
        assert_eq!(answer.status, 400);
        assert!(
            answer.json()["errors"]["tags"].is_array(),
            "{}",
            answer.text()
        );
    }
    // What the text makes does not count towards the limit of those given.
    let body =
        json!({"event": "message", "content": "@ada #more http://example.org", "tags": many(50)});
    assert_eq!(
        tenant.ben.post(&tenant.main, &body).await["tags"]
            .as_array()
            .unwrap()
            .len(),
        54
    );
}

async fn unread_tags_cannot_be_given(tenant: Tenant) {
    let tags = json!([
        format!(":unread:{}", tenant.ada.id),
        format!(":highlight:{}", tenant.ada.id),
        "real"
    ]);
    assert_eq!(given(&tenant, tags).await, json!(["real"]));
}

async fn a_comment_takes_tags(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "hello").await;
    let path = format!("{}/comments", tenant.message_path(&parent));
    let request = tenant
        .ben
        .client
        .request(Method::POST, &path)
        .header("x-service-wait-for-message", "1");
    let comment: Value = request
        .json(&json!({"content": "#me @ada", "tags": ["given"]}))
        .call()
        .await
        .unwrap();
    let ada = tenant.ada.id;
    assert_eq!(
        comment["tags"],
        json!([
            format!(":influx:{}", parent["id"]),
            "given",
            "me",
            format!(":user:{ada}"),
            format!(":unread:{ada}")
        ])
    );
}
