//! Judging the certificate of a server.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use rustls_pki_types::pem::PemObject as _;

use crate::Error;
use crate::address::{Mode, ServerAddress};

/// What TLS to the hosts of an address is to be like.
pub(crate) fn config(address: &ServerAddress, mode: Mode) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Verifier {
        trust: Trust::of(address, mode)?,
        provider: provider.clone(),
    });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::Tls)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    match &address.identity {
        None => Ok(config.with_no_client_auth()),
        Some((certificate, key)) => {
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| Error::file(key, error))?;
            config
                .with_client_auth_cert(certificates(certificate)?, key)
                .map_err(Error::Tls)
        }
    }
}

/// The certificates of a PEM file, at least one.
fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let all = CertificateDer::pem_file_iter(file).map_err(|error| Error::file(file, error))?;
    let all: Vec<_> = all
        .collect::<Result<_, _>>()
        .map_err(|error| Error::file(file, error))?;
    if all.is_empty() {
        Err(Error::NoCertificate(Path::new(file).to_owned()))
    } else {
        Ok(all)
    }
}

/// The authorities of the system.
fn of_the_system() -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "an authority of this system cannot be read");
    }
    if found.certs.is_empty() {
        Err(Error::NoAuthority)
    } else {
        Ok(found.certs)
    }
}

/// Judges the certificates of servers.
#[derive(Debug)]
struct Verifier {
    /// `None` accepts any certificate: the connection is encrypted, but the server is not
    /// authenticated.
    trust: Option<Trust>,
    provider: Arc<CryptoProvider>,
}

/// Which certificates are taken.
#[derive(Debug)]
struct Trust {
    authorities: RootCertStore,
    /// The certificates of the file of authorities. A server may show one of these itself that says
    /// that it is an authority's: `openssl req -x509` makes certificates of servers so.
    given: Vec<CertificateDer<'static>>,
    checks_name: bool,
}

impl Trust {
    fn of(address: &ServerAddress, mode: Mode) -> Result<Option<Self>, Error> {
        let checks_name = match mode {
            Mode::Prefer | Mode::Require => return Ok(None),
            Mode::VerifyCa => false,
            Mode::VerifyFull => true,
        };
        let given = address
            .authorities
            .as_deref()
            .map(certificates)
            .transpose()?
            .unwrap_or_default();
        let mut authorities = RootCertStore::empty();
        if given.is_empty() {
            authorities.add_parsable_certificates(of_the_system()?);
        }
        for certificate in &given {
            authorities.add(certificate.clone()).map_err(Error::Tls)?;
        }
        if authorities.is_empty() {
            Err(Error::NoAuthority)
        } else {
            Ok(Some(Self {
                authorities,
                given,
                checks_name,
            }))
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(trust) = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        let parsed = ParsedCertificate::try_from(certificate)?;
        let algorithms = self.provider.signature_verification_algorithms.all;
        match verify_server_cert_signed_by_trust_anchor(
            &parsed,
            &trust.authorities,
            between,
            now,
            algorithms,
        ) {
            Err(error) if is_authority(&error) && trust.given.contains(certificate) => {}
            signed => signed?,
        }
        if trust.checks_name {
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
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Whether nothing is wrong with a certificate but that it is an authority's. Its times were found
/// to be right before. rustls has no variant for this error of webpki, so that only its name tells.
fn is_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(other)) = error else {
        return false;
    };
    other.0.to_string() == "CaUsedAsEndEntity"
}

/// What is wrong with the certificate of a host, for an operator.
pub(crate) fn explain(host: &str, error: &rustls::Error) -> String {
    let rustls::Error::InvalidCertificate(error) = error else {
        return format!("TLS with {host}: {error}");
    };
    match error {
        // The second is of an authority that has the name of a trusted one.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
            "the certificate of {host} is of no authority that is trusted here; sslrootcert names the file of one"
        ),
        CertificateError::NotValidForName => {
            format!("the certificate of {host} is for another name")
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            format!(
                "the certificate of {host} is for another name: {}",
                presented.join(", ")
            )
        }
        other => format!("the certificate of {host} is not valid: {other}"),
    }
}
