//! Pushing into the inbox: activities and discussions (specification, section 4, Push path).

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Listener, Tenant, on_shared_servers};
use serde_json::json;

use super::{Source, activity, push, try_push};

mod answers;
mod concurrent;
mod forms;
pub(crate) mod html;
mod refusals;
mod state;

on_shared_servers![
    an_activity_has_every_field_of_the_specification,
    a_discussion_is_mostly_its_body,
    a_message_is_told_as_it_is_listed,
    an_id_of_the_tools_own_is_one_thread,
    two_sources_have_ids_of_their_own,
    the_flows_own_token_has_ids_of_its_own,
    a_thread_is_reached_by_its_id_too,
    chat_answers_in_a_thread_by_either_id,
    comments_go_into_the_thread_of_what_they_answer,
    a_users_application_posts_for_its_one_source,
    an_application_of_several_sources_names_the_thread_by_its_id,
    tags_come_from_the_title_and_the_body,
    words_of_title_and_body_are_found_and_markup_is_not,
    a_pushed_message_is_removed_by_deleting,
];

/// Shows: 1.2, 2.28, 2.32, 4.20, 6.1
async fn an_activity_has_every_field_of_the_specification(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let author = json!({"name": "Zoë", "avatar": "https://tracker.example/zoe.png"});
    let thread = json!({
        "title": "Crash on start",
        "body": "<p>It crashes.</p>",
        "external_url": "https://tracker.example/7",
        "status": {"value": "open", "color": "green"},
        "actions": [
            {"@type": "ViewAction", "url": "https://tracker.example/7", "name": "Look", "description": "d",
             "image": "https://tracker.example/eye.png"},
            {"@type": "UpdateAction", "name": "Close", "target": {
                "@type": "EntryPoint", "urlTemplate": "https://tracker.example/7/close", "httpMethod": "POST"}},
        ],
        "fields": [{"label": "Priority", "value": "high"}, {"label": "Owner", "value": ""}],
    });
    let pushed = source
        .push(&json!({
            "event": "activity", "author": author, "title": "opened the ticket", "body": "<b>at once</b>",
            "external_thread_id": "7", "thread": thread, "tags": ["Urgent"], "uuid": "u-1",
        }))
        .await;
    assert_eq!(
        (&pushed["event"], &pushed["content"]),
        (&json!("activity"), &Json::Null)
    );
    assert_eq!(
        (&pushed["author"]["name"], &pushed["author"]["avatar"]),
        (&author["name"], &author["avatar"])
    );
    assert_eq!(pushed["title"], "opened the ticket");
    assert_eq!(
        (&pushed["body"], &pushed["attachments"]),
        (&json!("<b>at once</b>"), &json!([]))
    );
    assert_eq!(
        (&pushed["tags"], &pushed["uuid"]),
        (&json!(["urgent"]), &json!("u-1"))
    );
    assert_eq!(
        (&pushed["app"], &pushed["user"]),
        (&json!("influx"), &json!("0"))
    );
    assert_eq!(
        (&pushed["edited"], &pushed["flow"]),
        (&Json::Null, &source.shown["flow"])
    );
    assert_eq!(pushed["external_user_name"], Json::Null);
    assert!(pushed["sent"].is_i64() && pushed["created_at"].is_string());
    let shown = &pushed["thread"];
    for (name, value) in thread.as_object().unwrap() {
        assert_eq!(&shown[name], value, "{name}");
    }
    assert_eq!(
        shown["source"],
        json!({"id": source.id, "icon": null, "application": "Robot"})
    );
    assert_eq!(
        (&shown["id"], &shown["initial_message"]),
        (&pushed["thread_id"], &pushed["id"])
    );
    let counts = ["activities", "internal_comments", "external_comments"].map(|name| &shown[name]);
    assert_eq!(counts, [&json!(1), &json!(0), &json!(0)]);
    assert_eq!(
        (&shown["created_at"], &shown["updated_at"]),
        (&pushed["created_at"], &pushed["created_at"])
    );
}

