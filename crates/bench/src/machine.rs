//! What the numbers were measured on.

use std::fs;
use std::thread::available_parallelism;

use serde::Serialize;

use crate::process::kilobytes;

/// The machine, as far as Linux tells.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    /// Processors that this program may use.
    cores: usize,
    /// What kind of processor.
    processor: String,
    /// Memory in bytes.
    memory_bytes: u64,
    /// Release of the kernel.
    kernel: String,
}

impl Machine {
    pub(crate) fn this() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let processor = read("/proc/cpuinfo")
            .lines()
            .find_map(|line| {
                line.strip_prefix("model name")?
                    .split_once(':')
                    .map(|(_, name)| name.trim())
            })
            .unwrap_or("unknown")
            .to_owned();
        Self {
            cores: available_parallelism().map_or(0, std::num::NonZero::get),
            processor,
            memory_bytes: kilobytes(&read("/proc/meminfo"), "MemTotal:").unwrap_or_default() * 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }

    /// One line for people.
    pub(crate) fn describe(&self) -> String {
        let gigabytes = self.memory_bytes as f64 / f64::from(1 << 30);
        let Self {
            cores,
            processor,
            kernel,
            ..
        } = self;
        format!("{cores} cores ({processor}), {gigabytes:.1} GiB of memory, Linux {kernel}")
    }
}
