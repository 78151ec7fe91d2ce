//! Users as others see them, and what they change about themselves.

mod change;

use eddyline_model::UserId;
use eddyline_model::scopes::Scope;
use eddyline_wire::User;

pub use change::UserChanges;

use crate::actor::Actor;
use crate::{App, Error, Result};

impl App {
    /// The caller.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] for flow tokens.
    pub fn me(&self, actor: &Actor) -> Result<User> {
        Ok(User::of(&actor.user()?.user, &self.config().addresses.base))
    }

    /// The users whom the caller sees in lists: all of the organizations that the caller administers,
    /// those in a flow with the caller, and the caller.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] for flow tokens.
    pub async fn users(&self, actor: &Actor) -> Result<Vec<User>> {
        let own = actor.user()?.user.id;
        let found = self.store().read(move |reader| reader.users_seen_by(own)).await?;
        let base = &self.config().addresses.base;
        Ok(found.iter().map(|user| User::of(user, base)).collect())
    }

    /// A user of an organization that the caller belongs to as well.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for everybody else, [`Error::MissingScope`] when the caller's token covers
    /// no other user.
    pub async fn user(&self, actor: &Actor, id: UserId) -> Result<User> {
        let own = actor.user()?.user.id;
        if own != id {
            actor.require_any(&[Scope::Flow, Scope::Manage])?;
        }
        let user = self.store().read(move |reader| {
            if own == id || reader.share_organization(own, id)? { reader.user(id) } else { Ok(None) }
        });
        let user = user.await?.ok_or(Error::NotFound)?;
        Ok(User::of(&user, &self.config().addresses.base))
    }

    /// Checks that it is the caller's own account that is to be changed.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] for an account that the caller may see, [`Error::NotFound`] for others.
    pub async fn own(&self, actor: &Actor, id: UserId) -> Result<()> {
        let own = actor.user()?.user.id;
        if own == id {
            return Ok(());
        }
        let known = self.store().read(move |reader| reader.share_organization(own, id)).await?;
        Err(if known { Error::Denied } else { Error::NotFound })
    }
}
