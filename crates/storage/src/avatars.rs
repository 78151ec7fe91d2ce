//! Users' pictures: which of them has which name, and the bytes of those that were uploaded.

use diesel::prelude::*;
use eddyline_model::UserId;
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Users;
use crate::reader::Access;
use crate::schema::{avatars, users};
use crate::transaction::Tx;

/// A picture as it is asked for by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvatarOf {
    /// Whose it is.
    pub user: UserId,
    /// The user's full name.
    pub name: String,
    /// Whether it was uploaded; otherwise it is drawn.
    pub uploaded: bool,
}

#[portable]
impl<C: Access> Users<'_, C> {
    /// Whose picture has this name, 32 hexadecimal digits; `None` when none has it any more.
    pub fn find_avatar(c: &mut Connection, avatar: &str) -> Result<Option<AvatarOf>> {
        let row = users::table
            .left_join(avatars::table.on(avatars::user_id.eq(users::id)))
            .filter(users::avatar.eq(avatar))
            .select((users::id, users::name, avatars::user_id.nullable()))
            .first::<(i64, String, Option<i64>)>(c)
            .optional()?;
        Ok(row.map(|(user, name, uploaded)| AvatarOf {
            user: UserId(user),
            name,
            uploaded: uploaded.is_some(),
        }))
    }

    /// The kind and the bytes of an uploaded picture with this name.
    pub fn find_uploaded_avatar(
        c: &mut Connection,
        avatar: &str,
    ) -> Result<Option<(String, Vec<u8>)>> {
        Ok(avatars::table
            .inner_join(users::table.on(users::id.eq(avatars::user_id)))
            .filter(users::avatar.eq(avatar))
            .select((avatars::content_type, avatars::bytes))
            .first(c)
            .optional()?)
    }
}

#[portable]
impl Users<'_, Tx<'_>> {
    /// Gives a user an uploaded picture under a new name.
    pub fn set_avatar(
        c: &mut Connection,
        user: UserId,
        avatar: &str,
        content_type: &str,
        bytes: &[u8],
    ) -> Result<()> {
        diesel::insert_into(avatars::table)
            .values((
                avatars::user_id.eq(user.0),
                avatars::content_type.eq(content_type),
                avatars::bytes.eq(bytes),
            ))
            .on_conflict(avatars::user_id)
            .do_update()
            .set((
                avatars::content_type.eq(content_type),
                avatars::bytes.eq(bytes),
            ))
            .execute(c)?;
        diesel::update(users::table.find(user.0))
            .set(users::avatar.eq(avatar))
            .execute(c)?;
        Ok(())
    }

    /// Takes a user's uploaded picture away and names the drawn one. Without an uploaded one
    /// nothing happens, and `false` is the answer.
    pub fn delete_avatar(c: &mut Connection, user: UserId, avatar: &str) -> Result<bool> {
        if diesel::delete(avatars::table.find(user.0)).execute(c)? == 0 {
            return Ok(false);
        }
        diesel::update(users::table.find(user.0))
            .set(users::avatar.eq(avatar))
            .execute(c)?;
        Ok(true)
    }
}
