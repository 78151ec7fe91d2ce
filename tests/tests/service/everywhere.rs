//! Searches over all rooms of a caller, and mentions (docs/protocol.md, All rooms).

use eddyline_client::requests::{ListMentions, SearchEverywhere};
use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    a_search_finds_words_and_tags_in_all_rooms_the_newest_first,
    each_message_names_its_room,
    a_search_is_narrowed_by_kind_and_tags,
    a_search_needs_words_or_tags,
    bad_parameters_name_their_field,
    the_link_leads_to_every_message_of_all_rooms_once,
    messages_of_one_moment_are_each_met_once,
    a_list_covers_the_two_hundred_rooms_with_the_latest_messages,
    rooms_that_a_caller_may_not_read_are_left_out,
    a_mention_is_by_name_by_a_group_or_of_everyone,
    mentions_are_of_others_and_are_left_out_with_their_room,
    mentions_go_on_where_the_link_leads,
    an_access_token_sees_what_its_scopes_cover,
    a_search_has_html_where_it_is_asked_for,
];

/// The texts of a list.
fn texts(list: &Json) -> Vec<String> {
    let list = list.as_array().unwrap().iter();
    list.map(|message| {
        let content = &message["content"];
        let text = content.as_str().or_else(|| content["text"].as_str());
        text.unwrap().to_owned()
    })
    .collect()
}

async fn search(caller: &Caller, query: &str) -> Vec<String> {
    texts(&caller.get(&format!("/search?{query}")).await)
}

async fn mentions(caller: &Caller) -> Vec<String> {
    texts(&caller.get("/mentions").await)
}

async fn write(from: &Caller, to: &Caller, text: &str) {
    let message = json!({"event": "message", "content": text});
    let path = format!("/private/{}/messages", to.id);
    from.does(Method::POST, &path, &message).await;
}

/// Another flow of the caller, by its name as `organization/flow`.
fn side(tenant: &Tenant) -> String {
    tenant.flow("side", &[&tenant.ben, &tenant.ada]);
    format!("{}/side", tenant.name)
}

async fn a_search_finds_words_and_tags_in_all_rooms_the_newest_first(tenant: Tenant) {
    let side = side(&tenant);
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    ben.say(&tenant.main, "tea 1").await;
    ada.say(&side, "tea 2 #green").await;
    write(ada, ben, "tea 3").await;
    ben.say(&tenant.main, "coffee").await;
    ben.say(&tenant.main, "Tea 4").await;
    assert_eq!(
        search(ben, "search=tea").await,
        ["Tea 4", "tea 3", "tea 2 #green", "tea 1"]
    );
    assert_eq!(search(ben, "search=tea&limit=2").await, ["Tea 4", "tea 3"]);
    assert_eq!(search(ben, "tags=green").await, ["tea 2 #green"]);
    assert_eq!(
        search(ben, "tags=%23Green&search=tea").await,
        ["tea 2 #green"]
    );
    assert_eq!(search(ben, "search=nothing").await, [""; 0]);
    assert_eq!(search(ben, "search=%22!!%22").await, [""; 0]);
}

async fn each_message_names_its_room(tenant: Tenant) {
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    ben.say(&tenant.main, "tea").await;
    write(ada, ben, "tea").await;
    let found = ben.get("/search?search=tea").await;
    let flow = ben.get(&tenant.path("")).await;
    assert_eq!(found[1]["flow"], flow["id"]);
    assert_eq!(
        (&found[0]["user"], &found[0]["to"]),
        (&json!(ada.id.to_string()), &json!(ben.id.to_string()))
    );
    assert!(found[0].get("flow").is_none());
}

async fn a_search_is_narrowed_by_kind_and_tags(tenant: Tenant) {
    let side = side(&tenant);
    let ben = &tenant.ben;
    for (flow, event, tags) in [
        (&tenant.main, "message", &["a"][..]),
        (&side, "status", &["a", "b"]),
        (&side, "message", &["b"]),
    ] {
        let message = json!({"event": event, "content": format!("tea {event} {}", tags.concat()), "tags": tags});
        ben.post(flow, &message).await;
    }
    assert_eq!(
        search(ben, "search=tea&event=status").await,
        ["tea status ab"]
    );
    assert_eq!(search(ben, "tags=a,b").await, ["tea status ab"]);
    assert_eq!(
        search(ben, "tags=a,b&tag_mode=or").await,
        ["tea message b", "tea status ab", "tea message a"]
    );
    assert_eq!(search(ben, "tags=@nobody-is-called-so").await, [""; 0]);
}

async fn refused(caller: &Caller, path: &str, field: &str) {
    let answer = caller.send(Method::GET, path, &Json::Null).await;
    assert_eq!(answer.status, 400, "{path}");
    let errors = &answer.json()["errors"];
    assert!(errors[field].is_array(), "{path}: {errors}");
}

async fn a_search_needs_words_or_tags(tenant: Tenant) {
    for query in ["", "?search=", "?limit=3", "?tags="] {
        refused(&tenant.ben, &format!("/search{query}"), "search").await;
    }
}