/// Shows: 4.20, 6.1
async fn a_discussion_is_mostly_its_body(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let pushed = source
        .push(&json!({
            "event": "discussion", "external_thread_id": "7", "body": "<p>I have seen <i>this</i>, too.</p>",
        }))
        .await;
    assert_eq!(
        (&pushed["event"], &pushed["title"]),
        (&json!("discussion"), &json!(""))
    );
    assert_eq!(pushed["body"], "<p>I have seen <i>this</i>, too.</p>");
    assert_eq!(
        (&pushed["author"], &pushed["content"]),
        (&Json::Null, &Json::Null)
    );
    assert_eq!(
        pushed["thread"]["title"], "I have seen this, too.",
        "a thread has a title"
    );
    assert_eq!(pushed["thread"]["external_comments"], 1);
}

/// Shows: 4.24
async fn a_message_is_told_as_it_is_listed(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let mut stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let pushed = source.push(&activity("7", "opened")).await;
    assert_eq!(stream.event("activity").await, pushed);
    assert_eq!(tenant.ben.get(&tenant.message_path(&pushed)).await, pushed);
    assert_eq!(
        tenant
            .ben
            .get(&tenant.path("/messages?event=activity,discussion"))
            .await,
        json!([pushed])
    );
    let thread = tenant.path(&format!(
        "/threads/{}",
        pushed["thread_id"].as_str().unwrap()
    ));
    assert_eq!(tenant.ben.get(&thread).await, pushed["thread"]);
    assert_eq!(
        tenant.ben.get(&format!("{thread}/messages")).await,
        json!([pushed])
    );
}

/// Shows: 1.4, 1.5, 4.24
async fn an_id_of_the_tools_own_is_one_thread(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let first = source.push(&activity("ä/7?#", "opened")).await;
    let other = source.push(&activity("ä/7?", "opened as well")).await;
    let again = source
        .push(&json!({"event": "discussion", "body": "hm", "external_thread_id": "ä/7?#"}))
        .await;
    assert_eq!(again["thread_id"], first["thread_id"]);
    assert_ne!(other["thread_id"], first["thread_id"]);
    assert_eq!(again["thread"]["activities"], 1);
    assert_eq!(again["thread"]["external_comments"], 1);
    // A number will do as an id.
    let number = source
        .push(&json!({"event": "activity", "title": "x", "external_thread_id": 7}))
        .await;
    assert_eq!(
        source.push(&activity("7", "x")).await["thread_id"],
        number["thread_id"]
    );
    let long = "ä".repeat(500);
    assert_eq!(
        source.push(&activity(&long, "x")).await["thread_id"],
        source.push(&activity(&long, "y")).await["thread_id"]
    );
}

/// Shows: 4.16
async fn two_sources_have_ids_of_their_own(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let one = Source::of(&robot, &tenant.ben, &tenant.main, "one").await;
    let two = Source::of(&robot, &tenant.ben, &tenant.main, "two").await;
    let first = one.push(&activity("7", "of one")).await;
    let second = two.push(&activity("7", "of two")).await;
    assert_ne!(first["thread_id"], second["thread_id"]);
    assert_eq!(
        one.push(&activity("7", "again")).await["thread_id"],
        first["thread_id"]
    );
    assert_eq!(
        two.push(&activity("7", "again")).await["thread_id"],
        second["thread_id"]
    );
    assert_eq!(
        (
            &first["thread"]["source"]["id"],
            &second["thread"]["source"]["id"]
        ),
        (&json!(one.id), &json!(two.id))
    );
    // So have they with what they call their messages.
    let message =
        json!({"event": "activity", "title": "x", "external_thread_id": "7", "uuid": "same"});
    one.push(&message).await;
    assert_eq!(
        try_push(&two.client, &message).await.status,
        409,
        "a uuid belongs to the flow"
    );
}

/// Shows: 4.16
async fn the_flows_own_token_has_ids_of_its_own(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let of_source = source.push(&activity("7", "of a source")).await;
    // All tokens of the flow are one.
    let tokens = [0, 1].map(|_| tenant.client(Credentials::FlowToken(tenant.flow_token())));
    let first = push(&tokens[0], &activity("7", "of the flow")).await;
    let second = push(&tokens[1], &activity("7", "of the flow, too")).await;
    assert_ne!(first["thread_id"], of_source["thread_id"]);
    assert_eq!(second["thread_id"], first["thread_id"]);
    assert_eq!(
        (&second["thread"]["source"], &second["thread"]["title"]),
        (&Json::Null, &json!("of the flow"))
    );
}

