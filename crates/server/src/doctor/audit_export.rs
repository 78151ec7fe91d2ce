//! The destinations of the audit log: reached, and nothing sent.

use eddyline_app::AuditDestination;

use super::finding::Finding;
use crate::audit_export;
use crate::config::{Settings, WebhookUrl};
use crate::output::Causes;

const CHECK: &str = "audit_export";

pub(super) async fn check(settings: &Settings) -> Vec<Finding> {
    let destinations = match audit_export::configured(settings) {
        Ok(destinations) => destinations,
        Err((option, error)) => {
            let advice = "Correct the options about where the audit log is sent to (audit_syslog, audit_webhook).";
            return vec![Finding::error(CHECK, option, error.to_string(), advice)];
        }
    };
    let mut findings = Vec::new();
    for destination in &destinations {
        findings.push(check_one(settings, destination).await);
    }
    findings
}

async fn check_one(settings: &Settings, destination: &AuditDestination) -> Finding {
    let reached = match destination {
        AuditDestination::Syslog(collector) => match collector.connect().await {
            Ok(connection) => {
                connection.close().await;
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        },
        AuditDestination::Webhook(webhook) => {
            let connected = webhook.outbound.connect(&webhook.url).await;
            connected.map_err(|error| Causes(&error).to_string())
        }
    };
    let (subject, advice) = match destination {
        AuditDestination::Syslog(collector) => (
            format!("{collector:?}"),
            "Check audit_syslog, and whether a firewall lets the connection out. The certificate of the collector must be \
             for this host, and of an authority of the system or in audit_syslog_ca.",
        ),
        AuditDestination::Webhook(_) => (
            settings
                .audit_webhook
                .as_ref()
                .map_or_else(String::new, WebhookUrl::origin),
            "Check audit_webhook, and whether a firewall lets the connection out. The certificate of the receiver must be \
             for this host, and of an authority of the system or in audit_webhook_ca.",
        ),
    };
    match reached {
        Ok(()) => Finding::ok(CHECK, subject, "it is reached"),
        Err(why) => Finding::error(CHECK, subject, why, advice),
    }
}
