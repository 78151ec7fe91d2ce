//! Authlib, a client library of others and in another language: it finds out by itself how OAuth
//! works here, and gets along with it (`python_client.py`).

use eddyline_tests::{CALLBACK, PASSWORD, Python, Robot, Tenant, note_secret, on_shared_servers};
use serde_json::json;

on_shared_servers![
    authlib_gets_uses_refreshes_and_revokes_tokens_with_a_secret_in_the_header,
    authlib_gets_uses_refreshes_and_revokes_tokens_with_a_secret_in_the_body,
    authlib_gets_uses_refreshes_and_revokes_tokens_without_a_secret,
];

const SCRIPT: &str = include_str!("python_client.py");

/// Shows: 5.5
async fn authlib_gets_uses_refreshes_and_revokes_tokens_with_a_secret_in_the_header(
    tenant: Tenant,
) {
    drive(&tenant, "client_secret_basic", &[]).await;
}

/// Shows: 5.6
async fn authlib_gets_uses_refreshes_and_revokes_tokens_with_a_secret_in_the_body(tenant: Tenant) {
    drive(&tenant, "client_secret_post", &[]).await;
}

async fn authlib_gets_uses_refreshes_and_revokes_tokens_without_a_secret(tenant: Tenant) {
    drive(&tenant, "none", &["--public"]).await;
}

/// Lets the script do all it can as an application that shows itself in this way.
async fn drive(tenant: &Tenant, way: &str, options: &[&str]) {
    let Some(python) = Python::with("authlib", &["authlib", "requests"]) else {
        return;
    };
    let Robot {
        client_id,
        client_secret,
        ..
    } = tenant.server().robot(&tenant.name, options);
    let about = json!({
        "server": tenant.server().base_url(),
        "way": way,
        "client_id": client_id,
        "client_secret": client_secret,
        "redirect_uri": CALLBACK,
        "email": tenant.ben.email,
        "password": PASSWORD,
        "flow": tenant.main,
    });
    let secrets: Vec<String> = python.run(SCRIPT, &about).await;
    assert!(!secrets.is_empty());
    secrets.iter().for_each(|secret| note_secret(secret));
}
