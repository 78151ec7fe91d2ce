//! Sessions: browsers that are signed in, and what their owner sees of them.

use std::net::IpAddr;

use eddyline_auth::{Password, Secret, TokenHash};
use eddyline_model::audit::{AuditAction, AuditEntry, AuditTarget, actor};
use eddyline_model::log::Control;
use eddyline_model::scopes::Scopes;
use eddyline_model::{CredentialId, Timestamp, UserId, names};
use eddyline_storage::{Result as StoreResult, Tx};

use super::api_tokens::require_first_party_user;
use crate::actor::{Actor, Credential};
use crate::audit::note_account;
use crate::authenticate::load_caller;
use crate::authenticate::still_opens;
use crate::charging::charge;
use crate::core::transaction::NoCaller;
use crate::{Accounts, Error, Result};

/// How long a session lasts after it was last used, in days.
pub const SESSION_DAYS: i64 = 30;

/// How much is kept of what a browser calls itself, in characters.
const MAX_AGENT: usize = 200;

/// For how long a session counts as much as the password.
const FRESH_MILLIS: i64 = 10 * 60_000;

const HOUR_MILLIS: i64 = 3_600_000;
/// How many sessions a user may have.
pub const MAX_SESSIONS: usize = 100;
const SESSION_MILLIS: i64 = SESSION_DAYS * 24 * HOUR_MILLIS;

/// A browser that is signed in, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneSession {
    /// What it is named by.
    pub id: CredentialId,
    /// What the browser calls itself; empty when it does not say.
    pub agent: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, within an hour.
    pub seen_at: Timestamp,
    /// Whether it is the one that asks.
    pub is_this: bool,
}

/// Begins a session within a transaction that has locked the user. When the user has
/// [`MAX_SESSIONS`], the least recently used ones end.
pub(super) fn begin(tx: &mut Tx<'_>, hash: &TokenHash, user: UserId) -> StoreResult<()> {
    let all = tx.sessions().list_of_user(user, Timestamp(0))?;
    for oldest in all
        .iter()
        .skip(MAX_SESSIONS - 1)
        .filter_map(|one| TokenHash::from_bytes(&one.hash))
    {
        end(tx, &oldest, user)?;
    }
    let now = tx.now();
    tx.sessions().insert(&hash.0, user, now)?;
    // Who opens a session acts as its user from then on.
    tx.set_actor(actor::user(user));
    let entry = AuditEntry::new(AuditAction::SessionBegin, None).on(target(hash));
    note_account(tx, user, entry)
}

/// How records name a session.
fn target(hash: &TokenHash) -> AuditTarget {
    AuditTarget::new("session", hash.credential().0, "")
}

/// Ends a session and what was opened with it.
fn end(tx: &mut Tx<'_>, hash: &TokenHash, user: UserId) -> StoreResult<()> {
    tx.sessions().delete(&hash.0)?;
    tx.record_event(Control::CredentialEnd {
        user,
        credential: hash.credential(),
    });
    note_end(tx, hash, user)
}

fn note_end(tx: &mut Tx<'_>, hash: &TokenHash, user: UserId) -> StoreResult<()> {
    let entry = AuditEntry::new(AuditAction::SessionEnd, None).on(target(hash));
    note_account(tx, user, entry)
}

/// Ends all sessions of a user, who is held, and records those that had not expired. The caller
/// announces it with [`Control::Revoked`].
pub(super) fn end_all(tx: &mut Tx<'_>, user: UserId) -> StoreResult<()> {
    let since = tx.now().plus_millis(-SESSION_MILLIS);
    for session in tx.sessions().list_of_user(user, since)? {
        if let Some(hash) = TokenHash::from_bytes(&session.hash) {
            note_end(tx, &hash, user)?;
        }
    }
    tx.sessions().delete_of_user(user, None)
}

impl Accounts {
    /// Signs somebody in at this address and gives the secret of the new session.
    ///
    /// # Errors
    ///
    /// [`Error::unauthenticated`], and [`Error::too_many_attempts`] after too many wrong passwords:
    /// the limits are the same, and count together, for every way of showing a password.
    pub async fn sign_in(
        &self,
        email: &str,
        password: &Password,
        address: IpAddr,
    ) -> Result<Secret> {
        let known = self
            .authentication
            .check_password(email, password, address)
            .await?;
        let (user, checked) = (known.0.user.id, known.0.password_hash.clone());
        let (secret, key) = (Secret::generate_long(), names::email_key(email));
        let hash = secret.hash();
        let ((), event) = self
            .core
            .transaction(NoCaller::SignIn, move |tx| {
                // A change of the password ends all sessions. The lock keeps this one from
                // beginning right after such a change with the password before.
                tx.users().lock(user)?;
                if !still_opens(tx, &key, user, checked.as_deref())? {
                    return Err(Error::unauthenticated("The credentials are not valid").into());
                }
                Ok(begin(tx, &hash, user)?)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(secret)
    }

    /// Finds out whose session this is; `None` when it has ended. A session ends when it was not
    /// used for [`SESSION_DAYS`]; that it is used is noted once an hour.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn by_session(&self, session: &Secret) -> Result<Option<Actor>> {
        let epoch = self.authentication.credential_epoch();
        let (hash, now) = (session.hash(), self.core.now());
        let since = now.plus_millis(-SESSION_MILLIS);
        let found = self
            .core
            .store()
            .read(move |reader| {
                let Some((id, seen)) = reader.sessions().find_user(&hash.0, since)? else {
                    return Ok(None);
                };
                let Some(user) = reader.users().find(id)? else {
                    return Ok(None);
                };
                Ok(load_caller(reader, user)?.map(|caller| (caller, seen)))
            })
            .await?;
        let Some((caller, seen)) = found else {
            return Ok(None);
        };
        let actor = Actor::User {
            caller,
            scopes: Scopes::ALL,
            credential: Credential::Session(hash),
            epoch,
        };
        // From here on the request counts for the user, not for the network.
        charge(&actor);
        if now.0 - seen.0 >= HOUR_MILLIS {
            self.note_use(&actor, hash, now).await;
        }
        Ok(Some(actor))
    }

    /// Notes that a session is used, unless the caller's other writes would have to be waited for:
    /// it holds for now all the same, and the next request tries again.
    async fn note_use(&self, actor: &Actor, session: TokenHash, now: Timestamp) {
        let Ok(counted) = self.core.store().transaction_permit_now(actor.quota_keys()) else {
            return;
        };
        let noting = self.core.store().write(NoCaller::Session, move |tx| {
            tx.sessions().touch(&session.0, now)
        });
        if let Err(error) = self.core.store().run_counted(counted, noting).await {
            tracing::debug!(%error, "the use of a session could not be noted");
        }
    }

    /// Whether the caller shows the password with this request, or has signed in within the last
    /// ten minutes.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn has_signed_in_lately(&self, actor: &Actor) -> Result<bool> {
        let hash = match actor.credential() {
            Some(Credential::Password(_)) => return Ok(true),
            Some(Credential::Session(hash)) => hash,
            Some(Credential::ApiToken(_) | Credential::AccessToken(_)) | None => return Ok(false),
        };
        let since = self.core.now().plus_millis(-FRESH_MILLIS);
        let begun = self
            .core
            .store()
            .read(move |reader| reader.sessions().find_start(&hash.0))
            .await?;
        Ok(begun.is_some_and(|begun| begun > since))
    }

