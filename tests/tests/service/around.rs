//! Lists around a message or a time (docs/protocol.md, Messages).

use eddyline_client::{Json, MessageQuery, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    a_list_has_half_of_its_messages_before_the_one_it_is_around,
    what_one_end_lacks_comes_from_the_other,
    a_message_that_is_gone_is_still_a_place,
    a_time_stands_for_the_first_message_sent_then_or_later,
    a_list_around_a_place_has_links_in_both_directions,
    kinds_tags_and_threads_narrow_a_list_around_a_place,
    a_list_around_a_place_has_html_where_it_is_asked_for,
    other_bounds_do_not_go_with_a_place,
    a_place_is_a_number,
    a_private_conversation_is_listed_around_a_place,
    the_client_lists_around_a_place,
    only_who_reads_the_flow_lists_around_a_place,
];

pub(crate) fn ids(list: &Json) -> Vec<i64> {
    let list = list.as_array().unwrap().iter();
    list.map(|message| message["id"].as_i64().unwrap())
        .collect()
}

pub(crate) async fn list(tenant: &Tenant, query: &str) -> Vec<i64> {
    let path = tenant.path(&format!("/messages?{query}"));
    ids(&tenant.ben.get(&path).await)
}

async fn fill(tenant: &Tenant, count: usize) {
    tenant
        .ben
        .flood(&tenant.main, count, |number| format!("number {number}"))
        .await;
}

pub(crate) async fn sent(tenant: &Tenant, id: i64) -> i64 {
    let path = tenant.path(&format!("/messages/{id}"));
    tenant.ben.get(&path).await["sent"].as_i64().unwrap()
}

async fn a_list_has_half_of_its_messages_before_the_one_it_is_around(tenant: Tenant) {
    fill(&tenant, 60).await;
    assert_eq!(
        list(&tenant, "around_id=30&limit=5").await,
        [28, 29, 30, 31, 32]
    );
    assert_eq!(
        list(&tenant, "around_id=30&limit=4").await,
        [28, 29, 30, 31]
    );
    assert_eq!(list(&tenant, "around_id=30&limit=1").await, [30]);
    assert_eq!(
        list(&tenant, "around_id=30").await,
        (15..45).collect::<Vec<_>>()
    );
}

async fn what_one_end_lacks_comes_from_the_other(tenant: Tenant) {
    assert_eq!(list(&tenant, "around_id=1").await, [0; 0]);
    fill(&tenant, 9).await;
    assert_eq!(list(&tenant, "around_id=1&limit=4").await, [1, 2, 3, 4]);
    assert_eq!(list(&tenant, "around_id=0&limit=4").await, [1, 2, 3, 4]);
    assert_eq!(list(&tenant, "around_id=9&limit=4").await, [6, 7, 8, 9]);
    let last = i64::MAX;
    assert_eq!(
        list(&tenant, &format!("around_id={last}&limit=4")).await,
        [6, 7, 8, 9]
    );
    assert_eq!(
        list(&tenant, "around_id=5&limit=100").await,
        (1..=9).collect::<Vec<_>>()
    );
}

async fn a_message_that_is_gone_is_still_a_place(tenant: Tenant) {
    fill(&tenant, 4).await;
    let file = json!({"event": "file", "content": {"data": "aGk=", "file_name": "a.txt", "content_type": "text/plain"}});
    let file = tenant.ben.post(&tenant.main, &file).await;
    fill(&tenant, 4).await;
    tenant
        .ben
        .does(Method::DELETE, &tenant.message_path(&file), &Json::Null)
        .await;
    assert_eq!(list(&tenant, "around_id=5&limit=4").await, [3, 4, 6, 7]);
}

