//! Groups of users (docs/protocol.md, Groups): making and showing them, mentioning them, and who is
//! in them.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Tenant};
use serde_json::json;

mod administration;
mod membership;
mod mentions;
mod names;

/// The path of the groups of the organization, and what follows it.
fn path(tenant: &Tenant, rest: &str) -> String {
    format!("/organizations/{}/groups{rest}", tenant.name)
}

/// Has the administrator make a group of these people, and gives it.
async fn group(tenant: &Tenant, name: &str, people: &[&Caller]) -> Json {
    let users: Vec<i64> = people.iter().map(|caller| caller.id).collect();
    let body = json!({"name": name, "users": users});
    let answer = tenant
        .ada
        .send(Method::POST, &path(tenant, ""), &body)
        .await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

/// The tag that mentions a group, and the marks of these people.
fn tags(name: &str, marked: &[&Caller]) -> Json {
    let mut ids: Vec<i64> = marked.iter().map(|caller| caller.id).collect();
    ids.sort_unstable();
    let marks = ids.iter().map(|id| format!(":unread:{id}"));
    json!(
        std::iter::once(format!(":user:{name}"))
            .chain(marks)
            .collect::<Vec<_>>()
    )
}

/// The tags of what a user says.
async fn said(caller: &Caller, tenant: &Tenant, text: &str) -> Json {
    caller.say(&tenant.main, text).await["tags"].clone()
}
