//! Finding out who asks, and remembering it: every request does this first.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;

use eddyline_auth::{Credentials, Password, Secret, SignInLimit, TokenHash};
use eddyline_auth::{Hasher, PasswordMemo, RefusalCounter, SignInGuard};
use eddyline_model::scopes::Scopes;
use eddyline_model::sources::ThreadOwner;
use eddyline_model::users::Account;
use eddyline_model::{CredentialId, GrantId, RoomId, Timestamp, UserId, names};
use eddyline_storage::{CredentialEpoch, FlowTokenOf, Reader, Result as StoreResult, Tx};

use crate::actor::{AccessCredential, Actor, Caller, Credential};
use crate::charging::{as_client, charge, charge_user};
use crate::core::Core;
use crate::core::transaction::{NoCaller, Principal};
use crate::loading_cache::LoadingCache;
use crate::metrics::{CacheLookups, LookupCounts};
use crate::quota::QuotaSubject;
use crate::refusals;
use crate::request_rates::{CountedRequest, RequestRates};
use crate::{Error, ErrorKind, Limit, Profile, Result};
use tracing::Instrument as _;

const REMEMBERED: usize = 50_000;
/// How much of the account that a failed sign-in named is logged.
const LOGGED_CHARS: usize = 100;

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
    fn actor(self, now: Timestamp, epoch: Option<u64>) -> Result<Actor> {
        if self.credential.expires_at <= now {
            return Err(Error::invalid_token());
        }
        let credential = Credential::AccessToken(self.credential);
        Ok(Actor::User {
            caller: self.caller,
            scopes: self.scopes,
            credential,
            epoch,
        })
    }
}

/// Callers by what they showed. Entries are forgotten when the log tells of a change.
pub(crate) struct CallerCache {
    users: LoadingCache<TokenHash, Arc<Caller>>,
    access: LoadingCache<TokenHash, KnownAccess>,
    accounts: LoadingCache<String, KnownAccount>,
    /// `None` stands for a source that was removed.
    flow_tokens: LoadingCache<TokenHash, Option<Actor>>,
    /// Counts the invalidations, once they are done.
    credential_epoch: Arc<CredentialEpoch>,
}

impl CallerCache {
    pub(crate) fn new(credential_epoch: Arc<CredentialEpoch>) -> Self {
        Self {
            users: LoadingCache::new(REMEMBERED),
            access: LoadingCache::new(REMEMBERED),
            accounts: LoadingCache::new(REMEMBERED),
            flow_tokens: LoadingCache::new(REMEMBERED),
            credential_epoch,
        }
    }

