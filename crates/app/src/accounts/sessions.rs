//! Sessions: browsers that are signed in.

use std::net::IpAddr;

use eddyline_auth::{Password, Secret, TokenHash};
use eddyline_model::scopes::Scopes;
use eddyline_model::{UserId, names};
use eddyline_storage::{Result as StoreResult, Tx};

use crate::actor::{Actor, Credential};
use crate::authenticate::load_caller;
use crate::{App, Error, Result};

/// How long a session lasts after it was last used, in days.
pub const SESSION_DAYS: i64 = 30;

const HOUR_MILLIS: i64 = 3_600_000;
const SESSION_MILLIS: i64 = SESSION_DAYS * 24 * HOUR_MILLIS;

/// Begins a session within a transaction.
pub(super) fn begin(tx: &mut Tx<'_, '_>, hash: &TokenHash, user: UserId) -> StoreResult<()> {
    let now = tx.now();
    tx.insert_session(&hash.0, user, now)
}

impl App {
    /// Signs somebody in at this address and gives the secret of the new session.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`], and [`Error::TooMany`] after too many wrong passwords: the limits
    /// are the same, and count together, for every way of showing a password.
    pub async fn sign_in(&self, email: &str, password: &Password, address: IpAddr) -> Result<Secret> {
        let known = self.check_password(email, password, address).await?;
        let (user, checked) = (known.0.user.id, known.0.password_hash.clone());
        let (secret, key) = (Secret::generate_long(), names::email_key(email));
        let hash = secret.hash();
        let (begun, _) = self
            .store()
            .write(move |tx| {
                // Whoever changes a password ends the sessions there are; this one must not come
                // right after that.
                tx.lock_user(user)?;
                let account = tx.account_by_email(&key)?;
                let same = account.is_some_and(|now| now.user.id == user && now.password_hash == checked);
                if same {
                    begin(tx, &hash, user)?;
                }
                Ok(same)
            })
            .await?;
        if begun { Ok(secret) } else { Err(Error::Unauthenticated("The credentials are not valid")) }
    }

    /// Finds out whose session this is; `None` when it has ended. A session ends when it was not
    /// used for [`SESSION_DAYS`]; that it is used is noted once an hour.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn by_session(&self, session: &Secret) -> Result<Option<Actor>> {
        let (hash, now) = (session.hash(), self.now());
        let since = now.plus_millis(-SESSION_MILLIS);
        let found = self
            .store()
            .read(move |session| {
                let Some((id, seen)) = session.session_user(&hash.0, since)? else { return Ok(None) };
                let Some(user) = session.user(id)? else { return Ok(None) };
                Ok(Some((load_caller(session, user)?, seen)))
            })
            .await?;
        let Some((caller, seen)) = found else { return Ok(None) };
        if now.0 - seen.0 >= HOUR_MILLIS {
            let noted = self.store().write(move |tx| tx.touch_session(&hash.0, now)).await;
            if let Err(error) = noted {
                // It holds for now all the same.
                tracing::debug!(%error, "the use of a session could not be noted");
            }
        }
        Ok(Some(Actor::User { caller, scopes: Scopes::ALL, credential: Credential::Session(hash) }))
    }

    /// Ends a session. Ending it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn sign_out(&self, session: &Secret) -> Result<()> {
        let hash = session.hash();
        self.store().write(move |tx| tx.delete_session(&hash.0)).await?;
        Ok(())
    }
}
