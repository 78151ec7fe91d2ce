//! Listing and showing threads (specification, section 4, Threads).

use eddyline_client::{Json, Method, RawResponse};
use eddyline_tests::{Caller, Server, Tenant, on_both_databases, on_shared_servers};
use serde_json::json;

use super::{Source, activity, update};

mod paging;

pub(crate) use self::paging::pages;

on_shared_servers![
    what_changed_last_comes_first,
    since_and_until_leave_the_named_moment_out,
    an_application_shows_its_own_threads,
    threads_that_nobody_answered_are_shown_when_asked,
    a_list_has_the_last_message_of_each_thread_where_asked,
    a_list_has_titles_without_markdown_where_asked,
    threads_are_found_by_words_of_their_titles_and_by_status,
    a_question_that_cannot_be_read_is_refused,
    a_thread_is_shown_by_its_id,
    a_thread_that_is_not_there_is_not_found,
    a_removed_message_is_counted_no_more,
];

on_both_databases![threads_are_the_same_after_a_restart];

/// The ids of listed threads.
fn ids(threads: &Json) -> Vec<&str> {
    threads
        .as_array()
        .unwrap()
        .iter()
        .map(|thread| thread["id"].as_str().unwrap())
        .collect()
}

/// The threads of the flow `main` by this question, each as its id.
async fn listed(tenant: &Tenant, question: &str) -> Vec<String> {
    let threads = tenant
        .ben
        .get(&tenant.path(&format!("/threads{question}")))
        .await;
    ids(&threads).into_iter().map(str::to_owned).collect()
}

fn id(message: &Json) -> String {
    message["thread_id"].as_str().unwrap().to_owned()
}

/// Says something and has it answered.
async fn talk(tenant: &Tenant, text: &str) -> Json {
    let first = tenant.ben.say(&tenant.main, text).await;
    let answer = json!({"event": "message", "content": "yes", "thread_id": first["thread_id"]});
    tenant.ada.post(&tenant.main, &answer).await
}

/// Shows: 4.36
async fn what_changed_last_comes_first(tenant: Tenant) {
    assert_eq!(tenant.ben.get(&tenant.path("/threads")).await, json!([]));
    let source = Source::new(&tenant).await;
    let one = source
        .push(&update("1", "opened", &json!({"title": "One"})))
        .await;
    let talked = talk(&tenant, "Lunch?").await;
    let two = source.push(&activity("2", "opened")).await;
    let threads = tenant.ben.get(&tenant.path("/threads")).await;
    // Each as the last message about it showed it.
    assert_eq!(
        threads,
        json!([two["thread"], talked["thread"], one["thread"]])
    );
    let again = source.push(&activity("1", "closed")).await;
    let threads = tenant.ben.get(&tenant.path("/threads")).await;
    assert_eq!(
        threads,
        json!([again["thread"], two["thread"], talked["thread"]])
    );
    assert_eq!(threads[0]["title"], "One");
    // What is not in the flow is not in its list.
    tenant.flow("side", &[&tenant.ben]);
    assert_eq!(
        tenant
            .ben
            .get(&format!("/flows/{}/side/threads?empty=1", tenant.name))
            .await,
        json!([])
    );
}

/// Shows: 4.36
async fn since_and_until_leave_the_named_moment_out(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let mut threads = Vec::new();
    for number in 0..4 {
        let mut pushed = source.push(&activity(&number.to_string(), "opened")).await;
        // Each in a moment of its own.
        while threads
            .last()
            .is_some_and(|last: &Json| last["updated_at"] == pushed["thread"]["updated_at"])
        {
            pushed = source.push(&activity(&number.to_string(), "opened")).await;
        }
        threads.push(pushed["thread"].clone());
    }
    let thread = |number: usize| threads[number]["id"].as_str().unwrap().to_owned();
    let time = |number: usize| threads[number]["updated_at"].as_str().unwrap().to_owned();
    assert_eq!(
        listed(&tenant, &format!("?since={}", time(1))).await,
        [thread(3), thread(2)]
    );
    assert_eq!(
        listed(&tenant, &format!("?until={}", time(2))).await,
        [thread(1), thread(0)]
    );
    let both = format!("?since={}&until={}", time(0), time(3));
    assert_eq!(listed(&tenant, &both).await, [thread(2), thread(1)]);
    let none = format!("?since={}", time(3));
    assert_eq!(listed(&tenant, &none).await, [""; 0]);
    // The same moment, written otherwise.
    let elsewhere = time(1).replace('Z', "%2B00:00");
    assert_eq!(
        listed(&tenant, &format!("?since={elsewhere}")).await,
        [thread(3), thread(2)]
    );
}

