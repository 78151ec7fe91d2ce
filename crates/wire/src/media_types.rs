//! The media types that requests and answers have (RFC 9110, section 8.3).

/// JSON (RFC 8259).
pub const JSON: &str = "application/json";
/// A form without parts, as the URL standard writes it.
pub const FORM: &str = "application/x-www-form-urlencoded";
/// A form with parts (RFC 7578).
pub const MULTIPART: &str = "multipart/form-data";
/// SCIM's JSON (RFC 7644, section 3.1).
pub const SCIM_JSON: &str = "application/scim+json";
/// Server-sent events (HTML standard, section 9.2).
pub const EVENT_STREAM: &str = "text/event-stream";
/// Bytes of any kind.
pub const OCTETS: &str = "application/octet-stream";
