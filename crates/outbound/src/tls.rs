//! TLS as browsers have it.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

pub(crate) fn public_web() -> ClientConfig {
    let roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has the ciphers of every version")
        .with_root_certificates(roots)
        .with_no_client_auth()
}
