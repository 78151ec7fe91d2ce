//! OAuth 2.0 as functions over values (RFC 6749; specification, section 5): what requests say, what
//! is wrong with them, and what becomes of them.
//!
//! Nothing here looks anything up; it is given the application and judges.

pub mod authorize;
pub mod client;
pub mod error;
mod parameters;
pub mod pkce;
pub mod token;

pub use authorize::{AuthorizationError, AuthorizationParameters, AuthorizationRequest, callback};
pub use client::ClientCredentials;
pub use error::OAuthError;
pub use parameters::OAuthParameters;
pub use pkce::Challenge;
pub use token::{TokenRequest, check_code};