    /// The lookups of each cache, by the name that the metrics have for it.
    pub(crate) fn lookups(&self) -> [(&'static str, LookupCounts); 4] {
        [
            ("api_tokens", self.users.lookups()),
            ("access_tokens", self.access.lookups()),
            ("accounts", self.accounts.lookups()),
            ("flow_tokens", self.flow_tokens.lookups()),
        ]
    }

    /// Forgets credentials, and the tokens that came of grants.
    pub(crate) fn invalidate_ended(
        &self,
        credentials: &HashSet<CredentialId>,
        grants: &HashSet<GrantId>,
    ) {
        self.users
            .retain(|hash, _| !credentials.contains(&hash.credential()));
        self.access.retain(|hash, known| {
            !credentials.contains(&hash.credential()) && !grants.contains(&known.credential.grant)
        });
        self.credential_epoch.advance();
    }

    /// Forgets the tokens of a flow.
    pub(crate) fn invalidate_flow_tokens(&self, room: RoomId) {
        // What was removed stays so.
        let elsewhere =
            |actor: &Actor| !matches!(actor, Actor::FlowToken { room: of, .. } if *of == room);
        self.flow_tokens
            .retain(|_, known| known.as_ref().is_none_or(elsewhere));
        self.credential_epoch.advance();
    }

    /// Forgets a user, by whatever they show. What flow tokens stand for has nothing of a user.
    pub(crate) fn invalidate_user(&self, user: UserId) {
        self.users.retain(|_, caller| caller.user.id != user);
        self.access.retain(|_, known| known.caller.user.id != user);
        self.accounts.retain(|_, known| known.1.user.id != user);
        self.credential_epoch.advance();
    }
}

/// Loads the caller for a user; `None` if the user is inactive. Every authentication method goes
/// through here.
pub(crate) fn load_caller(
    reader: &mut Reader<'_>,
    user: eddyline_model::users::User,
) -> StoreResult<Option<Arc<Caller>>> {
    if !user.active {
        return Ok(None);
    }
    let organizations = reader.organization_members().list_of_user(user.id)?;
    let closed = reader.deletions().list_closed_of_user(user.id)?;
    Ok(Some(Arc::new(Caller {
        user,
        organizations,
        closed,
    })))
}

/// Whether what a password was checked against still opens the account with this address, whose
/// user is held.
pub(crate) fn still_opens(
    tx: &mut Tx<'_>,
    email_key: &str,
    user: UserId,
    checked: Option<&str>,
) -> StoreResult<bool> {
    let account = tx.users().find_account_by_email(email_key)?;
    Ok(account.is_some_and(|now| {
        now.user.id == user && now.user.active && now.password_hash.as_deref() == checked
    }))
}

/// Who holds a flow token; nobody once its source was removed.
fn holder(token: FlowTokenOf, hash: TokenHash, quota_subject: QuotaSubject) -> Option<Actor> {
    let FlowTokenOf { room, source } = token;
    let Some((source, shown)) = source else {
        let (thread_owner, token) = (ThreadOwner::FLOW, hash);
        return Some(Actor::FlowToken {
            room,
            source: None,
            thread_owner,
            token,
            epoch: None,
            quota_subject,
        });
    };
    let thread_owner = ThreadOwner {
        source: Some(source.id),
        application: source.application,
    };
    let shown = Some(Arc::new(shown));
    source.removed_at.is_none().then_some(Actor::FlowToken {
        room,
        source: shown,
        thread_owner,
        token: hash,
        epoch: None,
        quota_subject,
    })
}

/// Who is behind a flow token: the user who made its source, or the flow's organization for tokens
/// of operators.
fn quota_subject(reader: &mut Reader<'_>, token: &FlowTokenOf) -> StoreResult<QuotaSubject> {
    let user = token.source.as_ref().and_then(|(source, _)| source.creator);
    let organizations = match user {
        Some(user) => reader.organization_members().list_of_user(user)?,
        None => Vec::new(),
    };
    let organization = match organizations.first() {
        Some(first) => Some(first.organization),
        None => reader
            .flows()
            .find(token.room)?
            .map(|flow| flow.organization),
    };
    Ok(QuotaSubject { user, organization })
}

/// Who sends a request: every request is authenticated first. See [`crate::App::authentication`].
#[derive(Clone)]
pub struct Authentication {
    core: Core,
    pub(crate) callers: Arc<CallerCache>,
    pub(crate) hasher: Hasher,
    pub(crate) memo: Arc<PasswordMemo>,
    pub(crate) password_lookups: Arc<CacheLookups>,
    guard: Arc<SignInGuard>,
    requests: Arc<RequestRates>,
    refusals: Arc<RefusalCounter>,
}

crate::core::opaque_debug!(Authentication);

impl Authentication {
    pub(crate) fn new(core: Core) -> Result<Self> {
        let config = core.config();
        let hasher =
            Hasher::new(config.passwords).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Self {
            callers: Arc::new(CallerCache::new(core.store().credential_epoch().clone())),
            hasher,
            memo: Arc::default(),
            password_lookups: Arc::default(),
            guard: Arc::new(SignInGuard::new(config.sign_in)),
            requests: Arc::new(RequestRates::new(config.requests_per_minute)),
            refusals: Arc::default(),
            core,
        })
    }

