#![doc = include_str!("../README.md")]
//!
//! A use case takes an [`Actor`], loads what it needs, lets the model decide whether the caller
//! may, stores, and tells. [`App`] holds what they share: the store, the stream's hub, the caches
//! of callers and rooms. The feed ([`App::start`]) reads the log onward, encodes each entry
//! once and hands it to the hub; it also makes this process forget what others changed.
//!
//! Nothing here knows the status codes and headers of our answers, or diesel.

mod accounts;
mod actor;
mod addresses;
mod audit;
mod authenticate;
mod avatars;
mod charging;
mod config;
mod error;
mod feed;
mod feed_encode;
mod files;
mod flow_links;
mod flow_list;
mod flow_users;
mod flows;
mod groups;
mod invitations;
mod jobs;
mod join;
mod join_links;
mod limit;
mod liveness;
mod loading_cache;
mod mail_quota;
mod mailer;
mod messages;
mod oauth;
mod offboarding;
mod operator;
mod organizations;
mod presence;
mod private;
mod push;
mod quota;
mod reading;
mod recent;
mod rooms;
mod scim;
mod sources;
mod stream;
mod threads;
mod tidy;
mod transaction;
mod unpacking;
mod users;

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use eddyline_auth::{
    AddressGuard, DownloadKey, FailureLimiter, Hasher, PasswordMemo, SealingKey, SignInGuard,
};
use eddyline_model::log::Seq;
use eddyline_model::threads::ThreadIds;
use eddyline_model::{EventId, Timestamp};
use eddyline_storage::Store;
use eddyline_streaming::{Hub, HubConfig};
use eddyline_wire::Encoder;
use tokio::sync::{Notify, watch};

use crate::transaction::{Database, NoCaller};

pub use accounts::{
    ApiToken, FlowPath, Invited, JoinLink, MAX_API_TOKENS, MAX_SESSIONS, NewAccount, OneSession, ResetLink,
    SESSION_DAYS, UndoLink,
};
pub use actor::{AccessCredential, Actor, Caller, Credential};
pub use addresses::Addresses;
pub use avatars::Avatar;
pub use charging::{as_client, current_caller};
pub use config::{Config, FlowLimits, InvitationLimits, Profile};
pub use eddyline_auth::Variant;
pub use eddyline_auth::oauth::{
    AuthorizationParameters, AuthorizationRequest, ClientCredentials, OAuthError,
    Parameters as OAuthParameters, TokenRequest,
};
pub use eddyline_auth::{
    Credentials, CredentialsError, Password, PasswordPolicy, Secret, SignInLimits, constant_time_eq,
    network_of,
};
pub use eddyline_model::audit::AuditEntry;
pub use eddyline_model::mail::MailRate;
pub use eddyline_outbound::Config as OutboundConfig;
pub use eddyline_scim::ScimError;
pub use eddyline_storage::Account;
pub use error::{Error, FieldErrors, IntegrationFailed, Result};
pub use files::{Download, FileContent, FileQuotas, FilesConfig, NewAttachment, Upload, Uploaded};
pub use flow_list::{FLOW_LIST_BYTES, FlowList, FlowsWanted};
pub use flows::FlowChanges;
pub use groups::{GroupChanges, NewGroup};
pub use jobs::Background;
pub use limit::Limit;
pub use mail_quota::{MailQuota, MailQuotaExceeded, MailQuotas};
pub use mailer::Mailing;
pub use messages::{Edit, LIST_BYTES, MessageList, NewInbox, NewPost, Posted, Pushed, PushedMail};
pub use oauth::{
    ApplicationChanges, AuthenticatedClient, AuthorizationPrompt, AuthorizeError, Authorized,
    AuthorizedByMember, ClientFailure, Introspection, KeyMaterial, NewApplication, OAuthConfig,
    RenewedSecret, Tokens, renew_secret_key, what_is_sealed,
};
pub use operator::{
    FlowToken, NewFlow, NewOrganization, NewPerson, OrganizationChanges, OrganizationDetails, ScimDetails,
    UserDetails,
};
pub use organizations::OwnOrganization;
pub use private::NewPrivateMessage;
pub use push::Pushing;
pub use quota::{KeyedSemaphore, Owner, Permit, Quota, QuotaExceeded, QuotaKey, QuotaKeys};
pub use rooms::{Member, Room};
pub use scim::{SCIM_ATTEMPTS, ScimProvider, UsersWanted};
pub use sources::{NewSource, SourceChanges};
pub use stream::{Listen, Listening, StreamPoint, stream_quota};
pub use threads::{ThreadPage, ThreadsOf};
pub use users::UserChanges;

/// What the stream hands out; see [`App::listen`].
pub mod streaming {
    pub use eddyline_streaming::presence::PresenceState;
    pub use eddyline_streaming::{Batch, Format, Subscription};
}

/// How many addresses users may try for their accounts in a day: the answer tells whether somebody else
/// has one.
const NEW_ADDRESSES: u32 = 10;

