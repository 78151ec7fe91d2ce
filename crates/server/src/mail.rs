//! How the server's mail goes out, as it is configured.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use eddyline_app::Mailing;
use eddyline_mail::{
    Config, Delivery, Mailer, Security, SendStep, SmtpConfig, SmtpCredentials, SmtpPassword,
};

use crate::CommandError;
use crate::config::{Settings, SmtpSecurity};

/// The folder in the data directory that mail is put into where no mail server is set up.
const OUTBOX: &str = "outbox";

/// Puts the mailer together.
pub(crate) fn mailing(settings: &Settings) -> Result<Mailing, CommandError> {
    let delivery = match &settings.smtp_host {
        Some(host) => Delivery::Smtp(smtp(host, settings)),
        None => Delivery::Outbox(outbox(settings)?),
    };
    let mailer = Mailer::new(Config {
        delivery,
        from: settings.mail_from.clone(),
    })?;
    let first_retry = Duration::from_secs(settings.mail_retry_seconds.get().into());
    Ok(Mailing {
        mailer,
        first_retry,
    })
}

/// Says in the log where mail will be found, if no mail server takes it.
pub(crate) fn tell_about_outbox(settings: &Settings) -> Result<(), CommandError> {
    if let Some(remark) = remark_on_outbox(settings)? {
        tracing::warn!("{remark}");
    }
    Ok(())
}

/// What is to be said where no mail server takes mail.
pub(crate) fn remark_on_outbox(settings: &Settings) -> Result<Option<String>, CommandError> {
    if settings.smtp_host.is_some() {
        return Ok(None);
    }
    let folder = outbox(settings)?;
    Ok(Some(format!(
        "no mail server is set up (smtp_host); mail is put into {}",
        folder.display()
    )))
}

/// Where mail is put when no mail server takes it.
pub(crate) fn outbox(settings: &Settings) -> Result<PathBuf, CommandError> {
    Ok(std::path::absolute(settings.data_dir.join(OUTBOX))?)
}

/// What failed where this step did, in words that follow a colon well.
pub(crate) fn failed_step(step: SendStep) -> &'static str {
    match step {
        SendStep::Write => "the mail could not be written",
        SendStep::Connect => "connecting failed",
        SendStep::Encrypt => "TLS failed",
        SendStep::SignIn => "signing in failed",
        SendStep::Sender => "the sender was refused",
        SendStep::Recipient => "the recipient was refused",
        SendStep::Content => "the mail was refused",
    }
}

/// What to do where this step fails.
pub(crate) fn advice(step: SendStep) -> &'static str {
    match step {
        SendStep::Write => {
            "Give an address that mail can go to, and make sure that the folder of mail can be written to."
        }
        SendStep::Connect => {
            "Check smtp_host and smtp_port, and whether a firewall lets the connection out."
        }
        SendStep::Encrypt => {
            "Check smtp_security (starttls, tls or none), and that the certificate of the mail server is for smtp_host; \
             name its authority with smtp_ca where that is your own."
        }
        SendStep::SignIn => "Check smtp_user and smtp_password.",
        SendStep::Sender => {
            "Check mail_from: the mail server must let this account send from that address."
        }
        SendStep::Recipient => {
            "Check the address; the mail server does not deliver to it, or relays only for who signs in (smtp_user)."
        }
        SendStep::Content => "Read the answer of the mail server, and look into its log.",
    }
}

fn smtp(host: &str, settings: &Settings) -> SmtpConfig {
    let login = settings
        .smtp_user
        .as_ref()
        .zip(settings.smtp_password.as_ref());
    SmtpConfig {
        port: settings.smtp_port.map(NonZero::get),
        security: match settings.smtp_security {
            SmtpSecurity::StartTls => Security::StartTls,
            SmtpSecurity::Tls => Security::Tls,
            SmtpSecurity::None => Security::None,
        },
        credentials: login.map(|(user, password)| SmtpCredentials {
            user: user.clone(),
            password: SmtpPassword::new(password.expose()),
        }),
        ca_file: settings.smtp_ca.clone(),
        ..SmtpConfig::new(host)
    }
}
