//! The table.

/// What an access token must be good for.
#[derive(Clone, Copy)]
pub(super) enum Needs {
    /// Nobody is asked for credentials.
    NoToken,
    /// Any token will do.
    AnyToken,
    /// The token of an identity provider, which no access token is.
    Provider,
    /// One of these scopes, in the order in which the server lists them.
    OneOf(&'static str),
}

/// An endpoint, and which access tokens it lets through.
pub(super) struct Row {
    /// Method and path, as the server describes them.
    pub(super) endpoint: &'static str,
    /// What it names as its scopes.
    pub(super) needs: Needs,
    /// Which of those scopes the very request needs that the table of permissions sends, where that
    /// is not all of them. [`super::finer`] has the others.
    pub(super) as_asked: Option<&'static str>,
    /// What is answered to a token that is let through, where users themselves are answered
    /// otherwise.
    pub(super) by_application: Option<u16>,
}

const fn row(endpoint: &'static str, scopes: &'static str) -> Row {
    Row {
        endpoint,
        needs: Needs::OneOf(scopes),
        as_asked: None,
        by_application: None,
    }
}

const fn any(endpoint: &'static str) -> Row {
    Row {
        endpoint,
        needs: Needs::AnyToken,
        as_asked: None,
        by_application: None,
    }
}

const fn provider(endpoint: &'static str) -> Row {
    Row {
        endpoint,
        needs: Needs::Provider,
        as_asked: None,
        by_application: Some(403),
    }
}

const fn public(endpoint: &'static str) -> Row {
    Row {
        endpoint,
        needs: Needs::NoToken,
        as_asked: None,
        by_application: None,
    }
}

/// Which scopes each endpoint lets through; one is enough.
#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("GET /flows", "flow manage integration"),
    row("GET /flows/all", "flow manage integration"),
    row("GET /flows/find", "flow manage integration"),
    row("GET /flows/{organization}/{flow}", "flow manage integration"),
    row("POST /flows/{organization}", "manage"),
    Row { as_asked: Some("manage"), ..row("PUT /flows/{organization}/{flow}", "flow manage") },
    row("POST /flows/{organization}/{flow}/join_url", "manage"),
    row("PUT /flows/{organization}/{flow}/read", "flow"),
    row("GET /flows/{organization}/{flow}/notifications", "flow"),
    row("PUT /flows/{organization}/{flow}/notifications", "flow"),
    Row { as_asked: Some("flow"), ..row("PUT /tabs", "flow private") },

    row("POST /messages", "flow"),
    row("POST /comments", "flow"),
    row("GET /search", "flow private"),
    row("GET /mentions", "flow private"),
    row("GET /flows/{organization}/{flow}/messages", "flow"),
    row("POST /flows/{organization}/{flow}/messages", "flow"),
    row("GET /flows/{organization}/{flow}/messages/{message}", "flow"),
    row("PUT /flows/{organization}/{flow}/messages/{message}", "flow"),
    row("DELETE /flows/{organization}/{flow}/messages/{message}", "flow"),
    row("PUT /flows/{organization}/{flow}/messages/{message}/reactions/{emoji}", "flow"),
    row("DELETE /flows/{organization}/{flow}/messages/{message}/reactions/{emoji}", "flow"),
    row("GET /flows/{organization}/{flow}/messages/{message}/comments", "flow"),
    row("POST /flows/{organization}/{flow}/messages/{message}/comments", "flow"),
    row("GET /flows/{organization}/{flow}/threads/{thread}/messages", "flow"),
    row("POST /flows/{organization}/{flow}/threads/{thread}/messages", "flow"),
    row("GET /flows/{organization}/{flow}/threads", "flow"),
    row("GET /flows/{organization}/{flow}/threads/{thread}", "flow"),
    row("PUT /flows/{organization}/{flow}/threads/{thread}/read", "flow"),
    public("POST /messages/chat/{token}"),
    public("POST /messages/team_inbox/{token}"),
    public("POST /messages/influx/{token}"),

    row("GET /sources", "integration"),
    // The flow token of a source says which one it is, and no access token does.
    any("PUT /sources"),
    any("DELETE /sources"),
    row("GET /flows/{organization}/{flow}/applications", "integration"),
    row("GET /flows/{organization}/{flow}/sources", "integration"),
    Row { by_application: Some(201), ..row("POST /flows/{organization}/{flow}/sources", "integration") },
    row("GET /flows/{organization}/{flow}/sources/{source}", "integration"),
    row("PUT /flows/{organization}/{flow}/sources/{source}", "integration"),
    row("DELETE /flows/{organization}/{flow}/sources/{source}", "integration"),

    row("POST /flows/{organization}/{flow}/threads/{thread}/actions/{position}", "flow"),

    row("GET /files/{file}/{name}", "flow"),
    row("GET /files/{file}/thumbnail/{name}", "flow"),
    public("GET /download/{link}/{name}"),

