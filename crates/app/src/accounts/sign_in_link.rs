//! Signing in by a link that an operator has made: it works once, and not for long.

use eddyline_auth::Secret;
use eddyline_model::Timestamp;
use eddyline_model::audit::{AuditAction, AuditEntry};
use eddyline_model::mail::{MailedLink, Purpose, SIGN_IN_MINUTES};
use eddyline_model::names::Email;
use eddyline_model::users::User;
use eddyline_storage::{Reader, Result as StoreResult};

use super::sessions;
use crate::audit::note_account;
use crate::core::transaction::NoCaller;
use crate::{Accounts, Error, Result};

impl Accounts {
    /// See [`Operator::create_sign_in_link`](crate::Operator::create_sign_in_link).
    pub(crate) async fn create_sign_in_link(&self, email: &Email) -> Result<String> {
        let (secret, key) = (Secret::generate_hex::<32>(), email.key());
        let hash = secret.hash();
        let (purpose, _) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let user = tx
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?
                    .user
                    .id;
                tx.users().lock(user)?;
                let purpose = Purpose::SignIn(user);
                tx.mails().delete_links(purpose)?;
                let expires_at = tx.now().plus_millis(SIGN_IN_MINUTES * 60_000);
                tx.mails().insert_link(
                    &hash.0,
                    &MailedLink {
                        purpose,
                        email: None,
                        expires_at,
                    },
                )?;
                let entry = AuditEntry::new(AuditAction::SignInLinkCreate, None);
                note_account(tx, user, entry)?;
                Ok(purpose)
            })
            .await?;
        Ok(self.core.config().addresses.mailed_page(purpose, &secret))
    }

    /// The name of the user whom a link signs in.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the link was used, has ended, or never was.
    pub async fn sign_in_link(&self, link: &Secret) -> Result<String> {
        let (hash, now) = (link.hash(), self.core.now());
        let found = self
            .core
            .store()
            .read(move |reader| find(reader, &hash.0, now))
            .await?;
        Ok(found.ok_or_else(Error::not_found)?.name)
    }

    /// Signs in by a link and gives the secret of the new session. The link leads nowhere
    /// afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] as in [`Accounts::sign_in_link`].
    pub async fn sign_in_by_link(&self, link: &Secret) -> Result<Secret> {
        // Read first, so that guesses cost no transaction.
        self.sign_in_link(link).await?;
        let secret = Secret::generate_long();
        let (link, session) = (link.hash(), secret.hash());
        let ((), event) = self
            .core
            .transaction(NoCaller::Link, move |tx| {
                let now = tx.now();
                let user = find(tx, &link.0, now)?.ok_or_else(Error::not_found)?;
                tx.users().lock(user.id)?;
                // Read again under the lock: another request may have used or ended it.
                let user = find(tx, &link.0, now)?.ok_or_else(Error::not_found)?;
                tx.mails().delete_links(Purpose::SignIn(user.id))?;
                Ok(sessions::begin(tx, &session, user.id)?)
            })
            .await?;
        // It may have ended the longest unused session.
        self.core.wait_until_applied(event).await;
        Ok(secret)
    }
}

fn find(reader: &mut Reader<'_>, hash: &[u8], now: Timestamp) -> StoreResult<Option<User>> {
    let Some(Purpose::SignIn(user)) = reader
        .mails()
        .find_link(hash, now)?
        .map(|link| link.purpose)
    else {
        return Ok(None);
    };
    Ok(reader.users().find(user)?.filter(|user| user.active))
}