    /// Finds out who shows these credentials, from this address.
    ///
    /// # Errors
    ///
    /// [`Error::unauthenticated`], [`Error::invalid_token`] for a bearer token,
    /// [`Error::too_many_attempts`] after too many wrong passwords.
    pub async fn authenticate(&self, credentials: Credentials, address: IpAddr) -> Result<Actor> {
        match credentials {
            Credentials::Token(token) => self.by_api_token(&token).await,
            Credentials::Basic { user, password } => {
                // On the heap: it is larger than what the other credentials need.
                Box::pin(self.by_password(&user, &password, address)).await
            }
            Credentials::Bearer(token) => self.by_access_token(&token).await,
        }
    }

    /// Counts a request of a caller, where the number of requests is bounded.
    ///
    /// # Errors
    ///
    /// [`Error::too_many_requests`].
    pub fn count_request(&self, actor: &Actor) -> Result<CountedRequest> {
        self.requests.count(actor, self.core.now())
    }

    /// Notes that a counted request was refused for a lack of rights, so that an application
    /// without rights does not use up the requests of other credentials.
    pub fn note_refused(&self, request: CountedRequest) {
        self.requests.refused(request);
    }

    /// Finds out whom an OAuth access token stands for.
    ///
    /// # Errors
    ///
    /// [`Error::invalid_token`].
    pub async fn by_access_token(&self, token: &Secret) -> Result<Actor> {
        self.by_access_hash(token.hash()).await
    }

    /// Finds the caller whose token stands among the parameters as `access_token`: an OAuth access
    /// token, or in the classic profile an API token, which old clients send that way.
    ///
    /// # Errors
    ///
    /// [`Error::invalid_token`].
    pub async fn by_parameter_token(&self, token: &Secret) -> Result<Actor> {
        let hash = token.hash();
        if self.core.config().profile == Profile::Spec {
            return self.by_access_hash(hash).await;
        }
        // One that is cached costs no query for the other kind.
        if !(self.core.caches_current() && self.callers.users.holds(&hash)) {
            match self.by_access_hash(hash).await {
                Err(error) if error.kind() == ErrorKind::InvalidToken => {}
                known => return known,
            }
        }
        self.by_api_hash(hash)
            .await
            .map_err(|error| match error.kind() {
                ErrorKind::Unauthenticated => Error::invalid_token(),
                _ => error,
            })
    }

    async fn by_access_hash(&self, hash: TokenHash) -> Result<Actor> {
        let epoch = self.credential_epoch();
        let load = || {
            self.core.store().read(move |reader| {
                let Some((token, grant)) = reader.oauth_tokens().find_access(&hash.0)? else {
                    return Ok(None);
                };
                let Some(user) = reader.users().find(grant.user)? else {
                    return Ok(None);
                };
                let credential = AccessCredential {
                    token: hash,
                    grant: grant.id,
                    application: grant.application,
                    expires_at: token.expires_at,
                };
                let caller = load_caller(reader, user)?;
                Ok(caller.map(|caller| KnownAccess {
                    caller,
                    scopes: token.scopes,
                    credential,
                }))
            })
        };
        let known = self
            .callers
            .access
            .find(self.core.caches_current(), hash, load)
            .await?;
        known
            .ok_or_else(Error::invalid_token)?
            .actor(self.core.now(), epoch)
            .inspect(charge)
    }

    /// Counts how often credentials have ended, or changed in what they are good for; `None` while
    /// this process does not know. To be asked for before a credential is looked up.
    pub(crate) fn credential_epoch(&self) -> Option<u64> {
        self.core
            .caches_current()
            .then(|| self.core.store().credential_epoch().epoch())
    }

    /// Whether a caller's credential is known to hold still. After any wait, such as for a body, a
    /// caller whose credential is no longer known to hold is to be authenticated again.
    #[must_use]
    pub fn is_current(&self, actor: &Actor) -> bool {
        actor.epoch().is_some()
            && actor.epoch() == self.credential_epoch()
            && actor.ends_at().is_none_or(|end| end > self.core.now())
    }

