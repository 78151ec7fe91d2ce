//! What a use case can answer when it does not do what it was asked.

use std::collections::BTreeMap;

use eddyline_files::Error as FilesError;
use eddyline_model::Timestamp;
use eddyline_model::names::InvalidName;
use eddyline_model::policy::Refusal;
use eddyline_model::scopes::Scopes;
use eddyline_scim::ScimError;
use eddyline_storage::Error as StoreError;

use crate::limit::Limit;

/// What is wrong with each field.
pub type FieldErrors = BTreeMap<String, Vec<String>>;

/// The result of a use case.
pub type Result<T> = std::result::Result<T, Error>;

/// Seconds after which a caller with too many waiting reads or writes may try again.
const STORE_RETRY_SECONDS: u64 = 1;
const MINUTE_MILLIS: i64 = 60_000;

/// Why a use case did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the caller sent is not valid.
    #[error("validation error")]
    Invalid(FieldErrors),
    /// There are no credentials, or they are wrong.
    #[error("{0}")]
    Unauthenticated(&'static str),
    /// A bearer token is wrong or has ended.
    #[error("the access token is invalid")]
    InvalidToken,
    /// Too many failures; the caller may try again after so many seconds.
    #[error("too many failed attempts")]
    TooMany {
        /// Seconds to wait.
        retry_after: u64,
        /// The limit that was exceeded.
        limit: Limit,
    },
    /// The caller asks more often than is allowed; so many seconds later there is room again.
    #[error("too many requests")]
    TooManyRequests {
        /// Seconds to wait.
        retry_after: u64,
        /// The limit that was exceeded.
        limit: Limit,
    },
    /// A quota on mail is used up.
    #[error(transparent)]
    MailQuota(#[from] MailQuotaExceeded),
    /// For this caller there is no such thing.
    #[error("not found")]
    NotFound,
    /// The caller may not.
    #[error("access denied")]
    Denied,
    /// There is no such flow for this caller, of several that were named.
    #[error("flow {0} was not found")]
    NoSuchFlow(String),
    /// The caller may not read this flow, of several that were named.
    #[error("access to flow {0} is denied")]
    FlowDenied(String),
    /// The caller's token does not cover this; it would with any of these scopes.
    #[error("the access token lacks the scope")]
    MissingScope(Scopes),
    /// It was there and was removed.
    #[error("it was removed")]
    Gone,
    /// A link that was good for a while.
    #[error("the link has ended")]
    LinkEnded,
    /// More bytes came than are taken.
    #[error("too large")]
    TooLarge,
    /// It contradicts what is there.
    #[error("{0}")]
    Conflict(String),
    /// A limit on how many there may be is reached.
    #[error("{text}")]
    Full {
        /// Which bound that is.
        limit: Limit,
        /// The limit, in a sentence for the user.
        text: String,
    },
    /// An integration did not do what it was asked, or could not be asked.
    #[error(transparent)]
    Integration(#[from] IntegrationFailed),
    /// What an identity provider asked cannot be done.
    #[error(transparent)]
    Scim(#[from] ScimError),
    /// The store does not answer or has too much to do; trying later may help.
    #[error("the service is unavailable: {0}")]
    Unavailable(String),
    /// It took longer to look up than it may.
    #[error("the read took too long")]
    TookTooLong,
    /// No more files are kept for the organization or the user.
    #[error("{text}")]
    FileQuota {
        /// Whose quota it is.
        limit: Limit,
        /// How much is kept, in a sentence for the user.
        text: String,
    },
    /// There is no room for more data.
    #[error("the disk is full")]
    DiskFull,
    /// A mistake of ours. The text is for the log only.
    #[error("internal error: {0}")]
    Internal(String),
}

/// Why an integration did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct IntegrationFailed {
    /// What happened, in a sentence for the user.
    pub message: String,
    /// The status of its answer, if it gave one.
    pub status: Option<u16>,
    /// Where the user has to sign in first, if it says so. The address may let its holder act for
    /// the user, so it is nobody else's to see.
    pub authentication_url: Option<String>,
}

impl IntegrationFailed {
    /// It gave no answer that could be read, or was not asked.
    pub(crate) fn unasked(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            status: None,
            authentication_url: None,
        }
    }
}

/// Whose quota on mail is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailQuota {
    /// That of the address it goes to.
    Recipient,
    /// That of the user who causes it.
    Sender,
    /// That of the organization.
    Organization,
}

