//! Full text search (specification, section 4, and docs/protocol.md).

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    all_words_must_be_there,
    a_word_finds_what_begins_with_it_and_case_does_not_matter,
    a_phrase_and_words_without_white_space_are_found_together,
    the_list_of_a_phrase_goes_on,
    accents_do_not_matter,
    every_script_is_searched,
    emoji_are_words,
    code_and_links_are_found_by_their_parts_and_as_a_whole,
    the_newest_are_found_first,
    since_and_until_do_not_count_in_a_search,
    a_search_stays_in_its_room,
    nothing_searchable_finds_nothing,
    what_is_no_word_is_no_syntax_either,
    an_edit_is_found_by_its_new_words_only,
    what_was_deleted_is_not_found,
    comments_and_statuses_are_found,
    a_search_has_at_most_twenty_words,
];

async fn search(tenant: &Tenant, words: &str) -> Vec<i64> {
    search_with(tenant, words, &[]).await
}

async fn search_with(tenant: &Tenant, words: &str, more: &[(&str, &str)]) -> Vec<i64> {
    let request = tenant
        .ben
        .client
        .request(Method::GET, &tenant.path("/messages"))
        .query("search", words);
    let request = more
        .iter()
        .fold(request, |request, (name, value)| request.query(name, value));
    let found: Json = request.call().await.unwrap();
    found
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["id"].as_i64().unwrap())
        .collect()
}

