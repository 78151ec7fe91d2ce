//! Issuing tokens.

use eddyline_auth::{Secret, TokenHash};
use eddyline_model::grants::{AccessToken, RefreshToken};
use eddyline_model::scopes::{Scope, Scopes};
use eddyline_model::{GrantId, Timestamp};
use eddyline_storage::{Result as StoreResult, Tx};

use crate::config::OAuthConfig;

/// What a client is given.
#[derive(Debug)]
pub struct Tokens {
    /// The access token.
    pub access: Secret,
    /// The refresh token, with the scope `offline_access`.
    pub refresh: Option<Secret>,
    /// What the access token may be used for.
    pub scopes: Scopes,
    /// How long the access token lives, in whole seconds.
    pub expires_in: i64,
}

/// Secrets of tokens that are about to be issued. They are made before the transaction, which may
/// run again.
#[derive(Clone, Debug)]
pub(super) struct NewTokens {
    access: Secret,
    refresh: Secret,
    access_millis: i64,
    refresh_millis: i64,
}

/// A grant, and what of it an access token gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenGrant {
    pub(super) grant: GrantId,
    /// All that was granted.
    pub(super) granted: Scopes,
    /// What the access token gets of it.
    pub(super) scopes: Scopes,
    /// Which refresh token of the grant comes with it.
    pub(super) generation: i64,
}

impl NewTokens {
    pub(super) fn new(config: &OAuthConfig) -> Self {
        Self {
            access: Secret::generate_long(),
            refresh: Secret::generate_long(),
            access_millis: config.access_token_millis,
            refresh_millis: config.refresh_token_millis,
        }
    }

    /// Keeps the digests.
    pub(super) fn issue(&self, tx: &mut Tx<'_>, share: TokenGrant) -> StoreResult<()> {
        let now = tx.now();
        let ends = |millis| Timestamp(now.0.saturating_add(millis));
        let (grant, scopes) = (share.grant, share.scopes);
        let access = AccessToken {
            grant,
            scopes,
            created_at: now,
            expires_at: ends(self.access_millis),
        };
        tx.oauth_tokens()
            .insert_access(&hash(&self.access), access)?;
        if share.granted.contains(Scope::OfflineAccess) {
            let expires_at = ends(self.refresh_millis);
            let refresh = RefreshToken {
                grant,
                generation: share.generation,
                expires_at,
            };
            tx.oauth_tokens()
                .insert_refresh(&hash(&self.refresh), refresh)?;
        }
        Ok(())
    }

    /// What the client is told once that is committed.
    pub(super) fn into_tokens(self, share: TokenGrant) -> Tokens {
        Tokens {
            access: self.access,
            refresh: share
                .granted
                .contains(Scope::OfflineAccess)
                .then_some(self.refresh),
            scopes: share.scopes,
            expires_in: self.access_millis / 1000,
        }
    }
}

fn hash(secret: &Secret) -> [u8; 32] {
    let TokenHash(bytes) = secret.hash();
    bytes
}
