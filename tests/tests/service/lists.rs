//! Listing messages (specification, section 4): which, how many, in what order.

use eddyline_client::{Client, Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use crate::integrations::threads::pages as threads;
use crate::integrations::{Source, update};

/// The most bytes of a list.
const LIST_BYTES: usize = 2 * 1024 * 1024;

on_shared_servers![
    a_list_is_ascending_whichever_end_it_comes_from,
    without_a_limit_there_are_thirty,
    a_limit_is_from_1_to_100,
    numbers_that_are_none_are_refused,
    since_and_until_leave_the_named_message_out,
    skip_counts_from_the_end_that_sort_chooses,
    paging_back_and_forth_meets_every_message_once,
    events_are_chosen_by_name,
    an_event_that_does_not_exist_is_refused,
    tags_are_all_wanted_unless_one_suffices,
    tags_are_found_in_every_form,
    a_mention_is_found_by_nick_or_number,
    filters_narrow_together,
    unknown_parameters_are_ignored,
    an_empty_flow_has_an_empty_list,
    notices_of_edits_are_not_listed,
    skip_is_at_most_ten_thousand,
    the_link_leads_to_every_message_once,
    a_list_ends_at_its_bytes_and_the_link_leads_on,
    threads_end_at_their_bytes_and_the_link_leads_on,
];

async fn list(tenant: &Tenant, query: &str) -> Vec<i64> {
    let messages = tenant
        .ben
        .get(&tenant.path(&format!("/messages?{query}")))
        .await;
    messages
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["id"].as_i64().unwrap())
        .collect()
}

/// Fills the flow with this many messages.
async fn fill(tenant: &Tenant, count: usize) {
    for number in 1..=count {
        let body = json!({"event": "message", "content": format!("number {number}")});
        tenant
            .ben
            .does(Method::POST, &tenant.path("/messages"), &body)
            .await;
    }
}

async fn refused(tenant: &Tenant, query: &str, field: &str) {
    let path = tenant.path(&format!("/messages?{query}"));
    let answer = tenant
        .ben
        .client
        .request(Method::GET, &path)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status, 400, "{query}");
    assert_eq!(answer.json()["message"], "Validation error", "{query}");
    assert!(
        answer.json()["errors"][field].is_array(),
        "{query}: {}",
        answer.text()
    );
}

/// The ids on all pages from this path on.
async fn pages(client: &Client, path: &str) -> Vec<Vec<i64>> {
    let mut pages = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(path) = next {
        let answer = client
            .request(Method::GET, &path)
            .send()
            .await
            .unwrap()
            .success()
            .unwrap();
        assert!(
            answer.body.len() <= LIST_BYTES,
            "{path}: {}",
            answer.body.len()
        );
        next = answer.header("link").map(|link| {
            let address = link
                .strip_prefix('<')
                .unwrap()
                .strip_suffix(">; rel=\"next\"")
                .unwrap();
            address.strip_prefix(client.base_url()).unwrap().to_owned()
        });
        let ids = |list: &Json| {
            list.as_array()
                .unwrap()
                .iter()
                .map(|one| one["id"].as_i64().unwrap())
                .collect()
        };
        pages.push(ids(&answer.json()));
    }
    pages
}

/// Shows: 4.26
async fn skip_is_at_most_ten_thousand(tenant: Tenant) {
    fill(&tenant, 1).await;
    for more in ["", "&search=number", "&tags=x"] {
        assert_eq!(list(&tenant, &format!("skip=10000{more}")).await, [0; 0]);
        refused(&tenant, &format!("skip=10001{more}"), "skip").await;
    }
}

/// Shows: 4.26
async fn the_link_leads_to_every_message_once(tenant: Tenant) {
    fill(&tenant, 12).await;
    let first = tenant.ben.get(&tenant.path("/messages/1")).await;
    let comment = json!({"event": "comment", "content": "number"});
    for _ in 0..5 {
        tenant
            .ben
            .does(
                Method::POST,
                &format!("{}/comments", tenant.message_path(&first)),
                &comment,
            )
            .await;
    }
    let thread = first["thread_id"].as_str().unwrap();
    for (path, all) in [
        ("/messages".to_owned(), (1..=17).collect::<Vec<_>>()),
        ("/messages?search=number".to_owned(), (1..=17).collect()),
        (
            "/messages?search=number&event=message".to_owned(),
            (1..=12).collect(),
        ),
        ("/messages?event=comment".to_owned(), (13..=17).collect()),
        (
            "/messages?since_id=3&until_id=9".to_owned(),
            (4..=8).collect(),
        ),
        (
            format!("/threads/{thread}/messages"),
            [1, 13, 14, 15, 16, 17].into(),
        ),
        ("/messages/1/comments".to_owned(), (13..=17).collect()),
    ] {
        for sort in ["asc", "desc"] {
            let question = if path.contains('?') { "&" } else { "?" };
            let path = tenant.path(&format!("{path}{question}sort={sort}&limit=2"));
            let mut shown = pages(&tenant.ben.client, &path).await;
            if sort == "desc" {
                shown.reverse();
            }
            assert_eq!(shown.concat(), all, "{path}");
        }
    }
}