async fn a_time_stands_for_the_first_message_sent_then_or_later(tenant: Tenant) {
    assert_eq!(list(&tenant, "around_time=0").await, [0; 0]);
    for number in 1..=6 {
        tenant.ben.say(&tenant.main, &number.to_string()).await;
    }
    let times = [
        sent(&tenant, 1).await,
        sent(&tenant, 4).await,
        sent(&tenant, 6).await,
    ];
    assert_eq!(list(&tenant, "around_time=0&limit=3").await, [1, 2, 3]);
    let around = async |time: i64| list(&tenant, &format!("around_time={time}&limit=1")).await;
    assert_eq!(around(times[0]).await, [1]);
    let at_fourth = around(times[1]).await[0];
    assert!(sent(&tenant, at_fourth).await == times[1] && at_fourth <= 4);
    let before_last = around(times[2]).await[0];
    assert_eq!(sent(&tenant, before_last).await, times[2]);
    // Nothing was sent later.
    let later = times[2] + 1;
    assert_eq!(
        list(&tenant, &format!("around_time={later}&limit=3")).await,
        [4, 5, 6]
    );
    assert_eq!(
        list(&tenant, &format!("around_time={}&limit=1", i64::MAX)).await,
        [6]
    );
}

async fn a_list_around_a_place_has_links_in_both_directions(tenant: Tenant) {
    fill(&tenant, 20).await;
    let path = tenant.path("/messages?around_id=10&limit=4&event=message&html=1");
    let answer = tenant.ben.send(Method::GET, &path, &Json::Null).await;
    assert_eq!(ids(&answer.json()), [8, 9, 10, 11]);
    let link = answer.header("link").unwrap().to_owned();
    let mut met = ids(&answer.json());
    for (part, relation) in link.split(", ").zip(["prev", "next"]) {
        let (address, rest) = part.strip_prefix('<').unwrap().split_once('>').unwrap();
        assert_eq!(rest, format!("; rel=\"{relation}\""));
        assert!(address.contains("html=true"), "{address}");
        let mut path = address
            .strip_prefix(tenant.ben.client.base_url())
            .map(str::to_owned);
        while let Some(at) = path {
            let answer = tenant.ben.send(Method::GET, &at, &Json::Null).await;
            met.extend(ids(&answer.json()));
            path = answer.header("link").map(|link| {
                let address = link.strip_prefix('<').unwrap().split_once('>').unwrap().0;
                address[tenant.ben.client.base_url().len()..].to_owned()
            });
        }
    }
    met.sort_unstable();
    assert_eq!(met, (1..=20).collect::<Vec<_>>());
    let path = tenant.path("/messages?around_id=10&limit=100");
    let answer = tenant.ben.send(Method::GET, &path, &Json::Null).await;
    assert_eq!(answer.header("link"), None, "all of them are there");
}

async fn kinds_tags_and_threads_narrow_a_list_around_a_place(tenant: Tenant) {
    fill(&tenant, 4).await;
    for number in 5..=10 {
        let status =
            json!({"event": "status", "content": format!("busy {number}"), "tags": ["tea"]});
        tenant.ben.post(&tenant.main, &status).await;
        fill(&tenant, 1).await;
    }
    // The statuses are 5, 7, 9, 11, 13, 15.
    assert_eq!(
        list(&tenant, "around_id=10&limit=4&event=status").await,
        [7, 9, 11, 13]
    );
    assert_eq!(
        list(&tenant, "around_id=9&limit=3&tags=tea").await,
        [7, 9, 11]
    );
    let time = sent(&tenant, 16).await + 1;
    assert_eq!(
        list(&tenant, &format!("around_time={time}&limit=2&tags=tea")).await,
        [13, 15]
    );
    let first = tenant.ben.get(&tenant.path("/messages/1")).await;
    for _ in 0..6 {
        let comment = json!({"event": "comment", "content": "yes"});
        let path = format!("{}/comments", tenant.message_path(&first));
        tenant.ben.does(Method::POST, &path, &comment).await;
    }
    let thread = first["thread_id"].as_str().unwrap();
    let path = format!("/threads/{thread}/messages?around_id=19&limit=3");
    assert_eq!(
        ids(&tenant.ben.get(&tenant.path(&path)).await),
        [18, 19, 20]
    );
    let path = format!(
        "{}/comments?around_id=17&limit=2",
        tenant.message_path(&first)
    );
    assert_eq!(ids(&tenant.ben.get(&path).await), [17, 18]);
}

