//! What clients and users do, and what they are answered. Codes and tokens stand here as clients
//! hold them: as secrets.

use std::fmt;

pub(super) const USERS: usize = 2;
pub(super) const APPLICATIONS: usize = 3;
/// The answer of a page about an application that is not there any more.
pub(super) const GONE: &str = "gone";

/// One of the users and one of the applications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) user: usize,
    pub(super) application: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// The user trusts the application with the password.
    Password { pair: Pair, offline: bool },
    /// The user consents, and the application gets a code.
    Consent { pair: Pair, offline: bool },
    /// A client exchanges a code, perhaps not for the first time.
    Exchange { client: usize, code: String },
    /// A client shows a refresh token, perhaps an old one.
    Refresh { client: usize, token: String },
    /// A client ends a token.
    Revoke { client: usize, token: String },
    /// The user takes back all that the application was allowed.
    TakeBack { pair: Pair },
    /// The application is removed, with all that anybody allowed it.
    Remove { application: usize },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Tokens {
        access: String,
        refresh: Option<String>,
    },
    Code(String),
    Done,
    /// The error code.
    Refused(String),
    /// Nobody knows whether it was done.
    Lost,
}

impl Deed {
    /// The application that does it, or about which it is done.
    pub(super) fn application(&self) -> usize {
        match self {
            Self::Password { pair, .. } | Self::Consent { pair, .. } | Self::TakeBack { pair } => {
                pair.application
            }
            Self::Exchange { client, .. }
            | Self::Refresh { client, .. }
            | Self::Revoke { client, .. } => *client,
            Self::Remove { application } => *application,
        }
    }

    /// Whether nothing but an end can come of it, so that a client without an answer asks again.
    pub(super) fn only_ends(&self) -> bool {
        matches!(
            self,
            Self::Revoke { .. } | Self::TakeBack { .. } | Self::Remove { .. }
        )
    }
}

/// Enough of a secret to tell it from others.
pub(super) fn short(secret: &str) -> &str {
    &secret[..secret.len().min(6)]
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user {} at application {}", self.user, self.application)
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lasting = |offline: &bool| if *offline { ", offline" } else { "" };
        match self {
            Self::Password { pair, offline } => write!(f, "password of {pair}{}", lasting(offline)),
            Self::Consent { pair, offline } => write!(f, "consent of {pair}{}", lasting(offline)),
            Self::Exchange { client, code } => {
                write!(f, "client {client} exchanges {}", short(code))
            }
            Self::Refresh { client, token } => {
                write!(f, "client {client} refreshes {}", short(token))
            }
            Self::Revoke { client, token } => write!(f, "client {client} revokes {}", short(token)),
            Self::TakeBack { pair } => write!(f, "{pair} takes all back"),
            Self::Remove { application } => write!(f, "application {application} is removed"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens {
                access,
                refresh: None,
            } => write!(f, "access {}", short(access)),
            Self::Tokens {
                access,
                refresh: Some(refresh),
            } => {
                write!(f, "access {}, refresh {}", short(access), short(refresh))
            }
            Self::Code(code) => write!(f, "code {}", short(code)),
            Self::Done => write!(f, "done"),
            Self::Refused(error) => write!(f, "{error}"),
            Self::Lost => write!(f, "no answer"),
        }
    }
}