    /// The same caller once more: as what they showed has them now, if it still holds.
    pub(crate) async fn reauthenticate(&self, actor: &Actor) -> Result<Actor> {
        match actor {
            Actor::User {
                credential: Credential::ApiToken(hash),
                ..
            } => self.by_api_hash(*hash).await,
            Actor::User {
                credential: Credential::AccessToken(access),
                ..
            } => self.by_access_hash(access.token).await,
            Actor::User {
                credential: Credential::Session(_) | Credential::Password(_),
                ..
            }
            | Actor::FlowToken { .. } => {
                let (epoch, known) = (self.credential_epoch(), actor.clone());
                let found = self
                    .core
                    .read(move |reader| Principal::verify(reader, &known))
                    .await?;
                Ok(found.into_actor().checked_in(epoch))
            }
        }
    }

    /// Finds out which flow a flow token belongs to.
    ///
    /// # Errors
    ///
    /// [`Error::unauthenticated`], and [`Error::gone`] for the token of a source that was removed.
    pub async fn by_flow_token(&self, token: &Secret) -> Result<Actor> {
        let (hash, epoch) = (token.hash(), self.credential_epoch());
        let load = || {
            self.core.store().read(move |reader| {
                let Some(token) = reader.sources().find_token(&hash.0)? else {
                    return Ok(None);
                };
                let quota_subject = quota_subject(reader, &token)?;
                Ok(Some(holder(token, hash, quota_subject)))
            })
        };
        let known = self
            .callers
            .flow_tokens
            .find(self.core.caches_current(), hash, load)
            .await?;
        let known = known.ok_or_else(|| Error::unauthenticated("The flow token is not valid"))?;
        Ok(known.ok_or_else(Error::source_removed)?.checked_in(epoch)).inspect(charge)
    }

    async fn by_api_token(&self, token: &Secret) -> Result<Actor> {
        self.by_api_hash(token.hash()).await
    }

    async fn by_api_hash(&self, hash: TokenHash) -> Result<Actor> {
        let (credential, epoch) = (Credential::ApiToken(hash), self.credential_epoch());
        let load = || {
            self.core.store().read(
                move |reader| match reader.api_tokens().find_user(&hash.0)? {
                    Some(user) => load_caller(reader, user),
                    None => Ok(None),
                },
            )
        };
        let caller = self
            .callers
            .users
            .find(self.core.caches_current(), hash, load)
            .await?;
        let caller =
            caller.ok_or_else(|| Error::unauthenticated("The credentials are not valid"))?;
        Ok(Actor::User {
            caller,
            scopes: Scopes::ALL,
            credential,
            epoch,
        })
        .inspect(charge)
    }

    async fn by_password(
        &self,
        email: &str,
        password: &Password,
        address: IpAddr,
    ) -> Result<Actor> {
        let epoch = self.credential_epoch();
        let known = self.check_password(email, password, address).await?;
        let hash = known.0.password_hash.as_deref().unwrap_or_default();
        let credential = Credential::Password(TokenHash::of(hash));
        Ok(Actor::User {
            caller: known.1.clone(),
            scopes: Scopes::ALL,
            credential,
            epoch,
        })
    }

    /// The hash under which a password is stored.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] for a password that is empty or too long.
    pub(crate) async fn hash_password(&self, password: &Password) -> Result<String> {
        if !password.is_acceptable() {
            return Err(Error::invalid("password", "must have 1 to 1024 bytes"));
        }
        let span = tracing::info_span!("password.hash", otel.kind = "internal");
        self.hasher
            .hash(password)
            .instrument(span)
            .await
            .map_err(|error| Error::internal(error.to_string()))
    }

    /// The account of this address, if the password is its own. The request counts for its user
    /// from then on.
    ///
    /// # Errors
    ///
    /// [`Error::unauthenticated`], [`Error::too_many_attempts`].
    pub(crate) async fn check_password(
        &self,
        email: &str,
        password: &Password,
        address: IpAddr,
    ) -> Result<KnownAccount> {
        let known = self.match_password(email, password, address).await?;
        charge_user(&known.1);
        Ok(known)
    }

