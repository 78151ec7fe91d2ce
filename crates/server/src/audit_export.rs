//! Where the audit log is sent to, as it is configured.

use std::path::Path;

use eddyline_app::{AuditDestination, AuditWebhook, OutboundConfig};
use eddyline_auth::WebhookSecret;
use eddyline_outbound::Outbound;
use eddyline_syslog::Collector;

use crate::CommandError;
use crate::authorities::client_config;
use crate::config::{Settings, SyslogAddress, WebhookUrl};
use crate::owners::Denied;

/// The destinations, with the options that name them.
///
/// # Errors
///
/// When a file that the options name cannot be used; with the key of the option.
pub(crate) fn configured(
    settings: &Settings,
) -> Result<Vec<AuditDestination>, (&str, CommandError)> {
    let mut destinations = Vec::new();
    if let Some(address) = &settings.audit_syslog {
        let collector = collector(address, settings.audit_syslog_ca.as_deref());
        let collector = collector.map_err(|error| ("audit_syslog_ca", error))?;
        destinations.push(AuditDestination::Syslog(collector));
    }
    if let Some(url) = &settings.audit_webhook {
        destinations.push(AuditDestination::Webhook(webhook(settings, url)?));
    }
    Ok(destinations)
}

/// The destinations of a server.
///
/// # Errors
///
/// As [`configured`], with the option in the text.
pub(crate) fn destinations(settings: &Settings) -> Result<Vec<AuditDestination>, CommandError> {
    configured(settings).map_err(|(option, error)| format!("{option}: {error}").into())
}

fn collector(address: &SyslogAddress, ca: Option<&Path>) -> Result<Collector, CommandError> {
    let tls = match address.tls {
        true => Some(client_config(ca)?),
        false => None,
    };
    Ok(Collector::new(&address.host, address.port, tls))
}

fn webhook<'a>(
    settings: &'a Settings,
    url: &WebhookUrl,
) -> Result<AuditWebhook, (&'a str, CommandError)> {
    let secret = secret(settings).map_err(|error| ("audit_webhook_secret_file", error))?;
    let tls = client_config(settings.audit_webhook_ca.as_deref());
    let tls = tls.map_err(|error| ("audit_webhook_ca", error))?;
    // The operator names the address, and can reach everything in this network anyway.
    let bounds = OutboundConfig {
        allow_private: true,
        ..OutboundConfig::default()
    };
    Ok(AuditWebhook {
        url: url.expose().to_owned(),
        secret,
        outbound: Outbound::with_tls(bounds, tls),
    })
}

fn secret(settings: &Settings) -> Result<WebhookSecret, CommandError> {
    if let Some(secret) = &settings.audit_webhook_secret {
        return Ok(secret.clone());
    }
    let Some(path) = &settings.audit_webhook_secret_file else {
        return Err("none is given".into());
    };
    let text = std::fs::read_to_string(path).map_err(|error| match Denied::of(path, &error) {
        Some(denied) => CommandError::from(denied),
        None => format!("{}: {error}", path.display()).into(),
    })?;
    WebhookSecret::parse(text.trim()).map_err(|error| format!("{}: {error}", path.display()).into())
}
