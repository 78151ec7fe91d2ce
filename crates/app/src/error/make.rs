//! Constructors of errors, one for each kind.

use std::borrow::Cow;

use eddyline_model::Timestamp;
use eddyline_model::deletion::closed_text;
use eddyline_model::names::InvalidName;
use eddyline_model::scopes::Scopes;
use eddyline_scim::ScimType;
use eddyline_wire::FieldErrors;

use super::{Data, Details, Error, ErrorKind, Repr};
use crate::limit::Limit;

/// Seconds after which a caller may try again when the store is down or the process is busy.
const RETRY_SECONDS: u64 = 2;

/// Most texts of errors are literals; those that name a value are allocated.
type Text = Cow<'static, str>;

impl Details {
    pub(super) fn of(kind: ErrorKind) -> Self {
        Self {
            kind,
            message: None,
            log_text: None,
            fields: FieldErrors::new(),
            retry_after: None,
            limit: None,
            data: None,
        }
    }
}

impl From<Details> for Error {
    fn from(details: Details) -> Self {
        Self(Repr::Detailed(Box::new(details)))
    }
}

/// What is wrong with the request itself.
impl Error {
    /// One field of the request is wrong. The text goes on from the name of the field: `is
    /// required`.
    #[must_use]
    pub fn invalid(field: &str, text: impl Into<String>) -> Self {
        Self::invalid_fields(FieldErrors::from([(field.to_owned(), vec![text.into()])]))
    }

    /// Several fields of the request are wrong.
    #[must_use]
    pub fn invalid_fields(fields: FieldErrors) -> Self {
        Details {
            fields,
            ..Details::of(ErrorKind::Invalid)
        }
        .into()
    }

    /// The field `name` is wrong.
    pub(crate) fn invalid_name(wrong: InvalidName) -> Self {
        Self::invalid("name", wrong.to_string())
    }

    /// The request cannot be read.
    #[must_use]
    pub fn malformed(text: impl Into<Text>) -> Self {
        Self::with_text(ErrorKind::Malformed, text)
    }

    /// The body has a type or an encoding that is not supported.
    #[must_use]
    pub fn unsupported_type(text: impl Into<Text>) -> Self {
        Self::with_text(ErrorKind::UnsupportedType, text)
    }

    /// The request did not arrive in time.
    #[must_use]
    pub fn timed_out(text: impl Into<Text>) -> Self {
        Self::with_text(ErrorKind::TimedOut, text)
    }

    /// The request, or a file in it, is too large.
    #[must_use]
    pub fn too_large(limit: Limit, text: impl Into<Text>) -> Self {
        Self::with_limit(ErrorKind::TooLarge, limit, text)
    }
}

/// What the caller may not do.
impl Error {
    /// The caller has shown no credentials, or wrong ones.
    #[must_use]
    pub fn unauthenticated(text: impl Into<Text>) -> Self {
        Self::with_text(ErrorKind::Unauthenticated, text)
    }

    /// The caller has shown no token, and nothing but a bearer token is accepted.
    #[must_use]
    pub fn missing_token(text: impl Into<Text>) -> Self {
        Self::with_text(ErrorKind::MissingToken, text)
    }

    /// The bearer token is wrong, expired or revoked.
    #[must_use]
    pub const fn invalid_token() -> Self {
        Self(Repr::Kind(ErrorKind::InvalidToken))
    }

    /// The caller may not do this.
    #[must_use]
    pub const fn denied() -> Self {
        Self(Repr::Kind(ErrorKind::Denied))
    }

    /// The organization is closed, and will be deleted at this time.
    #[must_use]
    pub fn closed(due_at: Timestamp) -> Self {
        Self::with_text(ErrorKind::Closed, closed_text(due_at))
    }

    /// The access token of the caller has none of these scopes. Any of them would do.
    #[must_use]
    pub fn missing_scope(wanted: Scopes) -> Self {
        Details {
            data: Some(Data::MissingScopes(wanted)),
            ..Details::of(ErrorKind::MissingScope)
        }
        .into()
    }
}

/// What contradicts what is there.
impl Error {
    /// For this caller there is no such thing.
    #[must_use]
    pub const fn not_found() -> Self {
        Self(Repr::Kind(ErrorKind::NotFound))
    }

    /// It was removed, or has expired.
    #[must_use]
    pub fn gone(text: impl Into<Text>) -> Self {
        Self::with_text(ErrorKind::Gone, text)
    }

