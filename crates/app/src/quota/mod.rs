//! Bounds on how much of a resource is in use at the same time: in the process, by one organization
//! and by one caller, so that no caller and no organization can take all of it.

mod semaphore;
mod subject;

pub use self::semaphore::{KeyedSemaphore, Permit, QuotaExceeded};
pub use self::subject::{QuotaKey, QuotaKeys, QuotaSubject};

/// How much of a resource may be in use at the same time, in units that the resource defines:
/// requests, or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// In the whole process.
    pub total: u64,
    /// By the callers of one organization.
    pub organization: u64,
    /// By one caller.
    pub caller: u64,
    /// For one application.
    pub application: u64,
    /// By one network.
    pub network: u64,
}

impl Quota {
    /// The bounds of a resource that only callers and organizations use.
    #[must_use]
    pub const fn new(total: u64, organization: u64, caller: u64) -> Self {
        Self {
            total,
            organization,
            caller,
            application: u64::MAX,
            network: u64::MAX,
        }
    }

    /// How much may be in use under this key.
    #[must_use]
    pub const fn share(&self, key: QuotaKey) -> u64 {
        match key {
            QuotaKey::User(_) | QuotaKey::Tokens(_) => self.caller,
            QuotaKey::Organization(_) | QuotaKey::Outsiders => self.organization,
            QuotaKey::Application(_) => self.application,
            QuotaKey::NetworkV4(_) | QuotaKey::NetworkV6(_) => self.network,
        }
    }
}
