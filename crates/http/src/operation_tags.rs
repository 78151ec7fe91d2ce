//! The groups of the operations in the OpenAPI document.

/// A group: its name, and what is in it.
pub(crate) type Tag = (&'static str, &'static str);

pub(crate) const FLOWS: Tag = ("Flows", "Flows and their users");
pub(crate) const MESSAGES: Tag = (
    "Messages",
    "Messages of flows: posting, listing, searching, editing",
);
pub(crate) const PUSH: Tag = (
    "Push",
    "Posting with a flow token in the path, for scripts and mail gateways",
);
pub(crate) const THREADS: Tag = (
    "Threads",
    "Threads, and the actions that integrations offer in them",
);
pub(crate) const PRIVATE_CONVERSATIONS: Tag =
    ("Private conversations", "Messages between two users");
pub(crate) const FILES: Tag = ("Files", "Files of messages");
pub(crate) const USERS: Tag = ("Users", "Users, the own account and pictures");
pub(crate) const ORGANIZATIONS: Tag = ("Organizations", "Organizations and their members");
pub(crate) const GROUPS: Tag = ("Groups", "Groups of users that can be mentioned together");
pub(crate) const INVITATIONS: Tag = ("Invitations", "Invitations to flows by e-mail");
pub(crate) const SOURCES: Tag = (
    "Sources",
    "What integrations post by into the inbox of a flow",
);
pub(crate) const OAUTH: Tag = (
    "OAuth",
    "Tokens of applications (RFC 6749, RFC 7009, RFC 7662, RFC 8414)",
);
pub(crate) const SCIM: Tag = (
    "SCIM",
    "Provisioning of users by an identity provider (RFC 7643, RFC 7644)",
);
pub(crate) const STREAMING: Tag = ("Streaming", "What happens, as it happens");
pub(crate) const HEALTH: Tag = ("Health", "Whether the server is well");

/// All, in the order of the document.
pub(crate) const EACH: [Tag; 15] = [
    FLOWS,
    MESSAGES,
    PUSH,
    THREADS,
    PRIVATE_CONVERSATIONS,
    FILES,
    USERS,
    ORGANIZATIONS,
    GROUPS,
    INVITATIONS,
    SOURCES,
    OAUTH,
    SCIM,
    STREAMING,
    HEALTH,
];