/// Shows: 4.25, 4.36
async fn an_application_shows_its_own_threads(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let one = Source::of(&robot, &tenant.ben, &tenant.main, "one").await;
    let two = Source::of(&robot, &tenant.ben, &tenant.main, "two").await;
    let other = Source::new(&tenant).await;
    let own = tenant.client(eddyline_client::Credentials::FlowToken(tenant.flow_token()));
    let first = id(&one.push(&activity("1", "x")).await);
    let second = id(&two.push(&activity("1", "x")).await);
    let third = id(&other.push(&activity("1", "x")).await);
    let fourth = id(&super::push(&own, &activity("1", "x")).await);
    let chat = id(&talk(&tenant, "Lunch?").await);
    for (question, mut expected) in [
        ("".to_owned(), vec![&chat, &fourth, &third, &second, &first]),
        (
            "?application=".to_owned(),
            vec![&chat, &fourth, &third, &second, &first],
        ),
        (
            "?application=inbox".to_owned(),
            vec![&fourth, &third, &second, &first],
        ),
        ("?application=chat".to_owned(), vec![&chat]),
        (format!("?application={}", robot.id), vec![&second, &first]),
        (
            format!("?application={}", robot.client_id),
            vec![&second, &first],
        ),
        ("?application=999999999".to_owned(), vec![]),
        ("?application=99999999999999999999999".to_owned(), vec![]),
        ("?application=no-such-client".to_owned(), vec![]),
    ] {
        // Some may have changed in the same moment; those of the higher number come first then.
        let mut found = listed(&tenant, &question).await;
        expected.sort();
        found.sort();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{question}");
    }
}

/// Shows: 4.36
async fn threads_that_nobody_answered_are_shown_when_asked(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let alone = tenant.ben.say(&tenant.main, "anybody?").await;
    let answered = id(&talk(&tenant, "Lunch?").await);
    let pushed = source.push(&activity("1", "opened")).await;
    assert_eq!(listed(&tenant, "").await.len(), 2);
    for empty in ["0", "false"] {
        let found = listed(&tenant, &format!("?application=chat&empty={empty}")).await;
        assert_eq!(found, [&*answered]);
    }
    for empty in ["1", "true"] {
        let found = listed(&tenant, &format!("?application=chat&empty={empty}")).await;
        assert_eq!(found, [answered.clone(), id(&alone)]);
    }
    // One of the inbox is empty when all its messages are gone.
    tenant
        .ben
        .does(Method::DELETE, &tenant.message_path(&pushed), &Json::Null)
        .await;
    assert_eq!(listed(&tenant, "?application=inbox").await, [""; 0]);
    assert_eq!(
        listed(&tenant, "?application=inbox&empty=1").await,
        [id(&pushed)]
    );
    let all = tenant.ben.get(&tenant.path("/threads?empty=1")).await;
    let alone = all
        .as_array()
        .unwrap()
        .iter()
        .find(|thread| thread["id"] == alone["thread_id"])
        .unwrap();
    assert_eq!(
        (&alone["internal_comments"], &alone["title"]),
        (&json!(1), &json!("anybody?"))
    );
    // What the server told of the source belongs to no thread.
    assert_eq!(all.as_array().unwrap().len(), 3);
}

async fn a_list_has_titles_without_markdown_where_asked(tenant: Tenant) {
    for text in ["plain", "**Lunch** at `noon`"] {
        talk(&tenant, text).await;
    }
    let titles = |list: &Json| json!([list[0]["title"], list[0]["plain_title"]]);
    let plain = tenant.ben.get(&tenant.path("/threads?limit=1")).await;
    assert_eq!(titles(&plain), json!(["**Lunch** at `noon`", null]));
    let page = get(&tenant.ben, &tenant.path("/threads?limit=1&html=1")).await;
    let shown = json!(["**Lunch** at `noon`", "Lunch at noon"]);
    assert_eq!(titles(&page.json()), shown);
    // The link to the next page asks for plain titles, too. A title without markdown has none.
    let next = page.header("link").expect("there is more").to_owned();
    assert!(next.contains("html=1"), "{next}");
    let all = tenant.ben.get(&tenant.path("/threads?html=1")).await;
    assert_eq!(all[1].get("plain_title"), None);
}

