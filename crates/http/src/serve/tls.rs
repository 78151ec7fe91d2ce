//! Certificates and keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Why TLS cannot be served. The text names the file.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {cause}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// The file has no PEM section of the right kind, or one that is broken.
    #[error("{} holds no {expected} in PEM form: {cause}", .path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        expected: &'static str,
        /// What is wrong. It quotes nothing of a key.
        cause: String,
    },
    /// The certificate and the key cannot be used, or not together.
    #[error("cannot use the certificate {} with the key {}: {cause}", .certificate.display(), .key.display())]
    Unusable {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// What is wrong with them.
        #[source]
        cause: rustls::Error,
    },
}

/// Reads a chain of certificates, the server's own first, and its private key (PKCS #8, PKCS #1 or
/// SEC 1), both in PEM form, for [`Server::tls`](super::Server::tls). TLS 1.2 and 1.3 are spoken,
/// and HTTP/1.1 within.
///
/// # Errors
///
/// [`TlsError`] when a file cannot be read, does not hold what it should, or the two do not belong
/// together.
pub fn load_tls(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let chain = read_chain(certificate).map_err(|cause| refused(certificate, "certificate", cause))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|cause| refused(key, "private key", cause))?;
    let configured = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, secret));
    let mut config = configured.map_err(|cause| TlsError::Unusable {
        certificate: certificate.into(),
        key: key.into(),
        cause,
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, pem::Error> {
    let chain = CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>()?;
    if chain.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(chain) }
}

fn refused(path: &Path, expected: &'static str, cause: pem::Error) -> TlsError {
    let path = path.into();
    match cause {
        pem::Error::Io(cause) => TlsError::Read { path, cause },
        pem::Error::NoItemsFound => TlsError::Pem { path, expected, cause: "nothing found".into() },
        // The other texts show the line at fault, which may be a part of the key.
        pem::Error::MissingSectionEnd { .. } => {
            TlsError::Pem { path, expected, cause: "a section has no end".into() }
        }
        _ => TlsError::Pem { path, expected, cause: "a section is malformed".into() },
    }
}
