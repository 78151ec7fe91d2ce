//! The older push addresses, with the token in the path, as thousands of scripts use them
//! (docs/protocol.md, Pushing).

use eddyline_client::{Json, Method, RawResponse};
use eddyline_tests::{Listener, Tenant, on_shared_servers};
use serde_json::json;

use super::{Source, activity};

on_shared_servers![
    chat_is_pushed_under_its_old_address,
    a_comment_is_pushed_by_the_number_of_a_message,
    a_mail_is_pushed_under_both_its_names,
    a_mail_needs_no_more_than_four_fields,
    what_is_pushed_to_several_tokens_is_in_each_flow,
    a_mail_is_tagged_found_and_commented_on,
    mistakes_are_named_by_their_fields,
    a_wrong_token_among_good_ones_is_refused,
];

async fn send(tenant: &Tenant, path: &str, body: &Json) -> RawResponse {
    tenant
        .ben
        .client
        .request(Method::POST, path)
        .anonymous()
        .json(body)
        .send()
        .await
        .unwrap()
}

#[track_caller]
fn done(answer: &RawResponse) {
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}")
    );
}

async fn last(tenant: &Tenant, event: &str) -> Json {
    let list = tenant
        .ben
        .get(&tenant.path(&format!("/messages?limit=1&event={event}")))
        .await;
    list[0].clone()
}

fn mail() -> Json {
    json!({
        "source": "Nagios 3", "from_address": "nagios@acme.example", "from_name": "Nagios",
        "reply_to": "ops@acme.example", "subject": "Disk <full> & hot", "content": "<p>On <b>web1</b></p>",
        "project": "Web", "tags": ["Ops", "#disk"], "link": "https://nagios.example/web1",
    })
}

/// Shows: 4.20
async fn chat_is_pushed_under_its_old_address(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    for (token, base) in [
        (tenant.flow_token(), "/v1/messages/chat"),
        (source.token.clone(), "/messages/chat"),
    ] {
        let message = json!({"content": "Hello #there", "external_user_name": "Build bot", "tags": "One, two"});
        done(&send(&tenant, &format!("{base}/{token}"), &message).await);
        let said = last(&tenant, "message").await;
        assert_eq!(
            (&said["content"], &said["app"]),
            (&json!("Hello #there"), &json!("chat"))
        );
        assert_eq!(
            (&said["external_user_name"], &said["user"]),
            (&json!("Build bot"), &json!("0"))
        );
        assert_eq!(said["tags"], json!(["one", "two", "there"]));
    }
    // As a form, with the suffix that clients once had.
    let path = format!("/v1/messages/chat/{}.json", source.token);
    let form = [
        ("content", "by a form"),
        ("external_user_name", "curl"),
        ("tags", "a,b"),
    ];
    let request = tenant
        .ben
        .client
        .request(Method::POST, &path)
        .anonymous()
        .form(&form);
    done(&request.send().await.unwrap());
    assert_eq!(last(&tenant, "message").await["content"], "by a form");
}

async fn a_comment_is_pushed_by_the_number_of_a_message(tenant: Tenant) {
    let token = tenant.flow_token();
    let parent = tenant.ben.say(&tenant.main, "Is it built?").await;
    let comment =
        json!({"content": "It is", "external_user_name": "Bot", "message_id": parent["id"]});
    let path = format!("/v1/messages/chat/{token}");
    done(&send(&tenant, &path, &comment).await);
    let said = last(&tenant, "comment").await;
    assert_eq!(
        said["content"],
        json!({"title": "Is it built?", "text": "It is"})
    );
    assert_eq!(
        (&said["thread_id"], &said["external_user_name"]),
        (&parent["thread_id"], &json!("Bot"))
    );
    for (message, expected) in [(json!(999_999), 404), (json!("x"), 400)] {
        let comment =
            json!({"content": "It is", "external_user_name": "Bot", "message_id": message});
        assert_eq!(
            send(&tenant, &path, &comment).await.status,
            expected,
            "{message}"
        );
    }
}

