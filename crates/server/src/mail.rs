//! How the server's mail goes out, as it is configured.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use eddyline_app::Mailing;
use eddyline_mail::{
    Config, Delivery, Mailer, Security, SmtpConfig, SmtpCredentials, SmtpPassword,
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
    if settings.smtp_host.is_none() {
        let folder = outbox(settings)?;
        tracing::warn!(
            "no mail server is set up (smtp_host); mail is put into {}",
            folder.display()
        );
    }
    Ok(())
}

/// Where mail is put when no mail server takes it.
pub(crate) fn outbox(settings: &Settings) -> Result<PathBuf, CommandError> {
    Ok(std::path::absolute(settings.data_dir.join(OUTBOX))?)
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
