//! Private conversations and their messages (specification, sections 2 to 4).

use eddyline_client::{Json, Method, RawResponse, StreamRequest};
use eddyline_tests::{Caller, Listener, Tenant};
use serde_json::{Value, json};

mod classic;
mod conversations;
mod files;
mod messages;
mod rights;
mod streams;

fn path(with: &Caller) -> String {
    format!("/private/{}", with.id)
}

fn messages(with: &Caller) -> String {
    format!("/private/{}/messages", with.id)
}

async fn write(from: &Caller, to: &Caller, text: &str) -> RawResponse {
    from.send(
        Method::POST,
        &messages(to),
        &json!({"event": "message", "content": text}),
    )
    .await
}

async fn write_all(from: &Caller, to: &Caller, texts: &[&str]) {
    for text in texts {
        write(from, to, text).await.success().unwrap();
    }
}

async fn status(caller: &Caller, method: Method, path: &str, body: Json) -> u16 {
    caller.send(method, path, &body).await.status.as_u16()
}

async fn listed(caller: &Caller, with: &Caller, query: &str) -> Vec<i64> {
    let found = caller.get(&format!("{}{query}", messages(with))).await;
    found
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["id"].as_i64().unwrap())
        .collect()
}

async fn unread(caller: &Caller, with: &Caller) -> Value {
    caller.get(&path(with)).await["activity"]["mentions"].clone()
}

async fn own_stream(caller: &Caller) -> Listener {
    Listener::open(&caller.client, &StreamRequest::new().user()).await
}

/// Takes somebody out of the tenant's organization.
async fn remove(tenant: &Tenant, who: &Caller) {
    let path = format!("/organizations/{}/users/{}", tenant.name, who.id);
    tenant.ada.does(Method::DELETE, &path, &Json::Null).await;
}
