//! Priorities of threads. The clients of a real server have machines of their own; here they share
//! the processors with it.

/// For the attacker, which takes the processor time that the server leaves.
pub(super) const LOWEST: i32 = 19;
/// For the measured work, so that its times do not include waiting for a processor. Only root may
/// set it.
pub(super) const HIGH: i32 = -10;
/// What every process has at first.
pub(super) const NORMAL: i32 = 0;

/// Sets the priority of the calling thread. On Linux other threads keep theirs.
pub(super) fn set(priority: i32) {
    if let Err(error) = rustix::process::setpriority_process(None, priority) {
        crate::progress(&format!("  a thread keeps its priority: {error}"));
    }
}
