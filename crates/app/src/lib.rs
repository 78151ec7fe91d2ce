#![doc = include_str!("../README.md")]
//!
//! A use case takes an [`Actor`], loads what it needs, lets the model decide whether the caller
//! may, stores, and tells. [`App`] holds what they share: the store, the stream's hub, the caches
//! of callers and rooms. The feed ([`App::start`]) reads the log onward, encodes each entry
//! once and hands it to the hub; it also makes this process forget what others changed.
//!
//! Nothing here knows the status codes and headers of our answers, or diesel.

mod account_links;
mod accounts;
mod action_message;
mod actor;
mod addresses;
mod audit;
mod audit_destination;
mod audit_export;
mod authenticate;
mod avatars;
mod charging;
mod config;
mod core;
mod deletions;
mod email_addresses;
mod error;
mod feed;
mod feed_encode;
mod files;
mod flow_page;
mod flow_view;
mod flows;
mod groups;
mod heartbeat;
mod html;
mod invitations;
mod jobs;
mod join;
mod limit;
mod loading_cache;
mod mail_quota;
mod mailer;
mod messages;
mod metrics;
mod notifications;
mod oauth;
mod offboarding;
mod operator;
mod organizations;
mod page_frame;
mod pending_invitations;
mod pictures;
mod presence;
mod quota;
mod refusals;
mod request_rates;
mod retention;
mod ring_index;
mod rooms;
mod scim;
mod sources;
mod streams;
mod tabs;
mod threads;
mod tidy;
mod unpacking;
mod users;

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use eddyline_auth::{DownloadKey, SealingKey};
use eddyline_model::pictures::PicturePaths;
use eddyline_model::threads::ThreadIds;
use eddyline_model::{EventId, Timestamp};
use eddyline_storage::Store;
use eddyline_streaming::{Hub, HubConfig};
use eddyline_webpush::ServerKey;
use eddyline_wire::Encoder;
use tokio::sync::watch;

use crate::audit_export::AuditExporter;
use crate::core::Core;
use crate::core::transaction::{Database, NoCaller};
use crate::feed_encode::EntryEncoder;
use crate::unpacking::Unpacking;

pub use self::core::provider::ScimProvider;
pub use accounts::{
    Accounts, ApiToken, Confirmation, FlowPath, InvitationDetails, JoinLink, MAX_API_TOKENS,
    MAX_SESSIONS, NewAccount, OneSession, ResetLink, SESSION_DAYS, UndoLink,
};
pub use actor::{AccessCredential, Actor, Caller, Credential};
pub use addresses::Addresses;
pub use audit_destination::{AuditDestination, AuditWebhook};
pub use authenticate::Authentication;
pub use avatars::{Avatar, Avatars};
pub use charging::{as_client, current_caller};
pub use config::{
    AuditConfig, Config, FileQuotas, FilesConfig, FlowLimits, InvitationLimits, KeyMaterial,
    MailQuotas, Mailing, OAuthConfig, Profile, SCIM_ATTEMPTS, stream_quota,
};
pub use deletions::{
    ClosedPlace, CompletedDeletions, DeletionItem, DeletionName, DeletionProgress, Deletions,
};
pub use eddyline_auth::Variant;
pub use eddyline_auth::oauth::{
    AuthorizationParameters, AuthorizationRequest, ClientCredentials, OAuthError, OAuthParameters,
    TokenRequest,
};
pub use eddyline_auth::{
    Credentials, CredentialsError, Password, PasswordPolicy, Secret, SignInLimits,
    constant_time_eq, network_of,
};
pub use eddyline_model::audit::{AuditAction, AuditFilter, AuditRange};
pub use eddyline_model::mail::MailRate;
pub use eddyline_outbound::Config as OutboundConfig;
pub use eddyline_storage::BudgetKey;
pub use error::{Error, ErrorKind, FieldErrors, IntegrationFailed, Result};
pub use files::{Download, FileContent, Files, NewAttachment, Upload, Uploaded};
pub use flow_page::{FlowPage, FlowPageQuery, FlowPlace, PagePerson};
pub use flows::{FLOW_LIST_BYTES, FlowChanges, FlowList, Flows, FlowsWanted};
pub use groups::{GroupChanges, Groups, NewGroup};
pub use html::{add_plain_titles, html_of_text};
pub use invitations::{
    AddressFate, BLOCKED_ADDRESS, Invitations, InvitedList, OperatorInvitations, PRESENT_ADDRESS,
};
pub use jobs::Background;
pub use limit::Limit;
pub(crate) use mailer::Mail;
pub use messages::{
    Edit, LIST_BYTES, MessageList, MessageViews, Messages, NewInbox, NewPost, Posted, Pushed,
    PushedMail, Pushing, ROOMS_OF_LIST, ReactionChange, RoomsList, RoomsMessages, TagEdit,
};
pub use notifications::{
    MAX_SUBSCRIPTIONS, NewSubscription, Notifications, PageNotifications, time_zones,
};
pub use oauth::{
    ApplicationChanges, AuthenticatedClient, AuthorizationPrompt, AuthorizeError, Authorized,
    AuthorizedByMember, Introspection, NewApplication, OAuth, RenewedSecret, Tokens,
    renew_secret_key, what_is_sealed,
};
pub use operator::{
    ErasedUser, FlowToken, HeldItem, HoldName, NewFlow, NewOrganization, NewPerson, Operator,
    OrganizationChanges, OrganizationDetails, Provisioning, RetentionName, UserDetails,
};
pub use organizations::{
    ExpectedToken, ExplainedRecords, Organizations, OwnOrganization, ScimDetails,
};
pub use page_frame::PageFrame;
pub use pictures::{OutsidePicture, Pictures};
pub(crate) use presence::PresenceTracker;
pub use presence::{PRESENCE_CHANGES, StreamKey};
pub use quota::{KeyedSemaphore, Permit, Quota, QuotaExceeded, QuotaKey, QuotaKeys, QuotaSubject};
pub use request_rates::CountedRequest;
pub use retention::{AppliedRetention, Retention};
pub use rooms::{FlowRoom, Member, PrivateRoom, Room, Rooms};
pub use scim::{GroupsWanted, Scim, UsersWanted};
pub use sources::{NewSource, SourceChanges, Sources};
pub use streams::{Listening, StreamPoint, StreamRequest, Streams};
pub use tabs::TabOrder;
pub use threads::{ThreadPage, Threads, ThreadsOf};
pub use users::{UserChanges, Users};

