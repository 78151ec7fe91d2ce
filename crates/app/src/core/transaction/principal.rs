//! The transaction that writes for a caller checks that the caller's credential still holds. Only
//! that check makes a [`Principal`], and only [`Core::transaction_as`] runs a transaction for a
//! caller.
//!
//! The credential is looked up when the transaction begins (after the locks that the use case needs
//! first), and its row is locked as the last thing before the commit. So a transaction that ends
//! the credential either comes first, and the use case is refused with all that it wrote, or waits
//! for its commit. The row is locked last because transactions that end credentials lock rooms,
//! organizations, users and applications before them.

use std::cell::Cell;
use std::ops::Deref;

use eddyline_auth::TokenHash;
use eddyline_model::{EventId, Timestamp};
use eddyline_storage::{Reader, Result as StoreResult, Tx};

use crate::Result;
use crate::actor::{Actor, Credential};
use crate::charging::budget;
use crate::core::Core;
use crate::core::provider::ScimProvider;
use crate::core::transaction::{TxResult, author};

/// A caller whose credential holds, as the transaction at hand sees them.
pub(crate) struct Principal {
    actor: Actor,
    /// Whether the credential's row is locked.
    is_locked: Cell<bool>,
}

impl Deref for Principal {
    type Target = Actor;
    fn deref(&self) -> &Actor {
        &self.actor
    }
}

impl Principal {
    /// Loads the caller as the store has them now, if their credential still holds.
    ///
    /// # Errors
    ///
    /// [`Actor::ended`].
    pub(crate) fn verify(reader: &mut Reader<'_>, actor: &Actor) -> TxResult<Self> {
        let current = match is_still_valid(reader, actor)? {
            true => actor.reload(reader)?,
            false => return Err(actor.ended().into()),
        };
        if current.user().is_ok_and(|caller| !caller.user.active) {
            return Err(actor.ended().into());
        }
        Ok(Self {
            actor: current,
            is_locked: Cell::new(false),
        })
    }

    /// Locks the credential, so that it does not end before the transaction is committed. A use
    /// case that itself may end the caller's credential calls it before it does, with the user or
    /// the room of the flow token locked; for all others it is called last.
    ///
    /// # Errors
    ///
    /// [`Actor::ended`].
    pub(crate) fn lock_credential(&self, tx: &mut Tx<'_>) -> TxResult<()> {
        if !self.is_locked.get() {
            if !lock_credential(tx, &self.actor)? {
                return Err(self.actor.ended().into());
            }
            self.is_locked.set(true);
        }
        Ok(())
    }

    pub(crate) fn into_actor(self) -> Actor {
        self.actor
    }
}

/// Whether a credential holds at this moment.
fn is_still_valid(reader: &mut Reader<'_>, actor: &Actor) -> StoreResult<bool> {
    match actor {
        Actor::FlowToken { token, .. } => {
            let found = reader.sources().find_token(&token.0)?;
            let is_removed = |source: eddyline_model::sources::Source| source.removed_at.is_some();
            Ok(found.is_some_and(|of| of.source.is_none_or(|(source, _)| !is_removed(source))))
        }
        Actor::User {
            caller, credential, ..
        } => match credential {
            Credential::Session(hash) => Ok(reader
                .sessions()
                .find_user(&hash.0, Timestamp(0))?
                .is_some()),
            Credential::ApiToken(hash) => Ok(reader.api_tokens().find_user(&hash.0)?.is_some()),
            Credential::AccessToken(access) => Ok(reader
                .oauth_tokens()
                .find_access(&access.token.0)?
                .is_some()),
            Credential::Password(checked) => {
                let hash = reader.passwords().find(caller.user.id)?;
                Ok(hash.is_some_and(|hash| TokenHash::of(&hash) == *checked))
            }
        },
    }
}

fn lock_credential(tx: &mut Tx<'_>, actor: &Actor) -> StoreResult<bool> {
    match actor {
        Actor::FlowToken { token, .. } => tx.sources().lock_token(&token.0),
        Actor::User {
            caller, credential, ..
        } => match credential {
            Credential::Session(hash) => tx.sessions().lock(&hash.0),
            Credential::ApiToken(hash) => tx.api_tokens().lock(&hash.0),
            Credential::AccessToken(access) => {
                tx.oauth_tokens().lock_access(&access.token.0, access.grant)
            }
            Credential::Password(checked) => {
                let hash = tx.passwords().lock(caller.user.id)?;
                Ok(hash.is_some_and(|hash| TokenHash::of(&hash) == *checked))
            }
        },
    }
}

impl Core {
    /// Writes on behalf of a caller in one transaction, of which nothing is kept unless `work`
    /// succeeds and the caller's credential still holds. `work` gets the caller as the store has
    /// them now. Gives the position of what was told.
    ///
    /// # Errors
    ///
    /// What `work` answers, [`Actor::ended`], and
    /// [`Error::too_many_requests`](crate::Error::too_many_requests) when too many writes of the
    /// caller wait.
    pub(crate) async fn transaction_as<R, F>(
        &self,
        actor: &Actor,
        work: F,
    ) -> Result<(R, Option<EventId>)>
    where
        R: Send + 'static,
        F: FnMut(&mut Tx<'_>, &Principal) -> TxResult<R> + Send + 'static,
    {
        self.locked_transaction_as(actor, |_| Ok(()), work).await
    }

    /// The same with locks that are taken before the caller is loaded, so that what the caller is
    /// does not change afterwards.
    ///
    /// # Errors
    ///
    /// As [`Core::transaction_as`].
    pub(crate) async fn locked_transaction_as<R, L, F>(
        &self,
        actor: &Actor,
        lock: L,
        mut work: F,
    ) -> Result<(R, Option<EventId>)>
    where
        R: Send + 'static,
        L: Fn(&mut Tx<'_>) -> StoreResult<()> + Send + 'static,
        F: FnMut(&mut Tx<'_>, &Principal) -> TxResult<R> + Send + 'static,
    {
        let keys = actor.quota_keys();
        let _counted = self.store().transaction_permit(keys).await?;
        let (author, actor) = (author::author(actor), actor.clone());
        let done = self.store().run(author, budget(keys), move |tx| {
            lock(tx)?;
            let principal = Principal::verify(tx, &actor)?;
            let done = work(tx, &principal)?;
            principal.lock_credential(tx)?;
            Ok(done)
        });
        Ok(done.await?)
    }

    /// Writes on behalf of an identity provider, as [`Core::transaction_as`] does for a caller.
    ///
    /// # Errors
    ///
    /// What `work` answers, and as [`Scim::provider`] for a wrong token.
    pub(crate) async fn transaction_as_provider<R, F>(
        &self,
        provider: &ScimProvider,
        mut work: F,
    ) -> Result<(R, Option<EventId>)>
    where
        R: Send + 'static,
        F: FnMut(&mut Tx<'_>, &ScimProvider) -> TxResult<R> + Send + 'static,
    {
        let keys = provider.own_key().into();
        let _counted = self.store().transaction_permit(keys).await?;
        let (author, provider) = (author::provider(provider), provider.clone());
        let done = self.store().run(author, budget(keys), move |tx| {
            provider.verify(tx)?;
            let done = work(tx, &provider)?;
            provider.lock_credential(tx)?;
            Ok(done)
        });
        Ok(done.await?)
    }
}
