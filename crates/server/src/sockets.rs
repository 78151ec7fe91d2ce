//! The sockets that a service manager has opened for the server (`LISTEN_FDS`). They stay open while
//! the server is restarted, and who connects meanwhile waits for the next process.

use std::net::{SocketAddr, TcpListener as StdListener};

use eddyline_http::serve::bind;
use tokio::net::TcpListener;

use crate::CommandError;

/// How sockets are called (`FileDescriptorName=` in a unit), and their order where they have no
/// names.
const NAMES: [&str; 3] = ["api", "stream", "metrics"];

/// A listener of the server.
#[derive(Clone, Copy)]
pub(crate) enum SocketUse {
    Api,
    Stream,
    Metrics,
}

/// What a service manager has opened, for each use.
#[derive(Default)]
pub(crate) struct PassedSockets([Option<StdListener>; NAMES.len()]);

impl PassedSockets {
    /// The address of the socket that was passed for a use, if there is one.
    pub(crate) fn address(&self, what: SocketUse) -> Option<SocketAddr> {
        self.0[what as usize].as_ref()?.local_addr().ok()
    }

    /// Listens on the socket that was passed for a use, else on an address, and keeps it for the next
    /// time. To be called inside of a runtime.
    ///
    /// # Errors
    ///
    /// When the address cannot be listened on.
    pub(crate) fn listen(
        &mut self,
        what: SocketUse,
        address: SocketAddr,
    ) -> Result<TcpListener, CommandError> {
        let socket = match self.0[what as usize].take() {
            Some(socket) => socket,
            None => bind(address)
                .and_then(TcpListener::into_std)
                .map_err(|error| format!("cannot listen on {address}: {error}"))?,
        };
        socket.set_nonblocking(true)?;
        self.0[what as usize] = Some(socket.try_clone()?);
        Ok(TcpListener::from_std(socket)?)
    }
}