/// What the stream hands out; see [`Streams::listen`].
pub mod streaming {
    pub use eddyline_streaming::presence::PresenceState;
    pub use eddyline_streaming::{Batch, StreamFormat, Subscription};
}

/// A running application. Clones share it. What it can do is grouped by area, and each area knows
/// only areas that are made before it ([`App::new`]).
#[derive(Clone)]
pub struct App {
    areas: Arc<Areas>,
}

struct Areas {
    core: Core,
    authentication: Authentication,
    mail: Mail,
    rooms: Rooms,
    presence: PresenceTracker,
    files: Files,
    avatars: Avatars,
    pictures: Pictures,
    accounts: Accounts,
    users: Users,
    organizations: Organizations,
    groups: Groups,
    flows: Flows,
    invitations: Invitations,
    sources: Sources,
    messages: Messages,
    notifications: Notifications,
    threads: Threads,
    oauth: OAuth,
    scim: Scim,
    streams: Streams,
    operator: Operator,
    retention: Retention,
    deletions: Deletions,
    provisioning: Provisioning,
    audit_export: AuditExporter,
}

core::opaque_debug!(App);

/// The value that all processes share under this name. The process that comes first makes it; the
/// others only read, since a command on a busy server would have to wait its turn to write.
async fn shared_setting(
    store: &Database,
    name: &'static str,
    fresh: impl FnOnce() -> Vec<u8>,
) -> Result<Vec<u8>> {
    if let Some(value) = store
        .read(move |reader| reader.settings().find(name))
        .await?
    {
        return Ok(value);
    }
    let fresh = fresh();
    Ok(store
        .write(NoCaller::Process, move |tx| {
            tx.settings().insert_or_find(name, &fresh)
        })
        .await?
        .0)
}

/// The part of every area.
async fn new_core(store: Database, config: Config) -> Result<Core> {
    let fresh = || Secret::generate_long().expose().as_bytes().to_vec();
    let thread_ids = ThreadIds::new(&shared_setting(&store, "thread_ids", fresh).await?);
    let pictures = PicturePaths::new(
        &shared_setting(&store, "picture_paths", fresh).await?,
        &config.addresses.base,
        config.fetch_pictures,
    );
    let classic = config.profile == Profile::Classic;
    let encoder = Encoder::new(thread_ids.clone(), pictures, classic);
    let entry_encoder = EntryEncoder::new(encoder.clone(), config.addresses.clone());
    let log = feed::replay::StoredLog::new(store.clone(), entry_encoder.clone());
    Ok(Core::new(core::Inner {
        hub: Hub::new(Arc::new(log), HubConfig::default()),
        encoder,
        entry_encoder,
        thread_ids,
        fed: watch::Sender::new(EventId::default()),
        synced_at: AtomicI64::new(0),
        node: Secret::generate().expose().to_owned(),
        jobs: jobs::Jobs::default(),
        revocations: core::RevocationMetrics::default(),
        config,
        store,
    }))
}

