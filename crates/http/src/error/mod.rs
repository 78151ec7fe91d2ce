//! Errors as answers.
//!
//! Status, `Retry-After`, `WWW-Authenticate` and the lines in the log are decided once for all
//! answers (`head`). The body has one of several shapes: that of the API (`body`), of SCIM
//! (`scim::response_format`), of OAuth (`oauth::wire`), or of a page, in another crate.

mod body;
mod from;
mod head;

use eddyline_app::Error;

pub use self::body::response;
pub(crate) use self::body::{panicked, plain, shortened};
pub use self::head::error_page;
pub(crate) use self::head::{message, respond};

/// The request has no credentials.
pub(crate) fn missing_credentials() -> Error {
    Error::unauthenticated("Authentication is required")
}
