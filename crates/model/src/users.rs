//! People and bots.

use crate::{Timestamp, UserId};

/// A user (specification, section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Number, unique in the whole server.
    pub id: UserId,
    /// E-mail address as its owner writes it; compared by [`crate::names::email_key`].
    pub email: String,
    /// Full name.
    pub name: String,
    /// Short name by which others mention the user.
    pub nick: String,
    /// Home page, empty when there is none.
    pub website: String,
    /// 32 hexadecimal digits that name the picture.
    pub avatar: String,
    /// What the user last said about what they are doing.
    pub status: Option<String>,
    /// Whether this is a program rather than a person.
    pub bot: bool,
    /// Whether mail to the address reached the user, or an operator vouches for it. An address that
    /// the user just entered is not proved.
    pub email_proved: bool,
    /// Whether the account may be used. Nobody is let in as an inactive user, who goes on being
    /// shown as the author of what they wrote.
    pub active: bool,
    /// When the account was made.
    pub created_at: Timestamp,
}

/// A user together with what is needed to check a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// The user.
    pub user: User,
    /// The argon2id hash in PHC form; `None` for users without a password.
    pub password_hash: Option<String>,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