async fn a_list_has_the_last_message_of_each_thread_where_asked(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let pushed = source.push(&activity("1", "<b>opened</b> it")).await;
    let said = talk(&tenant, "Lunch?").await;
    let path = tenant.path("/threads?last_message=1&limit=1");
    let page = get(&tenant.ben, &path).await;
    let last = &page.json()[0]["last_message"];
    let of = |name: &str| last[name].clone();
    assert_eq!(of("user"), tenant.ada.id.to_string());
    assert_eq!(
        (of("event"), of("author_name"), of("text")),
        (said["event"].clone(), Json::Null, json!("yes"))
    );
    assert_eq!(of("id"), said["id"]);
    // The next page has them as well.
    let next = page.header("link").expect("there is more").to_owned();
    assert!(next.contains("last_message=1"), "{next}");
    let inbox = tenant.path("/threads?last_message=1&application=inbox");
    let inbox = tenant.ben.get(&inbox).await;
    assert_eq!(inbox[0]["last_message"]["text"], "opened it");
    assert_eq!(inbox[0]["last_message"]["id"], pushed["id"]);
    // Without its last message the one before is the last.
    let more = source.push(&activity("1", "closed it")).await;
    let path = tenant.path("/threads?last_message=1&application=inbox");
    let gone = tenant.message_path(&more);
    tenant.ben.does(Method::DELETE, &gone, &Json::Null).await;
    let last = &tenant.ben.get(&path).await[0]["last_message"];
    assert_eq!(last["text"], "opened it");
    // When the messages are gone, there is none.
    let gone = tenant.message_path(&pushed);
    tenant.ben.does(Method::DELETE, &gone, &Json::Null).await;
    let path = tenant.path("/threads?last_message=1&application=inbox&empty=1");
    assert_eq!(tenant.ben.get(&path).await[0]["last_message"], Json::Null);
    let plain = tenant.ben.get(&tenant.path("/threads")).await;
    assert!(plain[0].get("last_message").is_none());
}

async fn threads_are_found_by_words_of_their_titles_and_by_status(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let item = |title: &str, status: &str| {
        let thread = json!({"title": title, "status": {"value": status, "color": "green"}});
        update(title, "changed", &thread)
    };
    let open = source.push(&item("Retry uploads", "Open")).await;
    let closed = source.push(&item("Retry downloads", "closed")).await;
    let talked = talk(&tenant, "Who retries?").await;
    let alone = tenant.ben.say(&tenant.main, "Retry <later>").await;
    let by = async |question: &str| listed(&tenant, question).await;
    assert_eq!(
        by("?search=retr").await,
        [id(&talked), id(&closed), id(&open)]
    );
    assert_eq!(
        by("?search=RETRY&empty=1").await,
        [id(&alone), id(&closed), id(&open)]
    );
    assert_eq!(by("?search=up+retry").await, [id(&open)]);
    assert_eq!(by("?search=lat&empty=1").await, [id(&alone)]);
    assert_eq!(by("?status=open").await, [id(&open)]);
    assert_eq!(by("?status=closed&search=retry").await, [id(&closed)]);
    assert_eq!(by("?status=closed&search=up").await, [""; 0]);
    assert_eq!(by("?search=retr&application=chat").await, [id(&talked)]);
    assert_eq!(by("?search=%2C").await, [""; 0]);
    // Empty ones ask for nothing, as for messages.
    assert_eq!(by("?search=&status=").await.len(), 3);
    let path = tenant.path("/threads?search=retry&status=open&limit=1");
    let pages = pages(&tenant.ben.client, &path).await;
    let found: Vec<&[Json]> = pages.iter().map(Vec::as_slice).collect();
    assert_eq!(ids(&json!(found.concat())), [id(&open)]);
    let long = format!("?search={}", "x".repeat(501));
    let refused = get(&tenant.ben, &tenant.path(&format!("/threads{long}"))).await;
    assert_eq!(refused.status.as_u16(), 400);
    assert!(refused.json()["errors"]["search"].is_array());
    let words: Vec<String> = (0..60).map(|n| format!("w{n}")).collect();
    let many = format!("/threads?search={}", words.join("+"));
    let refused = get(&tenant.ben, &tenant.path(&many)).await;
    assert_eq!(refused.status.as_u16(), 400);
}

async fn get(caller: &Caller, path: &str) -> RawResponse {
    caller.send(Method::GET, path, &Json::Null).await
}

async fn a_question_that_cannot_be_read_is_refused(tenant: Tenant) {
    for (name, value) in [
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "-1"),
        ("limit", "some"),
        ("since", "yesterday"),
        ("until", "2026-13-01T00:00:00Z"),
        ("before", "x"),
        ("empty", "perhaps"),
    ] {
        let refused = get(
            &tenant.ben,
            &tenant.path(&format!("/threads?{name}={value}")),
        )
        .await;
        assert_eq!(refused.status, 400, "{name}={value}");
        assert!(
            refused.json()["errors"][name][0].is_string(),
            "{}",
            refused.text()
        );
    }
    for limit in ["1", "100"] {
        assert_eq!(
            get(
                &tenant.ben,
                &tenant.path(&format!("/threads?limit={limit}"))
            )
            .await
            .status,
            200
        );
    }
}

