//! Why a request cannot be read, as errors of the application.

use eddyline_app::{Error, Limit};

use crate::json::JsonError;
use crate::multipart::MultipartError;
use crate::serve::BodyError;

impl From<BodyError> for Error {
    fn from(error: BodyError) -> Self {
        let text = error.to_string();
        match error {
            BodyError::TooLarge(limit) => Self::too_large(limit, text),
            BodyError::Timeout => Self::timed_out(text),
            BodyError::Aborted => Self::malformed(text),
            BodyError::Overloaded => Self::unavailable(text),
        }
    }
}

impl From<JsonError> for Error {
    fn from(error: JsonError) -> Self {
        Self::malformed(error.to_string())
    }
}

impl From<MultipartError> for Error {
    fn from(error: MultipartError) -> Self {
        let text = error.to_string();
        match error {
            MultipartError::Utf8(name) => Self::invalid(&name, text),
            MultipartError::LongText(_) => BodyError::TooLarge(Limit::FixedBody).into(),
            MultipartError::TooManyParts => Self::too_large(Limit::FixedBody, text),
            MultipartError::Body(why) => why
                .downcast::<BodyError>()
                .map_or(BodyError::Aborted, |error| *error)
                .into(),
            MultipartError::Boundary
            | MultipartError::Broken
            | MultipartError::LongHead
            | MultipartError::Nameless => Self::malformed(text),
        }
    }
}
