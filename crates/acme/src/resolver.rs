//! Which certificate a client is shown.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::CHALLENGE_PROTOCOL;
use crate::certificate::IssuedCertificate;

/// The certificate for clients, and those by which the authority checks names.
#[derive(Debug, Default)]
pub(crate) struct AcmeResolver(RwLock<ShownCertificates>);

#[derive(Debug, Default)]
struct ShownCertificates {
    issued: Option<Arc<IssuedCertificate>>,
    challenges: HashMap<String, Arc<CertifiedKey>>,
}

impl AcmeResolver {
    pub(crate) fn issued(&self) -> Option<Arc<IssuedCertificate>> {
        self.read(|shown| shown.issued.clone())
    }

    pub(crate) fn show(&self, issued: IssuedCertificate) {
        self.write(|shown| shown.issued = Some(Arc::new(issued)));
    }

    pub(crate) fn show_challenge(&self, domain: &str, key: CertifiedKey) {
        let domain = domain.to_ascii_lowercase();
        self.write(|shown| shown.challenges.insert(domain, Arc::new(key)));
    }

    pub(crate) fn end_challenges(&self) {
        self.write(|shown| shown.challenges.clear());
    }

    fn read<T>(&self, read: impl FnOnce(&ShownCertificates) -> T) -> T {
        read(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, write: impl FnOnce(&mut ShownCertificates) -> T) -> T {
        write(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ResolvesServerCert for AcmeResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if !is_challenge(&hello) {
            return self.read(|shown| Some(shown.issued.as_ref()?.key.clone()));
        }
        let domain = hello.server_name()?.to_ascii_lowercase();
        self.read(|shown| shown.challenges.get(&domain).cloned())
    }
}

/// The authority offers this one protocol (RFC 8737, section 3).
fn is_challenge(hello: &ClientHello<'_>) -> bool {
    hello.alpn().is_some_and(|mut protocols| {
        protocols.next() == Some(CHALLENGE_PROTOCOL) && protocols.next().is_none()
    })
}