/// Shows: 2.28, 4.37
async fn a_thread_is_shown_by_its_id(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let pushed = source
        .push(&update("1", "opened", &json!({"title": "One"})))
        .await;
    let said = tenant.ben.say(&tenant.main, "a < b").await;
    for message in [&pushed, &said] {
        let path = tenant.path(&format!("/threads/{}", id(message)));
        assert_eq!(tenant.ada.get(&path).await, message["thread"]);
        assert_eq!(
            get(&tenant.user(&format!("u{}", message["id"])), &path)
                .await
                .status,
            403
        );
        assert_eq!(get(&tenant.neighbour().ada, &path).await.status, 404);
    }
    assert_eq!(said["thread"]["title"], "a &lt; b");
}

/// Shows: 4.37
async fn a_thread_that_is_not_there_is_not_found(tenant: Tenant) {
    tenant.flow("side", &[&tenant.ben]);
    let here = tenant.ben.say(&tenant.main, "hello").await;
    let comment = tenant.ben.client.request(
        Method::POST,
        &format!("{}/comments", tenant.message_path(&here)),
    );
    let comment = comment
        .header("x-service-wait-for-message", "1")
        .json(&json!({"content": "x"}));
    let comment: Json = comment.call().await.unwrap();
    assert_eq!(comment["thread_id"], here["thread_id"]);
    let there = id(&tenant
        .ben
        .say(&format!("{}/side", tenant.name), "elsewhere")
        .await);
    let mut made_up = id(&here);
    made_up.replace_range(26..27, if made_up.ends_with('A') { "B" } else { "A" });
    for id in [
        there,
        made_up,
        "1".to_owned(),
        "x".repeat(27),
        "..".to_owned(),
    ] {
        let answer = get(&tenant.ben, &tenant.path(&format!("/threads/{id}"))).await;
        assert_eq!(answer.status, 404, "{id}");
    }
}

/// Shows: 2.31
async fn a_removed_message_is_counted_no_more(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let first = source
        .push(&update("1", "opened", &json!({"title": "One"})))
        .await;
    source.push(&activity("1", "changed")).await;
    let discussion = json!({"event": "discussion", "body": "x", "external_thread_id": "1"});
    let third = source.push(&discussion).await;
    let chat = json!({"event": "message", "content": "x", "thread_id": first["thread_id"]});
    let fourth = tenant.ben.post(&tenant.main, &chat).await;
    let path = tenant.path(&format!("/threads/{}", id(&first)));
    let counts = async |title: &str| {
        let thread = tenant.ben.get(&path).await;
        assert_eq!(thread["title"], title);
        ["activities", "internal_comments", "external_comments"]
            .map(|name| thread[name].as_i64().unwrap())
    };
    assert_eq!(counts("One").await, [2, 1, 1]);
    for (message, left, title) in [(&third, [2, 1, 0], "One"), (&first, [1, 1, 0], "")] {
        tenant
            .ben
            .does(Method::DELETE, &tenant.message_path(message), &Json::Null)
            .await;
        assert_eq!(counts(title).await, left);
        // Removing it again removes nothing.
        assert_eq!(
            tenant
                .ben
                .send(Method::DELETE, &tenant.message_path(message), &Json::Null)
                .await
                .status,
            404
        );
        assert_eq!(counts(title).await, left);
    }
    // Chat is emptied, and is still there.
    tenant
        .ben
        .does(Method::DELETE, &tenant.message_path(&fourth), &Json::Null)
        .await;
    assert_eq!(counts("").await, [1, 1, 0]);
    let more = source.push(&activity("1", "again")).await;
    assert_eq!(
        (&more["thread"]["activities"], &more["thread_id"]),
        (&json!(2), &first["thread_id"])
    );
    let gone = first["id"].clone();
    let left = tenant.ben.get(&format!("{path}/messages")).await;
    assert!(
        left.as_array()
            .unwrap()
            .iter()
            .all(|message| message["id"] != gone),
        "{left}"
    );
}

async fn threads_are_the_same_after_a_restart(mut server: Server) {
    let acme = server.acme();
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &acme.ben, "acme/main", "Tickets").await;
    let state = json!({"title": "One", "status": {"value": "open", "color": "red"}});
    source.push(&update("1", "opened", &state)).await;
    source
        .push(&update("2", "opened", &json!({"title": "Two"})))
        .await;
    acme.ben.say("acme/main", "hello").await;
    let questions = [
        "/flows/acme/main/threads?empty=1",
        "/flows/acme/main/messages",
        "/sources",
    ];
    let mut before = Vec::new();
    for question in questions {
        before.push(acme.ada.get(question).await);
    }
    server.kill9();
    server.restart();
    for (question, before) in questions.into_iter().zip(before) {
        assert_eq!(acme.ada.get(question).await, before, "{question}");
    }
    let more = source.push(&activity("1", "changed")).await;
    assert_eq!(
        (&more["thread"]["activities"], &more["thread"]["status"]),
        (&json!(2), &state["status"])
    );
}