/// Why mail is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}; try again in {retry_after} seconds", self.reason())]
pub struct MailQuotaExceeded {
    /// Whose quota it is.
    pub quota: MailQuota,
    /// The same, and whether it is that of a minute or of a day.
    pub limit: Limit,
    /// Seconds to wait.
    pub retry_after: u64,
}

impl MailQuotaExceeded {
    /// The bound of a quota within `window` milliseconds.
    pub(crate) fn new(quota: MailQuota, window: i64, until: Timestamp, now: Timestamp) -> Self {
        let millis = u64::try_from(until.0 - now.0).unwrap_or_default();
        let limit = match (quota, window > MINUTE_MILLIS) {
            (MailQuota::Recipient, false) => Limit::RecipientMinute,
            (MailQuota::Recipient, true) => Limit::RecipientDay,
            (MailQuota::Sender, false) => Limit::SenderMinute,
            (MailQuota::Sender, true) => Limit::SenderDay,
            (MailQuota::Organization, false) => Limit::OrganizationMinute,
            (MailQuota::Organization, true) => Limit::OrganizationDay,
        };
        Self {
            quota,
            limit,
            retry_after: millis.div_ceil(1000).max(1),
        }
    }

    /// Which quota is used up, in a sentence for the user without a full stop.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self.quota {
            MailQuota::Recipient => "too much mail has gone to this address",
            MailQuota::Sender => "you have sent too much mail",
            MailQuota::Organization => "the organization has sent too much mail",
        }
    }
}

impl Error {
    /// One thing that is wrong with one field.
    #[must_use]
    pub fn field(name: &str, text: impl Into<String>) -> Self {
        Self::Invalid(BTreeMap::from([(name.to_owned(), vec![text.into()])]))
    }

    /// The bound for which a request was refused.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::TooMany { limit, .. }
            | Self::TooManyRequests { limit, .. }
            | Self::Full { limit, .. }
            | Self::FileQuota { limit, .. } => Some(*limit),
            Self::MailQuota(exceeded) => Some(exceeded.limit),
            Self::TooLarge => Some(Limit::Upload),
            Self::TookTooLong => Some(Limit::ReadTime),
            _ => None,
        }
    }

    /// What is wrong with the field `name`.
    pub(crate) fn wrong_name(wrong: InvalidName) -> Self {
        Self::field("name", wrong.to_string())
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::Busy | StoreError::LogRow { .. } => {
                Self::Unavailable(error.to_string())
            }
            StoreError::TooManyReads => Self::TooManyRequests {
                retry_after: STORE_RETRY_SECONDS,
                limit: Limit::Reads,
            },
            StoreError::TooManyWrites => Self::TooManyRequests {
                retry_after: STORE_RETRY_SECONDS,
                limit: Limit::Writes,
            },
            StoreError::Deadline => Self::TookTooLong,
            StoreError::DiskFull => Self::DiskFull,
            StoreError::Exists(_) => Self::Conflict("it exists already".into()),
            StoreError::Refused(why) => Self::Conflict(why.into()),
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<FilesError> for Error {
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::TooLarge => Self::TooLarge,
            FilesError::Full => Self::DiskFull,
            FilesError::NotFound => Self::NotFound,
            FilesError::Store(why) => Self::Unavailable(why.to_string()),
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound => Self::NotFound,
            Refusal::Denied => Self::Denied,
        }
    }
}
