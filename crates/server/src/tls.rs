//! The certificate that the listeners show: from files, or ordered by ACME.

use std::sync::Arc;

use eddyline_acme::{AcmeCertificates, AcmeConfig, CertificateValidity, validity};
use eddyline_http::serve::Certificates;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use rustls::ServerConfig;

use crate::CommandError;
use crate::config::Settings;

/// What the listeners speak, beside [`ACME`](eddyline_acme::CHALLENGE_PROTOCOL).
const PROTOCOL: &str = "http/1.1";

/// Where the certificate is from. Clones share it.
#[derive(Clone, Debug)]
pub(crate) enum ServerCertificate {
    /// The listeners speak plain HTTP.
    None,
    /// Files that someone else renews; SIGHUP reads them again.
    Files(Certificates),
    /// An authority, from which the server orders.
    Acme(AcmeCertificates),
}

impl ServerCertificate {
    /// Reads what there is already.
    pub(crate) fn open(settings: &Settings) -> Result<Self, CommandError> {
        if let Some(config) = acme(settings) {
            return Ok(Self::Acme(AcmeCertificates::open(config)?));
        }
        Ok(match settings.tls() {
            Some(files) => Self::Files(Certificates::load(files.cert, files.key)?),
            None => Self::None,
        })
    }

    /// What the listeners shake hands with. None for plain HTTP.
    pub(crate) fn server_config(&self) -> Result<Option<Arc<ServerConfig>>, CommandError> {
        Ok(match self {
            Self::None => None,
            Self::Files(certificates) => Some(certificates.config()),
            Self::Acme(certificates) => Some(certificates.server_config(&[PROTOCOL])?),
        })
    }

    /// Certificates that can be read again.
    pub(crate) fn files(&self) -> Option<&Certificates> {
        match self {
            Self::Files(certificates) => Some(certificates),
            Self::None | Self::Acme(_) => None,
        }
    }

    /// Orders certificates when they are due, until the future is dropped.
    pub(crate) async fn keep_valid(self) {
        if let Self::Acme(certificates) = self {
            certificates.keep_valid().await;
        }
    }

    /// Describes the metrics to those who read them.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(self.clone()));
    }

    fn validity(&self) -> Option<CertificateValidity> {
        match self {
            Self::None => None,
            Self::Files(certificates) => validity(&certificates.shown()).ok(),
            Self::Acme(certificates) => certificates.validity(),
        }
    }
}

impl Collector for ServerCertificate {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> std::fmt::Result {
        let not_after = self
            .validity()
            .map_or(0, |of| of.not_after.unix_timestamp());
        let expiry = ConstGauge::<i64>::new(not_after);
        expiry.encode(encoder.encode_descriptor(
            "tls_certificate_expiry_timestamp",
            "When the certificate that the server shows expires; 0 while there is none",
            Some(&Unit::Seconds),
            expiry.metric_type(),
        )?)?;
        let failures = match self {
            Self::Acme(certificates) => certificates.failures(),
            Self::None | Self::Files(_) => 0,
        };
        let failures = ConstCounter::<u64>::new(failures);
        failures.encode(encoder.encode_descriptor(
            "acme_orders_failed",
            "Orders of a certificate by ACME that failed",
            None,
            failures.metric_type(),
        )?)
    }
}

/// What to order, if the settings say so.
pub(crate) fn acme(settings: &Settings) -> Option<AcmeConfig> {
    let domains: Vec<_> = settings
        .acme_domain
        .iter()
        .map(|domain| domain.as_str().to_owned())
        .collect();
    (!domains.is_empty()).then(|| AcmeConfig {
        directory: settings.acme_directory.as_str().to_owned(),
        domains,
        contact: settings
            .acme_contact
            .as_ref()
            .map(|email| email.as_str().to_owned()),
        authority: settings.acme_ca.clone(),
        folder: settings.data_dir.join("acme"),
    })
}
