//! A certificate that is ordered, kept, shown and renewed.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use time::OffsetDateTime;

use crate::certificate::{CertificateValidity, IssuedCertificate};
use crate::error::{AcmeError, Result};
use crate::folder::AcmeFolder;
use crate::resolver::AcmeResolver;
use crate::{AcmeConfig, CHALLENGE_PROTOCOL, order, renewal};

/// The longest time an order may take.
const ORDER_TIME: Duration = Duration::from_secs(600);
/// The pause when another process orders.
const OTHER_ORDERS: Duration = Duration::from_secs(15);

/// The certificate of a server. Clones share it.
#[derive(Clone)]
pub struct AcmeCertificates(Arc<Shared>);

struct Shared {
    config: AcmeConfig,
    folder: AcmeFolder,
    resolver: Arc<AcmeResolver>,
    failures: AtomicU64,
}

impl fmt::Debug for AcmeCertificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AcmeCertificates")
            .field(&self.0.config)
            .finish()
    }
}

impl AcmeCertificates {
    /// Opens the folder, and shows the certificate that is kept there from the first connection on.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read or made, or a file in it is damaged, or that of the authority has
    /// no certificate.
    pub fn open(config: AcmeConfig) -> Result<Self> {
        if let Some(path) = &config.authority {
            CertificateDer::from_pem_file(path)
                .map_err(|_| AcmeError::NoAuthority(path.clone()))?;
        }
        let folder = AcmeFolder::open(&config.folder, &config.directory)?;
        let resolver = AcmeResolver::default();
        if let Some(kept) = folder.certificate()? {
            resolver.show(kept);
        }
        Ok(Self(Arc::new(Shared {
            config,
            folder,
            resolver: Arc::new(resolver),
            failures: AtomicU64::new(0),
        })))
    }

    /// What rustls serves with: TLS 1.2 and 1.3, these application protocols, and
    /// [`CHALLENGE_PROTOCOL`]. Handshakes fail until there is a certificate.
    ///
    /// # Errors
    ///
    /// When rustls refuses its own defaults.
    pub fn server_config(&self, protocols: &[&str]) -> Result<Arc<ServerConfig>> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(self.0.resolver.clone());
        let protocols = protocols.iter().map(|protocol| protocol.as_bytes());
        let all = protocols.chain([CHALLENGE_PROTOCOL]);
        config.alpn_protocols = all.map(<[u8]>::to_vec).collect();
        Ok(Arc::new(config))
    }

    /// When the certificate that is shown may be used. None while there is none.
    #[must_use]
    pub fn validity(&self) -> Option<CertificateValidity> {
        Some(self.0.resolver.issued()?.validity)
    }

    /// How many orders have failed.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.0.failures.load(Ordering::Relaxed)
    }

    /// Orders a certificate when one is due, until the future is dropped. The server must accept
    /// connections meanwhile. Failures are logged.
    pub async fn keep_valid(&self) {
        let mut failures = 0;
        loop {
            let pause = match self.order_if_due().await {
                Ok(pause) => {
                    failures = 0;
                    pause
                }
                Err(error) => {
                    failures += 1;
                    self.0.failures.fetch_add(1, Ordering::Relaxed);
                    let pause = renewal::retry_after(failures);
                    tracing::error!(
                        %error,
                        domains = self.0.config.domains.join(", "),
                        minutes_to_next_try = pause.as_secs() / 60,
                        "no certificate could be ordered"
                    );
                    pause
                }
            };
            #[expect(clippy::disallowed_methods, reason = "the pause is what is wanted")]
            tokio::time::sleep(pause).await;
        }
    }

    /// Orders if it is due. Returns when to look again.
    async fn order_if_due(&self) -> Result<Duration> {
        if let Some(pause) = self.until_due() {
            return Ok(pause);
        }
        let Some(_lock) = self.0.folder.lock()? else {
            return Ok(OTHER_ORDERS);
        };
        // Another process may have ordered since.
        if let Some(kept) = self.0.folder.certificate()? {
            self.0.resolver.show(kept);
        }
        if let Some(pause) = self.until_due() {
            return Ok(pause);
        }
        let ordered = self.order().await;
        self.0.resolver.end_challenges();
        ordered?;
        // Without the pause of a failure, a wrong clock would have the server order without end.
        self.until_due().ok_or_else(|| {
            let problem =
                "it is for other names than were ordered, or due for renewal by this clock";
            AcmeError::Unusable(problem.to_owned())
        })
    }

    async fn order(&self) -> Result<()> {
        let Shared {
            config,
            folder,
            resolver,
            ..
        } = self.0.as_ref();
        let domains = config.domains.join(", ");
        tracing::info!(
            domains,
            directory = config.directory,
            "ordering a certificate"
        );
        let ordering = order::order(config, folder, resolver);
        let pem = tokio::time::timeout(ORDER_TIME, ordering)
            .await
            .map_err(|_| AcmeError::TimedOut(ORDER_TIME))??;
        let issued = IssuedCertificate::from_pem(&pem)?;
        folder.keep_certificate(&pem)?;
        let not_after = issued.validity.not_after;
        resolver.show(issued);
        tracing::info!(domains, %not_after, "a certificate was issued");
        Ok(())
    }

    /// How long the shown certificate is good enough. None if an order is due.
    fn until_due(&self) -> Option<Duration> {
        let issued = self.0.resolver.issued()?;
        if !issued.is_for(&self.0.config.domains) {
            return None;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "certificates are dated by the clock of the world"
        )]
        let now = OffsetDateTime::now_utc();
        renewal::until_due(issued.validity, now)
    }
}
