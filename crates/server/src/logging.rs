//! The log: lines for people or JSON objects, on the standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::TryInitError;

use crate::config::{LogFilter, LogFormat};

/// Starts the log of this process. Standard output stays free for answers.
///
/// Each line bears the fields of the spans it was written in, so that the request id of a request
/// is on all of its lines. Fails when the process has a log already.
pub(crate) fn init(format: LogFormat, filter: &LogFilter) -> Result<(), TryInitError> {
    use tracing_subscriber::util::SubscriberInitExt as _;

    let filter = EnvFilter::new(filter.as_str());
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).finish().try_init(),
        LogFormat::Json => lines.json().flatten_event(true).finish().try_init(),
    }
}
