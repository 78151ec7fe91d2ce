//! The names of operations: generated clients have them as the names of their functions, so they
//! stay as they are.

/// An operation: its group in the document, where it is, and its name.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) tag: &'static str,
    place: &'static str,
    pub(super) id: &'static str,
}

impl Operation {
    /// The name of a schema that belongs to it.
    pub(super) fn type_name(&self, suffix: &str) -> String {
        let (first, rest) = self.id.split_at(1);
        format!("{}{rest}{suffix}", first.to_ascii_uppercase())
    }
}

const fn operation(tag: &'static str, place: &'static str, id: &'static str) -> Operation {
    Operation { tag, place, id }
}

/// The operation of an endpoint. `is_stream` tells the endpoints of the stream from those of the
/// API, which have the same paths.
pub(super) fn find(method: &str, path: &str, is_stream: bool) -> Option<&'static Operation> {
    EACH.iter().find(|operation| {
        let (of, place) = operation.place.split_once(' ').unwrap_or_default();
        (operation.tag == STREAMING) == is_stream && of == method && place == path
    })
}

const STREAMING: &str = "Streaming";

/// The groups, in the order of the document.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("Flows", "Flows and their users"),
    (
        "Messages",
        "Messages of flows: posting, listing, searching, editing",
    ),
    (
        "Push",
        "Posting with a flow token in the path, for scripts and mail gateways",
    ),
    (
        "Threads",
        "Threads, and the actions that integrations offer in them",
    ),
    ("Private conversations", "Messages between two users"),
    ("Files", "Files of messages"),
    ("Users", "Users, the own account and pictures"),
    ("Organizations", "Organizations and their members"),
    ("Groups", "Groups of users that can be mentioned together"),
    ("Invitations", "Invitations to flows by e-mail"),
    (
        "Sources",
        "What integrations post by into the inbox of a flow",
    ),
    (
        "OAuth",
        "Tokens of applications (RFC 6749, RFC 7009, RFC 7662, RFC 8414)",
    ),
    (
        "SCIM",
        "Provisioning of users by an identity provider (RFC 7643, RFC 7644)",
    ),
    (STREAMING, "What happens, as it happens"),
    ("Health", "Whether the server is well"),
];

