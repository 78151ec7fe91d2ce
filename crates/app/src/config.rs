//! How an application is set up.

use eddyline_auth::{PasswordPolicy, SignInLimits};

use crate::scim::SCIM_ATTEMPTS;
use crate::streams::stream_quota;
use crate::{Addresses, FilesConfig, MailQuotas, Mailing, OAuthConfig, OutboundConfig, Quota};

/// Which clients the server speaks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The specification to the letter.
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
    /// How many invitations of members may be pending in a flow, and as many that were requested on the page of
    /// its join link; 0 for any number.
    pub pending: u32,
}

impl Default for InvitationLimits {
    fn default() -> Self {
        Self { pause_millis: 5 * 60_000, pending: 1_000 }
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
        Self { of_organization: 5_000, of_user: 1_000 }
    }
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
    /// How many wrong tokens are taken in a minute for an identity provider from one address; 0 for any
    /// number.
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
    /// Where files are kept, and how they are handed out.
    pub files: FilesConfig,
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
            files: FilesConfig::default(),
        }
    }
}