/// Shows: 4.26
async fn a_search_has_at_most_twenty_words(tenant: Tenant) {
    let words = |count: usize| {
        (1..=count)
            .map(|n| format!("w{n}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let han = |count: u32| {
        (0..count)
            .filter_map(|n| char::from_u32(0x4e00 + n))
            .collect::<String>()
    };
    say_all(&tenant, &[&words(21), &han(22)]).await;
    assert_eq!(search(&tenant, &words(20)).await, [1]);
    // Text without spaces counts as one, however long it is.
    assert_eq!(search(&tenant, &han(22)).await, [2]);
    let again = format!("{} W1 w20", words(20));
    assert_eq!(search(&tenant, &again).await, [1], "a word counts once");
    let apart = (0..21).map(|_| han(2)).collect::<Vec<_>>().join(" ");
    for text in [words(21), apart] {
        let request = tenant
            .ben
            .client
            .request(Method::GET, &tenant.path("/messages"));
        let answer = request.query("search", &text).send().await.unwrap();
        assert_eq!(answer.status, 400, "{text}");
        assert!(
            answer.json()["errors"]["search"].is_array(),
            "{}",
            answer.text()
        );
    }
}

async fn say_all(tenant: &Tenant, texts: &[&str]) {
    for text in texts {
        tenant.ben.say(&tenant.main, text).await;
    }
}

/// Shows: 4.26
async fn all_words_must_be_there(tenant: Tenant) {
    say_all(
        &tenant,
        &["red green", "green blue", "blue red green", "nothing"],
    )
    .await;
    assert_eq!(search(&tenant, "green").await, [1, 2, 3]);
    assert_eq!(search(&tenant, "red green").await, [1, 3]);
    assert_eq!(search(&tenant, " green   red\tblue ").await, [3]);
    assert!(search(&tenant, "red yellow").await.is_empty());
}

/// Shows: 4.26
async fn a_word_finds_what_begins_with_it_and_case_does_not_matter(tenant: Tenant) {
    say_all(&tenant, &["Deployment finished", "deploy FINISHED", "10"]).await;
    assert_eq!(search(&tenant, "deploy").await, [1, 2]);
    assert_eq!(search(&tenant, "\"deploy\"").await, [2]);
    assert_eq!(search(&tenant, "deploy*").await, [1, 2]);
    assert_eq!(search(&tenant, "DEPLOYMENT").await, [1]);
    assert_eq!(search(&tenant, "Finished").await, [1, 2]);
    assert_eq!(
        search(&tenant, "de").await,
        [0; 0],
        "too short to begin a word"
    );
    assert_eq!(search(&tenant, "1").await, [0; 0], "another number");
}

async fn a_phrase_and_words_without_white_space_are_found_together(tenant: Tenant) {
    say_all(
        &tenant,
        &[
            "saw a blue whale swim",
            "the whale was so blue",
            "we use C++ there",
            "vitamin C is healthy",
            "release version 10.4.2 out",
            "release 2.10 and 4 items",
            "the sign-in page",
            "今日は良い天気です",
        ],
    )
    .await;
    for (text, ids) in [
        ("\"blue whale\"", &[1][..]),
        ("“Blue Whale” swim", &[1]),
        ("blue whale", &[1, 2]),
        ("C++", &[3]),
        ("c", &[3, 4]),
        ("10.4.2", &[5]),
        ("sign-in", &[7]),
        ("\"sign in\"", &[7]),
        ("良い天気", &[8]),
        ("天気良い", &[]),
    ] {
        assert_eq!(search(&tenant, text).await, ids, "{text}");
    }
}

async fn the_list_of_a_phrase_goes_on(tenant: Tenant) {
    let texts = (1..=9).map(|n| match n % 3 {
        0 => format!("red tea {n}"),
        _ => format!("tea red {n}"),
    });
    let texts: Vec<String> = texts.collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    say_all(&tenant, &texts).await;
    let part = async |more: &[(&str, &str)]| search_with(&tenant, "\"red tea\"", more).await;
    assert_eq!(part(&[("limit", "2")]).await, [6, 9]);
    assert_eq!(part(&[("limit", "2"), ("beyond_id", "6")]).await, [3]);
    assert_eq!(part(&[("limit", "2"), ("skip", "1")]).await, [3, 6]);
    assert_eq!(part(&[("limit", "1"), ("sort", "asc")]).await, [3]);
}

async fn accents_do_not_matter(tenant: Tenant) {
    say_all(
        &tenant,
        &[
            "Crème brûlée im Café",
            "Creme brulee im Cafe",
            "Cafe\u{301}",
            "ÅNGSTRÖM",
        ],
    )
    .await;
    assert_eq!(search(&tenant, "café").await, [1, 2, 3]);
    assert_eq!(search(&tenant, "cafe").await, [1, 2, 3]);
    assert_eq!(search(&tenant, "crème brulée").await, [1, 2]);
    assert_eq!(search(&tenant, "ångström").await, [4]);
    assert_eq!(search(&tenant, "angstrom").await, [4]);
}

async fn every_script_is_searched(tenant: Tenant) {
    say_all(
        &tenant,
        &[
            "привет мир",
            "γειά σου Κόσμε",
            "今日は良い天気です",
            "שלום עולם",
            "안녕하세요 세계",
        ],
    )
    .await;
    assert_eq!(search(&tenant, "МИР").await, [1]);
    assert_eq!(search(&tenant, "κοσμε").await, [2]);
    assert_eq!(search(&tenant, "天気").await, [3]);
    assert_eq!(search(&tenant, "今日").await, [3]);
    assert!(search(&tenant, "気天").await.is_empty());
    assert_eq!(search(&tenant, "שלום").await, [4]);
    assert_eq!(search(&tenant, "세계").await, [5]);
}

async fn emoji_are_words(tenant: Tenant) {
    say_all(&tenant, &["shipped 🚀", "shipped", "🚀🎉 twice"]).await;
    assert_eq!(search(&tenant, "🚀").await, [1, 3]);
    assert_eq!(search(&tenant, "shipped 🚀").await, [1]);
    assert_eq!(search(&tenant, "🎉").await, [3]);
}

async fn code_and_links_are_found_by_their_parts_and_as_a_whole(tenant: Tenant) {
    say_all(
        &tenant,
        &[
            "foo_bar::baz panicked",
            "foo bar baz",
            "see https://example.org/wiki/Page?id=42#top",
            "C++ and node.js v1.2.3",
        ],
    )
    .await;
    assert!(search(&tenant, "foo_bar::baz").await.contains(&1));
    assert!(search(&tenant, "foo_bar").await.contains(&1));
    assert!(search(&tenant, "baz").await.starts_with(&[1]));
    assert_eq!(
        search(&tenant, "https://example.org/wiki/Page?id=42#top").await,
        [3]
    );
    assert_eq!(search(&tenant, "example.org").await, [3]);
    assert_eq!(search(&tenant, "wiki").await, [3]);
    assert_eq!(search(&tenant, "node.js").await, [4]);
    assert_eq!(search(&tenant, "v1.2.3").await, [4]);
}

async fn the_newest_are_found_first(tenant: Tenant) {
    say_all(&tenant, &["tea", "coffee", "tea", "tea", "coffee", "tea"]).await;
    assert_eq!(search_with(&tenant, "tea", &[("limit", "2")]).await, [4, 6]);
    assert_eq!(
        search_with(&tenant, "tea", &[("limit", "2"), ("skip", "2")]).await,
        [1, 3]
    );
    assert_eq!(
        search_with(&tenant, "tea", &[("limit", "2"), ("skip", "1")]).await,
        [3, 4]
    );
    assert_eq!(
        search_with(&tenant, "tea", &[("limit", "2"), ("sort", "asc")]).await,
        [1, 3]
    );
    assert!(
        search_with(&tenant, "tea", &[("skip", "4")])
            .await
            .is_empty()
    );
}

/// Shows: 4.26
async fn since_and_until_do_not_count_in_a_search(tenant: Tenant) {
    say_all(&tenant, &["tea", "tea", "tea"]).await;
    assert_eq!(
        search_with(&tenant, "tea", &[("since_id", "2")]).await,
        [1, 2, 3]
    );
    assert_eq!(
        search_with(&tenant, "tea", &[("until_id", "2")]).await,
        [1, 2, 3]
    );
    // An empty search is none.
    assert_eq!(search_with(&tenant, "", &[("since_id", "2")]).await, [3]);
}

async fn a_search_stays_in_its_room(tenant: Tenant) {
    tenant.flow("side", &[&tenant.ben]);
    tenant
        .ben
        .say(&format!("{}/side", tenant.name), "secret tea")
        .await;
    let neighbour = tenant.neighbour();
    neighbour.ben.say(&neighbour.main, "secret tea").await;
    assert!(search(&tenant, "tea").await.is_empty());
    assert_eq!(search(&neighbour, "tea").await, [1]);
}

async fn nothing_searchable_finds_nothing(tenant: Tenant) {
    say_all(&tenant, &["tea", "!!! ???", "-"]).await;
    for words in ["!!!", "-", " ", "???", "\"", "()"] {
        assert!(search(&tenant, words).await.is_empty(), "{words:?}");
    }
}

async fn what_is_no_word_is_no_syntax_either(tenant: Tenant) {
    say_all(&tenant, &["tea and scones", "tea or coffee", "not tea"]).await;
    assert_eq!(search(&tenant, "tea OR scones").await, Vec::<i64>::new());
    assert_eq!(search(&tenant, "tea AND scones").await, [1]);
    assert_eq!(search(&tenant, "NOT tea").await, [3]);
    assert_eq!(search(&tenant, "\"tea\"").await, [1, 2, 3]);
    assert_eq!(search(&tenant, "te*").await, Vec::<i64>::new());
    assert_eq!(search(&tenant, "-tea").await, [1, 2, 3]);
    assert_eq!(search(&tenant, "content:tea").await, Vec::<i64>::new());
    assert_eq!(
        search(&tenant, "tea'; DROP TABLE messages; --").await,
        Vec::<i64>::new()
    );
    assert_eq!(
        search(&tenant, "(tea & !scones) | x:*").await,
        Vec::<i64>::new()
    );
    assert_eq!(search(&tenant, "%").await, Vec::<i64>::new());
}

async fn an_edit_is_found_by_its_new_words_only(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "old wording").await;
    tenant
        .ben
        .does(
            Method::PUT,
            &tenant.message_path(&message),
            &json!({"content": "new wording"}),
        )
        .await;
    assert!(search(&tenant, "old").await.is_empty());
    assert_eq!(search(&tenant, "new wording").await, [1]);
    // Tags alone leave the words as they are.
    tenant
        .ben
        .does(
            Method::PUT,
            &tenant.message_path(&message),
            &json!({"tags": ["x"]}),
        )
        .await;
    assert_eq!(search(&tenant, "new wording").await, [1]);
}

async fn what_was_deleted_is_not_found(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "regrettable").await;
    assert_eq!(search(&tenant, "regrettable").await, [1]);
    tenant
        .ben
        .client
        .request(Method::DELETE, &tenant.message_path(&message))
        .done()
        .await
        .unwrap();
    assert!(search(&tenant, "regrettable").await.is_empty());
}

async fn comments_and_statuses_are_found(tenant: Tenant) {
    let parent = tenant.ben.say(&tenant.main, "Lunch?").await;
    let path = format!("{}/comments", tenant.message_path(&parent));
    tenant
        .ben
        .does(Method::POST, &path, &json!({"content": "pizza please"}))
        .await;
    tenant
        .ben
        .post(
            &tenant.main,
            &json!({"event": "status", "content": "eating pizza"}),
        )
        .await;
    assert_eq!(search(&tenant, "pizza").await, [2, 3]);
    assert_eq!(
        search(&tenant, "lunch").await,
        [1],
        "the parent's text is its own"
    );
    assert_eq!(
        search_with(&tenant, "pizza", &[("event", "comment")]).await,
        [2]
    );
}