pub(super) const EACH: &[Operation] = &[
    operation("Flows", "GET /flows", "listFlows"),
    operation("Flows", "GET /flows/all", "listAllFlows"),
    operation("Flows", "GET /flows/find", "findFlow"),
    operation("Flows", "POST /flows/{organization}", "createFlow"),
    operation("Flows", "GET /flows/{organization}/{flow}", "getFlow"),
    operation("Flows", "PUT /flows/{organization}/{flow}", "updateFlow"),
    operation(
        "Flows",
        "POST /flows/{organization}/{flow}/join_url",
        "replaceJoinLink",
    ),
    operation(
        "Flows",
        "GET /flows/{organization}/{flow}/users",
        "listFlowUsers",
    ),
    operation(
        "Flows",
        "POST /flows/{organization}/{flow}/users",
        "addFlowUser",
    ),
    operation(
        "Flows",
        "PUT /flows/{organization}/{flow}/users/{user}",
        "setFlowUserBlocked",
    ),
    operation(
        "Flows",
        "DELETE /flows/{organization}/{flow}/users/{user}",
        "leaveFlow",
    ),
    operation(
        "Flows",
        "PUT /flows/{organization}/{flow}/read",
        "markFlowRead",
    ),
    operation("Messages", "POST /messages", "postMessage"),
    operation(
        "Messages",
        "POST /flows/{organization}/{flow}/messages",
        "postFlowMessage",
    ),
    operation(
        "Messages",
        "POST /flows/{organization}/{flow}/threads/{thread}/messages",
        "postThreadMessage",
    ),
    operation("Messages", "POST /comments", "postComment"),
    operation(
        "Messages",
        "POST /flows/{organization}/{flow}/messages/{message}/comments",
        "postMessageComment",
    ),
    operation(
        "Messages",
        "GET /flows/{organization}/{flow}/messages",
        "listFlowMessages",
    ),
    operation(
        "Messages",
        "GET /flows/{organization}/{flow}/threads/{thread}/messages",
        "listThreadMessages",
    ),
    operation(
        "Messages",
        "GET /flows/{organization}/{flow}/messages/{message}/comments",
        "listMessageComments",
    ),
    operation(
        "Messages",
        "GET /flows/{organization}/{flow}/messages/{message}",
        "getFlowMessage",
    ),
    operation(
        "Messages",
        "PUT /flows/{organization}/{flow}/messages/{message}",
        "editFlowMessage",
    ),
    operation(
        "Messages",
        "DELETE /flows/{organization}/{flow}/messages/{message}",
        "deleteFlowMessage",
    ),
    operation("Push", "POST /messages/chat/{token}", "pushChat"),
    operation("Push", "POST /messages/team_inbox/{token}", "pushMail"),
    operation("Push", "POST /messages/influx/{token}", "pushInfluxMail"),
    operation(
        "Threads",
        "GET /flows/{organization}/{flow}/threads",
        "listThreads",
    ),
    operation(
        "Threads",
        "GET /flows/{organization}/{flow}/threads/{thread}",
        "getThread",
    ),
    operation(
        "Threads",
        "POST /flows/{organization}/{flow}/threads/{thread}/actions/{position}",
        "triggerThreadAction",
    ),
    operation(
        "Private conversations",
        "GET /private",
        "listPrivateConversations",
    ),
    operation(
        "Private conversations",
        "GET /private/{user}",
        "getPrivateConversation",
    ),
    operation(
        "Private conversations",
        "PUT /private/{user}",
        "updatePrivateConversation",
    ),
    operation(
        "Private conversations",
        "PUT /private/{user}/read",
        "markPrivateConversationRead",
    ),
    operation(
        "Private conversations",
        "GET /private/{user}/messages",
        "listPrivateMessages",
    ),
    operation(
        "Private conversations",
        "POST /private/{user}/messages",
        "postPrivateMessage",
    ),
    operation(
        "Private conversations",
        "GET /private/{user}/messages/{message}",
        "getPrivateMessage",
    ),
    operation(
        "Private conversations",
        "PUT /private/{user}/messages/{message}",
        "editPrivateMessage",
    ),
    operation(
        "Private conversations",
        "DELETE /private/{user}/messages/{message}",
        "deletePrivateMessage",
    ),
    operation("Files", "GET /files/{file}/{name}", "locateFile"),
    operation(
        "Files",
        "GET /files/{file}/thumbnail/{name}",
        "locateThumbnail",
    ),
    operation("Files", "GET /download/{link}/{name}", "downloadFile"),
    operation("Users", "GET /user", "getSelf"),
    operation("Users", "PUT /user", "updateSelf"),
    operation("Users", "GET /users", "listUsers"),
    operation("Users", "GET /users/{user}", "getUser"),
    operation("Users", "PUT /users/{user}", "updateSelfById"),
    operation("Users", "PUT /users/{user}/avatar", "uploadAvatar"),
    operation("Users", "DELETE /users/{user}/avatar", "deleteAvatar"),
    operation("Users", "GET /avatars/{avatar}", "getAvatar"),
    operation("Users", "GET /avatars/{avatar}/{size}", "getScaledAvatar"),
    operation("Organizations", "GET /organizations", "listOrganizations"),
    operation(
        "Organizations",
        "GET /organizations/find",
        "findOrganization",
    ),
    operation(
        "Organizations",
        "GET /organizations/{organization}",
        "getOrganization",
    ),
    operation(
        "Organizations",
        "PUT /organizations/{organization}",
        "renameOrganization",
    ),
    operation(
        "Organizations",
        "GET /organizations/{organization}/users",
        "listOrganizationUsers",
    ),
    operation(
        "Organizations",
        "GET /organizations/{organization}/users/{user}",
        "getOrganizationUser",
    ),
    operation(
        "Organizations",
        "DELETE /organizations/{organization}/users/{user}",
        "removeOrganizationUser",
    ),
    operation(
        "Groups",
        "GET /organizations/{organization}/groups",
        "listGroups",
    ),
    operation(
        "Groups",
        "POST /organizations/{organization}/groups",
        "createGroup",
    ),
    operation(
        "Groups",
        "GET /organizations/{organization}/groups/{group}",
        "getGroup",
    ),
    operation(
        "Groups",
        "PUT /organizations/{organization}/groups/{group}",
        "updateGroup",
    ),
    operation(
        "Groups",
        "DELETE /organizations/{organization}/groups/{group}",
        "deleteGroup",
    ),
    operation(
        "Groups",
        "POST /organizations/{organization}/groups/{group}/users",
        "addGroupMember",
    ),
    operation(
        "Groups",
        "DELETE /organizations/{organization}/groups/{group}/users/{user}",
        "removeGroupMember",
    ),
    operation(
        "Invitations",
        "GET /flows/{organization}/{flow}/invitations",
        "listInvitations",
    ),
    operation(
        "Invitations",
        "POST /flows/{organization}/{flow}/invitations",
        "createInvitation",
    ),
    operation(
        "Invitations",
        "POST /flows/{organization}/{flow}/invitations/import",
        "importInvitations",
    ),
    operation(
        "Invitations",
        "GET /flows/{organization}/{flow}/invitations/{invitation}",
        "getInvitation",
    ),
    operation(
        "Invitations",
        "PUT /flows/{organization}/{flow}/invitations/{invitation}",
        "acceptInvitation",
    ),
    operation(
        "Invitations",
        "DELETE /flows/{organization}/{flow}/invitations/{invitation}",
        "deleteInvitation",
    ),
    operation(
        "Sources",
        "GET /flows/{organization}/{flow}/sources",
        "listFlowSources",
    ),
    operation(
        "Sources",
        "POST /flows/{organization}/{flow}/sources",
        "createSource",
    ),
    operation(
        "Sources",
        "GET /flows/{organization}/{flow}/sources/{source}",
        "getSource",
    ),
    operation(
        "Sources",
        "PUT /flows/{organization}/{flow}/sources/{source}",
        "updateSource",
    ),
    operation(
        "Sources",
        "DELETE /flows/{organization}/{flow}/sources/{source}",
        "deleteSource",
    ),
    operation("Sources", "GET /sources", "listSources"),
    operation("Sources", "PUT /sources", "updateOwnSource"),
    operation("Sources", "DELETE /sources", "deleteOwnSource"),
    operation("OAuth", "POST /oauth/applications", "registerApplication"),
    operation("OAuth", "POST /oauth/token", "issueToken"),
    operation("OAuth", "POST /oauth/revoke", "revokeToken"),
    operation("OAuth", "POST /oauth/introspect", "introspectToken"),
    operation(
        "OAuth",
        "GET /.well-known/oauth-authorization-server",
        "getAuthorizationServer",
    ),
    operation("SCIM", "GET /scim/{uid}", "checkProviderToken"),
    operation("SCIM", "GET /scim/{uid}/Users", "listProvidedUsers"),
    operation("SCIM", "POST /scim/{uid}/.search", "searchProvisioning"),
    operation(
        "SCIM",
        "POST /scim/{uid}/Users/.search",
        "searchProvidedUsers",
    ),
    operation("SCIM", "GET /scim/{uid}/Users/{user}", "getProvidedUser"),
    operation("SCIM", "POST /scim/{uid}/Users", "createProvidedUser"),
    operation(
        "SCIM",
        "PUT /scim/{uid}/Users/{user}",
        "replaceProvidedUser",
    ),
    operation(
        "SCIM",
        "PATCH /scim/{uid}/Users/{user}",
        "patchProvidedUser",
    ),
    operation(
        "SCIM",
        "DELETE /scim/{uid}/Users/{user}",
        "deleteProvidedUser",
    ),
    operation(
        "SCIM",
        "GET /scim/{uid}/ServiceProviderConfig",
        "getServiceProviderConfig",
    ),
    operation("SCIM", "GET /scim/{uid}/ResourceTypes", "listResourceTypes"),
    operation(
        "SCIM",
        "GET /scim/{uid}/ResourceTypes/{id}",
        "getResourceType",
    ),
    operation("SCIM", "GET /scim/{uid}/Schemas", "listSchemas"),
    operation("SCIM", "GET /scim/{uid}/Schemas/{id}", "getSchema"),
    operation(STREAMING, "GET /flows", "streamFlows"),
    operation(STREAMING, "GET /flows/{organization}/{flow}", "streamFlow"),
    operation("Health", "GET /healthz", "checkLiveness"),
    operation("Health", "GET /readyz", "checkReadiness"),
];