    /// The source of a flow token, or of a thread, was removed.
    pub(crate) fn source_removed() -> Self {
        Self::gone("This source was removed")
    }

    /// It contradicts what is there.
    #[must_use]
    pub fn conflict(text: impl Into<Text>) -> Self {
        Self::with_text(ErrorKind::Conflict, text)
    }

    /// A limit on how many there may be is reached: [`ErrorKind::Conflict`].
    #[must_use]
    pub fn full(limit: Limit, text: impl Into<Text>) -> Self {
        Self::with_limit(ErrorKind::Conflict, limit, text)
    }

    /// The caller knows another version than the present one.
    #[must_use]
    pub fn version_mismatch(text: impl Into<Text>) -> Self {
        Self::with_text(ErrorKind::VersionMismatch, text)
    }
}

/// What there is too much of, and what the server cannot do.
impl Error {
    /// The caller has shown too many wrong secrets, and may try again after so many seconds.
    #[must_use]
    pub fn too_many_attempts(limit: Limit, retry_after: u64) -> Self {
        Self::with_wait(ErrorKind::TooManyAttempts, limit, retry_after)
    }

    /// The caller asks too often or has too much under way, and may try again after so many
    /// seconds.
    #[must_use]
    pub fn too_many_requests(limit: Limit, retry_after: u64) -> Self {
        Self::with_wait(ErrorKind::TooManyRequests, limit, retry_after)
    }

    /// A quota on mail is used up. There is room again after so many seconds.
    #[must_use]
    pub fn mail_quota(limit: Limit, retry_after: u64, text: impl Into<Text>) -> Self {
        Self::with_wait(ErrorKind::MailQuota, limit, retry_after).with_message(text)
    }

    /// The store does not answer, or the process has too much to do. The text is for the log only.
    #[must_use]
    pub fn unavailable(log_text: impl Into<Text>) -> Self {
        Details {
            log_text: Some(log_text.into()),
            retry_after: Some(RETRY_SECONDS),
            ..Details::of(ErrorKind::Unavailable)
        }
        .into()
    }

    /// A read took longer than it may.
    #[must_use]
    pub fn deadline_exceeded() -> Self {
        Self::with_wait(ErrorKind::DeadlineExceeded, Limit::ReadTime, RETRY_SECONDS)
    }

    /// A quota on files is used up.
    #[must_use]
    pub fn file_quota(limit: Limit, text: impl Into<Text>) -> Self {
        Self::with_limit(ErrorKind::FileQuota, limit, text)
    }

    /// The disk has no room for more data.
    #[must_use]
    pub const fn disk_full() -> Self {
        Self(Repr::Kind(ErrorKind::DiskFull))
    }

    /// A mistake of the server. The text is for the log only.
    #[must_use]
    pub fn internal(log_text: impl Into<Text>) -> Self {
        Details {
            log_text: Some(log_text.into()),
            ..Details::of(ErrorKind::Internal)
        }
        .into()
    }
}

impl Error {
    /// The same error with this sentence for the caller.
    #[must_use]
    pub fn with_message(self, text: impl Into<Text>) -> Self {
        Details {
            message: Some(text.into()),
            ..self.into_details()
        }
        .into()
    }

    /// The same error with the name that SCIM has for it.
    pub(crate) fn with_scim_type(self, scim_type: ScimType) -> Self {
        Details {
            data: Some(Data::Scim(scim_type)),
            ..self.into_details()
        }
        .into()
    }

    fn into_details(self) -> Details {
        match self.0 {
            Repr::Kind(kind) => Details::of(kind),
            Repr::Detailed(details) => *details,
        }
    }

    fn with_text(kind: ErrorKind, text: impl Into<Text>) -> Self {
        Details {
            message: Some(text.into()),
            ..Details::of(kind)
        }
        .into()
    }

    fn with_limit(kind: ErrorKind, limit: Limit, text: impl Into<Text>) -> Self {
        Details {
            message: Some(text.into()),
            limit: Some(limit),
            ..Details::of(kind)
        }
        .into()
    }

    fn with_wait(kind: ErrorKind, limit: Limit, retry_after: u64) -> Self {
        Details {
            limit: Some(limit),
            retry_after: Some(retry_after),
            ..Details::of(kind)
        }
        .into()
    }
}
