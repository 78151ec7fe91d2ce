//! How an application is set up.

use eddyline_auth::{PasswordPolicy, SignInLimits};

use crate::scim::SCIM_ATTEMPTS;
use crate::{Addresses, FilesConfig, Mailing, OAuthConfig, OutboundConfig};

/// Which clients the server speaks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The specification to the letter.
    #[default]
    Spec,
    /// Clients that cannot be changed.
    Classic,
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
            mail: None,
            oauth: OAuthConfig::default(),
            outbound: OutboundConfig::default(),
            files: FilesConfig::default(),
        }
    }
}
