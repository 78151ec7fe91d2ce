//! The log: lines for people or JSON objects, on the standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::{FilterExt as _, LevelFilter, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt as _};
use tracing_subscriber::reload;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};
use tracing_subscriber::{EnvFilter, Registry, fmt};

use crate::CommandError;
use crate::config::{LogDirectives, LogFormat};
use crate::traces::{Traces, is_for_traces};

/// The log of this process, whose levels can be changed.
pub(crate) struct ProcessLog(reload::Handle<EnvFilter, Registry>);

impl ProcessLog {
    /// Logs from now on what the filter says.
    ///
    /// # Errors
    ///
    /// When the log is gone.
    pub(crate) fn set(&self, filter: &LogDirectives) -> Result<(), CommandError> {
        Ok(self.0.reload(EnvFilter::new(filter.as_str()))?)
    }
}

/// Starts the log of this process, and its traces. Standard output stays free for answers.
///
/// Each line bears the fields of the spans it was written in, so that the request id of a request
/// is on all of its lines. The filter is for the log alone: what is traced does not depend on it.
/// Fails when the process has a log already.
pub(crate) fn init(
    format: LogFormat,
    filter: &LogDirectives,
    traces: Option<&Traces>,
) -> Result<ProcessLog, TryInitError> {
    let (filter, handle) = reload::Layer::new(EnvFilter::new(filter.as_str()));
    // The hint keeps that of the log's filter, by which most events are passed over at once.
    let others = filter_fn(|metadata| !is_for_traces(metadata));
    let filter = filter.and(others.with_max_level_hint(LevelFilter::TRACE));
    let lines = fmt::layer().with_writer(io::stderr);
    let lines = match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(traces.map(Traces::layer))
        .try_init()?;
    Ok(ProcessLog(handle))
}
