//! Where the audit log is sent to.

use std::fmt;

use eddyline_auth::WebhookSecret;
use eddyline_outbound::Outbound;
use eddyline_syslog::Collector;

/// A destination of the audit log. There is at most one of each kind.
#[derive(Clone, Debug)]
pub enum AuditDestination {
    /// A collector of syslog messages.
    Syslog(Collector),
    /// A webhook.
    Webhook(AuditWebhook),
}

impl AuditDestination {
    /// The names of all kinds.
    pub(crate) const NAMES: [&str; 2] = [Self::SYSLOG, Self::WEBHOOK];
    const SYSLOG: &str = "syslog";
    const WEBHOOK: &str = "webhook";

    /// Its name in the database, in metrics and in the log. Another address does not change it: the
    /// new one goes on where the former ended.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Syslog(_) => Self::SYSLOG,
            Self::Webhook(_) => Self::WEBHOOK,
        }
    }

    /// What its job is called.
    pub(crate) const fn job_name(&self) -> &'static str {
        match self {
            Self::Syslog(_) => "audit export to syslog",
            Self::Webhook(_) => "audit export to webhook",
        }
    }
}

/// A webhook that takes records.
#[derive(Clone)]
pub struct AuditWebhook {
    /// Its address.
    pub url: String,
    /// What requests are signed with.
    pub secret: WebhookSecret,
    /// What sends them, which knows how long one may take and whose certificates it trusts.
    pub outbound: Outbound,
}

/// Without the address, which may have secrets in it.
impl fmt::Debug for AuditWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditWebhook")
    }
}
