//! The table.

use std::sync::atomic::{AtomicU32, Ordering};

use eddyline_client::Json;
use serde_json::json;

use super::cast::Stage;

/// What a request sends.
pub(crate) enum Body {
    /// Nothing.
    None,
    /// Parameters.
    Json(Json),
    /// Bytes of a kind.
    Raw(&'static str, Vec<u8>),
    /// Nothing, and what is answered does not end.
    Stream,
}

/// An endpoint, and what it answers to each kind of caller.
pub(crate) struct Row {
    /// Method and path, as the server describes them.
    pub(crate) endpoint: &'static str,
    /// Whether `{user}` is somebody who has only just come, rather than the owner.
    pub(crate) expendable: bool,
    pub(crate) body: fn(&Stage<'_>) -> Body,
    /// The status for each caller, in the order of [`super::cast::CALLERS`].
    pub(crate) expected: &'static str,
}

const fn row(endpoint: &'static str, body: fn(&Stage<'_>) -> Body, expected: &'static str) -> Row {
    Row {
        endpoint,
        expendable: false,
        body,
        expected,
    }
}

fn none(_: &Stage<'_>) -> Body {
    Body::None
}

fn chat(_: &Stage<'_>) -> Body {
    Body::Json(json!({"event": "message", "content": "hello"}))
}

fn mail(_: &Stage<'_>) -> Body {
    Body::Json(
        json!({"source": "x", "from_address": "x@x.example", "subject": "x", "content": "x"}),
    )
}

fn picture(_: &Stage<'_>) -> Body {
    Body::Raw("image/png", PIXEL.to_vec())
}

/// A PNG picture of one point.
const PIXEL: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, b'I', b'D', b'A', b'T',
    0x78, 0xda, 0x63, 0x64, 0xf8, 0xcf, 0x50, 0x0f, 0, 0x03, 0x86, 0x01, 0x80, 0x5a, 0x34, 0x7d,
    0x6b, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

const EVERYBODY: &str = "200 200 200 200 200 200 200 200 200 200";
const NOBODY: &str = "401 401 401 401 401 401 401 401 401 401";
/// Wrong credentials, except where none stand in the header.
const NO_PROVIDER: &str = "403 403 403 403 403 403 403 403 401 401";
const USERS: &str = "200 200 200 200 200 200 200 200 403 401";
const MEMBERS: &str = "200 200 403 403 200 403 404 404 403 401";
const WHO_SEES_THE_FLOW: &str = "200 200 403 403 200 200 404 404 403 401";
const WHO_POSTS: &str = "202 202 403 403 202 403 404 404 202 401";
const WHO_GETS_A_LINK: &str = "302 302 403 403 302 403 404 404 403 401";
const ORGANIZATION: &str = "200 200 200 200 200 200 404 404 403 401";
const ADMINISTRATORS: &str = "403 403 403 403 200 200 404 404 403 401";

/// A name that no group and no user has.
pub(super) fn unused_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    format!("group{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Who may do what. The columns are owner, member, outsider, blocked, administrator, outside
/// administrator, guest, stranger, flow token, nobody.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    row("GET /flows", none, USERS),
    row("GET /flows/all", none, USERS),
    row("GET /flows/find", |stage| Body::Json(json!({"id": stage.flow_id})), WHO_SEES_THE_FLOW),
    row("GET /flows/{organization}/{flow}", none, WHO_SEES_THE_FLOW),
    row("POST /flows/{organization}", |_| Body::Json(json!({"name": "New"})), "201 201 201 201 201 201 404 404 403 401"),
    row("PUT /flows/{organization}/{flow}", |_| Body::Json(json!({"name": "Main"})), "403 403 403 403 200 200 404 404 403 401"),
    row("POST /flows/{organization}/{flow}/join_url", none, "403 403 403 403 200 200 404 404 403 401"),
    row("PUT /flows/{organization}/{flow}/read", |_| Body::Json(json!({"message": 1})), MEMBERS),

    row("GET /flows/{organization}/{flow}/notifications", none, MEMBERS),
    row("PUT /flows/{organization}/{flow}/notifications", |_| Body::Json(json!({"level": "all"})), MEMBERS),
    row("PUT /tabs", |stage| Body::Json(json!({"flows": [stage.flow_id]})), MEMBERS),

    row("POST /messages", |stage| {
        Body::Json(json!({"flow": stage.flow_id, "event": "message", "content": "hello"}))
    }, WHO_POSTS),
    row("POST /comments", |stage| {
        Body::Json(json!({"flow": stage.flow_id, "message": 1, "event": "comment", "content": "hello"}))
    }, WHO_POSTS),
    // Each caller sees what they read, which may be nothing.
    row("GET /search", |_| Body::Json(json!({"search": "hello"})), USERS),
    row("GET /mentions", none, USERS),
    row("GET /flows/{organization}/{flow}/messages", none, MEMBERS),
    row("POST /flows/{organization}/{flow}/messages", chat, WHO_POSTS),
    row("GET /flows/{organization}/{flow}/messages/{message}", none, MEMBERS),
    row("PUT /flows/{organization}/{flow}/messages/{message}", |_| Body::Json(json!({"content": "new"})), "200 403 403 403 403 403 404 404 403 401"),
    row("DELETE /flows/{organization}/{flow}/messages/{message}", none, "200 403 403 403 403 403 404 404 403 401"),
    row("PUT /flows/{organization}/{flow}/messages/{message}/reactions/{emoji}", none, MEMBERS),
    row("DELETE /flows/{organization}/{flow}/messages/{message}/reactions/{emoji}", none, "204 204 403 403 204 403 404 404 403 401"),
    row("GET /flows/{organization}/{flow}/messages/{message}/comments", none, MEMBERS),
    row("POST /flows/{organization}/{flow}/messages/{message}/comments", |_| Body::Json(json!({"content": "hello"})), WHO_POSTS),
    row("GET /flows/{organization}/{flow}/threads/{thread}/messages", none, MEMBERS),
    row("POST /flows/{organization}/{flow}/threads/{thread}/messages", chat, WHO_POSTS),
    row("GET /flows/{organization}/{flow}/threads", none, MEMBERS),
    row("GET /flows/{organization}/{flow}/threads/{thread}", none, MEMBERS),
    row("PUT /flows/{organization}/{flow}/threads/{thread}/read", |_| Body::Json(json!({"message": 1})), MEMBERS),

    // The token in the path says who asks, and nothing else does.
    row("POST /messages/chat/{token}", |_| Body::Json(json!({"content": "hello", "external_user_name": "x"})), EVERYBODY),
    row("POST /messages/team_inbox/{token}", mail, EVERYBODY),
    row("POST /messages/influx/{token}", mail, EVERYBODY),

    row("GET /sources", none, "200 200 200 200 200 200 200 200 200 401"),
    // These are for sources, and the flow's own token is of none.
    row("PUT /sources", |_| Body::Json(json!({"name": "Same"})), "403 403 403 403 403 403 403 403 403 401"),
    row("DELETE /sources", none, "403 403 403 403 403 403 403 403 403 401"),
    row("GET /flows/{organization}/{flow}/sources", none, MEMBERS),
    row("GET /flows/{organization}/{flow}/applications", none, MEMBERS),
    // Only applications make sources.
    row("POST /flows/{organization}/{flow}/sources", |_| Body::Json(json!({"name": "New"})), "403 403 403 403 403 403 404 404 403 401"),
    row("GET /flows/{organization}/{flow}/sources/{source}", none, MEMBERS),
    row("PUT /flows/{organization}/{flow}/sources/{source}", |_| Body::Json(json!({"name": "Same"})), MEMBERS),
    row("DELETE /flows/{organization}/{flow}/sources/{source}", none, "204 204 403 403 204 403 404 404 403 401"),

    // Threads of the chat offer nothing.
    row("POST /flows/{organization}/{flow}/threads/{thread}/actions/{position}", none, "404 404 403 403 404 403 404 404 403 401"),

    row("GET /files/{file}/{name}", none, WHO_GETS_A_LINK),
    row("GET /files/{file}/thumbnail/{name}", none, WHO_GETS_A_LINK),
    row("GET /download/{link}/{name}", none, EVERYBODY),

    row("GET /user", none, USERS),
    row("PUT /user", |_| Body::Json(json!({})), USERS),
    row("GET /user/notifications", none, USERS),
    row("PUT /user/notifications", |_| Body::Json(json!({"level": "all"})), USERS),
    row("GET /users", none, USERS),
    row("GET /users/{user}", none, ORGANIZATION),
    row("PUT /users/{user}", |_| Body::Json(json!({"website": ""})), "200 403 403 403 403 403 404 404 403 401"),
    row("PUT /users/{user}/avatar", picture, "200 403 403 403 403 403 404 404 403 401"),
    row("DELETE /users/{user}/avatar", none, "204 403 403 403 403 403 404 404 403 401"),
    row("GET /avatars/{avatar}", none, EVERYBODY),
    row("GET /avatars/{avatar}/{size}", none, EVERYBODY),
    row("GET /flows/{organization}/{flow}/users", none, WHO_SEES_THE_FLOW),
    row("GET /flows/{organization}/{flow}/former_users", none, MEMBERS),
    row("POST /flows/{organization}/{flow}/users", |stage| Body::Json(json!({"id": stage.owner.id})), MEMBERS),
    row("PUT /flows/{organization}/{flow}/users/{user}", |_| Body::Json(json!({"disabled": false})), "200 200 403 403 200 200 404 404 403 401"),
    row("DELETE /flows/{organization}/{flow}/users/{user}", none, "204 403 403 403 403 403 404 404 403 401"),

    row("GET /organizations", none, USERS),
    row("GET /organizations/find", |stage| Body::Json(json!({"id": stage.organization_id})), ORGANIZATION),
    row("GET /organizations/{organization}", none, ORGANIZATION),
    row("PUT /organizations/{organization}", |_| Body::Json(json!({"name": "Same"})), "403 403 403 403 200 200 404 404 403 401"),
    // Of administrators, the name is missing, or no deletion was requested (`deletions::own`).
    row("DELETE /organizations/{organization}", none, "403 403 403 403 400 400 404 404 403 401"),
    row("GET /organizations/{organization}/deletion", none, "403 403 403 403 404 404 404 404 403 401"),
    row("DELETE /organizations/{organization}/deletion", none, "403 403 403 403 404 404 404 404 403 401"),
    row("GET /organizations/{organization}/audit", none, ADMINISTRATORS),
    row("GET /organizations/{organization}/users", none, ORGANIZATION),
    row("GET /organizations/{organization}/users/{user}", none, ORGANIZATION),
    Row { expendable: true, ..row("DELETE /organizations/{organization}/users/{user}", none, "403 403 403 403 204 204 404 404 403 401") },
    row("GET /organizations/{organization}/groups", none, ORGANIZATION),
    row("POST /organizations/{organization}/groups", |_| Body::Json(json!({"name": unused_name()})), "403 403 403 403 201 201 404 404 403 401"),
    row("GET /organizations/{organization}/groups/{group}", none, ORGANIZATION),
    row("PUT /organizations/{organization}/groups/{group}", |_| Body::Json(json!({"users": []})), ADMINISTRATORS),
    row("DELETE /organizations/{organization}/groups/{group}", none, "403 403 403 403 204 204 404 404 403 401"),
    row("POST /organizations/{organization}/groups/{group}/users", |stage| Body::Json(json!({"id": stage.owner.id})), ADMINISTRATORS),
    row("DELETE /organizations/{organization}/groups/{group}/users/{user}", none, "403 403 403 403 204 204 404 404 403 401"),

    row("GET /flows/{organization}/{flow}/invitations", none, MEMBERS),
    row("POST /flows/{organization}/{flow}/invitations", |_| Body::Json(json!({"email": "new@example.org"})), "201 201 403 403 201 403 404 404 403 401"),
    row("POST /flows/{organization}/{flow}/invitations/import", |_| Body::Json(json!({"list": "more@example.org"})), MEMBERS),
    row("GET /flows/{organization}/{flow}/invitations/{invitation}", none, "200 200 403 403 200 403 200 404 403 401"),
    row("PUT /flows/{organization}/{flow}/invitations/{invitation}", |_| Body::Json(json!({"state": "accepted"})), "403 403 403 403 403 403 200 404 403 401"),
    row("DELETE /flows/{organization}/{flow}/invitations/{invitation}", none, "204 204 403 403 204 403 204 404 403 401"),

    row("GET /private", none, USERS),
    row("GET /private/{user}", none, ORGANIZATION),
    row("PUT /private/{user}", |_| Body::Json(json!({"open": true})), ORGANIZATION),
    row("GET /private/{user}/messages", none, ORGANIZATION),
    row("POST /private/{user}/messages", chat, ORGANIZATION),
    row("PUT /private/{user}/read", |_| Body::Json(json!({"message": 1})), ORGANIZATION),
    row("GET /private/{user}/messages/{message}", none, ORGANIZATION),
    row("PUT /private/{user}/messages/{message}", |_| Body::Json(json!({"content": "new"})), ORGANIZATION),
    row("DELETE /private/{user}/messages/{message}", none, ORGANIZATION),
    row("PUT /private/{user}/messages/{message}/reactions/{emoji}", none, ORGANIZATION),
    row("DELETE /private/{user}/messages/{message}/reactions/{emoji}", none, "204 204 204 204 204 204 404 404 403 401"),

    // None of them has such a stream.
    row("PUT /streams/{stream}", |_| Body::Json(json!({"active": "idle"})), "404 404 404 404 404 404 404 404 403 401"),
    row("GET /stream/flows", |_| Body::Stream, "200 200 403 403 200 403 404 404 403 401"),
    row("GET /stream/flows/{organization}/{flow}", |_| Body::Stream, "200 200 403 403 200 403 404 404 403 401"),
    row("GET /stream/probe", none, EVERYBODY),
    // Clients show who they are in ways of their own, which none of these is.
    row("POST /oauth/token", none, NOBODY),
    row("POST /oauth/revoke", none, NOBODY),
    row("POST /oauth/introspect", none, NOBODY),
    row("GET /.well-known/oauth-authorization-server", none, EVERYBODY),
    row("GET /openapi.json", none, EVERYBODY),
    row("GET /asyncapi.json", none, EVERYBODY),
    row("GET /healthz", none, EVERYBODY),
    row("GET /readyz", none, EVERYBODY),

    // Only an identity provider with its own token.
    row("GET /scim/{uid}", none, NO_PROVIDER),
    row("GET /scim/{uid}/Users", none, NO_PROVIDER),
    row("POST /scim/{uid}/Users", |_| Body::Json(json!({"userName": "x@x.example"})), NO_PROVIDER),
    row("GET /scim/{uid}/Users/{user}", none, NO_PROVIDER),
    row("PUT /scim/{uid}/Users/{user}", |_| Body::Json(json!({"userName": "x@x.example"})), NO_PROVIDER),
    row("PATCH /scim/{uid}/Users/{user}", |_| Body::Json(json!({"userName": "x@x.example"})), NO_PROVIDER),
    row("DELETE /scim/{uid}/Users/{user}", none, NO_PROVIDER),
    row("GET /scim/{uid}/ServiceProviderConfig", none, NO_PROVIDER),
    row("GET /scim/{uid}/Schemas", none, NO_PROVIDER),
    row("GET /scim/{uid}/Schemas/{id}", none, NO_PROVIDER),
    row("GET /scim/{uid}/ResourceTypes", none, NO_PROVIDER),
    row("GET /scim/{uid}/ResourceTypes/{id}", none, NO_PROVIDER),
    row("POST /scim/{uid}/.search", none, NO_PROVIDER),
    row("POST /scim/{uid}/Users/.search", none, NO_PROVIDER),
    row("GET /scim/{uid}/Groups", none, NO_PROVIDER),
    row("POST /scim/{uid}/Groups", |_| Body::Json(json!({"displayName": unused_name()})), NO_PROVIDER),
    row("GET /scim/{uid}/Groups/{group}", none, NO_PROVIDER),
    row("PUT /scim/{uid}/Groups/{group}", |_| Body::Json(json!({"members": []})), NO_PROVIDER),
    row("PATCH /scim/{uid}/Groups/{group}", |_| Body::Json(json!({"Operations": [{"op": "remove", "path": "members"}]})), NO_PROVIDER),
    row("DELETE /scim/{uid}/Groups/{group}", none, NO_PROVIDER),
    row("POST /scim/{uid}/Groups/.search", none, NO_PROVIDER),
];
