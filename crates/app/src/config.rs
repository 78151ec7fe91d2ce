//! How an application is set up.

use std::time::Duration;

use eddyline_auth::{PasswordPolicy, SignInLimits};
use eddyline_mail::Mailer;
use eddyline_model::deletion::GracePeriod;
use eddyline_model::mail::MailRate;
use eddyline_outbound::Config as OutboundConfig;

use crate::addresses::Addresses;
use crate::audit_destination::AuditDestination;
use crate::quota::Quota;

/// Which clients the server speaks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Exactly as specified.
    #[default]
    Spec,
    /// Clients that cannot be changed.
    Classic,
}

/// Bounds on invitations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvitationLimits {
    /// How long nobody is mailed the same invitation again, in milliseconds.
    pub pause_millis: i64,
    /// How many invitations of members may be pending in a flow, and as many that were requested on
    /// the page of its join link; 0 for any number.
    pub pending: u32,
}

impl Default for InvitationLimits {
    fn default() -> Self {
        Self {
            pause_millis: 5 * 60_000,
            pending: 1_000,
        }
    }
}

/// How many flows there may be; 0 for any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowLimits {
    /// In one organization, archived ones included.
    pub of_organization: u32,
    /// Made by one user in one organization.
    pub of_user: u32,
}

impl Default for FlowLimits {
    fn default() -> Self {
        Self {
            of_organization: 5_000,
            of_user: 1_000,
        }
    }
}

/// How the audit log is kept.
#[derive(Clone, Debug)]
pub struct AuditConfig {
    /// How many days a record is kept.
    pub days: u32,
    /// Where records are sent to.
    pub destinations: Vec<AuditDestination>,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self {
            days: 400,
            destinations: Vec::new(),
        }
    }
}

/// Where files are kept, and how they are handed out.
#[derive(Clone, Debug)]
pub struct FilesConfig {
    /// Where they are kept. Without it none can be sent or read.
    pub place: Option<eddyline_files::Files>,
    /// The most bytes of all files of one message together.
    pub max_bytes: u64,
    /// How many bytes may be kept.
    pub quotas: FileQuotas,
    /// How long a link is good by which a file can be read without credentials, in milliseconds.
    pub link_millis: i64,
}

impl Default for FilesConfig {
    fn default() -> Self {
        Self {
            place: None,
            max_bytes: 100 << 20,
            quotas: FileQuotas::default(),
            link_millis: 60_000,
        }
    }
}

/// How many bytes of files may be kept; 0 for any number. Equal files count each time, thumbnails
/// do not, and small files count for 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileQuotas {
    /// In the flows of one organization.
    pub organization: u64,
    /// Sent by one user in private conversations.
    pub private: u64,
}

impl Default for FileQuotas {
    fn default() -> Self {
        Self {
            organization: 100 << 30,
            private: 10 << 30,
        }
    }
}

/// How OAuth is set up.
#[derive(Clone, Debug)]
pub struct OAuthConfig {
    /// How long an access token lives, in milliseconds.
    pub access_token_millis: i64,
    /// How long an authorization code lives, in milliseconds; ten minutes at most (RFC 6749,
    /// section 4.1.2).
    pub code_millis: i64,
    /// How long a refresh token that is not used lives, in milliseconds.
    pub refresh_token_millis: i64,
    /// Whether applications may ask for tokens with users' passwords at all.
    pub password_grant: bool,
    /// Whether codes may be shown to users at all, for them to copy.
    pub out_of_band: bool,
    /// How many wrong codes, refresh tokens and client secrets are taken from one address in a
    /// minute; 0 for any number.
    pub attempts_per_address: u32,
    /// What the key is made of under which secrets of applications are sealed. Without it the key
    /// is kept in the database.
    pub key: Option<KeyMaterial>,
}

impl Default for OAuthConfig {
    fn default() -> Self {
        const MINUTE: i64 = 60_000;
        Self {
            access_token_millis: 120 * MINUTE,
            code_millis: 10 * MINUTE,
            refresh_token_millis: 90 * 24 * 60 * MINUTE,
            password_grant: true,
            out_of_band: true,
            attempts_per_address: 100,
            key: None,
        }
    }
}

