//! Users as others see them.

use eddyline_model::UserId;
use eddyline_wire::User;

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

    /// A user of an organization that the caller belongs to as well.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for everybody else.
    pub async fn user(&self, actor: &Actor, id: UserId) -> Result<User> {
        let own = actor.user()?.user.id;
        let user = self.store().read(move |session| {
            if own == id || session.share_organization(own, id)? { session.user(id) } else { Ok(None) }
        });
        let user = user.await?.ok_or(Error::NotFound)?;
        Ok(User::of(&user, &self.config().addresses.base))
    }
}