impl Areas {
    fn new(
        core: Core,
        sealing: SealingKey,
        links: DownloadKey,
        push_key: ServerKey,
    ) -> Result<Self> {
        let sealing = Arc::new(sealing);
        let unpacking = Arc::new(Unpacking::default());
        let authentication = Authentication::new(core.clone())?;
        let mail = Mail::new(core.clone());
        let rooms = Rooms::new(core.clone());
        let presence = PresenceTracker::new(core.clone());
        let files = Files::new(core.clone(), rooms.clone(), links, unpacking.clone());
        let accounts = Accounts::new(core.clone(), authentication.clone(), mail.clone());
        let sources = Sources::new(core.clone(), rooms.clone());
        let messages = Messages::new(
            core.clone(),
            authentication.clone(),
            rooms.clone(),
            files.clone(),
            presence.clone(),
        );
        let oauth = OAuth::new(core.clone(), authentication.clone(), sealing.clone());
        let operator = Operator::new(
            core.clone(),
            authentication.clone(),
            accounts.clone(),
            oauth.clone(),
            sources.clone(),
        );
        Ok(Self {
            avatars: Avatars::new(core.clone(), unpacking.clone()),
            pictures: Pictures::new(core.clone(), unpacking),
            users: Users::new(core.clone(), accounts.clone(), mail.clone()),
            organizations: Organizations::new(core.clone(), accounts.clone()),
            groups: Groups::new(core.clone()),
            notifications: Notifications::new(core.clone(), push_key),
            flows: Flows::new(core.clone(), rooms.clone(), presence.clone()),
            invitations: Invitations::new(core.clone(), rooms.clone(), mail.clone()),
            threads: Threads::new(core.clone(), messages.clone(), sealing),
            scim: Scim::new(core.clone(), mail.clone()),
            streams: Streams::new(
                core.clone(),
                authentication.clone(),
                rooms.clone(),
                presence.clone(),
            ),
            deletions: Deletions::new(
                core.clone(),
                operator.clone(),
                accounts.clone(),
                mail.clone(),
            ),
            operator,
            retention: Retention::new(core.clone()),
            provisioning: Provisioning::new(core.clone()),
            audit_export: AuditExporter::new(core.clone()),
            authentication,
            mail,
            rooms,
            presence,
            files,
            accounts,
            sources,
            messages,
            oauth,
            core,
        })
    }
}

/// A method of [`App`] for each area.
macro_rules! areas {
    ($($(#[$doc:meta])* $vis:vis $name:ident: $area:ty;)*) => {
        impl App {
            $($(#[$doc])*
            #[must_use]
            $vis fn $name(&self) -> &$area {
                &self.areas.$name
            })*
        }
    };
}

areas! {
    /// Finding out who sends a request.
    pub authentication: Authentication;
    /// Finding a flow's room, for a caller who may do something there.
    pub rooms: Rooms;
    /// Flows, their users and their join links.
    pub flows: Flows;
    /// Invitations to flows by mail.
    pub invitations: Invitations;
    /// What integrations post by into the inbox of a flow.
    pub sources: Sources;
    /// Messages of flows and of private conversations.
    pub messages: Messages;
    /// Notifications on users' devices.
    pub notifications: Notifications;
    /// Threads, and the actions that integrations offer in them.
    pub threads: Threads;
    /// Uploads, links and downloads of files.
    pub files: Files;
    /// Users as they see each other.
    pub users: Users;
    /// The pictures of users.
    pub avatars: Avatars;
    /// The pictures of integrations.
    pub pictures: Pictures;
    /// Organizations and their members.
    pub organizations: Organizations;
    /// Groups of users of an organization.
    pub groups: Groups;
    /// Accounts as their owners use them on the pages.
    pub accounts: Accounts;
    /// Applications, and the grants and tokens that users give them.
    pub oauth: OAuth;
    /// What identity providers do.
    pub scim: Scim;
    /// Streams of events.
    pub streams: Streams;
    /// What operators do from the command line.
    pub operator: Operator;
    /// How long messages are kept.
    pub retention: Retention;
    /// Deletions of organizations and users after a grace time.
    pub deletions: Deletions;
    /// How operators let identity providers in.
    pub provisioning: Provisioning;
    pub(crate) audit_export: AuditExporter;
    pub(crate) core: Core;
    pub(crate) mail: Mail;
    pub(crate) presence: PresenceTracker;
}

impl App {
    /// An application over a store. It serves streams once [`App::start`] has answered.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn new(store: Store, config: Config) -> Result<Self> {
        let store = Database::new(store);
        let (sealing, links) = oauth::keys(&store, config.oauth.key.as_ref()).await?;
        let push_key = notifications::server_key(&store, &sealing).await?;
        let core = new_core(store, config).await?;
        Ok(Self {
            areas: Arc::new(Areas::new(core, sealing, links, push_key)?),
        })
    }

    /// How this application is set up.
    #[must_use]
    pub fn config(&self) -> &Config {
        self.core().config()
    }

    /// The encoder of messages.
    #[must_use]
    pub fn encoder(&self) -> &Encoder {
        self.core().encoder()
    }

    /// What time it is.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.core().now()
    }

    /// Whether the database answers and can be written to.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`] when it does not.
    pub async fn ready(&self) -> Result<()> {
        let store = self.core().store();
        if !store.takes_writes() {
            return Err(Error::unavailable("nothing can be written"));
        }
        store.read(|reader| reader.log().find_head()).await?;
        Ok(())
    }

    /// Closes the store: finishes the writes that wait. Nothing can be written afterwards.
    pub async fn close(&self) {
        self.core().store().close().await;
    }
}