/// Shows: 4.16
async fn a_thread_is_reached_by_its_id_too(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let first = source.push(&activity("7", "opened")).await;
    let id = first["thread_id"].clone();
    let thread = json!({"title": "Another title"});
    let by_id = source
        .push(&json!({"event": "activity", "title": "x", "thread_id": id, "thread": thread}))
        .await;
    assert_eq!(
        (&by_id["thread_id"], &by_id["thread"]["title"]),
        (&id, &json!("Another title"))
    );
    let path = tenant.path(&format!("/threads/{}/messages", id.as_str().unwrap()));
    let discussion = json!({"event": "discussion", "body": "x"});
    let request = source.client.request(Method::POST, &path).json(&discussion);
    let by_path: Json = request
        .header("x-service-wait-for-message", "1")
        .call()
        .await
        .unwrap();
    assert_eq!(by_path["thread_id"], id);
    // Where both are given, that of the flow counts.
    let both =
        json!({"event": "activity", "title": "x", "thread_id": id, "external_thread_id": "8"});
    assert_eq!(source.push(&both).await["thread_id"], id);
    // Anybody's activity may go into a thread of the chat.
    let chat = tenant.ben.say(&tenant.main, "Who looks after it?").await;
    let into_chat =
        json!({"event": "activity", "title": "ada takes it", "thread_id": chat["thread_id"]});
    let posted = source.push(&into_chat).await;
    assert_eq!(posted["thread"]["title"], "Who looks after it?");
    assert_eq!(
        (
            &posted["thread"]["activities"],
            &posted["thread"]["internal_comments"]
        ),
        (&json!(1), &json!(1))
    );
    assert_eq!(posted["thread"]["source"], Json::Null);
}

/// Shows: 4.16, 4.25
async fn chat_answers_in_a_thread_by_either_id(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let id = source.push(&activity("7", "opened")).await["thread_id"].clone();
    let by_source = json!({
        "event": "message", "content": "on it", "external_thread_id": "7", "external_user_name": "Zoë",
    });
    let said = source.push(&by_source).await;
    assert_eq!((&said["thread_id"], &said["app"]), (&id, &json!("chat")));
    assert_eq!(
        (&said["user"], &said["external_user_name"]),
        (&json!("0"), &json!("Zoë"))
    );
    let message = json!({"event": "message", "content": "and I", "thread_id": id});
    let by_ben = tenant.ben.post(&tenant.main, &message).await;
    assert_eq!(
        (&by_ben["thread_id"], &by_ben["thread"]["internal_comments"]),
        (&id, &json!(2))
    );
    assert_eq!(by_ben["thread"]["title"], "opened");
    // Chat begins no thread that mirrors anything.
    let unknown = json!({"event": "message", "content": "hello?", "external_thread_id": "8"});
    let refused = try_push(&source.client, &unknown).await;
    assert_eq!(refused.status, 400);
    assert!(
        refused.json()["errors"]["external_thread_id"][0].is_string(),
        "{}",
        refused.text()
    );
}

