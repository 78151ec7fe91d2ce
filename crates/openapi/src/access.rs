//! Who may call an endpoint, and with which credentials.

/// Who may call an endpoint at all. The type of its handler's context says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointAccess {
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
pub enum AllowedCallers {
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
    #[must_use]
    pub fn users_themselves(self) -> bool {
        matches!(self, Self::Users | Self::UsersAndFlowTokens)
    }

    /// Whether applications are let in, for a user who authorized them.
    #[must_use]
    pub fn applications(self) -> bool {
        self != Self::Sources
    }

    /// Whether those who hold a flow token are let in.
    #[must_use]
    pub fn flow_tokens(self) -> bool {
        matches!(self, Self::UsersAndFlowTokens | Self::Sources)
    }
}
