//! Why there is no certificate.

use std::path::PathBuf;

/// The outcome of what may fail here.
pub type Result<T> = std::result::Result<T, AcmeError>;

/// Why a certificate cannot be had, kept or shown.
#[derive(Debug, thiserror::Error)]
pub enum AcmeError {
    /// The folder, or a file in it, cannot be read or written.
    #[error("{}: {cause}", .path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// A kept file is not what was written.
    #[error("{} is damaged ({problem}); delete it, and the server orders anew", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong. It quotes nothing of a key.
        problem: String,
    },
    /// The file of the directory's own authority has no certificate.
    #[error("{} holds no certificate in PEM form", .0.display())]
    NoAuthority(PathBuf),
    /// The authority cannot be reached, or refuses.
    #[error("{0}")]
    Authority(#[from] instant_acme::Error),
    /// The authority has not answered in time.
    #[error("the authority has not finished the order within {} minutes", .0.as_secs() / 60)]
    TimedOut(std::time::Duration),
    /// The authority could not check a name.
    #[error("the authority could not check {domain}: {problem}")]
    Refused {
        /// The name.
        domain: String,
        /// What the authority says.
        problem: String,
    },
    /// The authority gives the order up.
    #[error("the authority gives the order up, and says no reason")]
    Invalid,
    /// The authority does not check names by TLS-ALPN-01.
    #[error("the authority offers no check of {0} by TLS-ALPN-01")]
    NoChallenge(String),
    /// The authority's certificate cannot be used.
    #[error("the certificate is unusable: {0}")]
    Unusable(String),
    /// rustls takes no certificate or key.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
    /// No key or certificate request can be made.
    #[error(transparent)]
    Request(#[from] rcgen::Error),
}
