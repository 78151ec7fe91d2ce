#![doc = include_str!("../README.md")]
//!
//! One sign-in with e-mail and password goes through the parts like this:
//!
//! 1. [`Credentials::parse`] reads the `Authorization` header.
//! 2. [`PasswordMemo::recall`] spares the hashing when the same check succeeded a moment ago.
//! 3. [`Hasher::acquire`] waits for a place among the few checks that run at once.
//! 4. [`SignInGuard::check`] refuses when too many checks have failed.
//! 5. [`HashingPermit::verify`], or [`HashingPermit::verify_dummy`] when there is no such account,
//!    so that both take equally long.
//! 6. [`SignInGuard::failed`] counts a wrong password, [`PasswordMemo::remember`] keeps a right
//!    one.
//!
//! A new password is judged by [`strength::check`] and turned into what is stored by
//! [`Hasher::hash`].
//!
//! The other way round, [`action`] proves to integrations that a request comes from this server, and
//! [`webhook`] to the receiver of a webhook.

pub mod action;
pub mod basic;
pub mod download;
pub mod limiter;
pub mod memo;
pub mod oauth;
pub mod password;
pub mod refusals;
pub mod seal;
pub mod strength;
pub mod token;
pub mod webhook;

pub use basic::{Credentials, CredentialsError};
pub use download::{DownloadClaim, DownloadError, DownloadKey, Variant};
pub use limiter::{
    AddressGuard, FailureLimiter, RetryAfter, SignInGuard, SignInLimit, SignInLimits,
    SignInRefused, network_of,
};
pub use memo::PasswordMemo;
pub use password::{Hasher, HashingPermit, Password, PasswordError, PasswordPolicy};
pub use refusals::{RefusalCounter, RefusalPlace};
pub use seal::SealingKey;
pub use strength::{Pattern, Weakness};
pub use token::{Secret, TokenHash, constant_time_eq};
pub use webhook::{WebhookSecret, WebhookSecretError};