async fn bad_parameters_name_their_field(tenant: Tenant) {
    for (query, field) in [
        ("search=a&limit=0", "limit"),
        ("search=a&limit=101", "limit"),
        ("search=a&tag_mode=xor", "tag_mode"),
        ("search=a&event=nonsense", "event"),
        ("search=a&before=x", "before"),
        ("search=a&before=1-2", "before"),
        ("search=a&before=1-2-99999999999999999999", "before"),
    ] {
        refused(&tenant.ben, &format!("/search?{query}"), field).await;
    }
    refused(&tenant.ben, "/mentions?before=x", "before").await;
    refused(&tenant.ben, "/mentions?limit=0", "limit").await;
    let words = (1..=21).map(|n| format!("w{n}")).collect::<Vec<_>>();
    let path = format!("/search?search={}", words.join("+"));
    refused(&tenant.ben, &path, "search").await;
}

/// The texts on all pages from this path on.
async fn pages(caller: &Caller, path: &str) -> Vec<String> {
    let mut met = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(path) = next {
        let answer = caller.send(Method::GET, &path, &Json::Null).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        met.extend(texts(&answer.json()));
        next = answer.header("link").map(|link| {
            let (address, relation) = link.strip_prefix('<').unwrap().split_once('>').unwrap();
            assert_eq!(relation, "; rel=\"next\"");
            address[caller.client.base_url().len()..].to_owned()
        });
    }
    met
}

async fn the_link_leads_to_every_message_of_all_rooms_once(tenant: Tenant) {
    let side = side(&tenant);
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    let mut expected = Vec::new();
    for number in 0..40 {
        let text = format!("tea {number}");
        match number % 5 {
            0 => write(ada, ben, &text).await,
            1 | 2 => drop(ben.say(&side, &text).await),
            _ => drop(ada.say(&tenant.main, &text).await),
        }
        expected.insert(0, text);
    }
    for limit in [1, 3, 7, 40, 100] {
        let path = format!("/search?search=tea&limit={limit}");
        assert_eq!(pages(ben, &path).await, expected, "{limit}");
    }
}

async fn messages_of_one_moment_are_each_met_once(tenant: Tenant) {
    let side = side(&tenant);
    let ben = &tenant.ben;
    // Many at a time bear the same time, and not always in the order of their numbers.
    ben.flood(&tenant.main, 150, |number| format!("tea a{number}"))
        .await;
    ben.flood(&side, 150, |number| format!("tea b{number}"))
        .await;
    let mut met = pages(ben, "/search?search=tea&limit=7").await;
    met.sort();
    let mut expected: Vec<String> = ["a", "b"]
        .iter()
        .flat_map(|flow| (0..150).map(move |number| format!("tea {flow}{number}")))
        .collect();
    expected.sort();
    assert_eq!(met.len(), 300);
    met.dedup();
    assert_eq!(met.len(), expected.len(), "each once");
}

async fn a_list_covers_the_two_hundred_rooms_with_the_latest_messages(tenant: Tenant) {
    let ada = &tenant.ada;
    let organization = format!("/flows/{}", tenant.name);
    let room = |number: usize| format!("{}/room-{number}", tenant.name);
    for number in 0..201 {
        let flow = json!({"name": format!("Room {number}")});
        ada.does(Method::POST, &organization, &flow).await;
        ada.say(&room(number), &format!("tea {number}")).await;
    }
    let expected: Vec<_> = (1..201)
        .rev()
        .map(|number| format!("tea {number}"))
        .collect();
    assert_eq!(pages(ada, "/search?search=tea&limit=70").await, expected);
    // What is said in a room brings it back, and all that was said there.
    ada.say(&room(0), "coffee").await;
    let met = pages(ada, "/search?search=tea&limit=70").await;
    assert_eq!(met.len(), 200);
    assert_eq!((met[198].as_str(), met[199].as_str()), ("tea 2", "tea 0"));
}

async fn rooms_that_a_caller_may_not_read_are_left_out(tenant: Tenant) {
    let side = side(&tenant);
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    let cas = tenant.member("cas");
    cas.say(&tenant.main, "tea main").await;
    ada.say(&side, "tea side").await;
    write(&cas, ben, "tea private").await;
    assert_eq!(
        search(&cas, "search=tea").await,
        ["tea private", "tea main"]
    );
    assert_eq!(search(ada, "search=tea").await, ["tea side", "tea main"]);
    // Blocked.
    let path = tenant.path(&format!("/users/{}", cas.id));
    ben.does(Method::PUT, &path, &json!({"disabled": true}))
        .await;
    assert_eq!(search(&cas, "search=tea").await, ["tea private"]);
    ben.does(Method::PUT, &path, &json!({"disabled": false}))
        .await;
    assert_eq!(
        search(&cas, "search=tea").await,
        ["tea private", "tea main"]
    );
    // Left.
    let answer = cas.send(Method::DELETE, &path, &Json::Null).await;
    assert!(answer.status.is_success());
    assert_eq!(search(&cas, "search=tea").await, ["tea private"]);
    // Archived.
    let archive = json!({"disabled": true});
    ada.does(Method::PUT, &format!("/flows/{side}"), &archive)
        .await;
    assert_eq!(search(ada, "search=tea").await, ["tea main"]);
    // Not in the organization any more.
    let path = format!("/organizations/{}/users/{}", tenant.name, cas.id);
    let answer = ada.send(Method::DELETE, &path, &Json::Null).await;
    assert!(answer.status.is_success());
    assert_eq!(search(ben, "search=tea").await, ["tea main"]);
    // No other user sees the message.
    let neighbour = tenant.neighbour();
    assert_eq!(search(&neighbour.ben, "search=tea").await, [""; 0]);
}

