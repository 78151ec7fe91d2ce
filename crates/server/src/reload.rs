//! What a server reads anew at SIGHUP: its certificate, and which levels it logs.

use std::io;

use eddyline_http::serve::Certificates;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::Settings;
use crate::logging::ProcessLog;
use crate::{CommandError, service_manager};

/// The options that [`Hangups::follow`] puts into force. All others need a restart.
const RELOADED: [&str; 3] = ["log", "tls_cert", "tls_key"];

/// SIGHUP of this process.
pub(crate) struct Hangups(Signal);

impl Hangups {
    /// Begins to catch the signal; from here on it no longer ends the process. Must be called
    /// inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the system refuses a handler.
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::hangup())?))
    }

    /// Reads the configuration again at each signal, and puts into force what can change while the
    /// server runs. What is wrong is logged, and leaves everything as it was. Options that differ
    /// from those the server `started` with and need a restart are logged, too.
    pub(crate) async fn follow(
        mut self,
        started: Settings,
        load: impl Fn() -> Result<Settings, CommandError>,
        log: ProcessLog,
        certificates: Option<Certificates>,
    ) {
        while self.0.recv().await.is_some() {
            service_manager::reloading();
            let reloaded = load().and_then(|settings| {
                let shown = reload_certificate(&settings, certificates.as_ref())?;
                log.set(&settings.log)?;
                Ok((shown, waiting(&started, &settings)))
            });
            match reloaded {
                Ok((certificate, None)) => {
                    tracing::info!(certificate, "SIGHUP: the configuration was read again");
                }
                Ok((certificate, Some(options))) => {
                    tracing::warn!(
                        certificate,
                        options,
                        "SIGHUP: the configuration was read again; some changed options need a restart"
                    );
                }
                Err(error) => {
                    let error = crate::output::Causes(error.as_ref());
                    tracing::error!(%error, "SIGHUP: the configuration cannot be read again; nothing changes");
                }
            }
            service_manager::ready();
        }
    }
}

/// The changed options that need a restart, if there are any.
fn waiting(started: &Settings, settings: &Settings) -> Option<String> {
    let mut changed = started.differences(settings);
    // A certificate can be replaced, but a listener keeps to HTTP or to HTTPS.
    let begins_tls = started.tls().is_some() != settings.tls().is_some();
    changed.retain(|key| !RELOADED.contains(key) || (begins_tls && key.starts_with("tls_")));
    (!changed.is_empty()).then(|| changed.join(", "))
}

/// Whether there is a certificate, which is read again then.
fn reload_certificate(
    settings: &Settings,
    certificates: Option<&Certificates>,
) -> Result<bool, CommandError> {
    let Some(certificates) = certificates else {
        return Ok(false);
    };
    // Only a server that is started anew can do without.
    let files = settings
        .tls()
        .ok_or("tls_cert and tls_key are not set any more")?;
    certificates.reload(files.cert, files.key)?;
    Ok(true)
}