/// Shows: 4.20
async fn a_mail_is_pushed_under_both_its_names(tenant: Tenant) {
    let token = tenant.flow_token();
    let mut stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    for kind in ["team_inbox", "influx"] {
        done(&send(&tenant, &format!("/v1/messages/{kind}/{token}"), &mail()).await);
        let told = stream.event("mail").await;
        assert_eq!(told, last(&tenant, "mail").await);
        assert_eq!(
            (&told["app"], &told["user"]),
            (&json!("influx"), &json!("0"))
        );
        let content = &told["content"];
        assert_eq!(
            (&content["subject"], &content["content"]),
            (&json!("Disk <full> & hot"), &json!("<p>On <b>web1</b></p>"))
        );
        assert_eq!(
            content["from"],
            json!([{"name": "Nagios", "address": "nagios@acme.example"}])
        );
        assert_eq!(
            content["replyTo"],
            json!([{"name": null, "address": "ops@acme.example"}])
        );
        for name in ["to", "cc", "bcc"] {
            assert_eq!(content[name], json!([]), "{name}");
        }
        assert_eq!(content["contentType"], "text/html");
        assert_eq!(
            (&content["source"], &content["project"], &content["link"]),
            (
                &json!("Nagios 3"),
                &json!("Web"),
                &json!("https://nagios.example/web1")
            )
        );
        let thread = &told["thread"];
        assert_eq!(thread["title"], "Disk &lt;full&gt; &amp; hot");
        assert_eq!(
            (&thread["external_url"], &thread["activities"]),
            (&json!("https://nagios.example/web1"), &json!(1))
        );
    }
    let threads = tenant
        .ben
        .get(&tenant.path("/threads?application=inbox"))
        .await;
    assert_eq!(
        threads.as_array().unwrap().len(),
        2,
        "each mail begins a thread"
    );
}

async fn a_mail_needs_no_more_than_four_fields(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let least = json!({
        "source": "cron", "from_address": "cron@acme.example", "subject": "x",
        "content": "<script>alert(1)</script><a href=\"javascript:x\">y</a>",
        "from_name": "", "reply_to": null, "link": "", "project": "",
    });
    done(
        &send(
            &tenant,
            &format!("/v1/messages/team_inbox/{}", source.token),
            &least,
        )
        .await,
    );
    let told = last(&tenant, "mail").await;
    assert_eq!(
        (&told["content"]["content"], &told["content"]["replyTo"]),
        (&json!("y"), &json!([]))
    );
    assert_eq!(
        told["content"]["from"],
        json!([{"name": null, "address": "cron@acme.example"}])
    );
    assert_eq!(
        (&told["tags"], &told["external_user_name"]),
        (&json!([":source:cron"]), &Json::Null)
    );
    assert_eq!(
        (
            &told["thread"]["source"]["id"],
            &told["thread"]["external_url"]
        ),
        (&json!(source.id), &Json::Null)
    );
}

async fn what_is_pushed_to_several_tokens_is_in_each_flow(tenant: Tenant) {
    tenant.flow("side", &[&tenant.ben]);
    let side = format!("{}/side", tenant.name);
    let other = tenant.server().admin(&["flow", "token", "--flow", &side])["flow_token"].clone();
    let both = format!("{},{}", tenant.flow_token(), other.as_str().unwrap());
    let chat = json!({"content": "everywhere", "external_user_name": "Bot"});
    done(&send(&tenant, &format!("/v1/messages/chat/{both}"), &chat).await);
    done(&send(&tenant, &format!("/v1/messages/team_inbox/{both}"), &mail()).await);
    for flow in [&tenant.main, &side] {
        let listed = tenant
            .ben
            .get(&format!("/flows/{flow}/messages?event=message,mail"))
            .await;
        let events: Vec<_> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|message| &message["event"])
            .collect();
        assert_eq!(events, ["message", "mail"], "{flow}");
    }
}

async fn a_mail_is_tagged_found_and_commented_on(tenant: Tenant) {
    done(
        &send(
            &tenant,
            &format!("/v1/messages/influx/{}", tenant.flow_token()),
            &mail(),
        )
        .await,
    );
    let told = last(&tenant, "mail").await;
    let tags = told["tags"].as_array().unwrap();
    for tag in ["ops", "disk", ":source:nagios 3"] {
        assert!(tags.contains(&json!(tag)), "{tag}: {tags:?}");
    }
    for question in [
        "search=web1",
        "search=disk%20full",
        "tags=ops,disk",
        "tags=:source:nagios%203",
    ] {
        let found = tenant
            .ben
            .get(&tenant.path(&format!("/messages?{question}")))
            .await;
        assert_eq!(found, json!([told]), "{question}");
    }
    let path = format!("{}/comments", tenant.message_path(&told));
    tenant
        .ben
        .does(Method::POST, &path, &json!({"content": "on it"}))
        .await;
    let comment = last(&tenant, "comment").await;
    assert_eq!(
        comment["content"],
        json!({"title": "Disk <full> & hot", "text": "on it"})
    );
    assert_eq!(comment["thread"]["internal_comments"], 1);
    let removed = tenant
        .ada
        .send(Method::DELETE, &tenant.message_path(&told), &Json::Null)
        .await;
    assert_eq!(removed.status, 204, "mails are inbox messages");
}

