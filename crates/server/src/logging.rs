//! The log: lines for people or JSON objects, on the standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::reload::Handle;
use tracing_subscriber::util::TryInitError;

use crate::CommandError;
use crate::config::{LogDirectives, LogFormat};

/// The log of this process, whose levels can be changed.
pub(crate) struct ProcessLog {
    set: Box<dyn Fn(EnvFilter) -> Result<(), CommandError> + Send + Sync>,
}

impl ProcessLog {
    fn with<S: 'static>(handle: Handle<EnvFilter, S>) -> Self {
        Self {
            set: Box::new(move |filter| Ok(handle.reload(filter)?)),
        }
    }

    /// Logs from now on what the filter says.
    ///
    /// # Errors
    ///
    /// When the log is gone.
    pub(crate) fn set(&self, filter: &LogDirectives) -> Result<(), CommandError> {
        (self.set)(EnvFilter::new(filter.as_str()))
    }
}

/// Starts the log of this process. Standard output stays free for answers.
///
/// Each line bears the fields of the spans it was written in, so that the request id of a request
/// is on all of its lines. Fails when the process has a log already.
pub(crate) fn init(format: LogFormat, filter: &LogDirectives) -> Result<ProcessLog, TryInitError> {
    use tracing_subscriber::util::SubscriberInitExt as _;

    let filter = EnvFilter::new(filter.as_str());
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr);
    match format {
        LogFormat::Text => {
            let lines = lines
                .with_ansi(io::stderr().is_terminal())
                .with_filter_reloading();
            let log = ProcessLog::with(lines.reload_handle());
            lines.finish().try_init()?;
            Ok(log)
        }
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true).with_filter_reloading();
            let log = ProcessLog::with(lines.reload_handle());
            lines.finish().try_init()?;
            Ok(log)
        }
    }
}