async fn a_list_around_a_place_has_html_where_it_is_asked_for(tenant: Tenant) {
    for text in ["**a**", "<b>", "c"] {
        tenant.ben.say(&tenant.main, text).await;
    }
    let path = tenant.path("/messages?around_id=2&limit=3&html=1");
    let shown = tenant.ben.get(&path).await;
    assert_eq!(shown[0]["html"], "<b>a</b>");
    assert_eq!(shown[1]["html"], "&lt;b&gt;");
}

async fn refused(caller: &Caller, path: &str, field: &str) {
    let answer = caller.send(Method::GET, path, &Json::Null).await;
    assert_eq!(answer.status, 400, "{path}");
    assert!(
        answer.json()["errors"][field].is_array(),
        "{path}: {}",
        answer.text()
    );
}

async fn other_bounds_do_not_go_with_a_place(tenant: Tenant) {
    for place in ["around_id=3", "around_time=3"] {
        for (name, value) in [
            ("since_id", "1"),
            ("user", "1"),
            ("since_time", "1"),
            ("until_time", "1"),
            ("until_id", "1"),
            ("beyond_id", "1"),
            ("sort", "asc"),
            ("sort", "desc"),
            ("skip", "1"),
            ("search", "tea"),
        ] {
            let path = tenant.path(&format!("/messages?{place}&{name}={value}"));
            refused(&tenant.ben, &path, name).await;
        }
    }
    let both = tenant.path("/messages?around_id=3&around_time=3");
    refused(&tenant.ben, &both, "around_time").await;
}

async fn a_place_is_a_number(tenant: Tenant) {
    for name in ["around_id", "around_time"] {
        for value in ["-1", "x", "1.5", "9223372036854775808"] {
            let path = tenant.path(&format!("/messages?{name}={value}"));
            refused(&tenant.ben, &path, name).await;
        }
    }
}

async fn a_private_conversation_is_listed_around_a_place(tenant: Tenant) {
    let to_ada = format!("/private/{}/messages", tenant.ada.id);
    for number in 1..=9 {
        let message = json!({"event": "message", "content": number.to_string()});
        tenant.ben.does(Method::POST, &to_ada, &message).await;
    }
    let path = format!("/private/{}/messages?around_id=5&limit=3", tenant.ben.id);
    assert_eq!(ids(&tenant.ada.get(&path).await), [4, 5, 6]);
    let path = format!("{to_ada}?around_time={}&limit=2", i64::MAX);
    assert_eq!(ids(&tenant.ben.get(&path).await), [8, 9]);
    refused(&tenant.ben, &format!("{to_ada}?around_id=5&skip=1"), "skip").await;
}

async fn the_client_lists_around_a_place(tenant: Tenant) {
    fill(&tenant, 9).await;
    let flow = tenant.ben.client.flow(&tenant.name, "main");
    let query = MessageQuery::new().around(5).limit(3);
    let found = flow.messages(&query).await.unwrap();
    assert_eq!(
        found.iter().map(|message| message.id).collect::<Vec<_>>(),
        [4, 5, 6]
    );
    let query = MessageQuery::new().around_time(found[1].sent).limit(1);
    let found = flow.messages(&query).await.unwrap();
    assert_eq!(found.len(), 1);
}

async fn only_who_reads_the_flow_lists_around_a_place(tenant: Tenant) {
    fill(&tenant, 3).await;
    let path = tenant.path("/messages?around_id=2");
    let outsider = tenant.user("out");
    let neighbour = tenant.neighbour();
    for (caller, status) in [(&outsider, 403), (&neighbour.ben, 404)] {
        let answer = caller.send(Method::GET, &path, &Json::Null).await;
        assert_eq!(answer.status, status);
    }
}