    /// Notes what the browser of a session calls itself: its first 200 characters, without those
    /// that are not for showing.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn name_session(&self, session: &Secret, agent: &str) -> Result<()> {
        let hash = session.hash();
        let agent: String = agent
            .trim()
            .chars()
            .filter(|c| !c.is_control())
            .take(MAX_AGENT)
            .collect();
        self.core
            .store()
            .write(NoCaller::Session, move |tx| {
                tx.sessions().set_agent(&hash.0, &agent)
            })
            .await?;
        Ok(())
    }

    /// Ends a session, in every process once this answers. Ending it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn sign_out(&self, session: &Secret) -> Result<()> {
        let hash = session.hash();
        // Read first, so that invented sessions cost no transaction.
        if self
            .core
            .store()
            .read(move |reader| reader.sessions().find_user(&hash.0, Timestamp(0)))
            .await?
            .is_none()
        {
            return Ok(());
        }
        let ((), event) = self
            .core
            .store()
            .write(NoCaller::Session, move |tx| {
                if let Some((user, _)) = tx.sessions().find_user(&hash.0, Timestamp(0))? {
                    tx.set_actor(actor::user(user));
                    end(tx, &hash, user)?;
                }
                Ok(())
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }

    /// The sessions of the caller, the last used first.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for applications and flow tokens.
    pub async fn sessions(&self, actor: &Actor) -> Result<Vec<OneSession>> {
        let (user, this) = (require_first_party_user(actor)?, session_of(actor));
        let since = self.core.now().plus_millis(-SESSION_MILLIS);
        let found = self
            .core
            .store()
            .read(move |reader| reader.sessions().list_of_user(user, since))
            .await?;
        let shown = found.into_iter().filter_map(|session| {
            let hash = TokenHash::from_bytes(&session.hash)?;
            Some(OneSession {
                id: hash.credential(),
                agent: session.agent,
                created_at: session.created_at,
                seen_at: session.seen_at,
                is_this: this == Some(hash),
            })
        });
        Ok(shown.collect())
    }

    /// Ends a session of the caller's, in every process once this answers.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the caller has no such session, [`Error::denied`] for applications
    /// and flow tokens.
    pub async fn end_session(&self, actor: &Actor, id: CredentialId) -> Result<()> {
        let ended = self
            .end_sessions(actor, move |hash| hash.credential() == id)
            .await?;
        if ended == 0 {
            Err(Error::not_found())
        } else {
            Ok(())
        }
    }

    /// Ends all sessions of the caller but the one that asks, and tells how many there were.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for applications and flow tokens.
    pub async fn end_other_sessions(&self, actor: &Actor) -> Result<usize> {
        let this = session_of(actor);
        self.end_sessions(actor, move |hash| this != Some(*hash))
            .await
    }

    async fn end_sessions(
        &self,
        actor: &Actor,
        which: impl Fn(&TokenHash) -> bool + Send + Sync + 'static,
    ) -> Result<usize> {
        let user = require_first_party_user(actor)?;
        let (ended, event) = self
            .core
            .transaction_as(actor, move |tx, actor| {
                // A transaction that signs in locks the user too, and begins a session before or
                // after.
                tx.users().lock(user)?;
                // It may be among those that end.
                actor.lock_credential(tx)?;
                let all = tx.sessions().list_of_user(user, Timestamp(0))?;
                let hashes = all
                    .iter()
                    .filter_map(|session| TokenHash::from_bytes(&session.hash));
                let chosen: Vec<TokenHash> = hashes.filter(|hash| which(hash)).collect();
                for hash in &chosen {
                    end(tx, hash, user)?;
                }
                Ok(chosen.len())
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(ended)
    }
}

fn session_of(actor: &Actor) -> Option<TokenHash> {
    match actor.credential() {
        Some(Credential::Session(hash)) => Some(hash),
        _ => None,
    }
}
