//! Addresses to which links to a new password go after a provider changed the address of an
//! account.

use diesel::prelude::*;
use eddyline_model::UserId;
use eddyline_model::users::User;
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Passwords;
use crate::reader::Access;
use crate::schema::users;
use crate::transaction::Tx;
use crate::users::{UserRow, to_user};

#[portable]
impl<C: Access> Passwords<'_, C> {
    /// Where links to a new password go instead of the user's address, in the form by which
    /// addresses are compared; `None` when they go to the address.
    pub fn find_recovery_key(c: &mut Connection, user: UserId) -> Result<Option<String>> {
        let key = users::table.find(user.0).select(users::recovery_key);
        Ok(key.get_result::<Option<String>>(c).optional()?.flatten())
    }

    /// The user whose links to a new password go to this address instead of their own; of several,
    /// the one who was made first.
    pub fn find_user_by_recovery(c: &mut Connection, email_key: &str) -> Result<Option<User>> {
        let row = users::table
            .filter(users::recovery_key.eq(email_key))
            .order(users::id)
            .select(UserRow::as_select())
            .first::<UserRow>(c)
            .optional()?;
        Ok(row.map(to_user))
    }

    /// Whether a user has a password.
    pub fn contains(c: &mut Connection, user: UserId) -> Result<bool> {
        let hash = users::table
            .find(user.0)
            .select(users::password_hash.is_not_null());
        Ok(hash.get_result(c).optional()?.unwrap_or(false))
    }
}

#[portable]
impl Passwords<'_, Tx<'_>> {
    /// Sets where links to a new password go.
    pub fn set_recovery_key(
        c: &mut Connection,
        user: UserId,
        email_key: Option<&str>,
    ) -> Result<()> {
        diesel::update(users::table.find(user.0))
            .set(users::recovery_key.eq(email_key))
            .execute(c)?;
        Ok(())
    }
}
