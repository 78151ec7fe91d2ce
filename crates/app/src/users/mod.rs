//! Users as others see them, and what they change about themselves.

mod change;

use crate::accounts::Accounts;
use crate::core::Core;
use crate::mailer::Mail;
use eddyline_auth::FailureLimiter;
use eddyline_model::UserId;
use eddyline_model::scopes::Scope;
use eddyline_wire::User;
use std::sync::Arc;

pub use change::UserChanges;

use crate::actor::Actor;
use crate::{Error, Result};

/// How many addresses a user may try for the account in a day. The answer tells whether another
/// account has the address, so the number of guesses is limited.
const NEW_ADDRESSES: u32 = 10;

/// Users as they see each other. See [`crate::App::users`].
#[derive(Clone)]
pub struct Users {
    core: Core,
    accounts: Accounts,
    mail: Mail,
    /// Counts the addresses that users try for their accounts.
    new_addresses: Arc<FailureLimiter>,
}

crate::core::opaque_debug!(Users);

impl Users {
    pub(crate) fn new(core: Core, accounts: Accounts, mail: Mail) -> Self {
        let new_addresses = Arc::new(FailureLimiter::a_day(NEW_ADDRESSES));
        Self {
            core,
            accounts,
            mail,
            new_addresses,
        }
    }

    /// The caller.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub fn me(&self, actor: &Actor) -> Result<User> {
        Ok(User::of(
            &actor.user()?.user,
            &self.core.config().addresses.base,
        ))
    }

    /// The users whom the caller sees in lists: all of the organizations that the caller
    /// administers, those in a flow with the caller, and the caller.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub async fn list(&self, actor: &Actor) -> Result<Vec<User>> {
        let own = actor.user()?.user.id;
        let found = self
            .core
            .store()
            .read(move |reader| reader.users().list_seen_by(own))
            .await?;
        let base = &self.core.config().addresses.base;
        Ok(found.iter().map(|user| User::of(user, base)).collect())
    }

    /// A user of an organization that the caller belongs to as well.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for everybody else, [`Error::missing_scope`] when the caller's token
    /// covers no other user.
    pub async fn get(&self, actor: &Actor, id: UserId) -> Result<User> {
        let own = actor.user()?.user.id;
        if own != id {
            actor.require_any(&[Scope::Flow, Scope::Manage])?;
        }
        let user = self.core.store().read(move |reader| {
            if own == id || reader.organization_members().have_common(own, id)? {
                reader.users().find(id)
            } else {
                Ok(None)
            }
        });
        let user = user.await?.ok_or_else(Error::not_found)?;
        Ok(User::of(&user, &self.core.config().addresses.base))
    }

    /// Those of these users whom the caller may see, in one read: the caller, and users of an
    /// organization that the caller belongs to as well. They are ordered by number.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens, [`Error::missing_scope`] when the caller's token covers no
    /// other user.
    pub async fn list_known(&self, actor: &Actor, ids: Vec<UserId>) -> Result<Vec<User>> {
        let own = actor.user()?.user.id;
        actor.require_any(&[Scope::Flow, Scope::Manage])?;
        let known = self.core.store().read(move |reader| {
            let mut known = reader.organization_members().list_with_common(own, &ids)?;
            if ids.contains(&own) {
                known.push(own);
            }
            reader.users().list(&known)
        });
        let base = &self.core.config().addresses.base;
        Ok(known
            .await?
            .iter()
            .map(|user| User::of(user, base))
            .collect())
    }

    /// Checks that it is the caller's own account that is to be changed.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for an account that the caller may see, [`Error::not_found`] for others.
    pub async fn own(&self, actor: &Actor, id: UserId) -> Result<()> {
        let own = actor.user()?.user.id;
        if own == id {
            return Ok(());
        }
        let known = self
            .core
            .store()
            .read(move |reader| reader.organization_members().have_common(own, id))
            .await?;
        Err(if known {
            Error::denied()
        } else {
            Error::not_found()
        })
    }
}
