//! What goes wrong, and whether trying again can help.

use std::io;
use std::path::PathBuf;

use crate::line::one_line;

/// Why no mailer can be had with this configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The address that mails are from cannot be used.
    #[error("mails cannot be from {from:?}: {why}")]
    From {
        /// As it was configured.
        from: String,
        /// What is wrong with it.
        why: String,
    },
    /// The mail server's name is neither a host name nor an address.
    #[error("the mail server {0:?} is neither a host name nor an IP address")]
    Host(String),
    /// A password would go over the network for everybody to read.
    #[error(
        "the password for the mail server {0:?} would be sent unencrypted; use STARTTLS or TLS, \
         or a server on this machine"
    )]
    UnencryptedPassword(String),
    /// The file with certificates of additional authorities cannot be read.
    #[error("cannot read the certificates in {}: {why}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// TLS cannot be set up.
    #[error("cannot set up TLS for mail: {0}")]
    Tls(String),
    /// The folder for mails cannot be made.
    #[error("cannot make the folder {} for mail: {source}", path.display())]
    Outbox {
        /// The folder.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

/// Why a mail was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SendError {
    /// Whether trying again is of no use: the mail server has refused this mail or its recipient
    /// for good, or the mail cannot be written. Everything else, such as a server that cannot be
    /// reached or does not accept our password, may be over in a while.
    pub permanent: bool,
    /// What was being done.
    pub step: SendStep,
    /// What happened, on one line, for the log. It may hold the recipient's address and an answer
    /// of the mail server, and never the mail's text.
    pub text: String,
}

/// What is done to send a mail, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendStep {
    /// The mail is written, or put into the folder.
    Write,
    /// The mail server is reached, and greets.
    Connect,
    /// The connection is encrypted.
    Encrypt,
    /// We sign in.
    SignIn,
    /// The server hears whom the mail is from.
    Sender,
    /// The server hears whom the mail is for.
    Recipient,
    /// The server takes the mail itself.
    Content,
}

impl SendError {
    pub(crate) fn at(step: SendStep, error: Self) -> Self {
        Self { step, ..error }
    }

    pub(crate) fn permanent(text: impl AsRef<str>) -> Self {
        Self {
            permanent: true,
            step: SendStep::Write,
            text: one_line(text.as_ref(), TEXT),
        }
    }

    pub(crate) fn temporary(text: impl AsRef<str>) -> Self {
        Self {
            permanent: false,
            step: SendStep::Write,
            text: one_line(text.as_ref(), TEXT),
        }
    }
}

/// Characters of an error's text; mail servers can be talkative.
const TEXT: usize = 500;
