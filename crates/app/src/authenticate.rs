//! Finding out who asks, and remembering it: every request does this first.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use eddyline_auth::{Credentials, Password, Secret, TokenHash};
use eddyline_model::scopes::Scopes;
use eddyline_model::sources::Keeper;
use eddyline_model::users::Account;
use eddyline_model::{CredentialId, GrantId, RoomId, Timestamp, names};
use eddyline_storage::{FlowTokenOf, Result as StoreResult, Session};

use crate::actor::{AccessCredential, Actor, Caller, Credential};
use crate::read_budget::charge;
use crate::remembered::Remembered;
use crate::{App, Error, Result};

const REMEMBERED: usize = 50_000;

/// An account, and its user as a caller.
pub(crate) type KnownAccount = Arc<(Account, Arc<Caller>)>;

/// An access token, and its user as a caller.
#[derive(Clone)]
struct KnownAccess {
    caller: Arc<Caller>,
    scopes: Scopes,
    credential: AccessCredential,
}

impl KnownAccess {
    /// Who asks with the token now; nobody once it has ended.
    fn actor(self, now: Timestamp) -> Result<Actor> {
        if self.credential.expires_at <= now {
            return Err(Error::InvalidToken);
        }
        let credential = Credential::AccessToken(self.credential);
        Ok(Actor::User { caller: self.caller, scopes: self.scopes, credential })
    }
}

/// Callers by what they showed. Entries are forgotten when the log tells of a change.
pub(crate) struct Callers {
    users: Remembered<TokenHash, Arc<Caller>>,
    access: Remembered<TokenHash, KnownAccess>,
    accounts: Remembered<String, KnownAccount>,
    /// `None` stands for a source that was removed.
    flow_tokens: Remembered<TokenHash, Option<Actor>>,
    /// Counts the forgettings, once they are done.
    changes: AtomicU64,
}

impl Default for Callers {
    fn default() -> Self {
        Self {
            users: Remembered::new(REMEMBERED),
            access: Remembered::new(REMEMBERED),
            accounts: Remembered::new(REMEMBERED),
            flow_tokens: Remembered::new(REMEMBERED),
            changes: AtomicU64::new(0),
        }
    }
}

