//! The kinds of errors, in words of no protocol: a caller asks over HTTP, or is an operator at the
//! command line.

use std::fmt;

/// Declares the kinds, each with what `Display` writes.
macro_rules! kinds {
    ($( $(#[doc = $doc:literal])+ $name:ident: $text:literal; )+) => {
        /// What kind of error an [`Error`](super::Error) is. It is not `non_exhaustive`, so that a
        /// new kind does not compile before each protocol has an answer for it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorKind {
            $( $(#[doc = $doc])+ $name, )+
        }

        impl ErrorKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$( Self::$name, )+];
        }

        impl fmt::Display for ErrorKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $( Self::$name => $text, )+ })
            }
        }
    };
}

kinds! {
    /// The request can be read but is not valid. [`Error::fields`](super::Error::fields) has what
    /// is wrong with each field, unless the whole is wrong.
    Invalid: "validation error";
    /// The request cannot be read.
    Malformed: "the request cannot be read";
    /// The body has a type or an encoding that is not supported.
    UnsupportedType: "the type of the body is not supported";
    /// The request did not arrive in time.
    TimedOut: "the request took too long to arrive";
    /// The request, or a file in it, is too large.
    TooLarge: "too large";
    /// The caller has shown no credentials, or wrong ones.
    Unauthenticated: "authentication is required";
    /// The caller has shown no token, and nothing but a bearer token is accepted.
    MissingToken: "a token is required";
    /// The bearer token is wrong, expired or revoked.
    InvalidToken: "the access token is invalid";
    /// The caller may not do this.
    Denied: "access denied";
    /// The organization is closed, since it is to be deleted.
    Closed: "the organization is closed";
    /// The access token of the caller lacks the scope. Any of
    /// [`Error::missing_scopes`](super::Error::missing_scopes) would do.
    MissingScope: "the access token lacks the scope";
    /// For this caller there is no such thing.
    NotFound: "not found";
    /// It was removed, or has expired.
    Gone: "it was removed";
    /// It contradicts what is there, or a limit on how many there may be is reached.
    Conflict: "it contradicts what is there";
    /// The caller knows another version than the present one.
    VersionMismatch: "it was changed since";
    /// The caller has shown too many wrong secrets.
    TooManyAttempts: "too many failed attempts";
    /// The caller asks too often, or has too much under way.
    TooManyRequests: "too many requests";
    /// A quota on mail is used up.
    MailQuota: "too much mail";
    /// An integration did not do what it was asked, or could not be asked.
    /// [`Error::integration`](super::Error::integration) has its answer.
    Integration: "the integration did not do it";
    /// The store does not answer, or the process has too much to do. Trying later may help.
    Unavailable: "the service is unavailable";
    /// A read took longer than it may.
    DeadlineExceeded: "the read took too long";
    /// A quota on files is used up.
    FileQuota: "the quota on files is used up";
    /// The disk has no room for more data.
    DiskFull: "the disk is full";
    /// A mistake of the server.
    Internal: "internal error";
}
