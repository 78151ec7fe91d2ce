//! New passwords: which ones are taken, and what ends with the old one.

use std::future::Future;
use std::time::Duration;

use eddyline_auth::{Password, strength};
use eddyline_model::UserId;
use eddyline_model::audit::{AuditAction, AuditEntry};
use eddyline_model::log::Control;
use eddyline_model::users::User;
use eddyline_storage::{Result as StoreResult, Tx};

use super::sessions;
use crate::account_links::end_resets;
use crate::audit::note_account;
use crate::charging::current_keys;
use crate::quota::{Permit, Quota, QuotaKeys};
use crate::{Accounts, Error, Limit, Result};

/// Sets the hash of a password, and ends what the old one or a link has opened: all sessions, and
/// the links to a new password.
pub(crate) fn replace(tx: &mut Tx<'_>, user: UserId, hash: &str) -> StoreResult<()> {
    tx.passwords().set(user, hash)?;
    sessions::end_all(tx, user)?;
    end_resets(tx, user)?;
    tx.record_event(Control::Revoked { user });
    note_account(tx, user, AuditEntry::new(AuditAction::PasswordChange, None))
}

/// What others know about a user: a password must not be made of it.
pub(crate) fn personal(user: &User) -> [&str; 3] {
    [&user.email, &user.name, &user.nick]
}

/// New passwords that are checked and hashed at the same time. Each keeps a core busy for some 50
/// ms; further ones of the same caller or network wait.
pub(crate) const NEW_PASSWORDS: Quota = Quota {
    network: 2,
    ..Quota::new(u64::MAX, u64::MAX, 1)
};
/// How long they wait.
const NEW_PASSWORD_WAIT: Duration = Duration::from_secs(10);

impl Accounts {
    /// The hash of a password that somebody chooses, about whom others know this much.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] when it is easy to guess, and as [`Accounts::with_new_password`].
    pub(crate) async fn hash_new_password(
        &self,
        password: &Password,
        about: &[&str],
    ) -> Result<String> {
        let (accounts, password) = (self.clone(), password.clone());
        let about: Vec<String> = about.iter().map(|&text| text.to_owned()).collect();
        let hashing = async move {
            accounts
                .check_strength(&password, about)
                .await?
                .map_err(|text| Error::invalid("password", text))?;
            accounts.authentication.hash_password(&password).await
        };
        self.with_new_password(hashing).await
    }

    /// Does work on a new password for the caller, or the network, of the present request. The work
    /// goes on when the request is dropped, since hashing cannot be stopped, and is counted until
    /// it ends.
    ///
    /// # Errors
    ///
    /// [`Error::too_many_requests`] when others of the caller take too long, and those of the work.
    pub(super) async fn with_new_password<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let permit = self.new_password_permit().await?;
        let working = async move {
            let done = work.await;
            drop(permit);
            done
        };
        self.core.jobs().finish("new password", working).await
    }

    async fn new_password_permit(&self) -> Result<Option<Permit>> {
        let caller = current_keys().map(QuotaKeys::caller);
        let Some(caller) = caller else {
            return Ok(None);
        };
        let permit = self
            .new_passwords
            .acquire_within(caller.into(), 1, NEW_PASSWORD_WAIT)
            .await
            .map_err(|exceeded| exceeded.of(Limit::NewPasswords))?;
        Ok(Some(permit))
    }

    /// Checks that a new password is hard to guess, also for those who know this much about its
    /// user. The inner error is a text for the user. To be part of [`Accounts::with_new_password`].
    pub(super) async fn check_strength(
        &self,
        password: &Password,
        about: Vec<String>,
    ) -> Result<std::result::Result<(), String>> {
        // It costs as much as a hash, so it takes turns with them.
        let _turn = self.authentication.hasher.acquire().await;
        let password = password.clone();
        let checking = tokio::task::spawn_blocking(move || {
            let about: Vec<&str> = about.iter().map(String::as_str).collect();
            strength::check(&password, &about).map_err(|weakness| weakness.to_string())
        });
        checking
            .await
            .map_err(|error| Error::internal(error.to_string()))
    }
}
