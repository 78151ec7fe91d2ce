//! Certificates and keys.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

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

/// The certificate that a server shows, which can be replaced while it runs. Clones share it.
#[derive(Clone)]
pub struct Certificates {
    current: Arc<Current>,
    config: Arc<ServerConfig>,
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificates")
    }
}

impl Certificates {
    /// Reads a chain of certificates, the server's own first, and its private key (PKCS #8, PKCS #1
    /// or SEC 1), both in PEM form. TLS 1.2 and 1.3 are spoken, and HTTP/1.1 within.
    ///
    /// # Errors
    ///
    /// [`TlsError`] when a file cannot be read, does not hold what it should, or the two do not
    /// belong together.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let current = Arc::new(Current(RwLock::new(Arc::new(read_pair(certificate, key)?))));
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|cause| unusable(certificate, key, cause))?
            .with_no_client_auth()
            .with_cert_resolver(current.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            current,
            config: Arc::new(config),
        })
    }

    /// For [`Server::tls`](super::Server::tls).
    #[must_use]
    pub fn config(&self) -> Arc<ServerConfig> {
        self.config.clone()
    }

    /// The certificate that is shown, in DER form, without the rest of its chain.
    #[must_use]
    pub fn shown(&self) -> CertificateDer<'static> {
        let current = self.current.0.read();
        let current = current.unwrap_or_else(PoisonError::into_inner);
        current.cert[0].clone()
    }

    /// Reads both files again and shows what they hold on connections that come from now on.
    ///
    /// # Errors
    ///
    /// As [`Certificates::load`]; the certificate before is shown on.
    pub fn reload(&self, certificate: &Path, key: &Path) -> Result<(), TlsError> {
        let pair = Arc::new(read_pair(certificate, key)?);
        *self
            .current
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner) = pair;
        Ok(())
    }
}

/// The certificate and key that are shown.
#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(
            self.0
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        )
    }
}

/// A configuration of TLS with a certificate that stays; see [`Certificates::load`].
///
/// # Errors
///
/// As [`Certificates::load`].
pub fn load_tls(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    Ok(Certificates::load(certificate, key)?.config())
}

fn read_pair(certificate: &Path, key: &Path) -> Result<CertifiedKey, TlsError> {
    let chain =
        read_chain(certificate).map_err(|cause| refused(certificate, "certificate", cause))?;
    let secret =
        PrivateKeyDer::from_pem_file(key).map_err(|cause| refused(key, "private key", cause))?;
    CertifiedKey::from_der(chain, secret, &default_provider())
        .map_err(|cause| unusable(certificate, key, cause))
}

fn unusable(certificate: &Path, key: &Path, cause: rustls::Error) -> TlsError {
    TlsError::Unusable {
        certificate: certificate.into(),
        key: key.into(),
        cause,
    }
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, pem::Error> {
    let chain = CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>()?;
    if chain.is_empty() {
        Err(pem::Error::NoItemsFound)
    } else {
        Ok(chain)
    }
}

fn refused(path: &Path, expected: &'static str, cause: pem::Error) -> TlsError {
    let path = path.into();
    match cause {
        pem::Error::Io(cause) => TlsError::Read { path, cause },
        pem::Error::NoItemsFound => TlsError::Pem {
            path,
            expected,
            cause: "nothing found".into(),
        },
        // The other texts show the line at fault, which may be a part of the key.
        pem::Error::MissingSectionEnd { .. } => TlsError::Pem {
            path,
            expected,
            cause: "a section has no end".into(),
        },
        _ => TlsError::Pem {
            path,
            expected,
            cause: "a section is malformed".into(),
        },
    }
}
