//! Who may call an endpoint, and with which credentials.

/// Who may call an endpoint at all. The type of its handler's context says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndpointAccess {
    /// Callers who show credentials.
    Caller,
    /// Anybody.
    Public,
    /// Callers who show flow tokens in the path, which the handler looks at.
    TokensInPath,
    /// The identity provider whose uid stands in the path.
    Provider,
}

/// Whose credentials an endpoint for [`EndpointAccess::Caller`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllowedCallers {
    /// Users, by themselves or through applications.
    Users,
    /// Users, and those who hold a flow token.
    UsersAndFlowTokens,
    /// Users through applications only, which the handler looks at.
    Applications,
    /// Those who hold the flow token of a source, which the handler looks at.
    Sources,
}

impl AllowedCallers {
    /// Whether users are let in without an application.
    pub(crate) fn users_themselves(self) -> bool {
        matches!(self, Self::Users | Self::UsersAndFlowTokens)
    }

    pub(crate) fn applications(self) -> bool {
        self != Self::Sources
    }

    pub(crate) fn flow_tokens(self) -> bool {
        matches!(self, Self::UsersAndFlowTokens | Self::Sources)
    }
}
