//! Getting back in without the password: a mailed link leads to the choice of a new one.

use std::net::IpAddr;

use eddyline_auth::{Password, Secret};
use eddyline_model::mail::{Purpose, RESET_HOURS};
use eddyline_model::users::User;
use eddyline_model::{Timestamp, UserId, names};
use eddyline_storage::{GrantsOf, NewMail, Reader, Result as StoreResult, Tx};

use super::api_tokens::end_all_tokens;
use super::{password, sessions};
use crate::core::transaction::NoCaller;
use crate::oauth::end_grants;
use crate::{Accounts, Error, Result};

/// The time between two mails to one account, in milliseconds.
const PAUSE_MILLIS: i64 = 5 * 60_000;

/// What the page of a link to a new password shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetLink {
    /// Whose password it is.
    pub name: String,
    /// The address of the account.
    pub email: String,
}

impl Accounts {
    /// Has a link to a new password mailed to the owner of an account, if there is such an account.
    /// The answer does not tell. An account gets no other mail within five minutes. Where a
    /// provider has changed the address of an account in use, the link goes to the one before, by
    /// which the account is found as well.
    ///
    /// # Errors
    ///
    /// [`Error::too_many_requests`] for a client that asks too often.
    pub async fn request_password_reset(&self, email: &str, client: IpAddr) -> Result<()> {
        let key = names::email_key(email);
        self.mail.count_mail_request(&key, client)?;
        self.core
            .store()
            .write(NoCaller::MailRequest, move |tx| {
                match find_owner(tx, &key)? {
                    Some(user) if user.active && !was_mailed(tx, user.id)? => queue(tx, &user),
                    _ => queue_nothing(tx),
                }
            })
            .await?;
        self.mail.mail_is_queued();
        Ok(())
    }

    /// Whose password a mailed link changes.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the link was used, has ended, or never was.
    pub async fn reset_link(&self, link: &Secret) -> Result<ResetLink> {
        let user = self.user_of_reset_link(link).await?;
        Ok(ResetLink {
            name: user.name,
            email: user.email,
        })
    }

    /// Sets the password by a mailed link, ends all sessions of the user, and gives the secret of a
    /// new one. The link leads nowhere afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] as in [`Accounts::reset_link`], [`Error::invalid`] for a password that
    /// is easy to guess.
    pub async fn reset_password(&self, link: &Secret, new: &Password) -> Result<Secret> {
        // Known before the work of hashing is done.
        let user = self.user_of_reset_link(link).await?;
        let hash = self
            .hash_new_password(new, &password::personal(&user))
            .await?;
        let secret = Secret::generate_long();
        let (link, session) = (link.hash(), secret.hash());
        let ((), event) = self
            .core
            .transaction(NoCaller::Link, move |tx| {
                let now = tx.now();
                let user = find(tx, &link.0, now)?.ok_or_else(Error::not_found)?;
                tx.users().lock(user.id)?;
                // Asked again, since another process may have let somebody use it, or ended it.
                let user = find(tx, &link.0, now)?
                    .filter(|user| user.active)
                    .ok_or_else(Error::not_found)?;
                password::replace(tx, user.id, &hash)?;
                // The link came by mail and proves its own address. If that is the present address
                // and was unproved, another person may have entered it: their credentials end. If a
                // provider has changed the address since, the link proves nothing about the present
                // one.
                if tx
                    .passwords()
                    .find_recovery_key(user.id)?
                    .is_none_or(|key| key == names::email_key(&user.email))
                {
                    if !user.email_proved {
                        end_grants(tx, GrantsOf::User(user.id))?;
                        end_all_tokens(tx, user.id)?;
                        tx.emails().set_proved(user.id, true)?;
                    }
                    tx.passwords().set_recovery_key(user.id, None)?;
                    tx.emails().delete_stated(user.id)?;
                }
                Ok(sessions::begin(tx, &session, user.id)?)
            })
            .await?;
        self.authentication.memo.invalidate_all();
        self.core.wait_until_applied(event).await;
        Ok(secret)
    }

    async fn user_of_reset_link(&self, link: &Secret) -> Result<User> {
        let (hash, now) = (link.hash(), self.core.now());
        self.core
            .store()
            .read(move |reader| find(reader, &hash.0, now))
            .await?
            .ok_or_else(Error::not_found)
    }
}

fn find(reader: &mut Reader<'_>, hash: &[u8], now: Timestamp) -> StoreResult<Option<User>> {
    match reader
        .mails()
        .find_link(hash, now)?
        .map(|link| link.purpose)
    {
        Some(Purpose::PasswordReset(user)) => reader.users().find(user),
        _ => Ok(None),
    }
}

/// Whether such a mail waits for the user, or went out a moment ago.
fn was_mailed(tx: &mut Tx<'_>, user: UserId) -> StoreResult<bool> {
    let purpose = Purpose::PasswordReset(user);
    if tx.mails().contains(purpose)? {
        return Ok(true);
    }
    let fresh = tx.now().plus_millis(RESET_HOURS * 3_600_000 - PAUSE_MILLIS);
    Ok(tx
        .mails()
        .find_last_link_end(purpose)?
        .is_some_and(|end| end > fresh))
}

/// Whose password is asked for by an address: of the account that has it, or else of one whose
/// links to a new password go there.
fn find_owner(tx: &mut Tx<'_>, email_key: &str) -> StoreResult<Option<User>> {
    let account = tx.users().find_account_by_email(email_key)?;
    // Both are looked for in any case, so that the time of the answer does not tell which there is.
    let recovered = tx.passwords().find_user_by_recovery(email_key)?;
    Ok(account.map(|account| account.user).or(recovered))
}

/// Has a link to a new password mailed to a user.
pub(super) fn queue(tx: &mut Tx<'_>, user: &User) -> StoreResult<()> {
    let purpose = Purpose::PasswordReset(user.id);
    let recipient = tx
        .passwords()
        .find_recovery_key(user.id)?
        .unwrap_or_else(|| user.email.clone());
    let now = tx.now();
    tx.mails().insert(
        &[NewMail {
            purpose,
            recipient,
            detail: None,
        }],
        now,
    )
}

/// Writes as much as for a mail, so that the time of the answer does not tell whether there is one.
fn queue_nothing(tx: &mut Tx<'_>) -> StoreResult<()> {
    let purpose = Purpose::PasswordReset(UserId(0));
    let now = tx.now();
    tx.mails().insert(
        &[NewMail {
            purpose,
            recipient: String::new(),
            detail: None,
        }],
        now,
    )?;
    tx.mails().delete_about(purpose)
}
