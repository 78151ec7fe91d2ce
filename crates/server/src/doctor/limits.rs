//! How many files the server may have open: every connection is one.

use rlimit::Resource;

use super::finding::Finding;
use crate::config::Settings;

/// Open files that are no connections: of the database, logs, sockets, and files under way.
const OTHERS: u64 = 128;
/// Below this a small team already runs into the limit: its browsers have several connections each.
const LEAST: u64 = 1024;

pub(super) fn check(settings: &Settings) -> Finding {
    const CHECK: &str = "open_files";
    let subject = "RLIMIT_NOFILE of this session";
    let connections = u64::from(settings.max_connections.get());
    let readers = u64::from(settings.readers.get());
    let needed = connections + readers + OTHERS;
    // The server raises its own limit as far as this.
    let hard = match Resource::NOFILE.get() {
        Ok((_, hard)) => hard,
        Err(error) => {
            let advice = "Look at the limit with ulimit -Hn.";
            return Finding::warning(
                CHECK,
                subject,
                format!("it cannot be read: {error}"),
                advice,
            );
        }
    };
    let seen = format!("{hard} files, for max_connections = {connections}");
    let advice = format!(
        "Raise the limit to {needed} (LimitNOFILE= in the unit of systemd, ulimits in a container), or lower \
         max_connections; run this command under the limits of the server."
    );
    match hard {
        0..LEAST if hard < needed => Finding::error(CHECK, subject, seen, advice),
        _ if hard < needed => Finding::warning(CHECK, subject, seen, advice),
        _ => Finding::ok(CHECK, subject, seen),
    }
}
