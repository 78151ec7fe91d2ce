//! How a user confirms who they are, before a change that can hand over an organization or an
//! account.

use std::net::IpAddr;

use eddyline_auth::Password;

use super::Accounts;
use crate::actor::Actor;
use crate::authenticate::KnownAccount;
use crate::{Error, ErrorKind, Result};

/// What a caller shows to confirm who they are. A session may have been left open; one that has
/// just begun is enough ([`Accounts::has_signed_in_lately`]), and else the password is needed.
///
/// # Errors
///
/// What asks for a confirmation fails with [`Error::invalid`] naming `current_password` where the
/// password is missing or wrong, and with [`Error::too_many_attempts`] after too many wrong ones.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// The present password, if the caller shows it.
    pub current_password: Option<Password>,
    /// Where the caller asks from.
    pub address: IpAddr,
}

impl Accounts {
    /// Checks a confirmation.
    pub(crate) async fn confirm(&self, actor: &Actor, shown: &Confirmation) -> Result<()> {
        if self.has_signed_in_lately(actor).await? {
            return Ok(());
        }
        let present = shown.current_password.as_ref();
        let present = present.ok_or_else(|| Error::invalid("current_password", "is required"))?;
        let email = &actor.user()?.user.email;
        self.check_current_password(email, present, shown.address)
            .await
            .map(drop)
    }

    /// Checks the present password of the account with this address.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] naming `current_password`, [`Error::too_many_attempts`].
    pub(crate) async fn check_current_password(
        &self,
        email: &str,
        present: &Password,
        address: IpAddr,
    ) -> Result<KnownAccount> {
        let checked = self
            .authentication
            .check_password(email, present, address)
            .await;
        checked.map_err(|error| match error.kind() {
            ErrorKind::Unauthenticated => {
                Error::invalid("current_password", "is not your present password")
            }
            _ => error,
        })
    }
}
