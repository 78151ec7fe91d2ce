//! Reading all threads page by page: each is there once.

use eddyline_client::{Client, Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;
use tokio::task::JoinSet;

use crate::integrations::{Source, activity, push};

on_shared_servers![
    the_pages_have_each_thread_once,
    threads_that_changed_in_one_moment_are_shown_once_each,
    a_page_that_is_not_full_is_the_last,
    the_link_asks_what_was_asked,
];

/// All pages from this path on, each as long as the server makes it.
pub(crate) async fn pages(client: &Client, path: &str) -> Vec<Vec<Json>> {
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
        next = answer.header("link").map(|link| {
            let (address, relation) = link.strip_prefix('<').unwrap().split_once('>').unwrap();
            assert_eq!(relation, "; rel=\"next\"");
            assert!(address.contains("until="), "{address}");
            address.strip_prefix(client.base_url()).unwrap().to_owned()
        });
        pages.push(answer.json().as_array().unwrap().clone());
    }
    pages
}

fn times(threads: &[Json]) -> Vec<&str> {
    threads
        .iter()
        .map(|thread| thread["updated_at"].as_str().unwrap())
        .collect()
}

/// Shows: 4.36
async fn the_pages_have_each_thread_once(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let mut begun = Vec::new();
    for number in 0..25 {
        let message = match number % 3 {
            0 => tenant.ben.say(&tenant.main, "hello").await,
            _ => source.push(&activity(&number.to_string(), "opened")).await,
        };
        begun.push(message["thread_id"].as_str().unwrap().to_owned());
    }
    begun.sort();
    for limit in [1, 4, 25, 26] {
        let path = tenant.path(&format!("/threads?empty=1&limit={limit}"));
        let shown: Vec<Json> = pages(&tenant.ben.client, &path).await.concat();
        assert!(
            times(&shown).is_sorted_by(|one, next| one >= next),
            "{:?}",
            times(&shown)
        );
        let mut ids: Vec<_> = shown
            .iter()
            .map(|thread| thread["id"].as_str().unwrap())
            .collect();
        ids.sort_unstable();
        assert_eq!(ids, begun, "in pages of {limit}");
    }
}

/// Shows: 4.36
async fn threads_that_changed_in_one_moment_are_shown_once_each(tenant: Tenant) {
    const THREADS: usize = 120;
    let source = Source::new(&tenant).await;
    let mut posting = JoinSet::new();
    for number in 0..THREADS {
        // The batches of the server have one time for many of them.
        posting.spawn(push(
            &source.client,
            &activity(&number.to_string(), "opened"),
        ));
    }
    posting.join_all().await;
    for question in ["application=inbox&limit=7", "limit=100", "limit=1"] {
        let shown = pages(
            &tenant.ben.client,
            &tenant.path(&format!("/threads?{question}")),
        )
        .await
        .concat();
        let mut ids: Vec<_> = shown
            .iter()
            .map(|thread| thread["id"].to_string())
            .collect();
        assert_eq!(ids.len(), THREADS, "{question}");
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), THREADS, "{question}");
    }
}

async fn a_page_that_is_not_full_is_the_last(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    for number in 0..31 {
        source.push(&activity(&number.to_string(), "opened")).await;
    }
    let lengths = async |question: &str| -> Vec<usize> {
        let path = tenant.path(&format!("/threads{question}"));
        pages(&tenant.ben.client, &path)
            .await
            .iter()
            .map(Vec::len)
            .collect()
    };
    assert_eq!(
        lengths("").await,
        [30, 1],
        "thirty unless more are asked for"
    );
    assert_eq!(lengths("?limit=100").await, [31]);
    assert_eq!(lengths("?limit=31").await, [31, 0]);
    assert_eq!(lengths("?application=chat").await, [0]);
}

/// Shows: 4.36
async fn the_link_asks_what_was_asked(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let source = Source::of(&robot, &tenant.ben, &tenant.main, "Tickets").await;
    let other = Source::new(&tenant).await;
    let first = source.push(&activity("0", "opened")).await;
    for number in 1..=6 {
        source.push(&activity(&number.to_string(), "opened")).await;
        other.push(&activity(&number.to_string(), "opened")).await;
        tenant.ben.say(&tenant.main, "hello").await;
    }
    let since = first["thread"]["updated_at"].as_str().unwrap();
    let all = tenant
        .ben
        .get(&tenant.path(&format!("/threads?application={}&limit=100", robot.id)))
        .await;
    let expected: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .filter(|thread| thread["updated_at"].as_str().unwrap() > since)
        .collect();
    let path = tenant.path(&format!(
        "/threads?application={}&since={since}&limit=2",
        robot.id
    ));
    // With whatever credentials: they are not part of the link.
    for client in [&tenant.ben.client, &tenant.ben.by_password()] {
        assert_eq!(json!(pages(client, &path).await.concat()), json!(expected));
    }
    let empty = tenant.path("/threads?application=chat&empty=1&limit=4");
    assert_eq!(pages(&tenant.ben.client, &empty).await.concat().len(), 6);
}