async fn a_mention_is_by_name_by_a_group_or_of_everyone(tenant: Tenant) {
    let side = side(&tenant);
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    for (name, users) in [("crew", vec![ben.id]), ("others", vec![ada.id])] {
        let body = json!({"name": name, "users": users});
        let path = format!("/organizations/{}/groups", tenant.name);
        let answer = ada.send(Method::POST, &path, &body).await;
        assert!(answer.status.is_success(), "{}", answer.text());
    }
    ada.say(&tenant.main, "@ben one").await;
    ada.say(&side, "@everyone two").await;
    ada.say(&tenant.main, "ben nobody").await;
    ada.say(&tenant.main, "@crew three").await;
    ada.say(&tenant.main, "@others four").await;
    assert_eq!(
        mentions(ben).await,
        ["@crew three", "@everyone two", "@ben one"]
    );
    // Reading does not change what was said.
    let last = ben.get(&tenant.path("/messages?limit=1")).await[0]["id"].clone();
    ben.does(
        Method::PUT,
        &tenant.path("/read"),
        &json!({"message": last}),
    )
    .await;
    assert_eq!(mentions(ben).await.len(), 3);
}

async fn mentions_are_of_others_and_are_left_out_with_their_room(tenant: Tenant) {
    let side = side(&tenant);
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    ben.say(&tenant.main, "@ben @everyone mine").await;
    write(ada, ben, "@ben private messages have no tags").await;
    ada.say(&side, "@ben look").await;
    ada.say(&tenant.main, "@ben here").await;
    assert_eq!(mentions(ben).await, ["@ben here", "@ben look"]);
    assert_eq!(mentions(ada).await, ["@ben @everyone mine"]);
    let path = format!("/flows/{side}/users/{}", ben.id);
    let answer = ben.send(Method::DELETE, &path, &Json::Null).await;
    assert!(answer.status.is_success());
    assert_eq!(mentions(ben).await, ["@ben here"]);
}

async fn mentions_go_on_where_the_link_leads(tenant: Tenant) {
    let side = side(&tenant);
    for number in 0..20 {
        let flow = if number % 3 == 0 { &side } else { &tenant.main };
        tenant.ada.say(flow, &format!("@ben {number}")).await;
    }
    let expected: Vec<String> = (0..20)
        .rev()
        .map(|number| format!("@ben {number}"))
        .collect();
    assert_eq!(pages(&tenant.ben, "/mentions?limit=6").await, expected);
    // The typed client goes on in the same way.
    let mut wanted = ListMentions {
        limit: Some(13),
        ..ListMentions::default()
    };
    let first = tenant.ben.client.mentions(&wanted).await.unwrap();
    wanted.before = first.next;
    let second = tenant.ben.client.mentions(&wanted).await.unwrap();
    assert_eq!((first.messages.len(), second.messages.len()), (13, 7));
    assert_eq!(second.next, None);
    let wanted = SearchEverywhere {
        search: Some("19".to_owned()),
        ..SearchEverywhere::default()
    };
    let found = tenant.ben.client.search(&wanted).await.unwrap();
    assert_eq!(found.messages[0].content, "@ben 19");
}

async fn an_access_token_sees_what_its_scopes_cover(tenant: Tenant) {
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    ada.say(&tenant.main, "tea flow").await;
    write(ada, ben, "tea private").await;
    let robot = tenant.server().robot(&tenant.name, &[]);
    for (scope, expected) in [
        ("flow", &["tea flow"][..]),
        ("private", &["tea private"]),
        ("flow private", &["tea private", "tea flow"]),
    ] {
        let tokens = robot.by_password(ben, scope).await;
        let client = robot.with(&tokens["access_token"]);
        let found: Json = client
            .request(Method::GET, "/search?search=tea")
            .call()
            .await
            .unwrap();
        assert_eq!(texts(&found), expected, "{scope}");
    }
}

async fn a_search_has_html_where_it_is_asked_for(tenant: Tenant) {
    tenant.ben.say(&tenant.main, "tea <b>").await;
    let found = tenant.ben.get("/search?search=tea&html=1").await;
    assert_eq!(found[0]["html"], "tea &lt;b&gt;");
    assert!(tenant.ben.get("/search?search=tea").await[0]["html"].is_null());
}
