//! What the system says about a process.

use std::fs;
use std::io;
use std::time::Duration;

use crate::Result;

/// In these units Linux tells processor time, on every machine.
const TICK: Duration = Duration::from_millis(10);

/// A process and its children, as they were when they were looked for.
#[derive(Clone, Debug)]
pub(crate) struct Family(Vec<u32>);

impl Family {
    /// The process of this number and its children.
    pub(crate) fn of(parent: u32) -> Result<Self> {
        let mut members = vec![parent];
        for entry in fs::read_dir("/proc")? {
            let Some(id) = entry?
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            // A process may be gone before it is looked at.
            if stat(id).is_ok_and(|stat| stat.parent == parent) {
                members.push(id);
            }
        }
        Ok(Self(members))
    }

    /// This very process.
    pub(crate) fn own() -> Self {
        Self(vec![std::process::id()])
    }

    /// Processor time so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let mut sum = Duration::ZERO;
        for &id in &self.0 {
            sum += stat(id)?.cpu;
        }
        Ok(sum)
    }

    /// Resident memory, in bytes. The system counts it page by page for this.
    pub(crate) fn resident(&self) -> Result<u64> {
        let mut sum = 0;
        for id in &self.0 {
            let text = fs::read_to_string(format!("/proc/{id}/smaps_rollup"))?;
            sum += kilobytes(&text, "Rss:").ok_or("no resident memory in smaps_rollup")? * 1024;
        }
        Ok(sum)
    }
}

/// The number after a label, in text of the kind of `/proc/meminfo`.
pub(crate) fn kilobytes(text: &str, label: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    cpu: Duration,
}

fn stat(id: u32) -> io::Result<Stat> {
    let text = fs::read_to_string(format!("/proc/{id}/stat"))?;
    read_stat(&text).ok_or_else(|| io::Error::other("/proc/PID/stat is not as expected"))
}

fn read_stat(text: &str) -> Option<Stat> {
    // The name before it may hold anything, parentheses too.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u32>().ok();
    Some(Stat {
        parent: number(1)?,
        cpu: TICK * (number(11)? + number(12)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_that_of_user_and_system() {
        let text = "7 (a) b) S 3 7 7 0 -1 4194560 90 0 0 0 12 30 0 0 20 0 4 0 100 1 2";
        assert_eq!(
            read_stat(text),
            Some(Stat {
                parent: 3,
                cpu: Duration::from_millis(420)
            })
        );
        assert_eq!(read_stat("7 (a)"), None);
    }

    #[test]
    fn memory_is_found_by_its_label() {
        let text = "MemTotal:       24682 kB\nMemFree:  1 kB\n";
        assert_eq!(kilobytes(text, "MemTotal:"), Some(24682));
        assert_eq!(kilobytes(text, "Rss:"), None);
    }

    #[test]
    fn this_process_has_memory() {
        assert!(Family::own().resident().unwrap() > 100_000);
    }
}
