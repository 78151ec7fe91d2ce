//! The own account.

use eddyline_model::names::{
    Email, MAX_EMAIL, MAX_FLOW_NAME, MAX_NICK, MAX_WEBSITE, Nick, Website,
};

use crate::request;
use crate::request::{SecretText, parsed, secret, unchecked_text};

/// Longer than any password that is taken, in characters.
const MAX_PASSWORD: usize = 2000;

request! {
    /// Changes of the own account; what is `None` stays as it is.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct UpdateUser {
        /// Unique in your organizations; mentions stay.
        nick: Option<Nick> = parsed::<Nick>(1..=MAX_NICK),
        /// Your address from now on; the old one gets a mail to undo it. With an API token
        /// current_password is needed.
        email: Option<Email> = parsed::<Email>(1..=MAX_EMAIL),
        /// Your full name.
        name: Option<String> = unchecked_text(1..=MAX_FLOW_NAME).not_empty(),
        /// Your page, with http:// or https://; empty for none.
        website: Option<Website> = parsed::<Website>(0..=MAX_WEBSITE),
        /// A new password; all sessions and streams end.
        password: Option<SecretText> = secret(0..=MAX_PASSWORD),
        /// Your present password; needed for a new one, and with an API token for a new address.
        current_password: Option<SecretText> = secret(0..=MAX_PASSWORD),
    }
}
