//! Identity providers: what they see and change of an organization's users and groups.

use eddyline_client::{Json, Method, RawResponse};
use eddyline_tests::Provider;
use serde_json::json;

mod addresses;
mod audit;
mod create;
mod domains;
mod ends;
mod entra;
mod filters;
mod groups;
mod guessing;
mod nodes;
mod okta;
mod operators;
mod patches;
mod plain;
mod remove;
mod resource;
mod shared;
mod tester;
mod update;

const USER_SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP_SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH_SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const ERROR_SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:Error";
const LIST_SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:ListResponse";

/// The body of a PATCH.
fn operations(operations: &Json) -> Json {
    json!({"schemas": [PATCH_SCHEMA], "Operations": operations})
}

/// Where a user is, below the provider's address.
fn at(user: &Json) -> String {
    match user["id"].as_str() {
        Some(id) => format!("/Users/{id}"),
        None => format!("/Users/{}", user["id"]),
    }
}

/// Changes a user by PATCH, which must work.
async fn patched(provider: &Provider, user: &Json, changes: Json) -> Json {
    let answer = provider
        .scim(Method::PATCH, &at(user), Some(&operations(&changes)))
        .await;
    assert_eq!(answer.status, 200, "{changes}: {}", answer.text());
    answer.json()
}

/// That an answer is a refusal in SCIM's shape, with this status and `scimType`.
#[track_caller]
fn is_refused(answer: &RawResponse, status: u16, scim_type: Option<&str>) {
    let told = answer.json();
    assert_eq!(answer.status.as_u16(), status, "{told}");
    assert_eq!(
        answer.header("content-type"),
        Some("application/scim+json; charset=utf-8")
    );
    assert_eq!(told["schemas"], json!([ERROR_SCHEMA]), "{told}");
    assert_eq!(told["status"], status.to_string(), "{told}");
    assert_eq!(told["scimType"].as_str(), scim_type, "{told}");
    assert!(!told["detail"].as_str().unwrap().is_empty());
}
