//! What is kept of a user for a provider.

/// A user as a provider sees and sets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The name id of the user at the provider, by which they sign in.
    pub user_name: String,
    /// The provider's own id of the user, as it was given.
    pub external_id: Option<String>,
    /// The full name; [`names`](crate::names) tells its parts.
    pub name: String,
    /// The one address that is kept.
    pub email: String,
    /// The name shown in the chat. After a request it may be empty, and the caller makes one from
    /// the name.
    pub nick: String,
    /// Whether the user may sign in.
    pub active: bool,
}