/// Pushes a thread whose state has some 100 KB.
async fn large_thread(source: &Source, number: usize) -> Json {
    let body = format!("<p>{}</p>", "x".repeat(60_000));
    let fields = vec![json!({"label": "l", "value": "v".repeat(900)}); 50];
    let item = json!({"title": "large", "body": body, "fields": fields});
    source
        .push(&update(&number.to_string(), "opened", &item))
        .await
}

/// Shows: 4.26
async fn a_list_ends_at_its_bytes_and_the_link_leads_on(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let thread = large_thread(&source, 1).await["thread_id"].clone();
    let reply = json!({"event": "message", "content": "reply", "thread_id": thread});
    for _ in 0..29 {
        tenant.ben.post(&tenant.main, &reply).await;
    }
    let thread = thread.as_str().unwrap();
    // Before the thread there is the message that tells how the source came to be.
    for (path, first) in [
        ("/messages?".to_owned(), 1),
        (format!("/threads/{thread}/messages?"), 2),
    ] {
        for sort in ["asc", "desc"] {
            let path = tenant.path(&format!("{path}limit=100&sort={sort}"));
            let mut shown = pages(&tenant.ben.client, &path).await;
            assert_eq!(shown.len(), 2, "{path}");
            if sort == "desc" {
                shown.reverse();
            }
            assert_eq!(shown.concat(), (first..=31).collect::<Vec<_>>(), "{path}");
        }
    }
    let found = pages(
        &tenant.ben.client,
        &tenant.path("/messages?limit=100&search=reply"),
    )
    .await;
    assert_eq!((found.len(), found.concat().len()), (2, 29));
}

async fn threads_end_at_their_bytes_and_the_link_leads_on(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    for number in 0..30 {
        large_thread(&source, number).await;
    }
    let shown = threads(&tenant.ben.client, &tenant.path("/threads?limit=100")).await;
    assert_eq!(shown.len(), 2);
    let mut ids: Vec<String> = shown
        .concat()
        .iter()
        .map(|thread| thread["id"].to_string())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 30);
}

/// Shows: 4.26
async fn a_list_is_ascending_whichever_end_it_comes_from(tenant: Tenant) {
    fill(&tenant, 7).await;
    assert_eq!(list(&tenant, "limit=3").await, [5, 6, 7]);
    assert_eq!(list(&tenant, "limit=3&sort=desc").await, [5, 6, 7]);
    assert_eq!(list(&tenant, "limit=3&sort=asc").await, [1, 2, 3]);
    refused(&tenant, "sort=up", "sort").await;
}

/// Shows: 8.3
async fn without_a_limit_there_are_thirty(tenant: Tenant) {
    fill(&tenant, 32).await;
    assert_eq!(list(&tenant, "").await, (3..=32).collect::<Vec<_>>());
    assert_eq!(
        list(&tenant, "sort=asc").await,
        (1..=30).collect::<Vec<_>>()
    );
}

/// Shows: 4.26, 8.3
async fn a_limit_is_from_1_to_100(tenant: Tenant) {
    fill(&tenant, 103).await;
    assert_eq!(list(&tenant, "limit=1").await, [103]);
    assert_eq!(
        list(&tenant, "limit=100").await,
        (4..=103).collect::<Vec<_>>()
    );
    for limit in [
        "0",
        "101",
        "-1",
        "abc",
        "",
        "1.5",
        "1e1",
        "9223372036854775808",
        "%20",
        "0x10",
        "+5",
    ] {
        refused(&tenant, &format!("limit={limit}"), "limit").await;
    }
}

async fn numbers_that_are_none_are_refused(tenant: Tenant) {
    for name in ["skip", "since_id", "until_id"] {
        for value in [
            "-1",
            "abc",
            "1.5",
            "9223372036854775808",
            "99999999999999999999999",
        ] {
            refused(&tenant, &format!("{name}={value}"), name).await;
        }
    }
    refused(&tenant, "tag_mode=xor", "tag_mode").await;
    // A list where one value belongs.
    refused(&tenant, "limit=1&limit=2", "limit").await;
    refused(&tenant, "tag_mode=or&tag_mode=and", "tag_mode").await;
    assert_eq!(
        list(&tenant, "since_id=0&until_id=9223372036854775807").await,
        Vec::<i64>::new()
    );
}

