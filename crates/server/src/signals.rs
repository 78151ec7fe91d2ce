//! How the server is told to stop.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT of this process.
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Begins to catch the signals; from here on they no longer end the process by themselves.
    /// Must be called inside a tokio runtime. Fails when the system refuses a handler.
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the first signal, and gives its name. From then on a second one ends the process
    /// at once, with the status that a shell would report for it.
    pub(crate) async fn requested(mut self) -> &'static str {
        let first = self.next().await;
        // The task ends with the process, whichever way that goes.
        #[expect(clippy::disallowed_methods, reason = "ends with the process")]
        tokio::spawn(async move {
            let second = self.next().await;
            tracing::warn!(
                signal = second.name(),
                "told to stop once more; ending at once"
            );
            std::process::exit(128 + second.0.as_raw_value());
        });
        first.name()
    }

    async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.terminate.recv() => Caught(SignalKind::terminate()),
            _ = self.interrupt.recv() => Caught(SignalKind::interrupt()),
        }
    }
}

#[derive(Clone, Copy)]
struct Caught(SignalKind);

impl Caught {
    fn name(self) -> &'static str {
        if self.0 == SignalKind::terminate() {
            "SIGTERM"
        } else {
            "SIGINT"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[tokio::test]
    async fn a_caught_signal_asks_for_the_end_instead_of_making_it() {
        let signals = StopSignals::catch().unwrap();
        let own_id = std::process::id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &own_id])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(signals.requested().await, "SIGTERM");
    }
}