async fn mistakes_are_named_by_their_fields(tenant: Tenant) {
    let token = tenant.flow_token();
    let inbox = format!("/v1/messages/team_inbox/{token}");
    for (name, value) in [
        ("source", Json::Null),
        ("source", json!("a/b")),
        ("source", json!("x".repeat(61))),
        ("from_address", json!("")),
        ("from_address", json!("nobody")),
        ("from_name", json!("x".repeat(101))),
        ("reply_to", json!("nobody")),
        ("subject", json!(" ")),
        ("subject", json!("x".repeat(1001))),
        ("content", Json::Null),
        ("content", json!("x".repeat(64 * 1024 + 1))),
        ("project", json!("x".repeat(256))),
        ("link", json!("javascript:x")),
        ("from_name", json!("Ada\u{202e}")),
        ("tags", json!("x".repeat(101))),
    ] {
        let mut mail = mail();
        mail[name] = value;
        let refused = send(&tenant, &inbox, &mail).await;
        assert_eq!(refused.status, 400, "{name}");
        assert!(
            refused.json()["errors"][name][0].is_string(),
            "{name}: {}",
            refused.text()
        );
    }
    let chat = format!("/v1/messages/chat/{token}");
    for (body, name) in [
        (json!({"external_user_name": "x"}), "content"),
        (json!({"content": "", "external_user_name": "x"}), "content"),
        (
            json!({"content": "x".repeat(8097), "external_user_name": "x"}),
            "content",
        ),
        (json!({"content": "x"}), "external_user_name"),
        (
            json!({"content": "x", "external_user_name": "x".repeat(101)}),
            "external_user_name",
        ),
        (
            json!({"content": "x", "external_user_name": "a\u{2066}b"}),
            "external_user_name",
        ),
        (
            json!({"content": "x", "external_user_name": "a\nb"}),
            "external_user_name",
        ),
        (
            json!({"content": "x", "external_user_name": "\u{3164}"}),
            "external_user_name",
        ),
    ] {
        let refused = send(&tenant, &chat, &body).await;
        assert_eq!(refused.status, 400, "{name}");
        assert!(
            refused.json()["errors"][name][0].is_string(),
            "{name}: {}",
            refused.text()
        );
    }
    assert_eq!(tenant.ben.get(&tenant.path("/messages")).await, json!([]));
}

/// Shows: 7.10
async fn a_wrong_token_among_good_ones_is_refused(tenant: Tenant) {
    let (good, gone) = (tenant.flow_token(), Source::new(&tenant).await);
    gone.push(&activity("1", "x")).await;
    gone.client
        .request(Method::DELETE, "/sources")
        .done()
        .await
        .unwrap();
    let chat = json!({"content": "anybody?", "external_user_name": "Bot"});
    for (tokens, expected) in [
        ("0123456789abcdef0123456789abcdef".to_owned(), 401),
        (format!("{good},0123456789abcdef0123456789abcdef"), 401),
        (format!("{good},{}", gone.token), 410),
        (",".to_owned(), 401),
        (
            (0..21)
                .map(|n| format!("{n:032x}"))
                .collect::<Vec<_>>()
                .join(","),
            400,
        ),
    ] {
        for (kind, body) in [("chat", &chat), ("team_inbox", &mail())] {
            let refused = send(&tenant, &format!("/v1/messages/{kind}/{tokens}"), body).await;
            assert_eq!(refused.status, expected, "{kind} {tokens}");
        }
    }
    // Nothing was posted to those that were good.
    assert_eq!(
        tenant
            .ben
            .get(&tenant.path("/messages?event=message,mail"))
            .await,
        json!([])
    );
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": true}))
        .await;
    assert_eq!(
        send(&tenant, &format!("/v1/messages/chat/{good}"), &chat)
            .await
            .status,
        404
    );
}
