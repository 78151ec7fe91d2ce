//! Lists of what one user wrote, and of what was sent within some time (docs/protocol.md, Messages).

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use crate::around::{ids, list, sent};

on_shared_servers![
    a_list_has_what_a_user_wrote,
    a_search_is_narrowed_by_user_and_time,
    a_message_of_a_user_is_found_behind_many_of_others,
    times_are_bounds_of_any_list,
    all_rooms_are_searched_by_user_and_time,
    a_user_or_time_that_cannot_be_read_is_refused,
];

/// Three messages of Ada's among three of Ben's.
async fn talk(tenant: &Tenant) {
    for number in 1..=3 {
        tenant
            .ada
            .say(&tenant.main, &format!("tea {number} #hot"))
            .await;
        tenant.ben.say(&tenant.main, &format!("tea {number}")).await;
    }
}

async fn a_list_has_what_a_user_wrote(tenant: Tenant) {
    talk(&tenant).await;
    let (ada, ben) = (tenant.ada.id, tenant.ben.id);
    assert_eq!(list(&tenant, &format!("user={ada}")).await, [1, 3, 5]);
    assert_eq!(list(&tenant, &format!("user={ben}&limit=2")).await, [4, 6]);
    let oldest = format!("user={ben}&limit=2&sort=asc");
    assert_eq!(list(&tenant, &oldest).await, [2, 4]);
    let between = format!("user={ada}&since_id=1&until_id=5");
    assert_eq!(list(&tenant, &between).await, [3]);
    assert_eq!(list(&tenant, &format!("user={}", i64::MAX)).await, [0; 0]);
}

async fn a_search_is_narrowed_by_user_and_time(tenant: Tenant) {
    talk(&tenant).await;
    let (ada, third) = (tenant.ada.id, sent(&tenant, 3).await);
    let search = format!("search=tea&user={ada}");
    assert_eq!(list(&tenant, &search).await, [1, 3, 5]);
    assert_eq!(list(&tenant, &format!("{search}&limit=1")).await, [5]);
    assert_eq!(
        list(&tenant, &format!("tags=hot&user={}", tenant.ben.id)).await,
        [0; 0]
    );
    let found = list(&tenant, &format!("{search}&since_time={third}")).await;
    let later = [1, 3, 5].into_iter();
    let first = list(&tenant, &format!("around_time={third}&limit=1")).await[0];
    assert_eq!(found, later.filter(|id| *id >= first).collect::<Vec<_>>());
    let all = list(&tenant, &format!("tags=hot&until_time={third}")).await;
    let earlier = [1, 3, 5].into_iter();
    assert_eq!(all, earlier.filter(|id| *id < first).collect::<Vec<_>>());
}

async fn a_message_of_a_user_is_found_behind_many_of_others(tenant: Tenant) {
    tenant.ada.say(&tenant.main, "the first").await;
    let text = |number| format!("number {number}");
    tenant.ben.flood(&tenant.main, 600, text).await;
    let path = tenant.path(&format!("/messages?user={}&limit=1", tenant.ada.id));
    assert_eq!(ids(&tenant.ben.get(&path).await), [1]);
}

async fn times_are_bounds_of_any_list(tenant: Tenant) {
    talk(&tenant).await;
    let last = sent(&tenant, 6).await;
    assert_eq!(
        list(&tenant, &format!("since_time={}", last + 1)).await,
        [0; 0]
    );
    let all: Vec<i64> = (1..=6).collect();
    assert_eq!(
        list(&tenant, &format!("until_time={}", last + 1)).await,
        all
    );
    assert_eq!(list(&tenant, "since_time=0").await, all);
    assert_eq!(list(&tenant, "until_time=0").await, [0; 0]);
    let first = list(&tenant, &format!("around_time={last}&limit=1")).await[0];
    let since = list(&tenant, &format!("since_time={last}&sort=asc")).await;
    assert_eq!(since, (first..=6).collect::<Vec<_>>());
    // The parts of a list keep the bounds.
    let path = tenant.path(&format!(
        "/messages?since_time=0&until_time={}&limit=4",
        last + 1
    ));
    let answer = tenant.ben.send(Method::GET, &path, &Json::Null).await;
    let link = answer.header("link").unwrap();
    assert!(
        link.contains("since_time=0") && link.contains("until_time="),
        "{link}"
    );
}

async fn all_rooms_are_searched_by_user_and_time(tenant: Tenant) {
    talk(&tenant).await;
    let (ada, last) = (tenant.ada.id, sent(&tenant, 6).await);
    let search = async |query: &str| {
        let path = format!("/search?search=tea&{query}");
        ids(&tenant.ben.get(&path).await)
    };
    assert_eq!(search(&format!("user={ada}")).await, [5, 3, 1]);
    assert_eq!(
        search(&format!("user={ada}&since_time={}", last + 1)).await,
        [0; 0]
    );
    // A user alone is no search.
    let path = format!("/search?user={ada}");
    let refused = tenant.ben.send(Method::GET, &path, &Json::Null).await;
    assert_eq!(refused.status, 400);
    assert!(refused.json()["errors"]["search"].is_array());
}

async fn a_user_or_time_that_cannot_be_read_is_refused(tenant: Tenant) {
    for (name, value) in [
        ("user", "0"),
        ("user", "ada"),
        ("since_time", "-1"),
        ("until_time", "now"),
    ] {
        let path = tenant.path(&format!("/messages?{name}={value}"));
        let refused = tenant.ben.send(Method::GET, &path, &Json::Null).await;
        assert_eq!(refused.status, 400, "{name}={value}");
        let errors = json!(refused.json()["errors"]);
        assert!(errors[name][0].is_string(), "{errors}");
    }
}
