//! API tokens: programs of users, found by the digest of what they show.

use diesel::prelude::*;
use eddyline_model::users::User;
use eddyline_model::{Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::ApiTokens;
use crate::reader::Access;
use crate::schema::{api_tokens, users};
use crate::transaction::Tx;
use crate::users::{UserRow, to_user};

/// An API token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    /// The digest of the secret.
    pub hash: Vec<u8>,
    /// What its owner calls it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

#[portable]
impl<C: Access> ApiTokens<'_, C> {
    /// The user whose API token has this hash.
    pub fn find_user(c: &mut Connection, hash: &[u8]) -> Result<Option<User>> {
        let row = api_tokens::table
            .inner_join(users::table.on(users::id.eq(api_tokens::user_id)))
            .filter(api_tokens::hash.eq(hash))
            .select(UserRow::as_select())
            .get_result::<UserRow>(c)
            .optional()?;
        Ok(row.map(to_user))
    }

    /// The API tokens of a user, the oldest first.
    pub fn list_of_user(c: &mut Connection, user: UserId) -> Result<Vec<ApiToken>> {
        let rows = api_tokens::table
            .filter(api_tokens::user_id.eq(user.0))
            .order((api_tokens::created_at, api_tokens::hash))
            .select((api_tokens::hash, api_tokens::name, api_tokens::created_at))
            .load::<(Vec<u8>, String, i64)>(c)?;
        let whole = |(hash, name, at)| ApiToken {
            hash,
            name,
            created_at: Timestamp(at),
        };
        Ok(rows.into_iter().map(whole).collect())
    }
}

#[portable]
impl ApiTokens<'_, Tx<'_>> {
    /// Adds an API token by its hash.
    pub fn insert(
        c: &mut Connection,
        hash: &[u8],
        user: UserId,
        name: &str,
        now: Timestamp,
    ) -> Result<()> {
        diesel::insert_into(api_tokens::table)
            .values((
                api_tokens::hash.eq(hash),
                api_tokens::user_id.eq(user.0),
                api_tokens::name.eq(name),
                api_tokens::created_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Gives an API token another name.
    pub fn set_name(c: &mut Connection, hash: &[u8], name: &str) -> Result<()> {
        diesel::update(api_tokens::table.find(hash))
            .set(api_tokens::name.eq(name))
            .execute(c)?;
        Ok(())
    }

    /// Ends an API token, and tells whether there was one.
    pub fn delete(c: &mut Connection, hash: &[u8]) -> Result<bool> {
        Ok(diesel::delete(api_tokens::table.find(hash)).execute(c)? > 0)
    }

    /// Ends all API tokens of a user.
    pub fn delete_of_user(c: &mut Connection, user: UserId) -> Result<()> {
        diesel::delete(api_tokens::table.filter(api_tokens::user_id.eq(user.0))).execute(c)?;
        Ok(())
    }
}