/// Shows: 4.26
async fn since_and_until_leave_the_named_message_out(tenant: Tenant) {
    fill(&tenant, 9).await;
    assert_eq!(list(&tenant, "since_id=6").await, [7, 8, 9]);
    assert_eq!(list(&tenant, "until_id=4").await, [1, 2, 3]);
    assert_eq!(list(&tenant, "since_id=3&until_id=7").await, [4, 5, 6]);
    assert_eq!(list(&tenant, "since_id=3&until_id=7&limit=2").await, [5, 6]);
    assert_eq!(
        list(&tenant, "since_id=3&until_id=7&limit=2&sort=asc").await,
        [4, 5]
    );
    assert!(list(&tenant, "since_id=9").await.is_empty());
    assert!(list(&tenant, "since_id=5&until_id=5").await.is_empty());
    assert_eq!(
        list(&tenant, "since_id=100&sort=asc").await,
        Vec::<i64>::new()
    );
}

/// Shows: 4.26
async fn skip_counts_from_the_end_that_sort_chooses(tenant: Tenant) {
    fill(&tenant, 9).await;
    assert_eq!(list(&tenant, "skip=2&limit=3").await, [5, 6, 7]);
    assert_eq!(list(&tenant, "skip=2&limit=3&sort=asc").await, [3, 4, 5]);
    assert_eq!(list(&tenant, "skip=0&limit=1").await, [9]);
    assert!(list(&tenant, "skip=9").await.is_empty());
    assert_eq!(list(&tenant, "skip=8").await, [1]);
}

async fn paging_back_and_forth_meets_every_message_once(tenant: Tenant) {
    fill(&tenant, 25).await;
    let mut back = Vec::new();
    let mut until = 26;
    while let page @ [first, ..] = &list(&tenant, &format!("until_id={until}&limit=10")).await[..] {
        until = *first;
        back.splice(0..0, page.iter().copied());
    }
    assert_eq!(back, (1..=25).collect::<Vec<_>>());
    let mut forth = Vec::new();
    while let page @ [_, ..] = &list(
        &tenant,
        &format!("since_id={}&limit=10&sort=asc", forth.last().unwrap_or(&0)),
    )
    .await[..]
    {
        forth.extend_from_slice(page);
    }
    assert_eq!(forth, back);
}

/// Shows: 4.26, 6.1, 6.2
async fn events_are_chosen_by_name(tenant: Tenant) {
    let first = tenant.ben.say(&tenant.main, "hello").await;
    tenant
        .ben
        .post(&tenant.main, &json!({"event": "status", "content": "busy"}))
        .await;
    let path = format!("{}/comments", tenant.message_path(&first));
    tenant
        .ben
        .does(Method::POST, &path, &json!({"content": "me too"}))
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
    assert_eq!(list(&tenant, "").await, [1, 2, 3, 4]);
    assert_eq!(list(&tenant, "event=message").await, [1]);
    assert_eq!(list(&tenant, "event=status").await, [2]);
    assert_eq!(list(&tenant, "event=comment").await, [3]);
    assert_eq!(list(&tenant, "event=action").await, [4]);
    assert_eq!(list(&tenant, "event=message,comment").await, [1, 3]);
    assert_eq!(list(&tenant, "event=status,%20action").await, [2, 4]);
    assert_eq!(list(&tenant, "event[]=status&event[]=action").await, [2, 4]);
    assert_eq!(
        list(&tenant, "event=file,mail,activity,discussion").await,
        Vec::<i64>::new()
    );
    assert_eq!(list(&tenant, "event=message,comment&limit=1").await, [3]);
}

async fn an_event_that_does_not_exist_is_refused(tenant: Tenant) {
    for event in ["chat", "message,nothing", "MESSAGE", "message-edit"] {
        refused(&tenant, &format!("event={event}"), "event").await;
    }
}

