//! Errors of the crates below as errors of use cases.

use eddyline_auth::CredentialsError;
use eddyline_auth::oauth::OAuthError;
use eddyline_files::Error as FilesError;
use eddyline_model::policy::Refusal;
use eddyline_scim::ScimError;
use eddyline_storage::Error as StoreError;
use eddyline_wire::forms::FormError;
use eddyline_wire::params::Invalid;

use super::{Data, Details, Error, ErrorKind, IntegrationFailed};
use crate::limit::Limit;

/// Seconds after which a caller with too many waiting reads or writes may try again.
const STORE_RETRY_SECONDS: u64 = 1;

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_)
            | StoreError::Busy
            | StoreError::Moved
            | StoreError::LogRow { .. } => Self::unavailable(error.to_string()),
            StoreError::TooManyReads => Self::too_many_requests(Limit::Reads, STORE_RETRY_SECONDS),
            StoreError::TooManyWrites => {
                Self::too_many_requests(Limit::Writes, STORE_RETRY_SECONDS)
            }
            StoreError::Deadline => Self::deadline_exceeded(),
            StoreError::DiskFull => Self::disk_full(),
            StoreError::Exists(_) => Self::conflict("it exists already"),
            StoreError::Refused(why) => Self::conflict(why),
            other => Self::internal(other.to_string()),
        }
    }
}

impl From<FilesError> for Error {
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::TooLarge => Self::too_large(Limit::Upload, "the file is too large"),
            FilesError::Full => Self::disk_full(),
            FilesError::NotFound => Self::not_found(),
            FilesError::Store(why) => Self::unavailable(why.to_string()),
            other => Self::internal(other.to_string()),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound => Self::not_found(),
            Refusal::Denied => Self::denied(),
        }
    }
}

impl From<CredentialsError> for Error {
    fn from(_: CredentialsError) -> Self {
        Self::unauthenticated("The Authorization header cannot be read")
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::invalid_fields(invalid.errors)
    }
}

impl From<FormError> for Error {
    fn from(error: FormError) -> Self {
        Self::invalid(&error.field, error.problem.to_string())
    }
}

impl From<IntegrationFailed> for Error {
    fn from(failed: IntegrationFailed) -> Self {
        Details {
            data: Some(Data::Integration(failed)),
            ..Details::of(ErrorKind::Integration)
        }
        .into()
    }
}

impl From<ScimError> for Error {
    fn from(error: ScimError) -> Self {
        let invalid = match &error.field {
            Some(field) => Self::invalid(field, error.detail),
            None => Self::from(Details::of(ErrorKind::Invalid)).with_message(error.detail),
        };
        invalid.with_scim_type(error.scim_type)
    }
}

impl From<OAuthError> for Error {
    fn from(error: OAuthError) -> Self {
        let kind = match error {
            OAuthError::InvalidClient => ErrorKind::Unauthenticated,
            _ => ErrorKind::Invalid,
        };
        Details {
            message: Some(error.to_string().into()),
            data: Some(Data::OAuth(error)),
            ..Details::of(kind)
        }
        .into()
    }
}
