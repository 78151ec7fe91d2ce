//! Notifies a service manager such as systemd of the state of the server (`NOTIFY_SOCKET`,
//! `sd_notify(3)`).

use std::env;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use rustix::time::{ClockId, clock_gettime};

/// Says that requests are answered.
pub(crate) fn ready() {
    notify("READY=1");
}

/// Says that the configuration is being read again. [`ready`] says that this is done.
pub(crate) fn reloading() {
    let now = clock_gettime(ClockId::Monotonic);
    let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
    notify(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
}

/// Says that the server ends.
pub(crate) fn stopping() {
    notify("STOPPING=1");
}

fn notify(state: &str) {
    let Some(address) = env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    if let Err(error) = send(address.as_bytes(), state) {
        tracing::warn!(%error, "the service manager cannot be notified: {state}");
    }
}

/// An address that begins with `@` is no path.
fn send(address: &[u8], state: &str) -> io::Result<()> {
    let address = match address.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(address))?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_is_notified_at_a_path_and_at_an_abstract_address() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let name = format!("eddyline-test-{}", std::process::id());
        let abstract_address = SocketAddr::from_abstract_name(&name).unwrap();
        for (manager, address) in [
            (
                UnixDatagram::bind(&path).unwrap(),
                path.to_str().unwrap().to_owned(),
            ),
            (
                UnixDatagram::bind_addr(&abstract_address).unwrap(),
                format!("@{name}"),
            ),
        ] {
            send(address.as_bytes(), "READY=1").unwrap();
            let mut received = [0; 64];
            let length = manager.recv(&mut received).unwrap();
            assert_eq!(&received[..length], b"READY=1");
        }
    }
}