/// Shows: 4.26
async fn tags_are_all_wanted_unless_one_suffices(tenant: Tenant) {
    for text in ["#one", "#two", "#one and #two", "#three", "none"] {
        tenant.ben.say(&tenant.main, text).await;
    }
    assert_eq!(list(&tenant, "tags=one").await, [1, 3]);
    assert_eq!(list(&tenant, "tags=one,two").await, [3]);
    assert_eq!(list(&tenant, "tags=one,two&tag_mode=and").await, [3]);
    assert_eq!(list(&tenant, "tags=one,two&tag_mode=or").await, [1, 2, 3]);
    assert_eq!(
        list(&tenant, "tags=two,three,unheard&tag_mode=or").await,
        [2, 3, 4]
    );
    // A repeated name gathers a list, in each of its forms.
    assert_eq!(list(&tenant, "tags=one&tags=two").await, [3]);
    let any = "tags=two&tags=three,unheard&tag_mode=or";
    assert_eq!(
        list(&tenant, any).await,
        list(&tenant, "tags=two,three&tag_mode=or").await
    );
    assert_eq!(list(&tenant, "tags[]=one&tags=two").await, [3]);
    assert!(list(&tenant, "tags=one,unheard").await.is_empty());
    assert_eq!(list(&tenant, "tags=one,one").await, [1, 3]);
    assert_eq!(list(&tenant, "tags=one,one,two,one").await, [3]);
    assert_eq!(
        list(&tenant, "tags=one,two&tag_mode=or&limit=1&skip=1").await,
        [2]
    );
    assert_eq!(
        list(&tenant, "tags=").await,
        [1, 2, 3, 4, 5],
        "no tag asks for nothing"
    );
}

/// Shows: 2.23
async fn tags_are_found_in_every_form(tenant: Tenant) {
    tenant
        .ben
        .say(&tenant.main, "#Größe http://example.org")
        .await;
    for tags in [
        "gr%C3%B6%C3%9Fe",
        "GR%C3%96%C3%9FE",
        "%23Gr%C3%B6%C3%9Fe",
        ":url",
        ":URL",
        "%3Aurl",
    ] {
        assert_eq!(list(&tenant, &format!("tags={tags}")).await, [1], "{tags}");
    }
    assert!(list(&tenant, "tags=:file").await.is_empty());
}

/// Shows: 2.22
async fn a_mention_is_found_by_nick_or_number(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "@ada hello").await;
    let path = format!("{}/comments", tenant.message_path(&parent));
    tenant
        .ben
        .does(Method::POST, &path, &json!({"content": "@all as well"}))
        .await;
    let ada = tenant.ada.id;
    assert_eq!(list(&tenant, &format!("tags=:user:{ada}")).await, [1]);
    assert_eq!(list(&tenant, "tags=@ada").await, [1]);
    assert_eq!(list(&tenant, "tags=@Everyone").await, [2]);
    assert_eq!(
        list(
            &tenant,
            &format!("tags=:user:{ada},:user:everyone&tag_mode=or")
        )
        .await,
        [1, 2]
    );
    assert_eq!(list(&tenant, &format!("tags=:unread:{ada}")).await, [1, 2]);
    assert_eq!(list(&tenant, "tags=:influx:1").await, [2]);
    assert!(list(&tenant, "tags=@nobody").await.is_empty());
}

async fn filters_narrow_together(tenant: Tenant) {
    for number in 0..4 {
        tenant
            .ben
            .say(&tenant.main, &format!("#tea number {number}"))
            .await;
        tenant
            .ben
            .post(
                &tenant.main,
                &json!({"event": "status", "content": "having #tea"}),
            )
            .await;
    }
    assert_eq!(
        list(&tenant, "event=message&tags=tea&since_id=1&until_id=7").await,
        [3, 5]
    );
    assert_eq!(
        list(&tenant, "event=message&tags=tea&search=number").await,
        [1, 3, 5, 7]
    );
    assert_eq!(
        list(&tenant, "event=status&tags=tea&search=number").await,
        Vec::<i64>::new()
    );
}

async fn unknown_parameters_are_ignored(tenant: Tenant) {
    fill(&tenant, 2).await;
    assert_eq!(list(&tenant, "nonsense=1&page=7&limit=1").await, [2]);
}

async fn an_empty_flow_has_an_empty_list(tenant: Tenant) {
    let messages: Json = tenant.ben.get(&tenant.path("/messages")).await;
    assert_eq!(messages, json!([]));
}

async fn notices_of_edits_are_not_listed(tenant: Tenant) {
    let first = tenant.ben.say(&tenant.main, "hello").await;
    tenant
        .ben
        .does(
            Method::PUT,
            &tenant.message_path(&first),
            &json!({"content": "hi"}),
        )
        .await;
    tenant
        .ben
        .does(
            Method::PUT,
            &tenant.message_path(&first),
            &json!({"tags": ["x"]}),
        )
        .await;
    let last = tenant.ben.say(&tenant.main, "bye").await["id"]
        .as_i64()
        .unwrap();
    assert!(last > 2, "notices take a number");
    assert_eq!(list(&tenant, "").await, [1, last]);
    for id in 2..last {
        let path = tenant.path(&format!("/messages/{id}"));
        let answer = tenant
            .ben
            .client
            .request(Method::GET, &path)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 404);
    }
}
