//! Making sure that a credential does not end before the transaction at hand is committed.
//!
//! The row of the credential is locked against transactions that remove or replace it. That comes
//! last of all locks but the log's: a transaction that ends a credential removes its row after it
//! has locked everything else (rooms, organizations, users, applications, grants). On SQLite one
//! transaction writes at a time, so there is nothing to lock.

use eddyline_model::{GrantId, UserId};

use crate::Result;
use crate::areas::{ApiTokens, Identities, OauthTokens, Passwords, Sessions, Sources};
use crate::transaction::Tx;

#[cfg(feature = "postgres")]
use crate::schema::{
    access_tokens, api_tokens, flow_tokens, grants, identity_providers, sessions, sources, users,
};
#[cfg(feature = "postgres")]
use diesel::prelude::*;

impl Sessions<'_, Tx<'_>> {
    /// Keeps a browser's session from ending until the transaction ends; `false` when it has ended.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock(&mut self, hash: &[u8]) -> Result<bool> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = sessions::table
                .find(hash)
                .select(sessions::user_id)
                .for_key_share();
            return Ok(row.get_result::<i64>(c).optional()?.is_some());
        }
        let _ = hash;
        Ok(true)
    }
}

impl ApiTokens<'_, Tx<'_>> {
    /// The same for an API token.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock(&mut self, hash: &[u8]) -> Result<bool> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = api_tokens::table
                .find(hash)
                .select(api_tokens::user_id)
                .for_key_share();
            return Ok(row.get_result::<i64>(c).optional()?.is_some());
        }
        let _ = hash;
        Ok(true)
    }
}

impl OauthTokens<'_, Tx<'_>> {
    /// The same for an access token and the grant that it came of.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock_access(&mut self, hash: &[u8], grant: GrantId) -> Result<bool> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            // In the order in which a grant is ended.
            let row = grants::table
                .find(grant.0)
                .select(grants::id)
                .for_key_share();
            if row.get_result::<i64>(c).optional()?.is_none() {
                return Ok(false);
            }
            let row = access_tokens::table
                .find(hash)
                .select(access_tokens::grant_id)
                .for_key_share();
            return Ok(row.get_result::<i64>(c).optional()?.is_some());
        }
        let _ = (hash, grant);
        Ok(true)
    }
}

impl Passwords<'_, Tx<'_>> {
    /// Keeps a user's password, and whether the user is active, from being changed until the
    /// transaction ends, and gives the password's hash; `None` when the user is not active or has
    /// no password.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock(&mut self, user: UserId) -> Result<Option<String>> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = users::table
                .find(user.0)
                .select((users::active, users::password_hash))
                .for_share();
            let found = row.get_result::<(bool, Option<String>)>(c).optional()?;
            return Ok(found.and_then(|(active, hash)| hash.filter(|_| active)));
        }
        self.find(user)
    }
}

impl Sources<'_, Tx<'_>> {
    /// The same as [`Sessions::lock`] for a flow token, and the source that it is of.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock_token(&mut self, hash: &[u8]) -> Result<bool> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = flow_tokens::table
                .find(hash)
                .select(flow_tokens::source_id)
                .for_key_share();
            return match row.get_result::<Option<i64>>(&mut *c).optional()? {
                None => Ok(false),
                Some(None) => Ok(true),
                Some(Some(source)) => {
                    let row = sources::table
                        .find(source)
                        .select(sources::removed_at)
                        .for_share();
                    let removed = row.get_result::<Option<i64>>(c).optional()?;
                    Ok(removed.is_some_and(|removed| removed.is_none()))
                }
            };
        }
        let _ = hash;
        Ok(true)
    }
}

impl Identities<'_, Tx<'_>> {
    /// Keeps the token of an identity provider from being replaced until the transaction ends, and
    /// tells whether it is still the one with this digest.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock_provider(&mut self, uid: &str, token: &[u8]) -> Result<bool> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = identity_providers::table
                .filter(identity_providers::uid.eq(uid))
                .select(identity_providers::token_hash)
                .for_share();
            let found = row.get_result::<Vec<u8>>(c).optional()?;
            return Ok(found.is_some_and(|hash| hash == token));
        }
        Ok(self
            .find_provider(uid)?
            .is_some_and(|provider| provider.token_hash == token))
    }
}
