//! Judging the certificate of a server.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject as _;

use crate::Error;
use crate::address::{Address, Mode};

/// What TLS to the hosts of an address is to be like.
pub(crate) fn config(address: &Address, mode: Mode) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match mode {
        Mode::Prefer | Mode::Require => Arc::new(AnyCertificate(provider.clone())),
        Mode::VerifyCa | Mode::VerifyFull => Arc::new(Trusted::new(address, mode, &provider)?),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::Tls)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    match &address.identity {
        None => Ok(config.with_no_client_auth()),
        Some((certificate, key)) => {
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| Error::file(key, error))?;
            config.with_client_auth_cert(certificates(certificate)?, key).map_err(Error::Tls)
        }
    }
}

/// The certificates of a PEM file, at least one.
fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let all = CertificateDer::pem_file_iter(file).map_err(|error| Error::file(file, error))?;
    let all: Vec<_> = all.collect::<Result<_, _>>().map_err(|error| Error::file(file, error))?;
    if all.is_empty() { Err(Error::NoCertificate(Path::new(file).to_owned())) } else { Ok(all) }
}

/// The authorities of the system.
fn of_the_system() -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "an authority of this system cannot be read");
    }
    if found.certs.is_empty() { Err(Error::NoAuthority) } else { Ok(found.certs) }
}

/// Takes any certificate: the connection is encrypted, but nothing says to whom.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

/// Takes a certificate of a trusted authority.
#[derive(Debug)]
struct Trusted {
    authorities: Arc<RootCertStore>,
    /// The certificates of the file of authorities. A server may show one of these itself that says that it is an
    /// authority's: `openssl req -x509` makes certificates of servers so.
    given: Vec<CertificateDer<'static>>,
    checks_name: bool,
    whole: Arc<WebPkiServerVerifier>,
    provider: Arc<CryptoProvider>,
}

impl Trusted {
    fn new(address: &Address, mode: Mode, provider: &Arc<CryptoProvider>) -> Result<Self, Error> {
        let given = address.authorities.as_deref().map(certificates).transpose()?.unwrap_or_default();
        let mut authorities = RootCertStore::empty();
        if given.is_empty() {
            authorities.add_parsable_certificates(of_the_system()?);
        }
        for certificate in &given {
            authorities.add(certificate.clone()).map_err(Error::Tls)?;
        }
        let authorities = Arc::new(authorities);
        let whole = WebPkiServerVerifier::builder_with_provider(authorities.clone(), provider.clone())
            .build()
            .map_err(|_| Error::NoAuthority)?;
        let checks_name = mode == Mode::VerifyFull;
        Ok(Self { authorities, given, checks_name, whole, provider: provider.clone() })
    }
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let parsed = ParsedCertificate::try_from(certificate)?;
        let algorithms = self.provider.signature_verification_algorithms.all;
        let signed =
            verify_server_cert_signed_by_trust_anchor(&parsed, &self.authorities, between, now, algorithms);
        match signed {
            Err(error) if is_authority(&error) && self.given.contains(certificate) => {}
            Err(error) => return Err(error),
            Ok(()) if self.checks_name => {
                return self.whole.verify_server_cert(certificate, between, name, stapled, now);
            }
            Ok(()) => {}
        }
        if self.checks_name {
            verify_server_name(&parsed, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.whole.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.whole.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.whole.supported_verify_schemes()
    }
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Whether nothing is wrong with a certificate but that it is an authority's. Its times were found to be right before.
fn is_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    other.0.to_string() == "CaUsedAsEndEntity"
}

/// What is wrong with the certificate of a host, for an operator.
pub(crate) fn explain(host: &str, error: &rustls::Error) -> String {
    let rustls::Error::InvalidCertificate(error) = error else { return format!("TLS with {host}: {error}") };
    match error {
        // The second is of an authority that has the name of a trusted one.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
            "the certificate of {host} is of no authority that is trusted here; sslrootcert names the file of one"
        ),
        CertificateError::NotValidForName => format!("the certificate of {host} is for another name"),
        CertificateError::NotValidForNameContext { presented, .. } => {
            format!("the certificate of {host} is for another name: {}", presented.join(", "))
        }
        other => format!("the certificate of {host} is not valid: {other}"),
    }
}