/// Random bytes that a key is made of. They never print themselves.
#[derive(Clone)]
pub struct KeyMaterial(
    /// The bytes, at least [`SealingKey::MIN_BYTES`](eddyline_auth::SealingKey::MIN_BYTES).
    pub Vec<u8>,
);

impl std::fmt::Debug for KeyMaterial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyMaterial([redacted])")
    }
}

/// The quotas on mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailQuotas {
    /// Mail to one address that one organization causes; all organizations together may cause five
    /// times as much.
    pub recipient: MailRate,
    /// Mail that one user causes.
    pub sender: MailRate,
    /// Mail that one organization causes.
    pub organization: MailRate,
}

impl Default for MailQuotas {
    fn default() -> Self {
        Self {
            recipient: MailRate {
                per_minute: 5,
                per_day: 20,
            },
            sender: MailRate {
                per_minute: 1_000,
                per_day: 2_000,
            },
            organization: MailRate {
                per_minute: 2_000,
                per_day: 5_000,
            },
        }
    }
}

/// How mail is sent.
#[derive(Clone, Debug)]
pub struct Mailing {
    /// Who sends it.
    pub mailer: Mailer,
    /// How long a mail that could not be sent waits for its second try; then twice as long each
    /// time, up to four hours.
    pub first_retry: Duration,
}

/// How many wrong tokens are taken in a minute for a provider from one address, unless said
/// otherwise.
pub const SCIM_ATTEMPTS: u32 = 10;

/// Returns the quota of streams that may be open at the same time on a server that takes so many
/// connections: seven eighths of them, so that requests have connections too. While all are open, a
/// user with less than an eighth of them, of an organization with less than a quarter, takes the
/// place of another.
#[must_use]
pub fn stream_quota(connections: usize) -> Quota {
    let total = (connections - connections / 8) as u64;
    Quota::new(total, total.div_ceil(4), total.div_ceil(8))
}

/// How an application is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The addresses that stand in answers.
    pub addresses: Addresses,
    /// Which clients it speaks for.
    pub profile: Profile,
    /// How often signing in may fail.
    pub sign_in: SignInLimits,
    /// How many wrong tokens are taken in a minute for an identity provider from one address; 0 for
    /// any number.
    pub scim_attempts: u32,
    /// How costly password hashes are.
    pub passwords: PasswordPolicy,
    /// How many requests a caller may make in any minute; 0 for any number.
    pub requests_per_minute: u32,
    /// How much mail may be caused.
    pub mail_quotas: MailQuotas,
    /// Bounds on invitations.
    pub invitations: InvitationLimits,
    /// How many flows there may be.
    pub flows: FlowLimits,
    /// How many streams may be open at the same time.
    pub streams: Quota,
    /// How mail is sent; without it, mail waits for a process that sends some.
    pub mail: Option<Mailing>,
    /// How OAuth is set up.
    pub oauth: OAuthConfig,
    /// Which addresses integrations may be asked at, and how long that may take.
    pub outbound: OutboundConfig,
    /// Whether pictures of integrations are fetched for the pages.
    pub fetch_pictures: bool,
    /// Where files are kept, and how they are handed out.
    pub files: FilesConfig,
    /// How the audit log is kept.
    pub audit: AuditConfig,
    /// How long a deletion waits that an administrator requests.
    pub deletion_grace: GracePeriod,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            addresses: Addresses::default(),
            profile: Profile::Spec,
            sign_in: SignInLimits::default(),
            scim_attempts: SCIM_ATTEMPTS,
            passwords: PasswordPolicy::default(),
            requests_per_minute: 0,
            mail_quotas: MailQuotas::default(),
            invitations: InvitationLimits::default(),
            flows: FlowLimits::default(),
            streams: stream_quota(20_000),
            mail: None,
            oauth: OAuthConfig::default(),
            outbound: OutboundConfig::default(),
            fetch_pictures: true,
            files: FilesConfig::default(),
            audit: AuditConfig::default(),
            deletion_grace: GracePeriod::DEFAULT,
        }
    }
}
