//! What the service tells about itself (RFC 7643, sections 5 to 8; RFC 7644, section 4).

use serde_json::{Value, json};

/// What the service can do.
#[must_use]
pub fn service_provider_config(base: &str) -> Value {
    json!({ "meta": { "location": format!("{base}/ServiceProviderConfig") } })
}

/// The kinds of resources: users only.
#[must_use]
pub fn resource_types(_base: &str) -> Vec<Value> {
    Vec::new()
}

/// The schemas of resources.
#[must_use]
pub fn schemas(_base: &str) -> Vec<Value> {
    Vec::new()
}
