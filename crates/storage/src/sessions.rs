//! Browsers that are signed in, found by the digest of what their cookie holds.

use diesel::prelude::*;
use eddyline_model::{Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::{Sessions, Users};
use crate::reader::Access;
use crate::schema::sessions;
use crate::transaction::Tx;

/// A session, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserSession {
    /// The digest of the secret.
    pub hash: Vec<u8>,
    /// What the browser calls itself.
    pub agent: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used; noted once an hour.
    pub seen_at: Timestamp,
}

#[portable]
impl<C: Access> Sessions<'_, C> {
    /// The user of a session that was last used after `since`, and when that was.
    pub fn find_user(
        c: &mut Connection,
        hash: &[u8],
        since: Timestamp,
    ) -> Result<Option<(UserId, Timestamp)>> {
        let row = sessions::table
            .find(hash)
            .filter(sessions::seen_at.gt(since.0))
            .select((sessions::user_id, sessions::seen_at))
            .get_result::<(i64, i64)>(c)
            .optional()?;
        Ok(row.map(|(user, seen)| (UserId(user), Timestamp(seen))))
    }

    /// When a session began.
    pub fn find_start(c: &mut Connection, hash: &[u8]) -> Result<Option<Timestamp>> {
        let row = sessions::table
            .find(hash)
            .select(sessions::created_at)
            .first::<i64>(c)
            .optional()?;
        Ok(row.map(Timestamp))
    }

    /// The sessions of a user that were used after `since`, the latest first.
    pub fn list_of_user(
        c: &mut Connection,
        user: UserId,
        since: Timestamp,
    ) -> Result<Vec<BrowserSession>> {
        let rows = sessions::table
            .filter(sessions::user_id.eq(user.0))
            .filter(sessions::seen_at.gt(since.0))
            .order((sessions::seen_at.desc(), sessions::hash))
            .select((
                sessions::hash,
                sessions::agent,
                sessions::created_at,
                sessions::seen_at,
            ))
            .load::<(Vec<u8>, String, i64, i64)>(c)?;
        let whole = |(hash, agent, created, seen)| BrowserSession {
            hash,
            agent,
            created_at: Timestamp(created),
            seen_at: Timestamp(seen),
        };
        Ok(rows.into_iter().map(whole).collect())
    }
}

#[portable]
impl Sessions<'_, Tx<'_>> {
    /// Adds a session.
    pub fn insert(c: &mut Connection, hash: &[u8], user: UserId, now: Timestamp) -> Result<()> {
        diesel::insert_into(sessions::table)
            .values((
                sessions::hash.eq(hash),
                sessions::user_id.eq(user.0),
                sessions::created_at.eq(now.0),
                sessions::seen_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Notes what the browser of a session calls itself.
    pub fn set_agent(c: &mut Connection, hash: &[u8], agent: &str) -> Result<()> {
        diesel::update(sessions::table.find(hash))
            .set(sessions::agent.eq(agent))
            .execute(c)?;
        Ok(())
    }

    /// Notes that a session is used.
    pub fn touch(c: &mut Connection, hash: &[u8], now: Timestamp) -> Result<()> {
        diesel::update(sessions::table.find(hash))
            .set(sessions::seen_at.eq(now.0))
            .execute(c)?;
        Ok(())
    }

    /// Ends a session.
    pub fn delete(c: &mut Connection, hash: &[u8]) -> Result<()> {
        diesel::delete(sessions::table.find(hash)).execute(c)?;
        Ok(())
    }

    /// Ends all sessions of a user, but for one perhaps.
    pub fn delete_of_user(c: &mut Connection, user: UserId, but: Option<&[u8]>) -> Result<()> {
        let all = sessions::table.filter(sessions::user_id.eq(user.0));
        match but {
            Some(kept) => diesel::delete(all.filter(sessions::hash.ne(kept))).execute(c)?,
            None => diesel::delete(all).execute(c)?,
        };
        Ok(())
    }

    /// Forgets the sessions that were not used since.
    pub fn delete_idle(c: &mut Connection, since: Timestamp) -> Result<()> {
        diesel::delete(sessions::table.filter(sessions::seen_at.le(since.0))).execute(c)?;
        Ok(())
    }
}

impl Users<'_, Tx<'_>> {
    /// Holds a user's row against other writers until the transaction ends, so that checking a
    /// password and beginning a session is one step. Rows that refer to the user can still be added
    /// by those who do not ask for the same.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock(&mut self, id: UserId) -> Result<()> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = crate::schema::users::table
                .find(id.0)
                .select(crate::schema::users::id);
            row.for_no_key_update().get_result::<i64>(c).optional()?;
        }
        // Without PostgreSQL nobody is to be held.
        let _ = id;
        Ok(())
    }
}