    any("GET /user"),
    row("PUT /user", "profile"),
    row("GET /user/notifications", "profile"),
    row("PUT /user/notifications", "profile"),
    row("GET /users", "flow manage"),
    row("GET /users/{user}", "flow manage profile"),
    row("PUT /users/{user}", "profile"),
    row("PUT /users/{user}/avatar", "profile"),
    row("DELETE /users/{user}/avatar", "profile"),
    public("GET /avatars/{avatar}"),
    public("GET /avatars/{avatar}/{size}"),
    row("GET /flows/{organization}/{flow}/users", "flow manage"),
    row("GET /flows/{organization}/{flow}/former_users", "flow"),
    row("POST /flows/{organization}/{flow}/users", "manage"),
    row("PUT /flows/{organization}/{flow}/users/{user}", "manage"),
    row("DELETE /flows/{organization}/{flow}/users/{user}", "manage"),

    row("GET /organizations", "flow manage profile"),
    row("GET /organizations/find", "flow manage"),
    row("GET /organizations/{organization}", "flow manage"),
    row("PUT /organizations/{organization}", "manage"),
    row("DELETE /organizations/{organization}", "manage"),
    row("GET /organizations/{organization}/deletion", "manage"),
    row("DELETE /organizations/{organization}/deletion", "manage"),
    row("GET /organizations/{organization}/audit", "manage"),
    row("GET /organizations/{organization}/users", "flow manage"),
    row("GET /organizations/{organization}/users/{user}", "flow manage"),
    row("DELETE /organizations/{organization}/users/{user}", "manage"),
    row("GET /organizations/{organization}/groups", "flow manage"),
    row("POST /organizations/{organization}/groups", "manage"),
    row("GET /organizations/{organization}/groups/{group}", "flow manage"),
    row("PUT /organizations/{organization}/groups/{group}", "manage"),
    row("DELETE /organizations/{organization}/groups/{group}", "manage"),
    row("POST /organizations/{organization}/groups/{group}/users", "manage"),
    row("DELETE /organizations/{organization}/groups/{group}/users/{user}", "manage"),

    row("GET /flows/{organization}/{flow}/invitations", "manage"),
    row("POST /flows/{organization}/{flow}/invitations", "manage"),
    row("POST /flows/{organization}/{flow}/invitations/import", "manage"),
    row("GET /flows/{organization}/{flow}/invitations/{invitation}", "manage"),
    row("PUT /flows/{organization}/{flow}/invitations/{invitation}", "manage"),
    row("DELETE /flows/{organization}/{flow}/invitations/{invitation}", "manage"),

    row("GET /private", "private"),
    row("GET /private/{user}", "private"),
    row("PUT /private/{user}", "private"),
    row("GET /private/{user}/messages", "private"),
    row("POST /private/{user}/messages", "private"),
    row("PUT /private/{user}/read", "private"),
    row("GET /private/{user}/messages/{message}", "private"),
    row("PUT /private/{user}/messages/{message}", "private"),
    row("DELETE /private/{user}/messages/{message}", "private"),
    row("PUT /private/{user}/messages/{message}/reactions/{emoji}", "private"),
    row("DELETE /private/{user}/messages/{message}/reactions/{emoji}", "private"),

    row("PUT /streams/{stream}", "flow private"),
    Row { as_asked: Some("flow"), ..row("GET /stream/flows", "flow private") },
    row("GET /stream/flows/{organization}/{flow}", "flow"),
    public("POST /oauth/token"),
    public("POST /oauth/revoke"),
    public("POST /oauth/introspect"),
    public("GET /.well-known/oauth-authorization-server"),
    public("GET /openapi.json"),
    public("GET /asyncapi.json"),
    public("GET /stream/probe"),
    public("GET /healthz"),
    public("GET /readyz"),

    provider("GET /scim/{uid}"),
    provider("GET /scim/{uid}/Users"),
    provider("POST /scim/{uid}/Users"),
    provider("GET /scim/{uid}/Users/{user}"),
    provider("PUT /scim/{uid}/Users/{user}"),
    provider("PATCH /scim/{uid}/Users/{user}"),
    provider("DELETE /scim/{uid}/Users/{user}"),
    provider("GET /scim/{uid}/ServiceProviderConfig"),
    provider("GET /scim/{uid}/Schemas"),
    provider("GET /scim/{uid}/Schemas/{id}"),
    provider("GET /scim/{uid}/ResourceTypes"),
    provider("GET /scim/{uid}/ResourceTypes/{id}"),
    provider("POST /scim/{uid}/.search"),
    provider("POST /scim/{uid}/Users/.search"),
    provider("GET /scim/{uid}/Groups"),
    provider("POST /scim/{uid}/Groups"),
    provider("GET /scim/{uid}/Groups/{group}"),
    provider("PUT /scim/{uid}/Groups/{group}"),
    provider("PATCH /scim/{uid}/Groups/{group}"),
    provider("DELETE /scim/{uid}/Groups/{group}"),
    provider("POST /scim/{uid}/Groups/.search"),
];
