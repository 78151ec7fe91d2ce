//! The groups of the operations in the OpenAPI document.

/// A group: its name, and what is in it.
pub type Tag = (&'static str, &'static str);

macro_rules! tags {
    ($($constant:ident = $name:literal, $text:literal;)+) => {
        $(
            #[doc = $text]
            pub const $constant: Tag = ($name, $text);
        )+

        /// All, in the order of the document.
        pub const EACH: &[Tag] = &[$($constant),+];
    };
}

tags! {
    FLOWS = "Flows", "Flows and their users";
    MESSAGES = "Messages", "Messages of flows: posting, listing, searching, editing";
    PUSH = "Push", "Posting with a flow token in the path, for scripts and mail gateways";
    THREADS = "Threads", "Threads, and the actions that integrations offer in them";
    PRIVATE_CONVERSATIONS = "Private conversations", "Messages between two users";
    FILES = "Files", "Files of messages";
    USERS = "Users", "Users, the own account and pictures";
    ORGANIZATIONS = "Organizations", "Organizations and their members";
    GROUPS = "Groups", "Groups of users that can be mentioned together";
    INVITATIONS = "Invitations", "Invitations to flows by e-mail";
    SOURCES = "Sources", "What integrations post by into the inbox of a flow";
    OAUTH = "OAuth", "Tokens of applications (RFC 6749, RFC 7009, RFC 7662, RFC 8414)";
    SCIM = "SCIM", "Provisioning of users and groups by an identity provider (RFC 7643, RFC 7644)";
    STREAMING = "Streaming", "What happens, as it happens";
    HEALTH = "Health", "Whether the server is well";
}