/// Shows: 4.25
async fn comments_go_into_the_thread_of_what_they_answer(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let title = r#"closed <a href="https://tracker.example/7">#7</a>"#;
    let pushed = source.push(&activity("7", title)).await;
    let path = format!("{}/comments", tenant.message_path(&pushed));
    let request = tenant
        .ben
        .client
        .request(Method::POST, &path)
        .json(&json!({"content": "At last!"}));
    let comment: Json = request
        .header("x-service-wait-for-message", "1")
        .call()
        .await
        .unwrap();
    assert_eq!(
        comment["content"],
        json!({"title": "closed #7", "text": "At last!"})
    );
    assert_eq!(
        comment["tags"],
        json!([format!(":influx:{}", pushed["id"])])
    );
    assert_eq!(comment["thread_id"], pushed["thread_id"]);
    assert_eq!(comment["thread"]["internal_comments"], 1);
    assert_eq!(tenant.ada.get(&path).await, json!([comment]));
    let discussion = json!({"event": "discussion", "external_thread_id": "7", "body": "<p>so</p>"});
    let discussion = source.push(&discussion).await;
    let path = format!("{}/comments", tenant.message_path(&discussion));
    let request = source
        .client
        .request(Method::POST, &path)
        .json(&json!({"content": "from afar"}));
    let comment: Json = request
        .header("x-service-wait-for-message", "1")
        .call()
        .await
        .unwrap();
    assert_eq!(
        comment["content"],
        json!({"title": "so", "text": "from afar"})
    );
}

/// Shows: 4.19
async fn a_users_application_posts_for_its_one_source(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "flow integration").await;
    let client = robot.with(&tokens["access_token"]);
    let path = tenant.path("/messages");
    let post = async |message: &Json| {
        let request = client.request(Method::POST, &path).json(message);
        request
            .header("x-service-wait-for-message", "1")
            .send()
            .await
            .unwrap()
    };
    let none = post(&activity("7", "without a source")).await;
    assert_eq!(none.status, 400);
    assert!(
        none.json()["errors"]["external_thread_id"][0].is_string(),
        "{}",
        none.text()
    );
    let source = Source::of(&robot, &tenant.ada, &tenant.main, "Tickets").await;
    let pushed = source.push(&activity("7", "opened")).await;
    let posted = post(&activity("7", "taken over"))
        .await
        .success()
        .unwrap()
        .json();
    assert_eq!(
        (&posted["thread_id"], &posted["user"]),
        (&pushed["thread_id"], &json!(tenant.ben.id.to_string()))
    );
    // It is Ben who does it, unless it says otherwise.
    assert_eq!(posted["author"]["name"], "ben");
    assert_eq!(
        posted["author"]["avatar"],
        tenant.ben.get("/user").await["avatar"]
    );
    assert_eq!(posted.get("external_user_name"), None);
    let author = json!({"name": "Zoë", "avatar": null});
    let named = post(&json!({
        "event": "activity", "title": "x", "external_thread_id": "7", "author": author,
        "thread": {"title": "Crash"},
    }))
    .await
    .json();
    assert_eq!(
        (&named["author"], &named["thread"]["title"]),
        (&author, &json!("Crash"))
    );
    let begun = post(&activity("8", "begun")).await.json();
    assert_eq!(begun["thread"]["source"]["id"], source.id);
    // Without the application he posts neither.
    let own = tenant
        .ben
        .send(Method::POST, &path, &activity("7", "by hand"))
        .await;
    assert_eq!(own.status, 403);
}

/// Shows: 4.19
async fn an_application_of_several_sources_names_the_thread_by_its_id(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "flow").await;
    let client = robot.with(&tokens["access_token"]);
    let one = Source::of(&robot, &tenant.ben, &tenant.main, "one").await;
    Source::of(&robot, &tenant.ben, &tenant.main, "two").await;
    let pushed = one.push(&activity("7", "opened")).await;
    let post = async |message: &Json| {
        let request = client
            .request(Method::POST, &tenant.path("/messages"))
            .json(message);
        request
            .header("x-service-wait-for-message", "1")
            .send()
            .await
            .unwrap()
    };
    let refused = post(&activity("7", "which?")).await;
    assert_eq!(refused.status, 400);
    assert!(
        refused.json()["errors"]["external_thread_id"][0].is_string(),
        "{}",
        refused.text()
    );
    let by_id = json!({
        "event": "activity", "title": "x", "thread_id": pushed["thread_id"], "thread": {"title": "New"},
    });
    assert_eq!(
        post(&by_id).await.json()["thread"]["title"],
        "New",
        "its own application's thread"
    );
    // Sources in other flows do not count.
    let three = tenant.server().robot(&tenant.name, &[]);
    tenant.flow("side", &[&tenant.ben]);
    Source::of(
        &three,
        &tenant.ben,
        &format!("{}/side", tenant.name),
        "there",
    )
    .await;
    Source::of(&three, &tenant.ben, &tenant.main, "here").await;
    let tokens = three.by_password(&tenant.ben, "flow").await;
    let request = three
        .with(&tokens["access_token"])
        .request(Method::POST, &tenant.path("/messages"));
    request.json(&activity("7", "here")).done().await.unwrap();
}

