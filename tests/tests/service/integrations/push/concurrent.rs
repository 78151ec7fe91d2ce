//! Many who push at once: each message shows its thread as that message left it, in one order for
//! everybody.

use std::collections::BTreeMap;

use eddyline_client::Json;
use eddyline_tests::{Backend, Caller, Listener, Server, Tenant, on_shared_servers, run};
use serde_json::json;
use tokio::task::JoinSet;

use crate::integrations::{Source, push};

on_shared_servers![
    messages_pushed_at_once_count_up_one_by_one,
    threads_begun_by_many_at_once_are_one_each,
];

const CONNECTIONS: usize = 16;

/// Pushes this many updates of threads with these ids, over many connections, and gives the
/// answers.
async fn flood(clients: &[eddyline_client::Client], count: usize, threads: usize) -> Vec<Json> {
    let mut posting = JoinSet::new();
    let mut answers = Vec::new();
    for number in 0..count {
        if posting.len() == CONNECTIONS {
            answers.push(posting.join_next().await.unwrap().unwrap());
        }
        let message = json!({
            "event": if number % 4 == 3 { "discussion" } else { "activity" },
            "title": format!("{number}"), "external_thread_id": format!("{}", number % threads),
            "thread": {"title": format!("{number}"), "status": {"value": format!("{number}")}},
        });
        posting.spawn(push(&clients[number % clients.len()], &message));
    }
    answers.extend(posting.join_all().await);
    answers
}

/// Checks that each message shows its thread with itself counted and in its own state, the number
/// of messages growing by one from each message of a thread to the next.
fn each_shows_its_thread_as_it_left_it<'a>(messages: impl Iterator<Item = &'a Json>) {
    let mut counts: BTreeMap<&str, [i64; 2]> = BTreeMap::new();
    for message in messages {
        let thread = &message["thread"];
        let count = counts
            .entry(message["thread_id"].as_str().unwrap())
            .or_default();
        count[usize::from(message["event"] == "discussion")] += 1;
        let shown = ["activities", "external_comments"].map(|name| thread[name].as_i64().unwrap());
        assert_eq!(shown, *count, "{message}");
        assert_eq!(thread["title"], message["title"]);
        assert_eq!(thread["status"]["value"], message["title"]);
    }
}

/// Streams tell each message as it was posted, with the counts that it left its thread with,
/// whichever server tells it, and whatever was posted since. The item of the thread is in the state
/// that the message brought, or in a newer one: a state that was replaced is not told to those who
/// hear of it late.
fn tells_the_same(heard: &[Json], posted: &[Json]) {
    for (number, (heard, left)) in heard.iter().zip(posted).enumerate() {
        for (name, value) in left
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| *name != "thread")
        {
            assert_eq!(&heard[name], value, "{name}");
        }
        for name in [
            "id",
            "activities",
            "external_comments",
            "internal_comments",
            "updated_at",
        ] {
            assert_eq!(heard["thread"][name], left["thread"][name], "{name}");
        }
        let mut since = posted[number..]
            .iter()
            .filter(|message| message["thread_id"] == left["thread_id"]);
        assert!(
            since.any(|message| message["thread"]["title"] == heard["thread"]["title"]),
            "{heard}"
        );
    }
}

/// Shows: 2.31, 6.5
async fn messages_pushed_at_once_count_up_one_by_one(tenant: Tenant) {
    const COUNT: usize = 300;
    let source = Source::new(&tenant).await;
    let mut stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let mut answers = flood(&[source.client], COUNT, 3).await;
    answers.sort_by_key(|message| message["id"].as_i64());
    each_shows_its_thread_as_it_left_it(answers.iter());
    let mut heard = Vec::new();
    while heard.len() < COUNT {
        heard.push(stream.json().await);
    }
    tells_the_same(&heard, &answers);
    // Who looks later finds each thread as its last message left it.
    for message in tenant
        .ben
        .get(&tenant.path("/messages?limit=100"))
        .await
        .as_array()
        .unwrap()
    {
        let last = heard
            .iter()
            .rfind(|heard| heard["thread_id"] == message["thread_id"])
            .unwrap();
        assert_eq!(message["thread"], last["thread"]);
    }
}

/// Shows: 4.24
async fn threads_begun_by_many_at_once_are_one_each(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let one = Source::of(&robot, &tenant.ben, &tenant.main, "one").await;
    let two = Source::of(&robot, &tenant.ben, &tenant.main, "two").await;
    // Seven ids and two sources that take turns: fourteen threads.
    let mut answers = flood(&[one.client, two.client], 140, 7).await;
    answers.sort_by_key(|message| message["id"].as_i64());
    let threads = answers
        .iter()
        .fold(BTreeMap::<_, u32>::new(), |mut threads, message| {
            *threads
                .entry(message["thread_id"].as_str().unwrap())
                .or_default() += 1;
            threads
        });
    assert_eq!(threads.into_values().collect::<Vec<_>>(), [10; 14]);
    each_shows_its_thread_as_it_left_it(answers.iter());
}

mod one_thread_pushed_to_on_two_servers_has_one_order {
    #[test]
    fn postgres() {
        super::run(super::Backend::Postgres, &[], async |one| {
            let other = one.another_node("node-2", &[]);
            super::one_thread_pushed_to_on_two_servers_has_one_order(one, other).await;
        });
    }
}

/// The next message of the inbox: the other server may read of the new source after the stream began.
async fn next_pushed(stream: &mut Listener) -> Json {
    loop {
        let heard = stream.json().await;
        if heard["app"] == "influx" {
            return heard;
        }
    }
}

/// Shows: 6.5
async fn one_thread_pushed_to_on_two_servers_has_one_order(one: Server, other: Server) {
    const COUNT: usize = 200;
    let acme = one.acme();
    let robot = one.robot("acme", &[]);
    let source = Source::of(&robot, &acme.ben, "acme/main", "Tickets").await;
    let there = other.client().flow_token(&source.token).build().unwrap();
    let at_other = other.client().api_token(&acme.ada.token).build().unwrap();
    let mut here_stream = Listener::to(&acme.ben.client, &["acme/main"]).await;
    let mut there_stream = Listener::to(&at_other, &["acme/main"]).await;
    let mut answers = flood(&[source.client.clone(), there], COUNT, 2).await;
    answers.sort_by_key(|message| message["id"].as_i64());
    each_shows_its_thread_as_it_left_it(answers.iter());
    let (mut heard, mut heard_there) = (Vec::new(), Vec::new());
    while heard.len() < COUNT {
        heard.push(next_pushed(&mut here_stream).await);
        heard_there.push(next_pushed(&mut there_stream).await);
    }
    tells_the_same(&heard, &answers);
    tells_the_same(&heard_there, &answers);
    let threads = |caller: &Caller| {
        let client = caller.client.clone();
        async move {
            let request = client.request(eddyline_client::Method::GET, "/flows/acme/main/threads");
            request.call::<Json>().await.unwrap()
        }
    };
    let shown = threads(&acme.ben).await;
    for thread in shown.as_array().unwrap() {
        let last = heard
            .iter()
            .rfind(|message| message["thread_id"] == thread["id"])
            .unwrap();
        assert_eq!(*thread, last["thread"]);
    }
    assert_eq!(shown.as_array().unwrap().len(), 2);
    let mut ada = acme.ada;
    ada.client = at_other;
    assert_eq!(threads(&ada).await, shown);
}
