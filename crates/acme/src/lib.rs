#![doc = include_str!("../README.md")]

mod certificate;
mod certificates;
mod error;
mod folder;
mod order;
mod renewal;
mod resolver;

use std::path::PathBuf;

pub use certificate::{CertificateValidity, validity};
pub use certificates::AcmeCertificates;
pub use error::{AcmeError, Result};

/// The protocol of a connection by which an authority checks a name (RFC 8737, section 6.2).
pub const CHALLENGE_PROTOCOL: &[u8] = b"acme-tls/1";

/// What is ordered, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcmeConfig {
    /// URL of the authority's directory (RFC 8555, section 7.1.1). To order there is to agree to the
    /// authority's terms of service.
    pub directory: String,
    /// The names of the certificate, as DNS has them: ASCII, no wildcards, at least one. Authorities
    /// bound their number; Let's Encrypt takes 100.
    pub domains: Vec<String>,
    /// An address to which the authority may write.
    pub contact: Option<String>,
    /// A PEM file of the authority that the directory's own certificate is from, where the system
    /// does not trust it anyway.
    pub authority: Option<PathBuf>,
    /// Where the account and the certificates are kept. Made if it is missing.
    pub folder: PathBuf,
}
