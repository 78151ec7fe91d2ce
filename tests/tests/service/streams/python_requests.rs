//! Requests, the client library of most scripts in Python: it reads a stream in blocks and must not
//! wait for a block to be full (`python_requests.py`).

use eddyline_tests::{Python, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![each_event_is_heard_when_it_comes];

async fn each_event_is_heard_when_it_comes(tenant: Tenant) {
    let Some(python) = Python::with("authlib", &["requests"]) else {
        return;
    };
    let about = json!({
        "stream": format!("{}/flows/{}", tenant.server().stream_url(), tenant.main),
        "messages": format!("{}{}", tenant.server().base_url(), tenant.path("/messages")),
        "token": tenant.ben.token,
    });
    let heard: Vec<bool> = python.run(include_str!("python_requests.py"), &about).await;
    assert_eq!(heard, [true; 12]);
}
