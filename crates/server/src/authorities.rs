//! TLS of connections that the server makes, and whose certificates it trusts there.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::CommandError;

/// TLS that trusts the authorities in a PEM file; without one, those of this machine and those of
/// browsers.
///
/// # Errors
///
/// When the file cannot be read, or has no certificate of an authority.
pub(crate) fn client_config(file: Option<&Path>) -> Result<ClientConfig, CommandError> {
    let roots = match file {
        Some(file) => named_in(file).map_err(|why| format!("{}: {why}", file.display()))?,
        None => well_known(),
    };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

fn well_known() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn named_in(file: &Path) -> Result<RootCertStore, String> {
    let pem = std::fs::read(file).map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    match roots.is_empty() {
        true => Err("there is no certificate in PEM".to_owned()),
        false => Ok(roots),
    }
}
