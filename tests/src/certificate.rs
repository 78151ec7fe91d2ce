//! Certificates that sign themselves.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::{ClientConfig, RootCertStore};

/// A certificate and its key.
pub struct Certificate(CertifiedKey<KeyPair>);

impl Certificate {
    /// Makes one for a host name or an address.
    ///
    /// # Panics
    /// When `host` is neither.
    pub fn new(host: &str) -> Self {
        Self(generate_simple_self_signed([host.to_owned()]).unwrap())
    }

    /// The certificate in PEM form.
    pub fn certificate_pem(&self) -> String {
        self.0.cert.pem()
    }

    /// Its private key in PEM form.
    pub fn key_pem(&self) -> String {
        self.0.signing_key.serialize_pem()
    }

    /// Writes both into `cert.pem` and `key.pem` in a directory.
    ///
    /// # Panics
    /// When they cannot be written.
    pub fn write(&self, directory: &Path) {
        fs::write(directory.join("cert.pem"), self.certificate_pem()).unwrap();
        fs::write(directory.join("key.pem"), self.key_pem()).unwrap();
    }

    /// The configuration of a client that trusts this certificate alone.
    ///
    /// # Panics
    /// When the certificate is not one that a client can trust.
    pub fn trusting(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.cert.der().clone()).unwrap();
        client_config(roots)
    }
}

/// A client that trusts these authorities.
pub(crate) fn client_config(roots: RootCertStore) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}
