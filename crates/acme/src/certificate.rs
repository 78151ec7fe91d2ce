//! A certificate with its key, as the authority has issued it.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use time::OffsetDateTime;
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;
use x509_parser::prelude::X509Certificate;

use crate::error::{AcmeError, Result};

/// When a certificate may be used (RFC 5280, section 4.1.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateValidity {
    /// The first moment.
    pub not_before: OffsetDateTime,
    /// The last moment.
    pub not_after: OffsetDateTime,
}

/// When a certificate, in DER form, may be used.
///
/// # Errors
///
/// [`AcmeError::Unusable`] if it is no certificate.
pub fn validity(certificate: &[u8]) -> Result<CertificateValidity> {
    Ok(validity_of(&parse(certificate)?))
}

fn validity_of(certificate: &X509Certificate<'_>) -> CertificateValidity {
    let validity = certificate.validity();
    CertificateValidity {
        not_before: validity.not_before.to_datetime(),
        not_after: validity.not_after.to_datetime(),
    }
}

fn parse(certificate: &[u8]) -> Result<X509Certificate<'_>> {
    let (_, parsed) = parse_x509_certificate(certificate)
        .map_err(|error| AcmeError::Unusable(error.to_string()))?;
    Ok(parsed)
}

/// A chain of certificates and the key of its first.
#[derive(Debug)]
pub(crate) struct IssuedCertificate {
    pub(crate) key: Arc<CertifiedKey>,
    pub(crate) validity: CertificateValidity,
    names: BTreeSet<String>,
}

impl IssuedCertificate {
    /// Reads a private key and a chain in PEM form.
    pub(crate) fn from_pem(pem: &str) -> Result<Self> {
        let unusable = |what: &str| AcmeError::Unusable(what.to_owned());
        let chain = CertificateDer::pem_slice_iter(pem.as_bytes())
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|_| unusable("a section of the chain is malformed"))?;
        // The texts of the errors may quote the key.
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| unusable("there is no private key"))?;
        let leaf = chain
            .first()
            .ok_or_else(|| unusable("there is no certificate"))?;
        let parsed = parse(leaf)?;
        let (validity, names) = (validity_of(&parsed), names_of(&parsed)?);
        let key = CertifiedKey::from_der(chain, key, &default_provider())?;
        Ok(Self {
            key: Arc::new(key),
            validity,
            names,
        })
    }

    /// Whether it has exactly these names.
    pub(crate) fn is_for(&self, domains: &[String]) -> bool {
        let wanted: BTreeSet<_> = domains
            .iter()
            .map(|name| name.to_ascii_lowercase())
            .collect();
        self.names == wanted
    }
}

fn names_of(certificate: &X509Certificate<'_>) -> Result<BTreeSet<String>> {
    let extension = certificate
        .subject_alternative_name()
        .map_err(|error| AcmeError::Unusable(error.to_string()))?;
    let names = extension
        .iter()
        .flat_map(|extension| &extension.value.general_names);
    let names = names.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
        _ => None,
    });
    Ok(names.collect())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn pem(names: &[&str]) -> String {
        let key = KeyPair::generate().unwrap();
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2026, 1, 1);
        params.not_after = date_time_ymd(2026, 4, 1);
        let certificate = params.self_signed(&key).unwrap();
        key.serialize_pem() + &certificate.pem()
    }

    #[test]
    fn a_certificate_says_when_it_may_be_used_and_for_which_names() {
        let issued = IssuedCertificate::from_pem(&pem(&["Chat.example.org", "b.example"])).unwrap();
        assert_eq!(issued.validity.not_before, date_time_ymd(2026, 1, 1));
        assert_eq!(issued.validity.not_after, date_time_ymd(2026, 4, 1));
        assert!(issued.is_for(&["b.example".into(), "chat.example.org".into()]));
        assert!(!issued.is_for(&["chat.example.org".into()]));
        assert!(!issued.is_for(&[]));
    }

    #[test]
    fn what_is_no_certificate_with_its_key_is_refused_without_a_word_of_the_key() {
        let good = pem(&["a.example"]);
        let (key, chain) = good.split_at(good.find("-----BEGIN CERT").unwrap());
        let other = KeyPair::generate().unwrap().serialize_pem();
        for bad in [
            String::new(),
            key.to_owned(),
            chain.to_owned(),
            other + chain,
            good.replace("END CERTIFICATE", "END"),
            key.replace('M', "?") + chain,
        ] {
            let error = IssuedCertificate::from_pem(&bad).unwrap_err().to_string();
            assert!(error.len() < 120, "{error}");
        }
    }
}