/// A running application. Clones share it.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    store: Database,
    hub: Hub,
    encoder: Encoder,
    entry_encoder: feed_encode::EntryEncoder,
    thread_ids: ThreadIds,
    callers: authenticate::Callers,
    rooms: rooms::Rooms,
    latest: messages::Latest,
    searches: messages::Searches,
    hasher: Hasher,
    memo: PasswordMemo,
    guard: SignInGuard,
    mail_requests: SignInGuard,
    /// Of users who try addresses for their accounts.
    new_addresses: FailureLimiter,
    /// Of identity providers, by uid and address.
    scim_failures: FailureLimiter,
    /// Against guessing secrets of applications.
    client_guard: AddressGuard,
    /// Against guessing codes and refresh tokens. It is another one, since a visitor of an
    /// application's site can have it show wrong codes.
    code_guard: AddressGuard,
    /// Under which secrets of applications are kept.
    sealing: SealingKey,
    /// What links to files are signed with.
    links: DownloadKey,
    /// Notified when this process abandoned an upload.
    upload_abandoned: Notify,
    file_sums: files::usage::FileSums,
    requests: FailureLimiter,
    presence: presence::Online,
    /// Notified when this process puts mail into the queue.
    mail_queued: Notify,
    imports: invitations::Imports,
    gallery: avatars::Gallery,
    unpacking: unpacking::Unpacking,
    streams: KeyedSemaphore,
    /// New passwords that are checked and hashed.
    new_passwords: KeyedSemaphore,
    integrations: threads::Integrations,
    /// How far the feed has come.
    fed: watch::Sender<EventId>,
    /// When the feed last knew that it was up to date, in milliseconds since 1970.
    synced_at: AtomicI64,
    node: String,
    jobs: jobs::Jobs,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("App")
    }
}

/// The value that all processes share under this name. The process that comes first makes it; the others only
/// read, since a command on a busy server would have to wait its turn to write.
async fn shared_setting(
    store: &Database,
    name: &'static str,
    fresh: impl FnOnce() -> Vec<u8>,
) -> Result<Vec<u8>> {
    if let Some(value) = store.read(move |reader| reader.setting(name)).await? {
        return Ok(value);
    }
    let fresh = fresh();
    Ok(store.write(NoCaller::Process, move |tx| tx.setting_or_insert(name, &fresh)).await?.0)
}

impl App {
    /// An application over a store. It serves streams once [`App::start`] has answered.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn new(store: Store, config: Config) -> Result<Self> {
        let store = Database::new(store);
        let fresh = || Secret::generate_long().expose().as_bytes().to_vec();
        let thread_ids = ThreadIds::new(&shared_setting(&store, "thread_ids", fresh).await?);
        let (sealing, links) = oauth::keys(&store, config.oauth.key.as_ref()).await?;
        let encoder = Encoder::new(thread_ids.clone(), config.profile == Profile::Classic);
        let hasher = Hasher::new(config.passwords).map_err(|error| Error::Internal(error.to_string()))?;
        let entry_encoder = feed_encode::EntryEncoder::new(encoder.clone(), config.addresses.clone());
        let log = feed::replay::StoredLog::new(store.clone(), entry_encoder.clone());
        let hub = Hub::new(Arc::new(log), HubConfig::default());
        let guard = SignInGuard::new(config.sign_in);
        let jobs = jobs::Jobs::default();
        Ok(Self {
            inner: Arc::new(Inner {
                hub,
                encoder,
                entry_encoder,
                thread_ids,
                callers: authenticate::Callers::new(store.gate().clone()),
                rooms: rooms::Rooms::default(),
                latest: messages::Latest::default(),
                searches: messages::Searches::default(),
                hasher,
                memo: PasswordMemo::default(),
                guard,
                mail_requests: SignInGuard::new(config.sign_in),
                new_addresses: FailureLimiter::a_day(NEW_ADDRESSES),
                scim_failures: FailureLimiter::new(config.scim_attempts),
                client_guard: AddressGuard::new(config.oauth.attempts_per_address),
                code_guard: AddressGuard::new(config.oauth.attempts_per_address),
                sealing,
                links,
                upload_abandoned: Notify::new(),
                file_sums: files::usage::FileSums::default(),
                requests: FailureLimiter::new(config.requests_per_minute),
                presence: presence::Online::default(),
                mail_queued: Notify::new(),
                imports: invitations::Imports::default(),
                gallery: avatars::Gallery::default(),
                unpacking: unpacking::Unpacking::default(),
                streams: KeyedSemaphore::new(config.streams),
                new_passwords: KeyedSemaphore::new(accounts::password::NEW_PASSWORDS),
                integrations: threads::Integrations::new(config.outbound, config.profile, jobs.clone()),
                fed: watch::Sender::new(EventId::default()),
                synced_at: AtomicI64::new(0),
                node: Secret::generate().expose().to_owned(),
                jobs,
                config,
                store,
            }),
        })
    }

    /// How this application is set up.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// The encoder of messages.
    #[must_use]
    pub fn encoder(&self) -> &Encoder {
        &self.inner.encoder
    }

    /// What time it is.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.inner.store.now()
    }

    /// Whether the database answers and can be written to.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it does not.
    pub async fn ready(&self) -> Result<()> {
        if !self.store().takes_writes() {
            return Err(Error::Unavailable("nothing can be written".into()));
        }
        self.inner.store.read(|reader| reader.log_head()).await?;
        Ok(())
    }

    /// Closes the store: finishes the writes that wait. Nothing can be written afterwards.
    pub async fn close(&self) {
        self.store().close().await;
    }

    fn jobs(&self) -> &jobs::Jobs {
        &self.inner.jobs
    }

    fn store(&self) -> &Database {
        &self.inner.store
    }

    fn position(&self) -> Seq {
        self.inner.fed.borrow().seq
    }
}