async fn tags_come_from_the_title_and_the_body(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let pushed = source
        .push(&json!({
            "event": "activity", "external_thread_id": "7", "tags": "Bug, crash",
            "title": "#Crash in <a href=\"https://tracker.example/#no\">build</a> #16",
            "body": "<p>@ada please look, #soon</p><p title=\"#hidden\">also#not</p>",
        }))
        .await;
    let mut tags: Vec<_> = pushed["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| tag.as_str().unwrap())
        .collect();
    tags.sort_unstable();
    let (user, unread) = (
        format!(":user:{}", tenant.ada.id),
        format!(":unread:{}", tenant.ada.id),
    );
    let mut expected = vec!["bug", "crash", "16", "soon", &user, &unread];
    expected.sort_unstable();
    assert_eq!(tags, expected);
    assert_eq!(tenant.ada.get(&tenant.path("")).await["unread_mentions"], 1);
    assert_eq!(
        tenant.ben.get(&tenant.path("/messages?tags=soon")).await,
        json!([pushed])
    );
}

async fn words_of_title_and_body_are_found_and_markup_is_not(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let pushed = source
        .push(&json!({
            "event": "discussion", "external_thread_id": "7",
            "title": "Überlauf in <a href=\"https://tracker.example/hidden\">Modul&nbsp;Drei</a>",
            "body": "<p>Stack&amp;heap</p><p>co<b>lli</b>de<!-- secret --></p><script>evil</script>",
            "thread": {"title": "Elsewhere"},
        }))
        .await;
    for words in [
        "uberlauf",
        "modul drei",
        "stack heap",
        "collide",
        "ÜBERLAUF collide",
    ] {
        let found = tenant
            .ben
            .get(&tenant.path(&format!("/messages?search={}", words.replace(' ', "%20"))))
            .await;
        assert_eq!(found, json!([pushed]), "{words}");
    }
    for words in [
        "hidden",
        "href",
        "secret",
        "evil",
        "amp",
        "nbsp",
        "script",
        "elsewhere",
    ] {
        let found = tenant
            .ben
            .get(&tenant.path(&format!("/messages?search={words}")))
            .await;
        assert_eq!(found, json!([]), "{words}");
    }
}

/// Shows: 3.13, 4.29, 7.4
async fn a_pushed_message_is_removed_by_deleting(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let first = source.push(&activity("7", "opened needlessly")).await;
    let second = source
        .push(&json!({"event": "discussion", "body": "x", "external_thread_id": "7"}))
        .await;
    let mut stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let path = tenant.message_path(&first);
    let removed = tenant.ada.send(Method::DELETE, &path, &Json::Null).await;
    assert_eq!(
        (removed.status.as_u16(), removed.text().as_str()),
        (204, "")
    );
    assert_eq!(
        stream.event("message-delete").await["content"],
        json!({"message": first["id"]})
    );
    assert_eq!(
        tenant
            .ben
            .send(Method::GET, &path, &Json::Null)
            .await
            .status,
        404
    );
    assert_eq!(
        tenant
            .ben
            .get(&tenant.path("/messages?search=needlessly"))
            .await,
        json!([])
    );
    // The thread is there for what is left, and goes on under its old ids.
    let left = tenant.ben.get(&tenant.message_path(&second)).await;
    assert_eq!(left["thread"]["activities"], 0);
    assert_eq!(left["thread"]["external_comments"], 1);
    assert_eq!(
        left["thread"]["title"], "",
        "the title came with what is gone"
    );
    let third = source.push(&activity("7", "opened again")).await;
    assert_eq!(
        (&third["thread_id"], &third["thread"]["activities"]),
        (&first["thread_id"], &json!(1))
    );
    assert_eq!(third["thread"]["title"], "opened again");
}