    async fn match_password(
        &self,
        email: &str,
        password: &Password,
        address: IpAddr,
    ) -> Result<KnownAccount> {
        let key = names::email_key(email);
        // Before what is cached, too: otherwise guessing could go on beside its owner's requests.
        self.check_attempts(&key, address)?;
        let account = self.account(&key).await?;
        if let Some(account) = &account
            && let Some(phc) = &account.0.password_hash
            && self.recalls(&key, password, phc)
        {
            return Ok(account.clone());
        }
        let turn = self.hasher.acquire().await;
        // Looked at again in turn: otherwise guesses made side by side all pass before any fails.
        self.check_attempts(&key, address)?;
        let known = account
            .as_ref()
            .and_then(|account| Some((account, account.0.password_hash.as_ref()?)));
        let span = tracing::info_span!("password.verify", otel.kind = "internal");
        let verifying = async {
            match known {
                Some((_, phc)) => turn.verify(password, phc).await,
                None => turn.verify_dummy(password).await,
            }
        };
        let verified = verifying.instrument(span).await;
        match known {
            Some((account, phc)) if verified => {
                self.memo.remember(&key, password, phc, self.core.now());
                Ok(account.clone())
            }
            _ => {
                self.guard.failed(&key, address, self.core.now());
                let name: String = key.chars().take(LOGGED_CHARS).collect();
                // docs/operating.md has a filter for fail2ban that reads this line. The account,
                // which the client chooses, stands last, and as a text, which the log puts in
                // quotes and escapes.
                tracing::info!(%address, account = name.as_str(), "sign-in failed");
                let caller = account.as_ref().map(|account| &*account.1);
                self.note_refusal(caller, address);
                Err(Error::unauthenticated("The credentials are not valid"))
            }
        }
    }

    /// Records that a wrong password was shown, beside the request: the time of its answer must not
    /// tell whether there is such an account. Each organization of the account gets its own record,
    /// within the bounds of [`RefusalCounter`].
    fn note_refusal(&self, caller: Option<&Caller>, address: IpAddr) {
        let entries = refusals::entries(&self.refusals, caller, self.core.now());
        if entries.is_empty() {
            return;
        }
        let core = self.core.clone();
        let recording = as_client(address, async move {
            let written = core.store().write(NoCaller::Refusal, move |tx| {
                let mut entries = entries.iter();
                entries.try_for_each(|entry| tx.audit().insert(entry))
            });
            Ok(written.await.map(drop)?)
        });
        self.core.jobs().finish_aside("refused sign-in", recording);
    }

    fn recalls(&self, key: &str, password: &Password, phc: &str) -> bool {
        let is_known = self.memo.recall(key, password, phc, self.core.now());
        self.password_lookups.note(is_known);
        is_known
    }

    fn check_attempts(&self, account: &str, address: IpAddr) -> Result<()> {
        self.guard
            .check(account, address, self.core.now())
            .map_err(|refused| {
                let limit = match refused.limit {
                    SignInLimit::Account => Limit::AccountPasswords,
                    SignInLimit::Address => Limit::AddressPasswords,
                };
                Error::too_many_attempts(limit, refused.wait.seconds)
            })
    }

    async fn account(&self, key: &str) -> Result<Option<KnownAccount>> {
        let wanted = key.to_owned();
        let load = || {
            self.core.store().read(move |reader| {
                match reader.users().find_account_by_email(&wanted)? {
                    Some(account) => {
                        let caller = load_caller(reader, account.user.clone())?;
                        Ok(caller.map(|caller| Arc::new((account, caller))))
                    }
                    None => Ok(None),
                }
            })
        };
        Ok(self
            .callers
            .accounts
            .find(self.core.caches_current(), key.to_owned(), load)
            .await?)
    }
}