impl Callers {
    /// Forgets credentials, and the tokens that came of grants.
    pub(crate) fn forget_ended(&self, credentials: &HashSet<CredentialId>, grants: &HashSet<GrantId>) {
        self.users.retain(|hash, _| !credentials.contains(&hash.credential()));
        self.access.retain(|hash, known| {
            !credentials.contains(&hash.credential()) && !grants.contains(&known.credential.grant)
        });
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    /// Forgets the tokens of a flow.
    pub(crate) fn forget_flow_tokens(&self, room: RoomId) {
        // What was removed stays so.
        let elsewhere = |actor: &Actor| !matches!(actor, Actor::FlowToken { room: of, .. } if *of == room);
        self.flow_tokens.retain(|_, known| known.as_ref().is_none_or(elsewhere));
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    /// Forgets everybody. Changes of users are rare, and loading one again is one query.
    pub(crate) fn forget(&self) {
        self.users.forget_all();
        self.access.forget_all();
        self.accounts.forget_all();
        self.flow_tokens.forget_all();
        self.changes.fetch_add(1, Ordering::SeqCst);
    }
}

/// A user as a caller, which every way of showing who one is comes by. Nobody is one as an inactive user.
pub(crate) fn load_caller(
    session: &mut Session<'_>,
    user: eddyline_model::users::User,
) -> StoreResult<Option<Arc<Caller>>> {
    if !user.active {
        return Ok(None);
    }
    let organizations = session.memberships_of(user.id)?;
    Ok(Some(Arc::new(Caller { user, organizations })))
}

/// Who holds a flow token; nobody once its source was removed.
fn holder(token: FlowTokenOf, hash: TokenHash) -> Option<Actor> {
    let Some((source, shown)) = token.source else {
        return Some(Actor::FlowToken { room: token.room, source: None, keeper: Keeper::FLOW, token: hash });
    };
    let keeper = Keeper { source: Some(source.id), application: source.application };
    let shown = Some(Arc::new(shown));
    source.removed_at.is_none().then_some(Actor::FlowToken {
        room: token.room,
        source: shown,
        keeper,
        token: hash,
    })
}

impl App {
    /// Finds out who shows these credentials, from this address.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`], [`Error::InvalidToken`] for a bearer token, [`Error::TooMany`]
    /// after too many wrong passwords.
    pub async fn authenticate(&self, credentials: Credentials, address: IpAddr) -> Result<Actor> {
        match credentials {
            Credentials::Token(token) => self.by_api_token(&token).await,
            Credentials::Basic { user, password } => self.by_password(&user, &password, address).await,
            Credentials::Bearer(token) => self.by_access_token(&token).await,
        }
    }

    /// Counts a request of a caller, where the number of requests is bounded.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`].
    pub fn count_request(&self, actor: &Actor) -> Result<()> {
        if self.config().requests_per_minute == 0 {
            return Ok(());
        }
        let key = match actor {
            Actor::User { caller, .. } => (0, caller.user.id.0),
            Actor::FlowToken { room, .. } => (1, room.0),
        };
        let (requests, now) = (&self.inner.requests, self.now());
        requests.check(&key, now).map_err(|wait| Error::TooManyRequests { retry_after: wait.seconds })?;
        requests.failed(&key, now);
        Ok(())
    }

    /// Finds out whom an OAuth access token stands for.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidToken`].
    pub async fn by_access_token(&self, token: &Secret) -> Result<Actor> {
        self.by_access_hash(token.hash()).await
    }

    async fn by_access_hash(&self, hash: TokenHash) -> Result<Actor> {
        let load = self.store().read(move |session| {
            let Some((token, grant)) = session.access_token(&hash.0)? else { return Ok(None) };
            let Some(user) = session.user(grant.user)? else { return Ok(None) };
            let credential = AccessCredential {
                token: hash,
                grant: grant.id,
                application: grant.application,
                expires_at: token.expires_at,
            };
            let caller = load_caller(session, user)?;
            Ok(caller.map(|caller| KnownAccess { caller, scopes: token.scopes, credential }))
        });
        let known = self.inner.callers.access.find(self.trusts_caches(), hash, load).await?;
        known.ok_or(Error::InvalidToken)?.actor(self.now()).inspect(charge)
    }

    /// What is another value once credentials have ended, or changed in what they are good for; `None`
    /// while this process does not know. Whoever found out about a caller and then waited, for a body that
    /// takes its time, compares it with the one before, and asks again if it changed.
    #[must_use]
    pub fn credential_changes(&self) -> Option<u64> {
        self.trusts_caches().then(|| self.inner.callers.changes.load(Ordering::SeqCst))
    }

    /// The same caller once more: as what they showed has them now, if it still holds.
    pub(crate) async fn again(&self, actor: &Actor) -> Result<Actor> {
        match actor.credential() {
            Some(Credential::ApiToken(hash)) => self.by_api_hash(hash).await,
            Some(Credential::AccessToken(access)) => self.by_access_hash(access.token).await,
            Some(Credential::Password | Credential::Session(_)) | None => Ok(actor.clone()),
        }
    }

    /// Finds out which flow a flow token belongs to.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`], and [`Error::Gone`] for the token of a source that was removed.
    pub async fn by_flow_token(&self, token: &Secret) -> Result<Actor> {
        let hash = token.hash();
        let load = self.store().read(move |session| {
            let token = session.flow_token(&hash.0)?;
            Ok(token.map(|token| holder(token, hash)))
        });
        let known = self.inner.callers.flow_tokens.find(self.trusts_caches(), hash, load).await?;
        known.ok_or(Error::Unauthenticated("The flow token is not valid"))?.ok_or(Error::Gone).inspect(charge)
    }

    async fn by_api_token(&self, token: &Secret) -> Result<Actor> {
        self.by_api_hash(token.hash()).await
    }

    async fn by_api_hash(&self, hash: TokenHash) -> Result<Actor> {
        let credential = Credential::ApiToken(hash);
        let load = self.store().read(move |session| match session.user_by_api_token(&hash.0)? {
            Some(user) => load_caller(session, user),
            None => Ok(None),
        });
        let caller = self.inner.callers.users.find(self.trusts_caches(), hash, load).await?;
        let caller = caller.ok_or(Error::Unauthenticated("The credentials are not valid"))?;
        Ok(Actor::User { caller, scopes: Scopes::ALL, credential }).inspect(charge)
    }

    async fn by_password(&self, email: &str, password: &Password, address: IpAddr) -> Result<Actor> {
        let known = self.check_password(email, password, address).await?;
        let (caller, credential) = (known.1.clone(), Credential::Password);
        Ok(Actor::User { caller, scopes: Scopes::ALL, credential }).inspect(charge)
    }

    /// The account of this address, if the password is its own.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`], [`Error::TooMany`].
    pub(crate) async fn check_password(
        &self,
        email: &str,
        password: &Password,
        address: IpAddr,
    ) -> Result<KnownAccount> {
        let key = names::email_key(email);
        // Before what is remembered, too: otherwise guessing could go on beside its owner's requests.
        self.check_attempts(&key, address)?;
        let account = self.account(&key).await?;
        if let Some(account) = &account
            && let Some(phc) = &account.0.password_hash
            && self.inner.memo.recall(&key, password, phc, self.now())
        {
            return Ok(account.clone());
        }
        let turn = self.inner.hasher.turn().await;
        // Looked at again in turn: otherwise guesses made side by side all pass before any fails.
        self.check_attempts(&key, address)?;
        let known = account.as_ref().and_then(|account| Some((account, account.0.password_hash.as_ref()?)));
        let verified = match known {
            Some((_, phc)) => turn.verify(password, phc).await,
            None => turn.verify_dummy(password).await,
        };
        match known {
            Some((account, phc)) if verified => {
                self.inner.memo.remember(&key, password, phc, self.now());
                Ok(account.clone())
            }
            _ => {
                self.inner.guard.failed(&key, address, self.now());
                Err(Error::Unauthenticated("The credentials are not valid"))
            }
        }
    }

    fn check_attempts(&self, account: &str, address: IpAddr) -> Result<()> {
        self.inner
            .guard
            .check(account, address, self.now())
            .map_err(|wait| Error::TooMany { retry_after: wait.seconds })
    }

    async fn account(&self, key: &str) -> Result<Option<KnownAccount>> {
        let wanted = key.to_owned();
        let load = self.store().read(move |session| match session.account_by_email(&wanted)? {
            Some(account) => {
                let caller = load_caller(session, account.user.clone())?;
                Ok(caller.map(|caller| Arc::new((account, caller))))
            }
            None => Ok(None),
        });
        Ok(self.inner.callers.accounts.find(self.trusts_caches(), key.to_owned(), load).await?)
    }
}
